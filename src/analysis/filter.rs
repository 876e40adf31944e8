//! Built-in token filters: each changes a token, drops it or lets it pass.
//!
//! | spec | what becomes of a token |
//! |---|---|
//! | `lower` | its full case folding, composed, with plain apostrophes: `Straße` is `strasse`, `O’Neil` is `o'neil` (the module `case`) |
//! | `lower:tr`, `lower:az` | likewise, with `ı` for `I` and `i` for `İ` |
//! | `nfc` | composed: `é` of two characters is one (the module `normalization`) |
//! | `nfkc` | composed, and without compatibility forms: full width, ligatures, superscripts |
//! | `fold` | without diacritics: `Łódź` is `Lodz`, `ﬁ` is `fi`, `½` is `1⁄2` (the module `fold`) |
//! | `possessive` | without a final `'s` |
//! | `elision:fr` | without an article and its apostrophe before it: `l'avion` is `avion` (`ca`, `fr`, `it`) |
//! | `stop:en` | dropped if it is a stop word of the language (the module `stop_words`) |
//! | `stem:en` | its Snowball stem (the module `stem`) |
//! | `length:MAX`, `length:MIN,MAX` | dropped if it has fewer or more characters |
//!
//! Tokens keep their positions, so that what is dropped leaves a gap: in `The king of Spain` without
//! stop words, `king` is at 1 and `spain` at 3.

use std::collections::HashSet;
use std::sync::Arc;

use tantivy_tokenizer_api::{Token, TokenFilter, TokenStream, Tokenizer};

use super::ends::Ends;
use crate::analysis::apostrophe;
use crate::analysis::case::{self, Language};
use crate::analysis::fold;
use crate::analysis::normalization::Form;
use crate::analysis::stem::{StemCache, Stemmer};
use crate::analysis::stop_words;
use crate::analysis::tokenizer::push_lowercase;
use crate::error::{Error, ErrorKind, Result};

/// A built-in filter; it may stand behind any tokenizer of the interface.
///
/// ```
/// use treepie::analysis::{Filter, Splitter, tokenizer_api::{TokenFilter, TokenStream, Tokenizer}};
///
/// let mut tokenizer = Filter::stop_words(["the", "of"])
///     .transform(Filter::lower_case().transform(Splitter::words()));
/// let mut stream = tokenizer.token_stream("The king of Spain");
/// let mut tokens = vec![];
/// stream.process(&mut |token| tokens.push((token.position, token.text.clone())));
/// assert_eq!(tokens, [(1, "king".to_string()), (3, "spain".to_string())]);
/// ```
#[derive(Clone, Debug)]
pub struct Filter(Kind);

#[derive(Clone, Debug)]
enum Kind {
    /// Lower case by version 1 of the analyzers: of each character by itself.
    LowerCharacters,
    CaseFold(Language),
    Normalize(Form),
    Fold,
    /// With what is an apostrophe.
    Possessive(&'static [char]),
    /// The articles, and what is an apostrophe.
    Elision(&'static [&'static str], &'static [char]),
    /// Sorted.
    StopWords(&'static [&'static str]),
    OwnStopWords(Arc<HashSet<String>>),
    Stem(Stemmer),
    Length {
        min: usize,
        max: usize,
    },
}

