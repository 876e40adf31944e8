//! Costs of operators by a [`CostModel`], and the kernel for a pair of containers.

use super::adaptive::Adaptive;
use super::costs::CostModel;
use crate::bitmap::{self, Kernel, WINDOW};
use crate::format::column::BLOCK_DOCS;
use crate::format::postings::SHORT_DOCS_MAX;
use crate::format::terms::BLOCK_TERMS;
use crate::nearest::{DEGREE, Figures};
use crate::query::{PhraseSpec, Proximity};
use crate::schema::{VectorCodes, VectorParams, VectorValues};
use crate::simd::arrays::gallop_ratio;

/// Documents scored for each hit and list where bounds leave out the others.
const SCORED_PER_HIT: f64 = 16.0;
/// The share of documents with two words where one stands behind the other.
const PHRASE_SHARE: f64 = 0.2;
/// Least cost of a strategy by the column at which a sample of terms pays, which takes a tenth of that.
pub(crate) const SAMPLE_FROM_NS: f32 = 100_000.0;
/// Bytes of about a term and its count in a table, beside its own: an entry, room for others, and an allocation.
pub(crate) const MET_TERM_BYTES: u64 = 100;
/// Documents up to which the smallest of a pattern are looked for in the lists of its terms, where no more are wanted: they are kept
/// in order while the lists are read.
pub(crate) const SMALLEST_MAX: u64 = 4_096;
/// Documents of a window from which on all of it are compared: neighbours take a twelfth of the time of single ones.
pub(crate) const COLUMN_FILL_FROM: u32 = WINDOW / 16;
pub(crate) const COLUMN_FILL_SHARE: f64 = COLUMN_FILL_FROM as f64 / WINDOW as f64;

/// Elements above which a container is a bitmap rather than an array.
const ARRAY_MAX: f32 = bitmap::ARRAY_MAX as f32;
/// Ratio of the lists' lengths for which [`CostModel::gallop_ns`] was measured.
pub(crate) const GALLOP_MEASURED: f32 = 60.0;
/// Document frequencies below this are stored as varints rather than as containers.
const SHORT_LIST_BELOW: u64 = SHORT_DOCS_MAX as u64 + 1;
/// Fewer terms are not worth a second pass over a dictionary.
const FREQUENT_TERMS_MIN: usize = 512;

impl Kernel {
    /// The kernel for two containers with these numbers of elements.
    fn of(a: f32, b: f32) -> Kernel {
        let (small, large) = if a <= b { (a, b) } else { (b, a) };
        if small > ARRAY_MAX {
            Kernel::Bitmaps
        } else if large > ARRAY_MAX {
            Kernel::ProbeBitmap
        } else if small * (gallop_ratio(small as usize, true) as f32) < large {
            // The ratio is that of AVX2, so that plans are the same everywhere.
            Kernel::GallopArrays
        } else {
            Kernel::MergeArrays
        }
    }

    /// The kernel that would serve the same containers next best.
    pub(crate) fn alternative(self) -> Kernel {
        match self {
            Kernel::MergeArrays => Kernel::GallopArrays,
            Kernel::GallopArrays => Kernel::MergeArrays,
            Kernel::ProbeBitmap => Kernel::Bitmaps,
            Kernel::Bitmaps => Kernel::ProbeBitmap,
        }
    }

    /// The name shown in a plan.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kernel::MergeArrays => "merge array × array",
            Kernel::GallopArrays => "gallop array × array",
            Kernel::ProbeBitmap => "probe array × bitmap",
            Kernel::Bitmaps => "words bitmap × bitmap",
        }
    }
}

/// The containers that `n_docs` documents span; at least one.
pub(crate) fn windows(n_docs: u32) -> f32 {
    n_docs.div_ceil(WINDOW).max(1) as f32
}

/// The kernel that most containers of two sets will take, spread evenly over `windows`.
pub(crate) fn kernel(a: f64, b: f64, windows: f32) -> Kernel {
    Kernel::of(a as f32 / windows, b as f32 / windows)
}

/// Expected share of the documents with the words that have the phrase: of those of two words of the benchmark game a
/// fifth had.
pub(crate) fn phrase_share(phrase: &PhraseSpec) -> f64 {
    let slop = match phrase.proximity {
        Proximity::Exact => 0,
        Proximity::Slop(slop) | Proximity::Ordered(slop) | Proximity::Near(slop) => slop,
    };
    // A word more makes it rarer, room for other words more frequent.
    let exact = PHRASE_SHARE.powi(phrase.len().saturating_sub(1).min(8) as i32);
    1.0 - (1.0 - exact).powf(1.0 + f64::from(slop))
}

