//! Paths of a hierarchy: names one below the other, as `home/kitchen/pans`.
//!
//! A separator that is part of a name has a backslash before it, and so has a backslash: `24\/7/news` is `news` below
//! `24/7`. Since there is one way to write a path, its text is its term, and the terms of what is above it are the
//! beginnings of that text.

use super::Value;
use super::typed::NotTaken;
use crate::schema::PATH_NAMES_MAX;

const ESCAPE: u8 = b'\\';

impl Value {
    /// The path of these names, each below the one before, as a field of [paths](crate::FieldKind::Path) with this separator
    /// takes it.
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
                if c == separator || c == char::from(ESCAPE) {
                    text.push(char::from(ESCAPE));
                }
                text.push(c);
            }
        }
        Value::Text(text)
    }

    /// The names of a path, the uppermost first; `None` for what is no path.
    pub fn names(&self, separator: char) -> Option<Vec<String>> {
        let text = self.as_str()?;
        check(text, separator).ok()?;
        let mut start = 0;
        let name = |end: usize| {
            let name = &text[start..end];
            start = end + separator.len_utf8();
            let mut chars = name.chars();
            let unescaped = std::iter::from_fn(|| match chars.next() {
                Some(c) if c == char::from(ESCAPE) => chars.next(),
                other => other,
            });
            unescaped.collect()
        };
        Some(ends(text.as_bytes(), separator).map(name).collect())
    }
}

/// Where the names of a path end: each is the end of the path down to it. The bytes are UTF-8.
pub(crate) fn ends(path: &[u8], separator: char) -> impl Iterator<Item = usize> {
    let mut utf8 = [0; 4];
    let len = separator.encode_utf8(&mut utf8).len();
    let (mut at, mut is_done) = (0, false);
    std::iter::from_fn(move || {
        while at < path.len() {
            if path[at] == ESCAPE {
                // What is escaped is a backslash, or a separator, of which no byte but the first looks like one.
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

/// Refuses what is no path.
pub(crate) fn check(text: &str, separator: char) -> Result<(), NotTaken> {
    let wrong = |expected: String| {
        const CHARS_SHOWN: usize = 60;
        let shown: String = text.chars().take(CHARS_SHOWN).collect();
        let more = if shown.len() < text.len() { "…" } else { "" };
        Err(NotTaken { expected: expected.into(), found: format!("'{shown}{more}'") })
    };
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == char::from(ESCAPE)
            && !chars.next().is_some_and(|c| c == separator || c == char::from(ESCAPE))
        {
            return wrong(format!(
                "a path in which a backslash stands before '{separator}' or another backslash"
            ));
        }
    }
    let (mut start, mut n_names) = (0, 0);
    for end in ends(text.as_bytes(), separator) {
        if end <= start {
            return wrong(format!("a path of names with one '{separator}' between them"));
        }
        start = end + separator.len_utf8();
        n_names += 1;
    }
    if n_names > PATH_NAMES_MAX {
        return wrong(format!("a path of at most {PATH_NAMES_MAX} names"));
    }
    Ok(())
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
            ("", "one '/' between"),
            ("/a", "one '/' between"),
            ("a/", "one '/' between"),
            ("a//b", "one '/' between"),
            ("/", "one '/' between"),
            (r"a\b", "before '/' or another backslash"),
            (r"a\", "before '/' or another backslash"),
            (&deeper, "at most 128 names"),
        ] {
            let refused = check(text, '/').unwrap_err();
            assert!(refused.expected.contains(words), "{text}: {}", refused.expected);
            assert!(refused.found.chars().count() <= 63 && Value::from(text).names('/').is_none());
        }
    }

    proptest! {
        #[test]
        fn names_come_back_from_their_path(
            names in prop::collection::vec(r"[a/\\›é]{1,4}", 1..6),
            separator in prop::sample::select(vec!['/', '›', 'a']),
        ) {
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
        fn no_text_is_two_paths(text in r"[a/\\]{0,8}") {
            if let Some(names) = Value::from(&*text).names('/') {
                prop_assert!(names.iter().all(|name| !name.is_empty()));
                prop_assert_eq!(Value::path(names, '/'), Value::from(text));
            }
        }
    }
}
