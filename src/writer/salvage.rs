//! Rebuilding what can be read of a damaged index as a new one.
//!
//! The newest commit whose manifest can be read says what there was. Its segments that are sound are copied as they
//! are. From the others every document whose stored values can be read is added anew, in its old order. Values that are not
//! stored are lost with them, and reported as lost. The new index is made by one commit, so it is there as a whole or not at all.
//!
//! The disk may be failing: files are read piece by piece, and what cannot be read is lost as what is damaged is. Only
//! what could be read is mapped. If nobody knows any more what is deleted of a segment, its documents are back, but for those of which
//! a later one has the key.

use crate::analysis::Analyzers;
use crate::analysis::TermVersions;
use crate::document::Document;
use crate::error::{Error, ErrorKind, Result};
use crate::format::FileName;
use crate::format::deletes::DeletedSet;
use crate::format::manifest::{Manifest, SegmentMeta};
use crate::ids::FieldId;
use crate::limits::Limits;
use crate::schema::{Field, Schema};
use crate::segment::deletes::{self, DeletedDocs};
use crate::segment::file::SegmentFile;
use crate::segment::reader::SegmentReader;
use crate::segment::snapshot::{Contents, Snapshot, contents, open_segment, read_manifest};
use crate::storage::{self, Storage, Unmapped};
use crate::writer::commit::Draft;
use crate::writer::deletions::find_replaced;
use crate::writer::recover::{self, DamagedCommit};
use crate::writer::{Existing, IndexWriter, WriterOptions, report_progress};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// Report of [`Index::salvage`](crate::Index::salvage): the data that was saved, and the data that is lost.
#[derive(Debug)]
#[non_exhaustive]
pub struct Salvage {
    /// The commit that was salvaged: the newest one whose manifest can be read.
    pub generation: u64,
    /// Documents of the new index.
    pub documents: u64,
    /// Documents of the commit that are lost.
    ///
    /// It is an upper bound if it is not known which documents of a segment were deleted. It does not count what
    /// [newer commits](Self::unreadable) had, which nobody knows.
    pub lost: u64,
    /// Maximum number of deleted documents that are back, because the record of deletions is damaged.
    pub revived: u64,
    /// Outcome of each segment of the commit.
    pub segments: Vec<SalvagedSegment>,
    /// Newer commits, whose manifests cannot be read. Their additions and deletions are not known.
    pub unreadable: Vec<DamagedCommit>,
    /// Segments that no readable commit names.
    ///
    /// They are of a commit whose manifest is damaged or gone, or of a build that was interrupted. They may have documents
    /// that only such a commit had, or the same as others have.
    pub unnamed: Vec<String>,
    /// Documents of the unnamed segments, deleted ones included; `None` if a segment is damaged.
    pub unnamed_documents: Option<u64>,
}

/// One segment of a salvaged commit.
#[derive(Debug)]
#[non_exhaustive]
pub struct SalvagedSegment {
    /// Id of the segment, in hexadecimal.
    pub id: String,
    /// Documents that were not deleted.
    pub documents: u64,
    /// Outcome of the segment.
    pub outcome: SegmentOutcome,
    /// Documents that are lost, by their numbers in the damaged commit. If it is not known which were deleted, deleted
    /// ones are among them.
    pub lost: Vec<Range<u64>>,
    /// Maximum number of its deleted documents that are back. They are if the record of deletions is damaged.
    pub revived: u64,
    /// Errors that were found, up to 20.
    pub damage: Vec<Error>,
}

/// Outcome of the salvage of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SegmentOutcome {
    /// Sound segment, copied as it is.
    Copied,
    /// Segment whose documents were added anew from their stored values.
    Rebuilt {
        /// Fields whose values are lost, because they are not stored.
        ///
        /// Fields of vectors and points are among them where some of these cannot be read.
        fields_lost: Vec<String>,
    },
    /// Segment of which no document can be read.
    Lost,
}

