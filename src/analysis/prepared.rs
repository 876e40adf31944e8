//! Text changed by character filters, with the original bytes of its characters.

use super::filter::Filter;
use super::normalization::clusters;

/// A text and what it was made of; buffers are kept from one text to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Prepared {
    filters: Vec<Filter>,
    text: String,
    /// For each cluster of the given text where it ends in the prepared one, and in the given one; none where both have
    /// the same bytes at the same places.
    ends: Vec<(usize, usize)>,
    cluster: String,
    buffer: String,
}

impl Prepared {
    /// Filters that are [of characters](Filter::is_of_characters).
    pub(super) fn new(filters: Vec<Filter>) -> Self {
        Prepared { filters, ..Prepared::default() }
    }

    /// Applies the filters to a text; false if there are none.
    pub(super) fn prepare(&mut self, given: &str) -> bool {
        if self.filters.is_empty() {
            return false;
        }
        self.text.clear();
        self.ends.clear();
        if given.is_ascii() {
            self.text.push_str(given);
            let length = given.len();
            self.filters
                .iter()
                .for_each(|filter| filter.apply_to_characters(&mut self.text, &mut self.buffer));
            // The dotless i is the one letter of ASCII that gets longer.
            if self.text.len() == length {
                return true;
            }
            self.text.clear();
        }
        for (from, cluster) in clusters(given) {
            self.cluster.clear();
            self.cluster.push_str(cluster);
            for filter in &self.filters {
                filter.apply_to_characters(&mut self.cluster, &mut self.buffer);
            }
            self.text.push_str(&self.cluster);
            self.ends.push((self.text.len(), from + cluster.len()));
        }
        true
    }

    /// The text as the filters left it.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The bytes of the given text that a part of the prepared one was made of.
    pub(super) fn given(&self, from: usize, to: usize) -> (usize, usize) {
        if self.ends.is_empty() {
            return (from, to);
        }
        let first = self.ends.partition_point(|(end, _)| *end <= from);
        let last = self.ends.partition_point(|(end, _)| *end < to);
        let start = first.checked_sub(1).and_then(|before| self.ends.get(before));
        let end = self.ends.get(last).or(self.ends.last());
        (start.map_or(0, |(_, given)| *given), end.map_or(0, |(_, given)| *given))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_in_the_text_that_was_given() {
        let filters = vec![Filter::lower_case(), Filter::fold_diacritics()];
        let mut prepared = Prepared::new(filters);
        for (given, text, parts) in [
            ("ABC", "abc", &[(0..1, 0..1), (1..3, 1..3)][..]),
            (
                "aßE\u{301}b",
                "asseb",
                &[(0..1, 0..1), (1..2, 1..3), (1..3, 1..3), (3..4, 3..6), (4..5, 6..7)],
            ),
            ("\u{301}a", "a", &[(0..1, 2..3)]),
            ("", "", &[]),
        ] {
            assert!(prepared.prepare(given));
            assert_eq!(prepared.text(), text);
            for (part, expected) in parts {
                let (from, to) = prepared.given(part.start, part.end);
                assert_eq!(from..to, *expected, "{given} {part:?}");
            }
        }
        let mut turkish = Prepared::new(vec![Filter::lower_case_of("tr").unwrap()]);
        assert!(turkish.prepare("AI b"));
        assert_eq!((turkish.text(), turkish.given(1, 3)), ("aı b", (1, 2)));
        assert!(!Prepared::default().prepare("a"));
    }
}
