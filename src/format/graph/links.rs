//! Links of a graph: for each node the others that it leads to.
//!
//! Written by [`LinksWriter`], read by [`Links`].
//!
//! # Layout
//!
//! Two sections of a field. Integers are little-endian.
//!
//! The LINKS section has for each node:
//!
//! ```text
//! offset  size  field    meaning
//!      0     1  n_links  u8, at most 64
//!      1     *  lengths  2 bits for each link, the first lowest: bytes of its gap less one; up to a whole byte
//!      *     *  gaps     1 to 4 bytes for each: the first link less the node, zigzag; each other less the link
//!                        before and 1
//! ```
//!
//! The LINKS_AT section has for each 64 nodes a u64, where the first of them begins, and for each of them a u16, where it ends,
//! counted from there.
//!
//! # Example
//!
//! Three nodes: the first leads to the others, the second nowhere, the third to the first:
//!
//! ```text
//! 0000  02 00 02 00 00 01 00 03  00 00 00 00 00 00 00 00
//! 0010  04 00 05 00 08 00
//! ```
//!
//! The last fourteen bytes are the other section.
//!
//! # Invariants
//!
//! - L1: links ascend, and none leads beyond the nodes or to the node that it begins at.
//! - L2: each node can be reached from those of the upper levels.
//! - L3: the bytes of a node begin where those of the node before end, and the last ones end with the section.
//!
//! # Checks
//!
//! Opening compares the length of LINKS_AT with the number of nodes. Reading refuses more than 64 links, other lengths
//! than the node has bytes, and whatever is against L1. `verify` proves L1, L2 and L3; a node that is not
//! reached is not found by walks.
//!
//! # Cost
//!
//! 32 links of a graph of a hundred thousand nodes take some 65 bytes, as numbers 128; finding where they begin 2.1 a node and two reads.
//!
//! # Versions
//!
//! 1: as above.
//!
//! # Why
//!
//! Nodes that are near each other have numbers near each other, so that gaps are short. Lengths stand apart from gaps so
//! that no branch depends on a byte before.

use super::DEGREE_MAX;
use crate::bytes::{Source, array_at};
use crate::error::{Error, Result};
use crate::simd::gaps::{self, GROUP};
use std::ops::Range;

/// Nodes whose places are counted from one.
const PLACED: u32 = 64;
/// Gaps that are less are added up in 32 bits: so many of them, and the first link, give no more.
const GAP_AT_ONCE: u32 = 1 << 25;

const _: () = assert!(DEGREE_MAX == gaps::NUMBERS, "the links of a node are decoded at once");
const START_LEN: u64 = size_of::<u64>() as u64;
const END_LEN: u64 = size_of::<u16>() as u64;
const GROUP_LEN: u64 = START_LEN + PLACED as u64 * END_LEN;

/// Writes nodes one after the other.
#[derive(Debug, Default)]
pub(crate) struct LinksWriter {
    /// Bytes of LINKS so far.
    len: u64,
    n_nodes: u32,
    group_start: u64,
    at: Vec<u8>,
}

impl LinksWriter {
    /// Adds the links of the next node, ascending, at most [`DEGREE_MAX`].
    pub(crate) fn add(&mut self, links: &[u32], out: &mut Vec<u8>) {
        debug_assert!(links.len() <= DEGREE_MAX && links.is_sorted());
        let (start, node) = (out.len(), self.n_nodes);
        if node.is_multiple_of(PLACED) {
            self.group_start = self.len;
            self.at.extend(self.len.to_le_bytes());
        }
        out.push(links.len() as u8);
        let lengths = out.len();
        out.resize(lengths + links.len().div_ceil(GROUP), 0);
        let mut before: Option<u32> = None;
        for (nth, link) in links.iter().enumerate() {
            let gap = match before.replace(*link) {
                None => zigzag(i64::from(*link) - i64::from(node)),
                Some(before) => u64::from(link - before - 1),
            };
            let len = gap_len(gap);
            out.extend(gap.to_le_bytes().iter().take(len));
            if let Some(byte) = out.get_mut(lengths + nth / GROUP) {
                *byte |= (len as u8 - 1) << (nth % GROUP * 2);
            }
        }
        self.len += (out.len() - start) as u64;
        self.n_nodes += 1;
        self.at.extend(((self.len - self.group_start) as u16).to_le_bytes());
    }

