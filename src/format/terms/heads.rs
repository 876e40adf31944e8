//! The HEADS section: an FST from the shortest separator before each block to the block's number.
//!
//! The `fst` crate builds it. It does not read it: its reader trusts its bytes and panics on bad
//! ones, so [`Heads`] walks the nodes itself, and no byte of a file reaches that crate. Each step
//! is checked when it is taken, which needs no pass over the section before its first use: a node
//! must lie inside the section and point to nodes before it, so every walk ends.
//!
//! # Layout
//!
//! Layout of `fst` 0.4, [version 3](https://docs.rs/fst/0.4.7/src/fst/raw/node.rs.html): u64
//! version, u64 type (0), nodes, u64 number of keys, u64 address of the root, u32 masked CRC32C of
//! all that. The address of a node is that of its last byte; its fields are read backwards from
//! there. Address 0 stands for the final node without transitions or output. The last byte tells
//! the kind of node:
//!
//! ```text
//! 11cc_cccc  one transition, to the node right before this one
//!            [input if c = 0] state
//! 10cc_cccc  one transition with output
//!            output | delta | sizes | [input if c = 0] state
//! 0fnn_nnnn  n transitions, final if f
//!            [final output if f] | n outputs | n deltas | n inputs | [256 bytes if more than 32]
//!            | sizes | [n if it does not fit the state; 1 stands for 256] state
//! ```
//!
//! `c` is an input's place in a list of 63 common bytes, from 1. The high nibble of `sizes` is the
//! width of a delta, the low one that of an output. Arrays hold the last transition first, and
//! inputs ascend. A delta of 0 means address 0, another one counts back from the first byte of
//! this node. The 256 bytes are an index of inputs that we do not read.

use crate::bytes::{Bytes, Source, array_at, uint};
use crate::checksum::crc32c;
use crate::error::{Error, Result};
use crate::plural::counted;
use std::fmt;

pub(super) const VERSION: u64 = 3;
const NODES_AT: u64 = 16;
const KEYS_FROM_END: u64 = 20;
const ROOT_FROM_END: u64 = 12;
const CHECKSUM_LEN: u64 = 4;
/// The length of an FST whose root is address 0.
const SHORTEST: u64 = 36;
/// Final, no transitions, no output.
pub(super) const EMPTY_FINAL: u64 = 0;
pub(super) const INDEXED_TRANSITIONS: usize = 32;
pub(super) const COMMON_INPUTS: &[u8; 63] =
    b"te/oasripcnw.hlm-du012g=:bf3y5&_4v9678k%?xCDASFIBEjPTzRNM+LOqHG";

/// Builds the section while the blocks are made.
pub(super) struct HeadsBuilder(Builder);

#[cfg(not(all(test, miri)))]
type Builder = fst::raw::Builder<Vec<u8>>;
#[cfg(all(test, miri))]
use super::unshared::Builder;

/// Why a call that can fail for a file cannot fail here.
const INFALLIBLE: &str = "separators ascend because terms do, and memory takes every byte";

impl fmt::Debug for HeadsBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeadsBuilder").field("bytes", &self.0.bytes_written()).finish()
    }
}

impl Default for HeadsBuilder {
    fn default() -> Self {
        HeadsBuilder(Builder::memory())
    }
}

#[expect(clippy::expect_used, reason = "a slip of ours, not of a file, would make these fail")]
impl HeadsBuilder {
    pub(super) fn add(&mut self, separator: &[u8], block: u32) {
        self.0.insert(separator, u64::from(block)).expect(INFALLIBLE);
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.0.into_inner().expect(INFALLIBLE)
    }
}

/// The shortest byte string that is at most `head` and greater than a lesser one with which it
/// shares `shared` bytes.
pub(super) fn separator(shared: usize, head: &[u8]) -> &[u8] {
    head.get(..=shared).unwrap_or(head)
}

/// The section as it is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heads<S>(S);

impl<'s, S: Source<'s>> Heads<S> {
    pub(super) fn new(source: S) -> Self {
        Heads(source)
    }

    pub(super) fn section_len(&self) -> u64 {
        self.0.len()
    }

