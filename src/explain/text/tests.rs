use proptest::prelude::*;

use super::*;
use crate::explain::{ColumnCounts, sample};

const WIDE: &str = r"query     history && (france spain) +AC/DC
parsed    history AND (france spain) +AC/DC
rewritten title:history AND (title:france OR title:spain)
note      'AC/DC' is several words
index     1 segment, 13,755,095 documents, 612 MiB

Intersect title:history AND (title:france OR title:spain)
│  algorithm gallop array × bitmap
│  estimate  ≈ 120 documents, 0 to 4,312 (independence)
│  actual    118 documents from 4,430, q-error 1.02 too high, 3.10 µs (7 %), 812 B read,
│            containers: 3 array, 1 bitmap, 29 skipped
│  ✓ order by document frequency: the rarest input first (about 2.90 µs, instead of 'as written' for
│    5.10 µs)
│  ✗ prove empty: the ranges of documents overlap
│  spread    118 / 118 / 118 documents, 3.10 µs / 3.10 µs / 3.10 µs (least / mean / most of a
│            segment)
│  segment 0a1b gallop, 118 documents from 4,430, 3.10 µs (7 %), 812 B read,
│    containers: 3 array, 1 bitmap, 29 skipped
│  segment 2c3d gallop, 118 documents from 4,430, 3.10 µs (7 %), 812 B read,
│    containers: 3 array, 1 bitmap, 29 skipped
├─ Term title:history
│     estimate  = 4,312 documents (document frequency)
│     actual    4,312 documents, 1.20 µs (3 %), 8.00 KiB read,
│               containers: 1 array, 2 bitmap, 29 skipped
└─ Union title:france OR title:spain
   │  estimate  ≈ 5,000 documents, 4,000 to 8,100 (independence)
   │  actual    118 documents, stopped early, 800 ns (2 %), 0 B read
   ├─ Term title:france
   │     estimate  = 4,100 documents (document frequency)
   │     actual    4,100 documents, 1.20 µs (3 %), 8.00 KiB read, containers: 2 bitmap, 29 skipped
   └─ Term title:spain
         estimate  = 4,000 documents (document frequency)
         actual    4,000 documents, 1.20 µs (3 %), 8.00 KiB read,
                   containers: 3 array, 2 bitmap, 29 skipped

Facet qualifier, top 10 of 300 terms
   algorithm by descending document frequency
   actual    12 terms intersected, 288 skipped, 0 from document frequency, 9.00 µs (21 %), 512 B
             read
   ✓ stop early: no other term can enter the top 10

Other 25.5 µs (61 %)
Total 42.0 µs
";

