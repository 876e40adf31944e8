//! What plans say of facets.

use super::answer::Found;
use super::facet::{Facet, FacetWhat};
use super::search::SearchBuilder;
use super::within::Inner;
use crate::error::Result;
use crate::explain::{ColumnCounts, Decision, ExplainFacet, ExplainTree, FacetActual};
use crate::facet::ColumnProfile;

impl SearchBuilder<'_> {
    /// Puts the facets that are counted by columns where they were asked for among those of the plan, and what happened; and
    /// those within others.
    pub(super) fn put_facets(&self, tree: &mut ExplainTree, run: Option<&Found>) -> Result<()> {
        let mut by_terms = std::mem::take(&mut tree.facets).into_iter();
        let mut profiles = run.map(|found| &found.column_profiles[..]).unwrap_or_default().iter();
        let mut inner = run.map(|found| &found.inner[..]).unwrap_or_default().iter();
        for request in &self.facets {
            let options = self.described(request, &[&request.field]);
            let shown = match &request.what {
                FacetWhat::Values(_) => {
                    let Some(facet) = by_terms.next() else { continue };
                    ExplainFacet { options, ..facet }
                }
                what => {
                    let (algorithm, decision) = self.way_by_column(request);
                    ExplainFacet {
                        limit: what.n_ranges() as u64,
                        ranges: what.ranges(),
                        options,
                        algorithm: algorithm.into(),
                        decisions: vec![decision],
                        actual: profiles.next().map(column_actual),
                        ..ExplainFacet::of(&request.field)
                    }
                }
            };
            let inner = inner.next().map(|inner| &inner[..]);
            let within = self.within_of(request, &mut vec![&request.field], inner)?;
            tree.facets.push(ExplainFacet { within, ..shown });
        }
        Ok(())
    }

    /// The facets within another that lies in `path`, and what counting them took.
    fn within_of<'f>(
        &self,
        outer: &'f Facet,
        path: &mut Vec<&'f str>,
        run: Option<&[Inner]>,
    ) -> Result<Vec<ExplainFacet>> {
        let mut shown = vec![];
        let reason = match outer.what {
            FacetWhat::Values(_) => "posting lists of its values, intersected with what matches",
            _ => "one pass over its column parts what matches",
        };
        for (nth, request) in outer.within.facets.iter().enumerate() {
            path.push(&request.field);
            let run = run.and_then(|run| run.get(nth));
            let rule = format!("look into each bucket of {}", outer.field);
            let mut facet = ExplainFacet {
                limit: request.what.n_ranges() as u64,
                ranges: request.what.ranges(),
                options: self.described(request, path),
                decisions: vec![Decision::accepted(rule, reason)],
                ..ExplainFacet::of(&request.field)
            };
            match &request.what {
                FacetWhat::Values(_) => {
                    let field = self.field(&request.field)?;
                    for segment in self.searcher.segments() {
                        facet.terms += u64::from(segment.field(field).terms()?.n_terms());
                    }
                    facet.algorithm = "in each bucket what is cheapest there".into();
                    if let Some(inner) = run.filter(|inner| inner.run.n_buckets > 0) {
                        facet.algorithm = inner.ways();
                        facet.actual = Some(inner.actual());
                    }
                }
                _ => {
                    facet.algorithm = self.way_by_column(request).0.into();
                    facet.actual = run.map(|inner| column_actual(&inner.run.column));
                }
            }
            facet.within = self.within_of(request, path, run.map(|inner| &inner.inner[..]))?;
            shown.push(facet);
            path.pop();
        }
        Ok(shown)
    }

    /// How a facet that is not of values is counted, and why.
    fn way_by_column(&self, request: &Facet) -> (&'static str, Decision) {
        let of_schema = self.searcher.schema().field(&request.field);
        match &request.what {
            FacetWhat::Statistics(_) if of_schema.is_none_or(|field| !field.column) => (
                "dictionary, term by term",
                Decision::accepted("go through the dictionary", "the field keeps no column"),
            ),
            FacetWhat::Statistics(_) => {
                let reason = "a block of which all documents have one value is not read";
                ("column, by bounds of blocks", Decision::accepted("look at the column", reason))
            }
            _ => {
                let reason = "what lies in one range is counted by its bounds";
                ("column", Decision::accepted("count by the column", reason))
            }
        }
    }

    /// What is not as it is by default of a facet that lies in `path`, for people.
    fn described(&self, request: &Facet, path: &[&str]) -> Option<String> {
        let options = match &request.what {
            FacetWhat::Values(values) => values.described(),
            _ => None,
        };
        let unselected = match (&self.left_out(path)[..], path) {
            ([], _) => None,
            (_, [_]) => Some("without its own selection".to_owned()),
            _ => Some("without the selections of it and what it lies within".to_owned()),
        };
        let hits = match request.within.hits {
            0 => None,
            1 => Some("with the best document of each".to_owned()),
            n => Some(format!("with the {n} best documents of each")),
        };
        let parts: Vec<_> = [options, unselected, hits].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

fn column_actual(profile: &ColumnProfile) -> FacetActual {
    FacetActual {
        time_ns: u64::try_from(profile.time.as_nanos()).unwrap_or(u64::MAX),
        column: Some(ColumnCounts {
            documents: profile.documents,
            blocks: profile.blocks,
            blocks_skipped: profile.blocks_skipped,
            ends_looked_up: profile.ends_looked_up,
            deleted_taken_away: profile.deleted_taken_away,
        }),
        ..FacetActual::default()
    }
}
