//! Counts of documents in one or two lists, with the containers and kernels of windows.

use super::lists::{Fetched, Lists};
use super::profile::SegmentProfile;
use crate::bitmap::{self, Container, ContainerBuf, ContainerKind};
use crate::budget::{self, ns};
use crate::error::Result;
use crate::plan::{Input, LeafId, Pair, Plan, SegmentPlan};
use std::time::Instant;

/// Documents of a list in a window, with the kind and the bytes of its container, where one of a long list was read.
type Seen = (u32, Option<(ContainerKind, usize)>);

/// A window that was counted: the documents of both lists and of what is deleted, and those found.
pub(super) struct Met {
    key: u32,
    seen: [Option<Seen>; 3],
    found: u32,
}

impl Pair {
    /// Counts the documents, given the open lists of the segment; `shared` is memory to use, and `met` is told of each window
    /// whose containers were read.
    pub(super) fn count<'s>(
        self,
        part: &SegmentPlan<'s>,
        lists: &mut Lists<'s>,
        shared: &mut ContainerBuf,
        met: impl FnMut(Met),
    ) -> Result<u64> {
        let documents = |of: Input| u64::from(part.leaves[of.leaf.index()].documents);
        match (self.b, self.deleted) {
            (Some(b), None) => {
                let shared = self.shared(b.leaf, part, lists, met)?;
                Ok(match self.is_union {
                    true => (documents(self.a) + documents(b)).saturating_sub(shared),
                    false => shared,
                })
            }
            (None, None) => Ok(documents(self.a)),
            (_, Some(deleted)) => self.count_without(deleted.leaf, part, lists, shared, met),
        }
    }

    /// Adds to `total` as [`count`](Self::count) does, as far as it comes, and takes note of what was read and found.
    pub(super) fn count_for_people<'s>(
        self,
        plan: &Plan<'s>,
        part: &SegmentPlan<'s>,
        lists: &mut Lists<'s>,
        shared: &mut ContainerBuf,
        (profile, total): (&mut SegmentProfile<'_>, &mut u64),
    ) -> Result<()> {
        let (started, mut met) = (Instant::now(), vec![]);
        let done = self.count(part, lists, shared, |window| met.push(window));
        let took = started.elapsed();
        if done.is_ok() && self.deleted.is_none() && (self.is_union || self.b.is_none()) {
            met = self.with_windows_of_one(part, lists, met);
        }
        let (root, above) = (plan.root().index(), self.above.index());
        let inputs = [Some(self.a), self.b, self.deleted].into_iter().enumerate();
        for (nth, Input { node, .. }) in inputs.filter_map(|(nth, input)| Some((nth, input?))) {
            for (documents, container) in met.iter().filter_map(|window| window.seen[nth]) {
                profile.nodes[node.index()].documents_out += u64::from(documents);
                if let Some((kind, bytes)) = container {
                    profile.touched(node, kind, bytes);
                }
            }
            let of_input = profile.nodes[node.index()].documents_out;
            profile.nodes[if nth < 2 { above } else { root }].documents_in += of_input;
        }
        let found = met.iter().map(|window| u64::from(window.found)).sum();
        if above != root {
            // It is counted without what is deleted.
            let union = &mut profile.nodes[above];
            (union.documents_out, union.partial) = (found, self.deleted.is_some());
            profile.nodes[root].documents_in += found;
        }
        met.iter().for_each(|window| profile.found(window.key, window.found));
        let of_root = &mut profile.nodes[root];
        of_root.documents_out += found;
        of_root.time_ns += took.as_nanos() as u64;
        of_root.stopped = done.as_ref().is_err_and(budget::is_stop);
        *total += done.as_ref().map_or(found, |n| *n);
        done.map(drop)
    }

    /// Windows in which shared documents were counted, and others, of which one list has all: as many as headers say.
    fn with_windows_of_one<'s>(
        self,
        part: &SegmentPlan<'s>,
        lists: &mut Lists<'s>,
        met: Vec<Met>,
    ) -> Vec<Met> {
        lists.rewind();
        let (mut met, mut all, mut from) = (met.into_iter().peekable(), vec![], 0);
        loop {
            let next = [Some(self.a), self.b].map(|input| lists.seek(part, input?.leaf, from));
            let Some(key) = next.iter().flatten().map(|(key, _)| *key).min() else { return all };
            let [a, b] = next.map(|next| Some((next.filter(|next| next.0 == key)?.1, None)));
            let documents = a.map_or(0, |seen| seen.0) + b.map_or(0, |seen| seen.0);
            all.push(match met.next_if(|window| window.key == key) {
                Some(Met { seen, found, .. }) => {
                    Met { key, seen, found: documents.saturating_sub(found) }
                }
                None => Met { key, seen: [a, b, None], found: documents },
            });
            from = key + 1;
        }
    }

    fn shared<'s>(
        self,
        b: LeafId,
        part: &SegmentPlan<'s>,
        lists: &mut Lists<'s>,
        mut met: impl FnMut(Met),
    ) -> Result<u64> {
        let (a, mut key, mut total) = (self.a.leaf, 0, 0);
        loop {
            let Some((of_a, n_a)) = lists.seek(part, a, key) else { return Ok(total) };
            let Some((of_b, n_b)) = lists.seek(part, b, of_a) else { return Ok(total) };
            key = of_b;
            if of_a == of_b {
                budget::work(ns::WINDOW_STEP)?;
                let (in_a, in_b) = (lists.fetch(part, a)?, lists.fetch(part, b)?);
                let (x, y) = (lists.resolve(part, in_a.0)?, lists.resolve(part, in_b.0)?);
                let found = match self.kernel {
                    None => bitmap::and_count(x, n_a, y, n_b),
                    Some(kernel) => bitmap::and_count_by(kernel, x, n_a, y, n_b),
                };
                total += u64::from(found);
                met(Met { key, seen: [Some((n_a, in_a.1)), Some((n_b, in_b.1)), None], found });
                key += 1;
            }
        }
    }

    /// Counts without deleted documents.
    fn count_without<'s>(
        self,
        deleted: LeafId,
        part: &SegmentPlan<'s>,
        lists: &mut Lists<'s>,
        shared: &mut ContainerBuf,
        mut met: impl FnMut(Met),
    ) -> Result<u64> {
        let leaves = [Some(self.a.leaf), self.b.map(|b| b.leaf)];
        let is_both = self.b.is_some() && !self.is_union;
        let (mut key, mut total) = (0, 0);
        loop {
            let next = leaves.map(|leaf| lists.seek(part, leaf?, key));
            let keys = next.iter().flatten().map(|(key, _)| *key);
            let Some(window) = (match is_both {
                true if next.contains(&None) => None,
                true => keys.max(),
                false => keys.min(),
            }) else {
                return Ok(total);
            };
            let here = |next: Option<(u32, u32)>| next.filter(|(key, _)| *key == window);
            let [of_a, of_b] = next.map(here);
            if is_both && (of_a.is_none() || of_b.is_none()) {
                // Not in the same window yet.
                key = window;
                continue;
            }
            budget::work(ns::WINDOW_STEP)?;
            let gone = here(lists.seek(part, deleted, window));
            let mut fetch = |leaf: Option<LeafId>, here: Option<(u32, u32)>| {
                let read = |(leaf, (_, n))| lists.fetch(part, leaf).map(|fetched| (n, fetched));
                leaf.zip(here).map(read).transpose()
            };
            let in_a = fetch(leaves[0], of_a)?;
            let in_b = fetch(leaves[1], of_b)?;
            let in_deleted = fetch(Some(deleted), gone)?;
            let resolve = |fetched: Option<(u32, (Fetched<'s>, _))>| match fetched {
                Some((n, (fetched, _))) => Ok((lists.resolve(part, fetched)?, n)),
                None => Ok((Container::Array(&[]), 0)),
            };
            let (a, b, gone) = (resolve(in_a)?, resolve(in_b)?, resolve(in_deleted)?);
            // Its bits, which are there already, meet others in one pass.
            let bits = part.segment.deleted().map(|deleted| deleted.window(window)).transpose()?;
            let gone = bits.flatten().unwrap_or(gone);
            let found = match is_both {
                true => bitmap::and_count_without(a, b, gone, shared),
                false => bitmap::or_count_without(a, b, gone, shared),
            };
            total += u64::from(found);
            let seen = [in_a, in_b, in_deleted].map(|read| read.map(|(n, (_, bytes))| (n, bytes)));
            met(Met { key: window, seen, found });
            key = window + 1;
        }
    }
}
