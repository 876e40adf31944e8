//! Files in memory: for tests and examples, and for an index embedded in a program.

use super::{Entry, HeldLock, Pin, Storage, StorageRead, StorageWrite, WriterLock};
use super::{check_name, locked};
use crate::error::{Error, ErrorKind, Result};
use std::{
    collections::{BTreeMap, HashMap},
    ops::Range,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A storage that lives as long as its last clone. Clones share their files.
///
/// Writing costs memory as it goes; opening and reading copy nothing.
#[derive(Clone, Debug, Default)]
pub struct MemoryStorage {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<String, Content>,
    pins: HashMap<String, usize>,
    writer: bool,
}

/// An image of an index in memory, borrowed for ever or shared.
#[derive(Clone, Debug)]
pub enum ImageBytes {
    /// Bytes that live as long as the program, as from `include_bytes!`.
    Static(&'static [u8]),
    /// Bytes that live as long as somebody uses them.
    Shared(Arc<[u8]>),
}

impl ImageBytes {
    /// The whole image.
    pub fn as_slice(&self) -> &[u8] {
        match self {
            ImageBytes::Static(bytes) => bytes,
            ImageBytes::Shared(bytes) => bytes,
        }
    }
}

impl From<&'static [u8]> for ImageBytes {
    fn from(bytes: &'static [u8]) -> Self {
        ImageBytes::Static(bytes)
    }
}

impl<const N: usize> From<&'static [u8; N]> for ImageBytes {
    fn from(bytes: &'static [u8; N]) -> Self {
        ImageBytes::Static(bytes)
    }
}

impl From<Arc<[u8]>> for ImageBytes {
    fn from(bytes: Arc<[u8]>) -> Self {
        ImageBytes::Shared(bytes)
    }
}

impl From<Vec<u8>> for ImageBytes {
    fn from(bytes: Vec<u8>) -> Self {
        ImageBytes::Shared(bytes.into())
    }
}

#[derive(Clone, Debug)]
enum Content {
    /// Being written, or written here. A writer copies it only while somebody has it open.
    Written(Arc<Vec<u8>>),
    /// A part of an image.
    Part(ImageBytes, Range<usize>),
}

impl Content {
    fn as_slice(&self) -> &[u8] {
        match self {
            Content::Written(bytes) => bytes,
            // The range was compared with the image when the file was put there.
            Content::Part(image, range) => &image.as_slice()[range.clone()],
        }
    }
}

impl MemoryStorage {
    /// Location of each of them.
    pub(crate) const LOCATION: &str = "(memory)";

    /// A storage without files.
    pub fn new() -> Self {
        Self::default()
    }

    /// A storage whose files are parts of `image`, not copied.
    ///
    /// Each is a name and a range of bytes.
    ///
    /// # Errors
    ///
    /// A range that leaves the image is an error of kind `Corrupt`.
    pub fn from_parts(
        image: impl Into<ImageBytes>,
        parts: impl IntoIterator<Item = (String, Range<usize>)>,
    ) -> Result<Self> {
        let (image, storage) = (image.into(), Self::new());
        for (name, range) in parts {
            check_name(&name)?;
            if image.as_slice().get(range.clone()).is_none() {
                return Err(Error::corrupt(format!("finding the file {name} in an image"))
                    .expected(format!("a range inside {} bytes", image.as_slice().len()))
                    .found(format!("{range:?}")));
            }
            storage.state().files.insert(name, Content::Part(image.clone(), range));
        }
        Ok(storage)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No call below can panic between two changes that belong together.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn not_found(doing: &str, name: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("{doing} a file in memory: no such file")).in_file(name)
}

fn already_exists(doing: &str, name: &str) -> Error {
    Error::new(ErrorKind::AlreadyExists, format!("{doing} a file in memory: it exists already"))
        .in_file(name)
}

impl Storage for MemoryStorage {
    fn create(&self, name: &str) -> Result<Box<dyn StorageWrite>> {
        let mut state = self.state();
        if state.files.contains_key(check_name(name)?) {
            return Err(already_exists("creating", name));
        }
        state.files.insert(name.to_owned(), Content::Written(Arc::default()));
        Ok(Box::new(MemoryWrite { storage: self.clone(), name: name.to_owned() }))
    }

    fn open(&self, name: &str) -> Result<Arc<dyn StorageRead>> {
        let content = self.state().files.get(check_name(name)?).cloned();
        let content = content.ok_or_else(|| not_found("opening", name))?;
        Ok(Arc::new(MemoryRead { content, name: name.to_owned() }))
    }

