//! Long lists against plain vectors, and against bytes that are not what was written.

use super::*;
use crate::format::doc_check;
use crate::format::lengths::{self, length_of, score_part};
use crate::format::postings;
use crate::simd::widths::Widths;
use crate::test_sizes::{each_unless_miri, unless_miri};
use std::collections::BTreeSet;

/// Features of segments that are read: those that were written before, and those that are.
const FEATURES: [u32; 2] = [TOLD_FROM, TOLD_FROM | TIGHT];

/// A term as a plain list: each document with its positions.
struct Model {
    docs: Vec<(u32, Vec<u32>)>,
    ranking: Ranking,
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((self.0 >> 33) % u64::from(n)) as u32
    }
}

impl Model {
    /// Documents with random positions, few as a rule; `far` is the greatest distance between two.
    fn new(docs: impl IntoIterator<Item = u32>, far: u32, detail: Detail) -> Model {
        let mut random = Random(far.into());
        let mut with_positions = |doc| {
            let frequency = match random.below(60) {
                0 => 1 + random.below(300),
                n @ 1..8 => n,
                _ => 1,
            };
            let mut position = 0;
            let mut next = || {
                position += random.below(far);
                position
            };
            (doc, (0..frequency).map(|_| next()).collect())
        };
        let docs: Vec<(u32, Vec<u32>)> = docs.into_iter().map(&mut with_positions).collect();
        let n_docs = docs.last().unwrap().0 + 1;
        let codes: Vec<u8> = (0..200).map(|doc| lengths::code_of(5 + doc * 31 % 200)).collect();
        let mut lengths = codes.repeat(n_docs as usize / codes.len() + 1);
        lengths.truncate(n_docs as usize);
        Model { docs, ranking: Ranking::new(detail, Bm25::of_segment(1000, 10), lengths) }
    }

    fn numbers(&self) -> Vec<u32> {
        self.docs.iter().map(|(doc, _)| *doc).collect()
    }

    /// The list's bitmap with everything behind it, and the length of the bitmap.
    fn bytes(&self) -> (Vec<u8>, usize) {
        let mut stream = vec![];
        let mut pieces = vec![];
        for piece in self.docs.chunks(1 + self.docs.len() / 3) {
            let start = stream.len();
            for (_, positions) in piece {
                occurrences::write(self.ranking.detail, positions.iter().copied(), &mut stream);
            }
            pieces.push((start..stream.len(), piece.len() as u32));
        }
        let mut bytes = vec![];
        postings::encode(&self.numbers(), &mut bytes);
        let len = bytes.len();
        let pieces = pieces.into_iter().map(|(range, n)| (&stream[range], n));
        RankedWriter::default().write(&self.numbers(), pieces, &self.ranking, &mut bytes).unwrap();
        (bytes, len)
    }

    fn part(&self, rank: usize) -> f32 {
        let (doc, positions) = &self.docs[rank];
        let Bm25 { k1, b, average } = self.ranking.bm25;
        let length = length_of(self.ranking.lengths[*doc as usize]) as f32;
        score_part(positions.len() as u32, k1 * (1.0 - b + b * length / average))
    }

    /// Compares all that a list says with the plain one, in segments of all kinds.
    fn check(&mut self) {
        for features in FEATURES {
            self.ranking.set_features(features);
            self.check_as_written();
        }
    }

    fn check_as_written(&self) {
        let (bytes, len) = self.bytes();
        let list = open(&bytes, len, self.ranking.detail).unwrap();
        list.verify(&self.numbers(), &self.ranking, &mut RankedWriter::default()).unwrap();
        self.check_impacts(&list);
        let RankedBytes { heads, codes, directories, frequencies, positions } = list.bytes();
        let all = heads + codes + directories + frequencies + positions;
        assert_eq!(all, (bytes.len() - len) as u64);
        let mut reader = list.reader();
        for (rank, (_, positions)) in self.docs.iter().enumerate() {
            let (rank, n) = (rank as u32, positions.len() as u32);
            assert_eq!(list.frequencies().get(rank).unwrap(), n);
            assert_eq!(list.frequencies().group(rank / 64).unwrap().get(rank % 64), n);
            if let Some(reader) = &mut reader {
                check_positions(reader, rank, positions);
            }
        }
        // Far from the posting before, every time.
        for rank in (0..self.docs.len()).rev().step_by(1 + self.docs.len() / 50) {
            if let Some(reader) = &mut reader {
                check_positions(reader, rank as u32, &self.docs[rank].1);
                check_positions(reader, 0, &self.docs[0].1);
            }
        }
        let past = self.docs.len() as u32;
        assert!(list.frequencies().get(past).is_err());
        assert!(list.frequencies().get(u32::MAX).is_err());
        assert_eq!(reader.is_some(), self.ranking.detail.has_positions());
        if let Some(reader) = &mut reader {
            assert!(positions_of(reader, past, u32::MAX).is_err());
        }
    }

