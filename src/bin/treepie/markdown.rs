//! Pages of the guide, as text for a terminal.
//!
//! Parts for programmers in Rust are left out: examples, and paragraphs that only lead to one.

use std::borrow::Cow;

use crate::terminal;

/// Columns of the first cell of a row, beyond which the others begin on a line of their own.
const FIRST_CELL_MAX: usize = 26;
const INDENT: &str = "  ";

/// Sections of a page: each with its heading; what comes before the first is left out.
pub(crate) fn sections(page: &str) -> Vec<(&str, &str)> {
    let (mut headings, mut at, mut is_code) = (vec![], 0, false);
    for line in page.split_inclusive('\n') {
        // Lines of code may look like headings.
        is_code ^= line.starts_with("```");
        if let Some(heading) = line.strip_prefix("# ").filter(|_| !is_code) {
            headings.push((heading.trim_end(), at, at + line.len()));
        }
        at += line.len();
    }
    let ends = headings.iter().skip(1).map(|(_, start, _)| *start).chain([page.len()]);
    let sections = headings.iter().zip(ends);
    sections.map(|((heading, _, start), end)| (*heading, &page[*start..end])).collect()
}

/// A section without its heading, in so many columns; what it has of code is not wrapped. Empty where all of it is for
/// programmers in Rust.
pub(crate) fn rendered(section: &str, columns: usize) -> String {
    let mut out = String::new();
    let mut lines = section.lines().peekable();
    let mut paragraph = String::new();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let is_rust = language == "rust";
            // It would lead to nothing.
            let leads = paragraph.ends_with(':');
            end_paragraph(&mut out, &mut paragraph, columns, is_rust && leads);
            for code in lines.by_ref().take_while(|line| *line != "```") {
                if !is_rust {
                    out.push_str(format!("{INDENT}{INDENT}{code}").trim_end());
                    out.push('\n');
                }
            }
        } else if line.starts_with('|') {
            end_paragraph(&mut out, &mut paragraph, columns, false);
            let mut rows = vec![cells(line)];
            while let Some(row) = lines.next_if(|line| line.starts_with('|')) {
                if !row.starts_with("|-") {
                    rows.push(cells(row));
                }
            }
            table(&mut out, &rows, columns);
        } else if line.is_empty() {
            // Blank lines before what leads to code do not end the paragraph that it may drop.
            let is_code = lines.peek().is_some_and(|next| next.starts_with("```rust"));
            if !is_code {
                end_paragraph(&mut out, &mut paragraph, columns, false);
                blank(&mut out);
            }
        } else {
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(line);
        }
    }
    end_paragraph(&mut out, &mut paragraph, columns, false);
    let text = out.trim_end();
    match text.is_empty() {
        true => String::new(),
        false => format!("{text}\n"),
    }
}

/// Ends a block with one blank line.
fn blank(out: &mut String) {
    if !out.is_empty() && !out.ends_with("\n\n") {
        out.push('\n');
    }
}

fn end_paragraph(out: &mut String, paragraph: &mut String, columns: usize, is_dropped: bool) {
    let text = plain(paragraph);
    let is_of_rust = text.starts_with("In Rust") || text.starts_with("From Rust");
    if !is_dropped && !is_of_rust && !text.is_empty() {
        wrap(out, &text, columns, "");
        out.push('\n');
    }
    paragraph.clear();
}

/// Text without its links and its bold print.
fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains("](") && !text.contains("**") {
        return Cow::Borrowed(text);
    }
    let mut rest = text;
    let mut out = String::with_capacity(text.len());
    while let Some((before, behind)) = rest.split_once("](") {
        let (before, link) = before.rsplit_once('[').unwrap_or((before, ""));
        out.push_str(before);
        out.push_str(link);
        rest = behind.split_once(')').map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    Cow::Owned(out.replace("**", ""))
}

/// Cells of a row; a bar behind a backslash is part of its cell.
fn cells(row: &str) -> Vec<String> {
    let row = row.replace("\\|", "\0");
    let cells = row.trim().trim_matches('|').split('|');
    cells.map(|cell| plain(cell.trim()).replace('\0', "|")).collect()
}

