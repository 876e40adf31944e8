//! Findings about the hits of a page: how they are counted, scored, sorted and placed.

use super::look::{Look, own_ns, sum};
use super::patterns::walking_ns;
use super::{Finding, Severity};
use crate::explain::ExplainOperator::{Count, Expand, Limit, Sort, TopK};
use crate::explain::tree::Branch;
use crate::explain::{Decision, ExplainNode, ExplainPage};
use crate::plural::{grouped, number_of};

/// Fewer documents are counted, scored, or their values looked at, within some hundred microseconds.
const DOCUMENTS_MANY: u64 = 10_000;
/// Up to here a page costs about what the first one costs.
const OFFSET_DEEP: u64 = 1_000;
/// Fewer positions are compared within some hundred microseconds.
const POSITIONS_MANY: u64 = 20_000;
/// Candidates for each document with the phrase, up to which no other strategy places words in fewer.
const CANDIDATES_FOR_ONE: u64 = 10;

pub(super) fn look_at(look: &mut Look<'_>) {
    let root = &look.tree.plan;
    if let Some(page) = &look.tree.page {
        deep(look, root, page);
        counting(look, root, page);
    }
    scored(look, root);
    sorted(look, root);
    root.iter().for_each(|node| phrase(look, node));
}

fn deep(look: &mut Look<'_>, root: &ExplainNode, page: &ExplainPage) {
    let how = match root.operator {
        TopK => "by its score and number",
        Sort => "by its values and number",
        _ => return,
    };
    let is_behind_all = root.actual.as_ref().is_some_and(|actual| actual.documents == 0);
    if page.offset < OFFSET_DEEP || page.limit == 0 || is_behind_all {
        return;
    }
    let all = page.offset.saturating_add(page.limit);
    let message =
        format!("the first {} are found to show {} of them", grouped(all), grouped(page.limit));
    let remedy = format!("go on after the last hit of the page before, {how} (--after)");
    let finding = Finding::new("deep page", Severity::Hint, message).of_node(root);
    look.add(own_ns(root), finding.remedy(remedy));
}

/// Matches that are counted although only some are wanted.
fn counting(look: &mut Look<'_>, root: &ExplainNode, page: &ExplainPage) {
    let is_spared = match root.operator {
        // Facets need all matches.
        _ if !look.tree.facets.is_empty() || page.total != "exact" || page.limit == 0 => false,
        TopK => {
            let scores_all = root.algorithm.starts_with("BM25 of every match");
            !scores_all && root.children.iter().any(|child| child.operator == Count)
        }
        Limit => true,
        _ => false,
    };
    let [matching] = &root.children[..] else { return };
    let ns = Look::ns_below(matching);
    let Some(actual) = &matching.actual else { return };
    // A pattern looks for its terms, also where nothing is counted.
    let counting_ns = ns.saturating_sub(sum(matching.iter().map(walking_ns)));
    // A number that the dictionary knows costs nothing.
    let is_read = matching.iter().filter_map(Branch::own).any(|(_, bytes_read)| bytes_read > 0);
    if !is_spared || actual.documents < DOCUMENTS_MANY || !look.is_most(counting_ns) || !is_read {
        return;
    }
    let (documents, limit) = (number_of(actual.documents, "document"), page.limit);
    let what = format!("counting {documents}, of which {limit} are wanted");
    // Terms of a pattern are found as a whole, however far it is then counted.
    let of_patterns = sum(matching.iter().filter(|node| node.operator == Expand).map(own_ns));
    let remedy = match of_patterns > ns / 2 {
        true => "no total (--total none)",
        false => "no total, or one that is counted up to a number (--total none, --total 1000)",
    };
    let message = look.went_into(ns, &what);
    let finding = Finding::new("counting all matches", look.severity(ns), message);
    look.add(ns, finding.of_node(matching).remedy(remedy));
}