    fn check_impacts(&self, list: &RankedLong<'_, &[u8]>) {
        let parts: Vec<f32> = (0..self.docs.len()).map(|rank| self.part(rank)).collect();
        let mut best = parts.clone();
        best.sort_by(|a, b| b.total_cmp(a));
        let max = list.max_part();
        assert_eq!(max, best[0]);
        let bound = |code: u8| f64::from(code) * f64::from(max) / 255.0;
        for (k, code) in KTH.into_iter().zip(list.kth_codes()) {
            match best.get(k - 1) {
                Some(part) => {
                    assert!(bound(code) <= f64::from(*part));
                    assert!(code == 255 || bound(code + 1) > f64::from(*part) - 1e-7);
                }
                None => assert_eq!(code, 0),
            }
        }
        // From which code on one tells the part: no further than the 64 best parts.
        let distinct: BTreeSet<u32> = parts.iter().map(|part| part.to_bits()).collect();
        let code = |bits: &u32| list.code_of(f32::from_bits(*bits));
        let n_of = |of: u8| distinct.iter().filter(|bits| code(bits) == of).count();
        let told: Vec<u8> = (1..=u8::MAX).rev().take_while(|code| n_of(*code) <= 1).collect();
        match list.told_from() {
            Some(from) if distinct.len() <= 128 => assert_eq!(told.last(), Some(&from)),
            Some(from) => {
                assert!(told.contains(&from));
                let first_left_out = code(distinct.iter().rev().nth(64).unwrap());
                assert!(from <= told[told.len() - 1].max(first_left_out.saturating_add(1)));
            }
            None => assert!(told.is_empty(), "{told:?}"),
        }
        let mut rank = 0;
        for container in list.containers() {
            assert_eq!(container.first_rank as usize, rank);
            let of_container = rank..rank + container.cardinality as usize;
            let payload = list.list().payload(container.nth).unwrap();
            let values = list.list().container(container.nth, &payload).unwrap();
            let directory = list.directory(&container).unwrap();
            let codes = list.codes(&container).unwrap();
            for (nth, rank) in of_container.clone().enumerate() {
                let doc = self.docs[rank].0;
                assert_eq!(container.key, (doc >> 16) as u16);
                assert_eq!(directory.find(values, doc as u16), Some(nth as u32));
                let before = |block: u32| self.docs.partition_point(|(of, _)| of >> 6 < block);
                let block: Vec<usize> = (before(doc >> 6)..before((doc >> 6) + 1)).collect();
                let of_block = block.iter().map(|rank| parts[*rank]).fold(0.0, f32::max);
                let code = match (codes.dense(), codes.by_rank()) {
                    (Some(codes), None) => codes[usize::from(doc as u16 >> 6)],
                    (None, Some(codes)) if block[0] == rank => codes[nth],
                    (None, Some(codes)) => {
                        assert_eq!(codes[nth], 0);
                        continue;
                    }
                    _ => panic!("both or none"),
                };
                assert!(bound(code) >= f64::from(of_block) && code <= container.max_code);
                assert!(code == 1 || bound(code - 1) < f64::from(of_block), "not the smallest");
            }
            assert_eq!(codes.dense().is_some(), container.cardinality >= 1024);
            let all = codes.dense().map_or(codes.by_rank().unwrap_or_default(), |codes| codes);
            assert_eq!(all.iter().max(), Some(&container.max_code));
            let absent = each_unless_miri(0..=u16::MAX, 4_099).filter(|low| !values.contains(*low));
            let absent = absent.step_by(unless_miri(61, 1));
            absent.for_each(|low| assert_eq!(directory.find(values, low), None));
            rank += container.cardinality as usize;
        }
        assert_eq!(rank, self.docs.len());
    }
}