    pub(super) fn damage(&self, at: u64, found: impl Into<String>) -> Error {
        self.0.locate(
            at,
            Error::corrupt("reading the FST over the heads of term blocks").found(found),
        )
    }

    /// The value of the last separator that is at most `key`.
    pub(super) fn floor(&self, key: &[u8]) -> Result<Option<u64>> {
        let mut node = self.root()?;
        let mut output = 0;
        let mut floor = Floor::None;
        for byte in key {
            if node.is_final {
                floor = Floor::Final(self.sum(output, node.final_output)?);
            }
            let n_transitions =
                node.transitions_up_to(*byte).ok_or_else(|| self.too_short(&node))?;
            let Some(last) = n_transitions.checked_sub(1) else {
                return self.greatest(floor);
            };
            let transition = self.transition(&node, last)?;
            if transition.input != *byte {
                let output = self.sum(output, transition.output)?;
                return self.greatest(Floor::Below { transition, start: node.start, output });
            }
            if let Some(smaller) = last.checked_sub(1) {
                let smaller = self.transition(&node, smaller)?;
                let output = self.sum(output, smaller.output)?;
                floor = Floor::Below { transition: smaller, start: node.start, output };
            }
            output = self.sum(output, transition.output)?;
            node = self.node(transition.target, node.start)?;
        }
        if node.is_final {
            floor = Floor::Final(self.sum(output, node.final_output)?);
        }
        self.greatest(floor)
    }

    /// The value of the greatest key that `floor` stands for.
    fn greatest(&self, floor: Floor) -> Result<Option<u64>> {
        let (transition, start, mut output) = match floor {
            Floor::None => return Ok(None),
            Floor::Final(output) => return Ok(Some(output)),
            Floor::Below { transition, start, output } => (transition, start, output),
        };
        let mut node = self.node(transition.target, start)?;
        while let Some(last) = node.n_transitions.checked_sub(1) {
            let transition = self.transition(&node, last)?;
            output = self.sum(output, transition.output)?;
            node = self.node(transition.target, node.start)?;
        }
        if !node.is_final {
            return Err(self.damage(node.start, "a node where nothing ends or goes on"));
        }
        self.sum(output, node.final_output).map(Some)
    }

    fn sum(&self, output: u64, more: u64) -> Result<u64> {
        output.checked_add(more).ok_or_else(|| self.damage(0, "outputs that add up past 2^64"))
    }

    /// The version and the length are checked here, before the first node.
    fn root(&self) -> Result<Node<'s>> {
        let len = self.0.len();
        if len < SHORTEST {
            return Err(self.damage(0, counted(len, "byte")));
        }
        let header = self.0.bytes(0..NODES_AT)?;
        if array_at(&header, 0).map(u64::from_le_bytes) != Some(VERSION) {
            return Err(self.damage(0, "another version than 3"));
        }
        let trailer = self.0.bytes(len - ROOT_FROM_END..len)?;
        let root = array_at(&trailer, 0).map_or(u64::MAX, u64::from_le_bytes);
        self.node(root, len - KEYS_FROM_END)
    }

    /// The node at `address`, which must end before `limit`.
    fn node(&self, address: u64, limit: u64) -> Result<Node<'s>> {
        if address == EMPTY_FINAL {
            return Ok(Node::empty_final());
        }
        let damage = || self.damage(address.min(limit), "a node outside the space for nodes");
        if address < NODES_AT || address >= limit {
            return Err(damage());
        }
        // The header before the nodes makes sure that there are three bytes to read.
        let end = self.0.bytes(address - 2..address + 1)?;
        let [third, second, state] = array_at(&end, 0).ok_or_else(damage)?;
        let shape = NodeSizes::parse(state, second, third);
        if !shape.is_sound() {
            return Err(damage());
        }
        let len = shape.len();
        let start = (address + 1).checked_sub(len as u64).filter(|start| *start >= NODES_AT);
        let start = start.ok_or_else(damage)?;
        let bytes = self.0.bytes(start..address + 1)?;
        if bytes.len() != len {
            return Err(damage());
        }
        Node::new(bytes, start, shape).ok_or_else(damage)
    }

    /// Transition `n` of a node, counted in the order of the inputs.
    fn transition(&self, node: &Node<'s>, n: usize) -> Result<Transition> {
        node.transition(n).ok_or_else(|| self.too_short(node))
    }

    #[cold]
    fn too_short(&self, node: &Node<'s>) -> Error {
        self.damage(node.start, "a node that ends before its transitions")
    }

    /// Compares the section with what it should say, one separator after another.
    pub(super) fn check(self, n_keys: u64) -> Result<HeadsCheck<'s, S>> {
        let root = self.root()?;
        let len = self.0.len();
        let bytes = self.0.bytes(0..len)?;
        let n_keys_written = array_at(&bytes, (len - KEYS_FROM_END) as usize);
        if n_keys_written.map(u64::from_le_bytes) != Some(n_keys) {
            return Err(self.damage(len - KEYS_FROM_END, format!("not {n_keys} keys")));
        }
        let another = || self.damage(len - CHECKSUM_LEN, "another checksum than that of the bytes");
        let (summed, sum) = bytes.split_last_chunk().ok_or_else(another)?;
        let masked = crc32c(summed).rotate_right(15).wrapping_add(0xA282_EAD8);
        if u32::from_le_bytes(*sum) != masked {
            return Err(another());
        }
        let path = vec![Step { node: root, next: 0, output: 0 }];
        Ok(HeadsCheck { heads: self, path, root_is_new: true })
    }
}

