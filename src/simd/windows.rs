//! Scores of all documents of a window, list after list.
//!
//! One body serves all instruction sets. Sums are those of single documents, so that scores are the same to the last bit.

#[cfg(target_arch = "x86_64")]
use super::avx512;
use super::packed::{bits_at, word_at};
use super::scores::{BLOCK, Packed, at_least};

/// Documents of a window: numbers that share their upper 16 bits.
pub(crate) const DOCS: usize = 1 << 16;

/// Score of a document that no list has: with whatever is added it makes that, to the last bit, and no sum is as it is.
pub(crate) const ABSENT: f32 = -0.0;

/// Widest frequencies, packed, whose parts of a score are looked up.
const LOOKED_UP_MAX: u32 = 2;
/// Codes of lengths.
const CODES: usize = 256;

/// Score parts of a list by length, a row for each frequency that is looked up.
pub(crate) type PartTable = [f32; CODES << LOOKED_UP_MAX];

/// Postings that are scored at once where their parts are computed, and the widest frequencies of so many that a word has.
const AT_ONCE: usize = 8;
const WORD_MAX: u32 = 7;
/// Postings that are scored at once where their parts are looked up: a word has all frequencies, wherever in a byte they begin.
const LOOKED_UP_AT_ONCE: usize = 16;
const _: () = assert!(LOOKED_UP_AT_ONCE * LOOKED_UP_MAX as usize + 7 <= 64);

/// Weight and score parts of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListParts<'a> {
    pub(crate) weight: f32,
    pub(crate) norm_cache: &'a [f32; CODES],
    /// All that frequencies can add that are often looked up, where that was computed.
    pub(crate) table: Option<&'a PartTable>,
}

/// Postings of a list, of which frequencies are packed together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group<'a> {
    /// The documents, less what those of the window have in common.
    pub(crate) lows: &'a [[u8; 2]],
    /// The frequencies less one, and the number of the first that is of a document here.
    pub(crate) packed: Packed<'a>,
    pub(crate) first: u32,
}

/// Replaces `to` by the places of the bits that are set.
#[inline]
pub(crate) fn places(words: &[[u8; 8]; DOCS / BLOCK], to: &mut Vec<[u8; 2]>) {
    to.clear();
    return_by_vectors!(avx512 avx512::windows::places => (words, to));
    places_portable(words, to);
}

fn places_portable(words: &[[u8; 8]; DOCS / BLOCK], to: &mut Vec<[u8; 2]>) {
    for (word, first) in words.iter().zip((0..=u16::MAX).step_by(64)) {
        let (mut word, mut of_word, mut n) = (u64::from_le_bytes(*word), [[0; 2]; 64], 0);
        while word != 0 {
            of_word[n % 64] = (first + word.trailing_zeros() as u16).to_le_bytes();
            word &= word - 1;
            n += 1;
        }
        to.extend_from_slice(&of_word[..n]);
    }
}

kernel! {
    /// Computes what a list adds: `weight * f / (f + k)`.
    fill(table: &mut PartTable, weight: f32, norm_cache: &[f32; CODES]) {
        let mut frequency = 1.0f32;
        for row in table.as_chunks_mut::<CODES>().0 {
            for (part, k) in row.iter_mut().zip(norm_cache) {
                *part = weight * (frequency / (frequency + k));
            }
            frequency += 1.0;
        }
    }
}

