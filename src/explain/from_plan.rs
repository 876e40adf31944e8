//! Conversion of a plan and its run to the tree that people and programs read.
//!
//! The only place that knows both sides. A new operator does not compile until it is explained,
//! and a plan costs no strings until it is.

mod facets;
mod page;

use super::tree::{PlanningTimes, nanoseconds};
use super::units::shortened;
use super::windows;
use super::{
    Actual, ContainerMap, Decision, Estimate, ExplainNode, ExplainOperator, ExplainSegment,
    ExplainTree, NodeSegment,
};
use crate::execution::FacetRun;
use crate::matching::{NodeProfile, Profile};
use crate::phrase;
use crate::plan::decision::{self, Rule};
use crate::plan::forced::Measured;
use crate::plan::leaf::Postings;
use crate::plan::{
    CountWay, LeafId, NodeId, Operator, Pair, Phase, PhaseTimes, Plan, SegmentPlan, cost, estimate,
};
use crate::plural::counted;
use crate::query::Query;
use crate::schema::Schema;
pub(crate) use page::PageRun;
use std::cell::Cell;
use std::time::Duration;

/// A part of the query longer than this is not repeated at every operator above it.
const PREDICATE_BYTES_MAX: usize = 1 << 10;
/// Labels are cut after this many characters.
const LABEL_CHARS_MAX: usize = 200;

/// Records of one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run<'r> {
    /// Profile of the matching operators; none if making the page found all that was wanted, so that they did not run.
    pub(crate) profile: Option<&'r Profile>,
    /// Profile of the operators that found sets, where there are any.
    pub(crate) of_sets: Option<&'r Profile>,
    pub(crate) page: PageRun<'r>,
    /// In the order of the plan's facets; those that it came to.
    pub(crate) facets: &'r [FacetRun],
    pub(crate) planning: PhaseTimes,
    /// Time of all, planning included, by one clock.
    pub(crate) took: Duration,
    /// Times of the search as planned and otherwise, where they were measured.
    pub(crate) measured: Option<&'r Measured>,
}

/// Explains `plan`, and with `run` also what happened. The caller adds the query's texts.
pub(crate) fn explain(plan: &Plan<'_>, schema: &Schema, run: Option<Run<'_>>) -> ExplainTree {
    let ids = plan.segments.iter().map(|part| part.segment.id().to_string()).collect();
    let windows_left = Cell::new(windows::WINDOWS_MAX);
    let explaining = Explaining { plan, schema, run, ids, windows_left };
    let mut root = explaining.node(plan.root()).0;
    if let (None, Some(run)) = (explaining.profile(), run) {
        // Making the page has counted what nothing else did.
        let counted = |documents| Actual { documents, complete: true, ..Actual::default() };
        root.actual = run.page.matching.map(counted);
    }
    let mut tree = ExplainTree::new("", explaining.page(root));
    let segments = plan.segments.iter().zip(&explaining.ids).map(|(part, id)| ExplainSegment {
        id: id.clone(),
        documents: u64::from(part.n_docs),
        deleted: u64::from(part.n_docs.saturating_sub(part.segment.n_live())),
        bytes: part.segment.file().len(),
    });
    tree.segments = segments.collect();
    let (runs, measured) = (run.map(|run| run.facets), run.and_then(|run| run.measured));
    tree.facets = facets::facets(&plan.facets, schema, runs, measured);
    if let Some(run) = run {
        let of = |phase| nanoseconds(run.planning[phase]);
        let planning = PlanningTimes {
            parse_ns: None,
            bind_ns: of(Phase::Bind),
            look_up_ns: of(Phase::LookUp),
            estimate_ns: of(Phase::Estimate),
            choose_ns: of(Phase::Choose),
        };
        tree.planning = Some(planning);
        tree.planning_ns = Some(nanoseconds(run.planning.planning()));
        tree.total_ns = Some(nanoseconds(run.took));
    }
    tree
}

struct Explaining<'e, 's> {
    plan: &'e Plan<'s>,
    schema: &'e Schema,
    run: Option<Run<'e>>,
    /// Ids of the segments, in hexadecimal.
    ids: Vec<String>,
    /// Windows that the maps of further leaves may have.
    windows_left: Cell<u64>,
}