/// Knowledge about the greatest key up to the one looked for.
enum Floor {
    None,
    /// A prefix of the key, with this value.
    Final(u64),
    /// The greatest key behind a transition of the node at `start`.
    Below {
        transition: Transition,
        start: u64,
        output: u64,
    },
}

/// A walk over all keys in order, next to the separators that should be there.
///
/// A byte that no separator has ends it, so it takes no more steps than those have bytes.
#[derive(Debug)]
pub(super) struct HeadsCheck<'s, S> {
    heads: Heads<S>,
    path: Vec<Step<'s>>,
    root_is_new: bool,
}

#[derive(Debug)]
struct Step<'s> {
    node: Node<'s>,
    next: usize,
    output: u64,
}

impl<'s, S: Source<'s>> HeadsCheck<'s, S> {
    /// The next key must be `separator`, and its value `block`.
    pub(super) fn expect(&mut self, separator: &[u8], block: u32) -> Result<()> {
        let damage = |heads: &Heads<S>, at| {
            heads.damage(at, format!("not the separator of block {block} as the next key"))
        };
        let is_root = std::mem::take(&mut self.root_is_new);
        if let Some(Step { node: root, .. }) = self.path.first().filter(|_| is_root)
            && root.is_final
        {
            return match separator.is_empty() && root.final_output == u64::from(block) {
                true => Ok(()),
                false => Err(damage(&self.heads, root.start)),
            };
        }
        while let Some(step) = self.path.last_mut() {
            if step.next == step.node.n_transitions {
                self.path.pop();
                continue;
            }
            let transition = self.heads.transition(&step.node, step.next)?;
            let ascends = match step.next.checked_sub(1) {
                Some(before) => self.heads.transition(&step.node, before)?.input < transition.input,
                None => true,
            };
            step.next += 1;
            let (start, output) = (step.node.start, step.output);
            let depth = self.path.len();
            if !ascends || separator.get(depth - 1) != Some(&transition.input) {
                return Err(damage(&self.heads, start));
            }
            let node = self.heads.node(transition.target, start)?;
            let output = self.heads.sum(output, transition.output)?;
            let value = self.heads.sum(output, node.final_output)?;
            let is_final = node.is_final;
            self.path.push(Step { node, next: 0, output });
            if is_final {
                return match separator.len() == depth && value == u64::from(block) {
                    true => Ok(()),
                    false => Err(damage(&self.heads, start)),
                };
            }
        }
        Err(damage(&self.heads, 0))
    }

    /// There must be no further key.
    pub(super) fn finish(self) -> Result<()> {
        match self.path.iter().find(|step| step.next < step.node.n_transitions) {
            None => Ok(()),
            Some(step) => Err(self.heads.damage(step.node.start, "more keys than blocks")),
        }
    }
}

