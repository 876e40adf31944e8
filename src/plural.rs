//! Counts with their nouns, in messages and plans.

/// A count with its noun, as `1 document` and `2 documents`.
pub(crate) fn counted(n: impl TryInto<u64>, noun: &str) -> String {
    let n = n.try_into().unwrap_or(u64::MAX);
    match (n, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (n, Some(stem)) => format!("{n} {stem}ies"),
        (n, None) if noun.ends_with("ch") => format!("{n} {noun}es"),
        (n, None) => format!("{n} {noun}s"),
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
    }
}