/// Number of steps of a gallop to the next value in a list so many times longer: there are twice as many for four times
/// the way, beside the cost of each value.
fn gallop_steps(ratio: f32) -> f32 {
    2.0 + ratio.max(1.0).log2()
}

/// Time of comparing others for that of comparing numbers of 32 bits: of 384, by AVX2, in the cache, bits with bits. Shorter
/// numbers are widened first, which takes longer than reading more bytes.
fn part_of_time(values: VectorValues) -> f32 {
    match values {
        VectorValues::F32 => 1.0,
        VectorValues::F16 => 2.2,
        VectorValues::I8 => 1.4,
        VectorValues::Bits => 0.05,
    }
}

impl CostModel {
    /// Costs of looking for vectors of a field.
    pub(super) fn of_vectors(&self, params: VectorParams) -> Figures {
        let numbers = self.compare_number_ns * f32::from(params.dims);
        // Finding a row is like looking a document up; a code has a byte of the four of each number.
        let vector = self.look_up_doc_ns + numbers * part_of_time(params.values);
        Figures {
            vector,
            code: match params.codes {
                VectorCodes::I8 => self.look_up_doc_ns + numbers / 4.0,
                // An eighth of that, against four bits of the vector.
                VectorCodes::B1 => self.look_up_doc_ns + numbers / 16.0,
                VectorCodes::None => self.look_up_doc_ns + vector,
            },
            links: self.open_list_ns + self.varint_ns * DEGREE,
            test: 2.0 * self.look_up_doc_ns,
            rescored: match params.codes {
                VectorCodes::I8 | VectorCodes::None => 2.0,
                VectorCodes::B1 => 4.0,
            },
        }
    }

    /// Counting the elements that two containers have in common.
    fn pair_ns(&self, kernel: Kernel, a: f32, b: f32) -> f32 {
        let small = a.min(b);
        match kernel {
            Kernel::Bitmaps if small > ARRAY_MAX => self.bitmap_pair_ns,
            // The array is made a bitmap.
            Kernel::Bitmaps => small * self.set_ns + self.write_bitmap_ns + self.bitmap_pair_ns,
            Kernel::ProbeBitmap if small > ARRAY_MAX => small * self.probe_bit_ns,
            Kernel::ProbeBitmap => small * self.probe_ns,
            Kernel::GallopArrays => {
                let ratio = a.max(b) / small.max(1.0);
                small * self.gallop_ns * gallop_steps(ratio) / gallop_steps(GALLOP_MEASURED)
            }
            Kernel::MergeArrays => (a + b) * self.array_pair_ns,
        }
    }

    /// Cost of a kernel on two sets spread over `windows`.
    pub(crate) fn kernel_ns(&self, kernel: Kernel, a: f64, b: f64, windows: f32) -> f32 {
        windows * self.pair_ns(kernel, a as f32 / windows, b as f32 / windows)
    }

    /// Opening and reading a posting list of `documents` from end to end.
    pub(crate) fn scan_ns(&self, documents: u64, windows: f32) -> f32 {
        if documents < SHORT_LIST_BELOW {
            return self.open_list_ns + documents as f32 * self.varint_ns;
        }
        let containers = windows.min(documents as f32);
        self.open_list_ns + containers * (self.open_container_ns + self.visit_ns)
    }

    /// Counting what two sets have in common.
    pub(crate) fn and_count_ns(&self, a: f64, b: f64, windows: f32) -> f32 {
        let (in_a, in_b) = (a as f32 / windows, b as f32 / windows);
        // A window where the smaller set has nothing is not visited.
        let visited = windows.min(a.min(b) as f32);
        visited * self.visit_ns + windows * self.pair_ns(Kernel::of(in_a, in_b), in_a, in_b)
    }

    /// Stepping over `terms` of a dictionary and setting a bit for each of their `documents`.
    pub(crate) fn expand_ns(&self, terms: u64, documents: u64) -> f32 {
        terms as f32 * (self.enumerate_term_ns + self.open_list_ns)
            + documents as f32 * (self.varint_ns + self.set_ns)
    }

    /// Cost of a pattern with each term looked up and read by itself.
    pub(crate) fn expand_each_ns(&self, terms: u64, documents: u64, windows: f32) -> f32 {
        let windows = windows.min(documents as f32 / terms.max(1) as f32);
        self.expand_ns(terms, documents) + terms as f32 * (self.lookup_ns + windows * self.visit_ns)
    }