/// The sizes of a node's fields, from its last three bytes.
#[derive(Debug, Default)]
struct NodeSizes {
    is_final: bool,
    n_transitions: usize,
    /// The input, where the state byte implies it.
    common_input: Option<u8>,
    /// Whether the one target is the node before, without delta, output or sizes.
    is_next: bool,
    output_width: usize,
    delta_width: usize,
    /// From the end of the deltas to the inputs, and to the end of the node.
    inputs_after: usize,
    rest_len: usize,
}

impl NodeSizes {
    fn parse(state: u8, second: u8, third: u8) -> NodeSizes {
        let sizes;
        let mut shape = NodeSizes::default();
        if state & 0x80 != 0 {
            let common_input = usize::from(state & 0x3F).checked_sub(1);
            shape.common_input = common_input.and_then(|at| COMMON_INPUTS.get(at)).copied();
            shape.is_next = state & 0x40 != 0;
            shape.n_transitions = 1;
            let input_len = usize::from(shape.common_input.is_none());
            let sizes_len = usize::from(!shape.is_next);
            sizes = match (shape.is_next, input_len) {
                (true, _) => 0,
                (false, 0) => second,
                (false, _) => third,
            };
            shape.inputs_after = sizes_len;
            shape.rest_len = sizes_len + input_len + 1;
        } else {
            let n_len;
            (shape.n_transitions, sizes, n_len) = match (state & 0x3F, second) {
                (0, 1) => (256, third, 1),
                (0, n) => (usize::from(n), third, 1),
                (n, sizes) => (usize::from(n), sizes, 0),
            };
            shape.is_final = state & 0x40 != 0;
            let index_len = if shape.n_transitions > INDEXED_TRANSITIONS { 256 } else { 0 };
            shape.rest_len = shape.n_transitions + index_len + 1 + n_len + 1;
        }
        shape.output_width = usize::from(sizes & 15);
        shape.delta_width = usize::from(sizes >> 4);
        shape
    }

    /// Whether numbers have widths that they can have.
    fn is_sound(&self) -> bool {
        let needs_deltas = self.n_transitions > 0 && !self.is_next;
        self.output_width <= 8 && self.delta_width <= 8 && (self.delta_width > 0 || !needs_deltas)
    }

    fn outputs_at(&self) -> usize {
        if self.is_final { self.output_width } else { 0 }
    }

    fn deltas_at(&self) -> usize {
        self.outputs_at() + self.n_transitions * self.output_width
    }

    fn inputs_at(&self) -> usize {
        self.deltas_at() + self.n_transitions * self.delta_width + self.inputs_after
    }

    fn len(&self) -> usize {
        self.deltas_at() + self.n_transitions * self.delta_width + self.rest_len
    }
}

/// A node that lies inside the section.
#[derive(Debug)]
struct Node<'s> {
    bytes: Bytes<'s>,
    start: u64,
    is_final: bool,
    final_output: u64,
    n_transitions: usize,
    shape: NodeSizes,
}

#[derive(Clone, Copy, Debug)]
struct Transition {
    input: u8,
    output: u64,
    target: u64,
}

