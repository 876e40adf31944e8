//! The built-in tokenizer: runs of characters for which `char::is_alphanumeric` holds, each
//! character lower-cased by `char::to_lowercase`.
//!
//! There is no normalisation: `é` as one character and as two
//! are different, and the second, whose accent is no letter, ends a token. Lower-casing looks at one
//! character at a time, so a final `Σ` becomes `σ` like any other.

use tantivy_tokenizer_api::{Token, TokenStream, Tokenizer};

/// Splits text into runs of Unicode alphanumeric characters and lower-cases them.
///
/// ```
/// use treepie::analysis::{DefaultTokenizer, tokenizer_api::{TokenStream, Tokenizer}};
///
/// let mut tokenizer = DefaultTokenizer::default();
/// let mut stream = tokenizer.token_stream("Zürich, 8001");
/// let mut tokens = vec![];
/// stream.process(&mut |token| tokens.push((token.offset_from, token.text.clone())));
/// assert_eq!(tokens, [(0, "zürich".to_string()), (9, "8001".to_string())]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct DefaultTokenizer {
    // Kept between texts for its capacity.
    token: Token,
}

/// The tokens of one text; see [`DefaultTokenizer`].
#[derive(Debug)]
pub struct DefaultTokenStream<'a> {
    text: &'a str,
    // Where the search for the next token starts: always a character boundary.
    at: usize,
    token: &'a mut Token,
}

impl Tokenizer for DefaultTokenizer {
    type TokenStream<'a> = DefaultTokenStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> DefaultTokenStream<'a> {
        self.token.reset();
        DefaultTokenStream { text, at: 0, token: &mut self.token }
    }
}

impl TokenStream for DefaultTokenStream<'_> {
    fn advance(&mut self) -> bool {
        let Some((from, to)) = next_run(self.text, self.at) else {
            self.at = self.text.len();
            return false;
        };
        self.at = to;
        self.token.offset_from = from;
        self.token.offset_to = to;
        self.token.position = self.token.position.wrapping_add(1);
        self.token.text.clear();
        push_lowercase(&self.text[from..to], &mut self.token.text);
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
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

    fn tokens(text: &str) -> Vec<String> {
        let mut tokens = vec![];
        DefaultTokenizer::default()
            .token_stream(text)
            .process(&mut |token| tokens.push(token.text.clone()));
        tokens
    }

    /// One character at a time, as the module doc says it.
    fn naive(text: &str) -> Vec<String> {
        let mut tokens = vec![];
        let mut token = String::new();
        for c in text.chars().chain(['\0']) {
            if c.is_alphanumeric() {
                token.extend(c.to_lowercase());
            } else if !token.is_empty() {
                tokens.push(std::mem::take(&mut token));
            }
        }
        tokens
    }

    #[test]
    fn tokens_are_alphanumeric_runs_in_lower_case() {
        let cases: &[(&str, &[&str])] = &[
            ("", &[]),
            (" \0-_()", &[]),
            ("AC/DC", &["ac", "dc"]),
            ("'Til_Tuesday", &["til", "tuesday"]),
            ("İstanbul ΣΑΣ ẞ", &["i\u{307}stanbul", "σασ", "ß"]),
            ("東京タワー１９５８", &["東京タワー１９５８"]),
            ("e\u{301}a", &["e", "a"]),
            ("½ ² Ⅷ 🎵x🎵", &["½", "²", "ⅷ", "x"]),
        ];
        for (text, expected) in cases {
            assert_eq!(tokens(text), *expected, "{text:?}");
            assert_eq!(naive(text), *expected, "{text:?}");
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
        fn the_stream_and_the_naive_split_agree(text in "([a-zA-Z0-9 _-]|\\PC|[İßΣ\u{300}-\u{310}\u{1F1E6}]){0,40}") {
            prop_assert_eq!(tokens(&text), naive(&text));
        }
    }
}
