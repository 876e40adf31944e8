//! Public items of a source file, read from its text.

use std::collections::{BTreeMap, BTreeSet};

/// Public items of a source file.
#[derive(Default)]
pub(super) struct Scanned {
    /// Lines of each item, by its name.
    pub(super) items: BTreeMap<String, Vec<String>>,
    /// Members and implementations of traits, with the name of their type.
    pub(super) members: Vec<(String, String)>,
    /// Names that are handed on: from where, and their names here.
    pub(super) handed_on: Vec<(Vec<String>, String)>,
    /// Public modules within, with what they need.
    pub(super) modules: Vec<(String, String)>,
    /// Types that are not public.
    pub(super) private: BTreeSet<String>,
    /// Macros for all.
    pub(super) macros: Vec<String>,
}

/// Attributes of what comes next.
#[derive(Default)]
struct Attributes {
    derived: Option<String>,
    feature: String,
    is_hidden: bool,
    is_test: bool,
    is_exported: bool,
}

impl Attributes {
    fn add(&mut self, line: &str) {
        if let Some(derived) = line.strip_prefix("#[derive(") {
            self.derived = Some(derived.trim_end_matches(")]").to_owned());
        } else if let Some(feature) = line.strip_prefix("#[cfg(feature = ") {
            self.feature = format!(" (feature {})", feature.trim_end_matches(")]"));
        } else if line.starts_with("#[doc(hidden)]") {
            self.is_hidden = true;
        } else if line.starts_with("#[macro_export]") {
            self.is_exported = true;
        } else if line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(all(test") {
            self.is_test = true;
        }
    }
}

pub(super) fn scan(text: &str) -> Scanned {
    let mut scanned = Scanned::default();
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let lines: Vec<&str> = code.map(|line| line.split(" // ").next().unwrap_or(line)).collect();
    let (mut at, mut attributes) = (0, Attributes::default());
    while at < lines.len() {
        let line = lines[at];
        if line.starts_with("#[") {
            attributes.add(&joined(&lines, &mut at, |text| text.ends_with(']')));
            continue;
        }
        let is_item = !line.is_empty() && !line.starts_with([' ', '}', ')', '#']);
        if !is_item {
            at += 1;
            continue;
        }
        let end = end_of(&lines, at);
        let given = std::mem::take(&mut attributes);
        if !given.is_hidden && !given.is_test {
            scanned.item(&lines[at..=end], &given);
        }
        at = end + 1;
    }
    scanned
}

/// The last line of an item that begins here: its own, or the one that closes it in the first column.
fn end_of(lines: &[&str], begins: usize) -> usize {
    let is_end = |line: &&str| {
        let closes = line.starts_with(['}', ')']) && !line.ends_with(['{', '(']);
        closes && !line.starts_with(") ->") || line.starts_with(") ->") && line.ends_with("{}")
    };
    if lines[begins].ends_with([';', '}']) {
        return begins;
    }
    let rest = lines[begins + 1..].iter();
    let ends = |line: &&str| is_end(line) || line.ends_with(';') && lines[begins].ends_with('=');
    begins + 1 + rest.clone().position(ends).unwrap_or(rest.len().saturating_sub(1))
}

/// Lines from here on as one, until that is whole.
fn joined(lines: &[&str], at: &mut usize, is_whole: impl Fn(&str) -> bool) -> String {
    let mut text = String::new();
    while *at < lines.len() {
        let line = lines[*at].trim();
        *at += 1;
        let glued = text.is_empty() || text.ends_with(['(', '[']) || line.starts_with([')', ']']);
        text.push_str(if glued { "" } else { " " });
        text.push_str(line);
        if is_whole(&text) {
            break;
        }
    }
    text.replace(",)", ")").replace(", )", ")").replace(",>", ">")
}

/// A signature without its body.
fn signature(text: &str) -> String {
    let end = text.find(" {").into_iter().chain(text.find(';')).min().unwrap_or(text.len());
    text[..end].trim_end_matches(',').trim().to_owned()
}

/// The name that a declaration begins with.
fn name_of(text: &str) -> String {
    text.chars().take_while(|char| char.is_alphanumeric() || *char == '_').collect()
}

impl Scanned {
    fn item(&mut self, lines: &[&str], given: &Attributes) {
        let begin = |text: &str| text.ends_with('{') || text.contains(';') || text.ends_with('}');
        let first = joined(lines, &mut 0, begin);
        let declared = signature(&first);
        if let Some(path) = first.strip_prefix("pub use ") {
            self.hand_on(path, lines);
        } else if let Some(module) = first.strip_prefix("pub mod ") {
            self.modules.push((name_of(module), given.feature.clone()));
        } else if first.starts_with("named! {") {
            let kind = lines.iter().find_map(|line| line.trim().strip_prefix("pub "));
            let member = "fn name(self) -> &'static str".to_owned();
            self.members.extend(kind.map(|kind| (name_of(kind), member)));
        } else if first.starts_with("named_or_other! {") {
            let kind = lines.iter().find_map(|line| line.trim().strip_prefix("pub "));
            let Some(kind) = kind.map(name_of) else { return };
            for of in ["From<&str>", "fmt::Display"] {
                self.members.push((kind.clone(), format!("impl {of} for {kind}")));
            }
            self.members.push((kind, "fn name(&self) -> &str".to_owned()));
        } else if let Some(name) = first.strip_prefix("macro_rules! ") {
            self.macros.extend(given.is_exported.then(|| name_of(name)));
        } else if first.starts_with("impl") && !declared.contains("pub(") {
            self.implementation(&declared, lines, given);
        } else if let Some(rest) = declared.strip_prefix("pub ") {
            self.definition(rest, lines, given);
        } else {
            let rest = declared.trim_start_matches("pub(crate) ").trim_start_matches("pub(super) ");
            let kinds = ["struct ", "enum ", "trait "].into_iter();
            self.private.extend(kinds.filter_map(|kind| rest.strip_prefix(kind)).map(name_of));
        }
    }

