//! From text to terms, for documents and queries alike.
//!
//! An [`Analyzer`] cuts a text into tokens: a tokenizer, then filters that change or drop them. The
//! built-in ones are named by a short text, the *spec*, which a schema gives to a text field and the index
//! keeps: `default`, `english`, or a chain like `words|lower|fold|stop:en`. Any tokenizer and filter written
//! for [`tokenizer_api`], the interface that tantivy's tokenizers share, becomes an analyzer with a
//! name; [`Analyzers`] holds those, and is given each time the index is opened, since terms made one way are
//! not found the other way.
//!
//! ```
//! use treepie::analysis::Analyzer;
//!
//! assert_eq!(Analyzer::default().tokens("Rock'n'Roll (1977)"), ["rock", "n", "roll", "1977"]);
//! assert_eq!(Analyzer::default().tokens("ZÜRICH Straße"), ["zurich", "strasse"]);
//! let folded = Analyzer::from_spec("words|lower|fold|stop:en")?;
//! assert_eq!(folded.tokens("The Łódź Café"), ["lodz", "cafe"]);
//! # Ok::<(), treepie::Error>(())
//! ```
//!
//! # Built in
//!
//! Names: [`names`]. Tokenizers: [`tokenizers`], one by one in [`Splitter`]. Filters: [`filters`], one by one
//! in [`Filter`]. The stems need the feature `stem` of the crate; an index whose field asks for them can
//! be opened without it, and everything but that field used.
//!
//! # The default analyzer
//!
//! Words are runs of letters, digits and their marks, in the folding of case, compatibility forms and diacritics: `Zürich`,
//! `ZURICH` and the same with a combining diaeresis are `zurich`. For exactness there is `alphanumeric`, which
//! leaves characters as they are. Chinese, Japanese, Thai, Lao, Khmer and Burmese become pairs of characters, and Korean
//! words also pairs of syllables, so that every part of a text is found:
//!
//! ```
//! # use treepie::analysis::Analyzer;
//! assert_eq!(Analyzer::default().for_queries().tokens("東京都 2020年"), ["東京", "京都", "2020", "年"]);
//! ```
//!
//! # Documents and queries
//!
//! An analyzer gives every term that a query may ask for. [`for_queries`](Analyzer::for_queries) makes it give the
//! fewest terms that find a text: of `ngram:2,4` and of pairs these are not all.
//!
//! # Versions
//!
//! An index keeps the version of the analyzers that made its terms ([`ANALYSIS_VERSION`]), and is searched and written
//! with that one. Version 1 made lower case of each character by itself, normalized nothing, and took a run of Chinese for
//! one word; version 2 folds. To get another version, build the index anew.
//!
//! # Synonyms
//!
//! [`Synonyms`] apply to queries only, where several words may stand for several others; the result is a row
//! of [`Slot`]s, and [`phrases`] spells it out.
//!
//! # Positions
//!
//! Every token has a position, from 0; several tokens may have one. A token that a filter drops leaves its position
//! empty, as does one of more than [`TERM_BYTES_MAX`] bytes, which no index can hold and which is counted instead.
//!
//! # Cost
//!
//! The default analyzer classifies 64 bytes at a time where texts come in bulk. Other built-in ones work
//! token by token without allocating. A plugged-in tokenizer costs one box a text, none a token.

mod apostrophe;
mod bulk;
mod case;
mod classes;
mod ends;
mod filter;
mod fold;
mod natural;
mod normalization;
mod normalizer;
mod prepared;
mod registry;
mod script;
mod spec;
mod splitter;
mod stem;
mod stop_words;
mod stretch;
mod synonyms;
mod tokenizer;

