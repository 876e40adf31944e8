//! Facts of an index beyond its plans: numbers for remedies, terms similar to unknown words.

use super::Searcher;
use crate::error::Result;
use crate::expansion::{Expansion, TermPattern, Walk};
use crate::explain::{ExplainTree, Facts, Finding, TermCounts};
use crate::format::terms::TermDictionary;
use crate::ids::{FieldId, TermOrdinal};
use crate::query::{Normal, Query};
use crate::segment::file::Section;
use std::collections::BTreeMap;

/// Beginnings that are told apart, over all segments, at some microseconds each; a prefix of more is left alone.
const BEGINNINGS_MAX: usize = 4_096;
/// Words that are given for one that there is not.
const SIMILAR_MAX: usize = 3;
/// Shorter words are like too many others.
const SIMILAR_CHARS_MIN: usize = 3;
/// Words of so many characters may be off by two, shorter ones by one.
const TWO_OFF_CHARS_MIN: usize = 6;

impl Searcher {
    /// The words of a field that are nearest to one that it does not have, the most frequent of equally near ones
    /// first, each with the documents that have it; none where looking takes more than a pattern may.
    pub(super) fn similar(&self, field: FieldId, word: &str) -> Result<Vec<(String, u64)>> {
        let n_chars = word.chars().count();
        if n_chars < SIMILAR_CHARS_MIN || self.schema().get(field).kind.is_typed() {
            return Ok(vec![]);
        }
        let distance = if n_chars < TWO_OFF_CHARS_MIN { 1 } else { 2 };
        let fuzzy = TermPattern::Fuzzy {
            text: word.to_owned(),
            distance,
            prefix_len: 0,
            transpositions: true,
        };
        self.best_but(field, fuzzy, word)
    }

    /// The values of a field that are a text in another case, the most frequent first, each with the documents that have it.
    pub(super) fn in_another_case(&self, field: FieldId, text: &str) -> Result<Vec<(String, u64)>> {
        if text.is_empty() || self.schema().get(field).kind.is_typed() {
            return Ok(vec![]);
        }
        self.best_but(field, TermPattern::in_any_case(text), text)
    }

    /// The best terms of a pattern that are others than a text.
    fn best_but(
        &self,
        field: FieldId,
        pattern: TermPattern,
        text: &str,
    ) -> Result<Vec<(String, u64)>> {
        let best = Expansion::new(pattern)?.best_terms(&self.dictionaries(field)?, SIMILAR_MAX)?;
        let others = best.terms.into_iter().filter(|it| it.term != text.as_bytes());
        Ok(others.map(|it| (String::from_utf8_lossy(&it.term).into_owned(), it.df)).collect())
    }

    /// Finds the most important facts about a plan, with remedies from the dictionary.
    ///
    /// Examples are words that are like one that no document has, and the number of terms that a longer prefix leaves.
    /// [`analyze`](crate::SearchBuilder::analyze) asks for them, [`explain`](crate::SearchBuilder::explain) does not.
    ///
    /// ```
    /// # use treepie::{Document, Index, Schema};
    /// # let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// # let mut writer = index.writer()?;
    /// # writer.add(Document::new().with("title", "Paris, Texas"))?;
    /// # writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("pariss AND texas")?;
    /// let mut tree = searcher.explain(&query)?;
    /// assert_eq!(tree.findings[0].remedy, None);
    /// tree.findings = searcher.findings(&tree);
    /// assert_eq!(tree.findings[0].remedy.as_deref(), Some("like it are 'paris' (1 document)"));
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// Cost: some milliseconds for each of three words at the most, some microseconds else.
    pub fn findings(&self, tree: &ExplainTree) -> Vec<Finding> {
        tree.find_with(self)
    }