impl SalvagedSegment {
    fn is_copied(&self) -> bool {
        self.outcome == SegmentOutcome::Copied
    }
}

impl Salvage {
    /// Whether everything is in the new index.
    ///
    /// It is not known, and `false`, if there are [segments](Self::unnamed) that no commit names: nobody knows whether one
    /// did whose manifest is gone.
    pub fn nothing_lost(&self) -> bool {
        let is_whole = self.segments.iter().all(SalvagedSegment::is_copied);
        self.unreadable.is_empty() && self.unnamed.is_empty() && self.revived == 0 && is_whole
    }

    /// Whether the commit had documents, and the new index has none.
    pub fn nothing_saved(&self) -> bool {
        self.documents == 0 && self.segments.iter().any(|segment| segment.documents > 0)
    }
}

/// Salvages the index in `from` as a new one in `to`.
pub(crate) fn salvage(
    from: &dyn Storage,
    to: Arc<dyn Storage>,
    analyzers: Arc<Analyzers>,
    options: WriterOptions,
) -> Result<Salvage> {
    // Documents that were accepted once are accepted again, whatever the limits were.
    let options = options.with_limits(Limits::of_any_document());
    let (manifest, unreadable) = newest_readable(&Unmapped(from))?;
    let _pin = from.pin(&FileName::Manifest(manifest.generation).to_string())?;
    let schema = manifest.schema.clone();
    let published = Arc::default();
    let mut writer =
        IndexWriter::open(to, schema, analyzers, Existing::Refuse, published, options)?;
    // Documents that are added anew must be found with those whose segments are copied.
    writer.go_on_with_terms_of(manifest.term_versions);
    let unnamed = unnamed(&Unmapped(from))?;
    let mut salvage = Salvage {
        generation: manifest.generation,
        documents: 0,
        lost: 0,
        revived: 0,
        segments: vec![],
        unnamed_documents: n_docs_of(&Unmapped(from), &unnamed),
        unnamed,
        unreadable,
    };
    let mut first = 0;
    for segment in &manifest.segments {
        let salvaged = writer.salvage_segment(from, &manifest, segment, first)?;
        salvage.lost += match salvaged.outcome {
            SegmentOutcome::Lost => salvaged.documents,
            _ => n_in(&salvaged.lost).min(salvaged.documents),
        };
        salvage.segments.push(salvaged);
        first += u64::from(segment.n_docs);
    }
    writer.end_segment()?;
    let revived = salvage.segments.iter().any(|segment| segment.revived > 0);
    if let Some(key) = manifest.schema.key_id().filter(|_| revived) {
        let replaced = writer.delete_replaced(&manifest.schema, key)?;
        for segment in salvage.segments.iter_mut().filter(|segment| segment.is_copied()) {
            let replaced = replaced.get(&segment.id).copied().unwrap_or(0);
            segment.revived = segment.revived.saturating_sub(replaced);
        }
    }
    // Only now, as which of two documents is the later one is told by where they stand.
    writer.put_in_order(0..writer.staging.segments().len())?;
    writer.staging.sync()?;
    let committed = writer.committer.commit(Draft {
        schema: manifest.schema.clone(),
        segments: writer.staging.segments().to_vec(),
        payload: manifest.payload.clone(),
        // Terms that were made anew are those of this build, by the old version of the analyzers.
        term_versions: match salvage.segments.iter().any(SalvagedSegment::is_copied) {
            true => manifest.term_versions,
            false => {
                TermVersions { analysis: manifest.term_versions.analysis, ..TermVersions::CURRENT }
            }
        },
    })?;
    writer.staging.set_committed();
    salvage.documents = committed.n_docs();
    salvage.revived = salvage.segments.iter().map(|segment| segment.revived).sum();
    Ok(salvage)
}

fn n_in(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().map(|range| range.end - range.start).sum()
}

