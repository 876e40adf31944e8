//! Products that are made up, all from their numbers alone, as every engine gets them.

use crate::Result;

const N_VALUES: u64 = 300;
const COLORS: [&str; 12] = [
    "amber", "black", "blue", "brown", "green", "grey", "orange", "pink", "red", "violet", "white",
    "yellow",
];
/// From 2019 on, so many seconds of five years.
const FIRST_SECOND: i64 = 1_546_300_800;
const SECONDS: u64 = 5 * 365 * 86_400;
/// Ends of the ranges of prices, in cents.
pub(super) const PRICES: [i64; 9] = [300, 600, 1_000, 1_500, 2_000, 3_000, 4_500, 7_500, 15_000];
/// A mark and the one in how many documents that has it; the last is asked for as "everything".
pub(super) const MARKS: [(&str, u64); 4] =
    [("thousandth", 1000), ("hundredth", 100), ("tenth", 10), ("every", 1)];

/// A document, as every engine gets it.
pub(super) struct Product<'p> {
    pub(super) brand: &'p str,
    pub(super) color: &'static str,
    pub(super) cents: i64,
    pub(super) second: i64,
    pub(super) marks: Vec<&'static str>,
}

/// Calls `take` with every document: brands by Zipf's law, prices log-normal, dates and marks by chance, all from its number
/// alone.
pub(super) fn each_document(
    n: u64,
    mut take: impl FnMut(&Product<'_>) -> Result<()>,
) -> Result<()> {
    let brands: Vec<String> = (1..=N_VALUES).map(|rank| format!("brand {rank:03}")).collect();
    let mut total = 0.0;
    let up_to: Vec<f64> = (1..=N_VALUES)
        .map(|rank| {
            total += 1.0 / rank as f64;
            total
        })
        .collect();
    let fraction = |x: u64| (mix(x) >> 11) as f64 / (1u64 << 53) as f64;
    for number in 0..n {
        let brand = &brands[up_to.partition_point(|sum| *sum <= fraction(number) * total)];
        let [a, b] = [5u64, 6].map(|at| fraction(number ^ (at << 56)));
        let normal = (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos();
        let mut marks = vec![];
        for (at, (mark, one_in)) in MARKS.iter().enumerate() {
            if mix(number ^ ((at as u64 + 1) << 56)).is_multiple_of(*one_in) {
                marks.push(*mark);
            }
        }
        let second = FIRST_SECOND + (mix(number ^ (7 << 56)) % SECONDS) as i64;
        let color = COLORS[(mix(number ^ (8 << 56)) % COLORS.len() as u64) as usize];
        take(&Product { brand, color, cents: (7.5 + normal).exp() as i64, second, marks })?;
    }
    Ok(())
}

/// SplitMix64's output function.
fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