impl Explaining<'_, '_> {
    /// An operator, and the part of the query that it answers.
    fn node(&self, id: NodeId) -> (ExplainNode, Query) {
        use ExplainOperator::*;
        let plan = self.plan;
        let node = plan.node(id);
        let (mut children, mut wanted, mut excluded) = (vec![], vec![], vec![]);
        for (input, is_wanted) in inputs_of(plan, id) {
            let (mut child, query) = self.node(input);
            if is_wanted {
                wanted.push(query);
            } else {
                child.label.insert_str(0, "NOT ");
                let is_asked = !matches!(plan.node(input).operator, Operator::Deleted(_));
                excluded.extend(is_asked.then_some(query));
            }
            children.push(child);
        }
        // Alone, without what else its documents have to match.
        let mut of_phrase = None;
        let (operator, query) = match &node.operator {
            Operator::All => (All, Query::All),
            Operator::Nothing { .. } => (Nothing, Query::Nothing),
            // Nobody asks for it, so it has no words in the query language.
            Operator::Deleted(_) => (Deleted, Query::Nothing),
            Operator::TermScan(leaf) => (TermScan, self.leaf_query(*leaf)),
            Operator::Exists(leaf) => (Exists, self.leaf_query(*leaf)),
            Operator::Expand(leaf) => (Expand, self.leaf_query(*leaf)),
            Operator::ColumnScan(leaf) => (ColumnScan, self.leaf_query(*leaf)),
            Operator::Intersect { all, none } => {
                let is_difference = all.len() < 2 && !none.is_empty();
                let query = match excluded.is_empty() {
                    true if wanted.is_empty() => Query::All,
                    true => Query::all_of(wanted),
                    false => Query::group(wanted, vec![], excluded),
                };
                (if is_difference { Difference } else { Intersect }, query)
            }
            Operator::AtLeast { minimum, .. } => {
                let (must, must_not, minimum) = (vec![], vec![], Some(*minimum));
                (AtLeast, Query::Group { must, should: wanted, must_not, minimum })
            }
            Operator::Phrase { nth, .. } => {
                let phrase = &plan.phrases[*nth as usize];
                let query = phrase.spec.to_query(&self.schema.get(phrase.field).name);
                of_phrase = Some(query.to_text());
                let query = match phrase.alone {
                    true => query,
                    false => Query::all_of(std::iter::once(query).chain(wanted)),
                };
                (Phrase, query)
            }
            Operator::Union { .. } => (Union, Query::any_of(wanted)),
        };
        let combines = matches!(operator, Intersect | Difference | Phrase | Union);
        let operator = if combines && node.estimate.is_empty() { Nothing } else { operator };
        let text = query.to_text();
        let short = text.len() <= PREDICATE_BYTES_MAX;
        let label = match &node.operator {
            Operator::All => format!("all {}", counted(plan.n_docs(), "document")),
            Operator::Nothing { reason } => reason.clone(),
            Operator::Deleted(_) => "deleted documents".into(),
            Operator::Intersect { .. } | Operator::Union { .. } if !short => {
                format!("{} inputs", children.len())
            }
            _ => shortened(of_phrase.as_ref().unwrap_or(&text), LABEL_CHARS_MAX).into_owned(),
        };
        let mut explained = ExplainNode::new(operator, label);
        let field = match &node.operator {
            Operator::Phrase { nth, .. } => Some(plan.phrases[*nth as usize].field),
            operator => operator.leaf().and_then(|leaf| plan.leaf(leaf).0),
        };
        explained.field = field.map(|field| self.schema.get(field).name.clone());
        explained.predicate = short.then_some(text);
        explained.estimate = estimate(plan.display_estimate(id));
        if let Operator::Expand(leaf) = node.operator {
            let of_segments = plan.segments.iter().map(|part| part.leaves[leaf.index()].n_terms());
            explained.terms = Some(of_segments.sum());
        }
        if let [part] = &plan.segments[..] {
            // The sum says it all.
            explained.algorithm = self.algorithm(id, part);
            explained.actual = self.actual(0, id);
        } else {
            let parts = plan.segments.iter().zip(&self.ids).enumerate();
            let segments = parts.map(|(at, (part, name))| NodeSegment {
                id: name.clone(),
                algorithm: self.algorithm(id, part),
                estimate: estimate(part.display_estimate(id)),
                actual: self.actual(at, id),
            });
            let segments: Vec<_> = segments.collect();
            let mut algorithms: Vec<&str> = vec![];
            for name in segments.iter().map(|segment| &*segment.algorithm) {
                algorithms
                    .extend((!name.is_empty() && !algorithms.contains(&name)).then_some(name));
            }
            explained.algorithm = algorithms.join(", ");
            explained.actual = self.profile_of(id).map(|_| {
                let mut sum = Actual::default();
                segments.iter().flat_map(|part| &part.actual).for_each(|part| sum.add(part));
                sum
            });
            explained.segments = segments;
        }
        let runs = self.runs(id);
        let decisions =
            plan.decisions.iter().filter(|it| it.node == id && (runs || it.rule.is_of_lists()));
        explained.decisions = decisions.map(|decision| self.decision(decision)).collect();
        explained.windows = self.windows(id);
        explained.children = children;
        (explained, query)
    }

