//! The dictionary against a `BTreeMap`, and against bytes that are not what was written.

pub(super) mod damage;

use super::*;
use crate::bytes::Bytes;
use crate::format::occurrences;
use crate::format::{cumulative, doc_check};
use crate::test_sizes::{each_unless_miri, unless_miri};
use fst::Automaton;
use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Included, Unbounded};
use std::ops::Range;

const N_DOCS: u32 = 70_000;

pub(super) fn documented() -> Sections {
    let mut writer = TermDictionaryWriter::new(9, Detail::Positions);
    writer.add(b"paris", NewTerm::Inline { docs: &[2], occurrences: &[0] }).unwrap();
    writer.add(b"part", NewTerm::Inline { docs: &[0, 3], occurrences: &[0, 0] }).unwrap();
    writer.add(b"party", NewTerm::Stored { df: 5, len: 6, ranked_len: 0 }).unwrap();
    let finished = writer.finish();
    Sections::of(finished)
}

#[test]
fn the_example_in_the_docs_is_what_we_write() {
    let written = documented();
    let bytes = [&written.blocks[..], &written.index, &written.heads].concat();
    let in_docs = doc_check::hex_dump(include_str!("mod.rs"));
    assert_eq!(in_docs, bytes, "\n{}", doc_check::render(&bytes));

    let (blocks, rest) = in_docs.split_at(24);
    let (index, heads) = rest.split_at(92);
    assert_eq!(heads.len(), 36);
    let dictionary = TermDictionary::open(blocks, index, heads).unwrap();
    dictionary.verify().unwrap();
    let info = dictionary.get(b"party").unwrap().unwrap();
    assert_eq!(dictionary.rank(b"party").unwrap(), 2);
    let postings = PostingsAt::Section { offset: 0, len: 6, ranked_len: 0 };
    assert_eq!((info.df, info.postings), (5, postings));
    let info = dictionary.get(b"part").unwrap().unwrap();
    let PostingsAt::Inline(docs) = info.postings else { panic!("{info:?}") };
    assert_eq!(docs.as_slice(), [0, 3]);
}

#[test]
fn the_layout_table_in_the_docs_matches_the_constants() {
    let fields = doc_check::layout(include_str!("mod.rs"));
    let constants = [
        ("n_terms", index::N_TERMS_AT),
        ("n_docs", index::N_DOCS_AT),
        ("n_blocks", index::N_BLOCKS_AT),
        ("n_early", index::N_EARLY_AT),
        ("blocks_len", index::BLOCKS_LEN_AT),
        ("postings_len", index::POSTINGS_LEN_AT),
        ("key_bytes", index::KEY_BYTES_AT),
        ("info_bytes", index::INFO_BYTES_AT),
        ("occurrence_bytes", index::OCCURRENCE_BYTES_AT),
        ("detail", index::DETAIL_AT),
        ("tops", index::TOPS_AT),
    ];
    for (field, at) in constants {
        assert_eq!(fields[field], at, "{field}");
    }
}

/// The documents of a term, as the caller of the writer knows them.
#[derive(Clone, Debug)]
enum Docs {
    Few(Vec<u32>, Vec<u8>),
    Many { df: u32, len: u32, ranked_len: u64 },
}

/// A word that occurs first in each of these documents.
fn few(docs: &[u32]) -> Docs {
    Docs::Few(docs.to_vec(), vec![0; docs.len()])
}

type Oracle = BTreeMap<Vec<u8>, Docs>;