kernel! {
    /// Adds to the scores of documents what a list adds, given the codes of all lengths of the window; what lies past their end is 0.
    add(scores: &mut [f32; DOCS], group: Group<'_>, codes: &[u8], parts: ListParts<'_>) {
        let Group { lows, packed: (packed, widths), first } = group;
        let code_of = |low: usize| usize::from(codes.get(low).copied().unwrap_or_default());
        let (mut left, mut nth) = (lows, first % BLOCK as u32);
        while !left.is_empty() {
            let n = (widths.run(nth) as usize).min(left.len());
            let (lows, rest) = left.split_at(n);
            let (bit, width) = widths.place(nth);
            let mut bit = bit as usize;
            (left, nth) = (rest, (nth + n as u32) % BLOCK as u32);
            if let Some(table) = parts.table
                && width <= LOOKED_UP_MAX
            {
                let mask = ((1 << width) - 1) & ((1 << LOOKED_UP_MAX) - 1);
                for lows in lows.chunks(LOOKED_UP_AT_ONCE) {
                    let mut less_one = word_at(packed, bit / 8) >> (bit % 8);
                    for low in lows {
                        let low = usize::from(u16::from_le_bytes(*low));
                        let row = less_one as usize & mask;
                        scores[low] += table[row * CODES + code_of(low)];
                        less_one >>= width;
                    }
                    bit += LOOKED_UP_AT_ONCE * width as usize;
                }
                continue;
            }
            let (chunks, rest) = lows.as_chunks::<AT_ONCE>();
            for lows in chunks {
                let mut frequencies = [0.0f32; AT_ONCE];
                if width <= WORD_MAX {
                    let less_one = word_at(packed, bit / 8) >> (bit % 8);
                    for (nth, frequency) in frequencies.iter_mut().enumerate() {
                        let less_one = (less_one >> (nth * width as usize % 64)) as u8 & ((1 << width) - 1) as u8;
                        *frequency = f32::from(u16::from(less_one) + 1);
                    }
                } else {
                    for (nth, frequency) in frequencies.iter_mut().enumerate() {
                        let bit = bit + nth * width as usize;
                        *frequency = bits_at(packed, bit, width).saturating_add(1) as f32;
                    }
                }
                let mut added = [0.0f32; AT_ONCE];
                for (k, low) in added.iter_mut().zip(lows) {
                    *k = parts.norm_cache[code_of(usize::from(u16::from_le_bytes(*low)))];
                }
                for (added, frequency) in added.iter_mut().zip(frequencies) {
                    *added = parts.weight * (frequency / (frequency + *added));
                }
                for (low, added) in lows.iter().zip(added) {
                    scores[usize::from(u16::from_le_bytes(*low))] += added;
                }
                bit += AT_ONCE * width as usize;
            }
            for low in rest {
                let low = usize::from(u16::from_le_bytes(*low));
                let frequency = bits_at(packed, bit, width).saturating_add(1) as f32;
                scores[low] += parts.weight * (frequency / (frequency + parts.norm_cache[code_of(low)]));
                bit += width as usize;
            }
        }
    }
}

kernel! {
    /// Documents of a block that any list has.
    count(scores: &[f32; BLOCK]) -> usize {
        let mut absent = 0;
        for score in scores {
            absent += u32::from(score.to_bits() == ABSENT.to_bits());
        }
        BLOCK - absent as usize
    }
}

