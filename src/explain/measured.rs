//! Decisions beside measurements of the ways that were not taken.

use super::tree::{Alternative, Decision, Recall};
use super::units::{duration, joined};
use crate::nearest::Choice;
use crate::plan::forced::{Forced, Measured, MeasuredRecall};

/// Times that differ by no more say nothing: by this part of the shorter one, or by so little at all.
const PART_ALIKE: u64 = 10;
const NS_ALIKE: u64 = 200;

impl Decision {
    /// Returns the fastest way that was not taken, of those that were measured.
    pub fn fastest_other(&self) -> Option<&Alternative> {
        let others = self.alternative.iter().chain(&self.others);
        others.filter(|other| other.measured_ns.is_some()).min_by_key(|other| other.measured_ns)
    }

    /// Whether measuring confirms the decision. No alternative may take less time by a tenth and 200 ns. `None` where
    /// nothing was measured.
    ///
    /// ```
    /// use treepie::explain::{Alternative, Decision};
    ///
    /// let mut decision = Decision::accepted("smallest first", "…").instead_of("largest first", None);
    /// assert_eq!(decision.confirmed(), None);
    /// decision.measured_ns = Some(12_000);
    /// decision.alternative.as_mut().unwrap().measured_ns = Some(8_900);
    /// assert_eq!(decision.confirmed(), Some(false));
    /// ```
    pub fn confirmed(&self) -> Option<bool> {
        let (chosen, other) = (self.measured_ns?, self.fastest_other()?.measured_ns?);
        Some(chosen <= other.saturating_add((other / PART_ALIKE).max(NS_ALIKE)))
    }

    pub(super) fn measured_in_words(&self) -> Option<String> {
        let (chosen, other) = (self.measured_ns?, self.fastest_other()?);
        let other_ns = other.measured_ns?;
        let than = match self.alternative.as_ref().is_some_and(|it| it.name == other.name) {
            true => "the alternative".to_owned(),
            false => format!("'{}'", other.name),
        };
        let (time, by) = (duration(chosen), duration(chosen.abs_diff(other_ns)));
        Some(match self.confirmed()? {
            false => format!("measured {time}, {by} slower than {than}"),
            true if chosen < other_ns => format!("measured {time}, {by} faster than {than}"),
            true => format!("measured {time}, as fast as {than}"),
        })
    }

    /// Time and recall of each way, if these find neighbours.
    pub(super) fn recall_in_words(&self) -> Option<String> {
        let own = (&*self.rule, self.measured_ns, self.recall?);
        let others = self.alternative.iter().chain(&self.others);
        let others = others.filter_map(|it| Some((&*it.name, it.measured_ns, it.recall?)));
        let ways = std::iter::once(own).chain(others).map(|(name, ns, recall)| {
            let time = ns.map(|ns| format!(" in {}", duration(ns))).unwrap_or_default();
            format!("'{name}' {:.2}{time}", recall.part())
        });
        Some(format!("recall: {}", joined(ways, ", ")))
    }

    /// Puts down what finding neighbours took in each way, and how many of the nearest each found.
    pub(crate) fn put_ways(&mut self, measured: Option<&Measured>, nth: u32, choice: &Choice) {
        let Some(measured) = measured else { return };
        let recall = |way| measured.recall_of(nth, way).map(recall_of);
        self.recall = recall(None);
        for (way, _) in &choice.rejected {
            self.put_way(measured, Forced::Neighbors { nth, way: *way });
            let mut others = self.alternative.iter_mut().chain(&mut self.others);
            if let Some(other) = others.find(|other| other.name == way.name()) {
                other.recall = recall(Some(*way));
            }
        }
    }

    /// Puts down what the search took as it was decided, and each of these ways, the first of which is the named alternative.
    pub(crate) fn put_measured(&mut self, measured: Option<&Measured>, ways: &[Forced]) {
        let Some(measured) = measured else { return };
        if let (Some(ns), Some(named)) =
            (ways.first().and_then(|way| measured.of(*way)), &mut self.alternative)
        {
            self.measured_ns = Some(measured.chosen_ns);
            named.measured_ns = Some(ns);
        }
        ways.iter().skip(1).for_each(|way| self.put_way(measured, *way));
    }

