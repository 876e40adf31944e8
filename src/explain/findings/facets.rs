//! Facets that take most of the time.

use super::look::{Advice, Look, own_ns};
use super::{Facts, Finding};
use crate::explain::ExplainFacet;
use crate::explain::caption::by_level;
use crate::plural::number_of;

/// Fewer lists are intersected within some hundred microseconds.
const TERMS_MANY: u64 = 1_000;
/// Fewer values are looked at within some hundred microseconds.
const DOCUMENTS_MANY: u64 = 100_000;
/// A top of fewer values excludes about all the terms that can be excluded.
const LIMIT_LARGE: u64 = 100;

pub(super) fn look_at(look: &mut Look<'_>) {
    by_level(&look.tree.facets).into_iter().for_each(|(facet, _)| slow(look, facet));
}

fn slow<'t>(look: &mut Look<'t>, facet: &'t ExplainFacet) {
    let ns = own_ns(facet);
    let Some(actual) = &facet.actual else { return };
    let values = actual.column.map_or(0, |column| column.documents);
    let is_wide = actual.terms_intersected >= TERMS_MANY || values >= DOCUMENTS_MANY;
    if !is_wide || !look.is_most(ns) {
        return;
    }
    let what = match actual.terms_intersected {
        0 => format!("looking at the values of {}", number_of(values, "document")),
        terms => format!("intersecting the lists of {}", number_of(terms, "term")),
    };
    let whole = match facet.ranges.as_deref() {
        Some("statistics") => "the statistics of",
        _ => "counting the facet",
    };
    let message = look.went_into(ns, &format!("{whole} {}: {what}", facet.field));
    let finding = Finding::new("slow facet", look.severity(ns), message);
    let finding = Finding { facet: Some(facet.field.clone()), ..finding };
    let by_terms = actual.terms_intersected >= TERMS_MANY;
    look.add_asking(ns, finding, move |facts| by_lists(facts, facet).filter(|_| by_terms));
}

fn by_lists(facts: &dyn Facts, facet: &ExplainFacet) -> Option<Advice> {
    let mut parts = vec![];
    let lacks_column = facts.has_column(&facet.field) == Some(false);
    if lacks_column {
        parts.push("a column (facet = true in the schema), where each match is looked up");
    }
    if facet.limit >= LIMIT_LARGE {
        parts.push("fewer values, so that more terms cannot be among them");
    }
    // Fewer values are had at once.
    (!parts.is_empty()).then(|| (parts.join("; or "), lacks_column && parts.len() == 1))
}