/// Notes that documents of a segment are lost, the first of which has this number.
fn lose(lost: &mut Vec<Range<u64>>, first: u64, docs: Range<u32>) {
    let numbers = first + u64::from(docs.start)..first + u64::from(docs.end);
    match lost.last_mut() {
        _ if docs.is_empty() => {}
        Some(last) if last.end == numbers.start => last.end = numbers.end,
        _ => lost.push(numbers),
    }
}

/// Passes on what does not lie in the file that is read.
fn only_lost(error: Error) -> Result<Error> {
    match error.kind() {
        ErrorKind::Io => Ok(error),
        _ => recover::only_damage(error),
    }
}

/// The newest manifest that can be read, and the commits after it.
fn newest_readable(storage: &dyn Storage) -> Result<(Manifest, Vec<DamagedCommit>)> {
    let Contents::Commits(generations) = contents(storage)? else {
        return match Snapshot::manifest(storage) {
            Ok(manifest) => Ok((manifest, vec![])),
            Err(error) => Err(error),
        };
    };
    let mut unreadable = vec![];
    for generation in generations.into_iter().rev() {
        if generation == 0 && !unreadable.is_empty() {
            // Creating made it: without documents, it is not what there is to be saved.
            continue;
        }
        match read_manifest(storage, generation) {
            Ok(manifest) => return Ok((manifest, unreadable)),
            Err(error) => {
                unreadable.push(DamagedCommit::without_manifest(generation, only_lost(error)?))
            }
        }
    }
    let newest = unreadable.into_iter().find_map(|commit| commit.damage.into_iter().next());
    Err(newest
        .unwrap_or_else(|| Error::corrupt("reading the manifests of an index"))
        .during("no manifest can be read, so nobody knows the fields of the documents")
        .hint("take a copy of the index, or index the input again in a new directory"))
}

/// Segment files that no manifest names that can be read.
fn unnamed(storage: &dyn Storage) -> Result<Vec<String>> {
    let mut named: HashSet<FileName> = HashSet::new();
    let names: Vec<_> = storage.list()?.into_iter().map(|entry| entry.name).collect();
    for name in &names {
        if let Some(FileName::Manifest(generation)) = FileName::parse(name)
            && let Ok(manifest) = read_manifest(storage, generation)
        {
            named.extend(manifest.segments.iter().flat_map(SegmentMeta::files));
        }
    }
    let is_unnamed = |name: &String| match FileName::parse(name) {
        Some(file @ FileName::Segment(_)) => !named.contains(&file),
        _ => false,
    };
    let mut unnamed: Vec<_> = names.into_iter().filter(is_unnamed).collect();
    unnamed.sort();
    Ok(unnamed)
}

/// Documents of segments that no manifest describes, if every byte of them is sound. One that cannot be read is no
/// reason to save nothing: a build that was interrupted may have left it.
fn n_docs_of(storage: &dyn Storage, segments: &[String]) -> Option<u64> {
    let n_docs_of = |name: &String| {
        let file = SegmentFile::open(storage.open(name).ok()?, None).ok()?;
        (file.verify(|_| {}) == 0).then(|| file.n_docs().ok()).flatten()
    };
    segments.iter().map(|name| n_docs_of(name).map(u64::from)).sum()
}

/// Deletes of a segment, if every byte of them is sound.
fn open_deletes(storage: &dyn Storage, segment: &SegmentMeta) -> Result<Option<Arc<DeletedDocs>>> {
    let deletes = Snapshot::open_deletes_of(storage, segment, None)?;
    let mut first = None;
    if let Some(deletes) = &deletes {
        deletes.verify(segment.n_docs, |error| {
            first.get_or_insert(error);
        });
    }
    first.map_or(Ok(deletes), Err)
}

