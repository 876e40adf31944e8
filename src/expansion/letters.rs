//! Letters of a regular expression, folded as a field's terms are: `/ÜB.*/` meets `ubung`.
//!
//! The filters of characters stand for a mapping of texts, and what is wanted are the images of the texts that an expression
//! matches. Letters that stand side by side are mapped as a whole, and a letter that becomes several is put in brackets where
//! a repetition follows. A class becomes the images of its members; those that are no single character are alternatives.
//! A negated one is what is left beside the images of what it excludes. A class of very many members, as `.` and `\pL`, stays,
//! as do `\w`, `\d` and `\s`, because they have what their members become. The rest of the expression is kept as it was written.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::slice::from_ref;

use regex_syntax::ast::parse::ParserBuilder;
use regex_syntax::ast::{AssertionKind, Ast, RepetitionKind, Span};
use regex_syntax::hir::translate::TranslatorBuilder;
use regex_syntax::hir::{Class, HirKind};
use unicode_normalization::UnicodeNormalization;

use super::REGEX_NEST_MAX;
use crate::analysis::Ends;
use crate::analysis::{Analyzer, Normalizer};

/// Members of all classes of an expression together that are mapped one by one.
const MEMBERS_MAX: usize = 16_384;

/// Filters that make the letters of a pattern those of terms: the analyzer of a field of texts, or the normalizer of one of keywords.
struct Letters<'l> {
    analyzer: Option<&'l Analyzer>,
    normalizer: Option<RefCell<Normalizer>>,
}

impl Letters<'_> {
    fn normal(&self, text: &str) -> String {
        let mut normal = match self.analyzer {
            Some(analyzer) => analyzer.normalize(text),
            None => text.to_owned(),
        };
        if let Some(normalizer) = &self.normalizer {
            normalizer.borrow_mut().apply(&mut normal);
        }
        normal
    }

    fn trim(&self, text: &mut String, ends: Ends) {
        if let Some(analyzer) = self.analyzer {
            analyzer.trim(text, ends);
        }
    }
}

/// A part of an expression that is still to be mapped.
struct Node<'t> {
    tree: &'t Ast,
    /// Which ends of a match it has.
    ends: Ends,
    is_repeated: bool,
}

/// An expression in the letters of terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lettered {
    pub(crate) regex: String,
    /// Beginning of every match, as far as that is a text.
    pub(crate) beginning: String,
}

/// An expression with its letters as the terms have them; one that cannot be read is left to who compiles it.
pub(crate) fn in_letters(
    regex: &str,
    analyzer: Option<&Analyzer>,
    normalizer: Option<&Normalizer>,
) -> Lettered {
    if analyzer.is_none() && normalizer.is_none() {
        return Lettered { regex: regex.to_owned(), beginning: String::new() };
    }
    let letters = &Letters { analyzer, normalizer: normalizer.cloned().map(RefCell::new) };
    // A mark behind its letter is written as one character, so that what repeats it repeats both.
    let composes = letters.normal("e\u{301}") == letters.normal("é");
    let written: String = match composes && !regex.is_ascii() {
        true => regex.nfc().collect(),
        false => regex.to_owned(),
    };
    let Ok(tree) = ParserBuilder::new().nest_limit(REGEX_NEST_MAX).build().parse(&written) else {
        return Lettered { regex: regex.to_owned(), beginning: String::new() };
    };
    let mut mapper = Mapper {
        letters,
        written: &written,
        edits: vec![],
        beginning: String::new(),
        n_members: 0,
    };
    mapper.map(&tree);
    let (mut mapped, mut at) = (String::with_capacity(written.len()), 0);
    mapper.edits.sort_by_key(|(range, _)| range.start);
    for (range, text) in &mapper.edits {
        mapped.push_str(written.get(at..range.start).unwrap_or_default());
        mapped.push_str(text);
        at = range.end;
    }
    mapped.push_str(written.get(at..).unwrap_or_default());
    Lettered { regex: mapped, beginning: mapper.beginning }
}

