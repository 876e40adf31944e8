//! Paths of a hierarchy: names one below the other, as `home/kitchen/pans`.
//!
//! A separator that is part of a name has a backslash before it, and so has a backslash: `24\/7/news` is `news` below
//! `24/7`. If the backslash is the separator, as in `C:\dir`, nothing is escaped, and no name has one.
//!
//! Separators before the first name and behind the last mean nothing, and several between two names mean one:
//! `/usr//lib/` is `usr/lib`. The form without them is the canonical one. It is the term of a path, so the terms of what is
//! above it are the beginnings of that text; values are made canonical where they come in, and stored as they are given.

use super::Value;
use super::typed::NotTaken;
use crate::schema::PATH_NAMES_MAX;
use std::borrow::Cow;
use std::ops::Range;

const ESCAPE: u8 = b'\\';

impl Value {
    /// The path of these names, each below the one before.
    ///
    /// It is one that a field of [paths](crate::FieldKind::Path) with this separator takes. With a backslash as the
    /// separator a name cannot have one: it ends the name.
    ///
    /// ```
    /// use treepie::Value;
    ///
    /// let path = Value::path(["24/7", "news"], '/');
    /// assert_eq!(path, Value::from(r"24\/7/news"));
    /// assert_eq!(path.names('/').unwrap(), ["24/7", "news"]);
    /// ```
    pub fn path<N: AsRef<str>>(names: impl IntoIterator<Item = N>, separator: char) -> Self {
        let mut text = String::new();
        for (nth, name) in names.into_iter().enumerate() {
            if nth > 0 {
                text.push(separator);
            }
            for c in name.as_ref().chars() {
                if escape_of(separator).is_some_and(|escape| c == separator || c == escape) {
                    text.push(char::from(ESCAPE));
                }
                text.push(c);
            }
        }
        Value::Text(text)
    }

    /// The names of a path, the uppermost first; `None` for what is no path.
    ///
    /// ```
    /// use treepie::Value;
    ///
    /// assert_eq!(Value::from("/usr/lib/").names('/').unwrap(), ["usr", "lib"]);
    /// assert_eq!(Value::from(r"C:\dir").names('\\').unwrap(), ["C:", "dir"]);
    /// ```
    pub fn names(&self, separator: char) -> Option<Vec<String>> {
        let text = self.as_str()?;
        read(text, separator).ok()?;
        let escape = escape_of(separator);
        let name = |name: Range<usize>| {
            let mut chars = text[name].chars();
            let unescaped = std::iter::from_fn(|| match chars.next() {
                Some(c) if Some(c) == escape => chars.next(),
                other => other,
            });
            unescaped.collect()
        };
        Some(names(text.as_bytes(), separator).map(name).collect())
    }
}

/// The character that takes a separator literally; none if it is the separator itself.
fn escape_of(separator: char) -> Option<char> {
    let escape = char::from(ESCAPE);
    (separator != escape).then_some(escape)
}

/// Ends of the names of a canonical path: each is the end of the path down to it. The bytes are UTF-8.
///
/// Ends of the paths above, the path itself included. For any other text they are the ends of what stands between separators, which may be empty.
pub(crate) fn ends(path: &[u8], separator: char) -> impl Iterator<Item = usize> {
    let mut utf8 = [0; 4];
    let len = separator.encode_utf8(&mut utf8).len();
    let has_escape = escape_of(separator).is_some();
    let (mut at, mut is_done) = (0, false);
    std::iter::from_fn(move || {
        while at < path.len() {
            if has_escape && path[at] == ESCAPE {
                // An escaped character is a backslash, or a separator, of which no byte but the first looks like one.
                at += 2;
            } else if path[at..].starts_with(&utf8[..len]) {
                let end = at;
                at += len;
                return Some(end);
            } else {
                at += 1;
            }
        }
        (!std::mem::replace(&mut is_done, true)).then_some(path.len())
    })
}

