//! tantivy: its default settings, but for a tokenizer that gives treepie's tokens.

use std::{ops::Bound, path::Path};

use tantivy::{
    ReloadPolicy, TantivyDocument, Term,
    collector::{Collector, Count, TopDocs},
    query::{
        BooleanQuery, ConstScoreQuery, FuzzyTermQuery, InvertedIndexRangeQuery, Occur, Query,
        QueryParser, TermQuery,
    },
    schema::{Field, IndexRecordOption, STORED, SchemaBuilder, TextFieldIndexing, TextOptions},
    tokenizer::{LowerCaser, SimpleTokenizer, TextAnalyzer},
};

use super::{
    corpus::{Columns, Corpus},
    engine::{Contender, Engine, Role, Top},
    questions::{Class, Question},
};
use crate::{
    Result,
    build::{create_tantivy, merge_all},
};

const BUILD_BYTES: usize = 1 << 30;

pub(crate) const NAME: &str = "tantivy";

pub(crate) const CONTENDER: Contender = Contender {
    name: NAME,
    version: "0.27.0",
    role: Role::Peer,
    build,
    open: |dir| Ok(Box::new(Tantivy::open(dir)?)),
};

/// An index opened for questions.
struct Tantivy {
    searcher: tantivy::Searcher,
    parser: QueryParser,
    text: Field,
}

/// The searcher of an index with one segment, and the field with the text.
pub(crate) fn open_searcher(dir: &Path) -> Result<(tantivy::Index, tantivy::Searcher, Field)> {
    let index = tantivy::Index::open_in_dir(dir)?;
    index.tokenizers().register(
        "words",
        TextAnalyzer::builder(SimpleTokenizer::default()).filter(LowerCaser).build(),
    );
    let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
    let searcher = reader.searcher();
    if searcher.segment_readers().len() != 1 {
        return Err("tantivy's index has not one segment".into());
    }
    let text = index.schema().get_field("text")?;
    Ok((index, searcher, text))
}

impl Tantivy {
    fn open(dir: &Path) -> Result<Self> {
        let (index, searcher, text) = open_searcher(dir)?;
        Ok(Tantivy { searcher, parser: QueryParser::for_index(&index, vec![text]), text })
    }

    /// The query language has no prefix of a single word and no fuzzy word, so those two are made
    /// from the word without a parser.
    fn query(&self, question: &Question) -> Result<Box<dyn Query>> {
        let term = |text: &str| Term::from_field_text(self.text, text);
        match (question.class, question.words.as_slice()) {
            (Class::Prefix, [word]) => {
                let below = match successor(word) {
                    Some(next) => Bound::Excluded(term(&next)),
                    None => Bound::Unbounded,
                };
                Ok(Box::new(InvertedIndexRangeQuery::new(Bound::Included(term(word)), below)))
            }
            (Class::FilterOr2, [filter, any @ ..]) => {
                let word = |word: &String| -> Box<dyn Query> {
                    let option = IndexRecordOption::WithFreqs;
                    Box::new(TermQuery::new(term(word), option))
                };
                let any = any.iter().map(|of| (Occur::Should, word(of))).collect();
                let filter = ConstScoreQuery::new(word(filter), 0.0);
                let both: Vec<(Occur, Box<dyn Query>)> = vec![
                    (Occur::Must, Box::new(filter)),
                    (Occur::Must, Box::new(BooleanQuery::new(any))),
                ];
                Ok(Box::new(BooleanQuery::new(both)))
            }
            (Class::Fuzzy, [word]) => Ok(Box::new(FuzzyTermQuery::new(term(word), 1, true))),
            (Class::Fuzzy2, [word]) => Ok(Box::new(FuzzyTermQuery::new(term(word), 2, true))),
            _ => Ok(self.parser.parse_query(&question.text)?),
        }
    }

    fn search<C: Collector>(&self, question: &Question, collector: &C) -> Result<C::Fruit> {
        Ok(self.searcher.search(&*self.query(question)?, collector)?)
    }
}

/// The least text above everything that begins with `word`.
fn successor(word: &str) -> Option<String> {
    let last = word.chars().next_back()?;
    let kept = &word[..word.len() - last.len_utf8()];
    // Surrogates are no characters.
    let next = char::from_u32(last as u32 + 1).or((last as u32 == 0xD7FF).then_some('\u{E000}'));
    match next {
        Some(next) => Some(format!("{kept}{next}")),
        None => successor(kept),
    }
}

impl Engine for Tantivy {
    fn count(&mut self, question: &Question) -> Result<Option<u64>> {
        Ok(Some(self.search(question, &Count)? as u64))
    }

    fn top(&mut self, question: &Question, k: usize) -> Result<Option<Top>> {
        let found = self.search(question, &TopDocs::with_limit(k).order_by_score())?;
        Ok(Some(Top { n: found.len() }))
    }

    fn top_and_count(&mut self, question: &Question, k: usize) -> Result<Option<(Top, u64)>> {
        let collector = (TopDocs::with_limit(k).order_by_score(), Count);
        let (found, count) = self.search(question, &collector)?;
        Ok(Some((Top { n: found.len() }, count as u64)))
    }
}

fn build(corpus: &Corpus, dir: &Path) -> Result<()> {
    let mut schema = SchemaBuilder::new();
    let indexed = TextOptions::default().set_indexing_options(
        TextFieldIndexing::default()
            .set_tokenizer("words")
            .set_index_option(IndexRecordOption::WithFreqsAndPositions),
    );
    let (title, text) = match corpus.columns {
        Columns::Title => (None, schema.add_text_field("text", indexed | STORED)),
        Columns::TitleAndBody => {
            (Some(schema.add_text_field("title", STORED)), schema.add_text_field("text", indexed))
        }
    };
    let index = create_tantivy(dir, schema.build())?;
    let mut writer = index.writer_with_num_threads(1, BUILD_BYTES)?;
    corpus.each_document(|name, body| {
        let mut document = TantivyDocument::new();
        if let Some(title) = title {
            document.add_text(title, name);
        }
        document.add_text(text, body);
        writer.add_document(document)?;
        Ok(())
    })?;
    writer.commit()?;
    merge_all(&index, writer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_successor_is_the_end_of_the_prefix() {
        assert_eq!(successor("ab").as_deref(), Some("ac"));
        assert_eq!(successor("a\u{10FFFF}").as_deref(), Some("b"));
        assert_eq!(successor("\u{D7FF}").as_deref(), Some("\u{E000}"));
        assert_eq!(successor("\u{10FFFF}"), None);
    }
}