/// Rows below a head: the first cells in a column, of several others those after the second behind the names of their columns.
fn table(out: &mut String, rows: &[Vec<String>], columns: usize) {
    let Some((head, rows)) = rows.split_first() else { return };
    let first = |row: &[String]| match row.first() {
        Some(cell) => cell.replace("`, `", "   ").replace('`', ""),
        None => String::new(),
    };
    let widths = rows.iter().map(|row| terminal::width(&first(row)));
    let width = widths.filter(|width| *width <= FIRST_CELL_MAX).max().unwrap_or(0);
    let indent = format!("{INDENT}{:width$}{INDENT}", "");
    let says_whether = |row: &Vec<String>| row.iter().skip(1).all(|it| it == "yes" || it == "–");
    let say_whether = head.len() > 3 && rows.iter().all(says_whether);
    for row in rows {
        let mut told: Vec<String> = vec![];
        if say_whether {
            let those = head.iter().zip(row).filter(|(_, cell)| *cell == "yes");
            let those: Vec<_> = those.map(|(name, _)| name.replace('`', "")).collect();
            told.push(those.join(", "));
        }
        for (nth, cell) in row.iter().enumerate().skip(if say_whether { row.len() } else { 1 }) {
            match head.get(nth) {
                Some(name) if nth > 1 || row.len() > 3 => told.push(format!("{name}: {cell}")),
                _ => told.push(cell.clone()),
            }
        }
        let (first, told) = (first(row), told.join("; "));
        let shown = terminal::width(&first);
        out.push_str(INDENT);
        out.push_str(&first);
        match width.checked_sub(shown) {
            Some(padding) => {
                let mut text = String::new();
                wrap(&mut text, &told, columns.saturating_sub(indent.len()), "");
                let mut lines = text.lines();
                out.push_str(&format!("{:padding$}{INDENT}{}\n", "", lines.next().unwrap_or("")));
                lines.for_each(|line| out.push_str(&format!("{indent}{line}\n")));
            }
            None => {
                out.push('\n');
                wrap(out, &told, columns, &indent);
            }
        }
    }
}

/// Adds a text in lines of so many columns, each behind an indent.
fn wrap(out: &mut String, text: &str, columns: usize, indent: &str) {
    let mut column = 0;
    for word in text.split(' ') {
        let width = terminal::width(word);
        if column == 0 {
            out.push_str(indent);
            column = indent.len();
        } else if column + 1 + width > columns {
            out.push('\n');
            out.push_str(indent);
            column = indent.len();
        } else {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += width;
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "An intro.\n\n# One\n\nSee [`open`](crate::open) and **bold**\nwords. Long enough.\n\n\
        | query | finds | and |\n|---|---|---|\n| `a`, `b` | the \\| one | x |\n\n\
        ```text\n$ run\n```\n\n# In Rust\n\nSo it is done:\n\n```rust\nfn main() {}\n# Ok\n```\n\nFrom Rust: nothing.\n";

    #[test]
    fn pages_are_shown_without_markup_and_without_rust() {
        let sections = sections(PAGE);
        assert_eq!(sections.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["One", "In Rust"]);
        let shown = rendered(sections[0].1, 24);
        let expected = "See `open` and bold\nwords. Long enough.\n\n  a   b  the | one; and:\n         x\n\n    $ run\n";
        assert_eq!(shown, expected);
        assert_eq!(rendered(sections[1].1, 24), "");
    }

    #[test]
    fn cells_that_say_yes_or_no_name_those_that_do() {
        let page = "# T\n| q | `a` | `b` | `c` |\n|---|---|---|---|\n| `x` | yes | – | yes |\n| `y` | – | – | yes |\n";
        let (_, section) = sections(page)[0];
        assert_eq!(rendered(section, 60), "  x  a, c\n  y  c\n");
    }

    #[test]
    fn a_long_first_cell_has_its_line() {
        let page = "\n# T\n| q | f |\n|---|---|\n| `short` | yes |\n| `a very long cell, longer than others` | no |\n";
        let (_, section) = sections(page)[0];
        let expected = "  short  yes\n  a very long cell, longer than others\n         no\n";
        assert_eq!(rendered(section, 60), expected);
    }
}
