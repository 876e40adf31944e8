//! Looking inside: segments and their contents, the use of bytes, and whether all is well.
//!
//! Everything here is for people and their scripts. It reads whatever it is asked for and takes the time
//! that takes; searching is the business of [`Searcher`](crate::Searcher).
//!
//! ```
//! use treepie::{Document, Index, Schema};
//! # let dir = std::env::temp_dir().join(format!("treepie-doc-inspect-{}", std::process::id()));
//! # let _ = std::fs::remove_dir_all(&dir);
//! # let mut writer = Index::create(&dir, Schema::builder().text("title").build()?)?.writer()?;
//! # writer.add(Document::new().with("title", "Oslo by night"))?;
//! # writer.commit()?;
//! # drop(writer);
//!
//! let inspector = Index::open(&dir)?.inspect()?;
//! assert_eq!(inspector.segments()[0].documents, 1);
//! let mut terms = vec![];
//! inspector.for_each_term("title", "", |term, documents| {
//!     terms.push((term.to_string(), documents));
//!     Ok(true)
//! })?;
//! assert_eq!(terms, [("by".into(), 1), ("night".into(), 1), ("oslo".into(), 1)]);
//! assert!(inspector.verify(|_| ()).is_sound());
//! # std::fs::remove_dir_all(&dir).unwrap();
//! # Ok::<(), treepie::Error>(())
//! ```

#[cfg(feature = "viewer")]
mod html;
mod savings;
mod sections;
mod storage;
mod top_terms;
mod vectors;

pub use savings::Saving;
pub use sections::SectionInfo;
pub use storage::{StoragePart, StorageReport};
pub use top_terms::TermStorage;
pub use vectors::{CurvePoint, GraphInfo, VectorsInfo};

pub use crate::segment::disk_usage::DiskUsage;

use crate::analysis::TermVersions;
use crate::bitmap::ContainerKind;
use crate::error::{Error, ErrorKind, Result};
use crate::format::postings::PostingList;
use crate::format::terms::{PostingsAt, TermInfo};
use crate::ids::{DocId, FieldId};
use crate::schema::{Field, Schema};
use crate::segment::reader::SegmentReader;
use crate::segment::snapshot::Snapshot;
use crate::segment::verify;
use crate::value::{self, Value};
use std::path::PathBuf;

/// One commit of an index, open for looking inside.
#[derive(Debug)]
pub struct Inspector {
    snapshot: Snapshot,
}

/// One segment of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SegmentInfo {
    /// The random id in its file's name, as 32 hexadecimal digits.
    pub id: String,
    /// File of the segment.
    pub path: PathBuf,
    /// The file of its deletes, if there is one.
    pub deletes_path: Option<PathBuf>,
    /// Bytes of both files.
    pub bytes: u64,
    /// Documents, deleted ones included.
    pub documents: u64,
    /// Deleted documents of the segment.
    pub deleted: u64,
    /// The number of its first document in the snapshot.
    pub first_doc: DocId,
    /// Figures of each field, in schema order.
    pub fields: Vec<FieldInfo>,
}

/// One field of one segment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldInfo {
    /// The field's name.
    pub name: String,
    /// Different terms.
    pub terms: u64,
    /// Tokens of all documents, repetitions included.
    pub tokens: u64,
    /// Documents that have a value.
    pub documents: u64,
}

/// The posting list of one term in one segment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PostingsInfo {
    /// The segment's place in the snapshot, from 0.
    pub segment: usize,
    /// In how many of its documents the term is.
    pub documents: u64,
    /// Encoding of the list: `inline` in the dictionary, `short` (gaps), or `long` (roaring).
    pub encoding: &'static str,
    /// Bytes of the list outside the dictionary, with frequencies, positions and bounds.
    pub bytes: u64,
    /// Containers of a long list, by kind.
    pub containers: ContainerCounts,
    /// The documents, as many as were asked for.
    pub docs: Vec<DocId>,
}

/// Containers by kind, or bytes in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContainerCounts {
    /// Sorted arrays of up to 4,096 documents.
    pub array: u64,
    /// Bitmaps of 65,536 bits.
    pub bitmap: u64,
    /// Runs of consecutive documents.
    pub run: u64,
}

/// Result of [`Inspector::verify`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifyReport {
    /// Segments looked at.
    pub segments: usize,
    /// Bytes read.
    pub bytes: u64,
    /// Number of errors found; 0 if the index is sound.
    pub damaged: u64,
    /// Segments with errors in them, or in the record of their deleted documents.
    pub damaged_segments: usize,
}

impl VerifyReport {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.damaged == 0
    }
}

impl Inspector {
    pub(crate) fn new(snapshot: Snapshot) -> Self {
        Inspector { snapshot }
    }

    /// The number of the commit.
    pub fn generation(&self) -> u64 {
        self.snapshot.manifest.generation
    }

