//! A bit-sliced index over roaring bitmaps beside the column: a range, a sum and a median of what a set of documents has.
//!
//! Slices are CRoaring's, ready in memory, one for each bit of the value: a floor, as [`facets`](super::facets) has one. What treepie
//! is asked for includes parsing nothing, but planning, the posting list of the set, and all statistics that come with a sum.
//! O'Neil and Quass, "Improved Query Performance with Variant Indexes", 1997, has the algorithms.

use std::{fs, path::Path};

use croaring::Bitmap;
use treepie::{Document, Facet, Field, FieldKind, Index, Searcher, WriterOptions, query::Query};

use crate::{Result, measure};

const ROUNDS: usize = 11;
/// One in so many documents is in a set.
const SETS: [(&str, u64); 4] =
    [("thousandth", 1000), ("hundredth", 100), ("tenth", 10), ("half", 2)];

pub(crate) fn compare(dir: &str, documents: &str) -> Result<()> {
    let n: u64 = documents.parse()?;
    let at = Path::new(dir).join(format!("slices-treepie-{n}"));
    if !at.exists() {
        fs::create_dir_all(dir)?;
        build(n, &at)?;
    }
    let slices = Slices::new(n);
    let searcher = Index::open(&at)?.searcher()?;
    println!(
        "{n} values, MiB: slices {}, index {}",
        slices.bytes() >> 20,
        measure::size_of(&at)? >> 20
    );
    println!(
        "{:>12}{:>10}{:>12}{:>12}{:>8}   µs, median of {ROUNDS}",
        "set", "", "slices", "treepie", "ratio"
    );
    for (nth, (set, _)) in SETS.iter().enumerate() {
        let documents = &slices.sets[nth];
        let (lower, upper) = (n / 4, n * 3 / 4);
        let range = Query::range(lower..upper).in_field("value");
        let both = searcher.parse(&format!("mark:{set}"))?;
        let both_and_range = Query::all_of([both.clone(), range]);
        let tasks: [(&str, &dyn Fn() -> u64, &dyn Fn() -> Result<u64>); 3] = [
            ("range", &|| slices.between(documents, lower, upper), &|| {
                Ok(searcher.count(&both_and_range)?)
            }),
            ("sum", &|| slices.sum(documents), &|| sum_of(&searcher, &both)),
            ("median", &|| slices.median(documents), &|| median_of(&searcher, &both)),
        ];
        for (task, by_slices, by_treepie) in tasks {
            let (mut of_slices, mut of_treepie) = (vec![], vec![]);
            for _ in 0..ROUNDS {
                let (time, expected) = measure::time(|| Ok(by_slices()))?;
                of_slices.push(time);
                let (time, found) = measure::time(by_treepie)?;
                of_treepie.push(time);
                if expected != found {
                    return Err(
                        format!("{task} of {set}: slices {expected}, treepie {found}").into()
                    );
                }
            }
            let [a, b] = [measure::median(&mut of_slices), measure::median(&mut of_treepie)];
            println!("{set:>12}{task:>10}{a:>12.1}{b:>12.1}{:>8.2}", a / b);
        }
    }
    Ok(())
}

/// A value for each document, each of which many documents have, and none is far from the others.
fn value(number: u64, n: u64) -> u64 {
    mix(number) % n
}

fn mix(number: u64) -> u64 {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ (mixed >> 27)
}

fn is_in(number: u64, nth: usize) -> bool {
    mix(number ^ (nth as u64 + 1) << 56).is_multiple_of(SETS[nth].1)
}

fn build(n: u64, dir: &Path) -> Result<()> {
    let schema = treepie::Schema::builder()
        .field(Field::new("value", FieldKind::U64).stored(false))
        .field(Field::new("mark", FieldKind::Keyword).stored(false).many(true))
        .build()?;
    let index = Index::create(dir, schema)?;
    let mut writer = index.writer_with(WriterOptions::new().memory_bytes(512 << 20))?;
    for number in 0..n {
        let mut document = Document::new().with("value", value(number, n));
        let sets = SETS.iter().enumerate().filter(|(nth, _)| is_in(number, *nth));
        sets.for_each(|(_, (set, _))| document.push("mark", *set));
        writer.add(document)?;
    }
    writer.commit()?;
    Ok(())
}

fn sum_of(searcher: &Searcher, query: &Query) -> Result<u64> {
    let found = searcher.search(query).count_only().with_facet(Facet::statistics("value")).run()?;
    let statistics = found.facets[0].statistics.as_ref().ok_or("statistics")?;
    Ok(statistics.sum.as_ref().ok_or("a sum")?.to_string().parse()?)
}

fn median_of(searcher: &Searcher, query: &Query) -> Result<u64> {
    let facet = Facet::statistics("value").percentiles([50.0]);
    let found = searcher.search(query).count_only().with_facet(facet).run()?;
    let statistics = found.facets[0].statistics.as_ref().ok_or("statistics")?;
    let (_, median) = statistics.percentiles.first().ok_or("a median")?;
    Ok(median.to_string().parse()?)
}

struct Slices {
    /// By bit the documents whose value has it, the lowest first.
    slices: Vec<Bitmap>,
    sets: Vec<Bitmap>,
}

impl Slices {
    fn new(n: u64) -> Self {
        let n_bits = u64::BITS - (n - 1).leading_zeros();
        let of = |has: &dyn Fn(u64) -> bool| {
            let mut bitmap = Bitmap::new();
            (0..n).filter(|number| has(*number)).for_each(|number| bitmap.add(number as u32));
            bitmap.run_optimize();
            bitmap
        };
        let slices =
            (0..n_bits).map(|bit| of(&|number| value(number, n) >> bit & 1 == 1)).collect();
        let sets = (0..SETS.len()).map(|nth| of(&|number| is_in(number, nth))).collect();
        Slices { slices, sets }
    }

    fn bytes(&self) -> usize {
        self.slices
            .iter()
            .map(|slice| slice.get_serialized_size_in_bytes::<croaring::Portable>())
            .sum()
    }

    /// The documents of a set with a value of at least `least`.
    fn from(&self, set: &Bitmap, least: u64) -> Bitmap {
        let (mut greater, mut equal) = (Bitmap::new(), set.clone());
        for (bit, slice) in self.slices.iter().enumerate().rev() {
            if least >> bit & 1 == 1 {
                equal.and_inplace(slice);
            } else {
                greater.or_inplace(&equal.and(slice));
                equal.andnot_inplace(slice);
            }
        }
        greater.or_inplace(&equal);
        greater
    }

    fn between(&self, set: &Bitmap, lower: u64, upper: u64) -> u64 {
        let from_lower = self.from(set, lower);
        let from_upper = self.from(&from_lower, upper);
        from_lower.cardinality() - from_upper.cardinality()
    }

    fn sum(&self, set: &Bitmap) -> u64 {
        let of_bit = |(bit, slice): (usize, &Bitmap)| slice.and_cardinality(set) << bit;
        self.slices.iter().enumerate().map(of_bit).sum()
    }

    /// The value of the document in the middle, the lower of two.
    fn median(&self, set: &Bitmap) -> u64 {
        let (mut left, mut value) = (set.clone(), 0);
        let mut rank = (set.cardinality() - 1) / 2;
        for (bit, slice) in self.slices.iter().enumerate().rev() {
            let with = left.and(slice);
            let n_without = left.cardinality() - with.cardinality();
            if rank < n_without {
                left.andnot_inplace(slice);
            } else {
                rank -= n_without;
                value |= 1 << bit;
                left = with;
            }
        }
        value
    }
}
