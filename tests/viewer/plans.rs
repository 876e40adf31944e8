//! Plans for the pages: one with something of everything, large ones, hostile ones.

use treepie::explain::Explanation;
use treepie::explain::{
    Actual, Alternative, ContainerCounts, ContainerMap, Decision, Estimate, ExplainDocument,
    ExplainFacet, ExplainNode, ExplainSegment, ExplainTree, FacetActual, Finding, NodeSegment,
    RankingCounts, Severity, TermCounts, Threshold, Verdict,
};

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    /// A number below `n`.
    fn below(&mut self, n: u64) -> u64 {
        // The constants of Knuth's MMIX; the high bits are the better ones.
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

fn actual(documents: u64, time_ns: u64) -> Actual {
    let mut actual = Actual::default();
    actual.documents = documents;
    actual.time_ns = time_ns;
    actual.bytes_read = time_ns * 2;
    actual.containers = containers(1 + documents % 7, documents % 5, 29);
    actual
}

fn containers(array: u64, bitmap: u64, skipped: u64) -> ContainerCounts {
    let mut counts = ContainerCounts::default();
    (counts.array, counts.bitmap, counts.skipped) = (array, bitmap, skipped);
    counts
}

fn term(word: &str, documents: u64, time_ns: u64) -> ExplainNode {
    let mut node = ExplainNode::new("TermScan", format!("title:{word}"));
    node.field = Some("title".into());
    node.predicate = Some(format!("title:{word}"));
    node.estimate = Estimate::exact(documents, "document frequency");
    node.actual = Some(actual(documents, time_ns));
    node
}

/// Windows of one segment: mostly arrays, some bitmaps and runs, some empty.
fn windows(dice: &mut Dice, n: usize) -> ContainerMap {
    let mut map = ContainerMap::default();
    map.segment = "0a1b2c3d".into();
    for _ in 0..n {
        let (kind, documents) = match dice.below(10) {
            0 => ('.', 0),
            1 | 2 => ('b', 4_097 + dice.below(60_000)),
            3 => ('r', 1 + dice.below(65_536)),
            _ => ('a', 1 + dice.below(4_096)),
        };
        map.kinds.push(kind);
        map.documents.push(documents as u32);
    }
    map
}

fn alternative(name: &str, estimated: Option<u64>, measured: Option<u64>) -> Alternative {
    let mut alternative = Alternative::default();
    alternative.name = name.into();
    alternative.estimated_cost_ns = estimated;
    alternative.measured_ns = measured;
    alternative
}

fn finding(rule: &str, severity: Severity, node: Option<&str>, message: &str) -> Finding {
    let mut finding = Finding::default();
    finding.rule = rule.into();
    finding.severity = severity;
    finding.node = node.map(Into::into);
    finding.message = message.into();
    finding
}

/// A slow prefix beside two words, with facets, findings, documents and all that nodes can tell.
pub(crate) fn everything() -> ExplainTree {
    let mut tree =
        ExplainTree::new("history && (france spain) AND a* +AC/DC", best_of_everything());
    tree.parsed = "history AND (france spain) AND a* +AC/DC".into();
    tree.rewritten = "title:history AND (title:france OR title:spain) AND title:a*".into();
    tree.notes = vec!["'AC/DC' is several words".into()];
    for (id, documents, bytes) in
        [("0a1b2c3d", 13_755_095, 641_728_512), ("4e5f6a7b", 1_204, 81_920)]
    {
        let mut segment = ExplainSegment::default();
        (segment.id, segment.documents, segment.bytes) = (id.into(), documents, bytes);
        tree.segments.push(segment);
    }
    let mut wide = finding(
        "wide expansion",
        Severity::Warning,
        Some("0.0.2"),
        "71 % of the time went into expanding a* to 12,400 terms.",
    );
    wide.remedy = Some("A minimum prefix of 2 would leave 310.".into());
    let off = finding(
        "estimate far off",
        Severity::Hint,
        Some("0.0"),
        "9 times as many documents as expected: the words are not independent.",
    );
    let mut facet =
        finding("facet by frequency", Severity::Note, None, "The facet left out 288 of 300 terms.");
    facet.facet = Some("qualifier".into());
    tree.findings = vec![wide, off, facet];
    tree.facets = vec![facet_of("qualifier", 300), facet_of("year", 40)];
    tree.documents = documents();
    tree.total_ns = Some(462_000);
    tree
}

fn best_of_everything() -> ExplainNode {
    let mut dice = Dice(1);
    let mut prefix = ExplainNode::new("Prefix", "title:a*");
    prefix.algorithm = "union by bitmap".into();
    prefix.estimate = Estimate::between(410_000, 12_000, 900_000, "sample of terms");
    let mut expanded = actual(602_113, 320_000);
    let mut terms = TermCounts::default();
    (terms.visited, terms.expanded) = (12_410, 12_400);
    expanded.terms = Some(terms);
    prefix.actual = Some(expanded);
    let mut union =
        Decision::accepted("unite the terms in a bitmap", "12,400 terms match, more than 64")
            .costing(300_000);
    union.measured_ns = Some(320_500);
    union.alternative = Some(alternative("merge cursors", Some(810_000), Some(901_000)));
    union.others = vec![alternative("ask every term for every document", Some(2_400_000), None)];
    prefix.decisions = vec![union];

    let mut either = ExplainNode::new("Union", "title:france OR title:spain");
    either.estimate = Estimate::between(5_000, 4_000, 8_100, "independence");
    let mut stopped = actual(118, 800);
    stopped.complete = false;
    either.actual = Some(stopped);
    either.children = vec![term("france", 4_100, 21_000), term("spain", 4_000, 17_000)];

    let mut all = ExplainNode::new(
        "Intersect",
        "title:history AND (title:france OR title:spain) AND title:a*",
    );
    all.algorithm = "gallop array × bitmap".into();
    all.estimate = Estimate::between(120, 0, 4_312, "independence");
    all.actual = Some(actual(1_118, 31_000));
    all.decisions = vec![
        Decision::accepted("order by document frequency", "the rarest input first")
            .costing(2_900)
            .instead_of("as written", Some(5_100)),
        Decision::rejected("prove empty", "the ranges of documents overlap"),
    ];
    all.windows = vec![windows(&mut dice, 210)];
    for (id, documents) in [("0a1b2c3d", 1_115), ("4e5f6a7b", 3)] {
        let mut segment = NodeSegment::default();
        (segment.id, segment.algorithm) = (id.into(), "gallop".into());
        segment.estimate = Estimate::between(60, 0, 2_000, "independence");
        segment.actual = Some(actual(documents, documents * 25));
        all.segments.push(segment);
    }
    all.children = vec![term("history", 4_312, 12_000), either, prefix];
    all.children[0].windows = vec![windows(&mut dice, 210)];

    let mut best = ExplainNode::new("TopK", "best 10 by score");
    best.algorithm = "BM25, by bounds".into();
    best.estimate = Estimate::between(10, 0, 10, "limit");
    let mut ranked = actual(10, 19_000);
    ranked.complete = false;
    let mut ranking = RankingCounts::default();
    (ranking.documents_scored, ranking.blocks, ranking.blocks_skipped) = (157, 3_072, 3_054);
    for (documents, score) in [(12, 3.25), (40, 5.5), (157, 9.125)] {
        let mut rise = Threshold::default();
        (rise.documents, rise.score) = (documents, score);
        ranking.thresholds.push(rise);
    }
    ranked.ranking = Some(ranking);
    best.actual = Some(ranked);
    best.children = vec![all];
    best
}

fn facet_of(field: &str, terms: u64) -> ExplainFacet {
    let mut facet = ExplainFacet::default();
    facet.field = field.into();
    facet.limit = 10;
    facet.algorithm = "by descending document frequency".into();
    facet.terms = terms;
    facet.decisions = vec![Decision::accepted("stop early", "no other term can enter the top 10")];
    let mut actual = FacetActual::default();
    (actual.terms_intersected, actual.terms_skipped) = (12, terms - 12);
    (actual.time_ns, actual.bytes_read) = (terms * 40, 512);
    facet.actual = Some(actual);
    facet
}

/// One document that matches and one that does not.
fn documents() -> Vec<ExplainDocument> {
    use Verdict::{Failed, Matched, NotReached};
    let part = |value: f32, what: &str, parts| Explanation { value, what: what.into(), parts };
    let mut france = ExplainDocument::default();
    france.doc = 15_212;
    france.title = "History of France".into();
    france.matches = true;
    let ids = ["0", "0.0", "0.0.0", "0.0.1", "0.0.1.0", "0.0.1.1", "0.0.2"];
    let verdicts = [Matched, Matched, Matched, Matched, Matched, NotReached, Matched];
    france.verdicts = ids.map(String::from).into_iter().zip(verdicts).collect();
    let idf = part(4.25, "idf, 4,312 of 13,756,299 documents", vec![]);
    let tf = part(1.75, "frequency 1 in 3 words", vec![]);
    let history = part(7.4375, "product: title:history", vec![idf, tf]);
    france.score = Some(part(11.9375, "sum", vec![history, part(4.5, "title:france", vec![])]));
    let mut poland = ExplainDocument::default();
    poland.doc = 77;
    poland.title = "History of Poland".into();
    let verdicts = [Failed, Failed, Matched, Failed, Failed, Failed, NotReached];
    poland.verdicts = ids.map(String::from).into_iter().zip(verdicts).collect();
    vec![france, poland]
}

/// A plan that was not run.
pub(crate) fn not_run() -> ExplainTree {
    fn forget(node: &mut ExplainNode) {
        node.actual = None;
        node.segments.iter_mut().for_each(|segment| segment.actual = None);
        node.children.iter_mut().for_each(forget);
    }
    let mut tree = everything();
    forget(&mut tree.plan);
    tree.facets.iter_mut().for_each(|facet| facet.actual = None);
    tree.total_ns = None;
    tree.documents.clear();
    tree
}

/// `n` nodes at random places.
pub(crate) fn bushy(n: usize) -> ExplainTree {
    let mut dice = Dice(7);
    // Parents by the number of each node, so that they can be put together from the last.
    let parents: Vec<usize> =
        (1..n).map(|at| dice.below(at.min(1 + at / 3) as u64) as usize).collect();
    let mut nodes: Vec<ExplainNode> = (0..n)
        .map(|at| {
            let documents = 10_u64.pow(dice.below(6) as u32) + dice.below(9);
            let mut node = term(&format!("w{at}"), documents, 300 + dice.below(40_000));
            if dice.below(2) == 0 {
                node.operator = "Union".into();
                node.estimate =
                    Estimate::between(1 + dice.below(10_000), 0, 2_000_000, "independence");
            }
            node
        })
        .collect();
    for at in (1..n).rev() {
        let node = nodes.pop().expect("as many as there are parents");
        nodes[parents[at - 1]].children.insert(0, node);
    }
    let mut tree = ExplainTree::new(format!("{n} nodes"), nodes.remove(0));
    tree.total_ns = Some(99_000_000);
    tree
}

/// One node with `n` inputs.
pub(crate) fn wide(n: usize) -> ExplainTree {
    let mut root = ExplainNode::new("Union", "title:w*");
    root.estimate = Estimate::between(n as u64, 0, 9 * n as u64, "sum");
    root.actual = Some(actual(3 * n as u64, 1_000));
    root.children =
        (0..n).map(|at| term(&format!("word{at}"), 1 + at as u64 % 977, 500 + at as u64)).collect();
    ExplainTree::new("w*", root)
}

/// `n` nodes, each in the other.
pub(crate) fn deep(n: usize) -> ExplainTree {
    let mut node = term("innermost", 3, 500);
    for at in 0..n {
        let mut outer = ExplainNode::new("Not", format!("level {at}"));
        outer.actual = Some(actual(9, 70));
        outer.children = vec![node];
        node = outer;
    }
    ExplainTree::new("deep", node)
}

/// What must stay text wherever it stands: markup, marks of direction, control characters.
pub(crate) const HOSTILE: &str = "</script><script>window.harmed=1</script><!-- <img src=x onerror=\"window.harmed=1\"> \
    \u{202e}gnol\u{2066} \u{7}\u{0}\u{1b}[31m \u{200b} {{data}} ${window.harmed=1} __proto__ \"'&amp;";

/// A plan of hostile texts, with a term of 64 KiB.
pub(crate) fn hostile() -> ExplainTree {
    let mut root = ExplainNode::new(HOSTILE, format!("of {HOSTILE}"));
    (root.algorithm, root.field) = (HOSTILE.into(), Some(HOSTILE.into()));
    root.predicate = Some(HOSTILE.into());
    root.estimate = Estimate::between(5, 0, 99, HOSTILE);
    root.actual = Some(actual(5, 700));
    root.decisions = vec![Decision::accepted(HOSTILE, HOSTILE).instead_of(HOSTILE, Some(5))];
    let mut segment = NodeSegment::default();
    (segment.id, segment.algorithm) = (HOSTILE.into(), HOSTILE.into());
    root.segments = vec![segment];
    root.children = vec![
        term(&"x".repeat(65_536), 3, 900),
        term(&HOSTILE.repeat(99), 3, 800),
        term("عربي", 2, 20),
    ];
    let mut tree = ExplainTree::new(HOSTILE, root);
    (tree.parsed, tree.rewritten) = ("y".repeat(65_536), HOSTILE.into());
    tree.notes = vec![HOSTILE.into()];
    let mut evil = finding(HOSTILE, Severity::Warning, Some(HOSTILE), HOSTILE);
    evil.remedy = Some(HOSTILE.into());
    tree.findings = vec![evil];
    tree.facets = vec![facet_of(HOSTILE, 30)];
    let mut document = ExplainDocument::default();
    (document.title, document.matches) = (HOSTILE.into(), true);
    document.verdicts = [HOSTILE, "__proto__", "0"].map(|id| (id.into(), Verdict::Matched)).into();
    document.score = Some(Explanation { value: 1.0, what: HOSTILE.into(), parts: vec![] });
    tree.documents = vec![document];
    tree
}