    /// Looking the end of a range up, and adding up the documents before it in its block of a dictionary.
    pub(crate) fn range_end_ns(&self) -> f32 {
        self.lookup_ns + BLOCK_TERMS as f32 * self.enumerate_term_ns
    }

    /// Looking for so many documents in each of `inputs` lists.
    pub(crate) fn look_up_ns(&self, inputs: usize, documents: f64, n_docs: u32) -> f32 {
        let windows = windows(n_docs).min(documents as f32);
        inputs as f32 * (windows * self.visit_ns + documents as f32 * self.look_up_doc_ns)
    }

    /// Whether looking for a few documents of a window in each input of a union, which have so many there, costs less than uniting
    /// the inputs.
    pub(crate) fn few_are_looked_up(&self, few: u32, inputs: impl Iterator<Item = u32>) -> bool {
        let looked_up = few as f32 * self.look_up_doc_ns;
        let of_bitmap = self.write_bitmap_ns + self.bitmap_pair_ns;
        // Cost of uniting an input beyond looking for the few in it.
        let saved = |documents: u32| (documents as f32 * self.set_ns).min(of_bitmap) - looked_up;
        inputs.map(saved).sum::<f32>() > 0.0
    }

    /// Comparing the values of so many documents of a column, of which so many lie in blocks that are looked up one by one.
    pub(crate) fn column_scan_ns(&self, documents: f64, by_block: f64) -> f32 {
        let (documents, by_block) = (documents as f32, by_block as f32);
        let n_blocks = (by_block / BLOCK_DOCS as f32).ceil().min(documents);
        let each = if by_block > 0.0 { self.column_doc_ns } else { self.column_number_ns };
        self.column_ns + n_blocks * self.column_block_ns + documents * (each + self.write_ns)
    }

    /// Comparing all documents of a column of `n_docs` with a range, of which so many lie in blocks that are looked up one by one.
    pub(crate) fn fill_column_ns(&self, n_docs: f64, by_block: f64) -> f32 {
        let windows = n_docs as f32 / WINDOW as f32;
        windows * self.column_fill_ns + by_block as f32 / BLOCK_DOCS as f32 * self.column_block_ns
    }

    /// Counting for each document how many sets it is in.
    pub(crate) fn count_each_ns(&self, sizes: impl Iterator<Item = f64>) -> f32 {
        2.0 * self.set_ns * sizes.sum::<f64>() as f32
    }

    /// Placing the words of a phrase in so many documents that have them all.
    pub(crate) fn place_ns(&self, documents: f64, words: usize) -> f32 {
        // Most documents are given up after two words.
        documents as f32 * self.positions_ns * (1.0 + 0.1 * words.saturating_sub(2) as f32)
    }

    /// Writing a set of `documents` to memory.
    pub(crate) fn write_set_ns(&self, documents: f64, windows: f32) -> f32 {
        if documents as f32 / windows > ARRAY_MAX {
            windows * self.write_bitmap_ns
        } else {
            documents as f32 * self.write_ns
        }
    }

    /// Intersecting sets in the given order and counting the last step; `sizes` are documents.
    ///
    /// The running intersection shrinks as if the sets were independent among `n_docs` documents.
    pub(crate) fn intersect_ns(&self, sizes: impl Iterator<Item = f64>, n_docs: u32) -> f32 {
        let windows = windows(n_docs);
        let mut result: Option<f64> = None;
        let mut total = 0.0;
        for size in sizes {
            result = Some(match result {
                None => size,
                Some(so_far) => {
                    total += self.and_count_ns(so_far, size, windows);
                    so_far * size / f64::from(n_docs.max(1))
                }
            });
        }
        total
    }

    /// Uniting sets and counting the result by setting bits.
    pub(crate) fn union_ns(&self, sizes: impl Iterator<Item = f64>, n_docs: u32) -> f32 {
        let windows = windows(n_docs);
        sizes
            .map(|size| {
                let in_window = size as f32 / windows;
                let set = if in_window > ARRAY_MAX {
                    self.bitmap_pair_ns
                } else {
                    in_window * self.set_ns
                };
                windows.min(size as f32) * self.visit_ns + windows * set
            })
            .sum()
    }

    /// Scoring so many postings of terms that must all match, or any.
    pub(crate) fn score_postings_ns(&self, postings: u64, n_docs: u32) -> f32 {
        postings as f32 * self.score_posting_ns + windows(n_docs) * self.score_window_ns
    }