    /// The other section.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.at
    }
}

/// Bytes of a gap. A first link that is half of all numbers away is written modulo 2³².
fn gap_len(gap: u64) -> usize {
    ((u64::BITS - gap.leading_zeros()).div_ceil(8) as usize).clamp(1, 4)
}

fn zigzag(difference: i64) -> u64 {
    ((difference << 1) ^ (difference >> 63)) as u64
}

fn unzigzag(gap: u64) -> i64 {
    (gap >> 1) as i64 ^ -((gap & 1) as i64)
}

/// The links of a field, read where they lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Links<S> {
    source: S,
    at: S,
    n_nodes: u32,
}

impl<'s, S: Source<'s>> Links<S> {
    /// Opens the sections of a graph of so many nodes.
    pub(crate) fn open(source: S, at: S, n_nodes: u32) -> Result<Self> {
        let n_groups = u64::from(n_nodes.div_ceil(PLACED));
        let expected = n_groups * START_LEN + u64::from(n_nodes) * END_LEN;
        super::expect_len(at, expected, "opening the links of vectors")?;
        Ok(Links { source, at, n_nodes })
    }

    /// The links as bytes that need no more checks, if they are at hand.
    pub(crate) fn at_hand(&self) -> Option<Links<&'s [u8]>> {
        let Links { source, at, n_nodes } = *self;
        Some(Links { source: source.at_hand()?, at: at.at_hand()?, n_nodes })
    }

    /// Bytes of the links of a node.
    #[inline]
    pub(crate) fn range(&self, node: u32) -> Result<Range<u64>> {
        let group = u64::from(node / PLACED) * GROUP_LEN;
        let start = self.at.bytes(group..group + START_LEN)?;
        let start = array_at(&start, 0).map_or(0, u64::from_le_bytes);
        let nth = u64::from(node % PLACED);
        // The end of the node before, if there is one in the group, and its own.
        let before = nth.saturating_sub(1);
        let at = group + START_LEN;
        let ends = self.at.bytes(at + before * END_LEN..at + (nth + 1) * END_LEN)?;
        let end = |at: usize| u64::from(array_at(&ends, at).map_or(0, u16::from_le_bytes));
        let (from, to) = if nth == 0 { (0, end(0)) } else { (end(0), end(END_LEN as usize)) };
        match from < to && start.checked_add(to).is_some_and(|end| end <= self.source.len()) {
            true => Ok(start + from..start + to),
            false => {
                let error = Error::corrupt("reading where the links of a vector are");
                let error = error.expected(format!("a range inside {} bytes", self.source.len()));
                Err(self.at.locate(at, error.found(format!("{from}..{to} from {start} on"))))
            }
        }
    }

    /// Whether the bytes of all nodes follow each other.
    pub(crate) fn verify_places(&self) -> Result<()> {
        let mut end = 0;
        for node in 0..self.n_nodes {
            let range = self.range(node)?;
            if range.start != end {
                let error =
                    Error::corrupt(format!("reading where the links of the vector {node} are"));
                let error = error.expected(format!("bytes from {end} on"));
                return Err(self.source.locate(range.start, error.found("others")));
            }
            end = range.end;
        }
        super::expect_len(self.source, end, "reading the links of vectors")
    }

    /// Appends the links of a node to `links`, ascending.
    pub(crate) fn read(&self, node: u32, links: &mut Vec<u32>) -> Result<()> {
        let (Range { start, end }, known) = (self.range(node)?, links.len());
        if let Some(all) = self.source.at_hand() {
            // Bytes behind those of the node let groups be read as a whole.
            let bytes = all.get(start as usize..).unwrap_or_default();
            if decode_at_once(bytes, (end - start) as usize, (node, self.n_nodes), links).is_some()
            {
                return Ok(());
            }
            links.truncate(known);
        }
        let bytes = self.source.bytes(start..end)?;
        decode(&bytes, node, self.n_nodes, links).map_err(|found| {
            let error = Error::corrupt(format!("reading the links of the vector {node}"));
            let below = self.n_nodes;
            let expected = format!("at most {DEGREE_MAX}, ascending, to others below {below}");
            self.source.locate(start, error.expected(expected).found(found))
        })
    }
}