    /// Puts the measured time of one way, by its name.
    pub(crate) fn put_way(&mut self, measured: &Measured, way: Forced) {
        let Some(ns) = measured.of(way) else { return };
        self.measured_ns = Some(measured.chosen_ns);
        match &mut self.alternative {
            Some(named) if named.name == way.name() => named.measured_ns = Some(ns),
            _ => match self.others.iter_mut().find(|other| other.name == way.name()) {
                Some(other) => other.measured_ns = Some(ns),
                None => self.others.push(Alternative {
                    name: way.name().to_owned(),
                    measured_ns: Some(ns),
                    ..Alternative::default()
                }),
            },
        }
        // Measured times come before those only reckoned with, and these before unknown ones.
        let last = |ns: Option<u64>| (ns.is_none(), ns);
        self.others.sort_by_key(|way| (last(way.measured_ns), last(way.estimated_cost_ns)));
    }
}

fn recall_of(measured: MeasuredRecall) -> Recall {
    let MeasuredRecall { nearest, recalled, .. } = measured;
    Recall { nearest, recalled }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::NodeId;
    use crate::plan::forced::InputOrder;

    #[test]
    fn measured_times_stand_beside_their_ways_and_say_who_was_right() {
        let largest_first = Forced::Order(NodeId(2), InputOrder::LargestFirst);
        let as_written = Forced::Order(NodeId(2), InputOrder::AsWritten);
        let decide = |chosen_ns, others: &[(Forced, u64)]| {
            let measured = Measured { chosen_ns, others: others.to_vec(), recalls: vec![] };
            let mut decision =
                Decision::accepted("smallest first", "").instead_of("largest first", Some(7));
            decision.put_measured(Some(&measured), &[largest_first, as_written]);
            decision
        };
        let right = decide(3_000, &[(largest_first, 9_000), (as_written, 5_000)]);
        assert_eq!(right.measured_ns, Some(3_000));
        assert_eq!(right.alternative.as_ref().unwrap().measured_ns, Some(9_000));
        assert_eq!(right.others[0].name, "in the order of the query");
        assert_eq!(right.others[0].measured_ns, Some(5_000));
        assert_eq!(right.confirmed(), Some(true));
        let words = right.measured_in_words().unwrap();
        assert_eq!(words, "measured 3.00 µs, 2.00 µs faster than 'in the order of the query'");

        let wrong = decide(12_000, &[(largest_first, 8_900)]);
        assert_eq!(wrong.confirmed(), Some(false));
        let words = wrong.measured_in_words().unwrap();
        assert_eq!(words, "measured 12.0 µs, 3.10 µs slower than the alternative");
        let json = |decision: &Decision| {
            let mut node = crate::explain::ExplainNode::new("Intersect", "");
            node.decisions = vec![decision.clone()];
            crate::explain::ExplainTree::new("", node).to_json()
        };
        assert!(json(&wrong).contains("\"confirmed\":false"), "{}", json(&wrong));
        assert!(json(&right).contains("\"confirmed\":true"), "{}", json(&right));

        let alike = decide(1_150, &[(largest_first, 1_000)]);
        assert_eq!(alike.confirmed(), Some(true));
        assert_eq!(
            alike.measured_in_words().unwrap(),
            "measured 1.15 µs, as fast as the alternative"
        );

        // Others stand by what was measured of them, whatever comes first.
        let count = Forced::ScoreAll;
        let others = vec![(as_written, 9_000), (count, 4_000)];
        let measured = Measured { chosen_ns: 1, others, recalls: vec![] };
        let mut decision = Decision::accepted("smallest first", "");
        let guess = |name: &str, estimated_cost_ns| Alternative {
            name: name.into(),
            estimated_cost_ns,
            ..Alternative::default()
        };
        decision.others =
            vec![guess("unknown", None), guess("dear", Some(9)), guess("cheap", Some(2))];
        decision.put_way(&measured, as_written);
        decision.put_way(&measured, count);
        let names: Vec<_> = decision.others.iter().map(|other| &*other.name).collect();
        assert_eq!(names, [count.name(), as_written.name(), "cheap", "dear", "unknown"]);

        // Times of other decisions say nothing of this one.
        let unknown = decide(3_000, &[(Forced::ScoreAll, 9_000)]);
        assert_eq!((unknown.measured_ns, unknown.confirmed()), (None, None));
    }
}