impl Filter {
    /// Full case folding, composed (NFC) and with plain apostrophes. It makes `STRASSE`, `Straße` and `strasse` one.
    ///
    /// In Unicode `İ` is an `i` with a dot above, another letter than `i`: `istanbul` is found as `İstanbul` where
    /// [`fold_diacritics`](Self::fold_diacritics) stands behind, or by [`lower_case_of`](Self::lower_case_of)
    /// Turkish.
    ///
    /// ```
    /// use treepie::analysis::Analyzer;
    ///
    /// let analyzer = Analyzer::from_spec("words|lower")?;
    /// assert_eq!(analyzer.tokens("ΟΔΥΣΣΕΥΣ"), analyzer.tokens("Οδυσσευς"));
    /// assert_eq!(analyzer.tokens("O’Neil"), ["o'neil"]);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn lower_case() -> Self {
        Filter(Kind::CaseFold(Language::Any))
    }

    /// Full case folding by the rules of a language.
    ///
    /// `I` is `ı` in Turkish (`tr`) and Azerbaijani (`az`), and `İ` is `i`.
    ///
    /// ```
    /// use treepie::analysis::Analyzer;
    ///
    /// let analyzer = Analyzer::from_spec("words|lower:tr")?;
    /// assert_eq!(analyzer.tokens("ISPARTA İzmir"), ["ısparta", "izmir"]);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Analyzer`] for a language other than `az` and `tr`: [`lower_case`](Self::lower_case) is for these.
    pub fn lower_case_of(language: &str) -> Result<Self> {
        match LOWER_LANGUAGES.contains(&language) {
            true => Ok(Filter(Kind::CaseFold(Language::Turkic))),
            false => Err(no_language("lower", language, &LOWER_LANGUAGES)
                .hint("'lower' without a language is right for all others")),
        }
    }

    /// Lower case of each character by itself, as version 1 of the analyzers had it.
    pub(super) fn lower_characters() -> Self {
        Filter(Kind::LowerCharacters)
    }

    /// Canonical composition (NFC): an accented letter is one character however it was written.
    pub fn nfc() -> Self {
        Filter(Kind::Normalize(Form::Nfc))
    }

    /// Compatibility composition (NFKC): [`nfc`](Self::nfc), and full width, ligatures, superscripts as plain characters.
    ///
    /// ```
    /// use treepie::analysis::Analyzer;
    ///
    /// let analyzer = Analyzer::from_spec("whitespace|nfkc")?;
    /// assert_eq!(analyzer.tokens("ﬁle ＡＢＣ e\u{301}t\u{e9}"), ["file", "ABC", "été"]);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn nfkc() -> Self {
        Filter(Kind::Normalize(Form::Nfkc))
    }

    /// Letters without their diacritics, and other forms of a letter as the plain one.
    pub fn fold_diacritics() -> Self {
        Filter(Kind::Fold)
    }

    /// Takes off a final `'s`.
    pub fn possessive() -> Self {
        Filter(Kind::Possessive(&apostrophe::ALL))
    }

    /// Takes off an article and its apostrophe; for tokens in lower or upper case.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Analyzer`] for a language other than `ca`, `fr` and `it`.
    pub fn elision(language: &str) -> Result<Self> {
        match ELISIONS.iter().find(|(code, _)| *code == language) {
            Some((_, articles)) => Ok(Filter(Kind::Elision(articles, &apostrophe::ALL))),
            None => {
                let known: Vec<_> = ELISIONS.iter().map(|(code, _)| *code).collect();
                Err(no_language("elision", language, &known))
            }
        }
    }

    /// Drops the stop words of a language, which are in lower case.
    ///
    /// `en` has the 33 English ones.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Analyzer`] for a language without a list.
    pub fn stop_words_of(language: &str) -> Result<Self> {
        match stop_words::list(language) {
            Some(list) => Ok(Filter(Kind::StopWords(list))),
            None => {
                Err(no_language("stop", language, &stop_words::languages().collect::<Vec<_>>()))
            }
        }
    }

    /// Drops these words.
    pub fn stop_words<S: Into<String>>(words: impl IntoIterator<Item = S>) -> Self {
        Filter(Kind::OwnStopWords(Arc::new(words.into_iter().map(Into::into).collect())))
    }

    /// Replaces a token, in lower case, by its stem. Needs the feature `stem` of the crate.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Analyzer`] for a language without a stemmer in this build.
    pub fn stem(language: &str) -> Result<Self> {
        match Stemmer::of(language) {
            Some(stemmer) => Ok(Filter(Kind::Stem(stemmer))),
            None => {
                let known: Vec<_> = Stemmer::languages().collect();
                let error = no_language("stem", language, &known);
                Err(match known.as_slice() {
                    [] => error.hint("build treepie with its feature `stem`"),
                    _ => error,
                })
            }
        }
    }

    /// Drops tokens of fewer than `min` or more than `max` characters.
    pub fn length(min: usize, max: usize) -> Self {
        Filter(Kind::Length { min, max })
    }

    /// The filter with the apostrophes that version 1 of the analyzers knew.
    pub(super) fn with_apostrophes_of_version_1(self) -> Self {
        match self.0 {
            Kind::Possessive(_) => Filter(Kind::Possessive(&apostrophe::VERSION_1)),
            Kind::Elision(articles, _) => Filter(Kind::Elision(articles, &apostrophe::VERSION_1)),
            other => Filter(other),
        }
    }

    /// Whether it changes characters, wherever they are in a word: what a part of a word goes through as well.
    pub(super) fn is_of_characters(&self) -> bool {
        matches!(
            self.0,
            Kind::LowerCharacters | Kind::CaseFold(_) | Kind::Normalize(_) | Kind::Fold
        )
    }

    /// Changes a part of a text, where it [is of characters](Self::is_of_characters).
    pub(super) fn apply_to_characters(&self, text: &mut String, buffer: &mut String) {
        match &self.0 {
            Kind::LowerCharacters => {
                if text.is_ascii() {
                    text.make_ascii_lowercase();
                } else {
                    buffer.clear();
                    push_lowercase(text, buffer);
                    std::mem::swap(text, buffer);
                }
            }
            Kind::CaseFold(language) => case::fold(text, *language, buffer),
            Kind::Normalize(form) => form.apply(text, buffer),
            Kind::Fold if !text.is_ascii() => {
                buffer.clear();
                fold::push_folded(text, buffer);
                std::mem::swap(text, buffer);
            }
            _ => {}
        }
    }

    /// Takes off the ends of a pattern's text what the filter takes off a word.
    pub(super) fn trim(&self, text: &mut String, ends: Ends) {
        match &self.0 {
            Kind::Possessive(apostrophes) if ends.last => {
                if let Some(len) = possessive_at(text, apostrophes)
                    && (len > 0 || !ends.first)
                {
                    text.truncate(len);
                }
            }
            Kind::Elision(articles, apostrophes) if ends.first => {
                if let Some(len) = article_len(text, articles, apostrophes)
                    && (len < text.len() || !ends.last)
                {
                    text.drain(..len);
                }
            }
            _ => {}
        }
    }

    /// Changes the token; false if it is dropped.
    #[inline]
    pub(super) fn apply(&self, token: &mut Token, scratch: &mut Scratch) -> bool {
        let text = &mut token.text;
        match &self.0 {
            Kind::LowerCharacters | Kind::CaseFold(_) | Kind::Normalize(_) => {
                self.apply_to_characters(text, &mut scratch.buffer);
            }
            Kind::Fold => {
                self.apply_to_characters(text, &mut scratch.buffer);
                // A mark alone is nothing.
                return !text.is_empty();
            }
            Kind::Possessive(apostrophes) => {
                if let Some(len) = possessive_at(text, apostrophes) {
                    text.truncate(len);
                    return len > 0;
                }
            }
            Kind::Elision(articles, apostrophes) => {
                if let Some(len) = article_len(text, articles, apostrophes)
                    && len < text.len()
                {
                    text.drain(..len);
                }
            }
            Kind::StopWords(list) => return list.binary_search(&text.as_str()).is_err(),
            Kind::OwnStopWords(words) => return !words.contains(text.as_str()),
            Kind::Stem(stemmer) => scratch.stems.stem(stemmer, text),
            Kind::Length { min, max } => {
                // Every character has a byte at least and four at the most.
                if text.len() > *max && (text.len() > 4 * *max || text.chars().count() > *max) {
                    scratch.n_too_long += 1;
                    return false;
                }
                return text.len() >= *min
                    && (text.len() >= 4 * *min || text.chars().count() >= *min);
            }
        }
        true
    }
}

