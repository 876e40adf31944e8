//! The analyzers and synonyms of the caller's, and which ones a field means.

use crate::analysis::normalizer::Normalizer;
use crate::analysis::spec::{self, is_built_in, is_name};
use crate::analysis::synonyms::{PlacedTerm, Slot, Synonyms, WordRule, placed, slots};
use crate::analysis::{ANALYSIS_VERSION, Analyzer, VERSION_OF_CHARACTERS};
use crate::error::{Error, ErrorKind, Result};
use crate::schema::{DEFAULT_ANALYZER, Field};
use crate::term::Term;
use smallvec::SmallVec;
use std::sync::Arc;

/// Longer words are left to the tokenizer, which knows what is too long.
const PLAIN_WORD_MAX: usize = 255;
/// Words that are read without it at once; texts of more are few.
const PLAIN_WORDS_MAX: usize = 8;

/// Analyzers that are not built in, by name.
///
/// They are given with [`IndexOptions::analyzers`](crate::IndexOptions::analyzers) each time an index is created or
/// opened.
///
/// An index whose schema names one that is not here can be opened; what needs it fails and says so.
///
/// ```
/// use treepie::{Field, FieldKind, analysis::{Analyzer, Analyzers, Splitter}};
///
/// let analyzers = Analyzers::default().register(Analyzer::new("lines", Splitter::keyword()));
/// let field = Field::new("address", FieldKind::Text).analyzer("lines");
/// assert_eq!(analyzers.index_time(&field)?.tokens("1 A St"), ["1 A St"]);
/// # Ok::<(), treepie::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Analyzers {
    /// The version of those that are built in.
    version: u32,
    registered: Vec<Analyzer>,
    /// By the name of the field.
    synonyms: Vec<(String, Synonyms)>,
}

impl Default for Analyzers {
    fn default() -> Self {
        Analyzers { version: ANALYSIS_VERSION, registered: vec![], synonyms: vec![] }
    }
}

impl Analyzers {
    /// Sets the version of the built-in analyzers.
    ///
    /// An index [keeps](crate::inspect::Inspector::term_versions) it: searchers and writers choose that one by
    /// themselves.
    ///
    /// ```
    /// use treepie::{Field, FieldKind, analysis::Analyzers};
    ///
    /// let field = Field::new("title", FieldKind::Text);
    /// let terms = |analyzers: Analyzers| Ok::<_, treepie::Error>(analyzers.index_time(&field)?.tokens("Zürich"));
    /// assert_eq!(terms(Analyzers::default())?, ["zurich"]);
    /// assert_eq!(terms(Analyzers::default().version(1))?, ["zürich"]);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    #[must_use]
    pub fn version(mut self, version: u32) -> Self {
        self.version = version;
        self
    }

    /// These analyzers in the version that made the terms of an index.
    pub(crate) fn in_version(self: &Arc<Self>, version: u32) -> Arc<Self> {
        match self.version == version {
            true => Arc::clone(self),
            false => Arc::new((**self).clone().version(version)),
        }
    }

    /// Adds an analyzer under its name; the last one of a name counts.
    #[must_use]
    pub fn register(mut self, analyzer: Analyzer) -> Self {
        self.registered.retain(|other| other.name() != analyzer.name());
        self.registered.push(analyzer);
        self
    }

    /// Sets what the words of queries in a field also stand for.
    ///
    /// The last call for a field counts. Nothing of it is in the index.
    #[must_use]
    pub fn synonyms(mut self, field: impl Into<String>, synonyms: Synonyms) -> Self {
        let field = field.into();
        self.synonyms.retain(|(other, _)| *other != field);
        self.synonyms.push((field, synonyms));
        self
    }

    /// The analyzer for a field's texts in documents.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Analyzer`], naming field and analyzer, if it is neither registered nor built in.
    pub fn index_time(&self, field: &Field) -> Result<Analyzer> {
        self.find(field, field.analyzer_spec())
    }

