//! treepie's side of the comparison.

use std::{fs, path::Path};

use treepie::search::TotalMode;
use treepie::writer::{BadLines, LineFormat};
use treepie::{Document, Field, FieldKind, Hits, Index, Schema, WriterOptions};

use super::{
    corpus::{Columns, Corpus},
    engine::{Contender, Engine, Role, Top},
    questions::Question,
};
use crate::Result;

/// Memory that the build may use, as the peers get it.
const BUILD_BYTES: usize = 1 << 30;

pub(crate) const CONTENDER: Contender = Contender {
    name: "treepie",
    version: "this tree",
    role: Role::Own,
    build,
    open: |dir| Ok(Box::new(Treepie { searcher: Index::open(dir)?.searcher()? })),
};

struct Treepie {
    searcher: treepie::Searcher,
}

impl Treepie {
    /// The best `k`, their numbers and scores without stored fields, as the peers answer.
    fn search(&self, question: &Question, k: usize, total: TotalMode) -> Result<Hits> {
        let query = self.searcher.parse(&question.text)?;
        let search = self.searcher.search(&query).limit(k as u64).total(total);
        Ok(search.fields([] as [&str; 0]).run()?)
    }
}

impl Engine for Treepie {
    fn count(&mut self, question: &Question) -> Result<Option<u64>> {
        let query = self.searcher.parse(&question.text)?;
        Ok(Some(self.searcher.count(&query)?))
    }

    fn top(&mut self, question: &Question, k: usize) -> Result<Option<Top>> {
        let hits = self.search(question, k, TotalMode::Unknown)?;
        Ok(Some(Top { n: hits.hits.len() }))
    }

    fn top_and_count(&mut self, question: &Question, k: usize) -> Result<Option<(Top, u64)>> {
        let hits = self.search(question, k, TotalMode::Exact)?;
        Ok(Some((Top { n: hits.hits.len() }, hits.total.value)))
    }
}

fn build(corpus: &Corpus, dir: &Path) -> Result<()> {
    let options = WriterOptions::new().threads(1).memory_bytes(BUILD_BYTES);
    let mut writer = match corpus.columns {
        Columns::Title => {
            let index = Index::create(dir, Schema::builder().text("text").build()?)?;
            let mut writer = index.writer_with(options)?;
            let lines = fs::File::open(&corpus.lines)?;
            writer.add_lines(lines, &LineFormat::field("text"), BadLines::Refuse)?;
            writer
        }
        Columns::TitleAndBody => {
            // A field that is stored and not indexed does not exist here, so the title is also a term.
            let schema = Schema::builder()
                .keyword("title")
                .field(Field::new("text", FieldKind::Text).stored(false))
                .build()?;
            let index = Index::create(dir, schema)?;
            let mut writer = index.writer_with(options)?;
            corpus.each_document(|title, body| {
                Ok(writer.add(Document::new().with("title", title).with("text", body))?)
            })?;
            writer
        }
    };
    writer.commit()?;
    if Index::open(dir)?.inspect()?.segments().len() > 1 {
        writer.merge()?;
    }
    Ok(())
}
