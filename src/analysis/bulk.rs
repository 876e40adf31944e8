//! The default tokenizer over a whole chunk of texts at once, for the build.
//!
//! The tokens are those of [`DefaultTokenizer`](crate::analysis::DefaultTokenizer), text by text; what differs is the pace. Sixty-four bytes
//! are classified and lower-cased at a time by arithmetic on 64-bit words; only stretches that hold a
//! byte outside ASCII are read character by character, as the tokenizer reads them. On titles this takes about a third of
//! the time of one token stream a title (one box and one copy a token less).

use crate::analysis::stretch::{Folding, Side, Stretch};
use crate::analysis::{Analyzer, TERM_BYTES_MAX};

/// Bytes that may be read past a token, so that readers can load whole words.
pub(crate) const PADDING: usize = 16;
/// Bytes classified in one step.
const STEP: usize = 64;

/// The tokens of consecutive texts. Buffers are kept between uses.
#[derive(Debug, Default)]
pub(crate) struct BulkTokens {
    /// Lower-cased text of every token, followed by [`PADDING`] bytes.
    pub(crate) bytes: Vec<u8>,
    /// Start and length in `bytes` of each token.
    pub(crate) tokens: Vec<(u32, u32)>,
    /// For each text the number of tokens up to its end.
    pub(crate) ends: Vec<u32>,
    /// Positions of `tokens`, one each, where they are not simply counted; see [`positions`](Self::positions).
    positions: Vec<u32>,
    /// Bytes of the text that each of `tokens` was made of, if they were asked for.
    ranges: Vec<(usize, usize)>,
    /// Whether every token is given its position, since one had another than its number in its text.
    are_placed: bool,
    /// Position behind the last token of the text that is read; kept while tokens are placed.
    next_position: u32,
    stretch: Stretch,
    n_too_long: u64,
}

