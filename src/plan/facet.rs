//! Plans of facets: how the values of a field are counted over what matches.

use super::adaptive::MatchBounds;
use super::cost::{self, FacetCosts, FacetSizes, TallyStrategy, TermSample};
use super::{Adaptive, CostModel, SegmentPlan};
use crate::budget;
use crate::error::Result;
use crate::expansion::TermFilter;
use crate::ids::FieldId;
use crate::named::named;

/// Divisor of the memory that is left, for the part that a facet by column may take.
const COLUMN_SHARE: u64 = 4;

/// Values of a field that are to be counted.
#[derive(Clone, Debug)]
pub(crate) struct ValuesWanted {
    /// Maximum number of values, the first in this order.
    pub(crate) limit: usize,
    pub(crate) order: FacetOrder,
    /// Documents that must match with a value; 0 where those of none are wanted, too.
    pub(crate) minimum: u64,
    /// Filter of the values that may come at all; `None` if all may.
    pub(crate) filter: Option<TermFilter>,
}

/// Order of the values of a facet; a limit keeps the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FacetOrder {
    /// Values with the most documents first; among equal counts the smaller value first.
    #[default]
    Count,
    /// By value: numbers and dates as such, texts by their bytes.
    Value,
    /// By value, the greatest first.
    ValueDescending,
}

/// Method by which the values of one field will be counted.
#[derive(Clone, Debug)]
pub(crate) struct FacetPlan {
    pub(crate) field: FieldId,
    pub(crate) values: ValuesWanted,
    /// Method for as many matches as are expected, with its cost.
    pub(crate) choice: FacetChoice,
    /// Methods for as many as there turn out to be: within another facet in each bucket.
    pub(crate) methods: Adaptive<FacetMethod>,
    /// Way to count codes of the column by that method.
    pub(crate) tally: Adaptive<TallyStrategy>,
    pub(crate) sizes: FacetSizes,
    wanted: Option<FacetMethod>,
    /// Terms of a dictionary that are walked over in the time that one is read by its number.
    walked_for_one: f32,
}

/// A way to count, and the best of the others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FacetChoice {
    pub(crate) method: FacetMethod,
    pub(crate) cost_ns: f32,
    pub(crate) alternative: FacetMethod,
    pub(crate) alternative_ns: f32,
    /// The best of those that take next to no memory.
    pub(crate) by_lists: FacetMethod,
    /// Whether the caller wanted it so.
    pub(crate) is_wanted: bool,
    /// Deleted documents that are taken away from document frequencies, where these are counted by.
    pub(crate) n_deleted: u64,
}

impl FacetChoice {
    /// The first of these, which ascend by their costs, or the one that is wanted.
    fn among(
        mut ways: Vec<(FacetMethod, f32)>,
        wanted: Option<FacetMethod>,
        n_deleted: u64,
    ) -> Self {
        let is_by_lists = |method: &FacetMethod| {
            matches!(method, FacetMethod::MostFrequentFirst | FacetMethod::Dictionary)
        };
        let by_lists = ways.iter().map(|(method, _)| *method).find(is_by_lists);
        let by_lists = by_lists.unwrap_or(FacetMethod::Dictionary);
        let wanted = wanted.and_then(|wanted| ways.iter().position(|way| way.0 == wanted));
        let (method, cost_ns) = ways.remove(wanted.unwrap_or(0));
        let (alternative, alternative_ns) = ways.first().copied().unwrap_or((method, cost_ns));
        let is_wanted = wanted.is_some();
        FacetChoice { method, cost_ns, alternative, alternative_ns, by_lists, is_wanted, n_deleted }
    }
}

