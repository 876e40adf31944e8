//! [`ExplainTree`] → the DOT language of Graphviz.
//!
//! Documents flow along the edges to the root, which stands on top. Names of nodes are ours, and every text of the plan
//! stands in a quoted string, in which Graphviz knows quotes, backslashes and entities; these are escaped.

use super::caption::{Drawn, edge_width, label, not_taken};
use super::{ExplainTree, Verdict};
use crate::plural::grouped;

impl ExplainTree {
    /// Draws the tree as a directed graph in the DOT language. `dot -Tsvg` of [Graphviz](https://graphviz.org) reads
    /// it.
    ///
    /// The width of an edge grows with the power of ten of its documents, the colour of a box with the part of the time
    /// that was spent there, its border with what it says of a [document](Self::documents) if there is one. Operators
    /// that were not chosen are dashed and grey; facets have a frame of their own. Texts in boxes are shortened; the
    /// whole predicate is the tooltip. Every node is drawn, however many there are.
    pub fn to_dot(&self) -> String {
        let mut dot = Dot::default();
        dot.line("digraph plan {");
        let title = escaped(&self.title());
        let graph = r#"rankdir=BT, charset="UTF-8", fontname="Helvetica", labelloc=t"#;
        dot.line(&format!("  graph [{graph}, label=\"{title}\"];"));
        dot.line(r#"  node [shape=box, style="rounded,filled", fillcolor=white, fontname="Helvetica", fontsize=11];"#);
        dot.line(r#"  edge [fontname="Helvetica", fontsize=10];"#);
        for node in self.drawn_nodes() {
            dot.node(&node);
            node.edge.iter().for_each(|edge| dot.edge(edge));
            dot.not_taken(&node);
        }
        if !self.facets.is_empty() {
            dot.facets(self);
        }
        dot.line("}");
        dot.0
    }
}

#[derive(Default)]
struct Dot(String);

impl Dot {
    fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    fn node(&mut self, Drawn { name, lines, share, verdict, tooltip, .. }: &Drawn<'_>) {
        let label = label(lines, escaped, "\\n");
        let tooltip = tooltip.as_ref().map(|text| format!(", tooltip=\"{}\"", escaped(text)));
        let tooltip = tooltip.unwrap_or_default();
        // Orange, the paler the less of the time; black text is readable on all of it.
        let colour = match share {
            0.0 => String::new(),
            _ => format!(", fillcolor=\"0.080 {:.3} 1.000\"", share * 0.7),
        };
        // The mark in the label says the same.
        let border = match verdict {
            Some(Verdict::Matched) => ", color=\"#1b7837\", penwidth=2",
            Some(Verdict::Failed) => ", color=\"#b2182b\", penwidth=2",
            Some(Verdict::NotReached) => ", color=gray60, fontcolor=gray35",
            None => "",
        };
        self.line(&format!("  {name} [label=\"{label}\"{tooltip}{colour}{border}];"));
    }

    fn edge(&mut self, (from, to, documents): &(String, String, u64)) {
        let (label, width) = (grouped(*documents), edge_width(*documents));
        self.line(&format!("  {from} -> {to} [label=\"{label}\", penwidth={width:.1}];"));
    }

    fn not_taken(&mut self, Drawn { name: node, decisions, .. }: &Drawn<'_>) {
        const GREY: &str = "style=dashed, color=gray60";
        for (at, lines) in not_taken(decisions).enumerate() {
            let (name, label) = (format!("{node}_{at}"), label(&lines, escaped, "\\n"));
            self.line(&format!("  {name} [label=\"{label}\", {GREY}, fontcolor=gray35];"));
            self.line(&format!("  {name} -> {node} [{GREY}, arrowhead=none];"));
        }
    }

    fn facets(&mut self, tree: &ExplainTree) {
        self.line("  subgraph cluster_facets {");
        self.line("  label=\"facets\"; labeljust=l; style=rounded; color=gray60;");
        // Level by level, what stands above what matches comes first.
        let facets: Vec<_> = tree.drawn_facets(tree.above_matches().count()).collect();
        for facet in &facets {
            self.node(facet);
            self.not_taken(facet);
        }
        self.line("  }");
        facets.iter().flat_map(|facet| &facet.edge).for_each(|edge| self.edge(edge));
    }
}

/// Printable text as the inside of a quoted string: Graphviz also reads entities of HTML there.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('&', "&amp;")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use std::io::Write;
    use std::process::{Command, Stdio};

    use super::*;
    use crate::explain::caption::by_level;
    use crate::explain::{hostile, sample};

    const SAMPLE: &str = include_str!("samples/analyzed.dot");

    #[test]
    fn the_sample_is_drawn_like_this() {
        assert_eq!(sample::analyzed().to_dot(), SAMPLE);
    }

    #[test]
    fn facets_count_what_matches_and_not_a_page_of_it() {
        let mut tree = sample::analyzed();
        let mut page = crate::explain::ExplainNode::new("TopK", "best 10");
        page.children = vec![std::mem::take(&mut tree.plan)];
        tree.plan = page;
        let edge = "n1 -> f0 [label=\"118\",";
        assert!(tree.to_dot().contains(edge), "{}", tree.to_dot());
        assert!(tree.to_mermaid().contains("n1 -->|\"118\"| f0"));
    }

    #[test]
    fn facets_within_others_hang_on_these() {
        let mut tree = sample::analyzed();
        tree.facets[0].within = vec![crate::explain::ExplainFacet::of("size")];
        assert!(tree.to_dot().contains("f0 -> f1 [label=\"0\","), "{}", tree.to_dot());
        assert!(tree.to_mermaid().contains("f0 -->|\"0\"| f1"));
    }

    #[test]
    fn what_nodes_say_of_a_document_is_marked() {
        let mut tree = sample::analyzed();
        let verdicts = [("0", Verdict::Failed), ("0.0", Verdict::Matched)];
        let verdicts = verdicts.into_iter().chain([("0.1", Verdict::NotReached)]);
        tree.documents = vec![crate::explain::ExplainDocument {
            verdicts: verdicts.map(|(id, verdict)| (id.to_owned(), verdict)).collect(),
            ..crate::explain::ExplainDocument::default()
        }];
        let (dot, chart) = (tree.to_dot(), tree.to_mermaid());
        for (name, mark, colour) in [
            ("n0", "✗ Intersect", "color=\"#b2182b\""),
            ("n1", "✓ Term", "color=\"#1b7837\""),
            ("n2", "· Union", "color=gray60"),
        ] {
            let line = dot.lines().find(|line| line.contains(&format!(" {name} ["))).unwrap();
            assert!(line.contains(mark) && line.contains(colour), "{line}");
            let boxes = crate::explain::mermaid::tests::boxes(&chart);
            let (_, shown) = boxes.iter().find(|(of, _)| of == name).unwrap();
            assert!(shown.starts_with(mark), "{shown}");
        }
        assert!(dot.contains("? Term"), "of others nothing is known");
    }

    /// Parts of a graph, as Graphviz reads it.
    #[derive(Default)]
    struct Graph {
        /// Names and labels, in their order.
        nodes: Vec<(String, String)>,
        edges: Vec<(String, String)>,
    }

    /// Reads the part of the language that we write, and nothing else: <https://graphviz.org/doc/info/lang.html>.
    fn read(text: &str) -> Graph {
        let tokens = tokens(text);
        let mut at = 0;
        let mut next = || {
            at += 1;
            tokens.get(at - 1).map(String::as_str)
        };
        assert_eq!([next(), next(), next()], ["digraph", "plan", "{"].map(Some));
        let (mut graph, mut depth) = (Graph::default(), 1);
        while depth > 0 {
            match next().expect("the graph ends in a brace") {
                "}" => depth -= 1,
                "subgraph" => {
                    assert_eq!([next(), next()], ["cluster_facets", "{"].map(Some));
                    depth += 1;
                }
                name => {
                    let name = name.to_owned();
                    assert!(
                        name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'),
                        "{name:?}"
                    );
                    let mut token = next();
                    let to = (token == Some("->")).then(|| next().unwrap().to_owned());
                    if to.is_some() {
                        token = next();
                    }
                    let mut label = String::new();
                    match token {
                        Some("[") => loop {
                            let (attribute, equals, value) = (next(), next(), next());
                            assert_eq!(equals, Some("="), "after {attribute:?} of {name}");
                            if attribute == Some("label") {
                                label = unquoted(value.unwrap());
                            }
                            match next() {
                                Some("]") => break,
                                other => assert_eq!(other, Some(",")),
                            }
                        },
                        other => {
                            assert_eq!(other, Some("="), "after {name}");
                            next();
                        }
                    }
                    if token == Some("[") {
                        assert_eq!(next(), Some(";"));
                    } else {
                        assert_eq!(next(), Some(";"), "after {name}=");
                    }
                    match to {
                        Some(to) => graph.edges.push((name, to)),
                        None if token == Some("[") => graph.nodes.push((name, label)),
                        None => {}
                    }
                }
            }
        }
        assert_eq!(next(), None, "nothing follows");
        graph.nodes.retain(|(name, _)| !["graph", "node", "edge"].contains(&&**name));
        graph
    }

    fn tokens(text: &str) -> Vec<String> {
        let mut tokens = vec![];
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '"' => {
                    let mut token = String::from('"');
                    loop {
                        match chars.next().expect("a string that ends") {
                            '"' => break,
                            '\\' => {
                                token.extend(['\\', chars.next().expect("something is escaped")])
                            }
                            c => {
                                assert!(!c.is_control(), "{c:?} in {token}");
                                token.push(c);
                            }
                        }
                    }
                    tokens.push(token);
                }
                '-' => {
                    assert_eq!(chars.next(), Some('>'));
                    tokens.push("->".to_owned());
                }
                '{' | '}' | '[' | ']' | '=' | ',' | ';' => tokens.push(c.to_string()),
                c if c.is_whitespace() => {}
                c => {
                    let mut token = String::from(c);
                    while let Some(c) =
                        chars.next_if(|c| c.is_ascii_alphanumeric() || "_.".contains(*c))
                    {
                        token.push(c);
                    }
                    tokens.push(token);
                }
            }
        }
        tokens
    }

    /// Text that Graphviz shows of a label.
    fn unquoted(token: &str) -> String {
        let mut chars = token.strip_prefix('"').expect("labels are quoted").chars();
        let mut text = String::new();
        while let Some(c) = chars.next() {
            match c {
                '\\' => match chars.next() {
                    Some('n') => text.push('\n'),
                    Some(c @ ('"' | '\\')) => text.push(c),
                    other => panic!("\\ before {other:?}"),
                },
                c => text.push(c),
            }
        }
        assert!(text.matches('&').count() == text.matches("&amp;").count(), "an entity in {text}");
        text.replace("&amp;", "&")
    }

    /// Every node and facet stands in the drawing with its lines, and the edges are those of the tree.
    fn check(tree: &ExplainTree) {
        let graph = read(&tree.to_dot());
        let all_ns = tree.all_ns();
        let labels = |prefix: char| {
            let of_tree = move |name: &str| name.starts_with(prefix) && !name.contains('_');
            let nodes = graph.nodes.iter().filter(move |(name, _)| of_tree(name));
            nodes.map(|(_, label)| label.clone()).collect::<Vec<_>>()
        };
        let nodes = by_level(std::slice::from_ref(&tree.plan));
        let captions: Vec<_> = nodes.iter().map(|(it, _)| it.caption(all_ns).join("\n")).collect();
        assert_eq!(labels('n'), captions);
        let facets = by_level(&tree.facets);
        let captions: Vec<_> = facets.iter().map(|(it, _)| it.caption(all_ns).join("\n")).collect();
        assert_eq!(labels('f'), captions);
        let decisions = nodes.iter().map(|(it, _)| &it.decisions);
        let decisions = decisions.chain(facets.iter().map(|(it, _)| &it.decisions));
        let n_others = decisions.map(|it| not_taken(it).count()).sum::<usize>();
        assert_eq!(graph.nodes.len(), nodes.len() + facets.len() + n_others);
        // Everything but the root has one edge.
        assert_eq!(graph.edges.len(), graph.nodes.len() - 1);
        let names: Vec<_> = graph.nodes.iter().map(|(name, _)| name).collect();
        assert!(graph.edges.iter().all(|(from, to)| names.contains(&from) && names.contains(&to)));
    }

    proptest! {
        #[test]
        fn hostile_texts_stay_in_their_boxes(tree in hostile::trees()) {
            check(&tree);
        }
    }

    #[test]
    fn deep_plans_and_long_texts_are_drawn() {
        check(&hostile::deep(256));
        check(&hostile::long());
        assert!(hostile::long().to_dot().len() < 20_000, "texts are shortened");
    }

    /// Graphviz itself: what it reads and writes again is the same graph, and it can draw the sample.
    #[test]
    fn graphviz_reads_every_drawing() {
        let Some(canonical) = dot("-Tcanon", &sample::analyzed().to_dot()) else {
            eprintln!(
                "SKIPPED: Graphviz is not installed, so nothing but our own parser has read the drawings"
            );
            return;
        };
        assert!(canonical.starts_with("digraph plan {"), "{canonical}");
        assert!(dot("-Tsvg", &sample::analyzed().to_dot()).unwrap().contains("<svg"));
        let wide = hostile::wide(5_000).to_dot();
        let canonical = dot("-Tcanon", &wide).unwrap();
        assert_eq!(canonical.matches(" -> ").count(), wide.matches(" -> ").count());
    }

    /// Drawing that Graphviz makes without a complaint; `None` if it is not installed.
    fn dot(format: &str, text: &str) -> Option<String> {
        let mut command = Command::new("dot");
        command.arg(format).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().ok()?;
        let mut stdin = child.stdin.take().unwrap();
        let text = text.to_owned();
        let feeder = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
        let output = child.wait_with_output().unwrap();
        feeder.join().unwrap().unwrap();
        let complaints = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && complaints.is_empty(), "{complaints}");
        Some(String::from_utf8(output.stdout).unwrap())
    }
}