impl BulkTokens {
    /// Forgets everything, keeps the buffers.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.tokens.clear();
        self.ends.clear();
        self.positions.clear();
        self.ranges.clear();
        (self.are_placed, self.next_position) = (false, 0);
    }

    /// The position of each token in its text. `None` if that is its number among the tokens of the text,
    /// as it is unless tokens were left out, dropped by filters, put in one position, or numbered by a tokenizer of its own.
    pub(crate) fn positions(&self) -> Option<&[u32]> {
        (!self.positions.is_empty()).then_some(&*self.positions)
    }

    /// Ranges of the tokens of the text that was [analyzed](Self::analyze), if that was asked for.
    pub(crate) fn ranges(&self) -> &[(usize, usize)] {
        &self.ranges
    }

    /// Tokens left out since the last call because they are too long.
    pub(crate) fn take_too_long(&mut self) -> u64 {
        std::mem::take(&mut self.n_too_long)
    }

    /// Replaces the content by the tokens that `analyzer` makes of one text, by position; with their ranges where
    /// these are wanted.
    ///
    /// # Panics
    ///
    /// If the terms together have 4 GiB or more.
    pub(crate) fn analyze(&mut self, analyzer: &mut Analyzer, text: &str, with_ranges: bool) {
        self.clear();
        let BulkTokens { bytes, tokens, positions, ranges, n_too_long, .. } = &mut *self;
        let (mut counted, mut in_order) = (true, true);
        let left_out = analyzer.for_each_token(text, |token| {
            counted &= token.position as usize == tokens.len();
            in_order &= positions.last().is_none_or(|last| *last <= token.position);
            let start =
                u32::try_from(bytes.len()).expect("the terms of a text have 32-bit offsets");
            tokens.push((start, token.term.len() as u32));
            positions.push(token.position);
            if with_ranges {
                ranges.push((token.offset_from, token.offset_to));
            }
            bytes.extend_from_slice(token.term.as_bytes());
        });
        *n_too_long += left_out;
        if !in_order {
            // Some tokenizers give the parts of a word before the word.
            let mut ranges_by_position: Vec<_> =
                positions.iter().copied().zip(ranges.drain(..)).collect();
            ranges_by_position.sort_by_key(|(position, _)| *position);
            ranges.extend(ranges_by_position.iter().map(|(_, range)| *range));
            let mut by_position: Vec<_> = positions.iter().copied().zip(tokens.drain(..)).collect();
            by_position.sort_by_key(|(position, _)| *position);
            positions.clear();
            positions.extend(by_position.iter().map(|(position, _)| *position));
            tokens.extend(by_position.iter().map(|(_, token)| *token));
        }
        if counted {
            positions.clear();
        }
        self.ends.push(self.tokens.len() as u32);
        self.bytes.extend_from_slice(&[0; PADDING]);
    }

    /// Replaces the content by the tokens of `texts`: texts that each end with a newline.
    ///
    /// # Panics
    ///
    /// If `texts` has 2 GiB or more.
    pub(crate) fn tokenize(&mut self, texts: &str) {
        assert!(texts.len() < 1 << 31, "a chunk's offsets are 32 bits wide");
        self.clear();
        // Words in ASCII stay where they lie; others are appended behind all of them.
        self.bytes.resize(texts.len().next_multiple_of(STEP), 0);
        let mut scan = Scan { texts, word_start: None, word_is_ascii: true };
        let (steps, rest) = texts.as_bytes().as_chunks::<STEP>();
        let mut carry = 0;
        for (nth, step) in steps.iter().enumerate() {
            carry = self.step(&mut scan, nth * STEP, step, carry);
        }
        if !rest.is_empty() {
            let mut step = [b' '; STEP];
            step[..rest.len()].copy_from_slice(rest);
            carry = self.step(&mut scan, steps.len() * STEP, &step, carry);
        }
        if carry != 0 {
            self.end_word(&mut scan, texts.len());
        }
        if !texts.is_empty() && !texts.ends_with('\n') {
            self.end_text();
        }
        self.bytes.extend_from_slice(&[0; PADDING]);
    }

    /// Makes one text of several: the first of the first `counts[0]`, and so on. The positions of a text begin
    /// `gap` places behind the last token of those before it.
    pub(crate) fn join(&mut self, counts: &[u32], gap: u16) {
        let given = std::mem::take(&mut self.positions);
        self.positions.reserve(self.tokens.len());
        let (mut text, mut token) = (0, 0);
        for (nth, count) in counts.iter().enumerate() {
            let mut first = 0;
            for end in self.ends[text..text + *count as usize].iter().copied() {
                let own = |at: u32| given.get(at as usize).copied().unwrap_or(at - token);
                self.positions.extend((token..end).map(|at| own(at).saturating_add(first)));
                if token < end {
                    let last = self.positions.last().copied().unwrap_or_default();
                    first = last.saturating_add(1).saturating_add(gap.into());
                }
                token = end;
            }
            text += *count as usize;
            self.ends[nth] = token;
        }
        self.ends.truncate(counts.len());
    }

    #[inline]
    fn push(&mut self, start: usize, len: usize) {
        self.tokens.push((start as u32, len as u32));
        if self.are_placed {
            self.positions.push(self.next_position);
            self.next_position = self.next_position.saturating_add(1);
        }
    }

    #[inline]
    fn end_text(&mut self) {
        self.ends.push(self.tokens.len() as u32);
        self.next_position = 0;
    }

    /// Gives every token its position from now on, and those so far theirs.
    fn place(&mut self) {
        if self.are_placed {
            return;
        }
        let (mut from, n) = (0, self.tokens.len() as u32);
        for end in self.ends.iter().copied().chain([n]) {
            self.positions.extend(0..end - from);
            self.next_position = end - from;
            from = end;
        }
        self.are_placed = true;
    }

    /// Notes that the next token is too long.
    #[cold]
    fn leave_out(&mut self) {
        self.n_too_long += 1;
        self.place();
        self.next_position = self.next_position.saturating_add(1);
    }

    /// Classifies the 64 bytes at `at`; `carry` and the result say whether a word goes on (0 or 1).
    #[inline]
    fn step(&mut self, scan: &mut Scan<'_>, at: usize, step: &[u8; STEP], carry: u64) -> u64 {
        let lowered: &mut [u8; STEP] =
            self.bytes[at..].first_chunk_mut().expect("the buffer is a multiple of the step");
        let Classes { word, newline, non_ascii } = classify(step, lowered);
        // A bit is an event where a word begins or ends, and at every newline.
        let mut events = (word ^ (word << 1 | carry)) | newline;
        let mut word_from = 0;
        while events != 0 {
            let bit = events.trailing_zeros();
            events &= events - 1;
            if scan.word_start.is_some() {
                let of_word = ((1u64 << bit) - 1) & !((1u64 << word_from) - 1);
                scan.word_is_ascii &= non_ascii & of_word == 0;
                self.end_word(scan, at + bit as usize);
            } else if newline >> bit & 1 == 0 {
                scan.word_start = Some(at + bit as usize);
                scan.word_is_ascii = true;
                word_from = bit;
            }
            if newline >> bit & 1 == 1 {
                self.end_text();
            }
        }
        if scan.word_start.is_some() {
            scan.word_is_ascii &= non_ascii >> word_from == 0;
        }
        word >> 63
    }

    #[inline]
    fn end_word(&mut self, scan: &mut Scan<'_>, end: usize) {
        let Some(start) = scan.word_start.take() else { return };
        if scan.word_is_ascii {
            if end - start > TERM_BYTES_MAX {
                return self.leave_out();
            }
            self.push(start, end - start);
        } else {
            self.split_word(&scan.texts[start..end]);
        }
    }

    /// Tokens of a stretch of ASCII alphanumerics and bytes outside ASCII.
    #[inline(never)]
    fn split_word(&mut self, mut rest: &str) {
        let mut stretch = std::mem::take(&mut self.stretch);
        while !rest.is_empty() {
            let n_read = stretch.read(rest, Folding::Full, Side::Index);
            rest = &rest[n_read..];
            let is_counted = stretch.pieces.len() == stretch.n_positions as usize;
            if !is_counted || stretch.text.len() > TERM_BYTES_MAX {
                self.place();
            }
            let first = self.next_position;
            for piece in &stretch.pieces {
                self.next_position = first.saturating_add(piece.position);
                let term = &stretch.text[piece.start as usize..piece.end as usize];
                if term.len() > TERM_BYTES_MAX {
                    self.leave_out();
                    continue;
                }
                self.push(self.bytes.len(), term.len());
                self.bytes.extend_from_slice(term.as_bytes());
            }
        }
        self.stretch = stretch;
    }
}