    /// Looking up each document that matches anything else in each list.
    pub(crate) fn score_matches_ns(&self, matches: f64, n_lists: usize) -> f32 {
        matches as f32 * n_lists.max(1) as f32 * self.score_looked_up_ns
    }

    /// Finding the best of words of which all must match, or any, by nothing but their lists. The factors make times of 400 queries of
    /// articles and titles, each with 10, 100 and 1,000 hits.
    pub(crate) fn best_of_lists_ns(
        &self,
        is_all: bool,
        lists: &ScoredLists,
        (matches, best): (f64, f64),
    ) -> f32 {
        let (n_docs, n) = (f64::from(lists.n_docs.max(1)), lists.n_lists as f64);
        let (all, least) = (lists.postings as f64, lists.fewest as f64);
        let leading = if is_all { n * least } else { all };
        if leading < n * SHORT_LIST_BELOW as f64 {
            return (350.0 * n + 14.0 * if is_all { leading } else { n * leading }) as f32;
        }
        let n_blocks = n_docs / 64.0;
        let blocks_of = |documents: f64| n_blocks * (1.0 - (-documents / n_blocks).exp());
        let (per_window, scored, looked_into) = if lists.n_lists <= 1 {
            let blocks = blocks_of(all).min(best);
            (0.5, 0.75 * blocks * (all / n_blocks).max(1.0), blocks)
        } else if is_all {
            let blocks = blocks_of(least).min(matches).min(9.0 * best);
            (0.75, 0.2 * least + 2.0 * matches.min(100.0 * best), blocks)
        } else {
            let met = all.min(n * (0.75 * least + 25.0 * best));
            (2.3, 0.4 * met + 0.03 * all, 1.25 * blocks_of(met).min(1.2 * best))
        };
        let n_windows = f64::from(windows(lists.n_docs)).min(leading);
        let opening = 350.0 * n + n_windows * n * per_window * f64::from(self.bound_list_ns);
        let scoring = scored * f64::from(self.score_posting_ns);
        (opening + scoring + looked_into * f64::from(self.score_looked_up_ns)) as f32
    }

    /// Scoring what can be among the best, by bounds of what blocks can have.
    pub(crate) fn by_bounds_ns(&self, matches: f64, n_lists: usize, n_docs: u32, best: f64) -> f32 {
        let bounds = windows(n_docs) * (self.bound_window_ns + n_lists as f32 * self.bound_list_ns);
        let scored = scored_by_bounds(matches, n_lists, best) as f32;
        bounds + scored * n_lists.max(1) as f32 * self.score_looked_up_ns
    }
}

/// Lists that score documents, and how many documents there are and are expected to match.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScoredLists {
    pub(crate) n_docs: u32,
    pub(crate) n_lists: usize,
    /// Documents of all lists together.
    pub(crate) postings: u64,
    /// Documents of the word that has fewest.
    pub(crate) fewest: u64,
    pub(crate) expected: f64,
}

/// Costs of the strategies that find the best documents by score.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BestCosts {
    pub(crate) by_bounds: f32,
    pub(crate) of_everything: f32,
}

impl BestCosts {
    /// Cost of a phrase: bounds leave out candidates before their positions are read.
    pub(crate) fn of_phrase(
        costs: &CostModel,
        candidates: f64,
        matches: f64,
        words: usize,
        best: f64,
    ) -> Self {
        let of_everything = costs.place_ns(candidates, words);
        // Matches are taken to be among the candidates at random.
        let placed = (scored_by_bounds(candidates, words, best) * candidates / matches.max(1.0))
            .min(candidates);
        let looked_at = candidates as f32 * words.min(2) as f32 * costs.bound_candidate_ns;
        Self::or_less(costs.place_ns(placed, words) + looked_at, of_everything)
    }

    /// Cost of words and phrases put together. Bounds leave out nothing before they have found as many as are wanted, and what they
    /// look at one by one is found window by window otherwise; unless they are `free`, as nothing else needs all that matches.
    ///
    /// By measured times of 636 queries of the benchmark game in two fields of 144,245 articles, both ways each: to place the
    /// words of phrases window by window costs less by more.
    pub(crate) fn of_tree(
        costs: &CostModel,
        lists: &ScoredLists,
        best: f64,
        has_phrases: bool,
        is_free: bool,
    ) -> Self {
        let ScoredLists { n_docs, n_lists, expected, .. } = *lists;
        let of_everything = costs.score_matches_ns(expected, n_lists);
        let found_first = if has_phrases { 64.0 * best } else { best };
        if is_free || expected > found_first {
            let by_bounds = costs.by_bounds_ns(expected, n_lists, n_docs, best);
            return Self::or_less(by_bounds, of_everything);
        }
        let looked_at = costs.by_bounds_ns(0.0, n_lists, n_docs, best);
        BestCosts { by_bounds: of_everything + looked_at, of_everything }
    }

