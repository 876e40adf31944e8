//! Conversion of a plan and its run to the tree that people and programs read.
//!
//! The only place that knows both sides. A new operator does not compile until it is explained,
//! and a plan costs no strings until it is.

mod facets;
mod page;
mod runs;
mod rules;

use super::tree::{PlanningTimes, nanoseconds, whole_ns};
use super::units::shortened;
use super::windows;
use super::{
    Actual, Alternative, ContainerMap, Decision, Estimate, ExplainFacet, ExplainNode,
    ExplainOperator, ExplainSegment, ExplainTree, NeighborsEstimate, NodeSegment,
};
use crate::error::Result;
use crate::execution::SearchPlan;
use crate::matching::{NodeProfile, Profile};
use crate::nearest::Choice;
use crate::phrase;
use crate::plan::decision;
use crate::plan::forced::Forced;
use crate::plan::leaf::Postings;
use crate::plan::{
    CountStrategy, CountWay, FacetOperator, FacetStrategy, Goal, LeafId, NodeId, Operator,
    PageDetails, Pair, Phase, Plan, SegmentPlan, cost, estimate,
};
use crate::plural::counted;
use crate::query::Query;
use crate::schema::Schema;
use facets::FacetAt;
pub(crate) use runs::Run;
use std::cell::Cell;
use std::time::Duration;

/// A part of the query longer than this is not repeated at every operator above it.
const PREDICATE_BYTES_MAX: usize = 1 << 10;
/// Labels are cut after this many characters.
const LABEL_CHARS_MAX: usize = 200;

/// Explains a plan, and with `run` also what happened. The caller adds the query's texts.
///
/// # Errors
///
/// [`Usage`](crate::error::ErrorKind::Usage) for a plan without operators that find what matches.
pub(crate) fn explain(
    search: &SearchPlan<'_>,
    schema: &Schema,
    run: Option<Run<'_>>,
) -> Result<ExplainTree> {
    let plan = search.matching.plan()?;
    let ids = plan.segments.iter().map(|part| part.segment.id().to_string()).collect();
    let windows_left = Cell::new(windows::WINDOWS_MAX);
    let branches = branches(search, schema, run)?;
    let explaining = Explaining { search, plan, schema, run, ids, branches, windows_left };
    let mut tree = ExplainTree::new("", explaining.root());
    let segments = plan.segments.iter().zip(&explaining.ids).map(|(part, id)| ExplainSegment {
        id: id.clone(),
        documents: u64::from(part.n_docs),
        deleted: u64::from(part.n_docs.saturating_sub(part.segment.n_live())),
        bytes: part.segment.file().len(),
    });
    tree.segments = segments.collect();
    let facets = plan.facets.iter().enumerate().map(|(nth, node)| {
        let run = run.and_then(|run| run.found.facet_runs.get(nth));
        explaining.facet(&FacetAt { node, run, around: None })
    });
    tree.facets = facets.collect();
    if let Some(measured) = run.and_then(|run| run.measured) {
        facets::put_measured(&mut tree.facets, measured);
    }
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
    Ok(tree)
}

/// Plans of the queries whose hits are fused.
fn branches(
    search: &SearchPlan<'_>,
    schema: &Schema,
    run: Option<Run<'_>>,
) -> Result<Vec<ExplainNode>> {
    let branches = search.branches.iter().enumerate();
    let tree = |(nth, branch): (usize, &SearchPlan<'_>)| {
        let run = match run.and_then(|run| run.found.branches.get(nth)) {
            Some(found) => Some(Run::of_branch(found, branch.matching.planned()?.profile())),
            None => None,
        };
        Ok(explain(branch, schema, run)?.plan)
    };
    branches.map(tree).collect()
}

struct Explaining<'e, 's> {
    search: &'e SearchPlan<'s>,
    /// Operators that find what matches.
    plan: &'e Plan<'s>,
    schema: &'e Schema,
    run: Option<Run<'e>>,
    /// Ids of the segments, in hexadecimal.
    ids: Vec<String>,
    /// Plans of the queries whose hits are fused.
    branches: Vec<ExplainNode>,
    /// Windows that the maps of further leaves may have.
    windows_left: Cell<u64>,
}