/// Documents that score at least what is given with the block that they are in, with their scores.
pub(crate) fn good(
    scores: &[[f32; BLOCK]],
    blocks: impl Iterator<Item = (usize, f32)>,
) -> impl Iterator<Item = (u32, f32)> {
    blocks.filter_map(|(block, least)| Some((block, scores.get(block)?, least))).flat_map(
        |(block, scores, least)| {
            let mut good = at_least(BLOCK, scores, least);
            let good = std::iter::from_fn(move || {
                let bit = (good != 0).then(|| good.trailing_zeros())?;
                good &= good - 1;
                Some(((block * BLOCK) as u32 + bit, scores[bit as usize % BLOCK]))
            });
            // An absent score is as good as 0.
            good.filter(|(_, score)| score.to_bits() != ABSENT.to_bits())
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::each_step;
    use crate::simd::widths::Widths;
    use proptest::prelude::*;

    #[test]
    fn places_are_those_of_the_bits_that_are_set() {
        let mut words = [[0u8; 8]; DOCS / BLOCK];
        for (nth, word) in words.iter_mut().enumerate() {
            let bits = (nth as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            *word = match nth % 4 {
                0 => [0; 8],
                1 => [0xFF; 8],
                2 => bits.to_le_bytes(),
                _ => (bits & bits << 9 & bits << 23).to_le_bytes(),
            };
        }
        let is_set = |place: &usize| words[place / 64][place % 64 / 8] >> (place % 8) & 1 == 1;
        let expected = (0..DOCS).filter(is_set).map(|place| (place as u16).to_le_bytes());
        let expected: Vec<[u8; 2]> = expected.collect();
        for () in each_step() {
            let mut found = vec![[7; 2]];
            places(&words, &mut found);
            assert_eq!(found, expected);
        }
    }

    proptest! {
        #[test]
        fn scores_are_those_of_each_document_by_itself(
            lows in prop::collection::btree_set(prop_oneof![any::<u16>(), 0u16..300], 0..64),
            codes in prop::collection::vec(any::<u8>(), 0..300),
            packed in prop::collection::vec(any::<u8>(), 0..300),
            widths in prop_oneof![
                (0u32..=32).prop_map(Widths::all),
                any::<u16>().prop_map(Widths::of_nibbles),
                any::<u16>().prop_map(|nibbles| Widths::of_nibbles(nibbles & 0x3333)),
            ],
            (weight, first) in (0.0f32..20.0, 0u32..64),
            k in prop::collection::vec(prop_oneof![Just(0.0f32), 0.0f32..9.0], CODES),
            has_table: bool,
        ) {
            let k: [f32; CODES] = std::array::from_fn(|nth| k[nth]);
            let n_lows = lows.len().min(64 - first as usize);
            let lows: Vec<[u8; 2]> = lows.into_iter().take(n_lows).map(u16::to_le_bytes).collect();
            let mut expected = vec![ABSENT; DOCS];
            expected[7] = 1.5;
            for (nth, low) in lows.iter().enumerate() {
                let low = usize::from(u16::from_le_bytes(*low));
                let (bit, width) = widths.place(first + nth as u32);
                let frequency = bits_at(&packed, bit as usize, width).saturating_add(1) as f32;
                let k = k[usize::from(codes.get(low).copied().unwrap_or_default())];
                expected[low] += weight * (frequency / (frequency + k));
            }
            let n_matching = expected.iter().filter(|score| score.is_sign_positive()).count();
            for () in each_step() {
                let mut table = [0.0; CODES << LOOKED_UP_MAX];
                fill(&mut table, weight, &k);
                let parts = ListParts { weight, norm_cache: &k, table: has_table.then_some(&table) };
                let mut scores = vec![ABSENT; DOCS];
                scores[7] = 1.5;
                let scores: &mut [f32; DOCS] = scores.first_chunk_mut().unwrap();
                let packed = (&packed[..], widths);
                add(scores, Group { lows: &lows, packed, first }, &codes, parts);
                let is_equal = |(found, expected): (&f32, &f32)| found.to_bits() == expected.to_bits();
                prop_assert!(scores.iter().zip(&expected).all(is_equal));
                let of_blocks = scores.as_chunks().0;
                prop_assert_eq!(of_blocks.iter().map(count).sum::<usize>(), n_matching);
                for least in [0.0, 1.5] {
                    let is_good = |&(low, score): &(u32, f32)| {
                        score.is_sign_positive() && score >= least && low as usize / BLOCK % 3 == 2
                    };
                    let all = (0..).zip(expected.iter().copied());
                    let expected: Vec<_> = all.filter(is_good).collect();
                    let blocks = (2..DOCS / BLOCK).step_by(3).map(|block| (block, least));
                    let found: Vec<_> = good(of_blocks, blocks).collect();
                    prop_assert_eq!(found, expected);
                }
            }
        }
    }
}