    /// Costs of which that by bounds is at most that of everything: with little to leave out, bounds end in scoring it.
    pub(crate) fn or_less(by_bounds: f32, of_everything: f32) -> Self {
        BestCosts { by_bounds: by_bounds.min(of_everything), of_everything }
    }
}

/// Documents of a segment for one of a word that filters, up to which its list masks the blocks of the words that score.
const DOCS_FOR_MASK: u64 = 64;

/// Whether the lists of words that only filter, given their document frequencies, mask the blocks of those of which one must match:
/// documents of a short list, or of a filter in fewer documents, are looked up in the lists of the others, which costs less.
pub(crate) fn filters_pay_as_masks(
    mut any: impl Iterator<Item = u32>,
    filters: impl Iterator<Item = u32>,
    n_docs: u32,
) -> bool {
    let is_long = |df: u32| u64::from(df) >= SHORT_LIST_BELOW;
    let pays = |df: u32| u64::from(df) * DOCS_FOR_MASK >= u64::from(n_docs);
    let mut filters = filters.peekable();
    filters.peek().is_some() && filters.all(|df| is_long(df) && pays(df)) && any.any(is_long)
}

/// Documents that are scored although bounds leave out others.
fn scored_by_bounds(matches: f64, n_lists: usize, best: f64) -> f64 {
    matches.min(SCORED_PER_HIT * best * n_lists.max(1) as f64)
}

/// Terms of a facet that are picked by document frequency, to be counted before all others.
pub(crate) fn frequent_terms(limit: usize) -> usize {
    limit.saturating_mul(2).max(FREQUENT_TERMS_MIN)
}

/// Terms that a pattern is expected to mean, of those that it is tested with: a guess.
pub(crate) fn meant_by_pattern(n_terms: u64) -> u64 {
    n_terms.div_ceil(10)
}

/// Counters for each document that matches up to which they pay, and as many as pay in any case: one is set up and looked at in
/// less time than a code is written down and sorted.
const COUNTERS_PER_DOC: u64 = 16;
const COUNTERS_MIN: u64 = 1 << 16;

/// Ways to count how often each code is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TallyStrategy {
    /// A counter for each code that may come.
    Counters,
    /// Codes are written down, sorted and counted by their runs.
    List,
}

impl TallyStrategy {
    /// The way to count so many codes that may come, by how many documents match.
    pub(crate) fn of_codes(n_codes: u64) -> Adaptive<Self> {
        let n_paid_for = if n_codes <= COUNTERS_MIN { 0 } else { n_codes };
        let mut by_matches = Adaptive::always(TallyStrategy::List);
        by_matches.from(n_paid_for.div_ceil(COUNTERS_PER_DOC), TallyStrategy::Counters);
        by_matches
    }

    pub(crate) fn choose(n_codes: u64, n_matches: u64) -> Self {
        Self::of_codes(n_codes).of(n_matches)
    }
}

/// Documents that match for each step or interval that is made before it is met, and the most of these.
const DOCS_PER_RANGE: u64 = 4;
const RANGES_MADE_MAX: u64 = 1 << 16;
/// Steps that are made before in any case.
const STEPS_MADE_MIN: u64 = 64;

/// Ways to count steps and intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepsStrategy {
    /// All are made, and values looked for among their ends.
    Made,
    /// They are made where a value lies in them.
    Met(TallyStrategy),
}

impl StepsStrategy {
    /// The way to count so many steps.
    pub(crate) fn of_steps(n_steps: u64, n_matches: u64) -> Self {
        match n_steps <= Self::made_max(n_matches).max(STEPS_MADE_MIN) {
            true => StepsStrategy::Made,
            // Fewer than elsewhere: within buckets of a few documents what is set up for all steps would be most of it.
            false if n_steps <= n_matches.saturating_mul(COUNTERS_PER_DOC) => {
                StepsStrategy::Met(TallyStrategy::Counters)
            }
            false => StepsStrategy::Met(TallyStrategy::List),
        }
    }