fn open(bytes: &[u8], len: usize, detail: Detail) -> Result<RankedLong<'_, &[u8]>> {
    let list = LongList::open(bytes, 0, len as u64)?;
    RankedLong::open(list, bytes, len as u64, (bytes.len() - len) as u64, detail)
}

/// One container after another with so many documents each, spread evenly.
fn containers(cardinalities: &[u32]) -> impl Iterator<Item = u32> {
    let of_container = |(key, n): (u32, u32)| (0..n).map(move |i| key << 16 | (i * (65_536 / n)));
    (3..).zip(cardinalities.to_vec()).flat_map(of_container)
}

/// The positions of a posting, as far as `limit` asks for them.
fn positions_of<'s>(
    reader: &mut PostingReader<'s, &'s [u8]>,
    rank: u32,
    limit: u32,
) -> Result<Vec<u32>> {
    let (mut place, mut found) = Default::default();
    reader.place(rank, &mut place)?;
    let n_bytes = reader.positions(&place, limit, &mut found)?;
    assert_eq!(n_bytes as u64, place.n_bytes());
    reader.prefetch_positions(&place);
    if let Some(few) = reader.few_positions(&place)?.filter(|_| limit == u32::MAX) {
        assert_eq!(few.n_behind(few, 0) as usize, found.len());
        for (nth, position) in found.iter().enumerate() {
            let behind = found[nth..].iter().map(|other| other - position);
            assert!(behind.into_iter().all(|distance| few.n_behind(few, distance) > 0));
        }
    }
    Ok(found)
}

/// Compares the positions of a posting with the plain ones.
fn check_positions<'s>(reader: &mut PostingReader<'s, &'s [u8]>, rank: u32, positions: &[u32]) {
    assert_eq!(positions_of(reader, rank, u32::MAX).unwrap(), positions, "rank {rank}");
    let limit = positions[positions.len() / 2];
    let first = positions_of(reader, rank, limit).unwrap();
    assert_eq!(first, positions[..first.len()], "rank {rank}");
    let is_enough = first.len() == positions.len() || first.last() > Some(&limit);
    assert!(is_enough, "rank {rank}, up to {limit}");
}

#[test]
fn the_example_in_the_docs_is_what_we_write() {
    let word = |doc| (doc, if doc == 255 { vec![0, 9] } else { vec![0] });
    let ranking = Ranking::new(Detail::Positions, Bm25::of_segment(2560, 256), vec![10; 256]);
    let mut model = Model { docs: (0..256).map(word).collect(), ranking };
    let (bytes, len) = model.bytes();
    let written = &bytes[len..];
    let documented = doc_check::hex_dump(include_str!("mod.rs"));
    assert_eq!(documented, written, "{}", doc_check::render(written));
    assert_eq!(doc_check::layout(include_str!("mod.rs"))["max_codes"], HEAD_LEN);
    model.check();
}

#[test]
fn lists_of_all_kinds_of_containers_come_back() {
    for detail in [Detail::Frequencies, Detail::Positions] {
        Model::new(0..256, 100, detail).check();
        let sizes = unless_miri([1, 128, 129, 1023], [1, 128, 129, 1]);
        Model::new(containers(&sizes), 3, detail).check();
        let sizes = unless_miri(&[1024, 127, 4096, 1][..], &[1024, 1]);
        Model::new(containers(sizes), 1000, detail).check();
        let (n, apart) = unless_miri((300, 65_536), (256, 9_000));
        Model::new((0..n).map(|doc| doc * apart), 10, detail).check();
    }
}