pub(crate) use bulk::{BulkTokens, PADDING as BULK_PADDING};
pub(crate) use ends::Ends;
pub use filter::{Filter, Filtered, FilteredStream};
pub(crate) use natural::natural_key;
pub(crate) use normalizer::Normalizer;
pub use registry::Analyzers;
pub use spec::{filters, names, tokenizers};
pub use splitter::{NGRAM_MAX, Splitter, SplitterStream};
pub use synonyms::{
    Alternative, PlacedTerm, SYNONYM_ALTERNATIVES_MAX, SYNONYM_TERMS_MAX, Slot, Synonyms, phrases,
};
pub use tokenizer::{DefaultTokenStream, DefaultTokenizer};

pub use crate::schema::DEFAULT_ANALYZER;

/// The tokenizer interface whose implementations plug in; the one foreign crate in our signatures.
pub use tantivy_tokenizer_api as tokenizer_api;

use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt;
use std::ops::Range;

use tokenizer_api::{BoxTokenStream, Token, TokenStream, Tokenizer};

use crate::error::Result;

/// Bytes of a term at the most. A longer token is left out and its position kept.
pub const TERM_BYTES_MAX: usize = 32_766;

/// The version of what the built-in analyzers do with text; raised when their terms change.
///
/// 1: lower case of each character. 2: case, compatibility forms and diacritics are folded, scripts without spaces cut
/// into pairs, and n-grams have the position of their first character.
pub const ANALYSIS_VERSION: u32 = 2;

/// The first version that normalizes, folds case in full and cuts scripts without spaces into pairs.
const VERSION_OF_CHARACTERS: u32 = 2;

/// Versions of the tables that, with the spec of an analyzer, decide a text's terms. An index carries them,
/// so that a build with other tables can say why a word is not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermVersions {
    /// [`ANALYSIS_VERSION`].
    pub analysis: u32,
    /// The Unicode that says what is a letter and what its lower case is.
    pub unicode: [u8; 3],
    /// The Unicode of the rules for words.
    pub words: [u8; 3],
    /// The Unicode of the decompositions that `fold` uses.
    pub folding: [u8; 3],
    /// The day (`20261016`) of the Snowball algorithms; 0 in a build without them.
    pub stemmers: u32,
}

impl TermVersions {
    /// Versions of this build.
    pub const CURRENT: TermVersions = TermVersions {
        analysis: ANALYSIS_VERSION,
        unicode: bytes(char::UNICODE_VERSION),
        words: {
            let (major, minor, patch) = unicode_segmentation::UNICODE_VERSION;
            [major as u8, minor as u8, patch as u8]
        },
        folding: bytes(unicode_normalization::UNICODE_VERSION),
        stemmers: stem::VERSION,
    };

    /// Describes each difference from this build in a sentence: words that may be missed.
    pub fn differences(&self) -> Vec<String> {
        let unicode = |[major, minor, patch]: [u8; 3]| format!("Unicode {major}.{minor}.{patch}");
        let stemmers = |day: u32| match day {
            0 => "none".to_owned(),
            day => format!("those of {day}"),
        };
        let all = |versions: &TermVersions| {
            [
                (ANALYZERS, format!("version {}", versions.analysis)),
                ("letters and their case", unicode(versions.unicode)),
                ("words", unicode(versions.words)),
                ("folding", unicode(versions.folding)),
                ("stemmers", stemmers(versions.stemmers)),
            ]
        };
        let pairs = all(self).into_iter().zip(all(&Self::CURRENT));
        pairs
            .filter(|(made, here)| made != here)
            .map(|((what, made), (_, here))| {
                let difference =
                    format!("{what}: the terms were made with {made}, this build has {here}");
                // Analyzers of an older version are still here: nothing is missed.
                match self.analysis < ANALYSIS_VERSION && what == ANALYZERS {
                    true => format!("{difference}; {OLD_VERSION}"),
                    false => difference,
                }
            })
            .collect()
    }
}

const ANALYZERS: &str = "built-in analyzers";
const OLD_VERSION: &str = "the index goes on with those, \
    and to fold diacritics and find parts of Chinese, Japanese, Korean and Thai texts it must be built anew";

