//! One stretch of text without ASCII separators, cut into terms as the default analyzer does.
//!
//! ASCII needs none of this: a stretch is read here only where it holds a byte outside ASCII. It is
//! [folded](super::classes), and its characters become units: a word, a syllable of Korean, or a character of a
//! script without spaces, each with its marks. Units become terms:
//!
//! | text | terms for an index, `a/b` in one position | terms for a query |
//! |---|---|---|
//! | `Zürich` | zurich | zurich |
//! | `東京都` | 東京/東, 京都/京, 都 | 東京, 京都 |
//! | `都` | 都 | 都 |
//! | `서울시` | 서울시/서울/서, 울시/울, 시 | 서울, 울시 |
//! | `iPhone手机` | iphone, 手机/手, 机 | iphone, 手机 |
//!
//! Each unit takes one position, so that a phrase is found wherever it is; words that a query separates are found where
//! the text does not. A part of one
//! character is found by its own term, and one of several by pairs, which stand next to each other.
//!
//! Cost: of characters that nothing composes with a table lookup each. Pairs double the terms of texts without
//! spaces, and Korean words have their own term beside.

use super::classes::{self, Class};
use super::normalization::{self, joins};
use super::script::{Script, binds_next};

/// Folding of the characters of a stretch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Folding {
    /// Case, compatibility forms and diacritics.
    #[default]
    Full,
    /// Compatibility forms only.
    Forms,
}

/// Bytes of a stretch that are read at once, if a word does not end later: what is held of it is some twenty times as much.
const PART_BYTES: usize = 4 << 10;
/// Syllables of the longest Korean word that has a term of its own.
const WORD_UNITS_MAX: usize = 255;

/// Whom terms are made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Side {
    /// Documents: every term that a query may ask for.
    #[default]
    Index,
    /// Queries: as few terms as find a text.
    Query,
}

/// A term of a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Its bytes in [`Stretch::text`].
    pub(super) start: u32,
    pub(super) end: u32,
    /// Its position, from 0.
    pub(super) position: u32,
    /// The bytes of the stretch that it was made of.
    pub(super) from: u32,
    pub(super) to: u32,
}

/// Part of a stretch that is not cut: a word, or a character with its marks.
#[derive(Clone, Copy, Debug)]
struct Unit {
    /// Behind its last byte in the folded text; it begins where the one before ends.
    end: u32,
    from: u32,
    to: u32,
    script: Script,
    /// Whether nothing separates it from the one before.
    joined: bool,
}

/// A stretch and its terms; buffers are kept from one to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Stretch {
    pub(super) text: String,
    units: Vec<Unit>,
    pub(super) pieces: Vec<Piece>,
    /// Positions that the stretch takes.
    pub(super) n_positions: u32,
    /// Whether the last unit goes on.
    open: bool,
    /// Whether the last character binds the next one.
    binds: bool,
    folded: String,
}

impl Stretch {
    /// Replaces the content by the terms of a stretch, or of its beginning if it is long; returns how many bytes
    /// were read. The rest is another stretch, whose positions go on.
    pub(super) fn read(&mut self, stretch: &str, folding: Folding, side: Side) -> usize {
        self.text.clear();
        self.units.clear();
        self.pieces.clear();
        (self.open, self.binds) = (false, false);
        let end = match folding {
            Folding::Full => self.read_units(stretch, Class::of, fold_fully),
            Folding::Forms => self.read_units(stretch, class_of_form, fold_forms),
        };
        // The last unit of a part is the first one of the next, for the pair of both.
        let next = self.units.last().filter(|_| end < stretch.len() && self.open);
        let (n_read, n_carried) = next.map_or((end, 0), |next| (next.from as usize, 1));
        self.cut(side, n_carried);
        n_read
    }

    /// Makes units of a stretch, up to the place that is returned.
    fn read_units(&mut self, stretch: &str, class_of: impl Fn(char) -> Class, fold: Fold) -> usize {
        let mut chars = stretch.char_indices().map(|(at, c)| (at, c, class_of(c))).peekable();
        while let Some((at, c, class)) = chars.next() {
            if class == Class::Separator {
                self.open = false;
                if at >= PART_BYTES {
                    return at;
                }
                continue;
            }
            if at >= PART_BYTES && starts_unit(c, class) && self.may_end_here() {
                return at;
            }
            let end = at + c.len_utf8();
            // Characters that follow and may compose with it, and marks that are dropped between.
            let is_cluster = class == Class::Joins
                || matches!(chars.peek(), Some((_, _, Class::Joins | Class::Dropped)));
            if is_cluster && class != Class::Dropped {
                // Joiners behind the last mark belong to what comes after them as much.
                let (mut to, mut read, mut composes) = (end, end, class == Class::Joins);
                while let Some((at, c, class)) =
                    chars.next_if(|(_, _, class)| matches!(class, Class::Joins | Class::Dropped))
                {
                    read = at + c.len_utf8();
                    composes |= class == Class::Joins;
                    if class == Class::Joins || normalization::is_mark(c) {
                        to = read;
                    }
                }
                if composes {
                    self.push_folded(&stretch[at..read], at, to, fold);
                } else {
                    self.push_class(c, class, at, to, fold);
                }
                continue;
            }
            self.push_class(c, class, at, end, fold);
        }
        stretch.len()
    }

