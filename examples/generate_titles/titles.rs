//! Distinct titles without remembering any.
//!
//! A title is a frame around a name, sometimes with a qualifier: `History_of_{}` around `France`.
//! The words are ranked, and the triples (qualifier q, frame f, name n) with
//!
//! ```text
//! (q + QUALIFIER_SHIFT) · (f + FRAME_SHIFT) · (n + NAME_SHIFT) ≤ area
//! ```
//!
//! lie under a hyperbola: the frame of rank f goes with about area / f names and the name of rank n
//! with about area / n frames, which is Zipf's law for all three. The triples are numbered frame by
//! frame, a keyed permutation of the numbers shuffles them, and every triple reads differently. So
//! the titles are as many as asked for, distinct, in random order, and nothing grows with their
//! number but the table of row lengths, which repeat: a hyperbola has only 2·√area of them.
//! Titles without a qualifier are a stream of their own, with an area of their own.

use std::ops::Range;

use super::words::{NATIONALITIES, ROLES, SCRIPTS, Script};

/// Flatten the heads of the laws, as Mandelbrot did: without them every tenth title said London.
const QUALIFIER_SHIFT: u64 = 8;
const FRAME_SHIFT: u64 = 12;
const NAME_SHIFT: u64 = 30;
/// One in so many titles has a qualifier.
const QUALIFIED_EVERY: u64 = 7;

/// A stream of titles; see the module.
pub(crate) struct Titles {
    streams: Vec<Stream>,
    left: u64,
    random: Random,
}

/// The titles of one script, with or without qualifiers.
struct Stream {
    script_at: usize,
    triples: Triples,
    order: Permutation,
    done: u64,
    n_titles: u64,
}

impl Titles {
    /// `n` titles; another seed gives another choice in another order.
    pub(crate) fn new(n: u64, seed: u64) -> Self {
        let mut random = Random(seed);
        let others: u64 = SCRIPTS[1..].iter().map(|script| n * script.share / 1000).sum();
        let mut streams = vec![];
        for (script_at, script) in SCRIPTS.iter().enumerate() {
            let of_script = if script_at == 0 { n - others } else { n * script.share / 1000 };
            let qualified = of_script / QUALIFIED_EVERY;
            for (n_titles, qualifiers) in
                [(of_script - qualified, 0..1), (qualified, 1..1 + n_qualifiers(script_at))]
            {
                // An eighth more than needed, so that chance decides a little.
                let triples = Triples::at_least(n_titles + n_titles / 8, qualifiers);
                let order = Permutation::new(triples.len, &mut random);
                streams.push(Stream { script_at, triples, order, done: 0, n_titles });
            }
        }
        Titles { streams, left: n, random }
    }

    /// Appends the next title to `out`, without a line end; false when there are no more.
    pub(crate) fn write_next(&mut self, out: &mut Vec<u8>) -> bool {
        if self.left == 0 {
            return false;
        }
        // Each stream is drawn in proportion to what it still has to give.
        let mut drawn = self.random.below(self.left);
        self.left -= 1;
        for stream in &mut self.streams {
            let left = stream.n_titles - stream.done;
            if drawn < left {
                let triple = stream.triples.get(stream.order.at(stream.done));
                stream.done += 1;
                write_title(stream.script_at, triple, &mut self.random, out);
                return true;
            }
            drawn -= left;
        }
        unreachable!("`left` is the sum of what the streams have left")
    }
}

/// Ranks from 0; qualifier 0 is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Triple {
    qualifier: u64,
    frame: u64,
    name: u64,
}