#[test]
fn bitmaps_and_runs_of_more_documents_than_share_a_base_come_back() {
    let mut random = Random(5);
    let n_docs = unless_miri(200_000, 6_250);
    let docs: Vec<u32> = (0..n_docs).filter(|_| random.below(3) > 0).collect();
    // Each document takes part in the naive comparison of its block.
    let light = |docs: Vec<u32>| {
        let model = Model::new(docs, 50, Detail::Positions);
        let (bytes, len) = model.bytes();
        let list = open(&bytes, len, Detail::Positions).unwrap();
        list.verify(&model.numbers(), &model.ranking, &mut RankedWriter::default()).unwrap();
        let mut reader = list.reader().unwrap();
        for container in list.containers() {
            let payload = list.list().payload(container.nth).unwrap();
            let values = list.list().container(container.nth, &payload).unwrap();
            let directory = list.directory(&container).unwrap();
            for (nth, low) in (0..).zip(values.iter()).step_by(unless_miri(7, 97)) {
                assert_eq!(directory.find(values, low), Some(nth));
                let rank = container.first_rank + nth;
                let (doc, positions) = &model.docs[rank as usize];
                assert_eq!(*doc, u32::from(container.key) << 16 | u32::from(low));
                check_positions(&mut reader, rank, positions);
            }
        }
    };
    light(docs);
    light((10_000..unless_miri(150_000, 10_300)).collect());
    if !cfg!(miri) {
        light(containers(&[4097, 65_536, 30_000]).collect());
    }
}

#[test]
fn words_that_stand_far_apart_or_very_often_come_back() {
    let docs = || (0..unless_miri(400, 256)).map(|doc| doc * 3);
    Model::new(docs(), 60_000, Detail::Positions).check();
    Model::new(docs(), 1 << 23, Detail::Positions).check();
    let mut model = Model::new(0..300, 2, Detail::Positions);
    model.docs[70].1 = (0..unless_miri(1_000_000, 1_000)).collect();
    model.docs[299].1 = vec![u32::MAX - 1, u32::MAX];
    model.check();
}

#[test]
fn other_bytes_are_refused_or_read_without_harm() {
    let model = Model::new(containers(&[1, 128, 300, 1100]), 2000, Detail::Positions);
    let (bytes, len) = model.bytes();
    let numbers = model.numbers();
    let ask = |bytes: &[u8]| -> Result<()> {
        let list = open(bytes, len, Detail::Positions)?;
        for container in list.containers() {
            list.codes(&container)?;
            let payload = list.list().payload(container.nth)?;
            let values = list.list().container(container.nth, &payload)?;
            let directory = list.directory(&container)?;
            for low in (0..=u16::MAX).step_by(unless_miri(331, 4_999)) {
                if let Some(rank) = directory.find(values, low) {
                    assert!(rank < container.cardinality);
                    list.frequencies().get(container.first_rank + rank)?;
                }
            }
        }
        for rank in (0..numbers.len() as u32).step_by(unless_miri(17, 211)) {
            if let Some(mut reader) = list.reader() {
                let found = positions_of(&mut reader, rank, u32::MAX)?;
                assert!(found.len() <= 8 * bytes.len());
            }
        }
        list.verify(&numbers, &model.ranking, &mut RankedWriter::default())
    };
    ask(&bytes).unwrap();
    // Behind impacts, directories and widths a changed byte may make another sound list.
    let list = open(&bytes, len, Detail::Positions).unwrap();
    let behind = list.positions.unwrap().records_at as usize;
    let heads = each_unless_miri(len..len + 40, 39);
    let damaged = (len..bytes.len()).step_by(unless_miri(7, 3_999)).chain(heads);
    for at in damaged {
        for flip in each_unless_miri([1, 0x80, 0xFF], 3) {
            let mut bad = bytes.clone();
            bad[at] ^= flip;
            assert!(ask(&bad).is_err() || at >= behind, "byte {at}");
        }
    }
    for cut in (len..bytes.len()).step_by(unless_miri(13, 4_999)) {
        assert!(ask(&bytes[..cut]).is_err(), "cut to {cut}");
    }
}

#[test]
fn a_walk_finds_what_a_search_finds() {
    let model = Model::new(containers(&[3, 200, 1100]), 10, Detail::Positions);
    let (bytes, len) = model.bytes();
    let list = open(&bytes, len, Detail::Positions).unwrap();
    let numbers = model.numbers();
    let asked = (0..7 << 16).step_by(unless_miri(97, 9_973));
    let asked: Vec<u32> = asked.chain(each_unless_miri(numbers.iter().copied(), 7)).collect();
    let asked = std::collections::BTreeSet::from_iter(asked);
    let mut walk = list.walk();
    for doc in asked {
        let expected = numbers.binary_search(&doc).ok().map(|rank| rank as u32);
        assert_eq!(walk.rank(doc).unwrap(), expected, "{doc}");
        assert_eq!(list.walk().rank(doc).unwrap(), expected, "{doc} alone");
    }
}