/// Start of a final `'s`.
fn possessive_at(text: &str, apostrophes: &[char]) -> Option<usize> {
    let rest = text.strip_suffix(['s', 'S'])?.strip_suffix(apostrophes)?;
    Some(rest.len())
}

/// Bytes of an article and its apostrophe at the beginning.
fn article_len(text: &str, articles: &[&str], apostrophes: &[char]) -> Option<usize> {
    let (article, rest) = text.split_once(apostrophes)?;
    let is_known = articles.iter().any(|known| known.eq_ignore_ascii_case(article));
    is_known.then_some(text.len() - rest.len())
}

fn no_language(filter: &str, language: &str, known: &[&str]) -> Error {
    Error::new(ErrorKind::Analyzer, format!("choosing the language of the filter '{filter}'"))
        .expected(if known.is_empty() {
            "a build that has some".into()
        } else {
            format!("one of {}", known.join(", "))
        })
        .found(format!("'{language}'"))
}

/// Languages whose case is another than that of most.
pub(super) const LOWER_LANGUAGES: [&str; 2] = ["az", "tr"];

/// Languages whose articles lose their vowel before another, and those articles.
const ELISIONS: &[(&str, &[&str])] = &[
    ("ca", &["d", "l", "m", "n", "s", "t"]),
    ("fr", &["c", "d", "j", "jusqu", "l", "lorsqu", "m", "n", "puisqu", "qu", "quoiqu", "s", "t"]),
    (
        "it",
        &[
            "agl", "all", "c", "coll", "d", "dagl", "dall", "degl", "dell", "gl", "l", "m", "negl",
            "nell", "pell", "s", "sugl", "sull", "t", "un", "v",
        ],
    ),
];

