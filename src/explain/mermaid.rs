//! [`ExplainTree`] → a flowchart of Mermaid, which many places that show Markdown draw.
//!
//! Mermaid reads its source with regular expressions before it parses it: directives, styles and entities are found inside
//! of strings, too. So in texts only letters, digits and what is harmless stay as they are, and all else becomes an entity.

use super::ExplainTree;
use super::caption::{Drawn, edge_width, label, not_taken};
use super::units::joined;
use crate::plural::{grouped, number_of};
use std::fmt::Write;

/// Mermaid refuses longer texts, and charts of more edges, unless the page that draws them allows more
/// (`maxTextSize` and `maxEdges` of its configuration).
const TEXT_BYTES_MAX: usize = 50_000;
const EDGES_MAX: usize = 500;
/// Room until which operators are added, then facets, then what was not chosen; the rest is for what is said of all
/// that was left out.
const FOR_OPERATORS: Room = Room { bytes: 36_000, edges: 380 };
const FOR_FACETS: Room = Room { bytes: 42_000, edges: 440 };
const FOR_OTHERS: Room = Room { bytes: TEXT_BYTES_MAX - 1_000, edges: EDGES_MAX - 10 };
/// Bytes of a line of a box once it is escaped.
const LINE_BYTES_MAX: usize = 120;

impl ExplainTree {
    /// Draws the tree as a flowchart of [Mermaid](https://mermaid.js.org), the root on top. Edges are as wide as the
    /// power of ten of their documents, borders as the share of the time; alternatives that were not chosen are dashed.
    ///
    /// Mermaid draws texts of up to 50,000 characters and 500 edges. Nodes that do not fit are counted and left out,
    /// those furthest from the root first; [`to_dot`](Self::to_dot) has them all.
    pub fn to_mermaid(&self) -> String {
        let mut chart = Chart::default();
        chart.out.push_str("flowchart BT\n");
        let nodes = chart.boxes(self.drawn_nodes(), FOR_OPERATORS, 1);
        // Level by level, what stands above what matches comes first.
        let from = self.above_matches().count().min(nodes.len() - 1);
        let facets = chart.boxes(self.drawn_facets(from), FOR_FACETS, 0);
        if !facets.is_empty() {
            let names = joined(facets.iter().map(|facet| &*facet.name), "\n  ");
            chart.line(&format!("subgraph facets\n  {names}\n  end"));
        }
        let mut others_left_out = 0;
        for Drawn { name, decisions, .. } in nodes.iter().chain(&facets) {
            for (at, lines) in not_taken(decisions).enumerate() {
                match chart.has(FOR_OTHERS) {
                    true => chart.other(name, at, lines),
                    false => others_left_out += 1,
                }
            }
        }
        let left_out = [
            (self.plan.iter().count() - nodes.len(), "operator"),
            (self.all_facets().count() - facets.len(), "facet"),
            (others_left_out, "other way"),
        ];
        let left_out = left_out.into_iter().filter(|(n, _)| *n > 0);
        let counts = joined(left_out.map(|(n, what)| number_of(n as u64, what)), ", ");
        if !counts.is_empty() {
            chart.line(&format!("left_out[\"left out here, as there is no room<br/>{counts}\"]"));
        }
        chart.out
    }
}

/// Size up to which a chart may have grown for something to be added.
#[derive(Clone, Copy)]
struct Room {
    bytes: usize,
    edges: usize,
}

#[derive(Default)]
struct Chart {
    out: String,
    n_edges: usize,
}

impl Chart {
    fn has(&self, room: Room) -> bool {
        self.out.len() < room.bytes && self.n_edges < room.edges
    }

    /// Draws boxes until there is no more room, so many of them always; gives those that it has drawn.
    fn boxes<'t>(
        &mut self,
        boxes: impl Iterator<Item = Drawn<'t>>,
        room: Room,
        least: usize,
    ) -> Vec<Drawn<'t>> {
        let drawn = boxes.enumerate().map_while(|(nth, drawn)| {
            (nth < least || self.has(room)).then(|| {
                self.node(&drawn);
                drawn.edge.iter().for_each(|edge| self.edge(edge));
                drawn
            })
        });
        drawn.collect()
    }

    fn node(&mut self, Drawn { name, lines, share, .. }: &Drawn<'_>) {
        self.line(&format!("{name}[\"{}\"]", label(lines, coded, "<br/>")));
        if *share > 0.0 {
            // Borders only: a filled box would be unreadable in one of light and dark.
            let width = 1.0 + share * 7.0;
            self.line(&format!("style {name} stroke:#d95f02,stroke-width:{width:.1}px"));
        }
    }

    fn edge(&mut self, (from, to, documents): &(String, String, u64)) {
        self.line(&format!("{from} -->|\"{}\"| {to}", grouped(*documents)));
        let width = edge_width(*documents);
        self.line(&format!("linkStyle {} stroke-width:{width:.1}px", self.n_edges));
        self.n_edges += 1;
    }

    fn other(&mut self, node: &str, at: usize, lines: Vec<String>) {
        let name = format!("{node}_{at}");
        self.line(&format!("{name}[\"{}\"]", label(&lines, coded, "<br/>")));
        self.line(&format!("style {name} stroke-dasharray:4 3,opacity:0.6"));
        self.line(&format!("{name} -.- {node}"));
        self.n_edges += 1;
    }

    fn line(&mut self, line: &str) {
        self.out.push_str("  ");
        self.out.push_str(line);
        self.out.push('\n');
    }
}

