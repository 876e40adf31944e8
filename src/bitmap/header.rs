//! Head of a serialised list: its containers and their places, as plain numbers.
//!
//! The one place that parses the format, see the [module](super) for its layout. It needs the bytes
//! of the header alone (of a list without offsets all of it, at most a few containers), so a
//! posting list can be planned with before one of its containers is read.

use super::buffer::ARRAY_MAX;
use super::container::{Container, ContainerKind};
use super::words::FULL;
use crate::bytes::array_at;
use crate::error::{Error, Result};
use crate::plural::counted;
use std::ops::Range;

/// First four bytes of a list without run containers.
pub(super) const COOKIE_NO_RUNS: u32 = 12_346;
/// First two bytes of a list with run containers; the number of containers − 1 follows.
pub(super) const COOKIE_RUNS: u16 = 12_347;
/// A list with run containers has offsets only from this many containers on.
pub(super) const OFFSETS_FROM: usize = 4;
/// The most containers that 16-bit keys can tell apart.
const CONTAINERS_MAX: usize = 1 << 16;

/// Bytes before anything that depends on the number of containers; every list has them.
const FIRST_LEN: usize = 8;
/// Key and cardinality − 1.
const DESCRIPTION_LEN: usize = 4;
const OFFSET_LEN: usize = 4;
pub(super) const BITMAP_LEN: usize = 8192;

/// Layout of a header, which follows from the cookie and the number of containers.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeaderLayout {
    pub(super) n_containers: usize,
    /// Start of the bits that mark run containers, if there are any.
    pub(super) run_marks_at: Option<usize>,
    pub(super) descriptions_at: usize,
    /// Start of the offsets, if there are any.
    pub(super) offsets_at: Option<usize>,
    /// Start of the first container.
    pub(super) payloads_at: usize,
}

impl HeaderLayout {
    pub(super) fn new(n_containers: usize, has_runs: bool) -> Self {
        let run_marks_at = has_runs.then_some(size_of::<u32>());
        let descriptions_at = match run_marks_at {
            Some(at) => at + n_containers.div_ceil(8),
            None => FIRST_LEN,
        };
        let behind = descriptions_at + n_containers * DESCRIPTION_LEN;
        let offsets_at = (!has_runs || n_containers >= OFFSETS_FROM).then_some(behind);
        let payloads_at = match offsets_at {
            Some(at) => at + n_containers * OFFSET_LEN,
            None => behind,
        };
        HeaderLayout { n_containers, run_marks_at, descriptions_at, offsets_at, payloads_at }
    }

    fn parse(first: &[u8], total_len: usize) -> Result<Self> {
        let too_short = || {
            Error::corrupt("reading the head of a roaring list")
                .expected(format!("at least {FIRST_LEN} bytes"))
                .found(format!("{}", first.len().min(total_len)))
        };
        let cookie = array_at::<4>(first, 0).ok_or_else(too_short)?;
        let count = array_at::<4>(first, 4).ok_or_else(too_short)?;
        let [c0, c1, n0, n1] = cookie;
        let layout = if u32::from_le_bytes(cookie) == COOKIE_NO_RUNS {
            let n = u32::from_le_bytes(count) as usize;
            if n > CONTAINERS_MAX {
                return Err(Error::corrupt("reading the head of a roaring list")
                    .expected(format!("at most {CONTAINERS_MAX} containers"))
                    .found(format!("{n}"))
                    .at_offset(4));
            }
            Self::new(n, false)
        } else if u16::from_le_bytes([c0, c1]) == COOKIE_RUNS {
            Self::new(usize::from(u16::from_le_bytes([n0, n1])) + 1, true)
        } else {
            return Err(Error::corrupt("reading the head of a roaring list")
                .expected(format!("cookie {COOKIE_NO_RUNS} or {COOKIE_RUNS}"))
                .found(format!("{}", u32::from_le_bytes(cookie)))
                .at_offset(0));
        };
        if layout.payloads_at > total_len {
            return Err(Error::corrupt("reading the head of a roaring list")
                .expected(format!(
                    "{} bytes for the head of {} containers",
                    layout.payloads_at, layout.n_containers
                ))
                .found(format!("{total_len} in all")));
        }
        Ok(layout)
    }
}

/// Checked head of a list, without the bytes it was read from: each question is asked with those bytes again. Other
/// bytes give other answers, never a panic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoaringHeader {
    layout: HeaderLayout,
    total_len: usize,
    cardinality: u64,
    /// Starts of the containers in a list without offsets, which has at most three.
    starts: [usize; OFFSETS_FROM - 1],
}