const fn bytes((major, minor, patch): (u8, u8, u8)) -> [u8; 3] {
    [major, minor, patch]
}

/// A tokenizer and its filters, with a name.
#[derive(Clone)]
pub struct Analyzer {
    name: Cow<'static, str>,
    kind: Kind,
}

#[derive(Clone)]
enum Kind {
    Default(DefaultTokenizer),
    BuiltIn(Box<Filtered<Splitter>>),
    PluggedIn(Box<dyn AnyTokenizer>),
}

/// A token of a text, without a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenRef<'t> {
    /// The term.
    pub term: &'t str,
    /// Position of the token among the others, from 0.
    pub position: u32,
    /// Start of the bytes of the text that it was made of …
    pub offset_from: usize,
    /// … and end.
    pub offset_to: usize,
}

impl Analyzer {
    /// Gives a tokenizer a name. It must stand for the same terms each time an index is opened.
    ///
    /// ```
    /// use treepie::analysis::{Analyzer, Filter, Splitter, tokenizer_api::TokenFilter};
    ///
    /// let tokenizer = Filter::lower_case().transform(Splitter::whitespace());
    /// assert_eq!(Analyzer::new("spaces", tokenizer).tokens("A-b C"), ["a-b", "c"]);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the name is empty, is that of something built in, or has a `|`, a `:`, a `,` or white space
    /// at an end.
    pub fn new(name: impl Into<String>, tokenizer: impl Tokenizer) -> Self {
        let name = name.into();
        assert!(
            spec::is_name(&name) && !spec::is_built_in(&name),
            "an analyzer needs a name of its own, not {name:?}"
        );
        Analyzer { name: name.into(), kind: Kind::PluggedIn(Box::new(tokenizer)) }
    }

    /// The built-in analyzer of a spec.
    ///
    /// A spec is a name of [`names`], or a tokenizer and filters with `|` between.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Analyzer`](crate::error::ErrorKind::Analyzer), naming the part that is wrong and what could stand there.
    pub fn from_spec(spec: &str) -> Result<Self> {
        Self::of_version(spec, ANALYSIS_VERSION)
    }

    /// The built-in analyzer of a spec, as a version of the analyzers has it.
    pub(crate) fn of_version(spec: &str, version: u32) -> Result<Self> {
        let is_old = version < VERSION_OF_CHARACTERS;
        let kind = match spec.trim() == DEFAULT_ANALYZER && !is_old {
            true => Kind::Default(DefaultTokenizer::default()),
            false => {
                let (splitter, filters) = spec::parse(spec, version)?;
                Kind::BuiltIn(Box::new(Filtered::new(splitter, filters)))
            }
        };
        Ok(Analyzer { name: spec.to_owned().into(), kind })
    }

    /// The analyzer for texts of queries.
    ///
    /// It gives the fewest terms that find a text, if documents have more.
    ///
    /// ```
    /// use treepie::analysis::Analyzer;
    ///
    /// let analyzer = Analyzer::from_spec("ngram:2,3")?;
    /// assert_eq!(analyzer.tokens("barn"), ["ba", "bar", "ar", "arn", "rn"]);
    /// assert_eq!(analyzer.for_queries().tokens("barn"), ["bar", "arn"]);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    #[must_use]
    pub fn for_queries(mut self) -> Self {
        self.kind = match self.kind {
            Kind::Default(tokenizer) => Kind::Default(tokenizer.for_queries()),
            Kind::BuiltIn(filtered) => {
                Kind::BuiltIn(Box::new(filtered.map_tokenizer(Splitter::for_queries)))
            }
            plugged_in => plugged_in,
        };
        self
    }

    /// The name given when it was made, or the spec.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether its terms are those of the default analyzer, which has a bulk path.
    pub fn is_default(&self) -> bool {
        matches!(self.kind, Kind::Default(_))
    }