    /// Whether a part may end before a character that is cut into pairs: where the last unit is, too, and can be read
    /// again.
    fn may_end_here(&self) -> bool {
        let [.., before, last] = &self.units[..] else { return false };
        let is_cut = matches!(last.script, Script::Hangul | Script::Unspaced);
        // A character may be several units, as `㍿` is four.
        is_cut && self.open && !self.binds && before.from < last.from
    }

    /// Adds a character that nothing composes with, which the bytes from `at` to `to` become.
    fn push_class(&mut self, c: char, class: Class, at: usize, to: usize, fold: Fold) {
        match class {
            Class::Word(folded) => {
                self.word(at, to);
                self.text.push(folded);
                self.end_unit(to);
            }
            Class::Words(folded) => {
                self.word(at, to);
                self.text.push_str(folded);
                self.end_unit(to);
            }
            Class::Pair => self.push_of(Script::of_pair(c), c, at, to),
            Class::Mark => self.push_of(Script::Mark, c, at, to),
            Class::Dropped if self.open && normalization::is_mark(c) => self.extend(to),
            Class::Dropped | Class::Separator => {}
            Class::Joins | Class::Other => {
                self.push_folded(c.encode_utf8(&mut [0; 4]), at, to, fold)
            }
        }
    }

    /// Adds what a part of the stretch is folded to.
    fn push_folded(&mut self, part: &str, from: usize, to: usize, fold: Fold) {
        let mut folded = std::mem::take(&mut self.folded);
        folded.clear();
        fold(part, &mut folded);
        if folded.is_empty() && self.open {
            self.extend(to);
        }
        folded.chars().for_each(|c| self.push(c, from, to));
        self.folded = folded;
    }

    /// Adds a character that is folded.
    fn push(&mut self, c: char, from: usize, to: usize) {
        self.push_of(Script::of(c), c, from, to);
    }

    /// Adds a folded character whose script is known: to look it up takes hundreds of instructions.
    #[inline]
    fn push_of(&mut self, script: Script, c: char, from: usize, to: usize) {
        let continues = self.open && (script == Script::Mark || self.binds);
        match script {
            Script::Separator => {
                (self.open, self.binds) = (false, false);
                return;
            }
            _ if continues => {}
            Script::Word => self.word(from, to),
            // A mark that belongs to nothing is a letter where Unicode says so.
            Script::Mark if c.is_alphanumeric() => self.word(from, to),
            Script::Mark => return,
            Script::Hangul | Script::Unspaced => self.start(script, from, to),
        }
        self.binds = binds_next(c);
        self.text.push(c);
        self.end_unit(to);
    }

    /// Goes on with a word, or starts one.
    #[inline]
    fn word(&mut self, from: usize, to: usize) {
        let goes_on =
            self.open && self.units.last().is_some_and(|last| last.script == Script::Word);
        if !goes_on {
            self.start(Script::Word, from, to);
        }
    }

    fn start(&mut self, script: Script, from: usize, to: usize) {
        let (end, joined) = (self.text.len() as u32, self.open);
        self.units.push(Unit { end, from: from as u32, to: to as u32, script, joined });
        self.open = true;
    }

    /// Ends the last unit where the folded text ends.
    #[inline]
    fn end_unit(&mut self, to: usize) {
        if let Some(last) = self.units.last_mut() {
            (last.end, last.to) = (self.text.len() as u32, to as u32);
        }
    }

    /// Counts bytes to the last unit that leave nothing in it.
    fn extend(&mut self, to: usize) {
        if let Some(last) = self.units.last_mut() {
            last.to = to as u32;
        }
    }