    fn dictionaries(&self, field: FieldId) -> Result<Vec<TermDictionary<Section<'_>>>> {
        self.segments().map(|segment| segment.field(field).terms()).collect()
    }

    /// The beginning with the most terms, of those that are some characters longer than a prefix; `None` where these are many.
    fn widest(&self, field: FieldId, prefix: &str, more: usize) -> Result<Option<(String, u64)>> {
        let n_chars = prefix.chars().count() + more;
        let (mut of_beginnings, mut n_steps) = (BTreeMap::<String, u64>::new(), 0);
        for segment in self.segments() {
            let dictionary = segment.field(field).terms()?;
            let all = dictionary.prefix(prefix.as_bytes())?.ordinals();
            let (mut at, mut term) = (all.start, vec![]);
            while at < all.end {
                n_steps += 1;
                if n_steps > BEGINNINGS_MAX {
                    return Ok(None);
                }
                dictionary.term(TermOrdinal(at), &mut term)?;
                // Terms of typed fields are no texts.
                let Ok(text) = std::str::from_utf8(&term) else { return Ok(None) };
                let Some((last, c)) = text.char_indices().nth(n_chars - 1) else {
                    // Too short to begin so.
                    at += 1;
                    continue;
                };
                let beginning = &text[..last + c.len_utf8()];
                let end = dictionary.prefix(beginning.as_bytes())?.ordinals().end;
                let n_terms = u64::from(end.saturating_sub(at));
                *of_beginnings.entry(beginning.to_owned()).or_default() += n_terms;
                at = end.max(at + 1);
            }
        }
        // The first of several that have as many.
        Ok(of_beginnings.into_iter().rev().max_by_key(|(_, terms)| *terms))
    }

    fn walk(&self, pattern: &Query) -> Result<Option<TermCounts>> {
        let Normal::Expand { field, terms } = self.matching(pattern)? else { return Ok(None) };
        let mut all = TermCounts::default();
        for dictionary in self.dictionaries(field)? {
            all += terms.walk(&dictionary, |_| Ok(Walk::On))?;
        }
        Ok(Some(all))
    }
}

/// A fact that cannot be read, or not in the time that is left, is not known: the search itself has said so if it
/// matters.
impl Facts for Searcher {
    fn widest_prefix(&self, field: &str, prefix: &str, more: usize) -> Option<(String, u64)> {
        self.widest(self.schema().field_id(field)?, prefix, more).ok().flatten()
    }

    fn walked(&self, pattern: &Query) -> Option<TermCounts> {
        self.walk(pattern).ok().flatten()
    }

    fn similar_words(&self, field: &str, word: &str) -> Vec<(String, u64)> {
        let field = self.schema().field_id(field);
        field.and_then(|field| self.similar(field, word).ok()).unwrap_or_default()
    }

