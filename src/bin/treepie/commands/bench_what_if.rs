//! `treepie bench --what-if`: times of queries as planned, beside the best of all alternatives.

use std::{io, io::Write, time::Duration};

use serde_json::{Value, json};
use treepie::{
    Error, Searcher,
    explain::{Decision, ExplainTree},
};

use super::bench::{BenchCommand, Unanswered};
use crate::{
    args::Global,
    failure::{Exit, Outcome, is_about_the_query, warn},
    output::{Output, ReportFormat, duration, plural},
    terminal,
};

/// Factor over the best time up to which an alternative is good enough.
const FACTOR: f64 = 1.25;
const NS: u64 = 5_000;
/// Queries that lost most, which the summary names.
const WORST: usize = 10;

/// One command with one query: what it took as planned, and in the best way.
struct Case {
    command: BenchCommand,
    query: String,
    chosen_ns: u64,
    /// The best of the other ways.
    other: Option<Other>,
    /// All decisions that were taken otherwise, and those of them that were better so.
    n_ways: u64,
    n_wrong: u64,
}

/// A way that was not taken.
struct Other {
    ns: u64,
    /// The decision against it, and what it is.
    rule: String,
    name: String,
}

impl Case {
    /// Measurement of a query, which asks for no facets; `None` if nothing could be decided otherwise.
    fn of(command: BenchCommand, query: &str, tree: &ExplainTree) -> Option<Case> {
        let decisions = tree.plan.iter().flat_map(|node| &node.decisions);
        let mut case = Case {
            command,
            query: query.to_owned(),
            chosen_ns: 0,
            other: None,
            n_ways: 0,
            n_wrong: 0,
        };
        for decision in decisions {
            let Some(chosen_ns) = decision.measured_ns else { continue };
            case.chosen_ns = chosen_ns;
            case.n_wrong += u64::from(decision.confirmed() == Some(false));
            case.add(decision);
        }
        (case.n_ways > 0).then_some(case)
    }

    fn add(&mut self, decision: &Decision) {
        for other in decision.alternative.iter().chain(&decision.others) {
            let Some(ns) = other.measured_ns else { continue };
            self.n_ways += 1;
            if self.other.as_ref().is_none_or(|best| ns < best.ns) {
                let (rule, name) = (decision.rule.clone(), other.name.clone());
                self.other = Some(Other { ns, rule, name });
            }
        }
    }

    fn best_ns(&self) -> u64 {
        self.other.as_ref().map_or(self.chosen_ns, |other| other.ns.min(self.chosen_ns))
    }

    fn lost_ns(&self) -> u64 {
        self.chosen_ns - self.best_ns()
    }

    fn ratio(&self) -> f64 {
        self.chosen_ns as f64 / self.best_ns().max(1) as f64
    }

    fn is_good_enough(&self) -> bool {
        self.ratio() <= FACTOR || self.lost_ns() <= NS
    }

    fn to_json(&self) -> Value {
        let best = self.other.as_ref().filter(|other| other.ns < self.chosen_ns);
        json!({
            "command": self.command.name(),
            "query": self.query,
            "us_chosen": us(self.chosen_ns),
            "us_best": us(self.best_ns()),
            "ratio": self.ratio(),
            "best": best.map(|other| json!({ "rule": other.rule, "name": other.name })),
            "ways": self.n_ways,
            "wrong": self.n_wrong,
        })
    }
}

/// Summary of the queries of one command.
struct Summary<'c> {
    cases: Vec<&'c Case>,
}

impl Summary<'_> {
    fn sum(&self, of: impl Fn(&Case) -> u64) -> u64 {
        self.cases.iter().map(|case| of(case)).sum()
    }

    fn ratio(&self) -> f64 {
        self.sum(|case| case.chosen_ns) as f64 / self.sum(Case::best_ns).max(1) as f64
    }

    fn share_good_enough(&self) -> f64 {
        let n = self.cases.iter().filter(|case| case.is_good_enough()).count();
        n as f64 / self.cases.len().max(1) as f64
    }

    /// Queries that lost most by the alternative that was chosen.
    fn worst(&self) -> Vec<&Case> {
        let mut worst: Vec<&Case> =
            self.cases.iter().copied().filter(|case| case.lost_ns() > 0).collect();
        worst.sort_by_key(|case| std::cmp::Reverse(case.lost_ns()));
        worst.truncate(WORST);
        worst
    }

    fn to_json(&self, command: Option<BenchCommand>) -> Value {
        json!({
            "summary": command.map_or("all", BenchCommand::name),
            "queries": self.cases.len(),
            "us_chosen": us(self.sum(|case| case.chosen_ns)),
            "us_best": us(self.sum(Case::best_ns)),
            "ratio": self.ratio(),
            "share_within": self.share_good_enough(),
            "worst": self.worst().iter().map(|case| case.to_json()).collect::<Vec<_>>(),
        })
    }

    fn print(&self, out: &mut Output, command: Option<BenchCommand>) -> io::Result<()> {
        let name = command.map_or("all", BenchCommand::name);
        let time = |ns| duration(Duration::from_nanos(ns));
        writeln!(
            out,
            "{}: {} took {}, {:.3} × the {} of always choosing best; {:.1} % within {FACTOR} × or {}",
            out.strong(name),
            plural(self.cases.len(), "query"),
            time(self.sum(|case| case.chosen_ns)),
            self.ratio(),
            time(self.sum(Case::best_ns)),
            100.0 * self.share_good_enough(),
            time(NS),
        )?;
        for case in self.worst() {
            let Some(other) = &case.other else { continue };
            writeln!(
                out,
                "  {:>9} instead of {:>9}  {}  {}",
                time(case.chosen_ns),
                time(other.ns),
                terminal::printable(&case.query),
                out.dim(&format!("{}, not '{}'", other.rule, other.name)),
            )?;
        }
        Ok(())
    }
}