/// A small generator of numbers, so that failures repeat.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn docs(&mut self, n_docs: u32) -> Docs {
        match self.below(8) {
            0 => {
                let (df, len) = (5 + self.below(1000) as u32, 1 + self.below(100_000) as u32);
                let ranked_len = if df > 255 { self.below(1 << 33) } else { 0 };
                Docs::Many { df, len, ranked_len }
            }
            1 => Docs::Many { df: 1 + self.below(4) as u32, len: 65, ranked_len: 0 },
            2 => {
                let mut docs: Vec<_> =
                    (0..4).map(|_| self.below(u64::from(n_docs)) as u32).collect();
                docs.sort_unstable();
                docs.dedup();
                docs.truncate(1 + self.below(4) as usize);
                self.few(docs)
            }
            3 => self.few(vec![n_docs - 1]),
            _ => {
                let doc = self.below(u64::from(n_docs)) as u32;
                self.few(vec![doc])
            }
        }
    }

    /// These documents, with the positions of a word in each.
    fn few(&mut self, docs: Vec<u32>) -> Docs {
        let mut stream = vec![];
        for _ in &docs {
            let n = self.below(4) as u32 + 1;
            let first = self.below(300) as u32;
            occurrences::write(Detail::Positions, (0..n).map(|nth| first + nth * 7), &mut stream);
        }
        Docs::Few(docs, stream)
    }

    /// Terms of bytes that are often equal, so that prefixes are shared at all lengths.
    fn oracle(&mut self, n_terms: usize, len_max: u64, n_bytes: u64) -> Oracle {
        let mut oracle = Oracle::new();
        for _ in 0..n_terms * 20 {
            if oracle.len() == n_terms {
                break;
            }
            let len = self.below(len_max + 1);
            let term = (0..len)
                .map(|_| [0, b'a', 0xFF, b'b', b'c', 1, 0xC3, b'z'][self.below(n_bytes) as usize]);
            let term = term.collect();
            let docs = self.docs(N_DOCS);
            oracle.insert(term, docs);
        }
        oracle
    }
}

#[derive(Clone, Debug)]
pub(super) struct Sections {
    pub(super) blocks: Vec<u8>,
    pub(super) index: Vec<u8>,
    pub(super) heads: Vec<u8>,
    /// The CUMULATIVE section.
    sums: Vec<u8>,
}

impl Sections {
    fn of(finished: FinishedDictionary) -> Self {
        let FinishedDictionary { blocks, index, heads, n_postings, before_blocks } = finished;
        let sums = cumulative::encode(&before_blocks, n_postings as u32);
        Sections { blocks, index, heads, sums }
    }

    pub(super) fn open(&self) -> Result<TermDictionary<&[u8]>> {
        TermDictionary::open(&self.blocks, &self.index, &self.heads)
    }
}

fn build(oracle: &Oracle) -> Sections {
    let mut writer = TermDictionaryWriter::new(N_DOCS, Detail::Positions);
    let mut blocks = vec![];
    for (n, (term, docs)) in oracle.iter().enumerate() {
        let new = match docs {
            Docs::Few(docs, occurrences) => NewTerm::Inline { docs, occurrences },
            &Docs::Many { df, len, ranked_len } => NewTerm::Stored { df, len, ranked_len },
        };
        writer.add(term, new).unwrap();
        if n % 100 == 0 {
            blocks.append(writer.blocks_mut());
        }
    }
    let mut finished = writer.finish();
    blocks.append(&mut finished.blocks);
    Sections::of(FinishedDictionary { blocks, ..finished })
}

/// Expected entry of each term of a dictionary of `oracle`.
fn expected(oracle: &Oracle) -> Vec<(Vec<u8>, TermOrdinal, TermInfo)> {
    let mut postings = 0;
    let info = |docs: &Docs| match docs {
        Docs::Few(few, _) => {
            let mut docs = [0; 4];
            docs[..few.len()].copy_from_slice(few);
            let inline = InlineDocs { docs, len: few.len() as u8, block: 0, index: 0 };
            TermInfo { df: few.len() as u32, postings: PostingsAt::Inline(inline) }
        }
        &Docs::Many { df, len, ranked_len } => {
            let offset = postings;
            postings += u64::from(len) + ranked_len;
            TermInfo { df, postings: PostingsAt::Section { offset, len, ranked_len } }
        }
    };
    let infos: Vec<_> = oracle.values().map(info).collect();
    let terms = oracle.keys().zip(infos).enumerate();
    terms.map(|(n, (term, info))| (term.clone(), TermOrdinal(n as u32), info)).collect()
}