    /// The fields.
    pub fn schema(&self) -> &Schema {
        &self.snapshot.manifest.schema
    }

    /// The tables that made the terms of the first segment.
    pub fn term_versions(&self) -> TermVersions {
        self.snapshot.manifest.term_versions
    }

    /// Documents of all segments that are not deleted.
    pub fn documents(&self) -> u64 {
        self.snapshot.manifest.n_docs()
    }

    /// Payload of the commit, for whoever made it.
    pub fn payload(&self) -> &[u8] {
        &self.snapshot.manifest.payload
    }

    /// All segments in the order of their documents. Fields that cannot be read are left out of
    /// `fields`.
    pub fn segments(&self) -> Vec<SegmentInfo> {
        let mut first = 0;
        let mut infos = vec![];
        for segment in self.snapshot.readers() {
            infos.push(SegmentInfo {
                id: segment.id().to_string(),
                path: segment.file().path(),
                deletes_path: segment.deleted().map(|deleted| deleted.path()),
                bytes: segment.file().len() + deletes_len(segment),
                documents: segment.n_docs().into(),
                deleted: (segment.n_docs() - segment.n_live()).into(),
                first_doc: DocId(first),
                fields: segment
                    .schema()
                    .field_ids()
                    .filter_map(|id| field_info(segment, id).ok())
                    .collect(),
            });
            first += u64::from(segment.n_docs());
        }
        infos
    }

    /// Calls `visit` with every term that begins with `prefix`, until it answers false. Each term comes with the number
    /// of documents that have it, in byte order. Terms of all segments are merged into one order. Terms of a typed
    /// field are its values: all of them if `prefix` is empty, else the one that it reads as.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Schema`] for an unknown field, [`ErrorKind::Corrupt`] for damage.
    pub fn for_each_term(
        &self,
        field: &str,
        prefix: &str,
        mut visit: impl FnMut(&Value, u64) -> Result<bool>,
    ) -> Result<()> {
        let field = self.field_id(field)?;
        let kind = self.schema().get(field).kind;
        let prefix = if prefix.is_empty() { vec![] } else { self.term(field, prefix)? };
        self.for_each_entry(field, &prefix, |term, entries| {
            let documents = entries.iter().map(|(_, info)| u64::from(info.df)).sum();
            visit(&Value::of_term(kind, term), documents)
        })
    }