    /// Returns maps of the documents of a leaf, or of what was found.
    fn windows(&self, id: NodeId) -> Vec<ContainerMap> {
        let (plan, ids, has_run) = (self.plan, &self.ids, self.run.is_some());
        let leaf = plan.node(id).operator.leaf();
        let maps = leaf.map(|it| windows::of_leaf(plan, ids, it, has_run, &self.windows_left));
        match (maps.filter(|maps| !maps.is_empty()), self.profile()) {
            (None, Some(profile)) if id == plan.root() => windows::of_result(plan, ids, profile),
            (maps, _) => maps.unwrap_or_default(),
        }
    }

    fn leaf_query(&self, leaf: LeafId) -> Query {
        let (Some(field), term) = self.plan.leaf(leaf) else { return Query::Nothing };
        let field = self.schema.get(field);
        if let Some(expansion) = self.plan.expansion(leaf) {
            return Query::of_terms_in(field, expansion);
        }
        match term {
            None => Query::exists(&*field.name),
            Some(term) => Query::of_term(field, term),
        }
    }

    /// Returns the measurements of an operator in one segment.
    fn actual(&self, segment: usize, id: NodeId) -> Option<Actual> {
        self.profile_of(id).map(|profile| actual(profile.node(segment, id), self.plan.node(id)))
    }

    /// Whether an operator was carried out, or will be; others only say what matches.
    fn runs(&self, id: NodeId) -> bool {
        match self.run {
            _ if self.is_below_phrase(id) => false,
            Some(_) => self.profile_of(id).is_some(),
            None => id.index() < self.plan.n_of_sets() || self.runs_matching(),
        }
    }

    /// Whether the phrase at the root reads the lists of an operator by itself.
    fn is_below_phrase(&self, id: NodeId) -> bool {
        let is_of_set = id.index() < self.plan.n_of_sets();
        let is_below_root = !is_of_set && id != self.plan.root();
        is_below_root && self.runs_matching() && self.plan.counts_phrase()
    }

    /// Whether the page leaves the matching operators anything to do.
    fn runs_matching(&self) -> bool {
        self.plan.page.as_deref().is_none_or(|page| page.plan.runs_matching())
    }

    /// Returns the profile of an operator, where it was carried out.
    fn profile_of(&self, id: NodeId) -> Option<&Profile> {
        let is_of_set = id.index() < self.plan.n_of_sets();
        let run = self.run.filter(|_| !self.is_below_phrase(id));
        run.and_then(|run| if is_of_set { run.of_sets } else { run.profile })
    }

    /// Returns the profile of the matching operators, where they were carried out.
    fn profile(&self) -> Option<&Profile> {
        self.run.and_then(|run| run.profile)
    }