impl FacetPlan {
    /// Chooses how to count by how many documents match; `samples_of` so many are worth a look at some terms.
    pub(super) fn new(
        segments: &[SegmentPlan<'_>],
        field: FieldId,
        values: &ValuesWanted,
        wanted: Option<FacetMethod>,
        matches: &MatchBounds,
        samples_of: Option<f64>,
        costs: &CostModel,
    ) -> Result<Self> {
        let sizes = FacetSizes::of(segments, field, values.filter.as_ref())?;
        let tally = TallyStrategy::of_codes(sizes.column_codes.unwrap_or(0));
        let choice = FacetChoice::among(vec![(FacetMethod::Dictionary, 0.0)], None, 0);
        let methods = Adaptive::always(choice.method);
        let values = values.clone();
        let walked_for_one = costs.merge_term_ns / costs.enumerate_term_ns;
        let mut plan =
            FacetPlan { field, values, choice, methods, tally, sizes, wanted, walked_for_one };
        if let Some(counted) = samples_of {
            plan.sizes.sample = plan.sample_of_terms(segments, counted, costs)?;
        }
        let MatchBounds { lower, expected, upper, live, deleted } = *matches;
        let is_all = lower == live;
        plan.choice = plan.choose(expected as f64, is_all.then_some(deleted), costs);
        plan.methods = match is_all {
            true => Adaptive::always(plan.choice.method),
            false => Adaptive::among(&[lower, expected, upper], |n| {
                plan.choose(n as f64, None, costs).method
            }),
        };
        if upper >= live && !is_all {
            plan.methods.from(live, plan.choose(live as f64, Some(deleted), costs).method);
        }
        Ok(plan)
    }

    /// The method that takes next to no memory, in place of one for which there was too little; none where that one was asked for.
    pub(crate) fn with_less_memory(&self, method: FacetMethod) -> Option<FacetMethod> {
        let takes_memory = matches!(method, FacetMethod::DocumentFrequency | FacetMethod::Column);
        (takes_memory && self.wanted != Some(method)).then_some(self.choice.by_lists)
    }

    /// Whether a pattern is tested with so many terms that were met, rather than with all that it may mean.
    pub(crate) fn tests_of_met_pay(&self, n_met: u64, n_terms: u64) -> bool {
        n_met as f32 * self.walked_for_one <= n_terms as f32
    }

    /// The ways to count where so many documents match, with what they cost, the cheapest first.
    fn ways(
        &self,
        matches: f64,
        all_but: Option<u64>,
        model: &CostModel,
    ) -> Vec<(FacetMethod, f32)> {
        let by_value = self.values.order != FacetOrder::Count;
        let costs = FacetCosts::of(model, &self.sizes, self.values.limit, by_value, matches);
        let mut ways = vec![(FacetMethod::Dictionary, costs.dictionary_order)];
        // The first values are those that the dictionary begins or ends with, however frequent others are.
        if !by_value {
            ways.push((FacetMethod::MostFrequentFirst, costs.most_frequent_first));
        }
        // A fast method is no good if it takes the memory of all else; who asks for it gets the error.
        let is_wanted = |method| self.wanted == Some(method);
        let fits = |bytes: u64| bytes <= budget::left() / COLUMN_SHARE;
        let can_count = matches <= f64::from(u32::MAX) && fits(costs.column_bytes);
        if let Some(ns) = costs.column
            && (can_count || is_wanted(FacetMethod::Column))
        {
            ways.push((FacetMethod::Column, ns));
        }
        if let Some(deleted) = all_but.map(|deleted| deleted as f64)
            && let Some(ns) = self.sizes.taken_away_ns(model, deleted)
            && (fits(self.sizes.taken_away_bytes(deleted))
                || is_wanted(FacetMethod::DocumentFrequency))
        {
            ways.push((FacetMethod::DocumentFrequency, costs.listing + ns));
        }
        ways.sort_by(|a, b| a.1.total_cmp(&b.1));
        if all_but == Some(0) {
            // There is nothing that could cost less than to read what is to be shown.
            ways.retain(|way| way.0 != FacetMethod::DocumentFrequency);
            ways.insert(0, (FacetMethod::DocumentFrequency, costs.listing));
        }
        ways
    }

    /// The cheapest way, where so many documents match: all but so many deleted ones, if that is what matches.
    pub(super) fn choose(
        &self,
        matches: f64,
        all_but: Option<u64>,
        costs: &CostModel,
    ) -> FacetChoice {
        let ways = self.ways(matches, all_but, costs);
        FacetChoice::among(ways, self.wanted, all_but.unwrap_or(0))
    }

    /// Some terms of a field, where a column could count them, but for short ways, which the sample would make longer.
    fn sample_of_terms(
        &self,
        segments: &[SegmentPlan<'_>],
        matches: f64,
        costs: &CostModel,
    ) -> Result<Option<TermSample>> {
        let FacetPlan { sizes, values, .. } = self;
        let column_ns = |n_codes| sizes.column_ns(costs, n_codes, matches);
        let is_worth_it = sizes.n_terms >= TermSample::TERMS_MIN
            && values.order == FacetOrder::Count
            && sizes.column_codes.is_some_and(|n| column_ns(n) > cost::SAMPLE_FROM_NS);
        if !is_worth_it {
            return Ok(None);
        }
        let readers = segments.iter().map(|part| part.segment.field(self.field));
        let all =
            readers.map(|reader| Ok((reader.terms()?, reader))).collect::<Result<Vec<_>>>()?;
        let largest = all.into_iter().rev().max_by_key(|(terms, _)| terms.n_terms());
        let largest = largest.filter(|(terms, _)| terms.n_terms() > 0);
        let Some((terms, reader)) = largest else { return Ok(None) };
        let (n, step) = (u64::from(terms.n_terms()), TermSample::LEN as u64);
        let mut frequencies = [0.0; TermSample::LEN];
        // Counted as if the others had the terms of this one: a term that several segments have counts in each of them.
        let of_part = n as f32 / reader.statistics()?.n_docs_with_value.max(1) as f32;
        let of_all = of_part * sizes.n_with as f32 / sizes.n_terms.max(1) as f32;
        for (nth, frequency) in (0..).zip(&mut frequencies) {
            let ordinal = (n * nth / step) as u32;
            if let Some(info) = terms.infos(ordinal..ordinal.saturating_add(1)).next()? {
                *frequency = info.df as f32 * of_all;
            }
        }
        Ok(Some(TermSample::new(frequencies)))
    }
}

impl FacetSizes {
    /// Estimates a field in some segments, without a sample of its terms.
    pub(super) fn of(
        segments: &[SegmentPlan<'_>],
        field: FieldId,
        filter: Option<&TermFilter>,
    ) -> Result<Self> {
        let n_docs = segments.iter().map(|part| u64::from(part.n_docs)).sum::<u64>();
        let n_docs = u32::try_from(n_docs).unwrap_or(u32::MAX);
        let (mut sizes, mut codes) =
            (FacetSizes { n_docs, is_single: true, ..FacetSizes::default() }, None);
        for part in segments {
            let reader = part.segment.field(field);
            sizes.n_segments += 1;
            let terms = reader.terms()?;
            sizes.n_terms += u64::from(terms.n_terms());
            sizes.term_bytes += terms.bytes().keys;
            let n_walked = match filter {
                Some(filter) => filter.ordinals(&terms)?.len() as u64,
                None => terms.n_terms().into(),
            };
            sizes.n_walked += n_walked;
            sizes.n_wanted += match filter.is_some_and(TermFilter::has_patterns) {
                true => cost::meant_by_pattern(n_walked),
                false => n_walked,
            };
            let (statistics, of_schema) = (reader.statistics()?, part.segment.schema().get(field));
            let n_with = u64::from(statistics.n_docs_with_value);
            sizes.n_with += n_with;
            sizes.has_ordinals = of_schema.has_ordinals();
            // A text may have no term at all, so that another may have two.
            sizes.is_single &= statistics.n_tokens == n_with && !of_schema.kind.is_text();
            if let Some(column) = reader.column()? {
                sizes.n_values += column.n_values();
                sizes.n_docs_in_column += u64::from(column.n_docs());
                let by_block = if column.plain().is_some() { 0 } else { column.n_docs() };
                sizes.n_docs_by_block = sizes.n_docs_by_block.saturating_add(by_block);
                let of_part = column.range().unwrap_or((u64::MAX, 0));
                let (least, greatest): (u64, u64) = codes.unwrap_or((u64::MAX, 0));
                codes = Some((least.min(of_part.0), greatest.max(of_part.1)));
            }
        }
        sizes.column_codes = codes.map(|(least, greatest)| match sizes.has_ordinals {
            true => sizes.n_terms,
            false => greatest.saturating_sub(least).saturating_add(1),
        });
        Ok(sizes)
    }
}

/// A way to count the values of a field among the documents that match. All give the same counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FacetMethod {
    /// Every document matches, so that the document frequencies are the counts. If some are deleted and the field
    /// keeps a [column](crate::Field::column), their values there are subtracted. Not to be had if not all others
    /// match.
    DocumentFrequency,
    /// Posting lists of the most frequent values are intersected with the matches first. Others follow that may still
    /// be among the first. Not to be had where values come by [value](FacetOrder::Value).
    MostFrequentFirst,
    /// Posting lists of all values are intersected with the matches, by one dictionary pass.
    Dictionary,
    /// Each document that matches is looked up in the field's [column](crate::Field::column).
    Column,
}

impl FacetMethod {
    /// Whether lists are tested with the deleted documents, where all others match: with the fewer, unless only they are looked at.
    pub(crate) fn takes_deleted_away(self, n_deleted: u64, n_matches: u64) -> bool {
        self == FacetMethod::DocumentFrequency || n_deleted < n_matches
    }
}

named! {
    /// Name for people.
    pub(crate) FacetMethod {
        DocumentFrequency: "document frequencies",
        MostFrequentFirst: "term intersection, most frequent terms first",
        Dictionary: "term intersection in the order of the dictionary",
        Column: "column"
    }
}
