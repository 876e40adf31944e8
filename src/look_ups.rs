//! Terms of a search in the dictionaries. Each is asked for once in each segment, whoever needs it first.
//!
//! Matching and scoring, counts and facets mean the same terms, and each plans by itself. Terms that the first of
//! them has looked up are kept for the others, unless it is known that there are none.

use crate::budget;
use crate::error::Result;
use crate::format::terms::TermInfo;
use crate::ids::{FieldId, SegmentId};
use crate::query::Normal;
use crate::recycle::Pool;
use crate::segment::reader::SegmentReader;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Terms up to which comparing with all costs less than hashing.
const COMPARED_MAX: usize = 16;
/// Memory of a term beside its bytes, where there are many.
const TERM_BYTES: u64 = 160;
/// Terms of a search whose memory is kept for later ones.
const TERMS_KEPT: usize = 64;

/// Memory of earlier searches for the terms of later ones.
#[derive(Debug, Default)]
pub(crate) struct TermPool(Pool<Box<Kept>>);

/// The terms that a search has looked up. The default is for one that asks for no term twice: nothing is kept.
#[derive(Debug, Default)]
pub(crate) struct LookUps {
    kept: RefCell<Option<Box<Kept>>>,
    /// Pool that the memory goes to in the end.
    pool: OnceCell<Arc<TermPool>>,
    n_asked: Cell<u64>,
}

#[derive(Debug, Default)]
struct Kept {
    terms: Vec<(FieldId, Range<usize>)>,
    /// The bytes of all terms, one after the other.
    bytes: Vec<u8>,
    /// The places of terms, where there are many.
    places: HashMap<(FieldId, Vec<u8>), usize>,
    /// Knowledge of each segment, by term; behind the first `n_segments` memory of earlier searches.
    segments: Vec<(SegmentId, Vec<Known>)>,
    n_segments: usize,
    /// The places of those that are looked up at the moment, and of those of them that were not before.
    asked: Vec<usize>,
    new: Vec<usize>,
}

/// Knowledge of a term in one segment.
#[derive(Clone, Copy, Debug)]
enum Known {
    Nothing,
    /// Asked for by the call that is running.
    Asked,
    Found(Option<TermInfo>),
}

impl LookUps {
    /// For a search that may need a term again.
    pub(crate) fn keeping(pool: &Arc<TermPool>) -> Self {
        let look_ups = LookUps::default();
        look_ups.begin_to_keep(pool);
        look_ups
    }

    /// For a search for what a query matches and nothing else.
    pub(crate) fn of(normal: &Normal) -> Self {
        let look_ups = LookUps::default();
        if !normal.has_each_term_once() {
            look_ups.kept.replace(Some(Box::default()));
        }
        look_ups
    }

    /// Keeps what is looked up from now on; whether that is new.
    pub(crate) fn begin_to_keep(&self, pool: &Arc<TermPool>) -> bool {
        let kept = &mut *self.kept.borrow_mut();
        if kept.is_some() {
            return false;
        }
        *kept = Some(pool.0.take());
        self.pool.get_or_init(|| Arc::clone(pool));
        true
    }

    /// Keeps what somebody has looked up before, where anything is kept.
    pub(crate) fn learn(
        &self,
        segment: SegmentId,
        field: FieldId,
        term: &[u8],
        info: Option<TermInfo>,
    ) {
        let Some(kept) = &mut *self.kept.borrow_mut() else { return };
        let (at, place) = (kept.place_of_segment(segment), kept.place_of(field, term));
        let known = &mut kept.segments[at].1;
        known.resize(known.len().max(place + 1), Known::Nothing);
        known[place] = Known::Found(info);
    }

    /// Number of terms that dictionaries were asked for: the same term counts once for each segment.
    pub(crate) fn n_asked(&self) -> u64 {
        self.n_asked.get()
    }

    /// Looks a term up in the dictionary of a field.
    pub(crate) fn get(
        &self,
        segment: SegmentReader<'_>,
        field: FieldId,
        term: &[u8],
    ) -> Result<Option<TermInfo>> {
        if self.kept.borrow().is_none() {
            self.n_asked.set(self.n_asked.get() + 1);
            return segment.field(field).terms()?.get(term);
        }
        let mut of_term = None;
        self.get_all(segment, field, std::iter::once(term), |info| {
            of_term = info;
            Ok(())
        })?;
        Ok(of_term)
    }