impl IndexWriter {
    /// Copies a segment, or adds what can be read of it; its documents begin at `first`.
    ///
    /// # Errors
    ///
    /// Fails if the new index cannot be written, or if a file may not be read.
    fn salvage_segment(
        &mut self,
        from: &dyn Storage,
        manifest: &Manifest,
        segment: &SegmentMeta,
        first: u64,
    ) -> Result<SalvagedSegment> {
        let n_docs = u64::from(segment.n_docs);
        let mut salvaged = SalvagedSegment {
            id: segment.id.to_string(),
            documents: segment.n_live().into(),
            outcome: SegmentOutcome::Lost,
            lost: vec![],
            revived: 0,
            damage: vec![],
        };
        let unmapped = &Unmapped(from);
        let file = match Snapshot::open_segment_of(unmapped, manifest, segment) {
            Ok(file) => file,
            Err(error) => {
                salvaged.damage.push(only_lost(error)?);
                salvaged.lost.push(first..first + n_docs);
                return Ok(salvaged);
            }
        };
        let deletes = match open_deletes(unmapped, segment) {
            Ok(deletes) => deletes,
            Err(error) => {
                salvaged.damage.push(only_lost(error)?);
                salvaged.revived = n_docs - salvaged.documents;
                None
            }
        };
        let reader = Snapshot::reader_of(&file, manifest, segment);
        let damage = &mut salvaged.damage;
        let n_damaged = recover::verify_segment(from, (manifest, segment), &file, None, |error| {
            if damage.len() < recover::REPORTED_MAX {
                damage.push(error);
            }
        })?;
        if n_damaged == 0 {
            self.end_segment()?;
            let kept = deletes.as_ref().and(segment.deletes);
            self.copy_segment(from, &SegmentMeta { deletes: kept, ..*segment })?;
            salvaged.outcome = SegmentOutcome::Copied;
            return Ok(salvaged);
        }
        let reader = reader.without(deletes.as_ref());
        let mut without_apart = HashSet::new();
        let lost = (&mut salvaged.lost, &mut without_apart);
        let n_added = self.add_readable(reader, first, lost)?;
        salvaged.revived = salvaged.revived.min(n_added);
        if n_added > 0 {
            let own = manifest.schema.fields().iter().take(reader.n_own_fields());
            // A copy is made anew with its source.
            let source = |field: &Field| manifest.schema.field(field.copy_of.as_deref()?);
            let is_lost = |field: &&Field| match field.kind.has_terms() {
                true => !source(field).unwrap_or(field).stored,
                // They can be read whether they are stored or not.
                false => without_apart.contains(&field.name),
            };
            let fields_lost = own.filter(is_lost).map(|field| field.name.clone()).collect();
            salvaged.outcome = SegmentOutcome::Rebuilt { fields_lost };
        }
        Ok(salvaged)
    }

    /// Adds all documents whose stored values can be read; how many. Appends the others to `lost`, and names the fields of
    /// which a vector or a point cannot be read.
    fn add_readable(
        &mut self,
        reader: SegmentReader<'_>,
        first: u64,
        (lost, without_apart): (&mut Vec<Range<u64>>, &mut HashSet<String>),
    ) -> Result<u64> {
        let mut n_added = 0;
        // Nobody tries one by one what a manifest alone says that there is.
        let n_rows = match reader.n_rows_max() {
            Ok(n_rows) => n_rows,
            Err(error) => only_lost(error).map(|_| 0)?,
        };
        for doc in 0..n_rows {
            if reader.is_deleted(doc)? {
                continue;
            }
            if self.add_stored(reader, doc, without_apart)? {
                n_added += 1;
                continue;
            }
            lose(lost, first, doc..doc + 1);
        }
        let mut rest = n_rows..reader.n_docs();
        if let Some(deleted) = reader.deleted() {
            // Deletes of more documents than the manifest says are no reason to stop.
            deleted.for_each(u32::MAX, |doc| {
                if rest.contains(&doc) {
                    lose(lost, first, rest.start..doc);
                    rest.start = doc + 1;
                }
            })?;
        }
        lose(lost, first, rest);
        Ok(n_added)
    }