    /// The most intervals that are made before they are met.
    pub(crate) fn made_max(n_matches: u64) -> u64 {
        (n_matches / DOCS_PER_RANGE).min(RANGES_MADE_MAX)
    }
}

/// Sizes that the cost of a facet depends on, summed over the segments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FacetSizes {
    /// Terms of the field.
    pub(crate) n_terms: u64,
    /// Terms that are walked over where all are counted, and that may be wanted.
    pub(crate) n_walked: u64,
    pub(crate) n_wanted: u64,
    /// Bytes of their terms in the dictionaries, which leave out what neighbours share.
    pub(crate) term_bytes: u64,
    /// Documents with a value.
    pub(crate) n_with: u64,
    pub(crate) n_docs: u32,
    pub(crate) n_segments: usize,
    /// Values of its column, where it keeps one.
    pub(crate) n_values: u64,
    /// Documents of segments with a column, with a value or without.
    pub(crate) n_docs_in_column: u64,
    /// Documents of segments whose column is read by blocks: all but those whose blocks share a frame.
    pub(crate) n_docs_by_block: u32,
    /// Codes between the least and the greatest of its column.
    pub(crate) column_codes: Option<u64>,
    /// Whether these are numbers of terms, which each segment counts for itself.
    pub(crate) has_ordinals: bool,
    /// Whether no document has two values.
    pub(crate) is_single: bool,
    /// Some of the terms, where their frequencies decide.
    pub(crate) sample: Option<TermSample>,
}

/// Document frequencies of some terms, from all over the dictionary, ascending.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TermSample([f32; TermSample::LEN]);

impl TermSample {
    pub(crate) const LEN: usize = 64;
    /// Terms that there are at the least where a sample tells more than it costs.
    pub(crate) const TERMS_MIN: u64 = 1_024;

    pub(crate) fn new(mut frequencies: [f32; TermSample::LEN]) -> Self {
        frequencies.sort_by(f32::total_cmp);
        TermSample(frequencies)
    }

    fn mean(&self) -> f64 {
        self.0.iter().sum::<f32>() as f64 / Self::LEN as f64
    }

    fn max(&self) -> f64 {
        self.0.last().map_or(0.0, |most| f64::from(*most))
    }

    /// Share of the terms with at least so many documents, and how many these have in the mean.
    fn at_least(&self, documents: f64) -> (f64, f64) {
        let frequent = &self.0[self.0.partition_point(|of| f64::from(*of) < documents)..];
        let n = frequent.len().max(1) as f64;
        (frequent.len() as f64 / Self::LEN as f64, frequent.iter().sum::<f32>() as f64 / n)
    }
}

/// Costs of the methods that count the terms of a facet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FacetCosts {
    /// Walking over the dictionary.
    pub(crate) listing: f32,
    pub(crate) most_frequent_first: f32,
    pub(crate) dictionary_order: f32,
    /// By the column, where there is one.
    pub(crate) column: Option<f32>,
    /// Bytes that this takes.
    pub(crate) column_bytes: u64,
}