    /// Returns the algorithm of an operator in one segment.
    fn algorithm(&self, id: NodeId, part: &SegmentPlan<'_>) -> String {
        let runs = self.runs(id);
        let counts = runs && self.plan.counts(id);
        let known = part.estimate(id).known().is_some();
        let size = |id: &NodeId| part.estimate(*id).documents as f64;
        let windows = cost::windows(part.n_docs);
        match &self.plan.node(id).operator {
            Operator::All => "every document".into(),
            Operator::Nothing { .. } => String::new(),
            _ if part.estimate(id).is_empty() => "known to be empty".into(),
            Operator::TermScan(_) if counts && known => "document frequency".into(),
            _ if counts && known => "known from bounds".into(),
            _ if counts && part.less_deleted.is_some() => {
                "document frequencies less deleted documents".into()
            }
            Operator::TermScan(leaf)
            | Operator::Exists(leaf)
            | Operator::Expand(leaf)
            | Operator::ColumnScan(leaf)
            | Operator::Deleted(leaf) => {
                let takes_smallest = self.plan.smallest.is_some() && id == self.plan.root();
                postings(&part.leaves[leaf.index()].postings, takes_smallest)
            }
            Operator::Phrase { nth, .. } => {
                phrase::algorithm(&self.plan.phrases[*nth as usize].spec)
            }
            _ if self.is_below_phrase(id) => "its lists are read by the phrase".into(),
            _ if !runs => "its lists are read by the page".into(),
            Operator::Intersect { all, .. } => {
                let mut inputs = inputs_of(self.plan, id);
                match (inputs.next(), inputs.next()) {
                    _ if all.is_empty() => "complement".into(),
                    (Some((a, _)), Some((b, _))) => {
                        cost::kernel(size(&a), size(&b), windows).name().into()
                    }
                    _ => String::new(),
                }
            }
            Operator::Union { any } if counts => {
                match self.plan.inputs(any).iter().filter(|id| size(id) > 0.0).count() {
                    0 | 1 => "its only input".into(),
                    2 => "inclusion and exclusion".into(),
                    _ => "count while uniting".into(),
                }
            }
            Operator::Union { .. } => match part.count {
                CountWay::Pair(Pair { deleted: Some(_), .. }) => {
                    "count while uniting, without deleted documents".into()
                }
                _ => "largest container first".into(),
            },
            Operator::AtLeast { .. } => "count how many inputs hold each document".into(),
        }
    }

    fn decision(&self, decision: &decision::Decision) -> Decision {
        let leaf = |leaf: LeafId| self.leaf_query(leaf).to_text();
        let (name, reason, alternative) = match decision.rule {
            Rule::AbsentTerm(absent) => {
                ("prove empty", format!("no document has {}", leaf(absent)), "intersect the rest")
            }
            Rule::NeverMeet => {
                let why = "the bounds leave no document: inputs that are never in the same container, or exclude each other";
                ("prove empty", why.into(), "intersect them")
            }
            Rule::SmallestFirst { moved: true } => {
                ("smallest first", "the smallest input decides what the others are asked for; moved from the order of the query".into(), "largest first")
            }
            Rule::SmallestFirst { moved: false } => {
                ("smallest first", "the smallest input decides what the others are asked for; the query's order already".into(), "largest first")
            }
            Rule::Kernel { chosen } => {
                let reason = format!("{} suits most containers of the two smallest inputs", chosen.name());
                ("kernel", reason, chosen.alternative().name())
            }
            Rule::CountLastStep => ("count the last step", "only the number is wanted, so the last step writes nothing".into(), "write the result, then count it"),
            Rule::InclusionExclusion => ("inclusion and exclusion", "|A| + |B| - |A AND B|: both sizes are known".into(), "unite and count"),
            Rule::CountWhileUniting => ("count while uniting", "the last input is only compared with what the others left".into(), "write the union, then count it"),
            Rule::Complement => ("count the complement", "count what is excluded and subtract".into(), "write everything else, then count it"),
            Rule::CountIsKnown => ("count is known", "the dictionary, statistics and headers say it; no postings are read".into(), "read the postings"),
            Rule::EveryDocument(all) => ("every document has it", format!("every document has {}, so it is no condition", leaf(all)), "read it"),
            Rule::DropFromUnion(absent) => ("no document has it", format!("no document has {}, so it adds nothing", leaf(absent)), "unite with nothing"),
            Rule::UniteTerms { terms } => {
                let reason = format!("one pass over {} or so sets a bit for each document; nothing is planned for each of them", counted(terms, "term"));
                ("unite the terms", reason, "an operator for each term")
            }
            Rule::ByColumn { documents } => {
                let reason = format!("the values of the documents that all else leaves are compared, of {documents} or so; no posting list is read");
                ("compare by the column", reason, "unite the lists of its terms")
            }
            Rule::UniteLists { documents } => {
                let reason = format!("uniting the lists of its terms costs less than comparing the values of the documents that all else leaves, of {documents} or so");
                ("unite the lists", reason, "compare by the column")
            }
            Rule::LessDeleted { documents } => {
                let reason = format!("the dictionary says how many documents lie in the range, and the values of {documents} deleted ones say how many of them do not count");
                ("take deleted documents away", reason, "find the documents of the range, without deleted ones")
            }
            Rule::SmallestOfTerms { documents } => {
                let reason = format!("only the {documents} smallest documents are wanted, so each list is left at the first that is too large");
                ("smallest documents", reason, "unite the lists")
            }
            Rule::PositionsLast { is_beside_others } => {
                let other = match is_beside_others {
                    true => "place the words before other conditions",
                    false => "place the words in every document of the rarest one",
                };
                ("positions last", "only documents that every other condition leaves are opened for positions, one word after the other".into(), other)
            }
            Rule::StopAtPage { documents } => {
                let reason = format!("the page is full after {}; further windows are only counted, or not visited", counted(documents, "document"));
                ("stop at the page", reason, "collect every document")
            }
        };
        let mut explained = Decision::accepted(name, reason)
            .costing(decision.cost_ns.round() as u64)
            .instead_of(alternative, Some(decision.alternative_ns.round() as u64));
        explained.put_measured(self.measured(), &self.plan.otherwise(decision));
        explained
    }
}

