//! Whole indexes into others: copies, and documents of one index added to another.

use crate::error::{Error, ErrorKind, Result};
use crate::format::FileName;
use crate::format::manifest::SegmentMeta;
use crate::ids::SegmentId;
use crate::index::Index;
use crate::searcher::Searcher;
use crate::segment::snapshot::{Snapshot, read_manifest_bytes};
use crate::storage::{FsStorage, ReadMode, Storage, copy};
use crate::writer::IndexWriter;
use crate::writer::create::{Making, refuse_contents, refuse_existing};
use std::path::PathBuf;
use std::sync::Arc;

impl Index {
    /// Copies the newest commit to the directory `to`, as an index; returns its generation. On the same file system the
    /// files are the same by another name, so it takes no time and no room: something to go back to, or to try things
    /// on. A backup against a failing disk it is on another file system only. Writers and searchers go on meanwhile.
    /// `Ok` means that it survives a power failure.
    ///
    /// ```
    /// use treepie::{Document, Index, Schema};
    /// # let dir = std::env::temp_dir().join(format!("treepie-doc-copy-{}", std::process::id()));
    /// # let _ = std::fs::remove_dir_all(&dir);
    /// # std::fs::create_dir(&dir)?;
    ///
    /// let index = Index::create(dir.join("a"), Schema::builder().text("title").build()?)?;
    /// let mut writer = index.writer()?;
    /// writer.add(Document::new().with("title", "Paris"))?;
    /// writer.commit()?;
    /// index.copy_to(dir.join("b"))?;
    /// writer.add(Document::new().with("title", "London"))?;
    /// writer.commit()?;
    /// assert_eq!(index.searcher()?.n_docs(), 2);
    /// assert_eq!(Index::open(dir.join("b"))?.searcher()?.n_docs(), 1);
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::AlreadyExists`] and [`ErrorKind::NotAnIndex`] if there is something in `to`; as [`open`](Self::open). An
    /// error leaves no index in `to`, and a second attempt clears the files away.
    pub fn copy_to(&self, to: impl Into<PathBuf>) -> Result<u64> {
        let to = to.into();
        refuse_existing(&to, Making::Copy)?;
        self.copy_into(
            || Ok(Arc::new(FsStorage::create(&to, ReadMode::default())?)),
            |from, _, name| from.put_into(name, &to),
        )
    }

    /// Copies the index as [`copy_to`](Self::copy_to), to any storage. Every byte is copied.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use treepie::storage::MemoryStorage;
    /// use treepie::{Document, Index, Schema};
    ///
    /// let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// let mut writer = index.writer()?;
    /// writer.add(Document::new().with("title", "Paris"))?;
    /// writer.commit()?;
    /// let copy = Arc::new(MemoryStorage::new());
    /// index.copy_to_storage(copy.clone())?;
    /// writer.merge()?;
    /// assert_eq!(Index::options().open_storage(copy)?.searcher()?.n_docs(), 1);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails like [`copy_to`](Self::copy_to).
    pub fn copy_to_storage(&self, to: Arc<dyn Storage>) -> Result<u64> {
        refuse_contents(&*to, Making::Copy)?;
        self.copy_into(
            || Ok(to),
            |from, to, name| copy(&*from.open_unmapped(name)?, &mut *to.create(name)?),
        )
    }

    /// Copies the newest commit to a storage that is `opened` once there is something to copy, and its files one by one by
    /// `put`, so that they are durable.
    fn copy_into(
        &self,
        opened: impl FnOnce() -> Result<Arc<dyn Storage>>,
        put: impl Fn(&dyn Storage, &dyn Storage, &str) -> Result<()>,
    ) -> Result<u64> {
        let storage = self.storage()?;
        // Keeps its files from being collected.
        let snapshot = Snapshot::open(&*storage)?;
        let generation = snapshot.manifest.generation;
        let target = opened()?;
        let lock = target.lock_writer()?;
        // Nobody else can make one from now on.
        refuse_contents(&*target, Making::Copy)?;
        for entry in target.list()?.into_iter().filter(|entry| entry.is_file) {
            if !matches!(FileName::parse(&entry.name), None | Some(FileName::WriteLock)) {
                target.delete(&entry.name)?;
            }
        }
        for name in snapshot.manifest.segments.iter().flat_map(SegmentMeta::files) {
            put(&*storage, &*target, &name.to_string())?;
        }
        target.sync_names()?;
        // The manifest comes last and at once, as in a commit: without it there is nothing.
        let name = FileName::Manifest(generation).to_string();
        // The manifest as it is, with what a later version may have said in it.
        let manifest = read_manifest_bytes(&*storage, generation)?;
        let temporary = FileName::Temporary(SegmentId::random()).to_string();
        let mut file = target.create(&temporary)?;
        file.write_all(&manifest)?;
        file.sync()?;
        lock.check()?;
        target.publish(&temporary, &name)?;
        target.sync_names()?;
        Ok(generation)
    }
}

impl IndexWriter {
    /// Adds every document of another index, and returns their number.
    ///
    /// Parts that are not stored come along, too. Its segments are merged as they are: nothing is tokenized. If the
    /// schema has a key they take the place of those that have the same, as [added](Self::add) documents do.
    ///
    /// ```
    /// use treepie::{Document, Index, Schema};
    ///
    /// let schema = Schema::builder().text("title").build()?;
    /// let [one, two] = [(); 2].map(|()| Index::in_memory(schema.clone()));
    /// for (index, title) in [(&one, "Paris"), (&two, "London")] {
    ///     let mut writer = index.writer()?;
    ///     writer.add(Document::new().with("title", title))?;
    ///     writer.commit()?;
    /// }
    /// let mut writer = one.writer()?;
    /// assert_eq!(writer.add_index(&two.searcher()?)?, 1);
    /// assert_eq!(writer.commit()?.documents, 2);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Usage`] if it is this index, [`ErrorKind::Schema`] where its schema is another, [`ErrorKind::UnsupportedVersion`] where another version of the analyzers made
    /// its terms; the writer goes on. It fails like [`add`](Self::add).
    pub fn add_index(&mut self, other: &Searcher) -> Result<u64> {
        let what = "adding the documents of another index";
        let snapshot = other.snapshot();
        if self.is_of(snapshot.manifest.index_id, other.storage()) {
            return Err(Error::new(ErrorKind::Usage, what)
                .expected("another index")
                .found("the same, of which every document would be there twice")
                .in_file(other.storage().location()));
        }
        if snapshot.manifest.schema != *self.schema() {
            return Err(Error::new(ErrorKind::Schema, what)
                .expected("an index of the same schema")
                .found(self.schema().difference(&snapshot.manifest.schema))
                .hint("export its documents and index them again"));
        }
        if snapshot.manifest.term_versions != self.term_versions() {
            return Err(Error::new(ErrorKind::UnsupportedVersion, what)
                .expected("terms made by the same version of the analyzers")
                .found("those of another")
                .hint("export its documents and index them again"));
        }
        let readers: Vec<_> = snapshot.readers().collect();
        self.add_segments(&readers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checksum::crc32c;
    use crate::document::Document;
    use crate::schema::Schema;
    use crate::segment::snapshot::read_manifest;
    use crate::storage::TestDirectory;

    #[test]
    fn what_forbids_writing_forbids_it_in_a_copy() {
        let place = TestDirectory::new();
        let [from, to] = ["from", "to"].map(|name| place.path().join(name));
        std::fs::create_dir_all(place.path()).unwrap();
        let index = Index::create(&from, Schema::builder().text("title").build().unwrap()).unwrap();
        let mut writer = index.writer().unwrap();
        writer.add(Document::new().with("title", "Paris")).unwrap();
        writer.commit().unwrap();
        drop(writer);
        // A feature that this build does not know, and that allows reading alone.
        let manifest = from.join(FileName::Manifest(1).to_string());
        let mut bytes = std::fs::read(&manifest).unwrap();
        bytes[23] = 0x80;
        let crc = crc32c(&bytes[..60]).to_le_bytes();
        bytes[60..64].copy_from_slice(&crc);
        let end = bytes.len() - 4;
        let crc = crc32c(&bytes[..end]).to_le_bytes();
        bytes[end..].copy_from_slice(&crc);
        std::fs::write(&manifest, bytes).unwrap();

        index.copy_to(&to).unwrap();
        let copy = FsStorage::open(&to, ReadMode::Pread).unwrap();
        assert!(!read_manifest(&copy, 1).unwrap().writable);
        assert_eq!(Index::open(&to).unwrap().searcher().unwrap().n_docs(), 1);
    }
}
