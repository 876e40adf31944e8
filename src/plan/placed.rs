//! Estimates of the documents that have a phrase. For explained plans its words are placed in some of the documents
//! that have them all.
//!
//! Words of a phrase keep company, so that independence says next to nothing of how many documents have them
//! all, let alone side by side. Documents that have them all are counted window by window (`sample`); some of
//! these are looked at, in groups of neighbours that are spread evenly: 0.1 µs each and a few µs to begin
//! with.

use super::estimate::{EstimateSource, Span};
use super::window::GROUP;
use super::{NodeId, Operator, Plan, SegmentPlan};
use crate::error::Result;
use crate::phrase::PhraseReader;

/// Words that are placed in documents, over all segments: two words in half as many documents.
const WORDS_MAX: f64 = 128.0;
/// Documents in which they are placed, at the most.
pub(super) const PLACED_MAX: usize = 64;

/// Expected number of documents with a phrase, among those with its words, if it was met in none that were looked at:
/// an unmet phrase is rare; how rare, so few do not say.
const NOT_MET: f64 = 0.3;

/// Phrases that must all match: each is the input of the next, and the first has the words of all.
pub(super) struct Phrases {
    /// The documents that have the words.
    pub(super) base: NodeId,
    /// Operators and places in [`Plan::phrases`].
    each: Vec<(NodeId, usize)>,
    pub(super) windows: Vec<Picked>,
}

/// Documents with the words, in one window.
pub(super) struct Picked {
    pub(super) key: u32,
    pub(super) n: u32,
    /// Some of them, or all.
    pub(super) lows: Vec<u16>,
}

/// Estimates of phrases from looking at some documents: their source, none if no document has the words; and those of
/// each by window.
type Placed = (Option<EstimateSource>, Vec<(NodeId, Vec<Span>)>);

impl Phrases {
    /// All phrases of a plan that have terms as words.
    pub(super) fn of(plan: &Plan<'_>) -> Vec<Self> {
        let mut all: Vec<Phrases> = vec![];
        for (at, node) in plan.nodes.iter().enumerate() {
            let Operator::Phrase { nth, input } = &node.operator else { continue };
            let Some(input) = plan.inputs(input).first() else { continue };
            let phrase = (NodeId(at as u32), *nth as usize);
            match all.iter_mut().find(|it| it.each.last().is_some_and(|(last, _)| last == input)) {
                Some(phrases) => phrases.each.push(phrase),
                None => {
                    all.push(Phrases { base: *input, each: vec![phrase], windows: vec![] });
                }
            }
        }
        // Words that stand for many terms take too long.
        all.retain(|it| it.each.iter().all(|(_, nth)| plan.phrases[*nth].spec.open.is_empty()));
        all
    }

    /// Places the words of all phrases in some documents: in a segment that has such a `share` of the work that all phrases
    /// are worth.
    pub(super) fn place(
        mut self,
        plan: &Plan<'_>,
        part: &SegmentPlan<'_>,
        share: f64,
    ) -> Result<Placed> {
        let n_words: usize = self.each.iter().map(|(_, nth)| plan.phrases[*nth].spec.len()).sum();
        let most = (WORDS_MAX * share / n_words.max(2) as f64).ceil() as u32;
        let of: u32 = self.windows.iter().map(|window| window.n).fold(0, u32::saturating_add);
        let n_groups = u64::from(most).div_ceil(GROUP as u64);
        let mut before = 0u64;
        for Picked { n, lows, .. } in &mut self.windows {
            // Each window has its share of them, rounded so that the sum is right.
            let until = before + u64::from(*n);
            let groups = |documents: u64| documents * n_groups / u64::from(of.max(1));
            let wanted = (groups(until) - groups(before)) as usize;
            before = until;
            if of > most && wanted * GROUP < lows.len() {
                let groups: Vec<&[u16]> = lows.chunks(GROUP).collect();
                let group = |nth: usize| groups[nth * groups.len() / wanted];
                *lows = (0..wanted).flat_map(|nth| group(nth).iter().copied()).collect();
            }
        }
        let looked_at: Vec<u32> = self.windows.iter().map(|it| it.lows.len() as u32).collect();
        let documents = looked_at.iter().sum();
        let source = (of > 0).then_some(EstimateSource::Placed { documents, of });
        let mut all = vec![];
        for (node, nth) in self.each {
            let phrase = &plan.phrases[nth];
            let leaves = phrase.leaves.iter();
            let infos: Vec<_> =
                leaves.map(|leaf| part.infos.get(leaf.index()).copied().flatten()).collect();
            let field = part.segment.field(phrase.field);
            match PhraseReader::open(field, &infos, &phrase.spec)? {
                None => self.windows.iter_mut().for_each(|window| window.lows.clear()),
                Some(mut words) => {
                    for Picked { key, lows, .. } in &mut self.windows {
                        words.retain(*key, lows)?;
                    }
                }
            }
            all.push((node, spans(&self.windows, &looked_at)));
        }
        Ok((source, all))
    }
}

/// Bounds by window, from the documents that are left of those that were looked at.
fn spans(windows: &[Picked], looked_at: &[u32]) -> Vec<Span> {
    let (mut met, mut all_looked_at, mut with_words, mut in_all) = (0.0, 0.0, 0.0, 0.0);
    for (window, looked_at) in windows.iter().zip(looked_at) {
        let (n, left) = (f64::from(window.n), window.lows.len() as f64);
        met += left;
        all_looked_at += f64::from(*looked_at);
        if *looked_at > 0 {
            with_words += n;
            in_all += left * n / f64::from(*looked_at);
        }
    }
    let share =
        if met > 0.0 { in_all / with_words } else { NOT_MET / f64::max(all_looked_at, 1.0) };
    let span = |(window, looked_at): (&Picked, &u32)| {
        let left = window.lows.len() as u32;
        let others = window.n.saturating_sub(*looked_at);
        let documents = f64::from(left) + f64::from(others) * share;
        Span { lower: left, upper: left + others, documents }
    };
    windows.iter().zip(looked_at).map(span).collect()
}