type Term = (Vec<u8>, TermOrdinal, TermInfo);

fn owned((term, ordinal, info): (&[u8], TermOrdinal, TermInfo)) -> Term {
    (term.to_vec(), ordinal, info)
}

fn forwards<'s, S: Source<'s>>(mut stream: TermStream<'s, S>) -> Result<Vec<Term>> {
    let mut terms = vec![];
    while let Some(term) = stream.next()? {
        terms.push(owned(term));
    }
    Ok(terms)
}

fn backwards<'s, S: Source<'s>>(mut stream: TermStream<'s, S>) -> Result<Vec<Term>> {
    let mut terms = vec![];
    while let Some(term) = stream.next_back()? {
        terms.push(owned(term));
    }
    terms.reverse();
    Ok(terms)
}

fn accepted<'s, S: Source<'s>, A: super::TermAutomaton>(
    mut search: TermSearch<'s, S, A>,
) -> Result<Vec<Term>> {
    let mut terms = vec![];
    while let Some(term) = search.next()? {
        terms.push(owned(term));
    }
    Ok(terms)
}

#[test]
fn documents_below_numbers_are_those_of_all_terms_before() {
    let mut random = Random(77);
    let numbers: std::collections::BTreeSet<u64> =
        (0..2_000).map(|nth| (random.below(1 << 30) << (nth % 30)) | (nth % 3)).collect();
    let mut writer = TermDictionaryWriter::new(N_DOCS, Detail::Documents);
    for number in &numbers {
        let docs: Vec<u32> = (0..1 + number % 4).map(|doc| doc as u32).collect();
        writer
            .add(
                &number.swap_bytes().to_le_bytes(),
                NewTerm::Inline { docs: &docs, occurrences: &[] },
            )
            .unwrap();
    }
    let sections = Sections::of(writer.finish());
    let dictionary = sections.open().unwrap();
    let sums = Cumulative::open(&sections.sums[..], dictionary.n_blocks()).unwrap();
    let near = numbers.iter().flat_map(|it| [it.saturating_sub(1), *it, it.saturating_add(1)]);
    for number in near.chain([0, u64::MAX]) {
        let expected: u64 = numbers.range(..number).map(|it| 1 + it % 4).sum();
        let key = number.swap_bytes().to_le_bytes();
        let below = dictionary.documents_below(&key, &sums).unwrap();
        assert_eq!(u64::from(below), expected, "{number}");
        let before = dictionary.documents_before(dictionary.rank(&key).unwrap(), &sums).unwrap();
        assert_eq!(below, before, "{number}");
    }
}

/// Byte strings that lie at, right before and right after the given terms.
fn probes(terms: &[Term], random: &mut Random, n: usize) -> Vec<Vec<u8>> {
    let mut probes = vec![vec![], vec![0], vec![0xFF; 3]];
    for _ in 0..n.min(terms.len()) {
        let term = &terms[random.below(terms.len() as u64) as usize].0;
        probes.push(term.clone());
        probes.push([&term[..], &[0]].concat());
        probes.push(term[..random.below(term.len() as u64 + 1) as usize].to_vec());
        if let Some((last, rest)) = term.split_last() {
            probes.push([rest, &[last.wrapping_add(1)]].concat());
            probes.push([rest, &[last.wrapping_sub(1), 0xFF]].concat());
        }
    }
    probes
}

