//! Calibration of the cost model: measures the costs of this machine on synthetic data.
//!
//! Each figure is the least of many short runs, so that other load on the machine spoils few of them. Costs that no
//! measurement of a few milliseconds gives keep their built-in figures: those that depend on how a query goes rather than on one
//! loop, as scoring and its bounds, and those that depend on how values lie in a column.

use crate::bitmap::{self, Container, ContainerBuf, Kernel};
use crate::document::Document;
use crate::error::Result;
use crate::expansion::DocSet;
use crate::format::boxes::Boxes;
use crate::format::pages::{PageNumbers, Pages, PagesWriter};
use crate::format::points::{Points, PointsWriter};
use crate::format::terms::TermInfo;
use crate::geo::{BoundArea, Distance, GeoArea, GeoCounts, GeoPoint, UnitPoint};
use crate::index::Index;
use crate::plan::cost::GALLOP_MEASURED;
use crate::plan::{CostModel, Costs};
use crate::schema::Schema;
use crate::searcher::Searcher;
use crate::segment::reader::FieldReader;
use crate::simd::dots::{F32, dot_and_square};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Time for which each figure is measured, and how often at the least.
const TIME: Duration = Duration::from_millis(30);
const RUNS_MIN: u32 = 15;
/// Numbers of a vector, and vectors, of which 6 MB do not fit into the nearest caches.
const DIMS: usize = 384;
const N_VECTORS: usize = 4_096;
/// Points, of which 500 kB fit into no nearest cache.
const N_POINTS: usize = 65_536;
/// Pairs of containers that are gone through: too many for the nearest cache, as in a query.
const PAIRS: usize = 24;
/// Documents of the index that lists and dictionaries are measured on; each has a word of its own, and shares others.
const N_DOCS: u32 = 66_000;
/// Documents of short lists of two sizes: what both take tells what opening takes, and what a document does.
const SHORT: [u32; 2] = [20, 220];

/// Measures the costs of this machine. It takes a second or two on one core, and some 20 MB of memory. On a busy
/// machine the figures are those of a busy machine.
///
/// ```no_run
/// let costs = treepie::calibrate()?;
/// std::fs::write("costs.toml", costs.to_text())?;
/// let index = treepie::Index::options().costs(costs).open("titles.tp")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// None but [`ErrorKind::LimitExceeded`](crate::ErrorKind::LimitExceeded), if there is no memory for the index that is measured.
pub fn calibrate() -> Result<Costs> {
    let mut model = CostModel::BUILT_IN;
    kernels(&mut model);
    vectors(&mut model);
    points(&mut model)?;
    let index = index()?;
    let searcher = index.searcher()?;
    dictionary(&searcher, &mut model)?;
    phrases(&searcher, &mut model)?;
    Ok(Costs::of(model, machine().as_deref()))
}

/// The nanoseconds of the fastest of many runs, of each of `n` things that one does.
fn least(n: usize, mut run: impl FnMut() -> Result<()>) -> Result<f32> {
    let (started, mut least, mut runs) = (Instant::now(), Duration::MAX, 0);
    while runs < RUNS_MIN || started.elapsed() < TIME {
        let began = Instant::now();
        run()?;
        least = least.min(began.elapsed());
        runs += 1;
    }
    Ok((least.as_nanos() as f32 / n.max(1) as f32).max(f32::MIN_POSITIVE))
}

/// Least time of code that cannot fail.
fn least_of(n: usize, mut run: impl FnMut()) -> f32 {
    let done = least(n, || {
        run();
        Ok(())
    });
    done.unwrap_or(f32::INFINITY)
}

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A container of about `n` values that lie anywhere.
    fn container(&mut self, n: u64) -> ContainerBuf {
        let mut container = ContainerBuf::new();
        container.set_sorted((0..=u16::MAX).filter(|_| self.next() % 65_536 < n));
        container
    }

    fn pairs(&mut self, a: u64, b: u64) -> Vec<[ContainerBuf; 2]> {
        (0..PAIRS).map(|_| [self.container(a), self.container(b)]).collect()
    }
}

fn elements(pairs: &[[ContainerBuf; 2]]) -> usize {
    pairs.iter().flatten().map(|container| container.cardinality() as usize).sum()
}

/// The smaller ones of all pairs.
fn smaller(pairs: &[[ContainerBuf; 2]]) -> usize {
    pairs.iter().map(|[a, _]| a.cardinality() as usize).sum()
}

/// Counts what the containers of each pair have in common.
fn count(pairs: &[[ContainerBuf; 2]], kernel: Option<Kernel>) {
    for [a, b] in pairs {
        let (n_a, n_b) = (a.cardinality(), b.cardinality());
        let (a, b) = (black_box(a.as_container()), black_box(b.as_container()));
        black_box(match kernel {
            None => bitmap::and_count(a, n_a, b, n_b),
            Some(kernel) => bitmap::and_count_by(kernel, a, n_a, b, n_b),
        });
    }
}