fn write_title(script_at: usize, triple: Triple, random: &mut Random, out: &mut Vec<u8>) {
    let script = &SCRIPTS[script_at];
    match script.frames.get(triple.frame as usize) {
        Some(frame) => {
            let (before, after) = frame.split_once("{}").expect("every frame has a {}");
            write_dated(before, random, out);
            write_name(script, triple.name, out);
            write_dated(after, random, out);
        }
        None => {
            let rank = triple.frame - script.frames.len() as u64;
            write_invented(script, script.first_endings, rank, out);
            out.extend_from_slice(script.joint.as_bytes());
            write_name(script, triple.name, out);
        }
    }
    if triple.qualifier > 0 {
        out.extend_from_slice(b"_(");
        write_qualifier(script, triple.qualifier as usize - 1, random, out);
        out.push(b')');
    }
}

fn write_name(script: &Script, rank: u64, out: &mut Vec<u8>) {
    match script.names.get(rank as usize) {
        Some(name) => out.extend_from_slice(name.as_bytes()),
        None => {
            let rank = rank - script.names.len() as u64;
            write_invented(script, script.name_endings, rank, out);
        }
    }
}

fn n_qualifiers(script_at: usize) -> u64 {
    let combined = if script_at == 0 { NATIONALITIES.len() * ROLES.len() } else { 0 };
    (SCRIPTS[script_at].qualifiers.len() + combined) as u64
}

fn write_qualifier(script: &Script, rank: usize, random: &mut Random, out: &mut Vec<u8>) {
    match script.qualifiers.get(rank) {
        Some(qualifier) => write_dated(qualifier, random, out),
        None => {
            let rank = rank - script.qualifiers.len();
            out.extend_from_slice(NATIONALITIES[rank / ROLES.len()].as_bytes());
            out.push(b'_');
            out.extend_from_slice(ROLES[rank % ROLES.len()].as_bytes());
        }
    }
}

/// The text with a year for `#` and `_` for spaces.
fn write_dated(text: &str, random: &mut Random, out: &mut Vec<u8>) {
    for &byte in text.as_bytes() {
        match byte {
            b'#' => {
                // Recent years are more frequent.
                let ago = random.below(26) * random.below(26);
                out.extend_from_slice((2025 - ago).to_string().as_bytes());
            }
            b' ' => out.push(b'_'),
            byte => out.push(byte),
        }
    }
}

/// The word of this rank: all words of one syllable and an ending, then those of two, and so on.
fn write_invented(script: &Script, endings: &[&str], mut rank: u64, out: &mut Vec<u8>) {
    /// Prime to all numbers of words, so multiplying permutes them: neighbours look unlike.
    const STRIDE: u64 = 2_654_435_761;
    let n_vowels = script.vowels.chars().count().max(1) as u64;
    let n_syllables = script.onsets.chars().count() as u64 * n_vowels;
    let mut n_words = n_syllables * endings.len() as u64;
    let mut length = 1;
    while rank >= n_words {
        rank -= n_words;
        n_words *= n_syllables;
        length += 1;
    }
    let mut code = (u128::from(rank) * u128::from(STRIDE) % u128::from(n_words)) as u64;
    let ending = endings[(code % endings.len() as u64) as usize];
    code /= endings.len() as u64;
    for at in 0..length {
        let syllable = code % n_syllables;
        code /= n_syllables;
        let onset = nth_char(script.onsets, syllable / n_vowels);
        let onset = if at == 0 { onset.to_uppercase().next().unwrap_or(onset) } else { onset };
        push_char(onset, out);
        if !script.vowels.is_empty() {
            push_char(nth_char(script.vowels, syllable % n_vowels), out);
        }
    }
    out.extend_from_slice(ending.as_bytes());
}

fn nth_char(text: &str, n: u64) -> char {
    text.chars().nth(n as usize).expect("n is below the number of letters")
}

fn push_char(char: char, out: &mut Vec<u8>) {
    out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
}

/// The numbered triples under the hyperbola.
struct Triples {
    runs: Vec<Run>,
    len: u64,
}

/// Neighbouring frames that go with equally many names.
struct Run {
    /// Triples before this run.
    start: u64,
    qualifier: u64,
    frame: u64,
    n_names: u64,
}

