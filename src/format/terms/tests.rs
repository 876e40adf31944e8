//! The dictionary against a `BTreeMap`, and against bytes that are not what was written.

use super::block::{BLOCK_KEY_BYTES, BLOCK_TERMS};
use super::*;
use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Included, Unbounded};

const N_DOCS: u32 = 70_000;

/// The documents of a term, as the caller of the writer knows them.
#[derive(Clone, Debug)]
enum Docs {
    Few(Vec<u32>),
    Many { df: u32, len: u32 },
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
                Docs::Many { df: 5 + self.below(1000) as u32, len: 1 + self.below(100_000) as u32 }
            }
            1 | 2 => {
                let mut docs: Vec<_> =
                    (0..4).map(|_| self.below(u64::from(n_docs)) as u32).collect();
                docs.sort_unstable();
                docs.dedup();
                docs.truncate(1 + self.below(4) as usize);
                Docs::Few(docs)
            }
            3 => Docs::Few(vec![n_docs - 1]),
            _ => Docs::Few(vec![self.below(u64::from(n_docs)) as u32]),
        }
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
struct Sections {
    blocks: Vec<u8>,
    index: Vec<u8>,
    heads: Vec<u8>,
}

impl Sections {
    fn open(&self) -> Result<TermDictionary<&[u8]>> {
        TermDictionary::open(&self.blocks, &self.index, &self.heads)
    }
}

fn build(oracle: &Oracle) -> Sections {
    let mut writer = TermDictionaryWriter::new(N_DOCS);
    let mut blocks = vec![];
    for (n, (term, docs)) in oracle.iter().enumerate() {
        let new = match docs {
            Docs::Few(docs) => NewTerm::Inline(docs),
            Docs::Many { df, len } => NewTerm::Stored { df: *df, len: *len },
        };
        writer.add(term, new).unwrap();
        if n % 100 == 0 {
            blocks.append(writer.blocks_mut());
        }
    }
    let mut finished = writer.finish();
    blocks.append(&mut finished.blocks);
    assert_eq!(finished.n_terms as usize, oracle.len());
    Sections { blocks, index: finished.index, heads: finished.heads }
}

/// What a dictionary of `oracle` must say of each term.
fn expected(oracle: &Oracle) -> Vec<(Vec<u8>, TermOrdinal, TermInfo)> {
    let mut postings = 0;
    let info = |docs: &Docs| match docs {
        Docs::Few(few) => {
            let mut docs = [0; 4];
            docs[..few.len()].copy_from_slice(few);
            let inline = InlineDocs { docs, len: few.len() as u8 };
            TermInfo { df: few.len() as u32, postings: PostingsAt::Inline(inline) }
        }
        Docs::Many { df, len } => {
            let offset = postings;
            postings += u64::from(*len);
            TermInfo { df: *df, postings: PostingsAt::Section { offset, len: *len } }
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

fn accepted<'s, S: Source<'s>, A: fst::Automaton>(
    mut search: TermSearch<'s, S, A>,
) -> Result<Vec<Term>> {
    let mut terms = vec![];
    while let Some(term) = search.next()? {
        terms.push(owned(term));
    }
    Ok(terms)
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

    let mut buffer = b"what was there".to_vec();
    for (term, ordinal, info) in &expected {
        assert_eq!(
            dictionary.get(term).unwrap(),
            Some((*ordinal, *info)),
            "{}",
            term.escape_ascii()
        );
        assert_eq!(dictionary.term(*ordinal, &mut buffer).unwrap(), *info);
        assert_eq!(&buffer, term);
    }
    assert_eq!(forwards(dictionary.iter()).unwrap(), expected);
    assert_eq!(backwards(dictionary.iter()).unwrap(), expected);

    let random = &mut Random(oracle.len() as u64);
    let probes = probes(&expected, random, 60);
    for probe in &probes {
        let found = dictionary.get(probe).unwrap();
        let wanted = oracle.contains_key(probe);
        assert_eq!(found.is_some(), wanted, "{}", probe.escape_ascii());
        let less = expected.partition_point(|(term, ..)| term < probe);
        assert_eq!(dictionary.rank(probe).unwrap() as usize, less);
        let with_prefix: Vec<_> =
            expected.iter().filter(|(term, ..)| term.starts_with(probe)).cloned().collect();
        assert_eq!(forwards(dictionary.prefix(probe).unwrap()).unwrap(), with_prefix);
        let starts = fst::automaton::Automaton::starts_with(BytesAre(probe));
        assert_eq!(accepted(dictionary.search(starts)).unwrap(), with_prefix);
    }
    for pair in probes.windows(2) {
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
    let inside = |term: &[u8]| std::ops::RangeBounds::contains(&(lower, upper), term);
    let expected: Vec<_> = all.iter().filter(|(term, ..)| inside(term)).cloned().collect();
    let range = || dictionary.range(lower, upper).unwrap();
    assert_eq!(range().len() as usize, expected.len(), "{lower:?} {upper:?}");
    assert_eq!(forwards(range()).unwrap(), expected);
    assert_eq!(backwards(range()).unwrap(), expected);

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

impl fst::Automaton for BytesAre<'_> {
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
    for n_terms in [0, 1, 2, 31, 32, 33, 63, 64, 65, 96, 97, 256 * 32, 256 * 32 + 1] {
        let oracle = (0..n_terms)
            .map(|n: u32| (n.to_le_bytes().into_iter().rev().collect(), Docs::Few(vec![n])))
            .collect();
        check(&oracle);
    }
}

#[test]
fn random_terms_that_share_prefixes() {
    for (seed, len_max, n_bytes) in [(1, 3, 8), (2, 12, 2), (3, 40, 3), (4, 20, 8)] {
        check(&Random(seed).oracle(700, len_max, n_bytes));
    }
}

#[test]
fn terms_that_begin_with_the_same_eight_bytes() {
    let oracle = Random(5).oracle(900, 8, 3);
    let long = oracle.into_iter().map(|(term, docs)| ([b"https://", &term[..]].concat(), docs));
    check(&long.collect());
}

#[test]
fn long_terms_close_blocks_early() {
    let mut random = Random(6);
    let mut oracle = Oracle::new();
    for n in 0..200u32 {
        let len = [10, 500, 3_000, 16_000, 16_384, 32_000, MAX_TERM_LEN][random.below(7) as usize];
        let mut term = vec![b'x'; len];
        let at = random.below(len as u64) as usize;
        term[at] = n as u8;
        oracle.insert(term, random.docs(N_DOCS));
    }
    oracle.insert(vec![], Docs::Few(vec![1, 2]));
    oracle.insert(vec![0], Docs::Few(vec![1]));
    let sections = build(&oracle);
    assert!(sections.open().unwrap().index.n_early() > 10);
    check(&oracle);
}