    fn definition(&mut self, declared: &str, lines: &[&str], given: &Attributes) {
        let kinds =
            ["struct ", "enum ", "trait ", "fn ", "const fn ", "const ", "type ", "static "];
        let Some(kind) = kinds.into_iter().find(|kind| declared.starts_with(kind)) else { return };
        let name = name_of(&declared[kind.len()..]);
        let shown = match kind {
            "struct " => without_private_parts(declared),
            _ => declared.to_owned(),
        };
        self.items.entry(name.clone()).or_default().push(format!("pub {shown}{}", given.feature));
        if let Some(derived) = &given.derived {
            self.members.push((name.clone(), format!("impl {derived}")));
        }
        let public: fn(&str) -> Option<&str> = match kind {
            "struct " => |member| member.strip_prefix("pub "),
            "enum " | "trait " => |member| Some(member),
            _ => return,
        };
        self.list_members(&name, lines, public);
    }

    fn implementation(&mut self, declared: &str, lines: &[&str], given: &Attributes) {
        let of = declared.rsplit_once(" for ").filter(|(before, _)| !before.ends_with("where"));
        let Some((_, of)) = of else {
            let rest = declared.trim_start_matches("impl");
            let rest = if rest.starts_with('<') { after_generics(rest) } else { rest };
            return self
                .list_members(&name_of(rest.trim()), lines, |member| member.strip_prefix("pub "));
        };
        let of = of.trim_start_matches(['&', '(']);
        let of = of.strip_prefix("'_ ").unwrap_or(of);
        self.members.push((name_of(of), format!("{declared}{}", given.feature)));
    }

    /// Adds the members that begin in the fifth column.
    fn list_members(&mut self, of: &str, lines: &[&str], public: impl Fn(&str) -> Option<&str>) {
        let (mut at, mut attributes) = (1, Attributes::default());
        while at < lines.len() {
            let is_member = lines[at].starts_with("    ") && !lines[at].starts_with("     ");
            let line = lines[at].trim();
            if !is_member || line.starts_with(['}', ')', ']']) || line == "where" || line == "{" {
                at += 1;
                continue;
            }
            let text = joined(lines, &mut at, |text| {
                text.starts_with("#[") && text.ends_with(']')
                    || is_balanced(text) && text.ends_with([',', ';', '}'])
                    || text.contains("fn ") && text.ends_with('{')
            });
            if text.starts_with("#[") {
                attributes.add(&text);
                continue;
            }
            let given = std::mem::take(&mut attributes);
            if let Some(member) = public(&text).filter(|_| !given.is_hidden && !given.is_test) {
                let is_code = member.contains("fn ") || member.starts_with("const ");
                let shown = if is_code { signature(member) } else { without_attributes(member) };
                self.members.push((of.to_owned(), format!("{shown}{}", given.feature)));
            }
        }
    }

    fn hand_on(&mut self, path: &str, lines: &[&str]) {
        let whole =
            if path.contains(';') { path.to_owned() } else { joined(lines, &mut 0, |_| false) };
        let whole = whole.trim_start_matches("pub use ").trim_end_matches(';');
        let (before, names) = match whole.split_once('{') {
            Some((before, names)) => (before.trim_end_matches("::"), names.trim_end_matches('}')),
            None => whole.rsplit_once("::").unwrap_or(("", whole)),
        };
        for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let (from, to) = name.split_once(" as ").unwrap_or((name, name));
            let modules = before.split("::").filter(|part| !part.is_empty());
            let path = modules.chain([from]).map(str::to_owned).collect();
            self.handed_on.push((path, to.to_owned()));
        }
    }
}