pub(super) fn run(
    searcher: &Searcher,
    commands: &[BenchCommand],
    queries: &[String],
    format: ReportFormat,
    global: Global,
) -> Outcome {
    let (mut cases, mut unanswered, mut n_one_way) = (vec![], Unanswered::default(), 0);
    let mut out = Output::new(global.color);
    let is_json = format == ReportFormat::Json;
    for command in commands {
        for query in queries {
            let line = match measured(*command, searcher, query) {
                Ok(Some(case)) => {
                    let line = case.to_json();
                    cases.push(case);
                    line
                }
                Ok(None) => {
                    n_one_way += 1;
                    json!({ "command": command.name(), "query": query, "ways": 0 })
                }
                Err(error) if is_about_the_query(&error) => {
                    unanswered.add(query, &error);
                    let error = error.to_string();
                    json!({ "command": command.name(), "query": query, "error": error })
                }
                Err(error) => return Err(error.into()),
            };
            if is_json {
                out.json_line(&line)?;
            }
        }
    }
    print_summaries(commands, &cases, is_json, &mut out)?;
    out.flush()?;
    if global.quiet {
        return Ok(Exit::Done);
    }
    // In JSON each query has a line that says so.
    if !is_json {
        unanswered.tell_first();
        if n_one_way > 0 {
            warn(format!(
                "{} can be answered in one way only, and not counted",
                plural(n_one_way, "query")
            ));
        }
    }
    unanswered.tell_number(commands.len() * queries.len());
    Ok(Exit::Done)
}

/// A summary for each command of which anything was measured, and one for all of several.
fn print_summaries(
    commands: &[BenchCommand],
    cases: &[Case],
    is_json: bool,
    out: &mut Output,
) -> io::Result<()> {
    let mut summaries: Vec<(Option<BenchCommand>, Summary<'_>)> = vec![];
    for command in commands {
        let cases = cases.iter().filter(|case| case.command == *command).collect();
        summaries.push((Some(*command), Summary { cases }));
    }
    if commands.len() > 1 {
        summaries.push((None, Summary { cases: cases.iter().collect() }));
    }
    for (command, summary) in summaries.iter().filter(|(_, summary)| !summary.cases.is_empty()) {
        match is_json {
            true => out.json_line(&summary.to_json(*command))?,
            false => summary.print(out, *command)?,
        }
    }
    Ok(())
}

fn measured(command: BenchCommand, searcher: &Searcher, text: &str) -> Result<Option<Case>, Error> {
    let query = searcher.parse(text)?;
    let tree = command.search(searcher, &query).explainer().what_if()?;
    Ok(Case::of(command, text, &tree))
}

fn us(ns: u64) -> f64 {
    ns as f64 / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use treepie::explain::ExplainNode;

    /// A tree with one decision, of which both ways took so long.
    fn tree(chosen_ns: u64, other_ns: u64) -> ExplainTree {
        let mut decision = Decision::accepted("smallest first", "").instead_of("largest", None);
        decision.measured_ns = Some(chosen_ns);
        if let Some(other) = &mut decision.alternative {
            other.measured_ns = Some(other_ns);
        }
        let mut root = ExplainNode::new("Intersect", "a b");
        root.decisions = vec![decision, Decision::accepted("not measured", "")];
        ExplainTree::new("a b", root)
    }

    #[test]
    fn what_was_lost_is_summed_up_and_small_losses_are_good_enough() {
        let case = |chosen, other| Case::of(BenchCommand::Count, "a b", &tree(chosen, other));
        let (right, wrong, small) =
            (case(10_000, 20_000), case(40_000, 20_000), case(4_000, 2_000));
        let cases = [right.unwrap(), wrong.unwrap(), small.unwrap()];
        assert_eq!(
            (cases[0].lost_ns(), cases[1].lost_ns(), cases[2].lost_ns()),
            (0, 20_000, 2_000)
        );
        assert!(cases[0].is_good_enough() && !cases[1].is_good_enough());
        assert!(cases[2].is_good_enough(), "2 µs");
        let summary = Summary { cases: cases.iter().collect() };
        assert_eq!(summary.ratio(), 54_000.0 / 32_000.0);
        assert_eq!(summary.worst().len(), 2);
        assert_eq!(summary.to_json(None)["worst"][0]["best"]["name"], "largest");
        assert!((summary.share_good_enough() - 2.0 / 3.0).abs() < 1e-9);

        let undecided = ExplainTree::new("a", ExplainNode::new("Term", "a"));
        assert!(Case::of(BenchCommand::Count, "a", &undecided).is_none());
    }
}
