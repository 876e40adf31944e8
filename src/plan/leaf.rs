//! Leaves of a plan in one segment: sets as dictionary and headers describe them.

use super::estimate::{EstimateSource, Span};
use super::points_scan::PointsScan;
use crate::error::Result;
use crate::expansion::{Expansion, TermCounts, Walk};
use crate::format::column::Column;
use crate::format::postings::{LongList, SHORT_DOCS_MAX};
use crate::format::terms::{InlineDocs, PostingsAt, TermInfo};
use crate::ids::TermOrdinal;
use crate::segment::file::Section;
use crate::segment::reader::{FieldReader, SegmentReader};
use crate::value::{code_of_term, term_of_code};
use std::ops::RangeInclusive;

/// One set of documents that the index holds, as far as it is known before its postings are read.
#[derive(Debug)]
pub(crate) struct Leaf<'s> {
    /// Number of documents, deleted ones included.
    pub(crate) documents: u32,
    pub(crate) postings: Postings<'s>,
}

/// Source of a leaf's documents.
#[derive(Debug)]
pub(crate) enum Postings<'s> {
    /// No document of the segment.
    Absent,
    /// Every document of the segment: nothing needs to be read.
    Everything,
    /// The dictionary itself names the documents.
    Inline(InlineDocs),
    /// A short list, read when the plan is executed.
    Short(TermInfo),
    /// A long list whose header has been read.
    Long(LongList<'s, Section<'s>>),
    /// A long list that is the whole plan: the dictionary said enough, and the header can wait.
    LongUnread(TermInfo),
    /// The documents that have a value, where the statistics said enough.
    PresenceUnread,
    /// The lists of several terms, united when the plan is executed.
    Terms(Box<Terms>),
    /// Neighbours of a vector among the documents that have any, found when the plan is executed.
    Neighbors,
    /// The values of documents, compared when the plan is executed; no list is read.
    Column(Box<ColumnValues<'s>>),
    /// The points of documents, compared when the plan is executed.
    Points(Box<PointsScan<'s>>),
}

/// Terms as values of the column that their field has.
#[derive(Debug)]
pub(crate) struct ColumnValues<'s> {
    pub(crate) column: Column<Section<'s>>,
    pub(crate) codes: Codes,
    /// Terms, if they are those of a pattern.
    pub(crate) terms: Option<Box<Terms>>,
}

/// Codes of a column that are wanted.
#[derive(Clone, Debug)]
pub(crate) enum Codes {
    Range(RangeInclusive<u64>),
    /// One at least, ascending.
    Some(Vec<u64>),
}

impl Codes {
    #[inline]
    pub(crate) fn contains(&self, code: u64) -> bool {
        match self {
            Codes::Range(range) => range.contains(&code),
            Codes::Some(codes) => codes.binary_search(&code).is_ok(),
        }
    }

    /// Whether each code between two, these included, is wanted.
    pub(crate) fn contain_all(&self, least: u64, greatest: u64) -> bool {
        match self {
            Codes::Range(range) => range.contains(&least) && range.contains(&greatest),
            Codes::Some(_) => least == greatest && self.contains(least),
        }
    }

    /// Whether no code between two, these included, is wanted.
    pub(crate) fn contain_none(&self, least: u64, greatest: u64) -> bool {
        match self {
            Codes::Range(range) => greatest < *range.start() || least > *range.end(),
            Codes::Some(codes) => {
                let from = codes.partition_point(|code| *code < least);
                codes.get(from).is_none_or(|code| *code > greatest)
            }
        }
    }
}

/// The terms that a pattern stands for in one segment.
#[derive(Debug)]
pub(crate) struct Terms {
    /// The first of them, up to [`TERMS_KEPT`].
    pub(crate) infos: Vec<TermInfo>,
    /// Work of finding those; `cut` if there are more.
    pub(crate) walked: TermCounts,
    /// Number of terms, if it is known.
    pub(crate) n_terms: Option<u64>,
    /// Bounds that follow for their documents.
    span: Span,
}

/// Terms of a pattern that are found while planning, and remembered for the execution; more are
/// found then, which takes a second walk.
const TERMS_KEPT: usize = 1_024;

impl<'s> Leaf<'s> {
    pub(crate) const ABSENT: Leaf<'s> = Leaf { documents: 0, postings: Postings::Absent };

    /// A term, given what the dictionary says of it.
    pub(crate) fn of_term(info: Option<TermInfo>, n_docs: u32) -> Self {
        let Some(info) = info else { return Leaf::ABSENT };
        let postings = match info.postings {
            _ if info.df == n_docs => Postings::Everything,
            PostingsAt::Inline(docs) => Postings::Inline(docs),
            PostingsAt::Section { .. } if info.df as usize <= SHORT_DOCS_MAX => {
                Postings::Short(info)
            }
            PostingsAt::Section { .. } => Postings::LongUnread(info),
        };
        Leaf { documents: info.df, postings }
    }

