//! Queries of plain words, each with a `+` or without.
//!
//! Most that are asked are of this kind. They need neither tokens nor brackets.

use super::{DefaultOperator, placed};
use crate::query::Query;
use crate::query::lexer::OPERATORS;

/// The query of words of letters and digits with blanks between them, at most so many; `None` for any other text, which may be
/// one all the same.
pub(super) fn plain_words(text: &str, operator: DefaultOperator, n_max: usize) -> Option<Query> {
    let (mut must, mut should) = (vec![], vec![]);
    let mut rest = text.trim_ascii_start();
    while !rest.is_empty() {
        let word = rest.strip_prefix('+').unwrap_or(rest);
        let is_must = word.len() < rest.len() || operator == DefaultOperator::And;
        let len = word_len(word);
        let (word, behind) = word.split_at_checked(len)?;
        rest = behind.trim_ascii_start();
        let ends = !word.is_empty() && (behind.is_empty() || rest.len() < behind.len());
        if !ends || OPERATORS.contains(&word) || must.len() + should.len() == n_max {
            return None;
        }
        let end = text.len() - behind.len();
        let query = placed(Query::word(word), None, &(end - len..end));
        if is_must { must.push(query) } else { should.push(query) }
    }
    match must.len() + should.len() {
        0 => None,
        1 => must.pop().or(should.pop()),
        _ => Some(Query::Group { must, should, must_not: vec![], minimum: None }),
    }
}

/// Bytes of the letters and digits that a text begins with.
fn word_len(text: &str) -> usize {
    match text.bytes().position(|byte| !byte.is_ascii_alphanumeric()) {
        Some(at) if text.as_bytes()[at].is_ascii() => at,
        Some(_) => text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len()),
        None => text.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ParseOptions, Parser};
    use super::*;
    use crate::test_sizes::{each_unless_miri, unless_miri};

    fn both_ways(text: &str, operator: DefaultOperator) -> Option<Query> {
        let options = ParseOptions::default().default_operator(operator);
        let plain = plain_words(text, operator, 8);
        if let Some(plain) = &plain {
            let parsed = Parser::new(text, &options).run().unwrap();
            assert_eq!(format!("{plain:?}"), format!("{parsed:?}"), "{text:?}");
        }
        plain
    }

    #[test]
    fn plain_words_are_read_as_the_parser_reads_them() {
        let parts = [
            "paris", "+paris", "A1", "  ", "\t", " ", "AND", "or", "OR", "-a", "+", "é", "공", "”",
            "a:b", "(", "TO", "a+b",
        ];
        let n = parts.len();
        let mut n_plain = 0;
        for operator in [DefaultOperator::Or, DefaultOperator::And] {
            for nth in each_unless_miri(0..n * n * n * n, 997) {
                let text: String = (0..4).map(|at| parts[nth / n.pow(at) % n]).collect();
                n_plain += usize::from(both_ways(&text, operator).is_some());
            }
        }
        assert!(n_plain > unless_miri(1000, 1), "{n_plain}");
    }

    #[test]
    fn whatever_else_a_text_may_be_is_left_to_the_parser() {
        let or = DefaultOperator::Or;
        for text in [
            "", " ", "+", "+ a", "++a", "a AND b", "TO", "a-b", "-a", "a”", "e\u{301}", "a^2",
            "a:b", "\"a\"", "a\u{a0}b",
        ] {
            assert!(both_ways(text, or).is_none(), "{text:?}");
        }
        let words = ["a"; 9].join(" ");
        assert!(both_ways(&words[2..], or).is_some());
        assert!(both_ways(&words, or).is_none(), "more words than a query may have");
    }
}