    /// Makes terms of units, but for those at the end that only the unit before is to know.
    fn cut(&mut self, side: Side, n_carried: usize) {
        let n_units = self.units.len() - n_carried;
        let (mut position, mut start, mut first) = (0, 0, 0);
        while let Some(unit) = self.units[..n_units].get(first) {
            let script = unit.script;
            let rest = &self.units[first + 1..];
            let n = 1 + match script {
                Script::Word => 0,
                _ => rest.iter().take_while(|next| next.joined && next.script == script).count(),
            };
            let run = &self.units[first..first + n];
            let (whole, is_index) = (start, side == Side::Index);
            let is_whole =
                is_index && script == Script::Hangul && (3..=WORD_UNITS_MAX).contains(&n);
            if let Some(last) = run.last().filter(|_| is_whole) {
                let Unit { end, to, .. } = *last;
                self.pieces.push(Piece { start: whole, end, position, from: unit.from, to });
            }
            for (nth, unit) in run.iter().enumerate().take(n_units - first) {
                let position = position + nth as u32;
                if let Some(next) = run.get(nth + 1) {
                    let Unit { end, to, .. } = *next;
                    self.pieces.push(Piece { start, end, position, from: unit.from, to });
                }
                if is_index || n == 1 {
                    let Unit { end, from, to, .. } = *unit;
                    self.pieces.push(Piece { start, end, position, from, to });
                }
                start = unit.end;
            }
            position += n.min(n_units - first) as u32;
            first += n;
        }
        self.n_positions = position;
    }
}

/// Appends what a part of a text is folded to.
type Fold = fn(&str, &mut String);

fn fold_fully(part: &str, out: &mut String) {
    classes::push_folded(part.chars(), out);
}

fn fold_forms(part: &str, out: &mut String) {
    use unicode_normalization::UnicodeNormalization;
    out.extend(part.nfkc().filter(|c| !normalization::is_ignorable(*c)));
}

/// The class of a character of which only the compatibility forms are folded.
fn class_of_form(c: char) -> Class {
    match c {
        _ if c.is_ascii_alphanumeric() => Class::Word(c),
        _ if c.is_ascii() => Class::Separator,
        _ if super::script::is_ideograph(c) || super::script::is_syllable(c) => Class::Pair,
        _ if normalization::is_ignorable(c) => Class::Dropped,
        _ if joins(c) => Class::Joins,
        _ => Class::Other,
    }
}

/// Whether a character begins a unit of its own behind one of a script without spaces.
fn starts_unit(c: char, class: Class) -> bool {
    match class {
        Class::Pair => true,
        // The first part of these two is a mark.
        Class::Other => !matches!(c, '\u{E33}' | '\u{EB3}'),
        _ => false,
    }
}