const NARROW: &str = r"query     history && (france spain) +AC/DC
parsed    history AND (france spain) +AC/DC
rewritten title:history AND (title:france OR ...
note      'AC/DC' is several words
index     1 segment, 13,755,095 documents, 612
          MiB

Intersect title:history AND (title:france OR ...
|  algorithm gallop array x bitmap
|  estimate  ~ 120 documents, 0 to 4,312
|            (independence)
|  actual    118 documents from 4,430,
|            q-error 1.02 too high,
|            3.10 us (7 %), 812 B read,
|            containers: 3 array, 1 bitmap, 29
|            skipped
|  + order by document frequency: the rarest
|    input first (about 2.90 us, instead of 'as
|    written' for 5.10 us)
|  - prove empty: the ranges of documents
|    overlap
|  spread    118 / 118 / 118 documents, 3.10 us
|            / 3.10 us / 3.10 us (least / mean /
|            most of a segment)
|  segment 0a1b gallop,
|    118 documents from 4,430, 3.10 us (7 %),
|    812 B read,
|    containers: 3 array, 1 bitmap, 29 skipped
|  segment 2c3d gallop,
|    118 documents from 4,430, 3.10 us (7 %),
|    812 B read,
|    containers: 3 array, 1 bitmap, 29 skipped
|- Term title:history
|     estimate  = 4,312 documents (document
|               frequency)
|     actual    4,312 documents, 1.20 us (3 %),
|               8.00 KiB read, containers: 1
|               array, 2 bitmap, 29 skipped
`- Union title:france OR title:spain
   |  estimate  ~ 5,000 documents, 4,000 to
   |            8,100 (independence)
   |  actual    118 documents, stopped early,
   |            800 ns (2 %), 0 B read
   |- Term title:france
   |     estimate  = 4,100 documents (document
   |               frequency)
   |     actual    4,100 documents,
   |               1.20 us (3 %), 8.00 KiB read,
   |               containers: 2 bitmap, 29
   |               skipped
   `- Term title:spain
         estimate  = 4,000 documents (document
                   frequency)
         actual    4,000 documents,
                   1.20 us (3 %), 8.00 KiB read,
                   containers: 3 array, 2
                   bitmap, 29 skipped

Facet qualifier, top 10 of 300 terms
   algorithm by descending document frequency
   actual    12 terms intersected, 288 skipped,
             0 from document frequency, 9.00 us
             (21 %), 512 B read
   + stop early: no other term can enter the top
     10

Other 25.5 us (61 %)
Total 42.0 us
";

#[test]
fn an_analyzed_plan_reads_like_this() {
    let text = sample::analyzed().to_text(&TextOptions::default());
    assert_eq!(text, WIDE);
}

#[test]
fn a_narrow_ascii_terminal_gets_the_same_tree() {
    let text = sample::analyzed().to_text(&TextOptions::default().ascii(true).width(48));
    assert!(text.is_ascii());
    assert_eq!(text, NARROW);
}

#[test]
fn a_spread_has_the_least_the_mean_and_the_most() {
    let mut tree = sample::analyzed();
    for (segment, (documents, ns)) in tree.plan.segments.iter_mut().zip([(10, 900), (30, 300)]) {
        let actual = segment.actual.as_mut().unwrap();
        (actual.documents, actual.time_ns) = (documents, ns);
    }
    let text = tree.to_string();
    let spread = "spread    10 / 20 / 30 documents, 300 ns / 600 ns / 900 ns (least / mean / most";
    assert!(text.contains(spread), "{text}");
}

#[test]
fn a_plan_that_was_not_run_has_no_actual() {
    let mut tree = ExplainTree::new("rust", ExplainNode::new("Term", "title:rust"));
    tree.rewritten = "title:rust".into();
    tree.plan.estimate = Estimate::exact(1, "document frequency");
    assert_eq!(
        tree.to_string(),
        "query     rust\nrewritten title:rust\n\nTerm title:rust\n   estimate  = 1 document (document frequency)\n"
    );
}

#[test]
fn shares_are_of_the_whole_time_and_what_is_in_no_node_has_a_line() {
    let mut actual = Actual::of(1);
    actual.time_ns = 1_000;
    let mut tree = ExplainTree::new("rust", ExplainNode::new("Term", "title:rust"));
    tree.plan.actual = Some(actual);
    (tree.planning_ns, tree.total_ns) = (Some(3_000), Some(5_000));
    let text = tree.to_string();
    assert!(text.contains(", 1.00 µs (20 %),"), "{text}");
    let times = "\n\nPlanning 3.00 µs (60 %)\nOther 1.00 µs (20 %)\nTotal 5.00 µs\n";
    assert!(text.ends_with(times), "{text}");
    // Phases that took no time are left out.
    let phases = PlanningTimes { bind_ns: 900, look_up_ns: 2_100, ..PlanningTimes::default() };
    let by_phase = ExplainTree { planning: Some(phases), ..tree.clone() }.to_string();
    let times = "\nPlanning 3.00 µs (60 %): bind 900 ns, look up 2.10 µs\nOther ";
    assert!(by_phase.contains(times), "{by_phase}");
    // Either nothing is left, or more was measured than the whole is said to have taken.
    for total in [4_000, 3_999, 0] {
        tree.total_ns = Some(total);
        let text = tree.to_string();
        assert!(text.contains("Planning 3.00 µs (75 %)\nTotal "), "{text}");
    }
}

#[test]
fn a_facet_counted_in_both_ways_tells_of_both() {
    let mut tree = sample::analyzed();
    let mut counts = ColumnCounts::default();
    (counts.documents, counts.blocks) = (76, 3);
    tree.facets[0].actual.as_mut().unwrap().column = Some(counts);
    let text = tree.to_string();
    let facet = &text[text.find("Facet").unwrap()..];
    assert!(facet.contains("looked at ") && facet.contains("76"), "{facet}");
    assert!(facet.contains("12 terms intersected, 288 skipped"), "{facet}");
    // By a column alone there is nothing to say of terms.
    let FacetActual { time_ns, column, .. } = tree.facets[0].actual.unwrap();
    tree.facets[0].actual = Some(FacetActual { time_ns, column, ..FacetActual::default() });
    let text = tree.to_string();
    let facet = &text[text.find("Facet").unwrap()..];
    assert!(facet.contains("actual    9.00 µs (21 %)\n"), "{facet}");
}

#[test]
fn findings_come_first_each_with_its_remedy() {
    let mut tree = sample::analyzed();
    let finding = |severity, message: &str, remedy: Option<&str>| Finding {
        severity,
        message: message.into(),
        remedy: remedy.map(Into::into),
        ..Finding::default()
    };
    let message = "80 % of the time went into expanding title:a* to 12,400 terms";
    let remedy = "a longer beginning has at most 310 terms, as an*";
    tree.findings = vec![
        finding(Severity::Warning, message, Some(remedy)),
        finding(Severity::Hint, "no document has title:pariss, so it adds nothing", None),
        finding(Severity::Note, "the query only excludes", Some("add what is wanted")),
    ];
    let heading = |options: &TextOptions| {
        let text = tree.to_text(options);
        text.lines().take_while(|line| !line.starts_with("parsed")).collect::<Vec<_>>().join("\n")
    };
    let wide = "\
query     history && (france spain) +AC/DC
warning   80 % of the time went into expanding title:a* to 12,400 terms
        → a longer beginning has at most 310 terms, as an*
hint      no document has title:pariss, so it adds nothing
note      the query only excludes
        → add what is wanted";
    assert_eq!(heading(&TextOptions::default()), wide);
    let narrow = "\
query     history && (france spain) +AC/DC
warning   80 % of the time went into expanding
          title:a* to 12,400 terms
        > a longer beginning has at most 310
          terms, as an*
hint      no document has title:pariss, so it
          adds nothing
note      the query only excludes
        > add what is wanted";
    assert_eq!(heading(&TextOptions::default().width(48).ascii(true)), narrow);
}

#[test]
fn colours_change_nothing_but_colours() {
    let tree = sample::analyzed();
    let coloured = tree.to_text(&TextOptions::default().color(true));
    assert!(coloured.contains("\x1b[1mIntersect\x1b[0m"));
    let mut stripped = String::new();
    for (at, part) in coloured.split('\x1b').enumerate() {
        let end = if at == 0 { 0 } else { part.find('m').unwrap() + 1 };
        stripped.push_str(&part[end..]);
    }
    assert_eq!(stripped, tree.to_string());
}

#[test]
fn hostile_text_is_shown_not_obeyed() {
    let hostile = "a\x1b[2J\r\n\u{202e}b\u{9b}";
    let mut tree = ExplainTree::new(hostile, ExplainNode::new("Term", hostile));
    tree.notes = vec![hostile.into()];
    let remedy = Some(hostile.into());
    tree.findings = vec![Finding { message: hostile.into(), remedy, ..Finding::default() }];
    tree.plan.decisions = vec![Decision::rejected(hostile, hostile)];
    let text = tree.to_string();
    let bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    assert!(!text.contains(bad), "{text:?}");
    assert!(text.starts_with("query     a\\u{1b}[2J\\r\\n\\u{202e}b\\u{9b}\n"), "{text}");
}

proptest! {
    #[test]
    fn no_line_is_wider_than_the_terminal(
        label in "(\\PC|東|[a-z ]){0,200}", reason in "(\\PC|[a-z ]{1,30}){0,30}", width in 26usize..120, ascii: bool,
    ) {
        let mut node = ExplainNode::new("Term", label.clone());
        node.decisions = vec![Decision::accepted(label.clone(), reason.clone())];
        let mut root = ExplainNode::new("Union", label.clone());
        root.children = vec![node.clone(), node];
        let mut tree = ExplainTree::new(label.clone(), root);
        tree.notes = vec![reason.clone()];
        tree.findings = vec![Finding { message: reason, remedy: Some(label), ..Finding::default() }];
        for line in tree.to_text(&TextOptions::default().width(width).ascii(ascii)).lines() {
            prop_assert!(terminal::width(line) <= width, "{} > {}: {:?}", terminal::width(line), width, line);
            prop_assert!(!ascii || line.is_ascii());
        }
    }
}
