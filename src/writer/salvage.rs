//! Rebuilding what can be read of a damaged index as a new one.
//!
//! The newest commit whose manifest can be read says what there was. Its segments that are sound are copied as they
//! are. Of the others every document whose stored values can be read is added anew, in its old order. What nobody stored
//! is lost with them, and said to be. The new index is made by one commit, so it is there as a whole or not at all.

use crate::analysis::Analyzers;
use crate::document::Document;
use crate::error::{Error, ErrorKind, Result};
use crate::format::FileName;
use crate::format::manifest::{Manifest, SegmentMeta};
use crate::segment::deletes::DeletedDocs;
use crate::segment::file::SegmentFile;
use crate::segment::reader::SegmentReader;
use crate::segment::snapshot::{Contents, Snapshot, contents, read_manifest};
use crate::segment::verify;
use crate::storage::Storage;
use crate::writer::commit::Draft;
use crate::writer::recover::{DamagedCommit, only_damage};
use crate::writer::{Existing, IndexWriter, WriterOptions, report};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// Damage of one segment that is told one by one.
const REPORTED_MAX: usize = 20;
/// Bytes that are copied at a time.
const PIECE: usize = 1 << 20;

/// What [`Index::salvage`](crate::Index::salvage) saved, and what is lost.
#[derive(Debug)]
#[non_exhaustive]
pub struct Salvage {
    /// The commit that was salvaged: the newest one whose manifest can be read.
    pub generation: u64,
    /// Documents of the new index.
    pub documents: u64,
    /// Documents that are lost, of those that the commit had.
    pub lost: u64,
    /// What became of each segment of the commit.
    pub segments: Vec<SalvagedSegment>,
    /// Newer commits, whose manifests cannot be read. What they added or deleted is not known.
    pub unreadable: Vec<DamagedCommit>,
    /// Segments that no readable commit names, where there is a newer one that is not readable: they may have
    /// documents that only it had, or the same as others have.
    pub unnamed: Vec<String>,
}

/// One segment of a salvaged commit.
#[derive(Debug)]
#[non_exhaustive]
pub struct SalvagedSegment {
    /// Its id, in hexadecimal.
    pub id: String,
    /// Its documents that were not deleted.
    pub documents: u64,
    /// What could be done.
    pub outcome: SegmentOutcome,
    /// Documents that are lost, by their numbers in the damaged commit.
    pub lost: Vec<Range<u64>>,
    /// What is wrong, up to 20 of it.
    pub damage: Vec<Error>,
}

/// What became of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SegmentOutcome {
    /// It is sound and was copied.
    Copied,
    /// Its documents were added anew from their stored values.
    Rebuilt {
        /// Fields whose values are lost, because they are not stored.
        fields_lost: Vec<String>,
    },
    /// It is sound and was copied, but for what says which of its documents are deleted: these are back.
    Undeleted,
    /// Nothing of it can be read.
    Lost,
}

impl Salvage {
    /// Whether everything that the newest commit had is in the new index.
    pub fn nothing_lost(&self) -> bool {
        let copied = |segment: &SalvagedSegment| segment.outcome == SegmentOutcome::Copied;
        self.unreadable.is_empty() && self.segments.iter().all(copied)
    }
}

/// Salvages the index in `from` as a new one in `to`.
pub(crate) fn salvage(
    from: &dyn Storage,
    to: Arc<dyn Storage>,
    analyzers: Arc<Analyzers>,
    options: WriterOptions,
) -> Result<Salvage> {
    let (manifest, unreadable) = newest_readable(from)?;
    let _pin = from.pin(&FileName::Manifest(manifest.generation).to_string())?;
    let schema = Some(manifest.schema.clone());
    let published = Arc::default();
    let mut writer =
        IndexWriter::open(to, schema, analyzers, Existing::Refuse, published, options)?;
    let mut salvage = Salvage {
        generation: manifest.generation,
        documents: 0,
        lost: 0,
        segments: vec![],
        unnamed: if unreadable.is_empty() { vec![] } else { unnamed(from)? },
        unreadable,
    };
    let mut first = 0;
    for segment in &manifest.segments {
        let salvaged = writer.salvage_segment(from, &manifest, segment, first)?;
        salvage.lost += match salvaged.outcome {
            SegmentOutcome::Lost => salvaged.documents,
            _ => salvaged.lost.iter().map(|range| range.end - range.start).sum::<u64>(),
        };
        salvage.segments.push(salvaged);
        first += u64::from(segment.n_docs);
    }
    writer.end_segment()?;
    writer.staging.sync()?;
    let committed = writer.committer.commit(Draft {
        schema: manifest.schema.clone(),
        segments: writer.staging.segments().to_vec(),
        payload: manifest.payload.clone(),
        term_versions: manifest.term_versions,
    })?;
    writer.staging.set_committed();
    salvage.documents = committed.n_docs();
    Ok(salvage)
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
        match read_manifest(storage, generation) {
            Ok(manifest) => return Ok((manifest, unreadable)),
            Err(error) => unreadable.push(DamagedCommit::unreadable(generation, error)?),
        }
    }
    let newest = unreadable.into_iter().find_map(|commit| commit.damage.into_iter().next());
    Err(newest
        .unwrap_or_else(|| Error::corrupt("reading the manifests of an index"))
        .during("no manifest can be read, so nobody knows the fields of the documents"))
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

