//! Matches by groups of neighbouring documents.
//!
//! Documents of a page of points lie anywhere in a segment. If few of these match, a bit for each group answers in a nanosecond,
//! where looking up a document in its window takes a search.

use crate::budget;
use crate::doc_id_set::{DocIdSet, MatchWindows};
use crate::error::Result;

/// Matches of a segment, to be asked for in any order.
#[derive(Debug)]
pub(super) enum Matching<'m> {
    Everything,
    Windows(&'m MatchWindows),
    Sparse { windows: &'m MatchWindows, groups: Vec<u64>, shift: u32 },
}

impl<'m> Matching<'m> {
    /// Prepares to ask, by groups of so many documents as a power of two.
    pub(super) fn new(matches: &'m DocIdSet, n_docs: u32, group_bits: Option<u32>) -> Result<Self> {
        let windows = match matches {
            DocIdSet::Everything => return Ok(Matching::Everything),
            DocIdSet::Some(windows) => windows,
        };
        let Some(shift) = group_bits else { return Ok(Matching::Windows(windows)) };
        let n_words = (u64::from(n_docs) >> shift) / u64::from(u64::BITS) + 1;
        budget::hold(n_words * size_of::<u64>() as u64)?;
        let mut groups = vec![0u64; n_words as usize];
        for window in windows.windows() {
            let base = window.key << 16;
            for low in windows.documents(window).iter() {
                let group = (base | u32::from(low)) >> shift;
                if let Some(word) = groups.get_mut((group / u64::BITS) as usize) {
                    *word |= 1 << (group % u64::BITS);
                }
            }
        }
        Ok(Matching::Sparse { windows, groups, shift })
    }

    #[inline]
    pub(super) fn contains(&self, doc: u32) -> bool {
        match self {
            Matching::Everything => true,
            Matching::Windows(windows) => windows.contains(doc),
            Matching::Sparse { windows, groups, shift } => {
                let group = doc >> shift;
                let word = groups.get((group / u64::BITS) as usize).copied().unwrap_or(0);
                word >> (group % u64::BITS) & 1 == 1 && windows.contains(doc)
            }
        }
    }

    /// Gives the memory of groups back.
    pub(super) fn release(self) {
        if let Matching::Sparse { groups, .. } = self {
            budget::release(size_of_val(&groups[..]) as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_change_no_answer() {
        const N_DOCS: u32 = 300_000;
        for step in [5, 64, 700, 90_000] {
            let docs: Vec<u32> = (0..N_DOCS).filter(|doc| doc * 7 % step == 3).collect();
            let matches = DocIdSet::Some(MatchWindows::of_documents(N_DOCS, &docs).unwrap());
            for bits in [None, Some(0), Some(3), Some(13)] {
                let matching = Matching::new(&matches, N_DOCS, bits).unwrap();
                assert_eq!(matches!(matching, Matching::Sparse { .. }), bits.is_some());
                let found = (0..N_DOCS + 70_000).filter(|doc| matching.contains(*doc));
                assert!(found.eq(docs.iter().copied()), "{step}");
            }
        }
    }
}
