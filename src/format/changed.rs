//! Score parts that were computed with other parameters of BM25, and their codes.
//!
//! Codes say what parts `s = tf / (tf + K)` are at most, with `K` of the average length of their segment; a snapshot of
//! several segments has another average, and scores parts `s' = tf / (tf + K')`. Both `K` and `K'` are lines in the length,
//! and a part `s` has `tf = K × s / (1 − s)`, so that
//!
//! ```text
//! s' = s / (s + X)    X = K' / K × (1 − s)
//! ```
//!
//! `K' / K` rises or falls with the length all the way, so its extremes are those of the shortest and of the longest documents.
//! Infinitely long ones have the ratio of the slopes. The shortest ones are empty, or, if one occurrence alone is more
//! than `s` there, those where it is `s`: `K = (1 − s) / s`. Near 1, where the best parts are, all that changes them
//! little.

use super::lengths::Bm25;
use crate::simd::sums;

/// Factor just above 1 for the rounding of parts and of lengths in `f32`.
const ROUNDING: f64 = 1.0 + 4e-6;

/// Change of score parts from some parameters to others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartChange {
    /// `K' / K` of empty documents, and of infinitely long ones.
    shortest: f64,
    longest: f64,
    /// `K'` less `longest × K`, which is that of all lengths.
    rest: f64,
}

impl PartChange {
    /// None where parameters are the same.
    pub(crate) fn of(before: &Bm25, now: &Bm25) -> Option<Self> {
        let line = |of: &Bm25| {
            let (k1, b) = (f64::from(of.k1), f64::from(of.b));
            (k1 * (1.0 - b), k1 * b / f64::from(of.average))
        };
        let ((base, slope), (base_now, slope_now)) = (line(before), line(now));
        let longest = slope_now / slope;
        let (shortest, rest) = (base_now / base, base_now - longest * base);
        let is_known = base > 0.0 && longest.is_finite() && shortest.is_finite();
        // A line that does not rise from above 0 says nothing: any part may become any other.
        let unknown = PartChange { shortest: f64::INFINITY, longest: 0.0, rest: f64::INFINITY };
        let change = PartChange { shortest, longest, rest };
        (before != now).then_some(if is_known { change } else { unknown })
    }

    fn rises(&self) -> bool {
        self.longest > self.shortest
    }

    /// `X` of the shortest documents with this part.
    fn of_shortest(&self, part: f64) -> f64 {
        let empty = self.shortest * (1.0 - part);
        let once = self.longest * (1.0 - part) + self.rest * part;
        if self.rises() { empty.max(once) } else { empty.min(once) }
    }

    fn of_longest(&self, part: f64) -> f64 {
        self.longest * (1.0 - part)
    }

    /// Bound of what parts up to this one become.
    pub(crate) fn most(&self, part: f64) -> f64 {
        let part = (part * ROUNDING).min(1.0);
        let x = if self.rises() { self.of_shortest(part) } else { self.of_longest(part) };
        (part / (part + x) * ROUNDING).min(1.0)
    }

    /// Bound of what parts up to this one become in documents whose `K'` lies between two.
    pub(crate) fn most_of(&self, part: f64, (least, greatest): (f32, f32)) -> f64 {
        let k_now = f64::from(if self.rises() { least } else { greatest });
        let k = (k_now - self.rest) / self.longest;
        // Digits do not suffice for lines that differ more.
        if !(0.1..=10.0).contains(&self.longest) || k <= 0.0 {
            return self.most(part);
        }
        let part = (part * ROUNDING).min(1.0);
        (part / (part + k_now / k * (1.0 - part)) * (1.0 + 1e-5)).min(1.0)
    }

    /// Bound of what parts from this one on become.
    pub(crate) fn least(&self, part: f64) -> f64 {
        let part = part / ROUNDING;
        let x = if self.rises() { self.of_longest(part) } else { self.of_shortest(part) };
        part / (part + x) / ROUNDING
    }

    /// A part below which none becomes so much.
    pub(crate) fn needed(&self, now: f64) -> f64 {
        let now = (now / ROUNDING).min(1.0);
        let of = |ratio: f64| now * ratio / (1.0 - now + now * ratio);
        let of_all = if self.rises() {
            let once = now * self.longest / (1.0 - now + now * (self.longest - self.rest));
            of(self.shortest).max(once)
        } else {
            of(self.longest)
        };
        of_all / ROUNDING
    }