/// What is behind the `<…>` that a text begins with.
fn after_generics(text: &str) -> &str {
    let mut depth = 0;
    let end = text.char_indices().find(|(at, char)| {
        let is_arrow = text[..*at].ends_with('-');
        depth += i32::from(*char == '<') - i32::from(*char == '>' && !is_arrow);
        depth == 0
    });
    end.map_or("", |(at, _)| &text[at + 1..])
}

fn is_balanced(text: &str) -> bool {
    let count = |chars: [char; 3]| text.chars().filter(|char| chars.contains(char)).count();
    count(['(', '[', '{']) == count([')', ']', '}'])
}

/// A variant on one line, without what is said of its fields.
fn without_attributes(member: &str) -> String {
    let text = member.trim_end_matches(',').replace(", }", " }");
    match text.starts_with("#[") {
        true => text.split_once("] ").map_or(text.clone(), |(_, rest)| rest.to_owned()),
        false => text,
    }
}

/// A struct of unnamed parts with `_` for those that are private.
fn without_private_parts(declared: &str) -> String {
    let Some((name, parts)) = declared.trim_end_matches(')').split_once('(') else {
        return declared.to_owned();
    };
    let (mut depth, mut part, mut shown) = (0, String::new(), vec![]);
    for char in parts.chars().chain([',']) {
        depth += i32::from("<([".contains(char)) - i32::from(">)]".contains(char));
        match (char, depth) {
            (',', 0) => {
                let part = std::mem::take(&mut part).trim().to_owned();
                let is_private = !part.starts_with("pub ");
                shown.push(if is_private { "_".to_owned() } else { part });
            }
            _ => part.push(char),
        }
    }
    format!("{name}({})", shown.join(", "))
}

#[test]
fn what_is_public_is_read_from_the_text() {
    let text = r#"
pub use hits::{Hit, Hits as Page};
pub(crate) use hits::Hidden;

/// A point.
#[derive(Clone, Debug)]
#[cfg(feature = "geo")]
pub struct Point<'a> {
    /// Across.
    pub x: &'a f64,
    y: f64,
}

pub struct Id(pub u64, String);

pub enum Kind {
    /// One.
    #[default]
    One,
    Two {
        /// How many.
        n: u32,
    },
}

pub(crate) struct Private;

impl<'a> Point<'a> {
    /// Far away.
    pub fn new(
        x: &'a f64,
        y: f64,
    ) -> Self
    where
        f64: Copy,
    {
        todo()
    }

    #[cfg(feature = "viewer")]
    pub fn drawn(&self) -> String {
        String::new()
    }

    #[doc(hidden)]
    pub fn hidden(&self) {}

    pub(crate) fn own(&self) {}
}

impl From<u64> for Id {
    fn from(number: u64) -> Self {
        Id(number, String::new())
    }
}

pub trait Walk {
    fn step(&mut self) -> bool;
}

named! {
    /// The name used in JSON.
    pub Kind { One: "one" }
}

#[cfg(test)]
mod tests {
    pub fn no() {}
}
"#;
    let scanned = scan(text);
    let items: Vec<_> = scanned.items.values().flatten().map(String::as_str).collect();
    let expected = [
        "pub struct Id(pub u64, _)",
        "pub enum Kind",
        "pub struct Point<'a> (feature \"geo\")",
        "pub trait Walk",
    ];
    assert_eq!(items, expected);
    let members: Vec<_> = scanned.members.iter().map(|(of, it)| format!("{of}: {it}")).collect();
    let expected = [
        "Point: impl Clone, Debug",
        "Point: x: &'a f64",
        "Kind: One",
        "Kind: Two { n: u32 }",
        "Point: fn new(x: &'a f64, y: f64) -> Self where f64: Copy",
        "Point: fn drawn(&self) -> String (feature \"viewer\")",
        "Id: impl From<u64> for Id",
        "Walk: fn step(&mut self) -> bool",
        "Kind: fn name(self) -> &'static str",
    ];
    assert_eq!(members, expected);
    let handed_on: Vec<_> =
        scanned.handed_on.iter().map(|(path, name)| (path.join("::"), name)).collect();
    assert_eq!(
        handed_on,
        [("hits::Hit".into(), &"Hit".into()), ("hits::Hits".into(), &"Page".into())]
    );
}
