//! Characters of a regular expression that no term of its field can have.
//!
//! An expression for another field, or one of several words, would silently match nothing. A remark says so where a character
//! that every match must have is cut at or changed by the analyzer, and if no term begins as every match does.

use super::bind::{Binder, shortened};
use crate::error::Result;
use crate::ids::FieldId;
use crate::schema::FieldKind;

impl Binder<'_> {
    /// Notes the first character of an expression that keeps it from matching any word of a field.
    pub(super) fn note_impossible(
        &mut self,
        id: FieldId,
        written: &str,
        regex: &str,
        beginning: &str,
    ) -> Result<()> {
        let field = self.schema.get(id);
        if field.kind != FieldKind::Text {
            return Ok(());
        }
        let analyzer = self.analyzers.query_time(field)?;
        let (name, shown) = (&field.name, shortened(written));
        for c in required(regex) {
            let is_in_a_word = ['x', '0', '\u{4E00}'].into_iter().any(|beside| {
                let text = format!("{beside}{c}{beside}");
                let at = beside.len_utf8();
                analyzer.cuts(&text).iter().any(|(_, cut)| cut.contains(&at))
            });
            let normal = analyzer.normalize(c.encode_utf8(&mut [0; 4]));
            if !is_in_a_word {
                self.note(format!(
                    "the analyzer of '{name}' cuts words at '{c}', so none matches /{shown}/"
                ));
                return Ok(());
            }
            if !normal.contains(c) {
                self.note(format!(
                    "words of '{name}' have '{normal}' for '{c}', so none matches /{shown}/"
                ));
                return Ok(());
            }
        }
        self.note_beginning(id, beginning, &format!("/{shown}/"))
    }

    /// Notes that no term begins as every match of a pattern does: with an article that is taken off, or with more characters
    /// than a term has where words are cut into pairs.
    pub(super) fn note_beginning(
        &mut self,
        id: FieldId,
        beginning: &str,
        written: &str,
    ) -> Result<()> {
        let field = self.schema.get(id);
        if field.kind != FieldKind::Text || beginning.is_empty() {
            return Ok(());
        }
        // A document's terms, of which there are more than a query's.
        let analyzer = self.analyzers.index_time(field)?;
        if analyzer.is_default() && beginning.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Ok(());
        }
        let begins = |rest: &str| {
            let terms = analyzer.tokens(&format!("{beginning}{rest}"));
            terms.iter().any(|term| term.starts_with(beginning))
        };
        if !["", "xx", "00", "\u{4E00}"].into_iter().any(begins) {
            let name = &field.name;
            self.note(format!(
                "the analyzer of '{name}' makes no term that begins with '{beginning}', so none matches {written}"
            ));
        }
        Ok(())
    }

    /// Notes that no term begins so, if that is no word.
    pub(super) fn note_prefix(&mut self, id: FieldId, text: &str) -> Result<()> {
        let field = self.schema.get(id);
        if field.kind != FieldKind::Text || text.ends_with(char::is_alphanumeric) {
            return Ok(());
        }
        match self.analyzers.pattern_terms(field, text)?.pop() {
            Some(last) => self.note_beginning(id, &last.term, &format!("'{}*'", shortened(text))),
            None => Ok(()),
        }
    }
}

/// Characters that stand for themselves and that every match has, as far as that shows without parsing: those
/// outside of brackets in an expression without alternatives and flags.
fn required(regex: &str) -> Vec<char> {
    let (mut chars, mut depth, mut all) = (regex.chars().peekable(), 0, vec![]);
    while let Some(c) = chars.next() {
        let literal = match c {
            '\\' => match chars.next() {
                Some(escaped) if !escaped.is_alphanumeric() && escaped != '<' && escaped != '>' => {
                    Some(escaped)
                }
                // A class, an assertion or a code, which go on in braces or for some characters.
                Some(escaped) => {
                    let more = match escaped {
                        'p' | 'P' => 1,
                        'x' => 2,
                        'u' => 4,
                        'U' => 8,
                        _ => 0,
                    };
                    match chars.peek() {
                        Some('{') => drop(chars.by_ref().find(|c| *c == '}')),
                        _ => drop(chars.by_ref().take(more).count()),
                    }
                    None
                }
                None => None,
            },
            '(' if chars.peek() == Some(&'?') => return vec![],
            '(' | '[' => {
                depth += 1;
                None
            }
            ')' | ']' => {
                depth -= 1;
                None
            }
            '|' if depth == 0 => return vec![],
            '{' => {
                // The number of repetitions may be 0.
                let times: String = chars.by_ref().take_while(|c| *c != '}').collect();
                if times.starts_with('0') || times.starts_with(',') {
                    all.pop();
                }
                None
            }
            '.' | '^' | '$' | '+' => None,
            '?' | '*' => {
                // Nor is what it stands behind, which is no character behind brackets.
                all.pop();
                None
            }
            c => Some(c),
        };
        if depth == 0 {
            // A place for whatever else stands there, for what may follow it.
            all.push(literal);
        }
    }
    all.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_characters_that_every_match_has_are_required() {
        for (regex, expected) in [
            ("x-ray", "x-ray"),
            ("x-?ray", "xray"),
            ("x-*ra+y", "xray"),
            ("a{2}b{0,3}c{,2}", "a"),
            ("(a|-)b", "b"),
            ("(-)?b", "b"),
            ("a|b", ""),
            ("(?i)A", ""),
            ("[-a]b\\-\\d\\pL\\p{Greek}\\xC3\\.", "b-."),
            ("^a$", "a"),
            ("", ""),
        ] {
            assert_eq!(required(regex).into_iter().collect::<String>(), expected, "{regex}");
        }
    }
}
