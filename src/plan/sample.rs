//! How many documents have a phrase: by a sample, where people want to know.
//!
//! Words of a phrase keep company, so that independence says next to nothing of how many documents have them
//! all, let alone side by side. A few windows of 65,536 documents are looked at: how many documents there have
//! all words, and of some of these whether they have the phrase. It costs some 50 µs a phrase and segment,
//! more than many an answer does, and changes no order: plans that are only carried out do without.

use super::estimate::Span;
use super::{PhrasePlan, SegmentPlan};
use crate::error::Result;
use crate::phrase::{Candidates, PhraseReader};

/// Windows of a segment that are looked at.
const WINDOWS_MAX: usize = 4;
/// Documents in which the words are placed, over all windows: no more than are gathered at once.
const DOCUMENTS_MAX: usize = 256;

/// What a sample says of a phrase in one segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PhraseSample {
    /// Documents that have all words, as a multiple of those expected if words were independent.
    pub(super) words: f64,
    /// The part of these documents that has the phrase.
    pub(super) share: f64,
}

impl PhraseSample {
    /// Looks at some documents; `None` where a word stands for many terms, which takes too long.
    pub(super) fn of(phrase: &PhrasePlan, part: &SegmentPlan<'_>) -> Result<Option<Self>> {
        if !phrase.spec.open.is_empty() {
            return Ok(None);
        }
        let infos: Vec<_> = phrase.leaves.iter().map(|leaf| part.infos[leaf.index()]).collect();
        let field = part.segment.field(phrase.field);
        let Some(mut words) = PhraseReader::open(field, &infos, &phrase.spec)? else {
            return Ok(None);
        };
        let (mut windows, mut candidates) = (vec![], Candidates::default());
        words.windows(&mut windows, &mut candidates);
        let n_windows = windows.len().min(WINDOWS_MAX);
        let (mut found, mut placed, mut matching) = (0.0, 0, 0.0);
        let mut is_sample = windows.len() > n_windows;
        for nth in 0..n_windows {
            // From the middle of as many equal parts.
            let window = windows[(2 * nth + 1) * windows.len() / (2 * n_windows)];
            words.candidates(window.key, &mut candidates)?;
            let n_found = candidates.lows.len();
            let n_placed = n_found.min(DOCUMENTS_MAX / n_windows);
            is_sample |= n_placed < n_found;
            let some: Vec<u16> =
                (0..n_placed).map(|nth| candidates.lows[nth * n_found / n_placed]).collect();
            words.gather(window.key, &some)?;
            let mut hits = 0;
            for nth in 0..n_placed {
                hits += u32::from(words.count(nth, 1)? > 0);
            }
            placed += n_placed;
            found += n_found as f64;
            matching += f64::from(hits) * n_found as f64 / n_placed.max(1) as f64;
        }
        if is_sample && matching == 0.0 && placed > 0 {
            // What was not met is rare; how rare, so many documents do not say.
            matching = 0.5 * found / placed as f64;
        }
        let everywhere = found * windows.len() as f64 / n_windows.max(1) as f64;
        let expected = expected(phrase, part);
        Ok(Some(PhraseSample {
            words: if expected > 0.0 { everywhere / expected } else { 1.0 },
            share: if found > 0.0 { matching / found } else { 0.0 },
        }))
    }
}

/// Documents with all words of a phrase, were these independent inside each window.
fn expected(phrase: &PhrasePlan, part: &SegmentPlan<'_>) -> f64 {
    let mut cursors = vec![0; phrase.leaves.len()];
    let of_window = |key: u32| {
        let w = part.window_len(key);
        let leaves = phrase.leaves.iter().zip(&mut cursors);
        let spans = leaves
            .map(|(leaf, cursor)| part.leaves[leaf.index()].span(cursor, key, w, part.n_docs));
        Span::intersect(spans, std::iter::empty(), w).documents
    };
    (0..part.n_windows()).map(of_window).sum()
}
