//! Text for a terminal: its safe characters, and its width in columns.
//!
//! Queries and terms are somebody else's text. Control characters would drive the terminal and
//! bidirectional marks reorder what stands around them, so both are shown as escapes.

use std::borrow::Cow;

/// The text with everything invisible written as `\u{…}`: control characters, line breaks,
/// bidirectional marks, blanks other than the space, unassigned and private characters.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) || text.chars().all(may_print) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match may_print(c) {
            true => shown.push(c),
            false => shown.extend(c.escape_debug()),
        }
    }
    Cow::Owned(shown)
}

/// The columns that printable text takes.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// The columns that one printable character takes: 0 for what combines with the one before it, 2
/// for East Asian wide characters and emoji, else 1.
pub(crate) fn char_width(c: char) -> usize {
    match c {
        ' '..='~' => 1,
        _ if combines(c) => 0,
        _ => 1 + usize::from(is_wide(c)),
    }
}

/// The longest start of printable text that fits into `columns`, ending in `mark` if anything is
/// missing; a character is never cut from the marks that combine with it.
pub(crate) fn truncate<'t>(text: &'t str, columns: usize, mark: &str) -> Cow<'t, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let mark = if width(mark) <= columns { mark } else { "" };
    let room = columns - width(mark);
    let mut taken = 0;
    let end = text.char_indices().find_map(|(at, c)| {
        taken += char_width(c);
        (taken > room).then_some(at)
    });
    Cow::Owned(format!("{}{mark}", &text[..end.unwrap_or(text.len())]))
}

fn may_print(c: char) -> bool {
    match c {
        ' '..='~' => true,
        _ => combines(c) || !is_escaped(c),
    }
}

/// Whether the standard library thinks that the character cannot be seen when it stands alone.
fn is_escaped(c: char) -> bool {
    !matches!(c, '\'' | '"' | '\\') && c.escape_debug().len() > 1
}

/// Whether a character has no width of its own (Grapheme_Extend, and the joiner of emoji).
fn combines(c: char) -> bool {
    // `char::escape_debug` escapes the whole property, `str::escape_debug` leaves it where it has a
    // character to combine with; only invisible characters are escaped by both.
    let after_a_letter = || {
        let mut bytes = [b'a'; 5];
        let len = c.encode_utf8(&mut bytes[1..]).len();
        str::from_utf8(&bytes[..=len]).is_ok_and(|text| text.escape_debug().count() == 2)
    };
    c == '\u{200D}' || (c > '\u{2FF}' && is_escaped(c) && after_a_letter())
}

fn is_wide(c: char) -> bool {
    const WIDE: &[(u32, u32)] = &[
        (0x1100, 0x115F),   // Hangul leading consonants
        (0x231A, 0x231B),   // watch, hourglass
        (0x23E9, 0x23EC),   // double triangles
        (0x2614, 0x2615),   // umbrella, hot beverage
        (0x2648, 0x2653),   // zodiac
        (0x2E80, 0x303E),   // radicals, CJK punctuation
        (0x3041, 0x4DBF),   // kana, compatibility, extension A
        (0x4E00, 0xA4CF),   // unified ideographs, Yi
        (0xA960, 0xA97F),   // Hangul
        (0xAC00, 0xD7A3),   // Hangul syllables
        (0xF900, 0xFAFF),   // compatibility ideographs
        (0xFE30, 0xFE6F),   // compatibility and small forms
        (0xFF01, 0xFF60),   // full-width forms
        (0xFFE0, 0xFFE6),   // full-width signs
        (0x16FE0, 0x18AFF), // Tangut
        (0x1B000, 0x1B2FF), // kana supplements
        (0x1F300, 0x1F64F), // pictographs, emoticons
        (0x1F680, 0x1F6FF), // transport
        (0x1F900, 0x1F9FF), // supplemental pictographs
        (0x1FA70, 0x1FAFF), // extended pictographs
        (0x20000, 0x3FFFD), // ideographs of planes 2 and 3
    ];
    let c = u32::from(c);
    let at = WIDE.partition_point(|&(_, last)| last < c);
    WIDE.get(at).is_some_and(|&(first, _)| first <= c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_drive_or_confuse_a_terminal_is_escaped() {
        let cases = [
            ("plain \"text\" it's \\", "plain \"text\" it's \\"),
            ("a\u{1b}[2Jb", "a\\u{1b}[2Jb"),
            ("a\nb\tc\0", "a\\nb\\tc\\0"),
            ("\u{202E}evil\u{2066}", "\\u{202e}evil\\u{2066}"),
            ("no\u{A0}break", "no\\u{a0}break"),
            ("e\u{301} हिन्दी 東京 👩\u{200D}💻", "e\u{301} हिन्दी 東京 👩\u{200D}💻"),
        ];
        for (text, expected) in cases {
            assert_eq!(printable(text), expected);
        }
    }

    #[test]
    fn width_counts_columns() {
        let cases = [
            ("", 0),
            ("abc", 3),
            ("é", 1),
            ("e\u{301}", 1),
            ("東京", 4),
            ("ﾄ", 1),
            ("─│", 2),
            ("🎵", 2),
        ];
        for (text, expected) in cases {
            assert_eq!(width(text), expected, "{text:?}");
        }
    }

    #[test]
    fn cutting_respects_columns_and_combining_marks() {
        assert_eq!(truncate("abcdef", 6, "…"), "abcdef");
        assert_eq!(truncate("abcdef", 4, "…"), "abc…");
        assert_eq!(truncate("東京タワー", 6, "…"), "東京…");
        assert_eq!(truncate("ae\u{301}\u{302}xyz", 3, "…"), "ae\u{301}\u{302}…");
        assert_eq!(truncate("abcdef", 2, "..."), "ab");
        assert_eq!(truncate("abc", 0, "…"), "");
    }
}