/// A list of 300 documents, in each of which the word stands eight times; what is behind it in the file; and
/// where the widths, the frequencies and the records begin.
fn with_more_behind() -> (Vec<u8>, usize, u64, [usize; 3]) {
    with_more_behind_in(TOLD_FROM | TIGHT)
}

/// Works like [`with_more_behind`], in a segment with these features.
fn with_more_behind_in(features: u32) -> (Vec<u8>, usize, u64, [usize; 3]) {
    let mut model = Model::new(0..300, 9, Detail::Positions);
    model.ranking.set_features(features);
    model.docs.iter_mut().for_each(|(_, positions)| *positions = (0..8).collect());
    let (mut bytes, len) = model.bytes();
    let ranked_len = (bytes.len() - len) as u64;
    let list = open(&bytes, len, Detail::Positions).unwrap();
    let records_at = list.positions.as_ref().unwrap().records_at;
    let places = [list.frequencies.widths_at, list.frequencies.packed.start, records_at];
    let places = places.map(|at| at as usize);
    bytes.resize(bytes.len() + 1_000, 0xFF);
    (bytes, len, ranked_len, places)
}

fn open_before_more(bytes: &[u8], len: usize, ranked_len: u64) -> RankedLong<'_, &[u8]> {
    let list = LongList::open(bytes, 0, len as u64).unwrap();
    RankedLong::open(list, bytes, len as u64, ranked_len, Detail::Positions).unwrap()
}

#[test]
fn frequencies_that_lie_outside_are_refused_by_every_way_to_read_them() {
    for (features, widths, shift) in [(TOLD_FROM, 3, 8), (TOLD_FROM | TIGHT, 0x333, 16)] {
        let (bytes, len, ranked_len, [widths_at, ..]) = with_more_behind_in(features);
        let right = u32::from_le_bytes(bytes[widths_at + 16..][..4].try_into().unwrap());
        assert_eq!(right % (1 << shift), widths, "bits for eight");
        // The last group: 44 documents, whose bits end where the frequencies end.
        let refused = |entry: u32, why: &str| {
            let mut bad = bytes.clone();
            bad[widths_at + 16..][..4].copy_from_slice(&entry.to_le_bytes());
            let list = open_before_more(&bad, len, ranked_len);
            let frequencies = list.frequencies();
            let found = [
                frequencies.get(299).map(|_| ()),
                frequencies.reader().get(299).map(|_| ()),
                frequencies.reader().groups(4, false).map(|_| ()),
                frequencies.group(4).map(|_| ()),
                list.reader().unwrap().place(299, &mut Place::default()),
            ];
            for (way, found) in found.into_iter().enumerate() {
                let error = found.unwrap_err().to_string();
                assert!(error.contains(why), "way {way}: {error}");
            }
        };
        let list = open_before_more(&bytes, len, ranked_len);
        assert_eq!(list.frequencies().get(299).unwrap(), 8);
        refused(right + 1, "other groups");
        refused(right + (1 << shift), "other groups");
        refused(right - widths + (1 << 28), "other groups");
        if features & TIGHT == 0 {
            refused(right - widths + 33, "a width of 33 bits");
        }
    }
}

/// Each form holds what the one before does not, and numbers of all come back.
#[test]
fn lists_take_the_narrowest_form_that_holds_their_numbers() {
    let form = |frequency: u32, only: u32, gap: u32, far: u32| {
        let mut model = Model::new(0..300, 9, Detail::Positions);
        model.docs[7].1 = vec![only];
        model.docs[8].1 = vec![3, 3 + gap];
        for doc in 60..64 {
            model.docs[doc].1 = (0..unless_miri(10_000, 9)).map(|nth| nth * far).collect();
        }
        model.docs[99].1 = (0..frequency).collect();
        let (bytes, len) = model.bytes();
        model.check();
        let list = open(&bytes, len, Detail::Positions).unwrap();
        let form = list.positions.unwrap().form;
        assert_eq!(list.frequencies.by_sixteen, form.by_sixteen);
        form
    };
    let often = unless_miri(1 << 15, 1 << 9);
    let narrowest = Form::new(Detail::Positions, true);
    let wide = Form { step: 2, only_is_shorter: false, ..narrowest };
    assert_eq!(form(often, 65_534, 65_535, 1), narrowest);
    assert_eq!(form(often, 65_535, 9, 1), wide);
    assert_eq!(form(often, 9, 65_536, 1), wide);
    if !cfg!(miri) {
        // Frequencies of 16 bits; four documents with 70,000 bytes of positions before the others.
        let often = often + 1;
        assert_eq!(form(often, 9, 9, 1), Form { by_sixteen: false, ..narrowest });
        assert_eq!(form(often, 9, 65_536, 1), Form { by_sixteen: false, ..wide });
        assert_eq!(form(9, 9, 9, 10_000), Form { is_near: false, ..narrowest });
        let none = Form { by_sixteen: false, is_near: false, ..wide };
        assert_eq!(form(often, 65_535, 9, 10_000), none);
    }
}