    fn has_column(&self, field: &str) -> Option<bool> {
        Some(self.schema().field(field)?.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use crate::plan::FacetMethod;
    use crate::query::parse;
    use crate::schema::{Field, FieldKind, Schema};
    use crate::searcher::stopping_tests::filled;

    fn searcher(texts: &[&[&str]]) -> Searcher {
        // One that does not fold, so that there are terms beyond ASCII.
        let text = Field::new("text", FieldKind::Text).analyzer("alphanumeric|lower");
        let schema = Schema::builder().field(text).keyword("kind").build().unwrap();
        filled(schema, |writer| {
            for part in texts {
                for text in *part {
                    writer.add(Document::new().with("text", *text).with("kind", *text)).unwrap();
                }
                writer.commit().unwrap();
            }
        })
    }

    #[test]
    fn the_widest_beginning_is_that_of_most_terms_in_all_segments() {
        let searcher = searcher(&[&["a ab abc éa éb éc ac"], &["abd ab ac acd ace", "éd"]]);
        let widest = |prefix: &str, more| searcher.widest_prefix("text", prefix, more);
        // ab, abc, abd, ab of the other segment; ac, ac, acd, ace.
        assert_eq!(widest("a", 1), Some(("ab".into(), 4)));
        assert_eq!(widest("a", 2), Some(("abc".into(), 1)));
        assert_eq!(widest("", 1), Some(("a".into(), 9)));
        assert_eq!(widest("é", 1), Some(("éa".into(), 1)));
        assert_eq!(widest("zz", 1), None);
        assert_eq!(searcher.widest_prefix("none", "a", 1), None);
        let many: Vec<String> = (0..=BEGINNINGS_MAX).map(|nth| format!("b{nth:04}")).collect();
        let many = self::searcher(&[&[&*many.join(" ")]]);
        assert_eq!(many.widest_prefix("text", "b", 4), None);
        assert_eq!(many.widest_prefix("text", "b", 3).map(|it| it.1), Some(10));
    }

    #[test]
    fn what_a_pattern_takes_is_what_it_takes_when_it_runs() {
        // At least two terms of each pattern in each segment: one alone is planned as a word, and nothing is walked.
        let texts: &[&[&str]] =
            &[&["paris parish paros pairs", "boris", "x"], &["maris paris pariss", "x"]];
        let searcher = searcher(texts);
        for text in ["paris~2/1", "paris~1", "pa*", "p?r*s", "/pa.*/"] {
            let pattern = parse(&format!("text:{text}"), &searcher.parse_options()).unwrap();
            let tree = searcher.search(&pattern).count_only().analyze().unwrap();
            let terms = tree.plan.actual.unwrap().terms.unwrap();
            let walked = TermCounts { cut: false, ..terms };
            assert_eq!(searcher.walked(&pattern), Some(walked), "{text}");
        }
        let word = parse("text:paris", &searcher.parse_options()).unwrap();
        assert_eq!(searcher.walked(&word), None);
    }

    #[test]
    fn similar_words_are_the_nearest_and_never_the_word_itself() {
        let searcher = searcher(&[&["paris", "parish", "paris", "patris"], &["boris", "pa"]]);
        let similar = |word: &str| searcher.similar_words("text", word);
        let paris = ("paris".to_owned(), 2);
        assert_eq!(similar("pariss")[..2], [paris.clone(), ("parish".to_owned(), 1)]);
        assert_eq!(similar("prais"), [paris]);
        assert!(similar("paris").iter().all(|(word, _)| word != "paris"));
        assert_eq!(similar("pb"), []);
        // Three characters are enough for one mistake, and six for two.
        assert_eq!(similar("pab"), [("pa".to_owned(), 1)]);
        assert_eq!(similar("parxyh"), [("parish".to_owned(), 1)]);
        assert_eq!(similar("parxy"), []);
        assert_eq!(searcher.similar_words("none", "pariss"), []);
    }

    #[test]
    fn a_slow_facet_is_proposed_the_column_that_it_lacks() {
        let texts: Vec<String> = (0..1_100).map(|nth| format!("v{nth} all")).collect();
        let texts = texts.iter().map(|text| &**text).chain(["none"]).collect::<Vec<_>>();
        let searcher = searcher(&[&texts]);
        let query = searcher.parse("all").unwrap();
        let search = searcher.search(&query).with_facet(
            crate::request::Facet::values("kind")
                .limit(1_100)
                .method(FacetMethod::MostFrequentFirst),
        );
        let mut tree = search.analyze().unwrap();
        tree.facets[0].actual.as_mut().unwrap().time_ns = 1 << 40;
        let slow = |findings: Vec<crate::explain::Finding>| {
            findings.into_iter().find(|finding| finding.rule == "slow facet").unwrap()
        };
        let remedy = |findings| slow(findings).remedy.unwrap();
        // Fewer values are had at once.
        assert!(remedy(tree.find_with(&searcher)).contains("a column (facet = true"));
        assert!(!slow(tree.find_with(&searcher)).rebuild);
        assert!(!remedy(tree.find()).contains("column"));
        tree.facets[0].limit = 10;
        let column_alone = slow(tree.find_with(&searcher));
        assert!(column_alone.rebuild, "{column_alone:?}");
        tree.findings = vec![column_alone];
        assert!(tree.to_string().contains("(needs a rebuild)"), "{tree}");
    }
}