struct Mapper<'l> {
    letters: &'l Letters<'l>,
    written: &'l str,
    /// Bytes of the expression and what takes their place.
    edits: Vec<(Range<usize>, String)>,
    beginning: String,
    /// Members that were mapped.
    n_members: usize,
}

impl Mapper<'_> {
    fn map(&mut self, tree: &Ast) {
        let mut todo = vec![];
        let row = match tree {
            Ast::Concat(concat) => &concat.asts[..],
            one => from_ref(one),
        };
        let ends = if self.is_of_article(row) { Ends::NONE } else { Ends::BOTH };
        self.beginning = self.map_row(row, ends, &mut todo);
        while let Some(Node { tree, ends, is_repeated }) = todo.pop() {
            let whole = |tree| Node { tree, ends, is_repeated: false };
            match tree {
                Ast::Literal(_) => drop(self.map_run(from_ref(tree), ends, is_repeated)),
                Ast::Concat(concat) => drop(self.map_row(&concat.asts, ends, &mut todo)),
                Ast::Alternation(any) => todo.extend(any.asts.iter().map(whole)),
                Ast::Group(group) => todo.push(whole(&group.ast)),
                Ast::Repetition(repetition) => {
                    // An end that is repeated is none.
                    let is_once = repetition.op.kind == RepetitionKind::ZeroOrOne;
                    let ends = if is_once { ends } else { Ends::NONE };
                    todo.push(Node { tree: &repetition.ast, ends, is_repeated: true });
                }
                Ast::ClassUnicode(_) | Ast::ClassBracketed(_) => self.map_class(tree),
                // Digits become digits, and spaces a space.
                Ast::ClassPerl(_)
                | Ast::Empty(_)
                | Ast::Flags(_)
                | Ast::Dot(_)
                | Ast::Assertion(_) => {}
            }
        }
    }

    /// Whether nothing is written but what is taken off words, which leaves an expression for any word.
    fn is_of_article(&self, row: &[Ast]) -> bool {
        let is_dot = |node: &Ast| matches!(node, Ast::Dot(_));
        let is_open = |node: &Ast| match node {
            Ast::Repetition(repetition) => is_dot(&repetition.ast),
            other => is_dot(other) || is_edge(other),
        };
        let mut left = self.letters.normal(&row.iter().filter_map(letter).collect::<String>());
        self.letters.trim(&mut left, Ends { first: true, last: false });
        left.is_empty() && row.iter().all(|node| is_letter(node) || is_open(node))
    }

    /// Maps the letters of nodes that stand one behind the other, and leaves the other nodes to do; the text at the beginning.
    fn map_row<'t>(&mut self, row: &'t [Ast], ends: Ends, todo: &mut Vec<Node<'t>>) -> String {
        let from = row.iter().position(|node| !is_edge(node)).unwrap_or(row.len());
        let to = row.iter().rposition(|node| !is_edge(node)).map_or(from, |last| last + 1);
        let (mut at, mut beginning) = (0, String::new());
        for run in row.chunk_by(|a, b| is_letter(a) && is_letter(b)) {
            let end = at + run.len();
            let ends = Ends { first: ends.first && at == from, last: ends.last && end == to };
            match run {
                [Ast::Literal(_), ..] => {
                    let text = self.map_run(run, ends, false);
                    if at == from {
                        beginning = text;
                    }
                }
                others => {
                    todo.extend(others.iter().map(|tree| Node { tree, ends, is_repeated: false }))
                }
            }
            at = end;
        }
        beginning
    }

    /// Maps letters side by side; the text that they become.
    fn map_run(&mut self, run: &[Ast], ends: Ends, is_repeated: bool) -> String {
        let text: String = run.iter().filter_map(letter).collect();
        let mut normal = self.letters.normal(&text);
        self.letters.trim(&mut normal, ends);
        if let ([first, ..], [.., last]) = (run, run)
            && normal != text
        {
            let mut mapped = escaped(&normal);
            if normal.is_empty() || is_repeated && normal.chars().nth(1).is_some() {
                mapped = format!("(?:{mapped})");
            }
            self.edits.push((first.span().start.offset..last.span().end.offset, mapped));
        }
        normal
    }

    fn map_class(&mut self, class: &Ast) {
        let (positive, is_negated) = match class {
            Ast::ClassBracketed(set) if set.negated => {
                let mut positive = set.clone();
                positive.negated = false;
                (Ast::ClassBracketed(positive), true)
            }
            other => (other.clone(), false),
        };
        let Some(members) = members(&positive, MEMBERS_MAX - self.n_members) else { return };
        self.n_members += members.len();
        let (mut single, mut others) = (BTreeSet::new(), BTreeSet::new());
        for member in &members {
            let image = self.letters.normal(member.encode_utf8(&mut [0; 4]));
            let mut chars = image.chars();
            match (chars.next(), chars.next()) {
                (Some(only), None) => drop(single.insert(only)),
                // A class stands for one character, whatever it excludes.
                _ if is_negated => {}
                _ => drop(others.insert(image)),
            }
        }
        let is_there = single.iter().all(|image| members.binary_search(image).is_ok());
        if is_there && others.is_empty() || is_negated && single.is_empty() {
            return;
        }
        let Span { start, end } = class.span();
        let span = start.offset..end.offset;
        let written = self.written.get(span.clone()).unwrap_or_default();
        let set = match single.len() {
            0 => String::new(),
            _ if is_there => written.to_owned(),
            1 if !is_negated => escaped(&single.iter().collect::<String>()),
            _ => set_of(&single, is_negated),
        };
        let mapped = match others.is_empty() {
            true => set,
            false => {
                let others = others.iter().map(|text| escaped(text));
                let any: Vec<_> =
                    (!set.is_empty()).then_some(set).into_iter().chain(others).collect();
                format!("(?:{})", any.join("|"))
            }
        };
        self.edits.push((span, mapped));
    }
}

