//! Deletions that wait for the next commit, and the documents that they match.
//!
//! A deletion is about the documents that were there when it was asked for: all of the segments before, and of the
//! segment that is being written those that were added earlier. So it is kept with their number until the segment can be
//! read, and carried out with the commit. Values are looked up sorted, so that many of them are found in one
//! pass over each dictionary.

use crate::bitmap::{Container, WINDOW};
use crate::error::Result;
use crate::format::deletes::DeletedSet;
use crate::ids::FieldId;
use crate::segment::reader::SegmentReader;
use std::fmt;

/// Adds the documents of a segment that are to go.
pub(crate) type Matching =
    Box<dyn Fn(SegmentReader<'_>, &mut DeleteCollector<'_>) -> Result<()> + Send + Sync>;

/// Deletions that wait for the next commit.
#[derive(Default)]
pub(super) struct Deletions {
    matching: Vec<(u32, Matching)>,
    /// The bytes of all values, one after the other.
    values: Vec<u8>,
    of_values: Vec<OfValue>,
}

/// Documents with a value in a field.
#[derive(Clone, Copy, Debug)]
struct OfValue {
    field: FieldId,
    start: u32,
    len: u32,
    /// Documents of the segment being written that were there.
    before: u32,
}

/// The documents of a segment that go, as far as they were there when it was asked for.
#[derive(Debug)]
pub(crate) struct DeleteCollector<'a> {
    set: &'a mut DeletedSet,
    /// Only documents below.
    before: u32,
}

impl DeleteCollector<'_> {
    /// Adds a document.
    pub(crate) fn add(&mut self, doc: u32) {
        if doc < self.before {
            self.set.add(doc);
        }
    }

    /// Adds the documents of a window, given their upper half.
    pub(crate) fn add_window(&mut self, key: u32, documents: Container<'_>) {
        match (u16::try_from(key), key.checked_add(1).and_then(|next| next.checked_mul(WINDOW))) {
            (Ok(key), Some(end)) if end <= self.before => self.set.add_window(key, documents),
            _ => documents.iter().for_each(|low| self.add(key << 16 | u32::from(low))),
        }
    }
}

impl Deletions {
    pub(super) fn is_empty(&self) -> bool {
        self.matching.is_empty() && self.of_values.is_empty()
    }

    /// Heap that is held.
    pub(super) fn bytes(&self) -> usize {
        self.matching.capacity() * size_of::<(u32, Matching)>()
            + self.matching.len() * MATCHING_BYTES
            + self.values.capacity()
            + self.of_values.capacity() * size_of::<OfValue>()
    }

    /// Deletes what a function finds, of the first `before` documents of the segment that is being written.
    pub(super) fn add_matching(&mut self, matching: Matching, before: u32) {
        self.matching.push((before, matching));
    }

    /// Deletes the documents with a value in a keyword field.
    pub(super) fn add_value(&mut self, field: FieldId, value: &[u8], before: u32) {
        let (start, len) = (self.values.len() as u32, value.len() as u32);
        self.values.extend_from_slice(value);
        self.of_values.push(OfValue { field, start, len, before });
    }

    /// Adds to `set` the documents of a segment that go; of one that was being written meanwhile, `is_new`, only
    /// those that were there when it was asked for.
    pub(super) fn find(
        &mut self,
        segment: SegmentReader<'_>,
        is_new: bool,
        set: &mut DeletedSet,
    ) -> Result<()> {
        let all = segment.n_docs();
        for (before, matching) in &self.matching {
            let before = if is_new { *before } else { all };
            matching(segment, &mut DeleteCollector { set, before })?;
        }
        let Deletions { values, of_values, .. } = self;
        let bytes = |of: &OfValue| &values[of.start as usize..(of.start + of.len) as usize];
        // The last of those that ask for the same reaches furthest.
        of_values.sort_by(|a, b| (a.field, bytes(a), b.before).cmp(&(b.field, bytes(b), a.before)));
        for of_field in of_values.chunk_by(|a, b| a.field == b.field) {
            let field = segment.field(of_field[0].field);
            let mut groups = of_field.chunk_by(|a, b| bytes(a) == bytes(b));
            let asked = of_field.chunk_by(|a, b| bytes(a) == bytes(b)).map(|same| bytes(&same[0]));
            let mut docs = vec![];
            field.terms()?.get_all(asked, |info| {
                let Some(same) = groups.next() else { return Ok(()) };
                let Some(info) = info else { return Ok(()) };
                let before = if is_new { same[0].before } else { all };
                docs.clear();
                field.postings(&info)?.decode_into(all, &mut docs)?;
                docs.iter().filter(|doc| **doc < before).for_each(|doc| set.add(*doc));
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// Terms of a dictionary that are looked up in others at once.
const KEYS_AT_ONCE: usize = 4_096;

/// Adds what the documents of the newest segment replace, because they have the same key: all in the segments before,
/// of which the sets are given, and in itself all but the last. One pass over the keys of the new segment.
pub(super) fn find_replaced(
    new: SegmentReader<'_>,
    key: FieldId,
    own: &mut DeletedSet,
    older: &mut [(SegmentReader<'_>, &mut DeletedSet)],
) -> Result<()> {
    let field = new.field(key);
    let mut stream = field.terms()?.iter();
    let (mut keys, mut ends, mut docs) = (vec![], vec![], vec![]);
    loop {
        keys.clear();
        ends.clear();
        while ends.len() < KEYS_AT_ONCE
            && let Some((term, _, info)) = stream.next()?
        {
            keys.extend_from_slice(term);
            ends.push(keys.len());
            if info.df > 1 {
                docs.clear();
                field.postings(&info)?.decode_into(new.n_docs(), &mut docs)?;
                docs.pop();
                docs.iter().for_each(|doc| own.add(*doc));
            }
        }
        if ends.is_empty() {
            return Ok(());
        }
        for (segment, set) in older.iter_mut() {
            let field = segment.field(key);
            let starts = std::iter::once(0).chain(ends.iter().copied());
            let asked = starts.zip(&ends).map(|(start, end)| &keys[start..*end]);
            field.terms()?.get_all(asked, |info| {
                let Some(info) = info else { return Ok(()) };
                docs.clear();
                field.postings(&info)?.decode_into(segment.n_docs(), &mut docs)?;
                docs.iter().for_each(|doc| set.add(*doc));
                Ok(())
            })?;
        }
    }
}

/// Bytes that the query behind a function is taken to hold.
const MATCHING_BYTES: usize = 1 << 10;

impl fmt::Debug for Deletions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deletions")
            .field("matching", &self.matching.len())
            .field("of_values", &self.of_values.len())
            .finish()
    }
}