impl Triples {
    /// The smallest area with at least `n` triples under it.
    fn at_least(n: u64, qualifiers: Range<u64>) -> Self {
        let enough = |area| Self::under(area, qualifiers.clone()).len >= n;
        let (mut low, mut high) = (0, 1);
        while !enough(high) {
            (low, high) = (high, high * 2);
        }
        while low + 1 < high {
            let middle = low + (high - low) / 2;
            if enough(middle) { high = middle } else { low = middle }
        }
        Self::under(high, qualifiers)
    }

    fn under(area: u64, qualifiers: Range<u64>) -> Self {
        let (mut runs, mut len) = (vec![], 0);
        for qualifier in qualifiers {
            let area = area / (qualifier + QUALIFIER_SHIFT);
            let mut row = 1 + FRAME_SHIFT;
            while area / row > NAME_SHIFT {
                let last = area / (area / row);
                let n_names = area / row - NAME_SHIFT;
                runs.push(Run { start: len, qualifier, frame: row - 1 - FRAME_SHIFT, n_names });
                len += (last - row + 1) * n_names;
                row = last + 1;
            }
        }
        Triples { runs, len }
    }

    fn get(&self, number: u64) -> Triple {
        let run = &self.runs[self.runs.partition_point(|run| run.start <= number) - 1];
        let within = number - run.start;
        Triple {
            qualifier: run.qualifier,
            frame: run.frame + within / run.n_names,
            name: within % run.n_names,
        }
    }
}

/// A keyed permutation of `0..len`: one of the next power of two, walked until it lands inside.
struct Permutation {
    len: u64,
    mask: u64,
    half: u32,
    keys: [u64; 3],
}

impl Permutation {
    fn new(len: u64, random: &mut Random) -> Self {
        let bits = len.max(2).next_power_of_two().trailing_zeros();
        Permutation {
            len,
            mask: (1 << bits) - 1,
            half: bits.div_ceil(2),
            keys: std::array::from_fn(|_| random.next()),
        }
    }