/// Links of a node, if its bytes are right and none of the numbers in them is great; the first `len` bytes, others may follow.
///
/// Links ascend, so the first and the last say whether all are of the graph.
#[inline]
fn decode_at_once(
    bytes: &[u8],
    len: usize,
    (node, n_nodes): (u32, u32),
    links: &mut Vec<u32>,
) -> Option<()> {
    let (n_links, rest) = bytes.split_first()?;
    let n_links = usize::from(*n_links);
    let (lengths, bytes) = rest.split_at_checked(n_links.div_ceil(GROUP))?;
    let [length, ..] = lengths else { return (len == 1).then_some(()) };
    let first = gap_of(bytes, *length)?;
    let link = i64::from(node) + unzigzag(first.into());
    let link = u32::try_from(link).ok().filter(|link| *link < n_nodes.min(1 << 31))?;
    let (mut numbers, before) = ([0; DEGREE_MAX], link.wrapping_sub(first).wrapping_sub(1));
    let decoded = gaps::numbers(bytes, lengths, before, &mut numbers);
    // The last group may have lengths behind the last link: zeros, that count a byte each.
    let n_bytes = (decoded.n_bytes + n_links).checked_sub(lengths.len() * GROUP)?;
    let own = numbers.get(..n_links)?;
    let is_right = decoded.all < GAP_AT_ONCE
        && len == 1 + lengths.len() + n_bytes
        && own.last().is_some_and(|last| *last < n_nodes)
        && !own.contains(&node);
    links.extend_from_slice(own);
    is_right.then_some(())
}

/// Links of a node, or what its bytes are instead.
fn decode(
    bytes: &[u8],
    node: u32,
    n_nodes: u32,
    links: &mut Vec<u32>,
) -> std::result::Result<(), String> {
    let Some((n_links, rest)) = bytes.split_first() else { return Err("no bytes".into()) };
    let n_links = usize::from(*n_links);
    if n_links > DEGREE_MAX {
        return Err(format!("{n_links} links"));
    }
    let Some((lengths, mut gaps)) = rest.split_at_checked(n_links.div_ceil(GROUP)) else {
        return Err(format!("{} bytes for {n_links} links", bytes.len()));
    };
    let mut next = 0;
    for nth in 0..n_links {
        let length = lengths.get(nth / GROUP).map_or(0, |byte| byte >> (nth % GROUP * 2));
        let Some((gap, after)) = gap_of(gaps, length).zip(gaps.get(usize::from(length & 3) + 1..))
        else {
            return Err(format!("{} bytes for {n_links} links", bytes.len()));
        };
        gaps = after;
        let link = match nth {
            0 => i64::from(node) + unzigzag(gap.into()),
            _ => next + i64::from(gap),
        };
        match u32::try_from(link) {
            Ok(inside) if inside < n_nodes && inside != node => links.push(inside),
            _ => return Err(format!("a link to {link}")),
        }
        next = link + 1;
    }
    match gaps.len() {
        0 => Ok(()),
        n => Err(format!("{n} bytes behind {n_links} links")),
    }
}