    fn list(&self) -> Result<Vec<Entry>> {
        Ok(self.state().files.keys().map(|name| Entry::new(name, true)).collect())
    }

    fn delete(&self, name: &str) -> Result<()> {
        let removed = self.state().files.remove(check_name(name)?);
        removed.map(|_| ()).ok_or_else(|| not_found("deleting", name))
    }

    fn publish(&self, from: &str, to: &str) -> Result<()> {
        let mut state = self.state();
        if state.files.contains_key(check_name(to)?) {
            return Err(already_exists("publishing", to));
        }
        let content = state.files.remove(check_name(from)?);
        let content = content.ok_or_else(|| not_found("publishing", from))?;
        state.files.insert(to.to_owned(), content);
        Ok(())
    }

    fn sync_names(&self) -> Result<()> {
        Ok(())
    }

    fn lock_writer(&self) -> Result<WriterLock> {
        if std::mem::replace(&mut self.state().writer, true) {
            return Err(locked(self.location(), None));
        }
        Ok(WriterLock::new(MemoryLock(self.clone())))
    }

    fn pin(&self, name: &str) -> Result<Pin> {
        let mut state = self.state();
        if !state.files.contains_key(check_name(name)?) {
            return Err(not_found("pinning", name));
        }
        *state.pins.entry(name.to_owned()).or_default() += 1;
        Ok(Pin::new(MemoryPin { storage: self.clone(), name: name.to_owned() }))
    }

    fn delete_unless_pinned(&self, name: &str) -> Result<bool> {
        let mut state = self.state();
        if state.pins.contains_key(check_name(name)?) {
            return Ok(false);
        }
        state.files.remove(name).map(|_| true).ok_or_else(|| not_found("deleting", name))
    }

    fn location(&self) -> PathBuf {
        PathBuf::from(Self::LOCATION)
    }
}

#[derive(Debug)]
struct MemoryLock(MemoryStorage);

impl HeldLock for MemoryLock {
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

impl Drop for MemoryLock {
    fn drop(&mut self) {
        self.0.state().writer = false;
    }
}

struct MemoryPin {
    storage: MemoryStorage,
    name: String,
}

impl Drop for MemoryPin {
    fn drop(&mut self) {
        let mut state = self.storage.state();
        if let Some(pins) = state.pins.get_mut(&self.name) {
            *pins -= 1;
            if *pins == 0 {
                state.pins.remove(&self.name);
            }
        }
    }
}

#[derive(Debug)]
struct MemoryWrite {
    storage: MemoryStorage,
    name: String,
}

impl StorageWrite for MemoryWrite {
    fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        match self.storage.state().files.get_mut(&self.name) {
            Some(Content::Written(content)) => {
                Arc::make_mut(content).extend_from_slice(bytes);
                Ok(())
            }
            _ => Err(not_found("writing to", &self.name)),
        }
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        Ok(())
    }
}

#[derive(Debug)]
struct MemoryRead {
    content: Content,
    name: String,
}

impl StorageRead for MemoryRead {
    fn len(&self) -> u64 {
        self.content.as_slice().len() as u64
    }

    fn mapped(&self) -> Option<&[u8]> {
        Some(self.content.as_slice())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let bytes = self.content.as_slice();
        let start = usize::try_from(offset).ok();
        let found = start.and_then(|start| bytes.get(start..start.checked_add(buffer.len())?));
        let Some(found) = found else {
            return Err(super::ends_early(self, offset, buffer.len()));
        };
        buffer.copy_from_slice(found);
        Ok(())
    }

    fn path(&self) -> PathBuf {
        PathBuf::from(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_obeys_the_contract() {
        crate::storage::tests::obeys_the_contract(&MemoryStorage::new());
    }

    #[test]
    fn parts_of_an_image_are_files_that_are_not_copied() {
        static IMAGE: &[u8] = b"onetwo";
        let parts = [("a".to_owned(), 0..3), ("b".to_owned(), 3..6)];
        let storage = MemoryStorage::from_parts(IMAGE, parts).unwrap();
        let file = storage.open("b").unwrap();
        assert!(std::ptr::eq(file.mapped().unwrap(), &IMAGE[3..6]));
        let outside = MemoryStorage::from_parts(IMAGE, [("a".to_owned(), 3..7)]);
        assert_eq!(outside.unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