impl FacetCosts {
    /// For the `limit` most frequent terms of a field, or the first `by_value`, among so many `matches`; as if the term of
    /// rank r had 1/r of the most frequent one's documents, and those that are wanted lay anywhere. A sample that has half of all
    /// documents shows another law: there is no head that it does not show, as with prices.
    pub(crate) fn of(
        costs: &CostModel,
        sizes: &FacetSizes,
        limit: usize,
        by_value: bool,
        matches: f64,
    ) -> Self {
        let FacetSizes { n_terms, n_walked, n_wanted, n_docs, .. } = *sizes;
        let values = sizes.n_with as f64 * n_wanted as f64 / n_terms.max(1) as f64;
        let mut listing = n_walked as f32 * costs.enumerate_term_ns;
        let (n, limit) = (n_wanted.max(1) as f64, limit.max(1) as f64);
        let matching = (matches / f64::from(n_docs.max(1))).clamp(0.0, 1.0);
        let windows = windows(n_docs);
        let of_term = |documents: f64| {
            costs.scan_ns(documents as u64, windows.min(matches as f32))
                + costs.and_count_ns(documents, matches, windows)
        };
        let column = sizes.column_codes.map(|n_codes| sizes.column_ns(costs, n_codes, matches));
        let column_bytes = sizes.column_bytes(matches);
        let of_ways = |listing, most_frequent_first, dictionary_order| FacetCosts {
            listing,
            most_frequent_first,
            dictionary_order,
            column,
            column_bytes,
        };
        if by_value {
            // The walk ends with the last that is wanted, and passes those of which no document matches.
            let found = 1.0 - (-matching * values / n).exp();
            let met = (limit / found.max(f64::MIN_POSITIVE)).min(n);
            listing *= (met / n) as f32;
            let dictionary_order = listing + met as f32 * of_term(values / n);
            return of_ways(listing, f32::INFINITY, dictionary_order);
        }
        // The count of rank N is matched by the document frequencies of the first N / matching
        // terms: no other can enter. A count below one excludes nothing.
        let last_count = matching * values / (limit * (1.0 + n.ln()));
        // Document frequencies are of values, of which a document may have many.
        let postings = sizes.n_values as f64 * n_wanted as f64 / n_terms.max(1) as f64;
        let sample = sizes.sample.filter(|sample| sample.mean() * n >= postings / 2.0);
        let by_sample = sample.map(|sample| sample.at_least(matching * sample.max()));
        let may_enter = match by_sample {
            Some((share, _)) => (n * share).clamp(limit.min(n), n),
            None if last_count < 1.0 => n,
            None => n.min(limit / matching),
        };
        let each = |terms: f64| match by_sample {
            Some((_, documents)) => of_term(documents),
            None => of_term(values * (1.0 + terms.ln()) / (1.0 + n.ln()) / terms),
        };
        // Before the dictionary's first x terms are counted, N of them are as good as N / x of all.
        let counted = may_enter * (1.0 + (n / may_enter).ln());
        let passes = if may_enter > frequent_terms(limit as usize) as f64 { 2.0 } else { 1.0 };
        let most_frequent_first = passes * listing + may_enter as f32 * each(may_enter);
        of_ways(listing, most_frequent_first, listing + counted as f32 * each(counted))
    }
}

impl FacetSizes {
    /// The most that counters, or codes that are written down, take.
    fn column_bytes(&self, matches: f64) -> u64 {
        let n_codes = self.column_codes.unwrap_or(0);
        if TallyStrategy::choose(n_codes, matches as u64) == TallyStrategy::Counters {
            return n_codes.saturating_mul(4);
        }
        let per_document = self.n_values as f64 / f64::from(self.n_docs.max(1));
        (matches * per_document * 32.0) as u64
    }

    /// The most that the terms of so many deleted documents take, as if they were as long as the dictionary has them in the mean:
    /// it leaves out what they share.
    pub(crate) fn taken_away_bytes(&self, deleted: f64) -> u64 {
        let per_document = self.n_values as f64 / f64::from(self.n_docs.max(1));
        let met = (deleted * per_document).min(self.n_terms as f64);
        let of_term = self.term_bytes as f64 / self.n_terms.max(1) as f64;
        (met * (MET_TERM_BYTES as f64 + of_term)) as u64
    }

    /// Cost of taking the terms of so many deleted documents away from document frequencies: their values are counted,
    /// and the terms of these read. `None` without a column.
    pub(crate) fn taken_away_ns(&self, costs: &CostModel, deleted: f64) -> Option<f32> {
        let n_codes = self.column_codes?;
        let met = deleted.min(self.n_terms as f64) as f32;
        Some(self.column_ns(costs, n_codes, deleted) + met * costs.merge_term_ns)
    }

