//! Damaged dictionaries: an error, or an answer that does not contradict itself.

use super::*;

/// Asks everything there is to ask. An answer may be an error that says `Corrupt`; what `verify`
/// finds sound must agree with itself.
fn interrogate(sections: &Sections, what: &str) {
    let dictionary = match sections.open() {
        Ok(dictionary) => dictionary,
        Err(error) => return assert_eq!(error.kind(), ErrorKind::Corrupt, "{what}: {error}"),
    };
    let is_sound = match dictionary.verify() {
        Ok(()) => true,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{what}: {error}");
            false
        }
    };
    let all = forwards(dictionary.iter());
    let others = [
        backwards(dictionary.iter()),
        dictionary.prefix(b"").and_then(forwards),
        accepted(dictionary.search(fst::automaton::AlwaysMatch)),
        accepted(dictionary.search(fst::automaton::Str::new("").starts_with())),
    ];
    let ranges = [b"".as_slice(), b"a", b"ab", b"z\0", b"\xFF"].map(|key| {
        let from = dictionary.range(Included(key), Unbounded).and_then(forwards);
        let up_to = dictionary.range(Unbounded, Excluded(key)).and_then(backwards);
        (up_to, from)
    });
    let words = ["a", "ab", "zz"].map(|word| {
        let automaton = || fst::automaton::Str::new(word).starts_with();
        (word, accepted(dictionary.search(automaton())), dictionary.get(word.as_bytes()))
    });
    // The occurrences of every term that was still found; a lookup goes through another block.
    for (_, _, info) in all.as_deref().unwrap_or_default() {
        if let PostingsAt::Inline(docs) = info.postings {
            let occurrences = dictionary.occurrences(&docs);
            assert!(!is_sound || occurrences.is_ok_and(|bytes| !bytes.is_empty()), "{what}");
        }
    }
    if is_sound {
        let all = all.unwrap();
        assert_eq!(all.len(), dictionary.n_terms() as usize, "{what}");
        for other in others {
            assert_eq!(other.unwrap(), all, "{what}");
        }
        for (up_to, from) in ranges {
            assert_eq!([up_to.unwrap(), from.unwrap()].concat(), all, "{what}");
        }
        for (word, starting, got) in words {
            let expected: Vec<_> = all
                .iter()
                .filter(|(term, ..)| term.starts_with(word.as_bytes()))
                .cloned()
                .collect();
            assert_eq!(starting.unwrap(), expected, "{what}");
            let found = expected.first().filter(|(term, ..)| term == word.as_bytes());
            assert_eq!(got.unwrap(), found.map(|(.., info)| *info), "{what}");
        }
        let mut buffer = vec![];
        for (term, ordinal, info) in all {
            assert_eq!(dictionary.get(&term).unwrap(), Some(info), "{what}");
            assert_eq!(dictionary.term(ordinal, &mut buffer).unwrap(), info, "{what}");
            assert_eq!(buffer, term, "{what}");
        }
    } else {
        let mut buffer = vec![];
        for ordinal in (0..dictionary.n_terms()).take(200) {
            // Either is fine; the test is that it returns.
            let _ = dictionary.term(TermOrdinal(ordinal), &mut buffer);
            let _ = dictionary.get(&buffer);
            let _ = dictionary.rank(&buffer);
        }
    }
}

#[test]
fn blocks_of_another_length_than_the_index_says_are_refused_when_it_is_opened() {
    let sections = documented();
    for len in [0, sections.blocks.len() - 1, sections.blocks.len() + 1] {
        let mut other = sections.clone();
        other.blocks.resize(len, 0);
        let error = other.open().unwrap_err().to_string();
        assert!(error.contains("opening the blocks of a term dictionary"), "{error}");
    }
}

/// Three terms that fill a block each, and then 64 short ones in two blocks.
pub(in crate::format::terms) fn with_lone_terms() -> Sections {
    let long = (1..4).map(|byte| vec![byte; 17_000]);
    let short = (0..64).map(|byte| vec![9, byte]);
    build(&long.chain(short).map(|term| (term, few(&[1]))).collect())
}

/// The list of blocks that closed early may say one thing to who looks for a term, and another to who looks for a block.
#[test]
fn a_term_that_is_not_in_the_block_where_the_index_has_it_is_refused_by_every_way_there() {
    let mut sections = with_lone_terms();
    assert_eq!(sections.open().unwrap().index.n_early(), 3);
    // Term 32 k + n would be in block k + 1, and that begins with term 32 (k - 1).
    let crafted = [0, 0, 1, 1_000, 1, 0u32].map(u32::to_le_bytes).concat();
    let at = sections.index.len() - crafted.len();
    sections.index[at..].copy_from_slice(&crafted);
    let dictionary = sections.open().unwrap();
    assert_eq!(dictionary.index.block_of(64).unwrap(), 3);
    assert_eq!(dictionary.index.ordinals(3).unwrap(), 32..64);
    for ordinal in [64, 66] {
        let ordinals = || ordinal..ordinal + 1;
        let errors = [
            dictionary.term(TermOrdinal(ordinal), &mut vec![]).unwrap_err(),
            dictionary.infos(ordinals()).next().unwrap_err(),
            TermStream::new(dictionary, ordinals()).next().map(|_| ()).unwrap_err(),
            TermStream::new(dictionary, ordinals()).next_back().map(|_| ()).unwrap_err(),
        ];
        for error in errors.map(|error| error.to_string()) {
            assert!(error.contains("a term that the index says is in this block"), "{error}");
        }
    }
}