/// Matches that were scored one by one, as no bounds could be used, or twice.
fn scored(look: &mut Look<'_>, root: &ExplainNode) {
    let ranking = root.actual.as_ref().and_then(|actual| actual.ranking.as_ref());
    let Some(ranking) = ranking else { return };
    let ns = own_ns(root);
    if let Some(decision) = without_bounds(root)
        && ranking.documents_scored >= DOCUMENTS_MANY
        && look.matters(ns)
    {
        let scored = number_of(ranking.documents_scored, "document");
        let message = format!("{scored} were scored, one by one: {}", decision.reason);
        let other = decision.alternative.as_ref();
        let remedy = other.map(|other| format!("if it can be had otherwise, {}", other.name));
        let finding = Finding::new("everything is scored", look.severity(ns), message);
        look.add(ns, Finding { remedy, ..finding }.of_node(root));
    }
    if ranking.searched_twice {
        let message = "the best were searched for twice, as too many of the first documents looked at are deleted";
        let finding = Finding::new("searched twice", Severity::Hint, message).of_node(root);
        look.add(ns, finding.remedy("merge the index"));
    }
}

fn without_bounds(node: &ExplainNode) -> Option<&Decision> {
    node.decisions.iter().find(|it| it.rule == "top-k by bounds" && !it.accepted)
}

/// An order in which every match was looked at.
fn sorted(look: &mut Look<'_>, root: &ExplainNode) {
    let Some(actual) = root.actual.as_ref().filter(|_| root.operator == Sort) else { return };
    let ns = own_ns(root);
    if let Some(counts) = actual.sort.filter(|counts| counts.documents >= DOCUMENTS_MANY)
        && root.algorithm.contains(" of every match")
        && look.matters(ns)
    {
        let what = number_of(counts.documents, "document");
        let message = format!("{what} were compared: {}", root.algorithm);
        // A random order, or that of a language, has none in any case.
        let field =
            "a field that holds the value of the function: blocks of its column have bounds";
        let remedy = root.algorithm.starts_with("function").then(|| field.to_owned());
        let finding = Finding::new("everything is sorted", look.severity(ns), message);
        look.add(ns, Finding { rebuild: remedy.is_some(), remedy, ..finding }.of_node(root));
    }
    if let Some(counts) =
        actual.streamed.filter(|counts| counts.given_up > 0 && counts.documents >= DOCUMENTS_MANY)
    {
        let documents = number_of(counts.documents, "document");
        let segments = number_of(counts.given_up, "segment");
        let message = format!(
            "{documents} were read in the order of the field before that was given up in {segments}: what matches is too far from the first"
        );
        look.add(ns, Finding::new("order given up", Severity::Note, message).of_node(root));
    }
}

/// A phrase of words that are often in one document and seldom side by side.
fn phrase(look: &mut Look<'_>, node: &ExplainNode) {
    let Some(actual) = &node.actual else { return };
    let Some(counts) = actual.positions else { return };
    let ns = own_ns(node);
    let found = match node.operator {
        TopK => actual.documents_in.unwrap_or(actual.documents),
        _ => actual.documents,
    };
    if counts.positions < POSITIONS_MANY
        || counts.candidates / CANDIDATES_FOR_ONE < found
        || !look.is_most(ns)
    {
        return;
    }
    let positions = number_of(counts.positions, "position");
    let (documents, found) = (number_of(counts.candidates, "document"), grouped(found));
    let what = format!("comparing {positions} of {documents}, of which {found} have the phrase");
    let remedy = match without_bounds(node).and_then(|decision| decision.alternative.as_ref()) {
        Some(other) => &*other.name,
        None => "a condition that leaves fewer documents: it is looked at before positions are",
    };
    let message = look.went_into(ns, &what);
    let finding = Finding::new("frequent words in a phrase", look.severity(ns), message);
    look.add(ns, finding.of_node(node).remedy(remedy));
}
