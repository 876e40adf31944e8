//! Pages of points, made of all points of a segment when these are written.
//!
//! A commit and a merge make the same bytes of the same points, with any memory. Codes and documents, 12 bytes a point, are in memory
//! as long as there is room; beyond, sorted runs of them go to temporary files, and are merged.

use crate::budget::{self, ns};
use crate::error::Result;
use crate::format::envelope::SectionKind;
use crate::format::pages::{POINTS_MIN, PagesWriter};
use crate::geo::UnitPoint;
use crate::graph::spill::{SpillFiles, SpillWriter, SpilledBytes};
use crate::ids::FieldId;
use crate::segment::builder::SegmentBuilder;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Bytes that are written at once.
const WRITE_BYTES: usize = 1 << 20;
/// Points of a run, at the least.
const RUN_POINTS_MIN: usize = 1 << 16;

/// Both halves of a code, and a document: in the order in which points are written.
type Coded = [u32; 3];

fn coded(point: UnitPoint, doc: u32) -> Coded {
    let code = point.to_code();
    [(code >> u32::BITS) as u32, code as u32, doc]
}

fn code_of([high, low, _]: Coded) -> u64 {
    u64::from(high) << u32::BITS | u64::from(low)
}

/// Memory that points are sorted in, and files for the rest.
#[derive(Clone, Debug)]
pub(super) struct SortMeans {
    pub(super) memory_bytes: usize,
    pub(super) files: SpillFiles,
}

/// Points of a segment to be.
#[derive(Debug)]
pub(super) struct PagesBuffer {
    /// Points that are in no run.
    points: Vec<Coded>,
    points_max: usize,
    runs: Vec<SpilledBytes>,
    n_points: u64,
    files: SpillFiles,
}

impl PagesBuffer {
    pub(super) fn new(SortMeans { memory_bytes, files }: SortMeans) -> Self {
        let points_max = (memory_bytes / size_of::<Coded>()).max(RUN_POINTS_MIN);
        PagesBuffer { points: vec![], points_max, runs: vec![], n_points: 0, files }
    }

    /// Adds a point.
    pub(super) fn add(&mut self, doc: u32, point: UnitPoint) -> Result<()> {
        if self.points.len() >= self.points_max {
            self.end_run()?;
        }
        if self.points.len() == self.points.capacity() {
            // Twice as much, but no more than there is room for.
            let left = self.points_max - self.points.len();
            let more = self.points.len().max(RUN_POINTS_MIN).min(left);
            self.points.reserve_exact(more);
        }
        self.points.push(coded(point, doc));
        self.n_points += 1;
        Ok(())
    }

    fn sort(&mut self) -> Result<()> {
        budget::work(ns::CODES_COPIED * self.points.len() as u64)?;
        self.points.sort_unstable_by_key(|it| (code_of(*it), it[2]));
        Ok(())
    }

    fn end_run(&mut self) -> Result<()> {
        self.sort()?;
        let mut run = SpillWriter::new(Some(&self.files), 0);
        let mut bytes = Vec::with_capacity(WRITE_BYTES);
        for part in self.points.chunks(WRITE_BYTES / size_of::<Coded>()) {
            bytes.clear();
            bytes.extend(part.iter().flatten().flat_map(|number| number.to_le_bytes()));
            run.write(&bytes)?;
        }
        self.runs.push(run.finish()?);
        self.points.clear();
        Ok(())
    }

    /// Writes pages and boxes behind the points, if there are enough of these.
    pub(super) fn write(mut self, field: FieldId, builder: &mut SegmentBuilder) -> Result<()> {
        if self.n_points < POINTS_MIN {
            return Ok(());
        }
        self.sort()?;
        let file = builder.file();
        file.start_section(Some(field), SectionKind::PAGES, 0)?;
        let (mut writer, mut bytes) = (PagesWriter::new(), Vec::with_capacity(WRITE_BYTES));
        self.for_each_sorted(|point| {
            writer.add(code_of(point), point[2], &mut bytes);
            if bytes.len() >= WRITE_BYTES {
                file.write(&bytes)?;
                bytes.clear();
            }
            Ok(())
        })?;
        let boxes = writer.finish(&mut bytes);
        file.write(&bytes)?;
        file.end_section()?;
        bytes.clear();
        boxes.finish(&mut bytes);
        file.section(Some(field), SectionKind::BOXES, &bytes)
    }

    fn for_each_sorted(&self, mut visit: impl FnMut(Coded) -> Result<()>) -> Result<()> {
        if self.runs.is_empty() {
            return self.points.iter().try_for_each(|point| visit(*point));
        }
        let of_run = |bytes: &SpilledBytes, nth: usize| {
            let (numbers, _) = bytes.as_chunks::<{ size_of::<u32>() }>();
            let number = |at: usize| numbers.get(3 * nth + at).map(|it| u32::from_le_bytes(*it));
            Some([number(0)?, number(1)?, number(2)?])
        };
        // The next of each run; the last one is in memory.
        let next = |run: usize, nth: usize| match self.runs.get(run) {
            Some(bytes) => of_run(bytes, nth),
            None => self.points.get(nth).copied(),
        };
        let firsts = (0..=self.runs.len()).filter_map(|run| Some(Reverse((next(run, 0)?, run, 0))));
        let mut heads: BinaryHeap<_> = firsts.collect();
        while let Some(Reverse((point, run, nth))) = heads.pop() {
            visit(point)?;
            if let Some(point) = next(run, nth + 1) {
                heads.push(Reverse((point, run, nth + 1)));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::SegmentId;
    use crate::storage::MemoryStorage;
    use std::sync::Arc;

    #[test]
    fn points_are_sorted_alike_with_any_memory() {
        let files = SpillFiles::new(Arc::new(MemoryStorage::new()), SegmentId([7; 16]));
        let mut all = vec![];
        for memory_bytes in [0, 1 << 20, usize::MAX] {
            let mut buffer = PagesBuffer::new(SortMeans { memory_bytes, files: files.clone() });
            let mut random = 1u64;
            for doc in 0..200_000 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(doc | 1);
                let point = UnitPoint { x: (random >> 50) as u32, y: (random >> 33) as u32 };
                buffer.add(doc as u32, point).unwrap();
            }
            assert_eq!(buffer.runs.is_empty(), memory_bytes == usize::MAX);
            buffer.sort().unwrap();
            let mut points = vec![];
            buffer
                .for_each_sorted(|point| {
                    points.push(point);
                    Ok(())
                })
                .unwrap();
            assert!(points.is_sorted() && points.len() == 200_000);
            all.push(points);
        }
        assert!(all.windows(2).all(|pair| pair[0] == pair[1]));
    }
}
