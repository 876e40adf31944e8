//! What `cargo fuzz` has found and was worth keeping, again, and changed at random.

use crate::golden::Dice;
use crate::guard::for_each;
use crate::targets::{TARGETS, manifest_seed, n_sections, section_seed};
use crate::{mutations, seed};
use std::fmt;
use std::path::{Path, PathBuf};

/// Changed inputs of each target that `cargo test` tries.
const SHORT: usize = 150;

/// An input of a target.
#[derive(Clone, Copy)]
struct Input<'a> {
    target: usize,
    name: &'a str,
    bytes: &'a [u8],
    /// How often it is changed, by which dice.
    changes: usize,
    seed: u64,
}

impl fmt::Debug for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (target, _) = TARGETS[self.target];
        write!(f, "{target}: {}, changed: {:?}", self.name, changed(self))
    }
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus")
}

/// What a corpus begins with.
fn seeds() -> Vec<(usize, String, Vec<u8>)> {
    let texts = |target: usize, texts: &[&str]| -> Vec<_> {
        let seed =
            |(nth, text): (usize, &&str)| (target, format!("seed-{nth}"), text.as_bytes().to_vec());
        texts.iter().enumerate().map(seed).collect()
    };
    let mut all = vec![(0, "seed-0".to_owned(), manifest_seed())];
    all.push((1, "seed-0".into(), vec![0x40, 0, 0xFF, 0x90, 1, 0]));
    all.extend((0..n_sections()).map(|nth| (2, format!("seed-{nth}"), section_seed(nth))));
    let list = |docs: Vec<u32>| treepie::bitmap::RoaringBuf::from_sorted(docs).into_bytes();
    all.push((3, "seed-0".into(), list(vec![1, 5, 70_000])));
    all.push((3, "seed-1".into(), list((0..3_000).collect())));
    all.extend(texts(
        4,
        &[
            "+all^2 -n3 (w1 OR w2)~2 \"all n1\"~>3",
            "kind:[k0 TO k2} OR title:/w[0-9]+/ AND NOT w1~1/2!",
            "{title^3 + kind}:(a b) MAX [a b]~0.3 c^=0 IN [a \"b c\"]",
            "PHRASE [all n? w1~ *]~<>2 \"al\"* \\* >=a",
        ],
    ));
    all.extend(texts(5, &["w1", "w[0-9]{2,3}|al+", "n?*", "\u{1}münchen~"]));
    all.extend(texts(
        6,
        &["\u{0}Ä β naïve AC/DC 東京", "\u{5}The Queen's gambits", "\u{9}abc def"],
    ));
    all.push((6, "seed-spec".into(), b"\xFFwords|lower|stop:the,a|length:2".to_vec()));
    all.push((8, "seed-0".into(), vec![1, 0, 0, 0, 65, 3, 4, 0, 0, 0, 5, 8, 0, 0, 0]));
    all.push((8, "seed-1".into(), vec![4, 9, 0, 0, 1, 2, 200, 3, 0, 7, 0, 5, 0, 0, 90]));
    all.extend(texts(7, &["\u{1}\u{40}\u{1}xall AND n3", "\u{2}abcdefw1* \"all n2\""]));
    all
}

/// The seeds, and every file in the folders of the targets.
fn inputs() -> Vec<(usize, String, Vec<u8>)> {
    let mut all = seeds();
    for (target, (name, _)) in TARGETS.iter().enumerate() {
        // A published package comes without a corpus.
        let Ok(files) = std::fs::read_dir(corpus().join(name)) else { continue };
        for file in files {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            all.push((target, name, std::fs::read(&path).unwrap()));
        }
    }
    all
}

/// The input with some bytes changed, cut out or put in twice.
fn changed(input: &Input<'_>) -> Vec<u8> {
    let mut bytes = input.bytes.to_vec();
    let mut dice = Dice::new(input.seed);
    for _ in 0..input.changes {
        let at = dice.below(bytes.len());
        match dice.below(8) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, dice.below(256) as u8),
            2 if !bytes.is_empty() => drop(bytes.remove(at)),
            3 => {
                let end = (at + 1 + dice.below(16)).min(bytes.len());
                let twice = bytes[at.min(end)..end].to_vec();
                bytes.splice(at..at, twice);
            }
            4 if !bytes.is_empty() => bytes[at] = [0, 1, 0x7F, 0x80, 0xFF][dice.below(5)],
            _ if !bytes.is_empty() => bytes[at] ^= 1 << dice.below(8),
            _ => bytes.push(dice.below(256) as u8),
        }
    }
    bytes
}

#[test]
fn no_kept_input_does_harm_nor_one_like_it() {
    let inputs = inputs();
    for (target, (name, _)) in TARGETS.iter().enumerate() {
        assert!(inputs.iter().any(|input| input.0 == target), "nothing for {name}");
    }
    let mut cases = vec![];
    for (target, name, bytes) in &inputs {
        cases.push(Input { target: *target, name, bytes, changes: 0, seed: 0 });
    }
    for target in 0..TARGETS.len() {
        let own: Vec<_> = cases.iter().filter(|case| case.target == target).copied().collect();
        let own = own.iter().filter(|case| case.changes == 0).cycle();
        let n = mutations(SHORT).min(1_000_000);
        cases.extend(own.take(n).enumerate().map(|(nth, case)| Input {
            changes: 1 + nth % 6,
            seed: seed() << 32 | nth as u64,
            ..*case
        }));
    }
    let seen = for_each(&cases, |case| TARGETS[case.target].1(&changed(&case)));
    println!("{} kept inputs, {} changed ones: {seen}", inputs.len(), cases.len() - inputs.len());
}

/// `cargo test --test damage -- --ignored seeds` makes the folders that `cargo fuzz` starts from.
#[test]
#[ignore = "writes into the source tree"]
fn seeds_are_written() {
    for (target, name, bytes) in seeds() {
        let folder = corpus().join(TARGETS[target].0);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(name), bytes).unwrap();
    }
}
