//! From text to terms, for documents and queries alike.
//!
//! An [`Analyzer`] is a named tokenizer: the built-in [`DefaultTokenizer`], or any tokenizer and
//! filter written for [`tokenizer_api`], the interface that tantivy's tokenizers share. Which field
//! uses which is said by [`Analyzers`], given when an index is created and again when it is opened,
//! since terms made one way are not found the other way.
//!
//! ```
//! use treepie::analysis::{Analyzer, Analyzers};
//!
//! let analyzers = Analyzers::default();
//! let analyzer = analyzers.get("title");
//! assert_eq!(analyzer.name(), "default");
//! assert_eq!(analyzer.tokens("Rock'n'Roll (1977)"), ["rock", "n", "roll", "1977"]);
//! ```
//!
//! Cost: one box for each text that goes through a custom tokenizer, none for each token.

mod bulk;
mod tokenizer;

pub(crate) use bulk::{BulkTokens, PADDING as BULK_PADDING};
pub use tokenizer::{DefaultTokenStream, DefaultTokenizer};

/// The tokenizer interface whose implementations plug in; the one foreign crate in our signatures.
pub use tantivy_tokenizer_api as tokenizer_api;

use std::fmt;

use tokenizer_api::{BoxTokenStream, TokenStream, Tokenizer};

use crate::error::{Error, ErrorKind, Result};
use crate::schema::{FieldKind, Schema};

/// The name of the built-in analyzer.
pub const DEFAULT_ANALYZER: &str = "default";

/// The version of what the built-in analyzer does with text; raised when its terms change.
pub const DEFAULT_ANALYZER_VERSION: u32 = 1;

/// The version of Unicode that says what is a letter and what its lower case is, in this build.
///
/// An index carries it, so that a build with another Unicode can say why a word is not found.
pub const UNICODE_VERSION: (u8, u8, u8) = char::UNICODE_VERSION;

/// A tokenizer with a name, whatever its type.
#[derive(Clone)]
pub struct Analyzer {
    name: String,
    tokenizer: Box<dyn AnyTokenizer>,
}

impl Analyzer {
    /// Gives a tokenizer a name, which must stand for the same terms each time an index is opened.
    ///
    /// # Panics
    ///
    /// Panics if the name is empty or [`DEFAULT_ANALYZER`], which is taken by the built-in one.
    pub fn new(name: impl Into<String>, tokenizer: impl Tokenizer) -> Self {
        let name = name.into();
        assert!(
            !name.is_empty() && name != DEFAULT_ANALYZER,
            "an analyzer needs a name of its own, not {name:?}"
        );
        Analyzer { name, tokenizer: Box::new(tokenizer) }
    }

    /// The name given when it was made.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether this is the built-in analyzer.
    pub fn is_default(&self) -> bool {
        self.name == DEFAULT_ANALYZER
    }

    /// Starts on a text; the stream ends by returning false from `advance`.
    pub fn token_stream<'a>(&'a mut self, text: &'a str) -> BoxTokenStream<'a> {
        self.tokenizer.stream(text)
    }

    /// Calls `sink` with every term of a text in order.
    pub fn for_each(&mut self, text: &str, mut sink: impl FnMut(&str)) {
        if self.is_default() {
            return tokenizer::for_each(text, sink);
        }
        let mut stream = self.tokenizer.stream(text);
        while stream.advance() {
            sink(&stream.token().text);
        }
    }

    /// All terms of a short text in order.
    pub fn tokens(&self, text: &str) -> Vec<String> {
        let mut terms = vec![];
        if self.is_default() {
            tokenizer::for_each(text, |term| terms.push(term.to_owned()));
            return terms;
        }
        self.clone().for_each(text, |term| terms.push(term.to_owned()));
        terms
    }
}

/// The built-in analyzer: runs of Unicode alphanumeric characters, lower-cased.
impl Default for Analyzer {
    fn default() -> Self {
        Analyzer { name: DEFAULT_ANALYZER.into(), tokenizer: Box::new(DefaultTokenizer::default()) }
    }
}

impl fmt::Debug for Analyzer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Analyzer").field(&self.name).finish()
    }
}

/// What [`Tokenizer`] would be without the type parameters that keep it from being a trait object.
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

/// Which analyzer each text field uses: the built-in one unless said otherwise.
#[derive(Clone, Debug, Default)]
pub struct Analyzers {
    default: Analyzer,
    by_field: Vec<(String, Analyzer)>,
}

impl Analyzers {
    /// Sets the analyzer of one text field; the last call for a field counts.
    #[must_use]
    pub fn for_field(mut self, field: impl Into<String>, analyzer: Analyzer) -> Self {
        let field = field.into();
        self.by_field.retain(|(name, _)| *name != field);
        self.by_field.push((field, analyzer));
        self
    }

    /// The analyzer of a text field.
    pub fn get(&self, field: &str) -> &Analyzer {
        let own = self.by_field.iter().find(|(name, _)| name == field);
        own.map_or(&self.default, |(_, analyzer)| analyzer)
    }

    /// Checks that every field named here is a text field of the schema.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Schema`], naming the field that is not there or has no use for an analyzer.
    pub fn check(&self, schema: &Schema) -> Result<()> {
        for (name, analyzer) in &self.by_field {
            let what = || format!("giving the field '{name}' the analyzer '{}'", analyzer.name());
            let kind = schema.field(name).map(|field| field.kind);
            match kind {
                Some(FieldKind::Text) => {}
                Some(other) => {
                    return Err(Error::new(ErrorKind::Schema, what())
                        .expected("a text field")
                        .found(format!("a {} field", other.name())));
                }
                None => {
                    let known: Vec<_> = schema.fields().iter().map(|field| &*field.name).collect();
                    return Err(Error::new(ErrorKind::Schema, what())
                        .expected(format!("one of the fields {}", known.join(", ")))
                        .found("no field of this name"));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tokenizer_api::Token;

    use super::*;

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

    #[test]
    fn any_tokenizer_of_the_api_plugs_in_per_field() {
        let analyzers = Analyzers::default().for_field("tags", Analyzer::new("commas", Commas));
        assert_eq!(analyzers.get("tags").tokens("A b,C"), ["A b", "C"]);
        assert_eq!(analyzers.get("title").tokens("A b,C"), ["a", "b", "c"]);
        assert!(analyzers.get("title").is_default() && !analyzers.get("tags").is_default());
        assert_eq!(format!("{:?}", analyzers.get("tags")), r#"Analyzer("commas")"#);
    }

    #[test]
    fn the_last_analyzer_given_to_a_field_counts() {
        let analyzers = Analyzers::default()
            .for_field("a", Analyzer::new("commas", Commas))
            .for_field("a", Analyzer::default());
        assert!(analyzers.get("a").is_default());
    }

    #[test]
    fn analyzers_of_fields_that_cannot_use_them_are_refused() {
        let schema = Schema::wikipedia_titles();
        let given = |field: &str| Analyzers::default().for_field(field, Analyzer::default());
        assert!(given("title").check(&schema).is_ok());
        assert_eq!(
            given("qualifier").check(&schema).unwrap_err().to_string(),
            "giving the field 'qualifier' the analyzer 'default': expected a text field, found a keyword field"
        );
        let unknown = given("titel").check(&schema).unwrap_err().to_string();
        assert!(unknown.contains("one of the fields title, qualifier"), "{unknown}");
    }

    #[test]
    #[should_panic(expected = "a name of its own")]
    fn the_name_of_the_built_in_analyzer_is_taken() {
        let _ = Analyzer::new("default", Commas);
    }
}