    /// The term of a value of a keyword field, or of a path.
    ///
    /// It is the value by the field's [normalizer](Field::normalizer), if it has one.
    ///
    /// ```
    /// use treepie::{Field, FieldKind, analysis::Analyzers};
    ///
    /// let city = Field::new("city", FieldKind::Keyword).normalizer("nfc|lower");
    /// assert_eq!(Analyzers::default().normalize(&city, "ZU\u{308}RICH")?, "zürich");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Analyzer`], naming the field, for a filter that does not exist or does more than change characters.
    pub fn normalize(&self, field: &Field, value: &str) -> Result<String> {
        let mut value = value.to_owned();
        if let Some(mut normalizer) = self.normalizer(field)? {
            normalizer.apply(&mut value);
        }
        Ok(value)
    }

    /// Normalizer of a keyword field; none if its values are terms as they are.
    pub(crate) fn normalizer(&self, field: &Field) -> Result<Option<Normalizer>> {
        if field.normalizer_spec().is_none() {
            return Ok(None);
        }
        let filters = spec::parse(field.analyzer_spec(), self.version).map(|(_, filters)| filters);
        let normalizer = filters.and_then(Normalizer::new);
        let task = || format!("normalizing values of the field '{}'", field.name);
        normalizer.map(Some).map_err(|error| error.during(task()))
    }

    /// The analyzer for a field's words in queries.
    ///
    /// # Errors
    ///
    /// Fails like [`index_time`](Self::index_time).
    pub fn query_time(&self, field: &Field) -> Result<Analyzer> {
        self.find(field, field.query_analyzer_spec()).map(Analyzer::for_queries)
    }

    /// Returns the alternatives for each place of a query's text in a field, in order. Alternatives are the
    /// terms of the [query-time](Self::query_time) analyzer, and their synonyms.
    ///
    /// # Errors
    ///
    /// Fails like [`index_time`](Self::index_time).
    pub fn query_slots(&self, field: &Field, text: &str) -> Result<Vec<Slot>> {
        let tokens = placed(text, &mut self.query_time(field)?);
        Ok(slots(tokens, self.synonyms_of(field)))
    }

    /// The terms of a query's text in a field, by position.
    ///
    /// # Errors
    ///
    /// Fails like [`index_time`](Self::index_time).
    pub(crate) fn query_terms(&self, field: &Field, text: &str) -> Result<Vec<PlacedTerm>> {
        Ok(placed(text, &mut self.query_time(field)?))
    }

    /// Works like [`query_terms`](Self::query_terms), in memory of queries before where the text is a word or two and the field has
    /// the default analyzer.
    pub(crate) fn query_terms_in(
        &self,
        memory: &mut Option<Analyzer>,
        field: &Field,
        text: &str,
    ) -> Result<Vec<PlacedTerm>> {
        let is_default = field.query_analyzer_spec() == DEFAULT_ANALYZER
            && self.version >= VERSION_OF_CHARACTERS;
        if !is_default || text.len() > PLAIN_WORD_MAX {
            return self.query_terms(field, text);
        }
        let analyzer = memory.get_or_insert_with(|| Analyzer::default().for_queries());
        Ok(placed(text, analyzer))
    }

    /// The terms of a query's text whose last word stands for others: as [`query_terms`](Self::query_terms), but
    /// the last word is there even where the analyzer leaves it out, because it may be the beginning of another.
    ///
    /// # Errors
    ///
    /// Fails like [`index_time`](Self::index_time).
    pub(crate) fn pattern_terms(&self, field: &Field, text: &str) -> Result<Vec<PlacedTerm>> {
        let analyzer = self.query_time(field)?;
        let mut terms = placed(text, &mut analyzer.clone());
        let last = match analyzer.cuts(text).pop() {
            Some(last) => last,
            // A word that a plugged-in analyzer leaves nothing of may be a stop word of it.
            None if text.chars().all(char::is_alphanumeric) && !text.is_empty() => {
                (0, 0..text.len())
            }
            None => return Ok(terms),
        };
        let (position, cut) = last;
        if terms.last().is_none_or(|term| term.position < position)
            && let Some(piece) = text.get(cut)
        {
            let term = analyzer.normalize(piece);
            terms.extend((!term.is_empty()).then_some(PlacedTerm { position, term }));
        }
        Ok(terms)
    }