#[test]
fn heads_that_no_list_has_are_refused() {
    let (bytes, len, ranked_len, _) = with_more_behind();
    let opened = |at: usize, value: &[u8], ranked_len| {
        let mut bad = bytes.clone();
        bad[len + at..][..value.len()].copy_from_slice(value);
        let list = LongList::open(&bad[..], 0, len as u64).unwrap();
        RankedLong::open(list, &bad[..], len as u64, ranked_len, Detail::Positions)
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    let refused = |at, value: &[u8], ranked_len, why: &str| {
        let error = opened(at, value, ranked_len).unwrap_err();
        assert!(error.contains(why), "{error}");
    };
    let flags_and_part = "a best score part of";
    for (max, is_one) in [(0.0f32, true), (1.0, true), (1.5, false), (-0.1, false)] {
        assert_eq!(opened(0, &max.to_le_bytes(), ranked_len).is_ok(), is_one, "{max}");
    }
    refused(0, &f32::NAN.to_le_bytes(), ranked_len, flags_and_part);
    for bit in 0..8 {
        let flags = 1 << bit;
        let is_one = flags & (WIDE | TOLD_APART | BY_SIXTEEN | ONLY_IS_SHORTER | NEAR) != 0;
        assert_eq!(opened(7, &[flags], ranked_len).is_ok(), is_one, "{flags}");
    }
    refused(7, &[WIDE | ONLY_IS_SHORTER], ranked_len, flags_and_part);
    // Frequencies that end behind the list or before themselves.
    refused(8, &(ranked_len + 1).to_le_bytes(), ranked_len, "of them frequencies");
    refused(8, &u64::MAX.to_le_bytes(), ranked_len, "of them frequencies");
    refused(0, &[], u64::MAX, "an end past 2^64");
    for len in [0, 1, HEAD_LEN as u64, HEAD_LEN as u64 + 1, ranked_len / 2] {
        assert!(opened(0, &[], len).is_err(), "{len} bytes");
    }
}

/// Whatever is behind the last frequency or position belongs to no document.
#[test]
fn bytes_of_no_document_are_refused() {
    for detail in [Detail::Frequencies, Detail::Positions] {
        let model = Model::new(0..300, 9, detail);
        let (mut bytes, len) = model.bytes();
        let found = |bytes: &[u8]| {
            let list = open(bytes, len, detail)?;
            list.append_occurrences(&mut vec![])
        };
        found(&bytes).unwrap();
        bytes.push(0);
        assert!(found(&bytes).is_err(), "{detail:?}");
        if detail.has_positions() {
            // A place that is inside, but not where the record before ends.
            let (bytes, len, ranked_len, [.., records_at]) = with_more_behind();
            for record in 1..10 {
                let mut bad = bytes.clone();
                let record_at = records_at + record * positions::record_len(true) as usize;
                let offset = bad[record_at..].first_chunk_mut().unwrap();
                *offset = (u16::from_le_bytes(*offset) - 1).to_le_bytes();
                let list = open_before_more(&bad, len, ranked_len);
                let error = list.append_occurrences(&mut vec![]).unwrap_err().to_string();
                assert!(error.contains("a gap or overlap before a record"), "{record}: {error}");
            }
        } else {
            // The head may count it among the frequencies.
            let counted = u64::from_le_bytes(bytes[len + 8..][..8].try_into().unwrap()) + 1;
            bytes[len + 8..][..8].copy_from_slice(&counted.to_le_bytes());
            assert!(open(&bytes, len, detail).is_ok() && found(&bytes).is_err());
        }
    }
}

#[test]
fn offsets_that_pass_2_to_the_64_are_no_places_inside() {
    let source = &[0u8; 64][..];
    let packed = 16..40;
    let by_group = Frequencies {
        source,
        widths_at: 0,
        bases_at: 8,
        packed: packed.clone(),
        df: 128,
        by_sixteen: false,
    };
    let by_sixteen = Frequencies { by_sixteen: true, ..by_group.clone() };
    let far =
        Positions { source, records_at: 40, packed, form: Form::new(Detail::Positions, false) };
    let near = Positions { form: Form::new(Detail::Positions, true), ..far.clone() };
    for (base, offset, start) in [
        (0, 0, Some(16)),
        (8, 2, Some(40)),
        (9, 2, None),
        (u64::MAX, 0, None),
        (u64::MAX, 1, None),
        (u64::MAX - 8, 3, None),
    ] {
        // Offsets of frequencies count eight bytes, or two.
        let entry = (offset << 8 | 3u32).to_le_bytes();
        let of_group = by_group.group_of_entry(&entry, base, 1).ok();
        assert_eq!(of_group, start.map(|start| (start, Widths::all(3))), "{base} {offset}");
        let entry = (((offset * 4) << 16) | 0x3333u32).to_le_bytes();
        assert_eq!(by_sixteen.group_of_entry(&entry, base, 1).ok(), of_group, "{base} {offset}");
        let mut record = [0; 20];
        record[..4].copy_from_slice(&(offset * 8).to_le_bytes());
        for positions in [&far, &near] {
            let of_record = positions.start_of(&record, base);
            assert_eq!(of_record.ok().map(|(start, _)| start), start, "{base} {offset}");
        }
    }
}

#[test]
fn frequencies_of_32_bits_are_read() {
    let mut bytes = vec![32, 0, 0, 0];
    let all = (0..64).map(|n| u32::MAX - 1 - n);
    bytes.extend(all.clone().flat_map(u32::to_le_bytes));
    let (source, packed) = (&bytes[..], 4..260);
    let frequencies =
        Frequencies { source, widths_at: 0, bases_at: 4, packed, df: 64, by_sixteen: false };
    for (rank, less_one) in all.enumerate() {
        assert_eq!(frequencies.get(rank as u32).unwrap(), less_one + 1);
        assert_eq!(frequencies.group(0).unwrap().get(rank as u32), less_one + 1);
    }
}

#[test]
fn groups_that_are_wider_than_they_must_be_and_groups_behind_the_last_are_refused() {
    for (by_sixteen, widths) in [(false, [8, 0]), (true, [0x88, 0x88])] {
        let bytes = [&widths[..], &[0; 98]].concat();
        let (source, packed) = (&bytes[..], 4..68);
        let wide = Frequencies { source, widths_at: 0, bases_at: 4, packed, df: 64, by_sixteen };
        assert_eq!(wide.get(63).unwrap(), 1);
        let error = wide.for_each(|_| ()).unwrap_err().to_string();
        assert!(error.contains("a group elsewhere, or too wide"), "{error}");
        // Whatever is there.
        assert!(wide.group(0).is_ok() && wide.group(1).is_err());
    }
}

/// Merging reads all of them, and copies what it reads: only one way to write them is taken.
#[test]
fn groups_of_frequencies_that_differ_in_a_bit_are_refused_by_whoever_reads_all() {
    let (bytes, len, ranked_len, [widths_at, ..]) = with_more_behind();
    let read_all = |bytes: &[u8]| {
        let mut n = 0;
        let all = open_before_more(bytes, len, ranked_len).frequencies().for_each(|_| n += 1);
        all.map(|()| n)
    };
    assert_eq!(read_all(&bytes).unwrap(), 300);
    for bit in each_unless_miri(0..5 * u32::BITS as usize, 7) {
        let mut bad = bytes.clone();
        bad[widths_at + bit / 8] ^= 1 << (bit % 8);
        let error = read_all(&bad).expect_err("an entry that no writer makes");
        assert_eq!(error.kind(), ErrorKind::Corrupt, "bit {bit}");
    }
}

#[test]
fn a_rank_past_the_last_is_refused_by_every_way_to_read_it() {
    let (bytes, len, ranked_len, _) = with_more_behind();
    let list = open_before_more(&bytes, len, ranked_len);
    let refused = |error: Error| {
        let error = error.to_string();
        assert!(error.contains("a document of rank"), "{error}");
    };
    for rank in [300, 319, 320, u32::MAX] {
        refused(list.frequencies().get(rank).unwrap_err());
        refused(list.frequencies().reader().get(rank).unwrap_err());
        refused(list.reader().unwrap().place(rank, &mut Place::default()).unwrap_err());
    }
    for group in [5, u32::MAX] {
        refused(list.frequencies().group(group).unwrap_err());
    }
}

#[test]
fn positions_that_lie_outside_are_refused() {
    let (bytes, len, ranked_len, [_, _, records_at]) = with_more_behind();
    // The last record, of twelve documents.
    let record = records_at + 9 * positions::record_len(true) as usize;
    let place_in = |change: &dyn Fn(&mut [u8])| {
        let mut bad = bytes.clone();
        change(&mut bad[record..][..18]);
        let list = open_before_more(&bad, len, ranked_len);
        let mut place = Place::default();
        list.reader().unwrap().place(299, &mut place).map_err(|error| error.to_string())
    };
    place_in(&|_| ()).unwrap();
    let outside = "positions that end outside of the list";
    // The last document's numbers are wider; all begin later; they begin behind the end.
    let wider = place_in(&|record| record[2 + 11] |= 15).unwrap_err();
    assert!(wider.contains(outside), "{wider}");
    let later = place_in(&|record| record[0] += 1).unwrap_err();
    assert!(later.contains(outside), "{later}");
    let behind = place_in(&|record| record[1] += 0x80).unwrap_err();
    assert!(behind.contains(outside), "{behind}");
}

#[test]
fn positions_past_32_bits_are_refused() {
    let mut model = Model::new(0..300, 9, Detail::Positions);
    model.docs.iter_mut().for_each(|(_, positions)| *positions = vec![0]);
    model.docs[299].1 = vec![1, u32::MAX];
    let (mut bytes, len) = model.bytes();
    let list = open(&bytes, len, Detail::Positions).unwrap();
    assert_eq!(positions_of(&mut list.reader().unwrap(), 299, u32::MAX).unwrap(), [1, u32::MAX]);
    let end = bytes.len();
    // Nearly all bits of both numbers are 1: twice the last position there is.
    bytes[end - 8..].fill(0xFF);
    let list = open(&bytes, len, Detail::Positions).unwrap();
    let error = positions_of(&mut list.reader().unwrap(), 299, u32::MAX).unwrap_err();
    assert!(error.to_string().contains("a position above 4294967295"), "{error}");
}

#[test]
fn a_short_list_is_read_whole_or_not_at_all() {
    const DOCS: [u32; 3] = [3, 70, 71];
    fn read(bytes: &[u8], detail: Detail) -> Option<RankedShort<'_>> {
        RankedShort::read(DOCS.to_vec(), Bytes::Mapped(bytes), 2, detail)
    }
    let positions = [vec![5], vec![0, 3, 200], vec![1]];
    for detail in [Detail::Frequencies, Detail::Positions] {
        // Two bytes of something else before it.
        let mut bytes = vec![0xFF; 2];
        for of_doc in &positions {
            occurrences::write(detail, of_doc.iter().copied(), &mut bytes);
        }
        let list = read(&bytes, detail).unwrap();
        assert_eq!((list.docs(), list.frequencies()), (&DOCS[..], &[1, 3, 1][..]));
        assert_eq!(list.stream(), &bytes[2..]);
        let mut found = vec![];
        for (nth, expected) in positions.iter().enumerate() {
            let is_kept = list.positions(nth, &mut found).is_some();
            assert_eq!(is_kept, detail.has_positions());
            assert!(!is_kept || found == *expected);
        }
        assert!(list.positions(3, &mut found).is_none());
        assert!(read(&bytes[..bytes.len() - 1], detail).is_none());
        assert!(read(&bytes[..1], detail).is_none());
        bytes.push(0);
        assert!(read(&bytes, detail).is_none(), "a byte too many");
    }
}
