//! Statistics of a collection that this snapshot is only a part of.

use crate::error::{Error, ErrorKind, Result};
use crate::ids::FieldId;
use crate::json::{Json, Reader};
use crate::schema::Schema;
use crate::weight::bm25::FieldScoring;
use crate::weight::statistics::{self, OwnParameters, Statistics, parameters_of};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

/// Memory of a number beside the texts that it is of.
const ENTRY_BYTES: usize = 96;

/// Numbers of a collection that scores of a query depend on.
///
/// They are how many documents and words its fields have, and in how many documents its terms are.
///
/// Each shard of an index of many gives its own, see
/// [`Searcher::collection_statistics`](crate::Searcher::collection_statistics); added up and handed to each by
/// [`IdfScope::Collection`](crate::search::IdfScope::Collection) they make scores that can be compared: to the last bit those of one index of
/// all documents. Known elsewhere as `CollectionStatistics` and `TermStatistics` (Lucene), or the phase `dfs` of a search
/// (Elasticsearch).
///
/// Costs about 100 bytes for each term. Deleted documents count until they are merged away, as they do in one index.
///
/// ```
/// use treepie::search::{CollectionStatistics, IdfScope};
/// use treepie::{Document, Index, Schema, SearchRequest};
///
/// let shard = |titles: &[&str]| -> treepie::Result<_> {
///     let index = Index::in_memory(Schema::builder().text("title").build()?);
///     let mut writer = index.writer()?;
///     for title in titles {
///         writer.add(Document::new().with("title", *title))?;
///     }
///     writer.commit()?;
///     drop(writer);
///     index.searcher()
/// };
/// let shards = [shard(&["new york", "york"])?, shard(&["york minster", "new deal"])?];
/// let query = shards[0].parse("new york")?;
/// let mut all = CollectionStatistics::default();
/// for shard in &shards {
///     all.add(&shard.collection_statistics(&SearchRequest::new(&query))?);
/// }
/// assert_eq!((all.field("title").unwrap().documents, all.term("title", b"york")), (4, Some(3)));
/// let hits = shards[1].search(&query).statistics(IdfScope::Collection(all.into())).run()?.hits;
/// let of_one = shard(&["new york", "york", "york minster", "new deal"])?;
/// assert_eq!(hits[0].score, of_one.search(&query).run()?.hits[1].score);
/// # Ok::<(), treepie::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CollectionStatistics {
    fields: BTreeMap<String, FieldCounts>,
    terms: BTreeMap<(String, Vec<u8>), u64>,
}

/// Numbers of a field over a collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct FieldCounts {
    /// Documents that have a value.
    pub documents: u64,
    /// Tokens in all of these.
    pub tokens: u64,
}

impl CollectionStatistics {
    /// Adds the numbers of another part of the collection.
    pub fn add(&mut self, other: &CollectionStatistics) {
        for (name, counts) in &other.fields {
            self.add_field(name.clone(), counts.documents, counts.tokens);
        }
        for ((field, term), documents) in &other.terms {
            self.add_term(field.clone(), term.clone(), *documents);
        }
    }

    /// Adds documents with a value in a field, and tokens in these.
    pub fn add_field(&mut self, name: impl Into<String>, documents: u64, tokens: u64) {
        let sum = self.fields.entry(name.into()).or_default();
        sum.documents = sum.documents.saturating_add(documents);
        sum.tokens = sum.tokens.saturating_add(tokens);
    }

    /// Adds documents that have a term in a field.
    ///
    /// The term are the bytes that the dictionary has, of a text those of a token.
    pub fn add_term(&mut self, field: impl Into<String>, term: impl Into<Vec<u8>>, documents: u64) {
        let sum = self.terms.entry((field.into(), term.into())).or_default();
        *sum = sum.saturating_add(documents);
    }

    /// Numbers of a field, if they are known.
    pub fn field(&self, name: &str) -> Option<FieldCounts> {
        self.fields.get(name).copied()
    }

    /// Documents that have a term in a field, if their number is known.
    pub fn term(&self, field: &str, term: &[u8]) -> Option<u64> {
        self.terms.get(&(field.to_owned(), term.to_vec())).copied()
    }

    /// About how many bytes of memory it takes.
    pub(crate) fn n_bytes(&self) -> usize {
        let of_fields = self.fields.keys().map(|name| ENTRY_BYTES + name.len()).sum::<usize>();
        let of_term = |(field, term): &(String, Vec<u8>)| ENTRY_BYTES + field.len() + term.len();
        of_fields + self.terms.keys().map(of_term).sum::<usize>()
    }

    pub(crate) fn write_json(&self, json: &mut Json) {
        let fields: Vec<_> = self.fields.iter().collect();
        let terms: Vec<_> = self.terms.iter().collect();
        json.object(|json| {
            json.field("fields").array(&fields, |json, (name, counts)| {
                json.object(|json| {
                    json.field("field").string(name);
                    json.field("documents").number(counts.documents);
                    json.field("tokens").number(counts.tokens);
                });
            });
            json.field("terms").array(&terms, |json, ((field, term), documents)| {
                json.object(|json| {
                    json.field("field").string(field);
                    match std::str::from_utf8(term) {
                        Ok(text) => json.field("term").string(text),
                        Err(_) => json.field("bytes").string(&to_hex(term)),
                    }
                    json.field("documents").number(documents);
                });
            });
        });
    }