    /// Synonyms of words of queries in a field.
    pub(crate) fn synonyms_of(&self, field: &Field) -> Option<&Synonyms> {
        let own = self.synonyms.iter().find(|(name, _)| *name == field.name);
        own.map(|(_, synonyms)| synonyms)
    }

    /// Whether words of queries in any field stand for others.
    pub(crate) fn has_synonyms(&self) -> bool {
        !self.synonyms.is_empty()
    }

    /// The rules for several of some words of a query in a field, from left to right.
    ///
    /// # Errors
    ///
    /// Fails like [`index_time`](Self::index_time).
    pub(crate) fn word_rules(&self, field: &Field, words: &[&str]) -> Result<Vec<WordRule>> {
        match self.synonyms_of(field) {
            Some(rules) => Ok(rules.of_words(words, &mut self.query_time(field)?)),
            None => Ok(vec![]),
        }
    }

    /// The only term of a word of ASCII letters and digits in a field with the default analyzer, as
    /// most words of queries are. `None` says nothing: the [analyzer](Self::query_time) knows.
    pub(crate) fn plain_word(&self, field: &Field, word: &str) -> Option<Term> {
        // All versions agree on ASCII.
        let is_plain = field.query_analyzer_spec() == DEFAULT_ANALYZER
            && self.synonyms_of(field).is_none()
            && (1..=PLAIN_WORD_MAX).contains(&word.len())
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_plain.then(|| word.bytes().map(|byte| byte.to_ascii_lowercase()).collect())
    }

    /// The terms of a few words that are all [plain](Self::plain_word), with spaces between; none if that is not known.
    pub(crate) fn plain_words(&self, field: &Field, words: &str) -> SmallVec<[Term; 4]> {
        let terms = words.split(' ').filter(|word| !word.is_empty()).take(PLAIN_WORDS_MAX + 1);
        let terms: Option<SmallVec<_>> = terms.map(|word| self.plain_word(field, word)).collect();
        terms.filter(|terms| terms.len() <= PLAIN_WORDS_MAX).unwrap_or_default()
    }