    /// Looks several terms up in the dictionary of a field, and calls `found` in their order. Terms that are new wait for memory
    /// together.
    ///
    /// # Errors
    ///
    /// A limit error where so many are kept that a query may not take more memory; whatever reading the dictionary says.
    pub(crate) fn get_all<'t>(
        &self,
        segment: SegmentReader<'_>,
        field: FieldId,
        terms: impl Iterator<Item = &'t [u8]>,
        mut found: impl FnMut(Option<TermInfo>) -> Result<()>,
    ) -> Result<()> {
        let dictionary = segment.field(field).terms()?;
        let kept = &mut *self.kept.borrow_mut();
        let Some(kept) = kept else {
            return dictionary.get_all(terms, |info| {
                self.n_asked.set(self.n_asked.get() + 1);
                found(info)
            });
        };
        let at = kept.place_of_segment(segment.id());
        kept.asked.clear();
        for term in terms {
            let n_before = kept.terms.len();
            let place = kept.place_of(field, term);
            if place == n_before && n_before > COMPARED_MAX {
                budget::hold(TERM_BYTES + term.len() as u64)?;
            }
            kept.asked.push(place);
        }
        let Kept { terms, bytes, segments, asked, new, .. } = &mut **kept;
        let known = &mut segments[at].1;
        known.resize(known.len().max(terms.len()), Known::Nothing);
        new.clear();
        for place in asked.iter() {
            if matches!(known[*place], Known::Nothing) {
                known[*place] = Known::Asked;
                new.push(*place);
            }
        }
        let text = |place: &usize| &bytes[terms[*place].1.clone()];
        let mut places = new.iter();
        let done = dictionary.get_all(new.iter().map(text), |info| {
            if let Some(place) = places.next() {
                known[*place] = Known::Found(info);
            }
            Ok(())
        });
        self.n_asked.set(self.n_asked.get() + new.len() as u64);
        if done.is_err() {
            // Asked for again, they are an error again.
            new.iter().for_each(|place| known[*place] = Known::Nothing);
            return done;
        }
        asked.iter().try_for_each(|place| match known[*place] {
            Known::Found(info) => found(info),
            Known::Nothing | Known::Asked => found(None),
        })
    }
}

impl Drop for LookUps {
    fn drop(&mut self) {
        let (Some(pool), Some(mut kept)) = (self.pool.take(), self.kept.take()) else { return };
        if kept.terms.len() > TERMS_KEPT {
            return;
        }
        kept.terms.clear();
        kept.bytes.clear();
        kept.places.clear();
        kept.n_segments = 0;
        pool.0.give(kept);
    }
}

impl Kept {
    fn place_of_segment(&mut self, id: SegmentId) -> usize {
        let at = self.n_segments;
        if let Some(at) = self.segments[..at].iter().position(|(of, _)| *of == id) {
            return at;
        }
        match self.segments.get_mut(at) {
            Some((free, known)) => {
                *free = id;
                known.clear();
            }
            None => self.segments.push((id, vec![])),
        }
        self.n_segments += 1;
        at
    }

    /// The place of a term, which gets one where it has none.
    fn place_of(&mut self, field: FieldId, term: &[u8]) -> usize {
        let n = self.terms.len();
        if n <= COMPARED_MAX {
            let is_this = |(of, range): &(FieldId, Range<usize>)| {
                *of == field && self.bytes[range.clone()] == *term
            };
            if let Some(place) = self.terms.iter().position(is_this) {
                return place;
            }
        } else {
            if self.places.is_empty() {
                let of_all = self.terms.iter().zip(0..);
                let key = |(field, range): &(FieldId, Range<usize>)| {
                    (*field, self.bytes[range.clone()].to_vec())
                };
                self.places = of_all.map(|(term, place)| (key(term), place)).collect();
            }
            match self.places.entry((field, term.to_vec())) {
                std::collections::hash_map::Entry::Occupied(place) => return *place.get(),
                std::collections::hash_map::Entry::Vacant(place) => drop(place.insert(n)),
            }
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(term);
        self.terms.push((field, start..self.bytes.len()));
        n
    }
}
