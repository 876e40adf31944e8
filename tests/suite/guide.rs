//! Tables of the guide that say what is found, asked of an index.

use treepie::{Document, Field, FieldKind, Index, Schema};

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
