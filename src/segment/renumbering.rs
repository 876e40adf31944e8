//! New numbers for the documents of a segment that moves into another, where deleted ones leave gaps.

use crate::error::{Error, Result};
use crate::segment::reader::SegmentReader;

/// The new number of each document that is not deleted: behind those of segments before, and as many less as were
/// deleted before it. Takes 1.5 bits a document where any is deleted, else nothing.
#[derive(Debug)]
pub(crate) struct Renumbering {
    base: u32,
    n_live: u32,
    gaps: Option<Gaps>,
}

#[derive(Debug)]
struct Gaps {
    /// A bit for each document that is deleted.
    bits: Vec<u64>,
    /// Deleted documents before each of those words.
    before: Vec<u32>,
}

impl Renumbering {
    /// The numbers of a segment whose first document becomes `base`.
    pub(crate) fn of(segment: SegmentReader<'_>, base: u32) -> Result<Self> {
        let n_docs = segment.n_docs();
        let gaps = match segment.deleted() {
            None => None,
            Some(deleted) => {
                let mut bits = vec![0; n_docs.div_ceil(64) as usize];
                deleted.for_each(n_docs, |doc| bits[doc as usize / 64] |= 1u64 << (doc % 64))?;
                let n_set: u64 = bits.iter().map(|word| u64::from(word.count_ones())).sum();
                // What comes of bytes may be fewer than they say: then numbers of two segments would be the same.
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
        Ok(Renumbering { base, n_live: segment.n_live(), gaps })
    }

    /// Documents that get a new number.
    pub(crate) fn n_live(&self) -> u32 {
        self.n_live
    }

    /// Whether all documents do.
    pub(crate) fn keeps_all(&self) -> bool {
        self.gaps.is_none()
    }

    /// The new number of a document of the segment; `None` where it is deleted.
    #[inline]
    pub(crate) fn get(&self, doc: u32) -> Option<u32> {
        let Some(Gaps { bits, before }) = &self.gaps else { return Some(self.base + doc) };
        let (word, bit) = ((doc / 64) as usize, doc % 64);
        let (bits, before) = (bits[word], before[word]);
        let earlier = before + (bits & ((1 << bit) - 1)).count_ones();
        (bits >> bit & 1 == 0).then(|| self.base + doc - earlier)
    }
}