/// What is deleted of a segment, if every byte that says so is sound.
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
            damage: vec![],
        };
        let file = match Snapshot::open_segment_of(from, manifest, segment) {
            Ok(file) => file,
            Err(error) => {
                salvaged.damage.push(only_damage(error)?);
                salvaged.lost.push(first..first + n_docs);
                return Ok(salvaged);
            }
        };
        let deletes = match open_deletes(from, segment) {
            Ok(deletes) => deletes,
            Err(error) => {
                salvaged.damage.push(only_damage(error)?);
                None
            }
        };
        let are_back = segment.deletes.is_some() && deletes.is_none();
        let reader = Snapshot::reader_of(&file, manifest, segment);
        let damage = &mut salvaged.damage;
        let n_damaged = verify::verify(reader, |error| {
            if damage.len() < REPORTED_MAX {
                damage.push(error);
            }
        });
        if n_damaged == 0 {
            self.end_segment()?;
            let kept = deletes.as_ref().and(segment.deletes);
            self.copy_segment(from, &SegmentMeta { deletes: kept, ..*segment })?;
            salvaged.outcome =
                if are_back { SegmentOutcome::Undeleted } else { SegmentOutcome::Copied };
            return Ok(salvaged);
        }
        let reader = reader.without(deletes.as_ref());
        salvaged.lost = self.add_readable(&file, reader, first)?;
        let lost: u64 = salvaged.lost.iter().map(|range| range.end - range.start).sum();
        if lost < n_docs {
            let unstored = manifest.schema.fields().iter().filter(|field| !field.stored);
            let fields_lost = unstored.map(|field| field.name.clone()).collect();
            salvaged.outcome = SegmentOutcome::Rebuilt { fields_lost };
        }
        Ok(salvaged)
    }

    /// Adds all documents whose stored values can be read; the others.
    fn add_readable(
        &mut self,
        file: &SegmentFile,
        reader: SegmentReader<'_>,
        first: u64,
    ) -> Result<Vec<Range<u64>>> {
        let mut lost: Vec<Range<u64>> = vec![];
        for doc in 0..reader.n_docs() {
            if reader.is_deleted(doc)? {
                continue;
            }
            let added = reader.stored(doc).and_then(|values| {
                let mut document = Document::new();
                for (field, value) in values {
                    document.push(&*reader.schema().get(field).name, value);
                }
                self.add(document)
            });
            let number = first + u64::from(doc);
            match (added, lost.last_mut()) {
                (Ok(()), _) => {}
                // A row that is read and cannot be added was never written so.
                (Err(error), _)
                    if !matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Document) =>
                {
                    return Err(error.in_file(file.path()));
                }
                (Err(_), Some(range)) if range.end == number => range.end += 1,
                (Err(_), _) => lost.push(number..number + 1),
            }
        }
        Ok(lost)
    }

    /// Ends the segment that documents were added to, if there were any, without committing it.
    fn end_segment(&mut self) -> Result<()> {
        self.submit_pending()?;
        if let Some(pipeline) = self.pipeline.take() {
            let on_progress = &mut self.on_progress;
            let built = pipeline.finish(|progress| report(on_progress, progress));
            let built = self.keep_failure(built)?;
            self.staging.add(built);
        }
        Ok(())
    }

    fn copy_segment(&mut self, from: &dyn Storage, segment: &SegmentMeta) -> Result<()> {
        for name in segment.files().map(|name| name.to_string()) {
            let source = from.open_unmapped(&name)?;
            let mut target = self.committer.storage().create(&name)?;
            let mut piece = vec![0; PIECE];
            for at in (0..source.len()).step_by(PIECE) {
                let len = (source.len() - at).min(PIECE as u64) as usize;
                source.read_at(at, &mut piece[..len])?;
                target.write_all(&piece[..len])?;
            }
            target.sync()?;
        }
        self.staging.add_durable(*segment);
        Ok(())
    }
}