impl<'s> Node<'s> {
    fn empty_final() -> Node<'s> {
        let shape = NodeSizes { is_final: true, ..NodeSizes::default() };
        let (bytes, start) = (Bytes::Mapped(&[]), EMPTY_FINAL);
        Node { bytes, start, is_final: true, final_output: 0, n_transitions: 0, shape }
    }

    /// `bytes` are as long as `shape` says; if they are not, this and all that is asked later is `None`.
    fn new(bytes: Bytes<'s>, start: u64, shape: NodeSizes) -> Option<Node<'s>> {
        let final_output = if shape.is_final { uint_at(&bytes, 0, shape.output_width)? } else { 0 };
        let (is_final, n_transitions) = (shape.is_final, shape.n_transitions);
        Some(Node { bytes, start, is_final, final_output, n_transitions, shape })
    }

    fn input(&self, n: usize) -> Option<u8> {
        match self.shape.common_input {
            Some(input) => Some(input),
            None => {
                let from_last = self.n_transitions.checked_sub(n + 1)?;
                self.bytes.get(self.shape.inputs_at() + from_last).copied()
            }
        }
    }

    /// Transition `n`, counted in the order of the inputs.
    fn transition(&self, n: usize) -> Option<Transition> {
        let shape = &self.shape;
        let from_last = self.n_transitions.checked_sub(n + 1)?;
        let output_at = shape.outputs_at() + from_last * shape.output_width;
        let delta_at = shape.deltas_at() + from_last * shape.delta_width;
        let target = match uint_at(&self.bytes, delta_at, shape.delta_width)? {
            _ if shape.is_next => self.start - 1,
            0 => EMPTY_FINAL,
            // Address 1 is inside the header, where no node is: that is refused on arrival.
            delta => self.start.checked_sub(delta).unwrap_or(1),
        };
        let output = uint_at(&self.bytes, output_at, shape.output_width)?;
        Some(Transition { input: self.input(n)?, output, target })
    }

    /// Number of transitions with an input of at most `byte`.
    fn transitions_up_to(&self, byte: u8) -> Option<usize> {
        let (mut low, mut high) = (0, self.n_transitions);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.input(middle)? <= byte { low = middle + 1 } else { high = middle }
        }
        Some(low)
    }
}