    /// Cost of looking each of `matches` documents up in the column, and of counting its codes.
    pub(super) fn column_ns(&self, costs: &CostModel, n_codes: u64, matches: f64) -> f32 {
        let by_block = matches * f64::from(self.n_docs_by_block) / f64::from(self.n_docs.max(1));
        let n_blocks = f64::from(self.n_docs_by_block) / f64::from(BLOCK_DOCS);
        // Blocks that are not missed by any of the matches, as if these lay anywhere.
        let touched = n_blocks * (1.0 - (-by_block / n_blocks.max(1.0)).exp());
        let with = matches * self.n_with as f64 / f64::from(self.n_docs.max(1));
        let counters = match TallyStrategy::choose(n_codes, matches as u64) {
            TallyStrategy::Counters => n_codes as f32 * costs.counter_ns,
            TallyStrategy::List => with as f32 * costs.sort_code_ns,
        };
        let met = with.min(self.n_terms as f64) as f32;
        let merged = match self.has_ordinals && self.n_segments > 1 {
            true => met * self.n_segments as f32 * costs.merge_term_ns,
            false => 0.0,
        };
        // Wanted terms are found in the dictionary, or among the terms that were met.
        let filtered = match self.n_wanted < self.n_walked {
            true => (met * costs.merge_term_ns).min(self.n_walked as f32 * costs.enumerate_term_ns),
            false => 0.0,
        };
        costs.column_ns
            + touched as f32 * costs.column_block_ns
            + by_block as f32 * costs.column_doc_ns
            + (matches - by_block) as f32 * costs.column_number_ns
            + counters
            + merged
            + filtered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_follows_the_sizes() {
        let cases = [
            (100.0, 200.0, Kernel::MergeArrays),
            (10.0, 4_000.0, Kernel::GallopArrays),
            (4_096.0, 4_097.0, Kernel::ProbeBitmap),
            (5_000.0, 60_000.0, Kernel::Bitmaps),
        ];
        for (a, b, expected) in cases {
            assert_eq!(Kernel::of(a, b), expected, "{a} and {b}");
            assert_eq!(Kernel::of(b, a), expected, "{b} and {a}");
        }
    }

    #[test]
    fn smallest_first_is_never_dearer() {
        let n_docs = 144_245;
        let sizes = [12.0, 900.0, 30_000.0, 140_000.0];
        let best = CostModel::BUILT_IN.intersect_ns(sizes.into_iter(), n_docs);
        let worst = CostModel::BUILT_IN.intersect_ns(sizes.into_iter().rev(), n_docs);
        assert!(best < worst, "{best} against {worst}");
    }

    #[test]
    fn facets_of_few_matches_take_one_pass_and_those_of_many_the_frequent_terms() {
        let sizes = FacetSizes {
            n_terms: 35_000,
            n_walked: 35_000,
            n_wanted: 35_000,
            term_bytes: 0,
            n_with: 700_000,
            n_docs: 2_000_000,
            n_segments: 1,
            n_values: 700_000,
            n_docs_in_column: 0,
            n_docs_by_block: 2_000_000,
            column_codes: None,
            has_ordinals: false,
            is_single: true,
            sample: None,
        };
        let costs = |matches| FacetCosts::of(&CostModel::BUILT_IN, &sizes, 10, false, matches);
        let few = costs(4.0);
        assert!(few.dictionary_order < few.most_frequent_first, "{few:?}");
        let many = costs(200_000.0);
        // If a sample shows that terms are alike, many may enter; if it lacks the documents of a head, few.
        let even = std::array::from_fn(|nth| 10.0 + nth as f32 / 4.0);
        let with_sample = |sample| FacetSizes { sample: Some(TermSample::new(sample)), ..sizes };
        let alike = FacetCosts::of(&CostModel::BUILT_IN, &with_sample(even), 10, false, 200_000.0);
        assert!(alike.most_frequent_first > 10.0 * many.most_frequent_first, "{alike:?}");
        let steep =
            FacetCosts::of(&CostModel::BUILT_IN, &with_sample([1.0; 64]), 10, false, 200_000.0);
        assert_eq!(steep.most_frequent_first, many.most_frequent_first);
        assert!(many.most_frequent_first < many.dictionary_order, "{many:?}");
        let by_column = |n_docs_by_block| {
            let sizes = FacetSizes { column_codes: Some(300), n_docs_by_block, ..sizes };
            FacetCosts::of(&CostModel::BUILT_IN, &sizes, 10, false, 20_000.0).column
        };
        assert!(by_column(0) < by_column(1_000_000) && by_column(1_000_000) < by_column(2_000_000));
        let nothing = FacetSizes { column_codes: Some(0), ..FacetSizes::default() };
        for by_value in [false, true] {
            let none = FacetCosts::of(&CostModel::BUILT_IN, &nothing, 10, by_value, 0.0);
            assert!(none.column.is_some_and(f32::is_finite));
            assert_eq!(none.listing, 0.0);
            assert!(none.most_frequent_first.is_finite() != by_value);
            assert!(none.dictionary_order.is_finite());
        }
        // A beginning that few terms have leaves little to do, and so does the first page of an order by value.
        let filtered = FacetSizes { n_walked: 35, n_wanted: 35, ..sizes };
        let of_few = FacetCosts::of(&CostModel::BUILT_IN, &filtered, 10, false, 200_000.0);
        assert!(of_few.dictionary_order < many.most_frequent_first / 10.0, "{of_few:?}");
        let in_order = FacetCosts::of(&CostModel::BUILT_IN, &sizes, 10, true, 200_000.0);
        assert!(in_order.dictionary_order < many.most_frequent_first / 10.0, "{in_order:?}");
    }
}