/// Inputs of an operator in the order in which they are carried out, each with whether it is wanted rather than excluded.
pub(super) fn inputs_of(
    plan: &Plan<'_>,
    id: NodeId,
) -> impl Iterator<Item = (NodeId, bool)> + Clone {
    let (wanted, excluded) = match &plan.node(id).operator {
        Operator::Intersect { all, none } => (all, none),
        Operator::Phrase { input: any, .. }
        | Operator::Union { any }
        | Operator::AtLeast { any, .. } => (any, &(0..0)),
        _ => (&(0..0), &(0..0)),
    };
    let wanted = plan.inputs(wanted).iter().map(|input| (*input, true));
    wanted.chain(plan.inputs(excluded).iter().map(|input| (*input, false)))
}

fn estimate(estimate: &estimate::Estimate) -> Estimate {
    let estimate::Estimate { documents, lower, upper, source } = *estimate;
    Estimate::between(documents, lower, upper, source.name())
}

fn actual(profile: &NodeProfile, node: &crate::plan::Node) -> Actual {
    let has_inputs = node.operator.leaf().is_none()
        && !matches!(node.operator, Operator::All | Operator::Nothing { .. });
    Actual {
        documents: profile.documents_out,
        documents_in: has_inputs.then_some(profile.documents_in),
        time_ns: profile.time_ns,
        bytes_read: profile.bytes_read,
        containers: profile.containers,
        terms: profile.terms,
        positions: matches!(node.operator, Operator::Phrase { .. }).then_some(profile.positions),
        complete: profile.complete,
        stopped: profile.stopped,
        ..Actual::default()
    }
}

fn postings(postings: &Postings<'_>, takes_smallest: bool) -> String {
    match postings {
        Postings::Absent => "absent".into(),
        Postings::Everything => "every document".into(),
        Postings::Inline(_) => "inline in the dictionary".into(),
        Postings::Short(_) => "short list".into(),
        Postings::Terms(terms) => {
            let n_terms = match terms.n_terms {
                Some(n_terms) => counted(n_terms, "term"),
                None => format!("{} or more terms", terms.walked.expanded),
            };
            match takes_smallest {
                true => format!("smallest documents of the lists of {n_terms}"),
                false => format!("lists of {n_terms} united in a bitmap"),
            }
        }
        Postings::Column(values) => {
            let kind = if values.column.plain().is_some() { "numbers" } else { "blocks" };
            format!("{kind} of the column compared")
        }
        Postings::Long(_) | Postings::LongUnread(_) | Postings::PresenceUnread => {
            "roaring containers".into()
        }
    }
}