/// The next stretch at or behind a place of a text: letters and digits of ASCII, and whatever is outside of ASCII.
pub(super) fn next_stretch(text: &str, at: usize) -> Option<(usize, usize)> {
    let bytes = &text.as_bytes()[at..];
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
    let from = bytes.iter().position(is_part)?;
    let len = bytes[from..].iter().position(|byte| !is_part(byte));
    let to = len.map_or(bytes.len(), |len| from + len);
    Some((at + from, at + to))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str, folding: Folding, side: Side) -> String {
        let mut stretch = Stretch::default();
        stretch.read(text, folding, side);
        let piece = |piece: &Piece| {
            let term = &stretch.text[piece.start as usize..piece.end as usize];
            format!("{term}@{}:{}-{}", piece.position, piece.from, piece.to)
        };
        stretch.pieces.iter().map(piece).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_long_stretch_is_read_in_parts() {
        let terms = |text: &str, side| {
            let (mut stretch, mut found) = (Stretch::default(), vec![]);
            let (mut at, mut position) = (0, 0);
            while at < text.len() {
                let n_read = stretch.read(&text[at..], Folding::Full, side);
                assert!(n_read > 0 && stretch.units.len() <= PART_BYTES);
                for piece in &stretch.pieces {
                    let term = &stretch.text[piece.start as usize..piece.end as usize];
                    let from = at + piece.from as usize;
                    found.push((position + piece.position, term.to_owned(), from));
                }
                position += stretch.n_positions;
                at += n_read;
            }
            found
        };
        let n = 2 * PART_BYTES;
        for part in ["東京都", "ที่รถ", "東。a", "が", "ｶﾞé都"] {
            let text = part.repeat(n / part.len() + 1);
            let (index, short) = (terms(&text, Side::Index), terms(&part.repeat(4), Side::Index));
            // The terms of a repeated text repeat.
            let period = terms(&part.repeat(3), Side::Index).len()
                - terms(&part.repeat(2), Side::Index).len();
            assert_eq!(index[..period], short[..period], "{part}");
            for (nth, (position, term, from)) in index.iter().enumerate().skip(period) {
                let (before, same, start) = &index[nth - period];
                // All but the last unit, which has no next one.
                if nth + period < index.len() {
                    assert_eq!((term, *from), (same, start + part.len()), "{part} {nth}");
                }
                assert!(position > before);
            }
        }
        let long = "é".repeat(n);
        assert_eq!(terms(&long, Side::Index), [(0, "e".repeat(n), 0)]);
    }

    #[test]
    fn a_stretch_is_cut_as_its_scripts_are_written() {
        for (text, index, query) in [
            ("Zürich", "zurich@0:0-7", "zurich@0:0-7"),
            ("don’t", "don@0:0-3 t@1:6-7", "don@0:0-3 t@1:6-7"),
            ("e\u{301}a", "ea@0:0-4", "ea@0:0-4"),
            ("東京都", "東京@0:0-6 東@0:0-3 京都@1:3-9 京@1:3-6 都@2:6-9", "東京@0:0-6 京都@1:3-9"),
            ("猫", "猫@0:0-3", "猫@0:0-3"),
            ("北、京", "北@0:0-3 京@1:6-9", "北@0:0-3 京@1:6-9"),
            ("a手b", "a@0:0-1 手@1:1-4 b@2:4-5", "a@0:0-1 手@1:1-4 b@2:4-5"),
            ("手机x", "手机@0:0-6 手@0:0-3 机@1:3-6 x@2:6-7", "手机@0:0-6 x@2:6-7"),
            (
                "서울시",
                "서울시@0:0-9 서울@0:0-6 서@0:0-3 울시@1:3-9 울@1:3-6 시@2:6-9",
                "서울@0:0-6 울시@1:3-9",
            ),
            ("ｶﾞ", "ガ@0:0-6", "ガ@0:0-6"),
            ("\u{1112}\u{1161}\u{11AB}", "한@0:0-9", "한@0:0-9"),
            ("ที่", "ที่@0:0-9", "ที่@0:0-9"),
            ("हिन्दी", "हिन्दी@0:0-18", "हिन्दी@0:0-18"),
            ("½", "1@0:0-2 2@1:0-2", "1@0:0-2 2@1:0-2"),
            ("x²", "x2@0:0-3", "x2@0:0-3"),
            ("ﬁn", "fin@0:0-4", "fin@0:0-4"),
            ("co\u{AD}op", "coop@0:0-6", "coop@0:0-6"),
            ("a\u{200B}b", "a@0:0-1 b@1:4-5", "a@0:0-1 b@1:4-5"),
            ("Brand™", "brand@0:0-5", "brand@0:0-5"),
            ("🎵", "", ""),
            ("\u{301}", "", ""),
            ("ស្ត្រី", "ស្ត្រី@0:0-18", "ស្ត្រី@0:0-18"),
            ("國에", "國@0:0-3 에@1:3-6", "國@0:0-3 에@1:3-6"),
        ] {
            assert_eq!(shown(text, Folding::Full, Side::Index), index, "{text}");
            assert_eq!(shown(text, Folding::Full, Side::Query), query, "{text}");
        }
        assert_eq!(shown("Éﬁ東ｶﾞ", Folding::Forms, Side::Query), "Éfi@0:0-5 東ガ@1:5-14");
    }

    proptest! {
        /// Any part of a text that begins and ends with units is a phrase of it.
        #[test]
        fn the_terms_of_a_query_are_terms_of_the_index_in_their_places(text in "([a-z]|[é東京都かカｶﾞﾞー\u{3099}서울시ไทยที่ृहिन्दीßﬁİ’½\u{200D}\u{301}\u{1100}\u{1161}\u{11A8}]){0,12}") {
            for folding in [Folding::Full, Folding::Forms] {
                let (mut index, mut query) = (Stretch::default(), Stretch::default());
                index.read(&text, folding, Side::Index);
                query.read(&text, folding, Side::Query);
                prop_assert_eq!(index.n_positions, query.n_positions);
                for piece in &query.pieces {
                    prop_assert!(index.pieces.contains(piece));
                }
                prop_assert!(index.pieces.is_sorted_by_key(|piece| piece.position));
                // Every position has a term.
                let mut positions: Vec<_> = index.pieces.iter().map(|piece| piece.position).collect();
                positions.dedup();
                prop_assert_eq!(positions, (0..index.n_positions).collect::<Vec<_>>());
                for piece in &index.pieces {
                    let (from, to) = (piece.from as usize, piece.to as usize);
                    prop_assert!(from < to && text.is_char_boundary(from) && text.is_char_boundary(to));
                }
            }
        }

        #[test]
        fn canonical_equivalents_have_the_same_terms(text in "([a-z]|[éñçẫ東がパｶ서울시हিোßﬁİÅ\u{301}\u{3099}]|\\PC){0,12}") {
            use unicode_normalization::UnicodeNormalization;
            let terms = |text: &str| {
                let mut stretch = Stretch::default();
                stretch.read(text, Folding::Full, Side::Index);
                let term = |piece: &Piece| (piece.position, stretch.text[piece.start as usize..piece.end as usize].to_owned());
                stretch.pieces.iter().map(term).collect::<Vec<_>>()
            };
            let expected = terms(&text);
            prop_assert_eq!(terms(&text.nfd().collect::<String>()), expected.clone());
            prop_assert_eq!(terms(&text.nfc().collect::<String>()), expected);
        }
    }
}