/// Ranges of the names of a path in its bytes, escapes included.
fn names(path: &[u8], separator: char) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    ends(path, separator)
        .map(move |end| std::mem::replace(&mut start, end + separator.len_utf8())..end)
        .filter(|name| !name.is_empty())
}

/// A path without separators that mean nothing; empty for the root, above all names.
pub(crate) fn canonical(path: &str, separator: char) -> Cow<'_, str> {
    let len = separator.len_utf8();
    let (mut whole, mut n_names, mut n_bytes) = (0..0, 0, 0);
    for name in names(path.as_bytes(), separator) {
        whole = if n_names == 0 { name.clone() } else { whole.start..name.end };
        n_names += 1;
        n_bytes += name.len();
    }
    if whole.len() == n_bytes + len * usize::saturating_sub(n_names, 1) {
        return Cow::Borrowed(&path[whole]);
    }
    let mut text = String::with_capacity(whole.len());
    for name in names(path.as_bytes(), separator) {
        if !text.is_empty() {
            text.push(separator);
        }
        text.push_str(&path[name]);
    }
    Cow::Owned(text)
}

/// The [canonical] form of the beginning of paths: a separator at its end ends a name.
pub(crate) fn canonical_prefix(prefix: &str, separator: char) -> Cow<'_, str> {
    let path = canonical(prefix, separator);
    let last = ends(prefix.as_bytes(), separator).filter(|end| *end < prefix.len()).last();
    let is_name_ended = last.is_some_and(|end| end + separator.len_utf8() == prefix.len());
    match is_name_ended && !path.is_empty() {
        true => Cow::Owned(format!("{path}{separator}")),
        false => path,
    }
}

/// The [canonical] form of a path; refuses the root and what is no path.
pub(crate) fn read(text: &str, separator: char) -> Result<Cow<'_, str>, NotTaken> {
    // Most are canonical as they are.
    if check(text, separator).is_ok() {
        return Ok(Cow::Borrowed(text));
    }
    let path = canonical(text, separator);
    match path.is_empty() {
        true => Err(not_taken(text, "a path of one name at least".into())),
        false => check(&path, separator).map(|()| path),
    }
}

/// Refuses what is no [canonical] path.
pub(crate) fn check(text: &str, separator: char) -> Result<(), NotTaken> {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if Some(c) == escape_of(separator)
            && !chars.next().is_some_and(|c| c == separator || c == char::from(ESCAPE))
        {
            return Err(not_taken(
                text,
                format!(
                    "a path in which a backslash stands before '{separator}' or another backslash, unless the separator of the field is the backslash"
                ),
            ));
        }
    }
    let (mut start, mut n_names) = (0, 0);
    for end in ends(text.as_bytes(), separator) {
        if end <= start {
            return Err(not_taken(
                text,
                format!("a path of names with one '{separator}' between them"),
            ));
        }
        start = end + separator.len_utf8();
        n_names += 1;
    }
    if n_names > PATH_NAMES_MAX {
        return Err(not_taken(text, format!("a path of at most {PATH_NAMES_MAX} names")));
    }
    Ok(())
}

fn not_taken(text: &str, expected: String) -> NotTaken {
    const CHARS_SHOWN: usize = 60;
    let shown: String = text.chars().take(CHARS_SHOWN).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    NotTaken { expected: expected.into(), found: format!("'{shown}{more}'") }
}