    /// The terms of a field that begin with `prefix`, in order, each with what the segments that have it say, until
    /// `visit` returns false.
    fn for_each_entry<'a>(
        &'a self,
        field: FieldId,
        prefix: &[u8],
        mut visit: impl FnMut(&[u8], &[(SegmentReader<'a>, TermInfo)]) -> Result<bool>,
    ) -> Result<()> {
        let mut streams = vec![];
        for segment in self.snapshot.readers() {
            let mut stream = segment.field(field).terms()?.prefix(prefix)?;
            let next = stream.next()?.map(|(term, _, info)| (term.to_vec(), info));
            streams.push((segment, stream, next));
        }
        let mut entries = vec![];
        while let Some(term) = streams
            .iter()
            .filter_map(|(_, _, next)| next.as_ref())
            .map(|next| &next.0)
            .min()
            .cloned()
        {
            entries.clear();
            for (segment, stream, next) in &mut streams {
                if let Some((_, info)) = next.as_ref().filter(|next| next.0 == term) {
                    entries.push((*segment, *info));
                    *next = stream.next()?.map(|(term, _, info)| (term.to_vec(), info));
                }
            }
            if !visit(&term, &entries)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The term that is written so; of a date the first microsecond, which is what it is listed as.
    fn term(&self, field: FieldId, text: &str) -> Result<Vec<u8>> {
        let of_schema = self.schema().get(field);
        let Field { kind, name, .. } = of_schema;
        if !kind.is_typed() {
            return Ok(text.as_bytes().to_vec());
        }
        let term = value::term(of_schema, &text.into()).map_err(|wrong| {
            let what = format!("looking for a value of the {} field '{name}'", kind.name());
            Error::new(ErrorKind::Usage, what).expected(wrong.expected).found(wrong.found)
        })?;
        Ok(term.to_vec())
    }

    /// The posting list of a term in each segment that has it.
    ///
    /// It has up to `docs_max` of its documents in all.
    ///
    /// # Errors
    ///
    /// Fails like [`for_each_term`](Self::for_each_term); [`ErrorKind::Usage`] for what a typed field cannot have.
    pub fn postings(&self, field: &str, term: &str, docs_max: usize) -> Result<Vec<PostingsInfo>> {
        let field = self.field_id(field)?;
        let term = &self.term(field, term)?[..];
        let (mut first, mut left) = (0, docs_max);
        let mut infos = vec![];
        for (nth, segment) in self.snapshot.readers().enumerate() {
            let reader = segment.field(field);
            if let Some(info) = reader.terms()?.get(term)? {
                let list = reader.postings(&info)?;
                let mut docs = vec![];
                list.decode_into(segment.n_docs(), &mut docs)?;
                let shown: Vec<DocId> =
                    docs.iter().take(left).map(|&doc| DocId(first + u64::from(doc))).collect();
                left -= shown.len();
                let (encoding, bytes) = encoding_of(info.postings, &list);
                let mut containers = ContainerCounts::default();
                count_containers(&list, &mut containers, &mut ContainerCounts::default());
                infos.push(PostingsInfo {
                    segment: nth,
                    documents: list.len(),
                    encoding,
                    bytes,
                    containers,
                    docs: shown,
                });
            }
            first += u64::from(segment.n_docs());
        }
        Ok(infos)
    }

    /// The stored values of a document, and its vectors, as (field, value), in schema order.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`] if there is no such document or it is deleted, [`ErrorKind::Corrupt`] for damage.
    pub fn document(&self, doc: DocId) -> Result<Vec<(String, Value)>> {
        let mut first = 0;
        for segment in self.snapshot.readers() {
            let in_segment = doc.0.wrapping_sub(first);
            if doc.0 >= first && in_segment < u64::from(segment.n_docs()) {
                if segment.is_deleted(in_segment as u32)? {
                    return Err(Error::new(ErrorKind::NotFound, format!("reading document {doc}"))
                        .expected("one that is not deleted")
                        .found(doc.to_string()));
                }
                let values = segment.document(in_segment as u32)?.into_iter();
                let stored = values.filter_map(|(field, value)| {
                    let field = segment.schema().get(field);
                    field.stored.then(|| (field.name.clone(), value))
                });
                return Ok(stored.collect());
            }
            first += u64::from(segment.n_docs());
        }
        Err(Error::new(ErrorKind::NotFound, format!("reading document {doc}"))
            .expected(format!("a number below {first}"))
            .found(doc.to_string()))
    }

    /// Checks every checksum and everything the bytes say.
    ///
    /// `report` is called with each thing that is wrong. Reads the whole index.
    pub fn verify(&self, mut report: impl FnMut(Error)) -> VerifyReport {
        let mut found = VerifyReport { segments: 0, bytes: 0, damaged: 0, damaged_segments: 0 };
        // Hints of damage are to do what is done here.
        let mut report = |error: Error| report(error.without_hint());
        for segment in self.snapshot.readers() {
            found.segments += 1;
            found.bytes += segment.file().len() + deletes_len(segment);
            let n_damaged = verify::verify(segment, &mut report);
            found.damaged += n_damaged;
            found.damaged_segments += usize::from(n_damaged > 0);
        }
        found
    }

    fn field_id(&self, name: &str) -> Result<FieldId> {
        self.schema().field_id(name).ok_or_else(|| {
            self.schema().no_field(Error::new(ErrorKind::Schema, "inspecting a field"), name)
        })
    }
}

fn field_info(segment: SegmentReader<'_>, id: FieldId) -> Result<FieldInfo> {
    let (reader, statistics) = (segment.field(id), segment.field(id).statistics()?);
    Ok(FieldInfo {
        name: segment.schema().get(id).name.clone(),
        terms: reader.terms()?.n_terms().into(),
        tokens: statistics.n_tokens,
        documents: statistics.n_docs_with_value.into(),
    })
}

fn encoding_of<S>(at: PostingsAt, list: &PostingList<'_, S>) -> (&'static str, u64) {
    match (at, list) {
        (PostingsAt::Inline(_), _) => ("inline", 0),
        (PostingsAt::Section { len, .. }, PostingList::Short(_)) => ("short", len.into()),
        (PostingsAt::Section { len, ranked_len, .. }, PostingList::Long(_)) => {
            ("long", u64::from(len) + ranked_len)
        }
    }
}

/// Adds the containers of a long list, and their bytes, by kind.
fn count_containers<'s, S: crate::bytes::Source<'s>>(
    list: &PostingList<'s, S>,
    counts: &mut ContainerCounts,
    bytes: &mut ContainerCounts,
) {
    let PostingList::Long(list) = list else { return };
    for nth in 0..list.n_containers() {
        let len = list.payload_len(nth) as u64;
        let (count, total) = match list.container_kind(nth) {
            ContainerKind::Array => (&mut counts.array, &mut bytes.array),
            ContainerKind::Bitmap => (&mut counts.bitmap, &mut bytes.bitmap),
            ContainerKind::Run => (&mut counts.run, &mut bytes.run),
        };
        *count += 1;
        *total += len;
    }
}

/// Bytes of the file of a segment's deletes, if there is one.
fn deletes_len(segment: SegmentReader<'_>) -> u64 {
    segment.deleted().map_or(0, |deleted| deleted.len())
}