fn check(oracle: &Oracle) {
    let sections = build(oracle);
    let dictionary = sections.open().unwrap();
    let expected = expected(oracle);
    assert_eq!(dictionary.n_terms() as usize, oracle.len());
    assert_eq!(dictionary.n_docs(), N_DOCS);
    dictionary.verify().unwrap();

    let mut buffer = b"what was there".to_vec();
    for (term, ordinal, info) in &expected {
        assert_eq!(dictionary.get(term).unwrap(), Some(*info), "{}", term.escape_ascii());
        assert_eq!(dictionary.term(*ordinal, &mut buffer).unwrap(), *info);
        assert_eq!(&buffer, term);
    }
    let sums = Cumulative::open(&sections.sums[..], dictionary.n_blocks()).unwrap();
    let mut before = 0;
    for (_, TermOrdinal(ordinal), info) in &expected {
        assert_eq!(dictionary.documents_before(*ordinal, &sums).unwrap(), before);
        before += info.df;
    }
    for behind in [dictionary.n_terms(), u32::MAX] {
        assert_eq!(dictionary.documents_before(behind, &sums).unwrap(), before);
    }
    assert_eq!(forwards(dictionary.iter()).unwrap(), expected);
    assert_eq!(backwards(dictionary.iter()).unwrap(), expected);

    let random = &mut Random(oracle.len() as u64);
    let probes = probes(&expected, random, unless_miri(12, 1));
    for probe in &probes {
        let found = dictionary.get(probe).unwrap();
        let wanted = oracle.contains_key(probe);
        assert_eq!(found.is_some(), wanted, "{}", probe.escape_ascii());
        let less = expected.partition_point(|(term, ..)| term < probe);
        assert_eq!(dictionary.rank(probe).unwrap() as usize, less);
        let with_prefix: Vec<_> =
            expected.iter().filter(|(term, ..)| term.starts_with(probe)).cloned().collect();
        assert_eq!(forwards(dictionary.prefix(probe).unwrap()).unwrap(), with_prefix);
        let starts = BytesAre(probe).starts_with();
        assert_eq!(accepted(dictionary.search(starts)).unwrap(), with_prefix);
    }
    for pair in each_unless_miri(probes.windows(2), 3) {
        let (low, high) = (pair[0].as_slice(), pair[1].as_slice());
        for lower in [Included(low), Excluded(low), Unbounded] {
            for upper in [Included(high), Excluded(high), Unbounded] {
                check_range(&dictionary, &expected, lower, upper, random);
            }
        }
    }
}

fn check_range(
    dictionary: &TermDictionary<&[u8]>,
    all: &[Term],
    lower: Bound<&[u8]>,
    upper: Bound<&[u8]>,
    random: &mut Random,
) {
    let inside = |term: &[u8]| std::ops::RangeBounds::<[u8]>::contains(&(lower, upper), term);
    let expected: Vec<_> = all.iter().filter(|(term, ..)| inside(term)).cloned().collect();
    let range = || dictionary.range(lower, upper).unwrap();
    assert_eq!(range().ordinals().len(), expected.len(), "{lower:?} {upper:?}");
    assert_eq!(forwards(range()).unwrap(), expected);
    assert_eq!(backwards(range()).unwrap(), expected);
    let mut infos = dictionary.infos(range().ordinals());
    let found = std::iter::from_fn(|| infos.next().unwrap());
    assert!(found.eq(expected.iter().map(|(.., info)| *info)));

    let (mut stream, mut front, mut back) = (range(), vec![], vec![]);
    loop {
        let is_front = random.below(2) == 0;
        let term = if is_front { stream.next() } else { stream.next_back() };
        let Some(term) = term.unwrap().map(owned) else {
            break;
        };
        if is_front { front.push(term) } else { back.push(term) }
    }
    front.extend(back.into_iter().rev());
    assert_eq!(front, expected, "from both ends");
}

/// Accepts one byte string; `fst` has that for `str` only.
struct BytesAre<'a>(&'a [u8]);

impl Automaton for BytesAre<'_> {
    type State = Option<usize>;
    fn start(&self) -> Option<usize> {
        Some(0)
    }
    fn is_match(&self, at: &Option<usize>) -> bool {
        *at == Some(self.0.len())
    }
    fn can_match(&self, at: &Option<usize>) -> bool {
        at.is_some()
    }
    fn accept(&self, at: &Option<usize>, byte: u8) -> Option<usize> {
        at.filter(|at| self.0.get(*at) == Some(&byte)).map(|at| at + 1)
    }
}