    /// Whether its terms are all pieces of a text of some lengths.
    pub(crate) fn is_of_ngrams(&self) -> bool {
        matches!(&self.kind, Kind::BuiltIn(tokenizer) if tokenizer.tokenizer_ref().is_of_ngrams())
    }

    /// Starts on a text; the stream ends by returning false from `advance`.
    pub fn token_stream<'a>(&'a mut self, text: &'a str) -> BoxTokenStream<'a> {
        match &mut self.kind {
            Kind::Default(tokenizer) => tokenizer.stream(text),
            Kind::BuiltIn(tokenizer) => tokenizer.stream(text),
            Kind::PluggedIn(tokenizer) => tokenizer.stream(text),
        }
    }

    /// Calls `sink` with every token of a text, in the order of the tokenizer.
    ///
    /// It returns how many were left out because they are too long: for an index, or for a filter `length`.
    ///
    /// A plugged-in tokenizer that numbers nothing has its tokens numbered here.
    pub fn for_each_token(&mut self, text: &str, mut sink: impl FnMut(TokenRef<'_>)) -> u64 {
        let given = self.try_for_each_token(text, |token| {
            sink(token);
            Ok::<(), Infallible>(())
        });
        given.unwrap_or_else(|never| match never {})
    }

    /// Works like [`for_each_token`](Self::for_each_token), until `sink` fails.
    pub(crate) fn try_for_each_token<E>(
        &mut self,
        text: &str,
        mut sink: impl FnMut(TokenRef<'_>) -> Result<(), E>,
    ) -> Result<u64, E> {
        let mut numbers = Numbers::default();
        let mut n_too_long = 0;
        let mut give = |token: &Token| {
            let position = numbers.position(token);
            if token.text.len() > TERM_BYTES_MAX {
                n_too_long += 1;
                return Ok(());
            }
            let Token { offset_from, offset_to, ref text, .. } = *token;
            sink(TokenRef { term: text, position, offset_from, offset_to })
        };
        match &mut self.kind {
            Kind::Default(tokenizer) => each(tokenizer.token_stream(text), &mut give)?,
            Kind::BuiltIn(tokenizer) => {
                each(tokenizer.token_stream(text), &mut give)?;
                n_too_long += tokenizer.take_too_long();
            }
            Kind::PluggedIn(tokenizer) => each(tokenizer.stream(text), &mut give)?,
        }
        Ok(n_too_long)
    }

    /// Calls `sink` with every term of a text in order.
    pub fn for_each(&mut self, text: &str, mut sink: impl FnMut(&str)) {
        self.for_each_token(text, |token| sink(token.term));
    }

    /// Text as the analyzer's character filters leave it: in lower case, folded, and so on.
    ///
    /// Nothing is cut, stemmed or left out, so that parts of words, as patterns have them, meet the terms of documents.
    /// The filters of a plugged-in analyzer are not known: each character becomes what it is in the middle of a word, else
    /// the term that it is by itself, or its lower case if it is none.
    ///
    /// ```
    /// use treepie::analysis::Analyzer;
    ///
    /// let analyzer = Analyzer::from_spec("words|lower|fold|stop:en")?;
    /// assert_eq!(analyzer.normalize("THE Über-"), "the uber-");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn normalize(&self, text: &str) -> String {
        match &self.kind {
            Kind::Default(_) => {
                let mut normal = String::with_capacity(text.len());
                classes::push_folded(text.chars(), &mut normal);
                normal
            }
            Kind::BuiltIn(tokenizer) => {
                let mut tokenizer = tokenizer.clone();
                let text = tokenizer.tokenizer().normalize(text);
                tokenizer.normalize(text)
            }
            Kind::PluggedIn(tokenizer) => {
                let mut tokenizer = tokenizer.clone();
                let mut normal = String::with_capacity(text.len());
                for (_, cluster) in normalization::clusters(text) {
                    let inside = only_term(tokenizer.stream(&format!("{BESIDE}{cluster}{BESIDE}")));
                    let inside = inside.as_deref();
                    let changed =
                        inside.and_then(|it| it.strip_prefix(BESIDE)?.strip_suffix(BESIDE));
                    match changed {
                        Some(changed) => normal.push_str(changed),
                        None => match only_term(tokenizer.stream(cluster)) {
                            Some(term) => normal.push_str(&term),
                            None => normal.push_str(&cluster.to_lowercase()),
                        },
                    }
                }
                normal
            }
        }
    }

    /// Takes off the ends of a pattern's text what the filters of words take off a word: an article, a final `'s`.
    pub(crate) fn trim(&self, text: &mut String, ends: Ends) {
        if let Kind::BuiltIn(tokenizer) = &self.kind {
            tokenizer.trim(text, ends);
        }
    }

    /// Cuts a text by the tokenizer alone: the bytes of each piece with its position.
    ///
    /// A plugged-in analyzer, whose filters are not known, gives its tokens.
    pub(crate) fn cuts(&self, text: &str) -> Vec<(u32, Range<usize>)> {
        let mut analyzer = self.clone();
        let (mut numbers, mut cuts) = (Numbers::default(), vec![]);
        let give = &mut |token: &Token| {
            cuts.push((numbers.position(token), token.offset_from..token.offset_to));
            Ok::<(), Infallible>(())
        };
        let given = match &mut analyzer.kind {
            Kind::Default(tokenizer) => each(tokenizer.token_stream(text), give),
            Kind::BuiltIn(tokenizer) => each(tokenizer.tokenizer().token_stream(text), give),
            Kind::PluggedIn(tokenizer) => each(tokenizer.stream(text), give),
        };
        given.unwrap_or_else(|never| match never {});
        cuts.retain(|(_, cut)| text.get(cut.clone()).is_some_and(|piece| !piece.is_empty()));
        cuts.sort_by_key(|(position, _)| *position);
        cuts
    }

    /// All terms of a short text in order.
    pub fn tokens(&self, text: &str) -> Vec<String> {
        let mut terms = vec![];
        self.clone().for_each(text, |term| terms.push(term.to_owned()));
        terms
    }
}

/// Letters that no tokenizer takes for a word by themselves or leaves out, beside one whose change is looked for.
const BESIDE: &str = "xx";

/// The term of a text that is one.
fn only_term(mut stream: impl TokenStream) -> Option<String> {
    let term = stream.advance().then(|| stream.token().text.clone())?;
    (!stream.advance()).then_some(term)
}

fn each<E>(
    mut stream: impl TokenStream,
    give: &mut impl FnMut(&Token) -> Result<(), E>,
) -> Result<(), E> {
    while stream.advance() {
        give(stream.token())?;
    }
    Ok(())
}

/// Positions as an index can hold them: those of the tokenizer, or the next one if it has none.
#[derive(Default)]
struct Numbers {
    next: u32,
}

impl Numbers {
    fn position(&mut self, token: &Token) -> u32 {
        // The interface starts tokens out at the largest number, where this tokenizer left it.
        let own = u32::try_from(token.position).ok().filter(|position| *position < u32::MAX);
        let position = own.unwrap_or(self.next);
        self.next = position.saturating_add(1);
        position
    }
}

/// The built-in analyzer: words without case, diacritics and compatibility forms, and pairs of characters where words
/// have no spaces between.
impl Default for Analyzer {
    fn default() -> Self {
        let kind = Kind::Default(DefaultTokenizer::default());
        Analyzer { name: Cow::Borrowed(DEFAULT_ANALYZER), kind }
    }
}

impl fmt::Debug for Analyzer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Analyzer").field(&self.name).finish()
    }
}