    /// Codes of what parts become, given that of the best one, `max`; and that itself.
    pub(crate) fn codes(&self, max: f32) -> CodeChange {
        let best = self.most(f64::from(max));
        // In f32, which many codes are computed in at once.
        let of_code = f64::from(max) / 255.0 * ROUNDING;
        let (shortest, rest) = if self.rises() { (self.shortest, self.rest) } else { (0.0, 0.0) };
        let codes = 255.0 / best * (1.0 + 1e-5);
        CodeChange([of_code, shortest, self.longest, rest, codes].map(|number| number as f32))
    }
}

/// Change of the codes of a list: the part that a code counts, `X` of empty and of the longest documents and the rest of it, as far
/// as these count, and codes of a part of 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CodeChange([f32; 5]);

impl CodeChange {
    /// The code of what parts with a code become.
    #[inline]
    pub(crate) fn code(&self, code: u8) -> u8 {
        sums::changed_code(code, self.0)
    }

    /// The codes of what parts with some codes become.
    pub(crate) fn change(&self, codes: &[u8], changed: &mut [u8]) {
        sums::change_codes(codes, changed, self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::lengths::score_part;
    use proptest::prelude::*;

    fn parameters() -> impl Strategy<Value = Bm25> {
        let usual = (Just(1.2f32), Just(0.75f32), 0.5f32..2000.0);
        prop_oneof![usual, (0.0f32..3.0, 0.0f32..=1.0, 0.5f32..2000.0)]
            .prop_map(|(k1, b, average)| Bm25 { k1, b, average })
    }

    proptest! {
        #[test]
        fn no_part_becomes_more_or_less_than_is_said(
            (before, now) in (parameters(), parameters()),
            frequency in prop_oneof![1u32..4, 1u32..1000],
            max in 0.0f32..=1.0,
        ) {
            let Some(change) = PartChange::of(&before, &now) else { return Ok(()) };
            for (k, k_now) in before.norm_cache().iter().zip(&now.norm_cache()) {
                let (part, then) = (score_part(frequency, *k), score_part(frequency, *k_now));
                let (part, then) = (f64::from(part), f64::from(then));
                prop_assert!(then <= change.most(part), "{part} {then} {}", change.most(part));
                prop_assert!(then >= change.least(part), "{part} {then} {}", change.least(part));
                let of_length = change.most_of(part, (*k_now, *k_now));
                prop_assert!(then <= of_length, "{part} {then} {of_length}");
                let needed = change.needed(then);
                prop_assert!(part >= needed || needed.is_nan(), "{part} {then} {needed}");
                // Codes of a list whose best part is this one, or a better one.
                let max = max.max(part as f32);
                let code = (part * 255.0 / f64::from(max)).ceil().clamp(1.0, 255.0);
                let changed = f64::from(change.codes(max).code(code as u8));
                prop_assert!(then <= changed / 255.0 * change.most(max.into()) * (1.0 + 1e-6));
            }
        }

        #[test]
        fn bounds_grow_with_parts(before in parameters(), now in parameters(), max in 0.01f32..=1.0) {
            let Some(change) = PartChange::of(&before, &now) else { return Ok(()) };
            let most: Vec<_> = (0..=1000).map(|part| change.most(f64::from(part) / 1e3)).collect();
            prop_assert!(most.is_sorted());
            let codes: Vec<_> = (0..=255).map(|code| change.codes(max).code(code)).collect();
            prop_assert!(codes.is_sorted() && codes[0] == 0 && codes[1] > 0);
        }
    }

    /// A segment whose documents are half as long as those of the snapshot: the best parts stay nearly what they are.
    #[test]
    fn good_parts_hardly_change() {
        let of = |average| Bm25 { k1: 1.2, b: 0.75, average };
        let change = PartChange::of(&of(200.0), &of(400.0)).unwrap();
        assert!((change.most(0.9) - 0.947).abs() < 1e-3 && (change.least(0.9) - 0.9).abs() < 1e-3);
        assert!((change.most(0.1) - 0.182).abs() < 1e-3);
        assert!((change.needed(0.947) - 0.9).abs() < 1e-3);
        // Documents of 200 words had K of 1.2, and have 0.75.
        assert!((change.most_of(0.5, (0.75, 0.75)) - 1.6 / 2.6).abs() < 1e-3);
        assert!(PartChange::of(&of(200.0), &of(200.0)).is_none());
    }
}