impl RoaringHeader {
    /// Number of bytes from the start of the list that [`parse`](Self::parse) needs, by the first 8 of the `total_len`
    /// bytes it has.
    pub(crate) fn header_len(first: &[u8], total_len: usize) -> Result<usize> {
        let layout = HeaderLayout::parse(first, total_len)?;
        Ok(if layout.offsets_at.is_some() { layout.payloads_at } else { total_len })
    }

    /// Checks the head of a list of `total_len` bytes: keys ascend, and the containers, each as long as its cardinality
    /// asks for, fill the list exactly. Faults that only a look at the containers can tell are left to
    /// [`container_from`] (the number of runs) and [`verify`](super::RoaringView::verify).
    pub(crate) fn parse(header: &[u8], total_len: usize) -> Result<Self> {
        let layout = HeaderLayout::parse(header, total_len)?;
        let needed = if layout.offsets_at.is_some() { layout.payloads_at } else { total_len };
        if header.len() < needed {
            return Err(Error::corrupt("reading the head of a roaring list")
                .expected(counted(needed, "byte"))
                .found(format!("{}", header.len())));
        }
        let mut parsed =
            RoaringHeader { layout, total_len, cardinality: 0, starts: [0; OFFSETS_FROM - 1] };
        if let Some(cardinality) = parsed.check_plain(header) {
            return Ok(RoaringHeader { cardinality, ..parsed });
        }
        let mut at = layout.payloads_at;
        for i in 0..layout.n_containers {
            if i > 0 && parsed.key(header, i) <= parsed.key(header, i - 1) {
                return Err(Error::corrupt(format!("reading container {i} of a roaring list"))
                    .expected(format!("a key above {}", parsed.key(header, i - 1)))
                    .found(format!("{}", parsed.key(header, i)))
                    .at_offset((layout.descriptions_at + i * DESCRIPTION_LEN) as u64));
            }
            if let (None, Some(start)) = (layout.offsets_at, parsed.starts.get_mut(i)) {
                *start = at;
            } else if parsed.start(header, i) != at {
                return Err(Error::corrupt(format!("reading container {i} of a roaring list"))
                    .expected(format!("offset {at}"))
                    .found(format!("{}", parsed.start(header, i))));
            }
            at = parsed.checked_end(header, i, at)?;
            parsed.cardinality += u64::from(parsed.cardinality(header, i));
        }
        if at != total_len {
            return Err(Error::corrupt("reading a roaring list")
                .expected(counted(at, "byte"))
                .found(format!("{total_len}")));
        }
        Ok(parsed)
    }

    /// The cardinality of a sound list of arrays and bitmaps, as most are. A query opens some lists
    /// for every word, so this is one pass; whatever it does not like, `parse` looks at again to say
    /// what it is.
    fn check_plain(&self, header: &[u8]) -> Option<u64> {
        let HeaderLayout { n_containers, run_marks_at, descriptions_at, offsets_at, payloads_at } =
            self.layout;
        let offsets_at = offsets_at.filter(|_| run_marks_at.is_none())?;
        let descriptions = header.get(descriptions_at..descriptions_at + n_containers * 4)?;
        let offsets = header.get(offsets_at..offsets_at + n_containers * 4)?;
        let (mut at, mut next_key, mut cardinality) = (payloads_at, 0, 0);
        for (description, offset) in descriptions.as_chunks().0.iter().zip(offsets.as_chunks().0) {
            let [k0, k1, c0, c1] = *description;
            let key = u32::from(u16::from_le_bytes([k0, k1]));
            let n_values = usize::from(u16::from_le_bytes([c0, c1])) + 1;
            if key < next_key || u32::from_le_bytes(*offset) as usize != at {
                return None;
            }
            next_key = key + 1;
            at += if n_values <= ARRAY_MAX { 2 * n_values } else { BITMAP_LEN };
            cardinality += n_values as u64;
        }
        (at == self.total_len).then_some(cardinality)
    }

    /// Finds the end of container `i`, which starts at `start`.
    fn checked_end(&self, header: &[u8], i: usize, start: usize) -> Result<usize> {
        let wrong = |expected: String, found: usize| {
            Err(Error::corrupt(format!("reading container {i} of a roaring list"))
                .expected(expected)
                .found(format!("{found}"))
                .at_offset(start as u64))
        };
        let len = match self.kind(header, i) {
            ContainerKind::Array => 2 * self.cardinality(header, i) as usize,
            ContainerKind::Bitmap => BITMAP_LEN,
            ContainerKind::Run if self.layout.offsets_at.is_none() => {
                match array_at::<2>(header, start) {
                    Some(n_runs) => 2 + 4 * usize::from(u16::from_le_bytes(n_runs)),
                    None => return wrong("the number of runs".into(), self.total_len),
                }
            }
            ContainerKind::Run => {
                let end = if i + 1 < self.layout.n_containers {
                    self.start(header, i + 1)
                } else {
                    self.total_len
                };
                match end.checked_sub(start) {
                    Some(len) => len,
                    None => return wrong("an end behind its start".into(), end),
                }
            }
        };
        if self.kind(header, i) == ContainerKind::Run {
            let runs_max = self.cardinality(header, i).min(FULL / 2) as usize;
            if len % 4 != 2 || len < 6 || len > 2 + 4 * runs_max {
                return wrong(format!("2 + 4 × n bytes for 1 to {runs_max} runs"), len);
            }
        }
        if len > self.total_len - start.min(self.total_len) {
            return wrong(counted(len, "byte"), self.total_len - start.min(self.total_len));
        }
        Ok(start + len)
    }