    /// Adds a document anew, if its stored values can be read; without vectors and points that cannot.
    fn add_stored(
        &mut self,
        reader: SegmentReader<'_>,
        doc: u32,
        without_apart: &mut HashSet<String>,
    ) -> Result<bool> {
        let values = match reader.stored(doc) {
            Ok(values) => values,
            Err(error) => return only_lost(error).map(|_| false),
        };
        let mut document = Document::new();
        for (field, value) in values {
            document.push(&*reader.schema().get(field).name, value);
        }
        for field in reader.fields_apart() {
            let name = &reader.schema().get(field).name;
            match reader.values_apart(doc, field) {
                Ok(values) => values.into_iter().for_each(|value| document.push(name, value)),
                Err(error) => {
                    only_lost(error)?;
                    without_apart.insert(name.clone());
                }
            }
        }
        // In one segment: staging and merging before all are there could take a key's older document for the later one.
        match self.add_to_segment(document) {
            // A row that is read and is no document was never written so.
            Err(error) if error.kind() == ErrorKind::Document => Ok(false),
            added => added.map(|_| true),
        }
    }

    /// Deletes every document that has the key of a later one; how many, by segment.
    fn delete_replaced(&mut self, schema: &Schema, key: FieldId) -> Result<HashMap<String, u64>> {
        let storage = Arc::clone(self.committer.storage());
        let open = |segment| open_segment(&*storage, schema, segment);
        let segments = self.staging.segments().to_vec();
        let files = segments.iter().map(open).collect::<Result<Vec<_>>>()?;
        let readers = files.iter().zip(&segments);
        let readers: Vec<_> = readers
            .map(|(file, segment)| SegmentReader::new(file, schema, segment.n_docs))
            .collect();
        let mut sets: Vec<_> = readers.iter().map(|_| DeletedSet::default()).collect();
        for (nth, reader) in readers.iter().enumerate() {
            let (older, own) = sets.split_at_mut(nth);
            let mut older: Vec<_> = readers.iter().copied().zip(older).collect();
            if let Some(own) = own.first_mut() {
                find_replaced(*reader, key, own, &mut older)?;
            }
        }
        let mut replaced = HashMap::new();
        let mut nothing_left_of = vec![false; segments.len()];
        for (at, (segment, set)) in segments.iter().zip(&mut sets).enumerate() {
            if set.len() == 0 {
                continue;
            }
            let mut before = 0;
            if let Some(deleted) = Snapshot::open_deletes_of(&*storage, segment, None)? {
                deleted.add_to(set)?;
                before = deleted.n_docs().into();
            }
            replaced.insert(segment.id.to_string(), set.len().saturating_sub(before));
            nothing_left_of[at] = set.len() >= u64::from(segment.n_docs);
            if set.len() > before && !nothing_left_of[at] {
                let number = self.ids.next_number();
                let (deletes, file) = deletes::write(&*storage, segment.id, number, set)?;
                self.staging.set_deletes(at, deletes, file);
            }
        }
        self.staging.remove(&nothing_left_of);
        Ok(replaced)
    }

    /// Ends the segment that documents were added to, if there were any, without committing it.
    fn end_segment(&mut self) -> Result<()> {
        self.submit_pending()?;
        if let Some(pipeline) = self.pipeline.take() {
            let on_progress = &mut self.on_progress;
            let built = pipeline.finish(|progress| report_progress(on_progress, progress));
            let built = self.keep_failure(built)?;
            self.staging.add(built);
        }
        Ok(())
    }

    fn copy_segment(&mut self, from: &dyn Storage, segment: &SegmentMeta) -> Result<()> {
        for name in segment.files().map(|name| name.to_string()) {
            let source = from.open_unmapped(&name)?;
            let mut target = self.committer.storage().create(&name)?;
            storage::copy(&*source, &mut *target)?;
        }
        self.staging.add_durable(*segment);
        Ok(())
    }
}
