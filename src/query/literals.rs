//! Characters of a regular expression that no term of its field can have.
//!
//! An expression is taken as it is written, so that one for another field, or with a letter in upper case, silently
//! matches nothing. A remark says so where a character that every match must have is cut at or changed by the analyzer.

use super::bind::{Binder, shortened};
use crate::error::Result;
use crate::ids::FieldId;
use crate::schema::FieldKind;

impl Binder<'_> {
    /// Notes the first character of an expression that keeps it from matching any word of a field.
    pub(super) fn note_impossible(&mut self, id: FieldId, regex: &str) -> Result<()> {
        let field = self.schema.get(id);
        if field.kind != FieldKind::Text {
            return Ok(());
        }
        let analyzer = self.analyzers.query_time(field)?;
        let (name, shown) = (&field.name, shortened(regex));
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
                break;
            }
            if !normal.contains(c) {
                self.note(format!(
                    "words of '{name}' have '{normal}' for '{c}', so none matches /{shown}/"
                ));
                break;
            }
        }
        Ok(())
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
                // How often something is there: maybe not at all.
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
