//! Built-in tokenizer: folded words, and pairs of characters in scripts without spaces. Words are alphanumeric
//! characters without case, diacritics and compatibility forms.
//!
//! In ASCII texts these are the runs of letters and digits in lower case. [`stretch`](super::stretch)
//! says what becomes of other texts.

use tantivy_tokenizer_api::{Token, TokenStream, Tokenizer};

use super::stretch::{Folding, Side, Stretch, next_stretch};

/// Splits text into words and folds them: case, diacritics and compatibility forms.
///
/// Chinese, Japanese, Thai and other scripts without spaces become pairs of characters, and single ones.
///
/// ```
/// use treepie::analysis::{DefaultTokenizer, tokenizer_api::{TokenStream, Tokenizer}};
///
/// let mut tokenizer = DefaultTokenizer::default();
/// let mut stream = tokenizer.token_stream("Zürich, 8001");
/// let mut tokens = vec![];
/// stream.process(&mut |token| tokens.push((token.offset_from, token.text.clone())));
/// assert_eq!(tokens, [(0, "zurich".to_string()), (9, "8001".to_string())]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct DefaultTokenizer {
    side: Side,
    // Kept between texts for their capacity.
    token: Token,
    stretch: Stretch,
}

impl DefaultTokenizer {
    pub(super) fn for_queries(mut self) -> Self {
        self.side = Side::Query;
        self
    }
}

/// The tokens of one text; see [`DefaultTokenizer`].
#[derive(Debug)]
pub struct DefaultTokenStream<'a> {
    text: &'a str,
    cutter: Cutter,
    stretch: &'a mut Stretch,
    token: &'a mut Token,
}

impl Tokenizer for DefaultTokenizer {
    type TokenStream<'a> = DefaultTokenStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> DefaultTokenStream<'a> {
        self.token.reset();
        let cutter = Cutter::new(Folding::Full, self.side, &mut self.stretch);
        DefaultTokenStream { text, cutter, stretch: &mut self.stretch, token: &mut self.token }
    }
}