/// Whether a term, which is a path, has no name below what stands before `from`.
pub(crate) fn is_last_name(term: &[u8], from: usize, separator: char) -> bool {
    term.get(from..).is_some_and(|name| ends(name, separator).next() == Some(name.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_path_has_names_and_everything_else_is_refused() {
        for (text, names) in [
            ("a", &["a"][..]),
            ("a/b/c", &["a", "b", "c"]),
            (r"24\/7/news", &["24/7", "news"]),
            (r"a\\/b", &[r"a\", "b"]),
            (r"\/", &["/"]),
            (" / ", &[" ", " "]),
        ] {
            assert_eq!(Value::from(text).names('/').unwrap(), names, "{text}");
            assert_eq!(Value::path(names, '/'), Value::from(text));
        }
        assert_eq!(Value::from("a›b/c").names('›').unwrap(), ["a", "b/c"]);
        assert_eq!(Value::from(7).names('/'), None);
        let deep = vec!["a"; PATH_NAMES_MAX].join("/");
        assert!(check(&deep, '/').is_ok());
        let deeper = format!("{deep}/a");
        for (text, words) in [
            ("", "one name at least"),
            ("/", "one name at least"),
            ("///", "one name at least"),
            (r"a\b", "before '/' or another backslash"),
            (r"a\", "before '/' or another backslash"),
            (&deeper, "at most 128 names"),
        ] {
            let refused = read(text, '/').unwrap_err();
            assert!(refused.expected.contains(words), "{text}: {}", refused.expected);
            assert!(refused.found.chars().count() <= 63 && Value::from(text).names('/').is_none());
        }
    }

    #[test]
    fn separators_around_names_mean_nothing() {
        for (text, separator, path, prefix) in [
            ("/usr/lib", '/', "usr/lib", "usr/lib"),
            ("a/b/", '/', "a/b", "a/b/"),
            ("//a///b//", '/', "a/b", "a/b/"),
            (r"\/a\/", '/', r"\/a\/", r"\/a\/"),
            (r"a\\/", '/', r"a\\", r"a\\/"),
            (r"/a\/b/", '/', r"a\/b", r"a\/b/"),
            (r"C:\dir", '\\', r"C:\dir", r"C:\dir"),
            (r"\\server\share\", '\\', r"server\share", r"server\share\"),
            ("C:/dir", '\\', "C:/dir", "C:/dir"),
            ("››a››b›", '›', "a›b", "a›b›"),
            ("/", '/', "", ""),
            ("", '/', "", ""),
            ("a", '/', "a", "a"),
        ] {
            assert_eq!(canonical(text, separator), path, "{text}");
            assert_eq!(canonical_prefix(text, separator), prefix, "{text}");
            if !path.is_empty() {
                assert!(check(path, separator).is_ok() && read(text, separator).unwrap() == path);
            }
            assert_eq!(check(text, separator).is_ok(), text == path && !path.is_empty(), "{text}");
        }
        assert_eq!(Value::path(["C:", "dir"], '\\'), Value::from(r"C:\dir"));
    }

    proptest! {
        #[test]
        fn names_come_back_from_their_path(
            names in prop::collection::vec(r"[a/\\›é]{1,4}", 1..6),
            separator in prop::sample::select(vec!['/', '›', 'a', '\\']),
        ) {
            prop_assume!(separator != '\\' || !names.iter().any(|name| name.contains('\\')));
            let path = Value::path(&names, separator);
            prop_assert_eq!(path.names(separator), Some(names.clone()));
            let text = path.as_str().unwrap();
            for (n, end) in ends(text.as_bytes(), separator).enumerate() {
                let above = Value::path(&names[..=n], separator);
                prop_assert_eq!(Some(&text[..end]), above.as_str());
                let from = if n == 0 { 0 } else { Value::path(&names[..n], separator).as_str().unwrap().len() + separator.len_utf8() };
                prop_assert!(is_last_name(&text.as_bytes()[..end], from, separator));
                prop_assert_eq!(is_last_name(text.as_bytes(), from, separator), n + 1 == names.len());
            }
        }

        #[test]
        fn each_text_is_one_path(text in r"[a/\\]{0,8}", separator in prop::sample::select(vec!['/', '\\'])) {
            if let Some(names) = Value::from(&*text).names(separator) {
                prop_assert!(names.iter().all(|name| !name.is_empty()));
                let path = canonical(&text, separator);
                prop_assert_eq!(Value::path(names, separator), Value::from(&*path));
                prop_assert_eq!(canonical(&path, separator), &*path);
                prop_assert!(check(&path, separator).is_ok());
            }
        }
    }
}