/// A class of these characters, or of all but these.
fn set_of(chars: &BTreeSet<char>, is_negated: bool) -> String {
    let mut set = String::from(if is_negated { "[^" } else { "[" });
    let chars: Vec<char> = chars.iter().copied().collect();
    for run in chars.chunk_by(|a, b| u32::from(*a) + 1 == u32::from(*b)) {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
        set.push_str(&escaped(first.encode_utf8(&mut [0; 4])));
        if run.len() > 2 {
            set.push('-');
        }
        if run.len() > 1 {
            set.push_str(&escaped(last.encode_utf8(&mut [0; 4])));
        }
    }
    set.push(']');
    set
}

/// The members of a class in order, if they are no more than this.
fn members(class: &Ast, max: usize) -> Option<Vec<char>> {
    // Spans are needed for messages only.
    let class = TranslatorBuilder::new().build().translate("", class).ok()?;
    match class.kind() {
        HirKind::Literal(one) => Some(str::from_utf8(&one.0).ok()?.chars().collect()),
        HirKind::Class(Class::Unicode(set)) => {
            let n: usize = set.iter().map(regex_syntax::hir::ClassUnicodeRange::len).sum();
            (n <= max).then(|| set.iter().flat_map(|range| range.start()..=range.end()).collect())
        }
        _ => None,
    }
}

/// Letters that stand for themselves wherever they are in an expression.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            // White space is none where the flag `x` is set.
            c if c.is_whitespace() => escaped.push_str(&format!("\\x{{{:x}}}", u32::from(c))),
            c if regex_syntax::is_meta_character(c) => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    escaped
}

fn is_letter(node: &Ast) -> bool {
    letter(node).is_some()
}

/// The letter that a node stands for, if it is one.
fn letter(node: &Ast) -> Option<char> {
    match node {
        Ast::Literal(literal) => Some(literal.c),
        _ => None,
    }
}