/// [`Tokenizer`] without the type parameters that keep it from being a trait object.
trait AnyTokenizer: Send + Sync {
    fn stream<'a>(&'a mut self, text: &'a str) -> BoxTokenStream<'a>;
    fn boxed(&self) -> Box<dyn AnyTokenizer>;
}

impl<T: Tokenizer> AnyTokenizer for T {
    fn stream<'a>(&'a mut self, text: &'a str) -> BoxTokenStream<'a> {
        BoxTokenStream::new(self.token_stream(text))
    }

    fn boxed(&self) -> Box<dyn AnyTokenizer> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn AnyTokenizer> {
    fn clone(&self) -> Self {
        (**self).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    /// Splits at commas and keeps everything else as it is.
    #[derive(Clone)]
    struct Commas;

    struct Parts<'a> {
        rest: Option<&'a str>,
        token: Token,
    }

    impl Tokenizer for Commas {
        type TokenStream<'a> = Parts<'a>;

        fn token_stream<'a>(&'a mut self, text: &'a str) -> Parts<'a> {
            Parts { rest: Some(text), token: Token::default() }
        }
    }

    impl TokenStream for Parts<'_> {
        fn advance(&mut self) -> bool {
            let Some(rest) = self.rest else { return false };
            let (part, rest) = match rest.split_once(',') {
                Some((part, rest)) => (part, Some(rest)),
                None => (rest, None),
            };
            self.rest = rest;
            self.token.text.clear();
            self.token.text.push_str(part);
            true
        }

        fn token(&self) -> &Token {
            &self.token
        }

        fn token_mut(&mut self) -> &mut Token {
            &mut self.token
        }
    }

