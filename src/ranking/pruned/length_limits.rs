//! Documents that are too long to be good enough, given how often they can have a word at most.
//!
//! Where texts are short, nearly every document has a word once, and the best score is that of many: what is
//! left of a block after its lengths were compared is mostly nothing.

use crate::format::lengths::score_part;
use crate::ids::DocId;
use crate::ranking::Clause;
use crate::ranking::top::Top;

/// Widths of frequencies for which there are limits: up to 256 times a word.
const WIDTHS: usize = 9;
/// What f32 may round away between two frequencies.
const ROUNDING: f32 = 1.0 + 1e-5;
/// Stands where a limit was not computed yet.
const UNKNOWN: u16 = u16::MAX;

/// For the widths of frequencies the first code of a length that is too great.
#[derive(Debug)]
pub(super) struct LengthLimits {
    /// What the limits were computed for: the threshold, and whether it has to be passed.
    threshold: f32,
    is_strict: bool,
    limits: [u16; WIDTHS],
}

impl LengthLimits {
    pub(super) const NONE: LengthLimits =
        LengthLimits { threshold: 0.0, is_strict: false, limits: [UNKNOWN; WIDTHS] };

    /// The first code of a length with which no document from `first` on is good enough, where frequencies less one have so
    /// many bits; 256 where all are.
    #[inline]
    pub(super) fn limit(
        &mut self,
        clause: &Clause<'_>,
        width: u32,
        first: DocId,
        top: &Top,
    ) -> u16 {
        let Some(known) = self.limits.get(width as usize).copied() else { return 256 };
        let threshold = top.threshold();
        let is_strict = !top.would_take(threshold, first);
        if known != UNKNOWN && (threshold, is_strict) == (self.threshold, self.is_strict) {
            return known;
        }
        if (threshold, is_strict) != (self.threshold, self.is_strict) {
            *self = LengthLimits { threshold, is_strict, ..Self::NONE };
        }
        // All of them are the same where they have no bits; of others the greatest is rounded in its own way.
        let rounding = if width == 0 { 1.0 } else { ROUNDING };
        let is_good =
            |k: &f32| top.would_take(clause.weight * score_part(1 << width, *k) * rounding, first);
        let limit = clause.scoring.k_by_code.partition_point(is_good) as u16;
        self.limits[width as usize] = limit;
        limit
    }
}
