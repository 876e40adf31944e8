//! Counts of plans as text, in pieces that a page breaks into lines.

use super::units::{Count, Grouped, Score};
use super::{ColumnCounts, FacetEstimate, InBuckets, RankingCounts, StreamCounts, Threshold};

/// Thresholds listed with a node at the most: the first, the last, and some between.
const THRESHOLDS_SHOWN: usize = 5;

/// Text of one style, without blanks around it.
pub(super) struct Piece {
    pub(super) style: Style,
    pub(super) text: String,
    /// Whether it moves to the next line rather than being broken, if it fits there.
    pub(super) whole: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Strong,
    Faint,
    Good,
    Bad,
}

pub(super) fn plain(text: impl Into<String>) -> Piece {
    piece(Style::Plain, text)
}

pub(super) fn strong(text: impl Into<String>) -> Piece {
    piece(Style::Strong, text)
}

pub(super) fn faint(text: impl Into<String>) -> Piece {
    piece(Style::Faint, text).whole()
}

pub(super) fn piece(style: Style, text: impl Into<String>) -> Piece {
    Piece { style, text: text.into(), whole: false }
}

/// Pieces that stay whole, with commas between them.
pub(super) fn listed(mut pieces: Vec<Piece>) -> Vec<Piece> {
    let last = pieces.len().saturating_sub(1);
    pieces[..last].iter_mut().for_each(|piece| piece.text.push(','));
    pieces.into_iter().map(Piece::whole).collect()
}

/// Returns what finding the best looked at, out of what there was.
pub(super) fn looked_at(ranking: &RankingCounts) -> Vec<Piece> {
    let of = |skipped: u64, all: u64, what: &'static str| {
        (all > 0).then(|| format!("{} of {}", Grouped(all - skipped.min(all)), Count(all, what)))
    };
    let blocks = of(ranking.blocks_skipped, ranking.blocks, "block");
    let windows = of(ranking.windows_skipped, ranking.windows, "window");
    let looked_up = ranking.candidates.filter(|counts| counts.looked_up > 0);
    let looked_up = looked_up.map(|it| format!("{} looked up", Count(it.looked_up, "document")));
    let candidates = ranking.candidates.map(|counts| {
        let (found, by_blocks) = (Count(counts.found, "candidate"), counts.skipped_by_blocks);
        let [by_blocks, by_frequencies] = [by_blocks, counts.skipped_by_frequencies].map(Grouped);
        format!("{found} less {by_blocks} by blocks and {by_frequencies} by frequencies")
    });
    let postings = ranking.postings.map(|n| format!(" by {}", Count(n, "posting")));
    let (scored, postings) =
        (Count(ranking.documents_scored, "document"), postings.unwrap_or_default());
    let scored = format!("{scored} scored{postings}");
    let twice = ranking.searched_twice.then(|| "searched twice because of deletes".to_owned());
    let all = [Some(scored), looked_up, candidates, blocks, windows, twice];
    listed(all.into_iter().flatten().map(plain).collect())
}

/// Returns what was looked at in a column, out of what there was.
pub(super) fn in_column(counts: &ColumnCounts) -> Vec<Piece> {
    let ends = (counts.ends_looked_up > 0).then(|| {
        let ends = Count(counts.ends_looked_up, "end");
        let less = match counts.deleted_taken_away {
            0 => String::new(),
            deleted => format!(", less {}", Count(deleted, "deleted document")),
        };
        format!("document frequencies up to {ends} of ranges{less}")
    });
    let is_read = counts.blocks > 0 || counts.documents > 0 || ends.is_none();
    let values = is_read.then(|| format!("values of {}", Count(counts.documents, "document")));
    let read = Grouped(counts.blocks.saturating_sub(counts.blocks_skipped));
    // Columns whose documents lie where their numbers say are not read by blocks.
    let has_blocks = counts.blocks > 0;
    let blocks = has_blocks.then(|| format!("{read} of {}", Count(counts.blocks, "block")));
    listed([ends, values, blocks].into_iter().flatten().map(plain).collect())
}

/// The buckets of the facet around one.
pub(super) fn in_buckets(within: InBuckets) -> String {
    let documents = Count(within.documents, "document");
    format!("in {} with {documents}", Count(within.buckets, "bucket"))
}

impl FacetEstimate {
    /// Documents between their bounds, and buckets that these are in.
    pub(super) fn in_words(self) -> String {
        let FacetEstimate { buckets, buckets_upper, documents, lower, upper } = self;
        let documents = Count(documents, "document");
        let bounds = match lower < upper {
            true => format!(", {} to {}", Grouped(lower), Grouped(upper)),
            false => String::new(),
        };
        match buckets_upper {
            0 | 1 if bounds.is_empty() => format!("= {documents}"),
            0 | 1 => format!("≈ {documents}{bounds}"),
            most => {
                let most = Count(most, "bucket");
                format!("≈ in {} of at most {most} with {documents}{bounds}", Grouped(buckets))
            }
        }
    }
}

/// Returns which lists were read in the order of a field.
pub(super) fn in_order(counts: &StreamCounts) -> Vec<Piece> {
    let (lists, documents) = (Count(counts.terms, "list"), Count(counts.documents, "document"));
    let read = format!("{lists} read with {documents}");
    let found = format!("{} of these match", Grouped(counts.candidates));
    let given_up = format!("given up in {}", Count(counts.given_up, "segment"));
    let given_up = (counts.given_up > 0).then_some(given_up);
    listed([Some(read), Some(found), given_up].into_iter().flatten().map(plain).collect())
}

/// Returns the rise of the threshold.
pub(super) fn thresholds(rises: &[Threshold]) -> Vec<Piece> {
    let last = rises.len() - 1;
    let shown = rises.len().min(THRESHOLDS_SHOWN);
    let places = (0..shown).map(|nth| nth * last / (shown - 1).max(1));
    let rise = |place: usize| {
        let Threshold { documents, score } = rises[place];
        plain(match place {
            0 => format!("{} after {}", Score(score), Count(documents, "document")),
            _ => format!("{} after {}", Score(score), Grouped(documents)),
        })
    };
    listed(places.map(rise).collect())
}

impl Piece {
    pub(super) fn whole(self) -> Self {
        Piece { whole: true, ..self }
    }
}