/// Printable text as the inside of a quoted string, cut where it becomes too long.
fn coded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if out.len() > LINE_BYTES_MAX {
            out.push('…');
            break;
        }
        // A dot before a blank would make a numbered list of `1. a`.
        let is_plain = match c {
            '.' => chars.peek().is_some_and(|next| *next != ' '),
            ' ' | ',' | '(' | ')' | '=' | '…' | '≈' | '×' => true,
            _ => c.is_alphanumeric(),
        };
        match is_plain {
            true => out.push(c),
            false => write!(out, "#{};", u32::from(c)).expect("a String takes every text"),
        }
    }
    out
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::explain::caption::by_level;
    use crate::explain::{ExplainFacet, hostile, sample};

    const SAMPLE: &str = include_str!("samples/analyzed.mmd");

    /// The boxes of a chart, names and what is shown in them, as Mermaid reads it; everything else has to be as we write it.
    pub(in crate::explain) fn boxes(chart: &str) -> Vec<(String, String)> {
        let decoded = |text: &str| {
            assert!(!text.contains(['"', '%', '`', ':', '<', '>', '&', '°']), "{text:?}");
            let mut parts = text.split('#');
            let mut out = parts.next().unwrap_or_default().to_owned();
            assert!(!out.contains(';'), "{text:?}");
            for part in parts {
                let (code, rest) = part.split_once(';').expect("an entity that ends");
                assert!(!rest.contains(';'), "{text:?}");
                out.extend(char::from_u32(code.parse().expect("a number")));
                out.push_str(rest);
            }
            out
        };
        let is_name = |text: &str| {
            !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        let lines = chart.strip_prefix("flowchart BT\n").expect("a flowchart").lines();
        let mut boxes = vec![];
        for line in lines {
            let line = line.trim_start();
            let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
            match first {
                "style" | "linkStyle" => assert!(!rest.contains(['"', ';']), "{line}"),
                "subgraph" => assert_eq!(rest, "facets"),
                "end" => assert_eq!(rest, ""),
                name if is_name(name)
                    && (rest.starts_with("-->|\"") || rest.starts_with("-.- ")) =>
                {
                    let to = rest.rsplit(' ').next().unwrap();
                    assert!(is_name(to), "{line}");
                }
                name if is_name(name) && rest.is_empty() => {}
                _ => {
                    let (name, rest) = line.split_once("[\"").expect("a box");
                    assert!(is_name(name), "{line}");
                    let text = rest.strip_suffix("\"]").expect("a box that ends");
                    let shown: Vec<_> = text.split("<br/>").map(decoded).collect();
                    boxes.push((name.to_owned(), shown.join("\n")));
                }
            }
        }
        boxes
    }

    #[test]
    fn the_sample_is_drawn_like_this() {
        assert_eq!(sample::analyzed().to_mermaid(), SAMPLE);
    }

    /// Whether a box shows these lines, each as far as it is not cut.
    fn shows(boxed: &str, lines: &[String]) -> bool {
        let boxed: Vec<_> = boxed.split('\n').collect();
        boxed.len() == lines.len()
            && boxed.iter().zip(lines).all(|(boxed, line)| match boxed.strip_suffix('…') {
                Some(start) => line.starts_with(start),
                None => boxed == line,
            })
    }

    proptest! {
        #[test]
        fn hostile_texts_stay_in_their_boxes(tree in hostile::trees()) {
            let chart = tree.to_mermaid();
            prop_assert!(chart.len() < TEXT_BYTES_MAX);
            let boxes = boxes(&chart);
            let all_ns = tree.all_ns();
            let nodes = by_level(std::slice::from_ref(&tree.plan));
            for (at, (name, shown)) in boxes.iter().filter(|(name, _)| !name.contains('_')).enumerate() {
                let caption = match at.checked_sub(nodes.len()) {
                    None => nodes[at].0.caption(all_ns),
                    Some(at) => by_level(&tree.facets)[at].0.caption(all_ns),
                };
                prop_assert!(shows(shown, &caption), "{name}: {shown:?} is not {:?}", caption);
            }
        }
    }

    /// Charts leave out nodes that Mermaid would refuse, and say so.
    #[test]
    fn charts_stay_within_what_mermaid_draws() {
        let mut wide = hostile::wide(5_000);
        wide.facets = vec![ExplainFacet::of("year")];
        for tree in [wide, hostile::deep(256), hostile::long()] {
            let chart = tree.to_mermaid();
            assert!(chart.len() < TEXT_BYTES_MAX, "{}", chart.len());
            assert!(chart.matches("-->").count() + chart.matches("-.-").count() < EDGES_MAX);
            let boxes = boxes(&chart);
            let shown =
                boxes.iter().filter(|(name, _)| name.starts_with('n') && !name.contains('_'));
            let (shown, all) = (shown.count(), tree.plan.iter().count());
            assert!(shown > 50 || shown == all, "{shown}");
            let left_out = boxes.iter().find(|(name, _)| name == "left_out");
            match shown == all {
                true => assert_eq!(left_out, None),
                false => {
                    let said = number_of((all - shown) as u64, "operator");
                    assert!(left_out.unwrap().1.contains(&said), "{left_out:?}");
                }
            }
            if !tree.facets.is_empty() {
                assert!(
                    boxes.iter().any(|(name, _)| name == "f0"),
                    "facets have room of their own"
                );
            }
        }
    }
}