    fn numbered(analyzer: &Analyzer, text: &str) -> (Vec<(u32, String)>, u64) {
        let mut tokens = vec![];
        let n_too_long = analyzer
            .clone()
            .for_each_token(text, |token| tokens.push((token.position, token.term.to_owned())));
        (tokens, n_too_long)
    }

    fn owned(tokens: &[(u32, &str)]) -> Vec<(u32, String)> {
        tokens.iter().map(|(position, term)| (*position, (*term).to_owned())).collect()
    }

    #[test]
    fn a_spec_and_a_chain_by_the_api_give_the_same_tokens() {
        use tokenizer_api::TokenFilter;
        let chain = Filter::lower_case().transform(Splitter::words());
        let chain = Filter::stop_words_of("en").unwrap().transform(chain);
        let chain = Analyzer::new("own", Filter::fold_diacritics().transform(chain));
        let spec = Analyzer::from_spec("words|lower|stop:en|fold").unwrap();
        for text in ["The Łódź can't", "", "of the", "É e\u{301}", "it is 3.14"] {
            assert_eq!(numbered(&chain, text), numbered(&spec, text), "{text}");
        }
        assert_eq!(numbered(&spec, "The Łódź").0, owned(&[(1, "lodz")]));
    }

    #[test]
    fn the_default_analyzer_is_one_under_all_its_specs() {
        for spec in ["default", " default "] {
            let analyzer = Analyzer::from_spec(spec).unwrap();
            assert!(analyzer.is_default() && analyzer.name() == spec);
        }
        for spec in ["alphanumeric", "alphanumeric|lower", "words|lower", "default|stop:en"] {
            assert!(!Analyzer::from_spec(spec).unwrap().is_default(), "{spec}");
        }
        assert_eq!(Analyzer::from_spec("nothing").unwrap_err().kind(), ErrorKind::Analyzer);
        assert_eq!(format!("{:?}", Analyzer::default()), r#"Analyzer("default")"#);
    }

    #[test]
    fn tokens_over_the_limit_are_left_out_and_counted_and_their_positions_kept() {
        let long = "x".repeat(TERM_BYTES_MAX + 1);
        let text = format!("{long} a {long} {} b", &long[1..]);
        let expected = [(1, "a".to_owned()), (3, long[1..].to_owned()), (4, "b".to_owned())];
        for spec in ["default", "whitespace", "words|lower"] {
            let analyzer = Analyzer::from_spec(spec).unwrap();
            assert_eq!(numbered(&analyzer, &text), (expected.to_vec(), 2), "{spec}");
        }
        let short = Analyzer::from_spec("whitespace|length:2,3").unwrap();
        assert_eq!(numbered(&short, "a abcd abc"), (owned(&[(2, "abc")]), 1));
    }

    #[test]
    fn version_1_is_what_it_was() {
        let tokens = |spec: &str, text: &str| {
            let analyzer = Analyzer::of_version(spec, 1).unwrap();
            assert!(!analyzer.is_default());
            analyzer.for_queries().tokens(text).join(" ")
        };
        for (spec, text, expected) in [
            ("default", "Zürich ΣΑΣ ẞ İ e\u{301}a ½ 東京都", "zürich σασ ß i\u{307} e a ½ 東京都"),
            ("alphanumeric|lower", "Straße ς", "straße ς"),
            ("english", "The queen’s Straße", "queen straße"),
            ("words", "O’Neil", "O’Neil"),
            ("whitespace|lower", "O’Neil", "o’neil"),
            ("cjk", "東京都 ｶﾞ", "東京 京都 ｶﾞ"),
            ("ngram:2,3", "barn", "ba bar ar arn rn"),
            ("edge_ngram:2,3", "barn", "ba bar"),
            ("french", "L’avion", "avion"),
        ] {
            if cfg!(feature = "stem") || !matches!(spec, "english" | "french") {
                assert_eq!(tokens(spec, text), expected, "{spec}");
            }
        }
        let grams = Analyzer::of_version("ngram:2,3", 1).unwrap();
        assert_eq!(numbered(&grams, "abc").0, owned(&[(0, "ab"), (1, "abc"), (2, "bc")]));
    }

    #[test]
    fn a_tokenizer_that_numbers_nothing_has_its_tokens_numbered() {
        let commas = Analyzer::new("commas", Commas);
        assert_eq!(numbered(&commas, "A b,C").0, owned(&[(0, "A b"), (1, "C")]));
        assert_eq!(commas.tokens("A b,C"), ["A b", "C"]);
    }

    #[test]
    fn a_million_tokens_and_none() {
        let text = "ab ".repeat(1_000_000);
        for spec in ["default", "words|lower|fold|stop:en", "keyword", "ngram:3,3"] {
            let analyzer = Analyzer::from_spec(spec).unwrap();
            assert_eq!(numbered(&analyzer, "").0, [], "{spec}");
            let mut last = None;
            let n_too_long =
                analyzer.clone().for_each_token(&text, |token| last = Some(token.position));
            let expected = match spec {
                "keyword" => (None, 1),
                "ngram:3,3" => (Some(2_999_997), 0),
                _ => (Some(999_999), 0),
            };
            assert_eq!((last, n_too_long), expected, "{spec}");
        }
    }

    #[test]
    #[should_panic(expected = "a name of its own")]
    fn the_names_of_what_is_built_in_are_taken() {
        let _ = Analyzer::new("english", Commas);
    }

    #[test]
    #[should_panic(expected = "a name of its own")]
    fn a_name_is_no_chain() {
        let _ = Analyzer::new("a|b", Commas);
    }

    #[test]
    fn versions_tell_how_they_differ_from_this_build() {
        assert!(TermVersions::CURRENT.differences().is_empty());
        let old = TermVersions { words: [9, 0, 1], stemmers: 19_990_101, ..TermVersions::CURRENT };
        let told = old.differences();
        assert_eq!(told.len(), 2);
        assert!(
            told[0].starts_with("words: the terms were made with Unicode 9.0.1, this build has")
        );
        let first = TermVersions { analysis: 1, ..TermVersions::CURRENT }.differences();
        assert!(first.len() == 1 && first[0].contains("it must be built anew"), "{first:?}");
        assert!(
            told[1].contains("stemmers: the terms were made with those of 19990101"),
            "{told:?}"
        );
    }
}