    /// The documents that have a value, given how many there are.
    pub(crate) fn of_presence(documents: u32, n_docs: u32) -> Self {
        match documents {
            0 => Leaf::ABSENT,
            _ if documents == n_docs => Leaf { documents, postings: Postings::Everything },
            _ => Leaf { documents, postings: Postings::PresenceUnread },
        }
    }

    /// Neighbours of a vector, given how many documents have one.
    pub(crate) fn of_neighbors(documents: u32) -> Self {
        match documents {
            0 => Leaf::ABSENT,
            _ => Leaf { documents, postings: Postings::Neighbors },
        }
    }

    /// The documents that were deleted.
    pub(crate) fn of_deleted(segment: SegmentReader<'s>) -> Result<Self> {
        let Some(deleted) = segment.deleted() else { return Ok(Leaf::ABSENT) };
        Ok(Leaf { documents: deleted.n_docs(), postings: Postings::Long(deleted.list()?) })
    }

    /// The terms of a pattern, which are looked for in the dictionary.
    pub(crate) fn of_terms(
        expansion: &Expansion,
        field: FieldReader<'s>,
        n_docs: u32,
    ) -> Result<Self> {
        let dictionary = field.terms()?;
        let column = if field.has_codes() { field.column()? } else { None };
        let is_of_all =
            column.and_then(|column| column.range()).is_some_and(|(least, greatest)| {
                expansion.is_of_all_between(&term_of_code(least), &term_of_code(greatest))
            });
        let ordinals = match is_of_all {
            // Without a search for the ends.
            true => Some(0..dictionary.n_terms()),
            false => expansion.ordinals(&dictionary)?,
        };
        let of_all = match &ordinals {
            // Two reads of the sums; a few terms are read in any case.
            Some(ordinals) if ordinals.len() > 1 => field.documents_between(ordinals.clone())?,
            _ => None,
        };
        if of_all == Some(n_docs) {
            return Ok(Leaf { documents: n_docs, postings: Postings::Everything });
        }
        let kept_max = match (of_all, &ordinals) {
            // Documents of the others are known, and these are walked again when their lists are read.
            (Some(_), Some(ordinals)) if ordinals.len() > TERMS_KEPT => 1,
            _ => TERMS_KEPT,
        };
        let mut infos = vec![];
        let walked = expansion.walk_among(&dictionary, ordinals.clone(), |info| {
            infos.push(info);
            Ok(if infos.len() < kept_max { Walk::On } else { Walk::Stop })
        })?;
        if let [info] = infos[..]
            && !walked.cut
        {
            return Ok(Leaf::of_term(Some(info), n_docs));
        }
        let spans = infos.iter().map(|info| Span::exact(info.df.min(n_docs)));
        let mut span = Span::unite(spans, n_docs);
        if infos.is_empty() {
            return Ok(Leaf::ABSENT);
        }
        if let Some(of_all) = of_all {
            span = Span::exact(of_all.min(n_docs));
        } else if !walked.cut && field.has_one_value_each()? {
            // No document has two of the terms.
            let sum = infos.iter().map(|info| u64::from(info.df)).sum::<u64>();
            span = Span::exact(u32::try_from(sum).unwrap_or(n_docs).min(n_docs));
        }
        if span.lower == n_docs {
            return Ok(Leaf { documents: n_docs, postings: Postings::Everything });
        }
        if walked.cut && of_all.is_none() {
            // The others are taken to be like the first.
            let n_terms = ordinals.as_ref().map(|ordinals| ordinals.len() as f64);
            let more = n_terms.map_or(2.0, |n_terms| n_terms / infos.len() as f64);
            let width = f64::from(n_docs);
            span.documents = width * (1.0 - (1.0 - span.documents / width).powf(more));
            span.upper = n_docs;
        }
        let documents = (span.documents.round() as u32).clamp(span.lower, span.upper);
        let n_terms = match walked.cut {
            true => ordinals.map(|ordinals| ordinals.len() as u64),
            false => Some(walked.expanded),
        };
        let terms = Box::new(Terms { infos, walked, n_terms, span });
        Ok(Leaf { documents, postings: Postings::Terms(terms) })
    }

    /// From now on compares values with those of a column instead of uniting lists, where the field has one and the
    /// leaf would unite.
    pub(crate) fn go_by_column(
        &mut self,
        expansion: &Expansion,
        field: FieldReader<'s>,
    ) -> Result<()> {
        let Postings::Terms(_) = self.postings else { return Ok(()) };
        let Some(values) = self.values(expansion, field)? else { return Ok(()) };
        if let Postings::Terms(terms) = std::mem::replace(&mut self.postings, Postings::Absent) {
            self.postings =
                Postings::Column(Box::new(ColumnValues { terms: Some(terms), ..values }));
        }
        Ok(())
    }

