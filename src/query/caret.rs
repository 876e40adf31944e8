//! Showing the place of an error in a query.

use std::ops::Range;

use crate::terminal;

/// Columns of the query shown on each side of the place at the most.
const CONTEXT: usize = 36;

/// Renders the line of the query that holds the start of `span`.
///
/// Below it is a caret under every column of the span. A long line is cut to the part around the span; invisible
/// characters are escaped. Any span is accepted: it is clipped to the query.
///
/// ```
/// use treepie::query::{ParseOptions, parse, render_caret};
///
/// let text = "history AND (france";
/// let error = parse(text, &ParseOptions::default()).unwrap_err();
/// assert_eq!(render_caret(text, error.span().unwrap()), "history AND (france\n            ^");
/// ```
pub fn render_caret(query: &str, span: Range<usize>) -> String {
    let start = boundary(query, span.start);
    let line_start = query[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = query[start..].find('\n').map_or(query.len(), |at| start + at);
    let end = boundary(query, span.end.min(line_end)).max(start);

    // Characters from the place outwards, so that a long line costs no more than a short one.
    let mut left: Vec<char> = query[line_start..start].chars().rev().take(CONTEXT + 1).collect();
    let cut_left = left.len() > CONTEXT;
    left.truncate(CONTEXT);
    let before: String = left.into_iter().rev().collect();
    let cut_off = |text: &str, n| text.char_indices().nth(n).map_or(text.len(), |(at, _)| at);
    let marked = &query[start..end][..cut_off(&query[start..end], CONTEXT)];
    let rest = &query[start + marked.len()..line_end];
    let after = &rest[..cut_off(rest, CONTEXT)];

    let dots = |cut| if cut { "…" } else { "" };
    let before = format!("{}{}", dots(cut_left), terminal::printable(&before));
    let marked = terminal::printable(marked);
    format!(
        "{before}{marked}{}{}\n{}{}",
        terminal::printable(after),
        dots(after.len() < rest.len()),
        " ".repeat(terminal::width(&before)),
        "^".repeat(terminal::width(&marked).max(1)),
    )
}

/// The nearest character boundary at or before `at`.
fn boundary(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn carets_stand_under_the_span() {
        let cases = [
            ("a AND", 5..5, "a AND\n     ^"),
            ("a OR OR b", 5..7, "a OR OR b\n     ^^"),
            ("東京 ) x", 7..8, "東京 ) x\n     ^"),
            ("one\ntwo )\nthree", 8..9, "two )\n    ^"),
            ("a\tb )", 4..5, "a\\tb )\n     ^"),
            ("", 0..0, "\n^"),
        ];
        for (query, span, expected) in cases {
            assert_eq!(render_caret(query, span), expected);
        }
    }

    #[test]
    fn long_lines_are_shown_around_the_span() {
        let query = format!("{}({}", "x".repeat(1000), "y".repeat(1000));
        let expected = format!("…{}({}…\n{}^", "x".repeat(36), "y".repeat(36), " ".repeat(37));
        assert_eq!(render_caret(&query, 1000..1001), expected);
    }

    proptest! {
        #[test]
        fn any_span_of_any_text_is_fine(query in ".{0,80}", from in 0usize..200, to in 0usize..200) {
            let shown = render_caret(&query, from..to);
            prop_assert_eq!(shown.lines().count().max(1), 2, "{:?}", shown);
        }
    }
}
