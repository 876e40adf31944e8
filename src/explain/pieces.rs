//! Counts of plans as text, in pieces that a page breaks into lines.

use super::units::score;
use super::{
    ColumnCounts, FacetEstimate, GeoCounts, InBuckets, RankingCounts, StreamCounts, Threshold,
};
use crate::console::{Piece, listed, plain};
use crate::plural::{grouped, number_of};

/// Thresholds listed with a node at the most: the first, the last, and some between.
const THRESHOLDS_SHOWN: usize = 5;

/// Returns what finding the best looked at, out of what there was.
pub(super) fn looked_at(ranking: &RankingCounts) -> Vec<Piece> {
    let of = |skipped: u64, all: u64, what: &'static str| {
        (all > 0)
            .then(|| format!("{} of {}", grouped(all - skipped.min(all)), number_of(all, what)))
    };
    let blocks = of(ranking.blocks_skipped, ranking.blocks, "block");
    let windows = of(ranking.windows_skipped, ranking.windows, "window");
    let looked_up = ranking.candidates.filter(|counts| counts.looked_up > 0);
    let looked_up =
        looked_up.map(|it| format!("{} looked up", number_of(it.looked_up, "document")));
    let candidates = ranking.candidates.map(|it| {
        let [by_blocks, rare] = [it.skipped_by_blocks, it.skipped_by_frequencies].map(grouped);
        let found = number_of(it.found, "candidate");
        format!("{found} less {by_blocks} by blocks and {rare} by frequencies")
    });
    let postings = ranking.postings.map(|n| format!(" by {}", number_of(n, "posting")));
    let scored = number_of(ranking.documents_scored, "document");
    let scored = format!("{scored} scored{}", postings.unwrap_or_default());
    let twice = ranking.searched_twice.then(|| "searched twice because of deletes".to_owned());
    let all = [Some(scored), looked_up, candidates, blocks, windows, twice];
    listed(all.into_iter().flatten().map(plain).collect())
}

/// Returns what was looked at in a column, out of what there was.
pub(super) fn in_column(counts: &ColumnCounts) -> Vec<Piece> {
    let ends = (counts.ends_looked_up > 0).then(|| {
        let (ends, less) = (number_of(counts.ends_looked_up, "end"), counts.deleted_taken_away);
        format!("document frequencies up to {ends} of ranges{}", less_deleted(",", less))
    });
    // Columns whose documents lie where their numbers say are not read by blocks.
    let has_blocks = counts.blocks > 0;
    let is_read = has_blocks || counts.documents > 0 || ends.is_none();
    let values = is_read.then(|| format!("values of {}", number_of(counts.documents, "document")));
    let read = grouped(counts.blocks.saturating_sub(counts.blocks_skipped));
    let blocks = has_blocks.then(|| format!("{read} of {}", number_of(counts.blocks, "block")));
    listed([ends, values, blocks].into_iter().flatten().map(plain).collect())
}

/// Points that were compared, and boxes and pages that spared others.
pub(super) fn at_points(counts: &GeoCounts) -> impl Iterator<Item = Piece> {
    let formula = grouped(counts.points_by_formula);
    let points = number_of(counts.points_tested, "point");
    let (boxes, settled) = (number_of(counts.boxes_tested, "box"), grouped(counts.boxes_settled));
    let (inside, border) = (grouped(counts.pages_inside), grouped(counts.pages_border));
    let has_pages = counts.pages_inside > 0 || counts.pages_border > 0;
    let pages = has_pages.then(|| format!("{inside} pages inside, {border} on the border"));
    let all = [
        Some(format!("{points} compared, {formula} by the formula or by edges")),
        Some(format!("{settled} of {boxes} settled")),
        pages,
    ];
    all.into_iter().flatten().map(plain)
}

/// Says how many deleted documents were taken away, if any were.
pub(super) fn less_deleted(before: &str, deleted: u64) -> String {
    match deleted {
        0 => String::new(),
        _ => format!("{before} less {}", number_of(deleted, "deleted document")),
    }
}

/// A number of documents with its bounds, unless these leave no doubt, and the sign before it.
pub(super) fn between(documents: u64, lower: u64, upper: u64) -> (char, String) {
    let documents = number_of(documents, "document");
    match lower == upper {
        true => ('=', documents),
        false => ('≈', format!("{documents}, {} to {}", grouped(lower), grouped(upper))),
    }
}

/// The buckets of the facet around one.
pub(super) fn in_buckets(within: InBuckets) -> String {
    let documents = number_of(within.documents, "document");
    format!("in {} with {documents}", number_of(within.buckets, "bucket"))
}

impl FacetEstimate {
    /// Documents between their bounds, and buckets that these are in.
    pub(super) fn in_words(self) -> String {
        let (sign, documents) = between(self.documents, self.lower, self.upper);
        if self.buckets_upper < 2 {
            return format!("{sign} {documents}");
        }
        let (buckets, most) = (grouped(self.buckets), number_of(self.buckets_upper, "bucket"));
        format!("≈ in {buckets} of at most {most} with {documents}")
    }
}

pub(super) fn in_order(counts: &StreamCounts) -> Vec<Piece> {
    let (lists, documents) =
        (number_of(counts.terms, "list"), number_of(counts.documents, "document"));
    let read = format!("{lists} read with {documents}");
    let found = format!("{} of these match", grouped(counts.candidates));
    let given_up = format!("given up in {}", number_of(counts.given_up, "segment"));
    let given_up = (counts.given_up > 0).then_some(given_up);
    listed([Some(read), Some(found), given_up].into_iter().flatten().map(plain).collect())
}

pub(super) fn thresholds(rises: &[Threshold]) -> Vec<Piece> {
    let last = rises.len() - 1;
    let shown = rises.len().min(THRESHOLDS_SHOWN);
    let places = (0..shown).map(|nth| nth * last / (shown - 1).max(1));
    let rise = |place: usize| {
        let Threshold { documents, score: reached } = rises[place];
        let documents = match place {
            0 => number_of(documents, "document"),
            _ => grouped(documents),
        };
        plain(format!("{} after {documents}", score(reached)))
    };
    listed(places.map(rise).collect())
}
