//! Tables of the guide that say what is found, asked of an index.

use treepie::search::{Collapse, Order};
use treepie::{Document, Facet, Field, FieldKind, Index, Schema};

const PAGE: &str = include_str!("../../src/docs/guide/schema.md");
/// Texts that the page names above the table.
const TEXTS: [&str; 7] = [
    "The Zürich running-shoes of Anna",
    "東京都に行きました",
    "京都の寺",
    "コンピューター入門",
    "上海市的历史",
    "서울특별시 관광",
    "ภาษาไทยวันนี้",
];

/// Cells of a row; a bar behind a backslash is part of its cell.
fn cells(row: &str) -> Vec<String> {
    let row = row.replace("\\|", "\u{0}");
    row.trim_matches('|').split('|').map(|cell| cell.trim().replace('\u{0}', "|")).collect()
}

/// The first code of a cell.
fn code(cell: &str) -> &str {
    cell.split('`').nth(1).unwrap_or_else(|| panic!("no code: {cell}"))
}

#[test]
fn analyzers_find_what_the_guide_says() -> treepie::Result<()> {
    for text in TEXTS {
        assert!(PAGE.contains(&format!("`{text}`")), "the page names {text}");
    }
    let (_, table) = PAGE.split_once("| query | `default` |").expect("a table of analyzers");
    let head = cells(&format!("| query | `default` |{}", table.lines().next().unwrap()));
    let rows: Vec<_> = table.lines().skip(2).take_while(|line| line.starts_with('|')).collect();
    assert!(rows.len() > 10 && head.len() == 6, "{head:?}");
    for (nth, spec) in head.iter().enumerate().skip(1) {
        let field = Field::new("text", FieldKind::Text).analyzer(code(spec));
        let index = Index::in_memory(Schema::builder().field(field).build()?);
        let mut writer = index.writer()?;
        for text in TEXTS {
            writer.add(Document::new().with("text", text))?;
        }
        writer.commit()?;
        let searcher = index.searcher()?;
        for row in &rows {
            let row = cells(row);
            let is_found = searcher.count(&searcher.parse(code(&row[0]))?)? > 0;
            assert_eq!(row[nth] == "yes", is_found, "{} by {spec}", row[0]);
        }
    }
    Ok(())
}

/// Runs of digits as one sign, and words that follow a number in the plural.
fn without_numbers(text: &str) -> String {
    let mut out = String::new();
    for char in text.chars() {
        match char {
            '0'..='9' | ',' if out.ends_with('#') => {}
            '0'..='9' if !out.ends_with(char::is_alphabetic) => out.push('#'),
            _ => out.push(char),
        }
    }
    out.replace("# term ", "# terms ").replace("# term:", "# terms:")
}

/// Plans of many searches have no algorithm and no rule that the glossary does not explain.
#[test]
fn the_glossary_has_what_plans_say() -> treepie::Result<()> {
    const PAGE: &str = include_str!("../../src/docs/guide/explain.md");
    let (_, glossary) = PAGE.split_once("\n# Glossary\n").expect("a glossary");
    let explained: Vec<String> =
        glossary.split('`').skip(1).step_by(2).map(without_numbers).collect();
    let check = |of: &str, what: &str| {
        let what = without_numbers(what);
        // What differs follows behind: numbers of terms, functions, names of fields.
        let is_explained = explained.iter().any(|code| {
            let code = code.strip_suffix("# terms").unwrap_or(code);
            what == code || code.len() > 5 && what.starts_with(code)
        });
        assert!(is_explained || what.is_empty(), "'{what}' of {of} is not in the glossary");
    };

    let number = Field::new("n", FieldKind::I64);
    let kind = Field::new("kind", FieldKind::Keyword).column(true);
    let schema = Schema::builder().text("t").field(kind).field(number).keyword("tag").build()?;
    let index = Index::in_memory(schema);
    let mut writer = index.writer()?;
    for n in 0..3_000_i64 {
        let text =
            format!("all {} w{} of them", if n % 3 == 0 { "some" } else { "others" }, n % 700);
        let document = Document::new().with("t", text).with("n", n % 90);
        writer.add(
            document.with("kind", format!("k{}", n % 7)).with("tag", format!("{}", n % 900)),
        )?;
    }
    writer.commit()?;
    let searcher = index.searcher()?;
    let mut n_checked = 0;
    for text in [
        "some",
        "all",
        "nowhere AND some",
        "some OR others",
        "some w1 w2",
        "+some +w3",
        "some -w6",
        "-some",
        "*",
        "w1*",
        "/w[12]./",
        "w1~1",
        "\"all some\"",
        "\"some of\"~2",
        "\"some them\"~>2",
        "\"some them\"~<>2",
        "(some w1 w2)~2",
        "n:[10 TO 20}",
        "some AND n:[10 TO 80}",
        "kind:*",
        "kind:IN [k1 k2]",
        "tag:[1 TO 3}",
        "PHRASE [all so*]",
    ] {
        let query = searcher.parse(text)?;
        let search = || searcher.search(&query);
        let facets =
            || search().facet("kind", 3).facet("tag", 3).with_facet(Facet::statistics("n"));
        let sort = |keys: &str| treepie::SortKey::list(keys).map(|keys| search().sort(keys));
        let trees = [
            search().explain()?,
            search().analyze()?,
            search().count_only().analyze()?,
            search().total(treepie::search::TotalMode::Unknown).analyze()?,
            search().order(Order::Document).analyze()?,
            search().pattern_terms(3).analyze()?,
            search().collapse(Collapse::by("kind")).analyze()?,
            facets().analyze()?,
            sort("n:desc,kind")?.analyze()?,
            sort("random:1")?.analyze()?,
            sort("(n * 2)")?.analyze()?,
            sort("_score,n")?.analyze()?,
        ];
        for tree in &trees {
            for node in tree.plan.iter() {
                check(text, &node.algorithm);
                node.decisions.iter().for_each(|decision| check(text, &decision.rule));
                n_checked += 1;
            }
            for facet in &tree.facets {
                check(text, &facet.algorithm);
                facet.decisions.iter().for_each(|decision| check(text, &decision.rule));
            }
        }
    }
    assert!(n_checked > 500, "{n_checked}");
    Ok(())
}
