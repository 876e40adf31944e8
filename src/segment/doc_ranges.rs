//! Ascending documents as ranges: for sets that are nearly everything or nearly nothing.

use crate::bitmap;
use crate::bitmap::Container;

/// A set of documents that grows at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DocRanges(Vec<(u32, u32)>);

impl DocRanges {
    /// Adds `first..end`, which does not begin before what was added last; overlap is merged.
    pub(crate) fn add(&mut self, first: u32, end: u32) {
        match self.0.last_mut() {
            Some(last) if last.1 >= first => last.1 = last.1.max(end),
            _ => self.0.push((first, end)),
        }
    }

    /// Adds the ranges of later documents.
    pub(crate) fn append(&mut self, later: &DocRanges) {
        later.0.iter().for_each(|&(first, end)| self.add(first, end));
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The number of documents.
    pub(crate) fn len(&self) -> u32 {
        self.0.iter().map(|(first, end)| end - first).sum()
    }

    /// The set as a portable roaring bitmap.
    pub(crate) fn to_roaring(&self) -> Vec<u8> {
        let mut by_key: Vec<(u16, Vec<[u8; 4]>)> = vec![];
        for &(first, end) in self.0.iter().filter(|(first, end)| first < end) {
            let last = end - 1;
            for key in first >> 16..=last >> 16 {
                let from = first.max(key << 16) as u16;
                let to = last.min(key << 16 | 0xFFFF) as u16;
                let [a, b] = from.to_le_bytes();
                let [c, d] = (to - from).to_le_bytes();
                match by_key.last_mut() {
                    Some((other, runs)) if u32::from(*other) == key => runs.push([a, b, c, d]),
                    _ => by_key.push((key as u16, vec![[a, b, c, d]])),
                }
            }
        }
        let mut bytes = vec![];
        let containers = by_key.iter().map(|(key, runs)| (*key, Container::Run(runs)));
        bitmap::write_containers(containers, &mut bytes);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bitmap::RoaringView;

    #[test]
    fn ranges_merge_where_they_touch_and_become_a_bitmap() {
        let mut ranges = DocRanges::default();
        for (first, end) in [(0, 2), (2, 3), (5, 6), (5, 7), (65_530, 200_000), (300_000, 300_001)]
        {
            ranges.add(first, end);
        }
        let expected: Vec<u32> =
            (0..3).chain(5..7).chain(65_530..200_000).chain([300_000]).collect();
        let bytes = ranges.to_roaring();
        assert_eq!(RoaringView::new(&bytes).unwrap().iter().collect::<Vec<_>>(), expected);
        assert_eq!(ranges.len() as usize, expected.len());
        assert!(RoaringView::new(&DocRanges::default().to_roaring()).unwrap().is_empty());
    }
}