#[test]
fn every_size_around_the_limits_of_a_block() {
    let sizes = [0, 1, 2, 31, 32, 33, 63, 64, 65, 96, 97, 256 * 32, 256 * 32 + 1];
    for &n_terms in unless_miri(&sizes[..], &[0, 1, 33]) {
        let oracle = (0..n_terms)
            .map(|n: u32| (n.to_le_bytes().into_iter().rev().collect(), few(&[n])))
            .collect();
        check(&oracle);
    }
}

#[test]
fn random_terms_that_share_prefixes() {
    let kinds = [(1, 3, 8), (2, 12, 2), (3, 40, 3), (4, 20, 8)];
    for (seed, len_max, n_bytes) in each_unless_miri(kinds, 2) {
        check(&Random(seed).oracle(unless_miri(700, 40), len_max, n_bytes));
    }
}

#[test]
fn terms_that_begin_with_the_same_eight_bytes() {
    let oracle = Random(5).oracle(unless_miri(900, 40), 8, 3);
    let long = oracle.into_iter().map(|(term, docs)| ([b"https://", &term[..]].concat(), docs));
    check(&long.collect());
}

#[test]
fn long_terms_close_blocks_early() {
    let mut random = Random(6);
    let mut oracle = Oracle::new();
    let lens = [10, 500, 3_000, 16_000, 16_384, 32_000, MAX_TERM_LEN];
    let lens = unless_miri(&lens[..], &[7_000, 10, 7_000]);
    for n in 0..unless_miri(60u32, 5) {
        let len = lens[random.below(lens.len() as u64) as usize];
        let mut term = vec![b'x'; len];
        let at = random.below(len.min(unless_miri(MAX_TERM_LEN, 300)) as u64) as usize;
        term[at] = n as u8;
        oracle.insert(term, random.docs(N_DOCS));
    }
    oracle.insert(vec![], few(&[1, 2]));
    oracle.insert(vec![0], few(&[1]));
    let sections = build(&oracle);
    assert!(sections.open().unwrap().index.n_early() > unless_miri(10, 0));
    check(&oracle);
}

/// Reads every range into a box of its own, as a file that is not mapped does.
#[derive(Clone, Copy, Debug)]
struct Copied<'a>(&'a [u8]);

impl<'a> Source<'a> for Copied<'a> {
    fn len(self) -> u64 {
        self.0.len() as u64
    }
    fn bytes(self, range: Range<u64>) -> Result<Bytes<'a>> {
        Ok(Bytes::Read(Source::bytes(self.0, range)?.to_vec().into()))
    }
    fn locate(self, offset: u64, error: Error) -> Error {
        error.at_offset(offset)
    }
}

#[test]
fn bytes_that_are_not_mapped_give_the_same_answers() {
    let oracle = Random(7).oracle(unless_miri(300, 70), 10, 8);
    let Sections { blocks, index, heads, .. } = build(&oracle);
    let dictionary = TermDictionary::open(Copied(&blocks), Copied(&index), Copied(&heads)).unwrap();
    let expected = expected(&oracle);
    assert_eq!(forwards(dictionary.iter()).unwrap(), expected);
    assert_eq!(backwards(dictionary.iter()).unwrap(), expected);
    assert_eq!(accepted(dictionary.search(fst::automaton::AlwaysMatch)).unwrap(), expected);
    for (term, _, info) in &expected {
        assert_eq!(dictionary.get(term).unwrap(), Some(*info));
    }
    dictionary.verify().unwrap();
}