    /// The terms of a range as values of the column of their field, where it has one.
    pub(crate) fn values(
        &self,
        expansion: &Expansion,
        field: FieldReader<'s>,
    ) -> Result<Option<ColumnValues<'s>>> {
        let values = |column, codes| ColumnValues { column, codes, terms: None };
        if let Postings::Column(own) = &self.postings {
            return Ok(Some(values(own.column, own.codes.clone())));
        }
        let (Postings::Terms(_), Some(column)) = (&self.postings, field.column()?) else {
            return Ok(None);
        };
        let dictionary = field.terms()?;
        let Some(ordinals) = expansion.ordinals(&dictionary)?.filter(|terms| !terms.is_empty())
        else {
            return Ok(None);
        };
        let mut term = vec![];
        let mut code = |ordinal: u32| -> Result<Option<u64>> {
            if !field.has_codes() {
                return Ok(Some(ordinal.into()));
            }
            dictionary.term(TermOrdinal(ordinal), &mut term)?;
            Ok(code_of_term(&term))
        };
        let codes = code(ordinals.start)?.zip(code(ordinals.end - 1)?);
        Ok(codes.map(|(first, last)| values(column, Codes::Range(first..=last))))
    }

    /// The terms of a pattern, where there are several.
    pub(crate) fn terms(&self) -> Option<&Terms> {
        match &self.postings {
            Postings::Terms(terms) => Some(terms),
            Postings::Column(values) => values.terms.as_deref(),
            _ => None,
        }
    }

    /// Number of terms that it reads, as far as planning has found them.
    pub(crate) fn n_terms(&self) -> u64 {
        match (self.terms(), &self.postings) {
            (Some(terms), _) => terms.n_terms.unwrap_or(terms.walked.expanded),
            (None, Postings::Column(values)) => match &values.codes {
                Codes::Some(codes) => codes.len() as u64,
                Codes::Range(_) => 1,
            },
            (None, Postings::Absent) => 0,
            (None, _) => 1,
        }
    }

    /// Bounds in the whole segment.
    #[inline]
    pub(crate) fn whole(&self) -> Span {
        match (&self.postings, self.terms()) {
            (_, Some(terms)) => terms.span,
            // The operator knows more of them.
            (Postings::Neighbors, _) => Span { lower: 0, ..Span::exact(self.documents) },
            (Postings::Points(scan), _) => scan.span,
            _ => Span::exact(self.documents),
        }
    }

    /// Source of the bounds, for the terms of a pattern or an area.
    pub(crate) fn source(&self) -> EstimateSource {
        if let Postings::Points(scan) = &self.postings {
            return scan.source;
        }
        match self.terms() {
            Some(terms) if terms.span.lower == terms.span.upper => EstimateSource::Frequencies,
            Some(terms) if terms.walked.cut => EstimateSource::FirstTerms,
            Some(_) => EstimateSource::Terms,
            None => EstimateSource::DocumentFrequency,
        }
    }

    /// Reads the header of a long list, so that its windows can be told apart.
    pub(crate) fn read_header(&mut self, field: FieldReader<'s>) -> Result<()> {
        match &self.postings {
            Postings::LongUnread(info) => {
                if let PostingsAt::Section { offset, len, .. } = info.postings {
                    self.postings = Postings::Long(field.long_postings(info, offset, len)?);
                }
            }
            Postings::PresenceUnread => self.postings = Postings::Long(field.presence()?),
            _ => {}
        }
        Ok(())
    }

    /// Bounds in window `key`, which holds `w` of the segment's `n_docs` documents; `at` is the place of the cursor,
    /// which only moves forward.
    pub(crate) fn span(&self, at: &mut usize, key: u32, w: u32, n_docs: u32) -> Span {
        match &self.postings {
            Postings::Absent => Span::NOTHING,
            Postings::Everything => Span::exact(w),
            Postings::Inline(docs) => {
                Span::exact(docs.as_slice().iter().filter(|doc| **doc >> 16 == key).count() as u32)
            }
            Postings::Long(list) => {
                *at = seek(list, *at, key);
                if *at < list.n_containers() && u32::from(list.key(*at)) == key {
                    Span::exact(list.container_cardinality(*at).min(w))
                } else {
                    Span::NOTHING
                }
            }
            Postings::Short(_)
            | Postings::LongUnread(_)
            | Postings::PresenceUnread
            | Postings::Terms(_)
            | Postings::Neighbors
            | Postings::Column(_)
            | Postings::Points(_) => {
                let Span { lower, upper, documents } = self.whole();
                let share = f64::from(w) / f64::from(n_docs.max(1));
                // Documents that the other windows cannot hold must be here.
                let lower = lower.saturating_sub(n_docs - w);
                Span { lower, upper: upper.min(w), documents: documents * share }
            }
        }
    }
}

/// The first container of `list` whose key is at least `key`, where all before `from` are smaller.
///
/// Near ones are found by walking, because lists are mostly visited in order.
#[inline]
pub(crate) fn seek(list: &LongList<'_, Section<'_>>, from: usize, key: u32) -> usize {
    let n = list.n_containers();
    for at in from..n.min(from + 4) {
        if u32::from(list.key(at)) >= key {
            return at;
        }
    }
    match u16::try_from(key) {
        Ok(key) if from + 4 < n => list.seek(key),
        _ => n,
    }
}