/// Languages that `elision` knows.
pub(super) fn elision_languages() -> impl Iterator<Item = &'static str> {
    ELISIONS.iter().map(|(code, _)| *code)
}

/// Memory that filters need beside the token; kept from text to text.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    buffer: String,
    stems: StemCache,
    /// Tokens dropped because they have too many characters.
    pub(super) n_too_long: u64,
}

impl TokenFilter for Filter {
    type Tokenizer<T: Tokenizer> = Filtered<T>;

    fn transform<T: Tokenizer>(self, tokenizer: T) -> Filtered<T> {
        Filtered { tokenizer, filters: vec![self], scratch: Scratch::default() }
    }
}

/// A tokenizer with filters behind it.
#[derive(Clone, Debug)]
pub struct Filtered<T> {
    tokenizer: T,
    /// In the order in which they are applied.
    filters: Vec<Filter>,
    scratch: Scratch,
}

impl<T> Filtered<T> {
    /// All filters at once, the first one first.
    pub(super) fn new(tokenizer: T, filters: Vec<Filter>) -> Self {
        Filtered { tokenizer, filters, scratch: Scratch::default() }
    }

    /// The text as the filters of characters leave it, those of words aside.
    pub(super) fn normalize(&mut self, mut text: String) -> String {
        let mut buffer = String::new();
        for filter in self.filters.iter().filter(|filter| filter.is_of_characters()) {
            filter.apply_to_characters(&mut text, &mut buffer);
        }
        text
    }

    /// Takes off the ends of a pattern's text what the filters of words take off a word.
    pub(super) fn trim(&self, text: &mut String, ends: Ends) {
        self.filters.iter().for_each(|filter| filter.trim(text, ends));
    }

    /// The tokenizer that stands before the filters.
    pub(super) fn tokenizer(&mut self) -> &mut T {
        &mut self.tokenizer
    }

    /// Works like [`tokenizer`](Self::tokenizer), to be looked at.
    pub(super) fn tokenizer_ref(&self) -> &T {
        &self.tokenizer
    }

    /// Changes the tokenizer and keeps the filters behind it.
    pub(super) fn map_tokenizer(self, change: impl FnOnce(T) -> T) -> Self {
        Filtered { tokenizer: change(self.tokenizer), ..self }
    }

    /// Tokens dropped since the last call because they have too many characters.
    pub(super) fn take_too_long(&mut self) -> u64 {
        std::mem::take(&mut self.scratch.n_too_long)
    }
}

impl<T: Tokenizer> Tokenizer for Filtered<T> {
    type TokenStream<'a> = FilteredStream<'a, T::TokenStream<'a>>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> FilteredStream<'a, T::TokenStream<'a>> {
        FilteredStream {
            stream: self.tokenizer.token_stream(text),
            filters: &self.filters,
            scratch: &mut self.scratch,
        }
    }
}

/// The tokens of one text that come through the filters; see [`Filtered`].
#[derive(Debug)]
pub struct FilteredStream<'a, S> {
    stream: S,
    filters: &'a [Filter],
    scratch: &'a mut Scratch,
}

