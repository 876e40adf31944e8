//! SeekStorm: one shard, single terms (no n-grams, no stop or frequent words), mapped files.
//!
//! Its tokenizers cut words differently from everybody else's (`+`, `-` and `#` may be part of a
//! word), so it gets the tokens of the corpus with blanks between and cuts at blanks. That spares
//! it some of the work of building.
//!
//! It has no prefix and no fuzzy query, and gives a word without `+` beside one with `+` another
//! meaning, so those classes are not asked.

use std::path::Path;

use seekstorm::{
    commit::Commit,
    index::{
        AccessType, Close, Clustering, Document, DocumentCompression, FileType, FrequentwordType,
        IndexArc, IndexDocument, IndexMetaObject, LexicalSimilarity, NgramSet, SchemaField,
        StemmerType, StopwordType, TokenizerType, create_index, open_index,
    },
    search::{QueryRewriting, QueryType, ResultObject, ResultType, Search, SearchMode},
    vector::Inference,
};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use super::{
    corpus::{Corpus, push_words},
    engine::{Contender, Engine, Role, Top},
    questions::{Class, Question},
};
use crate::Result;

pub(crate) const CONTENDER: Contender = Contender {
    name: "SeekStorm",
    version: "4.0.1",
    role: Role::Peer,
    build,
    open: |dir| Ok(Box::new(SeekStorm::open(dir)?)),
};

struct SeekStorm {
    runtime: Runtime,
    index: IndexArc,
}

impl SeekStorm {
    fn open(dir: &Path) -> Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let index = runtime.block_on(open_index(dir))?;
        Ok(SeekStorm { runtime, index })
    }

    fn search(&self, question: &Question, k: usize, what: ResultType) -> Option<ResultObject> {
        if matches!(
            question.class,
            Class::Mixed | Class::Prefix | Class::Fuzzy | Class::Fuzzy2 | Class::FilterOr2
        ) {
            return None;
        }
        Some(self.runtime.block_on(self.index.search(
            question.text.clone(),
            None,
            QueryType::Union,
            SearchMode::Lexical,
            false,
            0,
            k,
            what,
            false,
            vec![],
            vec![],
            vec![],
            vec![],
            QueryRewriting::SearchOnly,
        )))
    }
}

impl Engine for SeekStorm {
    fn count(&mut self, question: &Question) -> Result<Option<u64>> {
        let found = self.search(question, 0, ResultType::Count);
        Ok(found.map(|found| found.result_count_total as u64))
    }

    fn top(&mut self, question: &Question, k: usize) -> Result<Option<Top>> {
        let found = self.search(question, k, ResultType::Topk);
        Ok(found.map(|found| Top { n: found.results.len() }))
    }

    fn top_and_count(&mut self, question: &Question, k: usize) -> Result<Option<(Top, u64)>> {
        let found = self.search(question, k, ResultType::TopkCount);
        Ok(found.map(|found| (Top { n: found.results.len() }, found.result_count_total as u64)))
    }
}

fn build(corpus: &Corpus, dir: &Path) -> Result<()> {
    let schema: Vec<SchemaField> = serde_json::from_value(json!([
        {"field": "title", "field_type": "Text", "store": true, "index_lexical": false},
        {"field": "text", "field_type": "Text", "store": false, "index_lexical": true},
    ]))?;
    let meta = IndexMetaObject {
        id: 0,
        name: "peers".into(),
        lexical_similarity: LexicalSimilarity::Bm25f,
        tokenizer: TokenizerType::Whitespace,
        stemmer: StemmerType::None,
        stop_words: StopwordType::None,
        frequent_words: FrequentwordType::None,
        ngram_indexing: NgramSet::SingleTerm as u8,
        document_compression: DocumentCompression::Lz4,
        access_type: AccessType::Mmap,
        spelling_correction: None,
        query_completion: None,
        clustering: Clustering::None,
        inference: Inference::None,
        segment_number_bits: 11,
    };
    let runtime = Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let index = create_index(dir, meta, &schema, &vec![], true, Some(1)).await?;
        let mut tokens = String::new();
        for document in corpus.documents()? {
            let (title, body) = document?;
            tokens.clear();
            push_words(&body, &mut tokens);
            let mut document = Document::new();
            document.insert("title".into(), Value::String(title));
            document.insert("text".into(), Value::String(tokens.clone()));
            index.index_document(document, FileType::None).await;
        }
        index.commit().await;
        index.close().await;
        Ok(())
    })
}