#[test]
fn an_automaton_finds_what_a_filter_finds() {
    use fst::automaton::{AlwaysMatch, Str, Subsequence};
    for (seed, len_max, n_bytes) in [(11, 3, 8), (12, 12, 2), (13, 9, 5)] {
        let oracle = Random(seed).oracle(unless_miri(1_000, 35), len_max, n_bytes);
        let sections = build(&oracle);
        check_automaton(&oracle, &sections, AlwaysMatch);
        check_automaton(&oracle, &sections, AlwaysMatch.complement());
        for word in each_unless_miri(["", "a", "ab", "abc", "z"], 3) {
            check_automaton(&oracle, &sections, Str::new(word));
            check_automaton(&oracle, &sections, Str::new(word).starts_with());
            check_automaton(&oracle, &sections, Str::new(word).complement());
            check_automaton(&oracle, &sections, Str::new(word).starts_with().complement());
            check_automaton(&oracle, &sections, Subsequence::new(word));
            check_automaton(&oracle, &sections, Subsequence::new(word).complement());
            check_automaton(&oracle, &sections, Subsequence::new(word).union(Str::new("ca")));
            check_automaton(&oracle, &sections, AtMostEdits(word.as_bytes(), 1));
            check_automaton(&oracle, &sections, AtMostEdits(word.as_bytes(), 2));
            check_automaton(&oracle, &sections, EndsWith(word.as_bytes()));
        }
    }
}

/// More blocks than a group of the index has, many of which begin with the same eight bytes.
#[test]
fn an_automaton_leaps_over_blocks_that_have_nothing_for_it() {
    let short = Random(15).oracle(unless_miri(3_000, 40), 9, 5);
    let long = Random(16).oracle(unless_miri(2_000, 40), 9, 5);
    let long = long.into_iter().map(|(term, docs)| ([b"bbbbbbbb", &term[..]].concat(), docs));
    let oracle: Oracle = short.into_iter().chain(long).collect();
    let sections = build(&oracle);
    let terms: Vec<&Vec<u8>> = oracle.keys().collect();
    for at in each_unless_miri((0..terms.len()).step_by(97), 2) {
        for most in 0..=2 {
            check_automaton(&oracle, &sections, AtMostEdits(terms[at], most));
        }
        let dictionary = sections.open().unwrap();
        let mut search = dictionary.search(AtMostEdits(terms[at], 0));
        while search.next().unwrap().is_some() {}
        assert!(search.visited() <= 3 * u64::from(block::BLOCK_TERMS), "{}", search.visited());
    }
}

#[test]
fn a_search_looks_at_as_many_terms_as_it_may() {
    let sections = build(&Random(14).oracle(70, 10, 8));
    for (most, is_exhausted) in [(69, true), (70, false), (71, false)] {
        let dictionary = sections.open().unwrap();
        let mut search = dictionary.search(fst::automaton::AlwaysMatch).visiting_at_most(most);
        let n_found = (0..).take_while(|_| search.next().unwrap().is_some()).count();
        assert_eq!((n_found as u64, search.is_exhausted()), (most.min(70), is_exhausted));
    }
}

fn check_automaton<A: Automaton>(oracle: &Oracle, sections: &Sections, automaton: A) {
    let dictionary = sections.open().unwrap();
    let matches = |term: &[u8]| {
        let last =
            term.iter().fold(automaton.start(), |state, byte| automaton.accept(&state, *byte));
        match automaton.accept_eof(&last) {
            Some(at_end) => automaton.is_match(&at_end),
            None => automaton.is_match(&last),
        }
    };
    let expected: Vec<_> =
        expected(oracle).into_iter().filter(|(term, ..)| matches(term)).collect();
    assert_eq!(accepted(dictionary.search(&automaton)).unwrap(), expected);
}

/// Byte strings within so many edits of another: the row of the edit distance table is the state.
struct AtMostEdits<'a>(&'a [u8], usize);

impl Automaton for AtMostEdits<'_> {
    type State = Vec<usize>;
    fn start(&self) -> Vec<usize> {
        (0..=self.0.len()).collect()
    }
    fn is_match(&self, row: &Vec<usize>) -> bool {
        row.last().is_some_and(|edits| *edits <= self.1)
    }
    fn can_match(&self, row: &Vec<usize>) -> bool {
        row.iter().any(|edits| *edits <= self.1)
    }
    fn accept(&self, row: &Vec<usize>, byte: u8) -> Vec<usize> {
        let mut next = vec![row[0] + 1];
        for (n, wanted) in self.0.iter().enumerate() {
            let replaced = row[n] + usize::from(*wanted != byte);
            next.push(replaced.min(row[n + 1] + 1).min(next[n] + 1));
        }
        next
    }
}