/// The gap that bytes begin with, of the length that is in the lowest bits.
#[inline]
fn gap_of(gaps: &[u8], length: u8) -> Option<u32> {
    let len = usize::from(length & 3) + 1;
    match gaps.first_chunk() {
        Some(word) => Some(u32::from_le_bytes(*word) & u32::MAX >> (32 - 8 * len)),
        // Less than four bytes are left.
        None => {
            Some(gaps.get(..len)?.iter().rev().fold(0, |gap, byte| gap << 8 | u32::from(*byte)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::doc_check;
    use proptest::prelude::*;

    fn sections(nodes: &[Vec<u32>]) -> (Vec<u8>, Vec<u8>) {
        let (mut writer, mut out) = (LinksWriter::default(), vec![]);
        nodes.iter().for_each(|links| writer.add(links, &mut out));
        (out, writer.finish())
    }

    #[test]
    fn the_example_is_what_is_written_and_read() {
        let nodes = [vec![1, 2], vec![], vec![0]];
        let (links, at) = sections(&nodes);
        let both = [&links[..], &at].concat();
        assert_eq!(
            both,
            doc_check::hex_dump(include_str!("links.rs")),
            "\n{}",
            doc_check::render(&both)
        );
        let (links, mut found) = (Links::open(&links[..], &at[..], 3).unwrap(), vec![]);
        for (node, expected) in (0..).zip(&nodes) {
            found.clear();
            links.read(node, &mut found).unwrap();
            assert_eq!(found, *expected);
        }
        assert!(links.read(3, &mut found).is_err());
    }

    proptest! {
        #[test]
        fn links_come_back(
            nodes in prop::collection::vec(prop::collection::btree_set(0u32..200_000, 0..64), 1..200)
        ) {
            let nodes: Vec<Vec<u32>> = (0..).zip(nodes).map(|(node, mut links)| {
                links.remove(&node);
                links.into_iter().collect()
            }).collect();
            let (bytes, at) = sections(&nodes);
            // Links lead to more nodes than are written.
            let links = Links { source: &bytes[..], at: &at[..], n_nodes: 200_000 };
            let mut found = vec![];
            for (node, expected) in (0..).zip(&nodes) {
                found.clear();
                links.read(node, &mut found).unwrap();
                prop_assert_eq!(&found, expected);
                let (range, mut at_once) = (links.range(node).unwrap(), vec![]);
                let (bytes, len) = (&bytes[range.start as usize..], (range.end - range.start) as usize);
                prop_assert!(decode_at_once(bytes, len, (node, 200_000), &mut at_once).is_some());
                prop_assert_eq!(&at_once, expected);
            }
        }

        #[test]
        fn any_bytes_are_links_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300), node in 0u32..50) {
            let (mut links, mut at_once) = (vec![], vec![]);
            let is_ok = decode(&bytes, node, 50, &mut links).is_ok();
            for more in [&bytes[..], &[&bytes[..], &[0xFF; 20]].concat()] {
                at_once.clear();
                let decoded = decode_at_once(more, bytes.len(), (node, 50), &mut at_once);
                prop_assert!(decoded.is_none() || is_ok && at_once == links);
            }
            if is_ok {
                prop_assert!(links.is_sorted_by(|a, b| a < b) && links.len() <= DEGREE_MAX);
                prop_assert!(links.iter().all(|link| *link < 50 && *link != node));
            }
        }
    }

    #[test]
    fn damage_is_told() {
        let error = |bytes: &[u8]| decode(bytes, 1, 3, &mut vec![]).unwrap_err();
        for (bytes, words) in [
            (&[][..], "no bytes"),
            (&[65], "65 links"),
            (&[1], "1 bytes for 1 links"),
            (&[1, 1, 0], "3 bytes for 1 links"),
            (&[1, 0, 0], "a link to 1"),
            (&[1, 0, 4], "a link to 3"),
            (&[1, 0, 3], "a link to -1"),
            (&[0, 0], "1 bytes behind 0 links"),
        ] {
            assert_eq!(error(bytes), words);
        }
        let (links, mut at) = sections(&[vec![1], vec![0]]);
        assert!(Links::open(&links[..], &at[..], 3).is_err());
        at[8] = 200;
        let links = Links::open(&links[..], &at[..], 2).unwrap();
        let error = links.read(0, &mut vec![]).unwrap_err().to_string();
        assert!(error.contains("0..200 from 0 on"), "{error}");
    }

    #[test]
    fn bytes_that_belong_to_no_node_or_to_two_are_seen() {
        let (mut links, mut at) = sections(&vec![vec![]; 65]);
        let verify = |links: &[u8], at: &[u8]| Links::open(links, at, 65).unwrap().verify_places();
        verify(&links, &at).unwrap();
        links.push(0);
        let error = verify(&links, &at).unwrap_err().to_string();
        assert!(error.contains("expected 65 bytes"), "{error}");
        // The last node has those of the one before it, or the byte behind its own.
        for start in [63, 65] {
            at[GROUP_LEN as usize] = start;
            let error = verify(&links, &at).unwrap_err().to_string();
            assert!(error.contains("of the vector 64 are: expected bytes from 64 on"), "{error}");
        }
    }
}