    /// Number of containers of the list.
    #[inline]
    pub(crate) fn n_containers(&self) -> usize {
        self.layout.n_containers
    }

    /// The upper 16 bits of the values of container `i`.
    #[inline]
    pub(crate) fn key(&self, header: &[u8], i: usize) -> u16 {
        let at = self.layout.descriptions_at + i * DESCRIPTION_LEN;
        array_at(header, at).map_or(0, u16::from_le_bytes)
    }

    /// Number of values of container `i`, as the head says.
    #[inline]
    pub(crate) fn cardinality(&self, header: &[u8], i: usize) -> u32 {
        let at = self.layout.descriptions_at + i * DESCRIPTION_LEN + 2;
        array_at(header, at).map_or(0, |less_one| u32::from(u16::from_le_bytes(less_one)) + 1)
    }

    /// Number of values of the list, as the head says.
    #[inline]
    pub(crate) fn total_cardinality(&self) -> u64 {
        self.cardinality
    }

    /// Kind of container `i`.
    #[inline]
    pub(crate) fn kind(&self, header: &[u8], i: usize) -> ContainerKind {
        let marked =
            |at: usize| header.get(at + i / 8).is_some_and(|byte| byte >> (i % 8) & 1 == 1);
        if self.layout.run_marks_at.is_some_and(marked) {
            ContainerKind::Run
        } else if self.cardinality(header, i) as usize <= ARRAY_MAX {
            ContainerKind::Array
        } else {
            ContainerKind::Bitmap
        }
    }

    /// Range of container `i` in the bytes of the list.
    #[inline]
    pub(crate) fn payload_range(&self, header: &[u8], i: usize) -> Range<usize> {
        let start = self.start(header, i);
        let end = if i + 1 < self.layout.n_containers {
            self.start(header, i + 1)
        } else {
            self.total_len
        };
        start..end.max(start)
    }

    #[inline]
    fn start(&self, header: &[u8], i: usize) -> usize {
        match self.layout.offsets_at {
            Some(at) => {
                array_at(header, at + i * OFFSET_LEN).map_or(0, u32::from_le_bytes) as usize
            }
            None => self.starts.get(i).copied().unwrap_or(self.total_len),
        }
    }

    /// Which container has `key`, or before which it would stand.
    #[inline]
    pub(crate) fn find(&self, header: &[u8], key: u16) -> Result<usize, usize> {
        let (mut low, mut high) = (0, self.layout.n_containers);
        while low < high {
            let middle = low.midpoint(high);
            match self.key(header, middle).cmp(&key) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Ok(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Err(low)
    }
}

/// The container whose bytes `payload` are, as its header describes it.
pub(crate) fn container_from(
    kind: ContainerKind,
    cardinality: u32,
    payload: &[u8],
) -> Result<Container<'_>> {
    let wrong = |expected: String| {
        Err(Error::corrupt(format!("reading a roaring {kind:?} container of {cardinality} values"))
            .expected(expected)
            .found(counted(payload.len(), "byte")))
    };
    match kind {
        ContainerKind::Array => match payload.as_chunks() {
            (values, []) if values.len() == cardinality as usize && values.len() <= ARRAY_MAX => {
                Ok(Container::Array(values))
            }
            _ => wrong(format!("{} bytes", 2 * u64::from(cardinality))),
        },
        ContainerKind::Bitmap => match payload.as_chunks().0.first_chunk() {
            Some(words) if payload.len() == BITMAP_LEN => Ok(Container::Bitmap(words)),
            _ => wrong(format!("{BITMAP_LEN} bytes")),
        },
        ContainerKind::Run => {
            let Some((n_runs, runs)) = payload.split_first_chunk::<2>() else {
                return wrong("the number of runs".into());
            };
            let n_runs = usize::from(u16::from_le_bytes(*n_runs));
            match runs.as_chunks() {
                (runs, []) if runs.len() == n_runs => Ok(Container::Run(runs)),
                _ => wrong(format!("2 + 4 × {n_runs} bytes")),
            }
        }
    }
}