/// Matches only when it is told that the key has ended.
struct EndsWith<'a>(&'a [u8]);

impl Automaton for EndsWith<'_> {
    type State = (Vec<u8>, bool);
    fn start(&self) -> (Vec<u8>, bool) {
        (vec![], false)
    }
    fn is_match(&self, (seen, has_ended): &(Vec<u8>, bool)) -> bool {
        *has_ended && seen.ends_with(self.0)
    }
    fn accept(&self, (seen, _): &(Vec<u8>, bool), byte: u8) -> (Vec<u8>, bool) {
        ([&seen[..], &[byte]].concat(), false)
    }
    fn accept_eof(&self, (seen, _): &(Vec<u8>, bool)) -> Option<(Vec<u8>, bool)> {
        Some((seen.clone(), true))
    }
}

#[test]
fn the_writer_refuses_what_it_could_not_read_back() {
    let refused = |before: &[u8], term: &[u8], new| {
        let mut writer = TermDictionaryWriter::new(10, Detail::Documents);
        writer.add(before, NewTerm::Inline { docs: &[0], occurrences: &[] }).unwrap();
        let error = writer.add(term, new).unwrap_err();
        assert_eq!(writer.finish().index[..4], [1, 0, 0, 0], "nothing was added");
        error.kind()
    };
    let one = NewTerm::Inline { docs: &[9], occurrences: &[] };
    assert_eq!(refused(b"b", b"b", one), ErrorKind::Usage);
    assert_eq!(refused(b"b", b"a", one), ErrorKind::Usage);
    assert_eq!(refused(b"bb", b"b", one), ErrorKind::Usage);
    assert_eq!(refused(b"", b"", one), ErrorKind::Usage);
    assert_eq!(refused(b"b", &[b'c'; MAX_TERM_LEN + 1], one), ErrorKind::LimitExceeded);
    for docs in [&[][..], &[10], &[1, 1], &[2, 1], &[1, 2, 3, 4, 5]] {
        let few = NewTerm::Inline { docs, occurrences: &[] };
        assert_eq!(refused(b"b", b"c", few), ErrorKind::Usage, "{docs:?}");
    }
    let with_occurrences = NewTerm::Inline { docs: &[9], occurrences: &[0] };
    assert_eq!(refused(b"b", b"c", with_occurrences), ErrorKind::Usage);
    for (df, len) in [(4, 1), (11, 1), (5, 0)] {
        let stored = NewTerm::Stored { df, len, ranked_len: 0 };
        assert_eq!(refused(b"b", b"c", stored), ErrorKind::Usage);
    }
    let mut writer = TermDictionaryWriter::new(10, Detail::Positions);
    for occurrences in [&[][..], &[0; INLINE_OCCURRENCES_MAX + 1]] {
        let new = NewTerm::Inline { docs: &[9], occurrences };
        assert_eq!(writer.add(b"c", new).unwrap_err().kind(), ErrorKind::Usage);
    }
}

#[test]
fn occurrences_of_inline_documents_are_found_in_every_place_of_a_block() {
    let oracle = Random(21).oracle(unless_miri(3_000, 80), 6, 8);
    let sections = build(&oracle);
    let dictionary = sections.open().unwrap();
    dictionary.verify().unwrap();
    for (term, docs) in &oracle {
        let info = dictionary.get(term).unwrap().unwrap();
        match (docs, info.postings) {
            (Docs::Few(_, expected), PostingsAt::Inline(found)) => {
                assert_eq!(*dictionary.occurrences(&found).unwrap(), expected[..]);
            }
            (Docs::Many { .. }, PostingsAt::Section { .. }) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn an_ordinal_that_no_term_has_is_refused() {
    let sections = build(&Random(8).oracle(40, 10, 8));
    let dictionary = sections.open().unwrap();
    let past = TermOrdinal(dictionary.n_terms());
    assert_eq!(dictionary.term(past, &mut vec![]).unwrap_err().kind(), ErrorKind::Usage);
}