/// A little-endian integer of `width` bytes, at most eight.
fn uint_at(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    bytes.get(at..at + width).map(uint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_sizes::{each_unless_miri, unless_miri};
    use std::collections::BTreeMap;

    type Separators = BTreeMap<Vec<u8>, u32>;

    fn build(keys: impl IntoIterator<Item = Vec<u8>>) -> (Separators, Vec<u8>) {
        let mut separators: Separators = keys.into_iter().map(|key| (key, 0)).collect();
        let mut builder = HeadsBuilder::default();
        for (n, (key, block)) in separators.iter_mut().enumerate() {
            // Numbers with gaps make outputs of several widths.
            *block = n as u32 * 300;
            builder.add(key, *block);
        }
        (separators, builder.finish())
    }

    fn check(keys: impl IntoIterator<Item = Vec<u8>>) {
        let (separators, bytes) = build(keys);
        let heads = Heads::new(bytes.as_slice());
        for key in separators.keys() {
            let mut probes =
                vec![key.clone(), [&key[..], &[0]].concat(), [&key[..], b"zz"].concat()];
            if let Some((last, rest)) = key.split_last() {
                probes.push(rest.to_vec());
                probes.push([rest, &[last.wrapping_sub(1)]].concat());
                probes.push([rest, &[last.wrapping_add(1)]].concat());
            }
            for probe in probes {
                let expected = separators.range(..=probe.clone()).next_back();
                let expected = expected.map(|(_, block)| u64::from(*block));
                assert_eq!(heads.floor(&probe).unwrap(), expected, "{}", probe.escape_ascii());
            }
        }
        let mut check = heads.check(separators.len() as u64).unwrap();
        for (key, block) in &separators {
            check.expect(key, *block).unwrap();
        }
        check.finish().unwrap();
    }

    fn words() -> Vec<Vec<u8>> {
        let letters = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ\x80\xC3\xE4";
        let pairs = letters.iter().flat_map(|a| letters.iter().map(|b| vec![*a, *b, *a, 0]));
        pairs.step_by(unless_miri(7, 131)).collect()
    }

    #[test]
    fn nodes_of_every_kind_are_read_as_fst_writes_them() {
        check([]);
        check([vec![]]);
        check([b"a".to_vec()]);
        check([vec![], b"a".to_vec(), b"abc".to_vec(), b"abd".to_vec(), b"b\0\xFF".to_vec()]);
        check(words());
        for &n in unless_miri(&[31, 32, 33, 63, 64, 255, 256][..], &[33, 256]) {
            check((0..n).map(|byte: u16| vec![b'x', byte as u8]));
            check((0..n).map(|byte: u16| vec![byte as u8]).chain([vec![], vec![1, 2]]));
        }
        // Digits share suffixes, so that nodes are reached on several ways.
        check((0..unless_miri(70_000u32, 700)).step_by(13).map(|n| format!("{n:06}").into_bytes()));
    }

    #[test]
    fn a_check_notices_a_missing_a_further_and_another_separator() {
        let (separators, bytes) = build([b"a".to_vec(), b"b".to_vec(), b"bc".to_vec()]);
        let heads = Heads::new(bytes.as_slice());
        assert!(heads.check(2).is_err(), "another number of keys");
        let outcome = |expected: &[(&[u8], u32)]| {
            let mut check = heads.check(separators.len() as u64)?;
            expected.iter().try_for_each(|(key, block)| check.expect(key, *block))?;
            check.finish()
        };
        outcome(&[(b"a", 0), (b"b", 300), (b"bc", 600)]).unwrap();
        assert!(outcome(&[(b"a", 0), (b"b", 300)]).is_err());
        assert!(outcome(&[(b"a", 0), (b"b", 300), (b"bc", 600), (b"bd", 900)]).is_err());
        assert!(outcome(&[(b"a", 0), (b"b", 301), (b"bc", 600)]).is_err());
        assert!(outcome(&[(b"a", 0), (b"bb", 300), (b"bc", 600)]).is_err());
        assert!(outcome(&[(b"", 0), (b"b", 300), (b"bc", 600)]).is_err());
        assert!(outcome(&[(b"a", 0), (b"c", 300), (b"bc", 600)]).is_err(), "another byte");
        // The empty one, as the first of a dictionary is.
        let (_, bytes) = build([vec![], b"b".to_vec()]);
        let outcome = |key: &[u8], block| {
            let mut check = Heads::new(bytes.as_slice()).check(2)?;
            check.expect(key, block)?;
            check.expect(b"b", 300)?;
            check.finish()
        };
        outcome(b"", 0).unwrap();
        assert!(outcome(b"a", 0).is_err());
        assert!(outcome(b"", 1).is_err());
    }

    /// Walks check what they pass, and a check sums up the rest: types and tables that no walk looks at.
    #[test]
    fn a_check_refuses_every_change_of_a_bit() {
        let (separators, bytes) = build([b"a".to_vec(), b"b".to_vec(), b"bc".to_vec()]);
        let checked = |bytes: &[u8]| {
            let heads = Heads::new(bytes);
            let mut check = heads.check(separators.len() as u64)?;
            for (key, block) in [(&b"a"[..], 0), (b"b", 300), (b"bc", 600)] {
                check.expect(key, block)?;
            }
            check.finish()
        };
        checked(&bytes).unwrap();
        for bit in each_unless_miri(0..bytes.len() * 8, 7) {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(checked(&damaged).is_err(), "bit {bit} of {}", bytes.len() * 8);
        }
    }

    #[test]
    fn no_byte_makes_a_walk_panic_or_run_on() {
        let (separators, bytes) = build(words());
        let probes: Vec<_> = separators.keys().step_by(unless_miri(20, 9)).collect();
        let mut n_refused = 0;
        for at in each_unless_miri(0..bytes.len(), 11) {
            let mut damaged = bytes.clone();
            for wrong in [bytes[at] ^ 1, bytes[at] ^ 0x80, bytes[at] ^ 0x40, 0, 0xFF] {
                damaged[at] = wrong;
                let heads = Heads::new(damaged.as_slice());
                for probe in &probes {
                    n_refused += usize::from(heads.floor(probe).is_err());
                }
                let (summed, sum) = damaged.split_last_chunk_mut::<4>().unwrap();
                let masked = crc32c(summed).rotate_right(15).wrapping_add(0xA282_EAD8);
                *sum = masked.to_le_bytes();
                let heads = Heads::new(damaged.as_slice());
                if let Ok(mut check) = heads.check(separators.len() as u64) {
                    let agrees = separators.iter().try_for_each(|(key, n)| check.expect(key, *n));
                    if agrees.and_then(|()| check.finish()).is_ok() {
                        for (key, block) in &separators {
                            assert_eq!(heads.floor(key).unwrap(), Some(u64::from(*block)));
                        }
                    }
                }
            }
        }
        assert!(n_refused > 0, "some of these walks must have failed");
    }

    /// A section of nodes that begin at address 16, with a root, and with a sum that is right.
    fn section(nodes: &[u8], n_keys: u64, root: u64) -> Vec<u8> {
        let mut bytes = [VERSION, 0].map(u64::to_le_bytes).concat();
        bytes.extend_from_slice(nodes);
        bytes.extend([n_keys, root].map(u64::to_le_bytes).concat());
        let masked = crc32c(&bytes).rotate_right(15).wrapping_add(0xA282_EAD8);
        bytes.extend_from_slice(&masked.to_le_bytes());
        bytes
    }

    fn floor_in(bytes: &[u8], key: &[u8]) -> Result<Option<u64>, String> {
        Heads::new(bytes).floor(key).map_err(|error| error.to_string())
    }

    /// The last node of these, asked for `a`, must be refused with these words.
    fn refused(nodes: &[u8], why: &str) {
        let bytes = section(nodes, 0, NODES_AT + nodes.len() as u64 - 1);
        let error = floor_in(&bytes, b"a").unwrap_err();
        assert!(error.contains(why), "{nodes:x?}: {error}");
    }

    #[test]
    fn nodes_that_cannot_be_are_refused() {
        let from_a = section(&[0, b'a', 0x10, 1], 0, 19);
        assert_eq!(floor_in(&from_a, b"a"), Ok(Some(0)));
        let outside = "a node outside the space for nodes";
        refused(&[&[0; 10][..], &[b'a', 0x19, 1]].concat(), outside);
        refused(&[&[0; 9][..], &[b'a', 0x90, 1]].concat(), outside);
        refused(&[5, b'a', 0x01, 1], outside);
        // A node before the header, in it, and one that begins there.
        refused(&[99, b'a', 0x10, 1], outside);
        refused(&[10, b'a', 0x10, 1], outside);
        refused(&[0x10, 1], outside);
        // The last byte would be the first of the number of keys.
        assert!(floor_in(&section(&[0, b'a', 0x10], 1, 19), b"a").is_err());
        // Nothing ends or goes on behind `a`.
        let bytes = section(&[0, 0, 0, 1, b'a', 0x10, 1], 0, 22);
        let error = floor_in(&bytes, b"b").unwrap_err();
        assert!(error.contains("a node where nothing ends or goes on"), "{error}");
    }

    #[test]
    fn outputs_that_pass_64_bits_are_refused_wherever_they_are_added() {
        // Behind `a` a final node whose output is 1.
        let first = [1, 0x01, 0, 0x40];
        let bytes = [&first[..], &[0xFF; 8], &[1, b'a', 0x18, 1]].concat();
        let bytes = section(&bytes, 0, 31);
        for key in [b"a", b"b"] {
            let error = floor_in(&bytes, key).unwrap_err();
            assert!(error.contains("outputs that add up past 2^64"), "{error}");
        }
    }

    #[test]
    fn a_section_that_is_too_short_or_of_another_version_is_refused() {
        let shortest = section(&[], 0, 0);
        assert_eq!(shortest.len() as u64, SHORTEST);
        assert_eq!(floor_in(&shortest, b""), Ok(Some(0)));
        // Its last 12 bytes still say that the root is at address 0.
        let mut short = shortest.clone();
        short.remove(8);
        assert!(floor_in(&short, b"").unwrap_err().contains("35 bytes"));
        let mut other = shortest;
        other[0] = 2;
        assert!(floor_in(&other, b"").unwrap_err().contains("another version than 3"));
    }

    #[test]
    fn a_check_refuses_two_ways_with_the_same_byte() {
        // `ab` behind one `a`, `a` itself behind another; the empty string at the root.
        let of_ab = [0, b'b', 0x10, 1];
        let outputs_and_deltas =
            |inputs: [u8; 2]| [0, 2, 1, 1, 0, inputs[0], inputs[1], 0x11, 0x42];
        let check = |inputs, second: &[u8]| {
            let nodes = [&of_ab[..], &outputs_and_deltas(inputs)].concat();
            let bytes = section(&nodes, 3, 28);
            let heads = Heads::new(bytes.as_slice());
            let mut check = heads.check(3)?;
            check.expect(b"", 0)?;
            check.expect(b"a", 1)?;
            check.expect(second, 2)?;
            check.finish()
        };
        check([b'b', b'a'], b"bb").unwrap();
        assert!(check([b'a', b'a'], b"ab").is_err());
    }
}