fn kernels(model: &mut CostModel) {
    let mut random = Random(0x5EED);
    let bitmaps = random.pairs(30_000, 30_000);
    model.bitmap_pair_ns = least_of(PAIRS, || count(&bitmaps, None));
    model.probe_bit_ns = least_of(smaller(&bitmaps), || count(&bitmaps, Some(Kernel::ProbeBitmap)));
    let probed = random.pairs(2_000, 30_000);
    model.probe_ns = least_of(smaller(&probed), || count(&probed, None));
    let arrays = random.pairs(2_000, 2_400);
    model.array_pair_ns = least_of(elements(&arrays), || count(&arrays, Some(Kernel::MergeArrays)));
    let unlike = random.pairs(60, 60 * GALLOP_MEASURED as u64);
    model.gallop_ns = least_of(smaller(&unlike), || count(&unlike, Some(Kernel::GallopArrays)));

    let mut out = ContainerBuf::new();
    let written = least_of(PAIRS, || {
        for [a, b] in &bitmaps {
            bitmap::and(black_box(a.as_container()), b.as_container(), &mut out);
            black_box(&out);
        }
    });
    // Cost of writing beyond counting; there may be nothing to see of it.
    model.write_bitmap_ns = (written - model.bitmap_pair_ns).max(1.0);
    out.set(Container::Bitmap(&[[0; 8]; 1_024]));
    model.set_ns = least_of(elements(&arrays), || {
        for array in arrays.iter().flatten() {
            out.or_with(black_box(array.as_container()));
        }
        black_box(&out);
    });
    let mut documents: Vec<u64> = Vec::with_capacity(elements(&arrays));
    model.write_ns = least_of(elements(&arrays), || {
        documents.clear();
        for array in arrays.iter().flatten() {
            documents.extend(array.as_container().iter().map(u64::from));
        }
        black_box(&documents);
    });
    // Here and there in more than the nearest caches hold.
    let many: Vec<ContainerBuf> = (0..256).map(|_| random.container(30_000)).collect();
    let places: Vec<(usize, u16)> =
        (0..4_096).map(|_| ((random.next() % 256) as usize, random.next() as u16)).collect();
    model.look_up_doc_ns = least_of(places.len(), || {
        let is_in = |(at, value): &&(usize, u16)| {
            many.get(*at).is_some_and(|container| container.as_container().contains(*value))
        };
        black_box(places.iter().filter(is_in).count());
    });
}

/// Compares a vector with many others, one after the other as they lie in a file.
fn vectors(model: &mut CostModel) {
    let mut random = Random(0x5EED);
    let mut numbers = |n: usize| (0..n).map(|_| random.next() as i32 as f32).collect::<Vec<_>>();
    let (target, rows) = (numbers(DIMS), numbers(DIMS * N_VECTORS));
    let rows: Vec<u8> = rows.iter().flat_map(|number| number.to_le_bytes()).collect();
    model.compare_number_ns = least_of(DIMS * N_VECTORS, || {
        for row in rows.chunks_exact(DIMS * size_of::<f32>()) {
            black_box(dot_and_square::<F32>(black_box(&target), row));
        }
    });
}

/// Compares points anywhere with a circle, whose formula some of them need.
fn points(model: &mut CostModel) -> Result<()> {
    let mut random = Random(0x9E0);
    let (mut writer, mut bytes) = (PointsWriter::new(), vec![]);
    for _ in 0..N_POINTS {
        let [x, y] = [(); 2].map(|()| random.next() as u32);
        writer.add([UnitPoint { x, y }], &mut bytes);
    }
    writer.finish(&mut bytes);
    let points = Points::open(&bytes[..])?;
    let radius = Distance::from_metres(2_000_000.0)?;
    let area = BoundArea::new(&GeoArea::circle(radius, GeoPoint::new(10.0, 20.0)?));
    model.point_ns = least(N_POINTS, || {
        let mut counts = GeoCounts::default();
        for nth in 0..points.n_blocks() {
            let block = points.block(nth, points.head(nth)?)?;
            for place in 0..block.n_docs() {
                black_box(block.points(place).any(|point| area.contains(point, &mut counts)));
            }
        }
        Ok(())
    })?;
    pages(model, &points, &area)
}

/// Goes through pages of the same points: by their documents, and comparing them.
fn pages(model: &mut CostModel, points: &Points<&[u8]>, area: &BoundArea) -> Result<()> {
    let mut sorted = vec![];
    points.for_each(
        |_| true,
        |doc, points| {
            sorted.extend(points.iter().map(|point| (point.to_code(), doc)));
            Ok(())
        },
    )?;
    sorted.sort_unstable();
    let (mut writer, mut bytes, mut boxes) = (PagesWriter::new(), vec![], vec![]);
    sorted.into_iter().for_each(|(code, doc)| writer.add(code, doc, &mut bytes));
    writer.finish(&mut bytes).finish(&mut boxes);
    let (pages, boxes) = (Pages::open(&bytes[..]), Boxes::open(&boxes[..])?);
    let (mut set, mut numbers) = (DocSet::default(), PageNumbers::default());
    model.page_doc_ns = least(N_POINTS, || {
        set.reset(N_POINTS as u32)?;
        for nth in 0..boxes.n_pages() {
            set.mark(pages.page(boxes.page(nth)?)?.docs(&mut numbers));
        }
        set.count_marked();
        black_box(&set);
        Ok(())
    })?;
    area.prepare(N_POINTS as u64);
    model.page_point_ns = least(N_POINTS, || {
        let (mut counts, mut n) = (GeoCounts::default(), 0);
        for nth in 0..boxes.n_pages() {
            let page = pages.page(boxes.page(nth)?)?;
            let points = page.points(&mut numbers);
            n += points.filter(|it| area.contains(it.point, &mut counts)).count();
        }
        black_box(n);
        Ok(())
    })?;
    Ok(())
}

