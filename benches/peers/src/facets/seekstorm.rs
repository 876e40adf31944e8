//! SeekStorm: one shard, string and number facets, mapped files. It knows no months, and no selections that a facet leaves out.

use std::path::{Path, PathBuf};

use seekstorm::{
    commit::Commit,
    index::{
        AccessType, Close, Clustering, Document, DocumentCompression, FileType, FrequentwordType,
        IndexArc, IndexDocument, IndexMetaObject, LexicalSimilarity, NgramSet, SchemaField,
        StemmerType, StopwordType, TokenizerType, create_index, open_index,
    },
    search::{QueryFacet, QueryRewriting, QueryType, RangeType, ResultType, Search, SearchMode},
    vector::Inference,
};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use super::{
    Other, TOP, Task,
    products::{PRICES, each_document},
};
use crate::{Result, measure};

pub(super) struct SeekStorm {
    runtime: Runtime,
    index: IndexArc,
}

impl SeekStorm {
    pub(super) fn open(dir: &str, documents: u64) -> Result<Self> {
        let at: PathBuf = Path::new(dir).join(format!("products-seekstorm-{documents}"));
        let runtime = Builder::new_current_thread().enable_all().build()?;
        if !at.exists() {
            eprintln!("building {}", at.display());
            let before = measure::cpu()?;
            let (time, ()) = measure::time(|| build(&runtime, documents, &at))?;
            let (seconds, cpu) = (time / 1e6, measure::cpu()? - before);
            let mib = measure::size_of(&at)? >> 20;
            eprintln!("{seconds:.1} s, {cpu:.1} s of processor time, {mib} MiB");
        }
        let index = runtime.block_on(open_index(&at))?;
        Ok(SeekStorm { runtime, index })
    }
}

impl Other for SeekStorm {
    fn name(&self) -> &'static str {
        "SeekStorm"
    }

    fn is_peer(&self) -> bool {
        true
    }

    fn run(&mut self, task: Task, mark: &str) -> Result<Option<Vec<i64>>> {
        let facet = match task {
            Task::Brands => QueryFacet::String16 {
                field: "brand".into(),
                prefix: String::new(),
                length: TOP as u16,
            },
            Task::Prices => {
                let from = [0].into_iter().chain(PRICES);
                QueryFacet::I64 {
                    field: "price".into(),
                    range_type: RangeType::CountWithinRange,
                    ranges: from.map(|from| (format!("{from:08}"), from)).collect(),
                }
            }
            _ => return Ok(None),
        };
        let found = self.runtime.block_on(self.index.search(
            mark.into(),
            None,
            QueryType::Union,
            SearchMode::Lexical,
            false,
            0,
            // With none it panics.
            1,
            ResultType::Count,
            false,
            vec![],
            vec![facet],
            vec![],
            vec![],
            QueryRewriting::SearchOnly,
        ));
        let (_, counts) = found.facets.into_iter().next().ok_or("no facet")?;
        let mut counts: Vec<(String, i64)> =
            counts.into_iter().map(|(label, count)| (label, count as i64)).collect();
        if task == Task::Prices {
            counts.sort();
        }
        Ok(Some(counts.into_iter().map(|(_, count)| count).collect()))
    }
}

fn build(runtime: &Runtime, documents: u64, dir: &Path) -> Result<()> {
    let schema: Vec<SchemaField> = serde_json::from_value(json!([
        {"field": "brand", "field_type": "String16", "store": false, "index_lexical": false, "facet": true},
        {"field": "price", "field_type": "I64", "store": true, "index_lexical": false, "facet": true},
        {"field": "mark", "field_type": "Text", "store": false, "index_lexical": true},
    ]))?;
    let meta = IndexMetaObject {
        id: 0,
        name: "products".into(),
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
    let index = runtime.block_on(create_index(dir, meta, &schema, &vec![], true, Some(1)))?;
    each_document(documents, |product| {
        let mut document = Document::new();
        document.insert("brand".into(), Value::String(product.brand.into()));
        document.insert("price".into(), Value::from(product.cents));
        document.insert("mark".into(), Value::String(product.marks.join(" ")));
        runtime.block_on(index.index_document(document, FileType::None));
        Ok(())
    })?;
    runtime.block_on(async {
        index.commit().await;
        index.close().await;
    });
    Ok(())
}