    pub(crate) fn read_json(reader: &mut Reader<'_>) -> Result<Self> {
        let mut all = CollectionStatistics::default();
        reader.object(&["fields", "terms"], |reader, name| {
            match name {
                "fields" => {
                    for (name, counts) in reader.array(read_field)? {
                        all.add_field(name, counts.documents, counts.tokens);
                    }
                }
                "terms" => {
                    for (field, term, documents) in reader.array(read_term)? {
                        all.add_term(field, term, documents);
                    }
                }
                _ => return Err(reader.error("\"fields\" or \"terms\"", &format!("\"{name}\""))),
            }
            Ok(true)
        })?;
        Ok(all)
    }
}

fn read_field(reader: &mut Reader<'_>) -> Result<(String, FieldCounts)> {
    let (mut field, mut counts) = (String::new(), FieldCounts::default());
    reader.object(&["field", "documents", "tokens"], |reader, name| {
        match name {
            "field" => field = reader.string()?,
            "documents" => counts.documents = reader.whole()?,
            "tokens" => counts.tokens = reader.whole()?,
            _ => {
                let expected = "\"field\", \"documents\" or \"tokens\"";
                return Err(reader.error(expected, &format!("\"{name}\"")));
            }
        }
        Ok(true)
    })?;
    Ok((field, counts))
}

fn read_term(reader: &mut Reader<'_>) -> Result<(String, Vec<u8>, u64)> {
    let (mut field, mut term, mut documents) = (String::new(), None, 0);
    reader.object(&["field", "documents"], |reader, name| {
        match name {
            "field" => field = reader.string()?,
            "documents" => documents = reader.whole()?,
            "term" => term = Some(reader.string()?.into_bytes()),
            "bytes" => {
                let text = reader.string()?;
                let bytes = of_hex(&text);
                let wrong = || reader.error("bytes as hexadecimal digits", &format!("\"{text}\""));
                term = Some(bytes.ok_or_else(wrong)?);
            }
            _ => {
                let expected = "\"field\", \"term\", \"bytes\" or \"documents\"";
                return Err(reader.error(expected, &format!("\"{name}\"")));
            }
        }
        Ok(true)
    })?;
    let missing = || reader.error("\"term\" or \"bytes\"", "neither");
    Ok((field, term.ok_or_else(missing)?, documents))
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // A string takes everything.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn of_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    let byte = |pair: &[u8]| match pair {
        [high, low] => {
            let digit = |digit: &u8| char::from(*digit).to_digit(16);
            u8::try_from(digit(high)? << 4 | digit(low)?).ok()
        }
        _ => None,
    };
    digits.map(byte).collect()
}

/// Statistics that were handed in.
#[derive(Debug)]
pub(crate) struct OfCollection<'a> {
    pub(crate) given: &'a CollectionStatistics,
    pub(crate) schema: &'a Schema,
    pub(crate) parameters: &'a OwnParameters,
}

impl OfCollection<'_> {
    fn missing(what: String) -> Error {
        Error::new(ErrorKind::Usage, "ranking by statistics of a collection")
            .expected(what)
            .found("none")
            .hint(
                "ask each shard for its collection statistics with the same query, and add them up",
            )
    }
}

impl Statistics for OfCollection<'_> {
    fn field(&self, field: FieldId) -> Result<Arc<FieldScoring>> {
        let name = &self.schema.get(field).name;
        let counts = self.given.field(name);
        let missing = || Self::missing(format!("numbers of the field '{name}'"));
        let FieldCounts { documents, tokens } = counts.ok_or_else(missing)?;
        let parameters = parameters_of(self.parameters, field);
        Ok(Arc::new(FieldScoring::of_counts(field, documents, tokens, parameters)))
    }

    fn document_frequency(&self, field: FieldId, term: &[u8], _here: u64) -> Result<u64> {
        let name = &self.schema.get(field).name;
        self.given.term(name, term).ok_or_else(|| {
            let term = String::from_utf8_lossy(term).into_owned();
            Self::missing(format!("the number of documents with '{term}' in '{name}'"))
        })
    }
}

/// Statistics of a snapshot, and which of them were asked for.
#[derive(Debug)]
pub(crate) struct Recording<'a> {
    pub(crate) from: &'a dyn statistics::Statistics,
    pub(crate) schema: &'a Schema,
    asked: Mutex<CollectionStatistics>,
}

impl<'a> Recording<'a> {
    pub(crate) fn new(from: &'a dyn statistics::Statistics, schema: &'a Schema) -> Self {
        Recording { from, schema, asked: Mutex::default() }
    }

    /// Numbers that were asked for.
    pub(crate) fn into_asked(self) -> CollectionStatistics {
        self.asked.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, record: impl FnOnce(&mut CollectionStatistics)) {
        record(&mut self.asked.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Statistics for Recording<'_> {
    fn field(&self, field: FieldId) -> Result<Arc<FieldScoring>> {
        let scoring = self.from.field(field)?;
        let counts = FieldCounts { documents: scoring.n_docs, tokens: scoring.n_tokens };
        let name = self.schema.get(field).name.clone();
        // Set and not added: it may be asked for again.
        self.record(|asked| _ = asked.fields.insert(name, counts));
        Ok(scoring)
    }

    fn document_frequency(&self, field: FieldId, term: &[u8], here: u64) -> Result<u64> {
        let documents = self.from.document_frequency(field, term, here)?;
        let name = self.schema.get(field).name.clone();
        self.record(|asked| _ = asked.terms.insert((name, term.to_vec()), documents));
        Ok(documents)
    }
}