    fn at(&self, mut x: u64) -> u64 {
        loop {
            // Adding, multiplying by an odd number and folding down are each reversible.
            for key in self.keys {
                x = x.wrapping_add(key).wrapping_mul(key | 1) & self.mask;
                x ^= x >> self.half;
            }
            if x < self.len {
                return x;
            }
        }
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    fn titles(n: u64, seed: u64) -> Vec<String> {
        let mut titles = Titles::new(n, seed);
        let mut all = vec![];
        let mut title = vec![];
        while titles.write_next(&mut title) {
            all.push(String::from_utf8(std::mem::take(&mut title)).unwrap());
        }
        all
    }

    #[test]
    fn titles_are_as_many_as_asked_for_and_distinct() {
        for n in [0, 1, 7, 1_000, 300_000] {
            let all = titles(n, 1);
            assert_eq!(all.len() as u64, n);
            assert_eq!(all.iter().collect::<HashSet<_>>().len() as u64, n);
            assert!(all.iter().all(|title| !title.contains([' ', '\n', '{', '#'])));
        }
    }

    #[test]
    fn the_seed_decides() {
        assert_eq!(titles(5_000, 7), titles(5_000, 7));
        assert_ne!(titles(5_000, 7), titles(5_000, 8));
    }

    #[test]
    fn words_follow_zipf_and_a_seventh_is_qualified() {
        let all = titles(100_000, 1);
        let mut counts: HashMap<&str, u32> = HashMap::new();
        for word in all.iter().flat_map(|title| title.split('_')) {
            *counts.entry(word).or_default() += 1;
        }
        let once = counts.values().filter(|count| **count == 1).count();
        assert!(counts.len() > 10_000 && once * 3 > counts.len(), "{once} of {}", counts.len());
        assert!((100..5_000).contains(&counts["London"]), "{}", counts["London"]);
        let qualified = all.iter().filter(|title| title.ends_with(')')).count();
        assert!((10_000..20_000).contains(&qualified), "{qualified}");
    }

    #[test]
    fn numbers_and_triples_are_one_to_one() {
        let triples = Triples::at_least(50_000, 1..20);
        let order = Permutation::new(triples.len, &mut Random(3));
        let seen: HashSet<Triple> = (0..triples.len).map(|at| triples.get(order.at(at))).collect();
        assert_eq!(seen.len() as u64, triples.len);
    }

    #[test]
    fn a_word_is_listed_or_invented_and_never_both() {
        for script in SCRIPTS {
            let endings: Vec<&str> =
                script.first_endings.iter().chain(script.name_endings).copied().collect();
            for (at, ending) in endings.iter().enumerate() {
                let clash =
                    endings.iter().enumerate().find(|(b, e)| *b != at && e.ends_with(ending));
                assert_eq!(clash, None, "{ending} ends another ending");
            }
            let listed = script.frames.iter().chain(script.names).flat_map(|text| tokens(text));
            for word in listed {
                assert!(!looks_invented(script, &endings, word), "{word} could be invented too");
            }
        }
    }

    /// The syllables before one of the endings.
    fn looks_invented(script: &Script, endings: &[&str], word: &str) -> bool {
        let word = word.to_lowercase();
        let syllables = endings.iter().find_map(|ending| word.strip_suffix(ending));
        syllables.is_some_and(|syllables| {
            let chars: Vec<char> = syllables.chars().collect();
            let length = if script.vowels.is_empty() { 1 } else { 2 };
            !chars.is_empty()
                && chars.len().is_multiple_of(length)
                && chars.chunks(length).all(|syllable| {
                    script.onsets.contains(syllable[0])
                        && syllable[1..].iter().all(|vowel| script.vowels.contains(*vowel))
                })
        })
    }

    #[test]
    fn a_title_gives_away_its_frame_and_name() {
        for script in SCRIPTS {
            let shapes: HashSet<&str> = script.frames.iter().copied().collect();
            assert_eq!(shapes.len(), script.frames.len(), "a frame is listed twice");
            let names: HashSet<&str> = script.names.iter().copied().collect();
            assert_eq!(names.len(), script.names.len(), "a name is listed twice");
            for frame in script.frames {
                assert_eq!(frame.matches("{}").count(), 1, "{frame}");
                assert!(!frame.contains(|c: char| c.is_ascii_digit() || c == '('), "{frame}");
                assert!(!frame.contains(script.joint) || script.joint == "_", "{frame}");
            }
            if script.joint == "_" {
                let of_frames: HashSet<&str> =
                    script.frames.iter().flat_map(|frame| tokens(frame)).collect();
                let of_names: HashSet<&str> =
                    script.names.iter().flat_map(|name| tokens(name)).collect();
                let both: Vec<_> = of_frames.intersection(&of_names).collect();
                assert!(both.is_empty(), "{both:?} are in frames and in names");
            } else {
                // No spaces: here not one character may be in both.
                let of_frames: HashSet<char> =
                    script.frames.iter().flat_map(|frame| frame.chars()).collect();
                let of_names: HashSet<char> = script
                    .names
                    .iter()
                    .chain(script.name_endings)
                    .chain([&script.onsets])
                    .flat_map(|name| name.chars())
                    .collect();
                let both: Vec<_> = of_frames.intersection(&of_names).collect();
                assert!(both.is_empty(), "{both:?} are in frames and in names");
            }
        }
    }

    #[test]
    fn every_qualifier_reads_differently() {
        for (at, script) in SCRIPTS.iter().enumerate() {
            let written: HashSet<Vec<u8>> = (0..n_qualifiers(at) as usize)
                .map(|rank| {
                    let mut out = vec![];
                    write_qualifier(script, rank, &mut Random(1), &mut out);
                    out
                })
                .collect();
            assert_eq!(written.len() as u64, n_qualifiers(at));
        }
    }

    fn tokens(text: &str) -> impl Iterator<Item = &str> {
        text.split(['_', ',', '-', '{', '}', '#']).filter(|token| !token.is_empty())
    }
}
