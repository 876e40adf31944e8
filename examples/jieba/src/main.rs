//! A tokenizer that somebody else wrote for tantivy, unchanged: Chinese words by jieba's dictionary.
//!
//! Behind it stands a filter of treepie's, since both speak `tantivy-tokenizer-api`; it could as well be
//! one of tantivy's family. The index keeps the name of the analyzer, not the tokenizer itself, so
//! whoever opens it registers an analyzer of that name.
//!
//! `cargo run --manifest-path examples/jieba/Cargo.toml`

use tantivy_jieba::JiebaTokenizer;
use treepie::{
    Document, ErrorKind, Field, FieldKind, Index, Schema,
    analysis::{Analyzer, Analyzers, Filter, tokenizer_api::TokenFilter},
};

fn main() -> treepie::Result<()> {
    let tokenizer = Filter::lower_case().transform(JiebaTokenizer::new());
    let analyzer = Analyzer::new("jieba", tokenizer);
    let tokens = analyzer.tokens("北京大学的Rust课程");
    println!("北京大学的Rust课程: {}", tokens.join(" / "));
    assert!(tokens.iter().any(|token| token == "北京大学") && tokens.contains(&"rust".to_owned()));

    let dir = std::env::temp_dir().join("treepie-jieba.tp");
    let title = Field::new("title", FieldKind::Text).analyzer("jieba");
    let schema = Schema::builder().field(title).build()?;
    let analyzers = Analyzers::default().register(analyzer);
    let index = Index::options().analyzers(analyzers.clone()).overwrite(&dir, schema)?;
    let mut writer = index.writer()?;
    for title in ["北京大学", "南京市长江大桥", "中华人民共和国", "Rust语言在北京"] {
        writer.add(Document::new().with("title", title))?;
    }
    writer.commit()?;
    drop(writer);

    let searcher = Index::options().analyzers(analyzers).open(&dir)?.searcher()?;
    for (text, expected) in [("北京", 2), ("长江", 1), ("RUST", 1), ("共和国", 1), ("京市", 0)] {
        let query = searcher.parse(text)?;
        let hits = searcher.search(&query).run()?.hits;
        let titles: Vec<String> = hits.iter().map(|hit| hit.fields["title"].to_string()).collect();
        println!("{text}: {}", titles.join(", "));
        assert_eq!(titles.len(), expected, "{text}");
    }

    // Opened without it, the index is there; only the field's words are out of reach.
    let searcher = Index::open(&dir)?.searcher()?;
    let error = searcher.count(&searcher.parse("北京")?).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Analyzer);
    println!("without the analyzer: {error}");
    std::fs::remove_dir_all(&dir).map_err(|error| treepie::Error::io("cleaning up", error))
}