impl<S: TokenStream> TokenStream for FilteredStream<'_, S> {
    fn advance(&mut self) -> bool {
        while self.stream.advance() {
            let token = self.stream.token_mut();
            if self.filters.iter().all(|filter| filter.apply(token, self.scratch)) {
                return true;
            }
        }
        false
    }

    fn token(&self) -> &Token {
        self.stream.token()
    }

    fn token_mut(&mut self) -> &mut Token {
        self.stream.token_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::splitter::Splitter;

    fn filtered(filter: Filter, text: &str) -> Vec<(usize, String)> {
        let mut tokens = vec![];
        let mut tokenizer = filter.transform(Splitter::whitespace());
        tokenizer.token_stream(text).process(&mut |token| {
            assert!(token.offset_to <= text.len());
            tokens.push((token.position, token.text.clone()));
        });
        tokens
    }

    fn texts(filter: Filter, text: &str) -> String {
        let tokens: Vec<_> = filtered(filter, text).into_iter().map(|(_, text)| text).collect();
        tokens.join(" ")
    }

    #[test]
    fn each_filter_does_as_its_name_says() {
        let cases = [
            (Filter::lower_case(), "ABC ÄÖ İ ΣΑΣ ẞ O’Neil", "abc äö i\u{307} σασ ss o'neil"),
            (Filter::lower_characters(), "ABC ÄÖ İ ΣΑΣ ẞ ς", "abc äö i\u{307} σασ ß ς"),
            (Filter::lower_case_of("tr").unwrap(), "ISI İzmir ÇAY", "ısı izmir çay"),
            (Filter::nfc(), "e\u{301} ﬁ É", "é ﬁ É"),
            (Filter::nfkc(), "e\u{301} ﬁ É ＡＢ", "é fi É AB"),
            (Filter::fold_diacritics(), "Łódź plain ÅNGSTRÖM", "Lodz plain ANGSTROM"),
            (
                Filter::possessive(),
                "Bob's bob\u{2019}S bobʼs bob\u{2018}s is 's its James'",
                "Bob bob bob bob is its James'",
            ),
            (
                Filter::elision("fr").unwrap(),
                "l'avion QU\u{2019}il aujourd'hui l' d'l'eau",
                "avion il aujourd'hui l' l'eau",
            ),
            (Filter::elision("it").unwrap(), "dell'arte l'arte", "arte arte"),
            (
                Filter::stop_words_of("en").unwrap(),
                "to be or not that is The question",
                "The question",
            ),
            (Filter::stop_words(["a", "b"]), "a c b d", "c d"),
            (Filter::length(2, 3), "a ab äöü abcd \u{1F3B5}\u{1F3B5}", "ab äöü \u{1F3B5}\u{1F3B5}"),
            (Filter::length(0, 1), "ä ab", "ä"),
        ];
        for (filter, text, expected) in cases {
            assert_eq!(texts(filter.clone(), text), expected, "{filter:?}");
        }
    }

    #[test]
    fn what_is_dropped_leaves_a_gap() {
        let tokens = filtered(Filter::stop_words(["of"]), "of king of of spain of");
        assert_eq!(tokens, [(1, "king".to_owned()), (4, "spain".to_owned())]);
        assert_eq!(filtered(Filter::stop_words(["of"]), "of of"), []);
    }

    #[test]
    fn tokens_with_too_many_characters_are_counted() {
        let mut tokenizer = Filter::length(2, 3).transform(Splitter::whitespace());
        tokenizer.token_stream("a abcd abc äöüß").process(&mut |_| {});
        assert_eq!((tokenizer.take_too_long(), tokenizer.take_too_long()), (2, 0));
    }

    #[test]
    fn languages_that_are_not_there_are_told_with_those_that_are() {
        let error = Filter::stop_words_of("xx").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Analyzer);
        assert!(error.to_string().contains("en, "), "{error}");
        assert!(Filter::elision("en").unwrap_err().to_string().contains("ca, fr, it"));
        assert!(Filter::lower_case_of("en").unwrap_err().to_string().contains("az, tr"));
        assert!(Filter::stem("xx").is_err());
    }
}