/// Whether a node says no more than that a match begins or ends, as all do.
fn is_edge(node: &Ast) -> bool {
    match node {
        Ast::Empty(_) | Ast::Flags(_) => true,
        Ast::Assertion(assertion) => matches!(
            assertion.kind,
            AssertionKind::StartLine
                | AssertionKind::EndLine
                | AssertionKind::StartText
                | AssertionKind::EndText
        ),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lettered(analyzer: &str, regex: &str) -> Lettered {
        let analyzer = Analyzer::from_spec(analyzer).unwrap();
        in_letters(regex, Some(&analyzer), None)
    }

    #[test]
    fn letters_go_through_the_filters_and_the_rest_stays() {
        for (regex, expected) in [
            ("übung", "ubung"),
            ("ÜB.*", "ub.*"),
            ("u\u{308}b?", "ub?"),
            ("bu\u{308}?", "bu?"),
            ("na[ïi]ve", "na[ïi]ve"),
            ("na[ïÏ]ve", "naive"),
            ("na[ïë]ve", "na[ei]ve"),
            ("stra(ß|x)e", "stra(ss|x)e"),
            ("straß+e", "stra(?:ss)+e"),
            ("stra[ßx]e", "stra(?:[ßx]|ss)e"),
            ("stra[ßÄ]e", "stra(?:a|ss)e"),
            ("stra[ß]e", "stra(?:ss)e"),
            ("[A-Z]+", "[a-z]+"),
            ("[A-Za-z0-9]+", "[A-Za-z0-9]+"),
            ("[^ÄX]x", "[^ax]x"),
            ("[^ß]", "[^ß]"),
            ("\\w\\d.\\s\\W[\\w-]", "\\w\\d.\\s\\W[\\w-]"),
            ("(?i)Ü(?-i:B)", "(?i)u(?-i:b)"),
            ("(?x) Ü b # x\n [Ä ö]", "(?x) ub # x\n [ao]"),
            ("\\x41\\u{DC}\\.\\-Ö", "au\\.\\-o"),
            ("a{2}B{1,3}", "a{2}b{1,3}"),
            ("x\u{301}*", "x(?:)*"),
            ("(", "("),
            ("Ü(", "Ü("),
            ("", ""),
        ] {
            assert_eq!(lettered("words|lower|fold", regex).regex, expected, "{regex}");
        }
        for (regex, expected) in [("Éa", "Éa"), ("[É]", "[É]"), ("e\u{301}*", "e\u{301}*")] {
            assert_eq!(lettered("keyword", regex).regex, expected, "{regex}");
        }
        for (regex, expected) in [("Éa", "éa"), ("e\u{301}*[ß]", "é*(?:ss)"), ("[ẞ]?", "(?:ss)?")]
        {
            assert_eq!(lettered("words|lower", regex).regex, expected, "{regex}");
        }
        assert!(lettered("words|lower", "\\p{Lu}").regex.starts_with("(?:['a-zà-öø-ÿā"));
    }

    #[test]
    fn what_filters_of_words_take_off_is_no_part_of_an_expression() {
        let french = "words|lower|elision:fr|possessive";
        for (regex, expected, beginning) in [
            ("L'av.on", "av.on", "av"),
            ("^l’avi(o|ö)n's$", "^avi(o|ö)n$", "avi"),
            ("l'.vion", "(?:).vion", ""),
            ("^l'.+$", "^l'.+$", "l'"),
            ("(l'|d'|x)avion", "((?:)|(?:)|x)avion", ""),
            ("(l')?avion", "((?:))?avion", ""),
            ("x.*'s", "x.*(?:)", "x"),
            ("l'avion", "avion", "avion"),
            ("l'", "l'", "l'"),
            ("aujourd'hui", "aujourd'hui", "aujourd'hui"),
        ] {
            let Lettered { regex: mapped, beginning: begins } = lettered(french, regex);
            assert_eq!((&*mapped, &*begins), (expected, beginning), "{regex}");
        }
    }
}
