//! Points on their way into a segment: from runs, or from segments that are merged.

use crate::budget::{self, ns};
use crate::error::Result;
use crate::format::points::Points;
use crate::geo::UnitPoint;
use crate::ids::FieldId;
use crate::segment::builder::{PointsSection, SegmentBuilder};
use crate::segment::file::Section;
use crate::segment::reader::SegmentReader;
use crate::segment::renumbering::Renumbering;
use crate::writer::pages::{PagesBuffer, SortMeans};
use crate::writer::reorder::{ReorderBuffer, reorder};
use crate::writer::run::Run;
use std::cell::RefCell;

/// Points on their way into a segment, in the order of documents and in that of places.
struct BothOrders<'b> {
    section: PointsSection<'b>,
    pages: PagesBuffer,
}

impl BothOrders<'_> {
    fn add(&mut self, doc: u32, point: UnitPoint) -> Result<()> {
        self.section.add(doc, point)?;
        self.pages.add(doc, point)
    }
}

/// Writes the points that `add_all` adds, of so many documents, then their pages.
fn write_both(
    (n_docs, field): (u32, FieldId),
    means: SortMeans,
    builder: &mut SegmentBuilder,
    add_all: impl FnOnce(&mut BothOrders<'_>) -> Result<()>,
) -> Result<()> {
    let section = builder.start_points(field)?;
    let mut both = BothOrders { section, pages: PagesBuffer::new(means) };
    add_all(&mut both)?;
    let BothOrders { section, pages } = both;
    section.finish(n_docs)?;
    pages.write(field, builder)
}

/// Writes the points of runs of consecutive documents.
pub(super) fn write(
    runs: &[Run],
    n_docs: u32,
    field: FieldId,
    means: SortMeans,
    builder: &mut SegmentBuilder,
) -> Result<()> {
    write_both((n_docs, field), means, builder, |points| {
        runs.iter().try_for_each(|run| {
            run.for_each_vector(|doc, row| match row.try_into() {
                Ok(row) => points.add(doc, UnitPoint::of_row(row)),
                // Rows are as long as the field says.
                Err(_) => Ok(()),
            })
        })
    })
}

/// A part of a merge, and its points.
type WithPoints<'m> = (SegmentReader<'m>, &'m Renumbering, Points<Section<'m>>);

/// Copies the points of what is not deleted, into a segment of so many documents.
///
/// If documents change places, there is room for so many bytes of what waits for its turn.
pub(super) fn copy<'m>(
    parts: impl Iterator<Item = (SegmentReader<'m>, &'m Renumbering)>,
    (n_docs, room): (u32, Option<usize>),
    field: FieldId,
    means: SortMeans,
    builder: &mut SegmentBuilder,
) -> Result<()> {
    let mut of_parts: Vec<WithPoints<'_>> = vec![];
    for (reader, numbers) in parts {
        let Some(points) = reader.field(field).points()? else { continue };
        of_parts.push((reader, numbers, points));
    }
    write_both((n_docs, field), means, builder, |to| {
        if let Some(room) = room {
            let gather = |buffer: &mut ReorderBuffer| gather(&of_parts, buffer);
            let mut number = 0;
            return reorder(n_docs, room, gather, |rows| {
                let mut rows = rows.unwrap_or_default().as_chunks().0.iter();
                rows.try_for_each(|row| to.add(number, UnitPoint::of_row(*row)))?;
                number += 1;
                Ok(())
            });
        }
        for (_, numbers, points) in &of_parts {
            points.for_each(
                |_| true,
                |doc, points| {
                    budget::work(ns::CODES_COPIED)?;
                    let Some(number) = numbers.get(doc) else { return Ok(()) };
                    points.iter().try_for_each(|point| to.add(number, *point))
                },
            )?;
        }
        Ok(())
    })
}

/// Keeps the points of what is wanted. Each document is a part that waits for its turn, also one without any.
fn gather(parts: &[WithPoints<'_>], buffer: &mut ReorderBuffer) -> Result<()> {
    let mut rows = vec![];
    for (_, numbers, points) in parts {
        // Both look at what is wanted, which becomes less as the buffer fills.
        let buffer = RefCell::new(&mut *buffer);
        points.for_each(
            |mut docs| {
                let buffer = buffer.borrow();
                docs.any(|doc| numbers.get(doc).is_some_and(|number| buffer.wants(number)))
            },
            |doc, points| {
                budget::work(ns::CODES_COPIED)?;
                if let Some(number) = numbers.get(doc) {
                    rows.clear();
                    rows.extend(points.iter().flat_map(|point| point.to_row()));
                    buffer.borrow_mut().add(number, Some(&rows));
                }
                Ok(())
            },
        )?;
    }
    Ok(())
}