/// An index of words that are in one, in a few, and in all documents.
fn index() -> Result<Index> {
    let index = Index::in_memory(Schema::builder().text("text").build()?);
    let mut writer = index.writer()?;
    for doc in 0..N_DOCS {
        let [few, some] = SHORT.map(|n| doc % (N_DOCS / n));
        // All have both words of the phrase, and none has it.
        let text = format!("left own{doc} few{few} some{some} right middle left");
        writer.add(Document::new().with("text", text))?;
    }
    writer.commit()?;
    Ok(index)
}

fn dictionary(searcher: &Searcher, model: &mut CostModel) -> Result<()> {
    let Some(segment) = searcher.segments().next() else { return Ok(()) };
    let Some(id) = searcher.schema().field_id("text") else { return Ok(()) };
    let field = segment.field(id);
    let mut random = Random(0xD1C7);
    let words: Vec<String> =
        (0..2_000).map(|_| format!("own{}", random.next() % u64::from(N_DOCS))).collect();
    model.lookup_ns = least(words.len(), || {
        let dictionary = field.terms()?;
        for word in &words {
            black_box(dictionary.get(word.as_bytes())?);
        }
        Ok(())
    })?;
    let dictionary = field.terms()?;
    model.enumerate_term_ns = least(dictionary.n_terms() as usize, || {
        let mut infos = dictionary.infos(0..dictionary.n_terms());
        while let Some(info) = infos.next()? {
            black_box(info.df);
        }
        Ok(())
    })?;
    let [small, large] = ["few", "some"].map(|name| short_lists(field, name));
    let ([n_small, small_ns], [n_large, large_ns]) = (small?, large?);
    let varint_ns = (large_ns - small_ns) / (n_large - n_small);
    let open_ns = small_ns - n_small * varint_ns;
    if varint_ns > 0.0 && open_ns > 0.0 {
        (model.varint_ns, model.open_list_ns) = (varint_ns, open_ns);
    }
    Ok(())
}

/// Documents of lists of the same size, and what reading one takes.
fn short_lists(field: FieldReader<'_>, name: &str) -> Result<[f32; 2]> {
    let dictionary = field.terms()?;
    let mut infos: Vec<TermInfo> = vec![];
    for nth in 0..200 {
        infos.extend(dictionary.get(format!("{name}{nth}").as_bytes())?);
    }
    let ns = least(infos.len(), || {
        for info in &infos {
            let mut sum = 0;
            field.short_postings(info, |doc| sum += u64::from(doc))?;
            black_box(sum);
        }
        Ok(())
    })?;
    let documents: f32 = infos.iter().map(|info| info.df as f32).sum();
    Ok([documents / infos.len().max(1) as f32, ns])
}

/// A phrase that no document has, of two words that all have.
fn phrases(searcher: &Searcher, model: &mut CostModel) -> Result<()> {
    let query = searcher.parse("\"left right\"")?;
    model.positions_ns = least(N_DOCS as usize, || {
        black_box(searcher.count(&query)?);
        Ok(())
    })?;
    Ok(())
}

/// Name of the processor, if that is cheap to know.
fn machine() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map(|(_, name)| name.trim().to_owned()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_measured_is_a_number_of_nanoseconds_that_can_be_read_back() {
        let costs = calibrate().unwrap();
        let read = Costs::from_text(&costs.to_text()).unwrap();
        assert_eq!(read, costs);
        // Each of these is measured, and no two machines take the same to the last bit.
        let built_in: Vec<_> = Costs::default().iter().collect();
        let measured = costs.iter().zip(built_in).filter(|(ours, built_in)| ours.1 != built_in.1);
        let measured: Vec<_> = measured.map(|(ours, _)| ours.0).collect();
        assert!(measured.len() >= 14, "{measured:?}");
        // A documents' worth of decoding takes less than looking a word up, on any machine.
        assert!(costs.model.varint_ns < costs.model.lookup_ns, "{costs:?}");
        // Work on a container takes more than a step of it, and work in memory more than work that stays out of it.
        let CostModel { lookup_ns, enumerate_term_ns, bitmap_pair_ns, probe_bit_ns, .. } =
            costs.model;
        assert!(lookup_ns > enumerate_term_ns && bitmap_pair_ns > 5.0 * probe_bit_ns, "{costs:?}");
        let CostModel { positions_ns, set_ns, look_up_doc_ns, array_pair_ns, .. } = costs.model;
        assert!(positions_ns > set_ns && look_up_doc_ns > array_pair_ns, "{costs:?}");
    }
}