/// The word that is being read.
struct Scan<'t> {
    texts: &'t str,
    word_start: Option<usize>,
    word_is_ascii: bool,
}

/// One bit a byte: part of a word (alphanumeric, or outside ASCII), newline, outside ASCII.
struct Classes {
    word: u64,
    newline: u64,
    non_ascii: u64,
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Classifies 64 bytes and writes them with ASCII letters lower-cased.
#[inline]
fn classify(step: &[u8; STEP], lowered: &mut [u8; STEP]) -> Classes {
    let mut classes = Classes { word: 0, newline: 0, non_ascii: 0 };
    let words = step.as_chunks::<8>().0.iter().zip(lowered.as_chunks_mut::<8>().0);
    for (nth, (bytes, out)) in words.enumerate() {
        let x = u64::from_le_bytes(*bytes);
        let high = x & HIGH;
        let low = x & !HIGH;
        let upper = at_least(low, b'A') & !at_least(low, b'Z' + 1) & !high;
        let case = upper >> 2; // 0x20, the distance from an upper-case letter to its lower-case one
        *out = (x | case).to_le_bytes();
        let folded = low | case;
        let letter = at_least(folded, b'a') & !at_least(folded, b'z' + 1);
        let digit = at_least(folded, b'0') & !at_least(folded, b'9' + 1);
        let newline = at_least(low, b'\n') & !at_least(low, b'\n' + 1) & !high;
        classes.word |= high_bits((letter | digit) & !high | high) << (8 * nth);
        classes.newline |= high_bits(newline) << (8 * nth);
        classes.non_ascii |= high_bits(high) << (8 * nth);
    }
    classes
}

/// High bit of each byte that is at least `limit`; the bytes of `x` are below 0x80.
#[inline]
fn at_least(x: u64, limit: u8) -> u64 {
    x.wrapping_add(ONES.wrapping_mul(u64::from(0x80 - limit))) & HIGH
}

/// Gathers the high bits of eight bytes into one byte.
#[inline]
fn high_bits(x: u64) -> u64 {
    (x >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::tokenizer_api::{Token, TokenStream, Tokenizer};
    use proptest::prelude::*;

    fn check(texts: &[&str]) {
        let mut tokens = BulkTokens::default();
        tokens.tokenize(&texts.iter().map(|text| format!("{text}\n")).collect::<String>());
        for (start, len) in &tokens.tokens {
            assert!(tokens.bytes.len() >= (start + len) as usize + PADDING);
        }
        let expected = placed_one_by_one(&Analyzer::default(), texts);
        assert_eq!(placed(&mut tokens), expected, "{texts:?}");
    }

    #[test]
    fn words_of_many_scripts_are_found_at_every_position() {
        let samples = [
            "Paris (film)",
            "Ünïcödé STRASSE ẞ İstanbul",
            "東京都 2020",
            "iPhone手机壳abc 서울시에서",
            "ที่รถ e\u{301}\u{308} ｶﾞ",
            "a\u{1F600}b x²y",
            "ǅ ﬁ ΑΣ",
            "Ⅷ",
            "",
            "__",
            "don't",
        ];
        for shift in 0..130 {
            for sample in samples {
                check(&[&("-".repeat(shift) + sample), sample, &("x".repeat(shift) + sample)]);
            }
        }
    }

    #[test]
    fn a_text_without_a_newline_at_its_end_counts_too() {
        let mut tokens = BulkTokens::default();
        tokens.tokenize("one two\nthree");
        assert_eq!((tokens.ends.clone(), tokens.tokens.len()), (vec![2, 3], 3));
        tokens.tokenize("");
        assert!(tokens.ends.is_empty() && tokens.tokens.is_empty());
    }

    /// Term and position of every token, and how many were too long.
    fn placed(tokens: &mut BulkTokens) -> (Vec<Vec<(u32, String)>>, u64) {
        let mut from = 0;
        let mut by_text = vec![];
        for &end in &tokens.ends {
            let of_text = from as usize..end as usize;
            let placed = of_text.clone().map(|nth| {
                let (start, len) = tokens.tokens[nth];
                let term = &tokens.bytes[start as usize..][..len as usize];
                let position = tokens.positions().map_or(nth as u32 - from, |all| all[nth]);
                (position, String::from_utf8(term.to_vec()).unwrap())
            });
            by_text.push(placed.collect());
            from = end;
        }
        (by_text, tokens.take_too_long())
    }

    /// Places tokens by the general way, a text at a time.
    fn placed_one_by_one(analyzer: &Analyzer, texts: &[&str]) -> (Vec<Vec<(u32, String)>>, u64) {
        let mut n_too_long = 0;
        let one = |text: &&str| {
            let mut placed = vec![];
            n_too_long += analyzer.clone().for_each_token(text, |token| {
                placed.push((token.position, token.term.to_owned()));
            });
            placed
        };
        (texts.iter().map(one).collect(), n_too_long)
    }

    #[test]
    fn in_bulk_and_one_by_one_tokens_over_the_limit_keep_their_positions() {
        let limit = "x".repeat(TERM_BYTES_MAX);
        let long = limit.clone() + "x";
        // Folded it is longer: three bytes become four.
        let grows = "㎜".repeat(TERM_BYTES_MAX / 2 + 1) + "é";
        let cases: &[&[&str]] = &[
            &["a b", "", "c"],
            &[&limit, "a"],
            &[&format!("{long} a {long}"), "b", &format!("{long} {long} c {grows} d")],
            &["a", &long, &long, "b"],
            &[&grows, &format!("{grows} a")],
            &[&format!("a {long}")],
        ];
        let mut tokens = BulkTokens::default();
        for texts in cases {
            tokens.tokenize(&texts.iter().map(|text| format!("{text}\n")).collect::<String>());
            let expected = placed_one_by_one(&Analyzer::default(), texts);
            assert!(placed(&mut tokens) == expected, "{:?}", texts.iter().map(|t| t.len()));
        }
    }

    #[test]
    fn what_an_analyzer_gives_comes_by_position() {
        let stops = Analyzer::from_spec("words|lower|stop:en").unwrap();
        let mut tokens = BulkTokens::default();
        for text in ["The king of Spain", "", "of the", "king", &"x".repeat(TERM_BYTES_MAX + 1)] {
            for analyzer in [&stops, &Analyzer::default()] {
                tokens.analyze(&mut analyzer.clone(), text, false);
                let expected = placed_one_by_one(analyzer, &[text]);
                assert!(placed(&mut tokens) == expected, "{text:.40}");
            }
        }
        assert!(tokens.positions().is_none());

        /// The parts of a word before the word, as tokenizers of Chinese give them.
        #[derive(Clone)]
        struct PartsFirst;
        struct Parts(usize, Token);
        impl Tokenizer for PartsFirst {
            type TokenStream<'a> = Parts;
            fn token_stream<'a>(&'a mut self, _text: &'a str) -> Parts {
                Parts(0, Token::default())
            }
        }
        impl TokenStream for Parts {
            fn advance(&mut self) -> bool {
                let tokens = [(0, "a"), (2, "c"), (1, "b"), (0, "abc"), (3, "d")];
                let Some((position, text)) = tokens.get(self.0) else { return false };
                self.0 += 1;
                (self.1.position, self.1.text) = (*position, (*text).to_owned());
                (self.1.offset_from, self.1.offset_to) = (self.0, 9);
                true
            }
            fn token(&self) -> &Token {
                &self.1
            }
            fn token_mut(&mut self) -> &mut Token {
                &mut self.1
            }
        }
        tokens.analyze(&mut Analyzer::new("parts", PartsFirst), "", true);
        let terms = [(0, "a"), (0, "abc"), (1, "b"), (2, "c"), (3, "d")];
        assert_eq!(tokens.ranges(), [(1, 9), (4, 9), (3, 9), (2, 9), (5, 9)]);
        let expected = terms.map(|(position, term)| (position, term.to_owned()));
        assert_eq!(placed(&mut tokens), (vec![expected.to_vec()], 0));
    }

    proptest! {
        #[test]
        fn the_tokens_of_any_texts_are_those_of_the_rule(texts in prop::collection::vec("[^\n]{0,90}", 0..6)) {
            check(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        }

        #[test]
        fn the_tokens_of_texts_in_many_scripts_are_those_of_the_rule(texts in prop::collection::vec("([a-z ]|[éßİςﬁ½東京かガｶﾞ서울시ไทยที่हिन्दी。’\u{301}\u{3099}\u{AD}\u{1100}\u{1161}\u{11A8}]){0,60}", 0..5)) {
            check(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        }

        #[test]
        fn the_tokens_of_mostly_ascii_texts_are_those_of_the_rule(texts in prop::collection::vec("[a-zA-Z0-9 _éßİ東-]{0,200}", 0..4)) {
            check(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }

    #[test]
    fn texts_that_are_joined_go_on_behind_a_gap() {
        let long = "x".repeat(TERM_BYTES_MAX + 1);
        let with_long = format!("a {long} b\nc {long}\nd\n");
        for (texts, counts, gap, expected_ends, expected) in [
            ("a b\nc\nd e\n", &[2, 1][..], 10, &[3, 5][..], &[0, 1, 12, 0, 1][..]),
            ("a b\nc\nd e\n", &[3], 0, &[5], &[0, 1, 2, 3, 4]),
            ("\n\na\n\nb\n", &[1, 4], 5, &[0, 2], &[0, 6]),
            (&with_long, &[3], 10, &[4], &[0, 2, 13, 24]),
        ] {
            let mut tokens = BulkTokens::default();
            tokens.tokenize(texts);
            tokens.join(counts, gap);
            assert_eq!((&*tokens.ends, tokens.positions().unwrap()), (expected_ends, expected));
        }
    }
}