    fn find(&self, field: &Field, spec: &str) -> Result<Analyzer> {
        if spec == DEFAULT_ANALYZER && self.version >= VERSION_OF_CHARACTERS {
            return Ok(Analyzer::default());
        }
        if let Some(analyzer) = self.registered.iter().find(|analyzer| analyzer.name() == spec) {
            return Ok(analyzer.clone());
        }
        let task = format!("analyzing text for the field '{}'", field.name);
        if is_name(spec) && !is_built_in(spec) {
            let names: Vec<_> = self.registered.iter().map(Analyzer::name).collect();
            return Err(Error::new(ErrorKind::Analyzer, task)
                .expected(format!("the analyzer '{spec}', which is not built in, to be registered"))
                .found(if names.is_empty() { "none".into() } else { names.join(", ") })
                .hint(format!(
                    "register it when the index is opened: Index::options().analyzers(Analyzers::default().register(Analyzer::new(\"{spec}\", …)))"
                )));
        }
        Analyzer::of_version(spec, self.version).map_err(|error| error.during(task))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::splitter::Splitter;
    use crate::schema::FieldKind;

    #[test]
    fn fields_find_registered_and_built_in_analyzers() {
        let field = |spec: &str| Field::new("tags", FieldKind::Text).analyzer(spec);
        let analyzers = Analyzers::default()
            .register(Analyzer::new("whole", Splitter::alphanumeric()))
            .register(Analyzer::new("whole", Splitter::keyword()));
        let terms = |field: &Field| {
            let both = [analyzers.index_time(field), analyzers.query_time(field)];
            both.map(|analyzer| analyzer.unwrap().tokens("A b").join("/"))
        };
        assert_eq!(terms(&field("default")), ["a/b", "a/b"]);
        assert_eq!(terms(&field("whole")), ["A b", "A b"]);
        assert_eq!(terms(&field("whole").query_analyzer("whitespace")), ["A b", "A/b"]);
        assert_eq!(terms(&field("words").query_analyzer("default")), ["A/b", "a/b"]);
    }

    #[test]
    fn a_plain_word_is_what_the_tokenizer_makes_of_it() {
        let (analyzers, field) = (Analyzers::default(), Field::new("text", FieldKind::Text));
        for word in ["a", "Zoo", "x9Y", &"Q".repeat(PLAIN_WORD_MAX)] {
            let tokens = analyzers.query_time(&field).unwrap().tokens(word);
            let plain = analyzers.plain_word(&field, word).unwrap();
            assert_eq!(tokens, [String::from_utf8(plain.into_vec()).unwrap()]);
        }
        for word in ["", "a b", "é", "a-b", &"q".repeat(PLAIN_WORD_MAX + 1)] {
            assert_eq!(analyzers.plain_word(&field, word), None, "{word}");
        }
        assert_eq!(analyzers.plain_word(&field.analyzer("whitespace"), "A"), None);
    }

    #[test]
    fn plain_words_stand_side_by_side_as_the_tokenizer_says() {
        let (analyzers, field) = (Analyzers::default(), Field::new("text", FieldKind::Text));
        for words in ["New York", " the  of x9 ", &"a ".repeat(PLAIN_WORDS_MAX)] {
            let plain = analyzers.plain_words(&field, words);
            let plain: Vec<_> = plain.into_iter().map(|term| term.into_vec()).zip(0..).collect();
            let terms = analyzers.query_terms(&field, words).unwrap().into_iter();
            let terms: Vec<_> = terms.map(|at| (at.term.into_bytes(), at.position)).collect();
            assert_eq!(plain, terms, "{words}");
        }
        for words in ["", " ", "a-b c", "é a", &"a ".repeat(PLAIN_WORDS_MAX + 1)] {
            assert!(analyzers.plain_words(&field, words).is_empty(), "{words}");
        }
    }

    #[test]
    fn what_is_missing_is_told_with_the_field_and_what_to_register() {
        let field = Field::new("tags", FieldKind::Text).analyzer("commas");
        let error = Analyzers::default().index_time(&field).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Analyzer);
        let message = error.to_string();
        for words in
            ["the field 'tags'", "the analyzer 'commas'", "register(Analyzer::new(\"commas\""]
        {
            assert!(message.contains(words), "{message}");
        }
        let wrong = Field::new("tags", FieldKind::Text).analyzer("words|lowr");
        let message = Analyzers::default().query_time(&wrong).unwrap_err().to_string();
        assert!(message.contains("the field 'tags'") && message.contains("'lowr'"), "{message}");
    }

    #[test]
    fn synonyms_belong_to_a_field() {
        let rules = |text| Synonyms::parse(text, &Analyzer::default()).unwrap();
        let analyzers = Analyzers::default()
            .synonyms("a", rules("x => y"))
            .synonyms("a", rules("x, z"))
            .synonyms("b", rules("x => w"));
        let terms = |name: &str| {
            let slots = analyzers.query_slots(&Field::new(name, FieldKind::Text), "X").unwrap();
            assert_eq!((slots.len(), slots[0].gap), (1, 0));
            let terms = slots[0].alternatives.iter().map(|any| any.terms[0].term.clone());
            terms.collect::<Vec<_>>().join("|")
        };
        assert_eq!([terms("a"), terms("b"), terms("c")], ["x|z", "w", "x"]);
    }

    #[test]
    fn texts_are_read_alike_in_memory_of_others() {
        let fields = ["", "en", "keyword"].map(|spec| match spec {
            "" => Field::new("title", FieldKind::Text),
            spec => Field::new("title", FieldKind::Text).analyzer(spec),
        });
        for analyzers in [Analyzers::default(), Analyzers::default().version(1)] {
            let mut memory = None;
            for text in
                ["Zürich", "공", "東京都", "Łódź Ärger", "", "!", &"é ".repeat(200), "a b a"]
            {
                for field in &fields {
                    let expected = analyzers.query_terms(field, text);
                    let found = analyzers.query_terms_in(&mut memory, field, text);
                    assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{text}");
                }
            }
        }
    }
}
