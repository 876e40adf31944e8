//! Distances of hits from the points that they are sorted by.

use super::Hit;
use super::search::Search;
use crate::error::Result;
use crate::geo::Center;
use crate::hits::FieldDistance;

impl Search<'_> {
    /// Adds to hits how far their nearest points are from those that they are sorted by.
    pub(super) fn add_distances(&self, hits: &mut [Hit]) -> Result<()> {
        for distance in self.request.sort.iter().filter_map(|key| key.distance()) {
            let Some(field) = self.searcher.schema().field_id(&distance.field) else { continue };
            let center = Center::of(distance.point);
            for hit in &mut *hits {
                let doing = "measuring the distance of a hit";
                let (_, segment, doc) = self.searcher.snapshot().locate(hit.doc, doing)?;
                let Some(points) = segment.field(field).points()? else { continue };
                let points = points.of_doc(doc)?;
                let metres = points.iter().map(|point| center.metres(*point));
                // The first of those that are as near.
                let nearest = metres.enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b));
                if let Some((value, metres)) = nearest {
                    let field = distance.field.clone();
                    hit.distances.push(FieldDistance { field, metres, value: value as u32 });
                }
            }
        }
        Ok(())
    }
}
