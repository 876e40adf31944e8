//! Builds the section HEADS for tests under Miri, each key with nodes of its own. Before its first key `fst` makes a table of
//! 20,000 nodes, by which it finds those that are alike; that alone takes half a minute there.

use super::heads::{COMMON_INPUTS, EMPTY_FINAL, INDEXED_TRANSITIONS, VERSION};
use crate::checksum::crc32c;
use std::convert::Infallible;

/// Takes the place of the builder of `fst`.
#[derive(Debug)]
pub(super) struct Builder(Vec<Key>);

type Key = (Vec<u8>, u64);

impl Builder {
    pub(super) fn memory() -> Builder {
        Builder(vec![])
    }

    pub(super) fn bytes_written(&self) -> u64 {
        0
    }

    pub(super) fn insert(&mut self, key: &[u8], value: u64) -> Result<(), Infallible> {
        assert!(self.0.last().is_none_or(|(last, _)| **last < *key), "keys ascend");
        self.0.push((key.to_vec(), value));
        Ok(())
    }

    pub(super) fn into_inner(self) -> Result<Vec<u8>, Infallible> {
        let mut bytes = [VERSION, 0].map(u64::to_le_bytes).concat();
        let root = write_node(&self.0, 0, 0, &mut bytes);
        bytes.extend([self.0.len() as u64, root].map(u64::to_le_bytes).concat());
        let masked = crc32c(&bytes).rotate_right(15).wrapping_add(0xA282_EAD8);
        bytes.extend(masked.to_le_bytes());
        Ok(bytes)
    }
}

/// Appends the node behind the first `depth` bytes of these keys, on the way to which there were outputs of `before`;
/// returns its address.
fn write_node(keys: &[Key], depth: usize, before: u64, out: &mut Vec<u8>) -> u64 {
    let is_final = keys.first().is_some_and(|(key, _)| key.len() == depth);
    let final_output = if is_final { keys[0].1 - before } else { 0 };
    let longer = keys[usize::from(is_final)..].chunk_by(|(a, _), (b, _)| a[depth] == b[depth]);
    let transitions: Vec<(u8, u64, u64)> = longer
        .map(|of_input| {
            let (key, value) = &of_input[0];
            (key[depth], value - before, write_node(of_input, depth + 1, *value, out))
        })
        .collect();
    if is_final && final_output == 0 && transitions.is_empty() {
        return EMPTY_FINAL;
    }
    let start = out.len() as u64;
    let delta = |target: u64| if target == EMPTY_FINAL { 0 } else { start - target };
    let deltas = transitions.iter().map(|(.., target)| delta(*target));
    let outputs = transitions.iter().map(|(_, output, _)| *output);
    let widths = [
        outputs.clone().chain([final_output]).map(width).max().unwrap_or(0),
        deltas.clone().map(width).max().map_or(0, |width| width.max(1)),
    ];
    let push = |out: &mut Vec<u8>, number: u64, width| {
        out.extend_from_slice(&number.to_le_bytes()[..width]);
    };
    let is_next = widths[0] == 0 && transitions.iter().all(|(.., target)| target + 1 == start);
    let is_one = transitions.len() == 1 && !is_final;
    if !(is_one && is_next) {
        if is_final {
            push(out, final_output, widths[0]);
        }
        outputs.rev().for_each(|output| push(out, output, widths[0]));
        deltas.rev().for_each(|delta| push(out, delta, widths[1]));
    }
    let sizes = (widths[1] << 4 | widths[0]) as u8;
    if is_one {
        let input = transitions[0].0;
        if !is_next {
            out.push(sizes);
        }
        let common = COMMON_INPUTS.iter().position(|common| *common == input);
        if common.is_none() {
            out.push(input);
        }
        let common = common.map_or(0, |at| at as u8 + 1);
        out.push(if is_next { 0xC0 } else { 0x80 } | common);
    } else {
        out.extend(transitions.iter().rev().map(|(input, ..)| input));
        if transitions.len() > INDEXED_TRANSITIONS {
            out.extend([0xFF; 256]);
        }
        out.push(sizes);
        let n = match transitions.len() {
            256 => 1,
            n => n as u8,
        };
        let in_state = if transitions.len() < 64 { n } else { 0 };
        if in_state == 0 {
            out.push(n);
        }
        out.push(u8::from(is_final) << 6 | in_state);
    }
    out.len() as u64 - 1
}

/// The bytes that a number needs.
fn width(number: u64) -> usize {
    8 - number.leading_zeros() as usize / 8
}
