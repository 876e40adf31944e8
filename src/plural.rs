//! Counts with their nouns, in messages and plans.

use std::borrow::Cow;

/// A count with its noun, as `1 document` and `2 documents`.
pub(crate) fn counted(n: impl TryInto<u64>, noun: &str) -> String {
    let n = n.try_into().unwrap_or(u64::MAX);
    format!("{n} {}", noun_of(n, noun))
}

/// A count with its noun, where it may be large: `12,345 documents`.
pub(crate) fn number_of(n: u64, noun: &str) -> String {
    format!("{} {}", grouped(n), noun_of(n, noun))
}

/// A number with its thousands grouped.
pub(crate) fn grouped(n: u64) -> String {
    match n {
        ..1_000 => n.to_string(),
        _ => format!("{},{:03}", grouped(n / 1_000), n % 1_000),
    }
}

fn noun_of(n: u64, noun: &str) -> Cow<'_, str> {
    match noun.strip_suffix('y') {
        _ if n == 1 => noun.into(),
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies").into(),
        None if noun.ends_with("ch") || noun.ends_with('x') => format!("{noun}es").into(),
        _ => format!("{noun}s").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_none_and_many_are_not() {
        let of = |noun| [0u32, 1, 2].map(|n| counted(n, noun));
        assert_eq!(of("document"), ["0 documents", "1 document", "2 documents"]);
        assert_eq!(of("query"), ["0 queries", "1 query", "2 queries"]);
        assert_eq!(of("match"), ["0 matches", "1 match", "2 matches"]);
        assert_eq!(of("box"), ["0 boxes", "1 box", "2 boxes"]);
        assert_eq!(of("other way"), ["0 other ways", "1 other way", "2 other ways"]);
    }

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(grouped(13_755_095), "13,755,095");
        assert_eq!(grouped(100), "100");
        assert_eq!(number_of(1_000, "query"), "1,000 queries");
    }
}