#[test]
fn a_block_of_another_number_of_terms_than_the_index_says_is_refused() {
    let mut sections = documented();
    // The index knows two of three terms.
    sections.index[index::N_TERMS_AT] = 2;
    let dictionary = sections.open().unwrap();
    let refused = [
        forwards(dictionary.iter()).map(|_| ()),
        backwards(dictionary.iter()).map(|_| ()),
        accepted(dictionary.search(fst::automaton::AlwaysMatch)).map(|_| ()),
        dictionary.rank(b"part").map(|_| ()),
        dictionary.infos(0..2).next().map(|_| ()),
    ];
    for error in refused.map(|found| found.unwrap_err().to_string()) {
        assert!(error.contains("another number of terms than the index says"), "{error}");
    }
}

/// HEADS may name any number as the block where a range begins.
#[test]
fn a_range_that_begins_in_no_block_is_refused() {
    let mut sections = with_lone_terms();
    // By this list a sixth block would have the terms of the fifth, and its offset would be the list's first number.
    let fifth = sections.open().unwrap().index.block_range(4).unwrap();
    let crafted = [fifth.start as u32, 0, 0, 0, 3, 3].map(u32::to_le_bytes).concat();
    let at = sections.index.len() - crafted.len();
    sections.index[at..].copy_from_slice(&crafted);
    for block in [5, 6, 1_000, u32::MAX] {
        let mut heads = heads::HeadsBuilder::default();
        heads.add(b"", block);
        sections.heads = heads.finish();
        let dictionary = sections.open().unwrap();
        let error = dictionary.rank(b"x").unwrap_err().to_string();
        assert!(error.contains(&format!("block {block} of 5")), "{error}");
    }
}

type Section = fn(&mut Sections) -> &mut Vec<u8>;
const SECTIONS: [(&str, Section); 3] = [
    ("blocks", |sections| &mut sections.blocks),
    ("index", |sections| &mut sections.index),
    ("heads", |sections| &mut sections.heads),
];

/// Changes every bit of the first `len_max` bytes of every section, and cuts it at every length.
fn damage_everything(sections: &Sections, len_max: usize) {
    for (name, section) in SECTIONS {
        let mut damaged = sections.clone();
        let len = section(&mut damaged).len();
        for at in each_unless_miri(0..len.min(len_max), 199) {
            let right = section(&mut damaged)[at];
            let bits = (0..8).map(|bit| right ^ 1 << bit);
            let wrong = bits.chain([0, 0xFF, right.wrapping_add(1)]);
            for wrong in each_unless_miri(wrong, 5) {
                section(&mut damaged)[at] = wrong;
                interrogate(&damaged, &format!("{name}[{at}] = {wrong}, was {right}"));
                if name == "heads" {
                    seal_heads(&mut damaged.heads);
                    interrogate(&damaged, &format!("{name}[{at}] = {wrong}, was {right}, sealed"));
                    damaged.heads.clone_from(&sections.heads);
                }
            }
            section(&mut damaged)[at] = right;
        }
        for len in each_unless_miri(0..len, 199) {
            let mut cut = sections.clone();
            section(&mut cut).truncate(len);
            let found = cut.open().and_then(|dictionary| dictionary.verify());
            assert!(found.is_err(), "{name} cut to {len}");
            interrogate(&cut, &format!("{name} cut to {len}"));
            section(&mut cut).resize(len + 40, 0xFF);
            interrogate(&cut, &format!("{name} cut to {len} and continued"));
        }
    }
}

/// Makes the FST's own checksum right again, as somebody who crafts a file would.
fn seal_heads(heads: &mut [u8]) {
    if let Some((summed, sum)) = heads.split_last_chunk_mut::<4>() {
        let masked = crate::checksum::crc32c(summed).rotate_right(15).wrapping_add(0xA282_EAD8);
        *sum = masked.to_le_bytes();
    }
}

#[test]
fn every_damage_to_a_small_dictionary_is_an_error_or_a_consistent_answer() {
    let mut oracle = Random(9).oracle(unless_miri(70, 35), 4, 8);
    oracle.insert(b"ab".to_vec(), Docs::Many { df: 300, len: 1_000, ranked_len: 70 });
    damage_everything(&build(&oracle), usize::MAX);
}

#[test]
fn every_damage_where_blocks_closed_early_is_an_error_or_a_consistent_answer() {
    let mut oracle = Oracle::new();
    for byte in b"adgjmp" {
        oracle.insert([&[*byte][..], &[b'x'; 6_000]].concat(), few(&[1, 5, 9]));
    }
    let sections = build(&oracle);
    assert_eq!(sections.open().unwrap().index.n_early(), 2);
    for (name, section) in [SECTIONS[1], SECTIONS[2]] {
        let mut damaged = sections.clone();
        for at in each_unless_miri(0..section(&mut damaged).len(), 41) {
            for bit in each_unless_miri(0..8, 8) {
                section(&mut damaged)[at] ^= 1 << bit;
                interrogate(&damaged, &format!("bit {bit} of {name}[{at}]"));
                section(&mut damaged)[at] ^= 1 << bit;
            }
        }
    }
}