/// Operator of a plan, of whatever family.
enum Planned<'p> {
    /// With the parts of the query that its inputs answer: those that are wanted, and others.
    Matching(NodeId, Vec<Query>, Vec<Query>),
    Count,
    Page(&'p PageDetails),
    /// List from outside, with its keys and those whose documents are ranked.
    Outside(u64, u64),
    /// Similarity to a vector, of so many documents at the most; those that have one, and the time that it took.
    Similarity(&'p str, u64, Option<(u64, Duration)>),
    Facet(&'p FacetAt<'p>),
}

impl Explaining<'_, '_> {
    /// Matching operators, below those that make a page of what they find.
    fn root(&self) -> ExplainNode {
        let mut root = self.matching(self.plan.root()).0;
        if let (None, Some(run)) = (self.profile(), self.run) {
            // Making the page has counted what nothing else did.
            let counted = |documents| Actual { documents, complete: true, ..Actual::default() };
            root.actual = run.n_matching().map(counted);
        }
        let described = self.search.described.as_deref();
        let details = described.map_or(&PageDetails::DocOrder, |page| &page.details);
        let (is_counted, has_page) = match (details, self.plan.goal) {
            (PageDetails::DocOrder, Goal::Page { .. }) => (false, true),
            (PageDetails::DocOrder, _) => (!self.plan.sets.is_empty(), false),
            // A page that leaves some of what matches out makes counting work of its own.
            _ => (self.search.page.count == CountStrategy::AfterPage, true),
        };
        let page_node = has_page.then_some(Planned::Page(details));
        for planned in is_counted.then_some(Planned::Count).into_iter().chain(page_node) {
            root = self.node(planned, vec![root]).0;
        }
        if let PageDetails::Fuse(details) = details {
            self.put_branches(details, &mut root);
        }
        root.decisions.extend(described.and_then(|page| page.is_kept).map(page::cache_decision));
        let scores = (0..self.plan.n_score_sets()).map(|_| "for scores: ".to_owned());
        let unselected = self.plan.unselected.iter();
        let unselected = unselected.map(|it| format!("without selections of {it}: "));
        for (set, words) in self.plan.sets.iter().zip(scores.chain(unselected)) {
            let mut set = self.matching(*set).0;
            set.label.insert_str(0, &words);
            root.children.push(set);
        }
        root
    }

    /// A matching operator and all below it, and the part of the query that it answers.
    fn matching(&self, id: NodeId) -> (ExplainNode, Query) {
        let (mut inputs, mut wanted, mut excluded) = (vec![], vec![], vec![]);
        for (input, is_wanted) in inputs_of(self.plan, id) {
            let (mut child, query) = self.matching(input);
            if is_wanted {
                wanted.push(query);
            } else {
                child.label.insert_str(0, "NOT ");
                let is_asked = !matches!(self.plan.node(input).operator, Operator::Deleted(_));
                excluded.extend(is_asked.then_some(query));
            }
            inputs.push(child);
        }
        self.node(Planned::Matching(id, wanted, excluded), inputs)
    }

    /// Node of an operator over its inputs, and the part of the query that it answers, if any.
    fn node(&self, planned: Planned<'_>, children: Vec<ExplainNode>) -> (ExplainNode, Query) {
        let mut node = ExplainNode { children, ..ExplainNode::default() };
        let query = self.describe(planned, &mut node);
        (node, query)
    }

    /// A facet, and all within it.
    fn facet(&self, at: &FacetAt<'_>) -> ExplainFacet {
        let mut words = ExplainNode::default();
        self.describe(Planned::Facet(at), &mut words);
        let mut facet = ExplainFacet {
            operator: words.operator.to_string(),
            field: self.schema.get(at.node.field).name.to_string(),
            algorithm: words.algorithm,
            ranges: Some(words.label).filter(|label| !label.is_empty()),
            terms: at.node.values().map_or(0, |plan| plan.sizes.n_terms),
            decisions: words.decisions,
            ..ExplainFacet::default()
        };
        at.put_numbers(&mut facet);
        let within = at.node.within.iter().enumerate().map(|(nth, node)| {
            let run = at.run.and_then(|run| run.within.get(nth));
            self.facet(&FacetAt { node, run, around: Some((at.node, &facet.field)) })
        });
        facet.within = within.collect();
        facet
    }

    /// Puts in words what an operator is and does. Every operator of a plan is known here, and nowhere else.
    fn describe(&self, planned: Planned<'_>, node: &mut ExplainNode) -> Query {
        use ExplainOperator::*;
        match planned {
            Planned::Count => self.count(node),
            Planned::Page(PageDetails::DocOrder) => self.limit(node),
            Planned::Page(PageDetails::TopK(details)) => self.top_k(details, node),
            Planned::Page(PageDetails::Sort(details)) => self.sort(details, node),
            Planned::Page(PageDetails::Collapse(details)) => self.collapse(details, node),
            Planned::Page(PageDetails::Fuse(details)) => self.fuse(details, node),
            Planned::Outside(n_keys, n_ranked) => self.outside(n_keys, n_ranked, node),
            Planned::Similarity(text, window, actual) => {
                self.similarity((text, window), actual, node);
            }
            Planned::Facet(at) => match &at.node.operator {
                FacetOperator::Facet(FacetStrategy::Values(plan)) => at.values(plan, node),
                FacetOperator::Facet(FacetStrategy::Ranges(plan)) => at.ranges(plan, node),
                FacetOperator::Facet(FacetStrategy::Grid(plan)) => at.grid(plan, node),
                FacetOperator::Facet(FacetStrategy::Rings) => at.rings(node),
                FacetOperator::Statistics(strategy, spread) => {
                    at.statistics(*strategy, spread.as_ref(), node);
                }
                FacetOperator::TopHits(n, strategy) => at.top_hits(*n, *strategy, node),
            },
            Planned::Matching(id, wanted, excluded) => {
                let (operator, query) = match &self.plan.node(id).operator {
                    Operator::All => (All, Query::All),
                    Operator::Nothing { .. } => (Nothing, Query::Nothing),
                    // Nobody asks for it, so it has no words in the query language.
                    Operator::Deleted(_) => (Deleted, Query::Nothing),
                    Operator::TermScan(leaf) => (TermScan, self.leaf_query(*leaf)),
                    Operator::Exists(leaf) => (Exists, self.leaf_query(*leaf)),
                    Operator::Expand(leaf) => (Expand, self.leaf_query(*leaf)),
                    Operator::ColumnScan(leaf) => (ColumnScan, self.leaf_query(*leaf)),
                    Operator::GeoScan(leaf) => (GeoScan, self.leaf_query(*leaf)),
                    Operator::Nearest { leaf, .. } => (Nearest, self.leaf_query(*leaf)),
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
                    Operator::Phrase { nth, .. } => match self.phrase_query(*nth) {
                        (query, true) => (Phrase, query),
                        (query, false) => {
                            (Phrase, Query::all_of(std::iter::once(query).chain(wanted)))
                        }
                    },
                    Operator::Union { .. } => (Union, Query::any_of(wanted)),
                };
                node.operator = operator;
                self.put_matching(id, &query, node);
                return query;
            }
        }
        Query::Nothing
    }

    /// Puts in words and numbers what a matching operator does that answers this part of the query.
    fn put_matching(&self, id: NodeId, query: &Query, node: &mut ExplainNode) {
        use ExplainOperator::{Difference, Intersect, Nothing, Phrase, Union};
        let plan = self.plan;
        let operator = &plan.node(id).operator;
        let combines = matches!(node.operator, Intersect | Difference | Phrase | Union);
        if combines && plan.node(id).estimate.is_empty() {
            node.operator = Nothing;
        }
        let text = query.to_text();
        let short = text.len() <= PREDICATE_BYTES_MAX;
        node.label = match operator {
            Operator::All => format!("all {}", counted(plan.n_docs(), "document")),
            Operator::Nothing { reason } => reason.clone(),
            Operator::Deleted(_) => "deleted documents".into(),
            Operator::Intersect { .. } | Operator::Union { .. } if !short => {
                format!("{} inputs", node.children.len())
            }
            // Alone, without what else its documents have to match.
            Operator::Phrase { nth, .. } => {
                shortened(&self.phrase_query(*nth).0.to_text(), LABEL_CHARS_MAX).into_owned()
            }
            _ => shortened(&text, LABEL_CHARS_MAX).into_owned(),
        };
        let field = match operator {
            Operator::Phrase { nth, .. } => Some(plan.phrases[*nth as usize].field),
            operator => operator.leaf().and_then(|leaf| plan.leaf(leaf).0),
        };
        node.field = field.map(|field| self.schema.get(field).name.clone());
        node.predicate = short.then_some(text);
        node.estimate = estimate(plan.display_estimate(id));
        if let Operator::Expand(leaf) = operator {
            let of_segments = plan.segments.iter().map(|part| part.leaves[leaf.index()].n_terms());
            node.terms = Some(of_segments.sum());
        }
        self.put_segments(id, node);
        let runs = self.runs(id);
        let decisions =
            plan.decisions.iter().filter(|it| it.node == id && (runs || it.rule.is_of_lists()));
        node.decisions = decisions.map(|decision| self.decision(decision)).collect();
        if let Operator::Nearest { leaf, .. } = operator {
            node.decisions.extend(self.way_to_neighbors(*leaf));
            node.neighbors = self.expected_of_neighbors(*leaf);
        }
        node.windows = self.windows(id);
    }

    /// Puts what an operator does in each segment, and the sum.
    fn put_segments(&self, id: NodeId, node: &mut ExplainNode) {
        if let [part] = &self.plan.segments[..] {
            // The sum says it all.
            (node.algorithm, node.actual) = (self.algorithm(id, part), self.actual(0, id));
            return;
        }
        let parts = self.plan.segments.iter().zip(&self.ids).enumerate();
        let segments = parts.map(|(at, (part, name))| NodeSegment {
            id: name.clone(),
            algorithm: self.algorithm(id, part),
            estimate: estimate(part.display_estimate(id)),
            actual: self.actual(at, id),
        });
        node.segments = segments.collect();
        let mut algorithms: Vec<&str> = vec![];
        for name in node.segments.iter().map(|segment| &*segment.algorithm) {
            algorithms.extend((!name.is_empty() && !algorithms.contains(&name)).then_some(name));
        }
        node.algorithm = algorithms.join(", ");
        node.actual = self.profile_of(id).map(|_| {
            let mut sum = Actual::default();
            node.segments.iter().flat_map(|part| &part.actual).for_each(|part| sum.add(part));
            sum
        });
    }

    /// A phrase, and whether its operator asks for nothing else.
    fn phrase_query(&self, nth: u32) -> (Query, bool) {
        let phrase = &self.plan.phrases[nth as usize];
        (phrase.spec.to_query(&self.schema.get(phrase.field).name), phrase.alone)
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
        if let Some(neighbors) = self.plan.neighbors_of(leaf) {
            return neighbors.spec.to_query(self.schema);
        }
        if let Some(plan) = self.plan.area(leaf) {
            return Query::within_area(&*field.name, (*plan.area).clone());
        }
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
        self.search.page.runs_matching()
    }

    /// Returns the profile of an operator, where it was carried out.
    fn profile_of(&self, id: NodeId) -> Option<&Profile> {
        let is_of_set = id.index() < self.plan.n_of_sets();
        let run = self.run.filter(|_| !self.is_below_phrase(id));
        run.and_then(|run| if is_of_set { Some(run.matching) } else { run.profile() })
    }

    /// Returns the profile of the matching operators, where they were carried out.
    fn profile(&self) -> Option<&Profile> {
        self.run.and_then(|run| run.profile())
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
            | Operator::GeoScan(leaf)
            | Operator::Deleted(leaf) => {
                let takes_smallest = self.plan.smallest.is_some() && id == self.plan.root();
                postings(&part.leaves[leaf.index()].postings, takes_smallest)
            }
            Operator::Nearest { leaf, .. }
                if self.plan.neighbors_of(*leaf).is_some_and(|it| it.is_taken) =>
            {
                "taken from a branch".into()
            }
            Operator::Nearest { leaf, .. } => match self.plan.way_in(*leaf, part.base) {
                Some(choice) if !matches!(part.leaves[leaf.index()].postings, Postings::Absent) => {
                    choice.to_string()
                }
                _ => "absent".into(),
            },
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

    /// A decision of the planner on a matching operator.
    fn decision(&self, decision: &decision::Decision) -> Decision {
        let (name, other) = rules::named(decision.rule);
        let reason = rules::reason(decision.rule, |leaf| self.leaf_query(leaf).to_text());
        let ways = self.plan.otherwise(decision);
        self.chosen((name, reason), decision.cost_ns, (other, decision.alternative_ns), &ways)
    }

    /// The way to the nearest that takes longest, of those in the segments, and the others.
    fn way_to_neighbors(&self, leaf: LeafId) -> Option<Decision> {
        let choice = self.longest_way(leaf)?;
        let decision = Decision::accepted(choice.way.name(), choice.reason());
        let mut decision = decision.costing(whole_ns(choice.cost_ns));
        let mut others = choice.rejected.iter().map(|(way, ns)| (way.name(), Some(whole_ns(*ns))));
        if let Some((name, ns)) = others.next() {
            decision = decision.instead_of(name, ns);
        }
        let other = |(name, ns): (&str, _)| Alternative {
            name: name.into(),
            estimated_cost_ns: ns,
            ..Alternative::default()
        };
        decision.others = others.map(other).collect();
        if let Some(nth) = self.plan.place_of_neighbors(leaf) {
            decision.put_ways(self.run.and_then(|run| run.measured), nth, choice);
        }
        Some(decision)
    }

    /// Expectations of finding neighbours, in the segment where it takes longest.
    fn expected_of_neighbors(&self, leaf: LeafId) -> Option<NeighborsEstimate> {
        let choice = self.longest_way(leaf)?;
        Some(NeighborsEstimate {
            way: choice.way.name().to_owned(),
            ef: choice.ef.into(),
            recall: (f64::from(choice.recall) * 1e4).round() / 1e4,
            distances: choice.distances as u64,
        })
    }

    fn longest_way(&self, leaf: LeafId) -> Option<&Choice> {
        let ways = self.plan.ways(leaf).iter().filter(|it| !it.rejected.is_empty());
        ways.max_by(|a, b| a.cost_ns.total_cmp(&b.cost_ns))
    }

    /// A way that was taken and why, and another, with the costs of both; and what these and further `ways` took where that was
    /// measured.
    fn chosen(
        &self,
        (rule, reason): (&str, impl Into<String>),
        cost_ns: f32,
        (other, other_ns): (&str, f32),
        ways: &[Forced],
    ) -> Decision {
        let decision = Decision::accepted(rule, reason).costing(whole_ns(cost_ns));
        let mut decision = decision.instead_of(other, Some(whole_ns(other_ns)));
        decision.put_measured(self.run.and_then(|run| run.measured), ways);
        decision
    }
}

/// Inputs of an operator in the order in which they are carried out, each with whether it is wanted rather than excluded.
pub(super) fn inputs_of(
    plan: &Plan<'_>,
    id: NodeId,
) -> impl Iterator<Item = (NodeId, bool)> + Clone {
    let (wanted, excluded) = match &plan.node(id).operator {
        Operator::Intersect { all, none } => (all, none),
        // A filter of several is shown, and its time told, once.
        Operator::Nearest { input, .. } if plan.shows_filter(id) => (input, &(0..0)),
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
        vectors: profile.vectors,
        geo: profile.geo,
        positions: matches!(node.operator, Operator::Phrase { .. }).then_some(profile.positions),
        complete: profile.complete,
        stopped: profile.stopped,
        ..Actual::default()
    }
}

fn postings(postings: &Postings<'_>, takes_smallest: bool) -> String {
    match postings {
        Postings::Absent | Postings::Neighbors => "absent".into(),
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
        Postings::Points(scan) => match scan.by_pages() {
            Some(_) => "pages of points".into(),
            None => "points of the documents compared".into(),
        },
        Postings::Long(_) | Postings::LongUnread(_) | Postings::PresenceUnread => {
            "roaring containers".into()
        }
    }
}
