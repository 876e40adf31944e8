//! New numbers for the documents of a segment that moves into another. Deleted ones leave gaps, and others may come
//! between.

use crate::error::{Error, Result};
use crate::segment::reader::SegmentReader;

/// The new number of each document that is not deleted.
#[derive(Debug)]
pub(crate) struct Renumbering {
    n_live: u32,
    keeps_all: bool,
    numbers: Numbers,
}

#[derive(Debug)]
enum Numbers {
    /// Behind those of segments before, from `base` on, and as many less as were deleted before it. Takes 1.5 bits a document
    /// where any is deleted, else nothing.
    InTurn { base: u32, gaps: Option<Gaps> },
    /// Anything: 4 bytes a document.
    Each(Vec<u32>),
}

#[derive(Debug)]
struct Gaps {
    /// A bit for each document that is deleted.
    bits: Vec<u64>,
    /// Deleted documents before each of those words.
    before: Vec<u32>,
}

/// The number of a document that is deleted. No segment has as many documents.
const DELETED: u32 = u32::MAX;

impl Renumbering {
    /// The numbers of a segment whose documents stay as they stand, where the first becomes `base`.
    pub(crate) fn of(segment: SegmentReader<'_>, base: u32) -> Result<Self> {
        let n_docs = segment.n_docs();
        let gaps = match segment.deleted() {
            None => None,
            Some(deleted) => {
                let mut bits = vec![0; n_docs.div_ceil(64) as usize];
                deleted.for_each(n_docs, |doc| bits[doc as usize / 64] |= 1u64 << (doc % 64))?;
                let n_set: u64 = bits.iter().map(|word| u64::from(word.count_ones())).sum();
                // A bitmap read from bytes may have fewer than they say: then numbers of two segments would be the
                // same.
                if n_set != u64::from(deleted.n_docs()) {
                    return Err(Error::corrupt("counting the deleted documents of a segment")
                        .expected(deleted.n_docs().to_string())
                        .found(n_set.to_string())
                        .in_file(deleted.path()));
                }
                let mut sum = 0;
                let before = bits.iter().map(|word| {
                    let before = sum;
                    sum += word.count_ones();
                    before
                });
                Some(Gaps { before: before.collect(), bits })
            }
        };
        let (n_live, keeps_all) = (segment.n_live(), gaps.is_none());
        Ok(Renumbering { n_live, keeps_all, numbers: Numbers::InTurn { base, gaps } })
    }

    /// Renumbers a segment of `n_docs` documents by the numbers that `number` makes of theirs.
    pub(crate) fn mapped(&self, n_docs: u32, number: impl Fn(u32) -> u32) -> Self {
        let each = (0..n_docs).map(|doc| self.get(doc).map_or(DELETED, &number));
        let (n_live, keeps_all) = (self.n_live, self.keeps_all);
        Renumbering { n_live, keeps_all, numbers: Numbers::Each(each.collect()) }
    }

    /// Documents that get a new number.
    pub(crate) fn n_live(&self) -> u32 {
        self.n_live
    }

    /// Whether all documents do.
    pub(crate) fn keeps_all(&self) -> bool {
        self.keeps_all
    }

    /// The new number of a document of the segment; `None` if it is deleted. Of a segment that keeps all its documents, `doc`
    /// must be one of them: it is not looked up then.
    #[inline]
    pub(crate) fn get(&self, doc: u32) -> Option<u32> {
        match &self.numbers {
            Numbers::InTurn { base, gaps: None } => Some(base + doc),
            Numbers::InTurn { base, gaps: Some(Gaps { bits, before }) } => {
                let (word, bit) = ((doc / 64) as usize, doc % 64);
                let (bits, before) = (*bits.get(word)?, *before.get(word)?);
                let earlier = before + (bits & ((1 << bit) - 1)).count_ones();
                (bits >> bit & 1 == 0).then(|| base + doc - earlier)
            }
            Numbers::Each(numbers) => {
                numbers.get(doc as usize).copied().filter(|number| *number != DELETED)
            }
        }
    }
}