impl TokenStream for DefaultTokenStream<'_> {
    fn advance(&mut self) -> bool {
        self.cutter.next(self.text, self.stretch, self.token)
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

/// Walks over the stretches of a text and their terms.
#[derive(Debug)]
pub(super) struct Cutter {
    folding: Folding,
    side: Side,
    /// Start of the search for the next stretch, and end of the one at hand.
    at: usize,
    end: usize,
    /// Start of the stretch at hand, the position of its first term, and how many of its terms were given.
    start: usize,
    first: usize,
    n_given: usize,
    /// The position behind the stretch at hand.
    next_position: usize,
}

impl Cutter {
    /// Starts on a text; the buffer is that of [`next`](Self::next).
    pub(super) fn new(folding: Folding, side: Side, stretch: &mut Stretch) -> Self {
        stretch.pieces.clear();
        Cutter { folding, side, at: 0, end: 0, start: 0, first: 0, n_given: 0, next_position: 0 }
    }

    /// The next token; false after the last.
    pub(super) fn next(&mut self, text: &str, stretch: &mut Stretch, token: &mut Token) -> bool {
        loop {
            if let Some(piece) = stretch.pieces.get(self.n_given) {
                self.n_given += 1;
                token.offset_from = self.start + piece.from as usize;
                token.offset_to = self.start + piece.to as usize;
                token.position = self.first + piece.position as usize;
                token.position_length = 1;
                token.text.clear();
                token.text.push_str(&stretch.text[piece.start as usize..piece.end as usize]);
                return true;
            }
            if self.at >= self.end {
                let Some((from, to)) = next_stretch(text, self.at) else {
                    (self.at, self.end) = (text.len(), text.len());
                    return false;
                };
                (self.at, self.end) = (from, to);
            }
            let part = &text[self.at..self.end];
            (self.start, self.first) = (self.at, self.next_position);
            if part.is_ascii() {
                token.offset_from = self.at;
                token.offset_to = self.end;
                token.position = self.next_position;
                token.position_length = 1;
                token.text.clear();
                token.text.push_str(part);
                if self.folding == Folding::Full {
                    token.text.make_ascii_lowercase();
                }
                self.at = self.end;
                self.next_position += 1;
                return true;
            }
            self.at += stretch.read(part, self.folding, self.side);
            self.n_given = 0;
            self.next_position += stretch.n_positions as usize;
        }
    }
}

/// The first run of alphanumeric characters at or after `at`, which is a character boundary.
pub(super) fn next_run(text: &str, at: usize) -> Option<(usize, usize)> {
    let rest = &text[at..];
    let from = rest.find(char::is_alphanumeric)?;
    let run = &rest[from..];
    let len = run.find(|c: char| !c.is_alphanumeric()).unwrap_or(run.len());
    Some((at + from, at + from + len))
}

/// Appends the lower case of each character, as version 1 of the analyzers had it.
pub(super) fn push_lowercase(run: &str, token: &mut String) {
    if run.is_ascii() {
        token.push_str(run);
        token.make_ascii_lowercase();
    } else {
        token.extend(run.chars().flat_map(char::to_lowercase));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::analysis::classes;

    fn tokens(text: &str) -> Vec<String> {
        let mut tokens = vec![];
        DefaultTokenizer::default()
            .for_queries()
            .token_stream(text)
            .process(&mut |token| tokens.push(token.text.clone()));
        tokens
    }

    /// The rule for scripts with spaces: folded as a whole, then cut into runs of letters, digits and marks.
    fn naive(text: &str) -> Vec<String> {
        let mut folded = String::new();
        classes::push_folded(text.chars(), &mut folded);
        let runs = folded.split(|c: char| !c.is_alphanumeric());
        runs.filter(|run| !run.is_empty()).map(str::to_owned).collect()
    }

    #[test]
    fn tokens_are_folded_words_and_pairs() {
        let cases: &[(&str, &[&str])] = &[
            ("", &[]),
            (" \0-_()", &[]),
            ("AC/DC", &["ac", "dc"]),
            ("'Til_Tuesday", &["til", "tuesday"]),
            ("İstanbul ΣΑΣ ẞ", &["istanbul", "σασ", "ss"]),
            ("東京タワー１９５８", &["東京", "京タ", "タワ", "ワー", "1958"]),
            ("e\u{301}a", &["ea"]),
            ("½ ² Ⅷ 🎵x🎵", &["1", "2", "2", "viii", "x"]),
        ];
        for (text, expected) in cases {
            assert_eq!(tokens(text), *expected, "{text:?}");
        }
    }

    #[test]
    fn a_stream_tells_offsets_and_positions_and_stays_at_its_end() {
        let mut tokenizer = DefaultTokenizer::default();
        for _ in 0..2 {
            let mut stream = tokenizer.token_stream("--Ä1  b");
            assert!(stream.advance());
            let token = stream.token();
            assert_eq!((token.offset_from, token.offset_to, token.position), (2, 5, 0));
            assert!(stream.advance());
            assert_eq!((stream.token().offset_from, stream.token().position), (7, 1));
            assert!(!stream.advance() && !stream.advance());
        }
    }

    #[test]
    fn a_token_may_be_as_long_as_the_text() {
        let text = "A".repeat(100_000);
        assert_eq!(tokens(&text), [text.to_lowercase()]);
    }

    proptest! {
        #[test]
        fn the_stream_and_the_naive_split_agree(text in "[a-zA-Z0-9 _éÀßẞİıΣσςſﬁ½²ŉ’ʼ\u{300}\u{301}\u{308}\u{AD}\u{200D}Ж-]{0,40}") {
            prop_assert_eq!(tokens(&text), naive(&text));
        }
    }
}
