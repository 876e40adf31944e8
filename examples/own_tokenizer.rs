//! A tokenizer of one's own for one field.
//!
//! treepie takes any tokenizer written for `tantivy-tokenizer-api`, so those of the tantivy family
//! plug in unchanged. This one indexes part numbers by every run of three characters, so that any
//! part of at least three finds them.
//!
//! `cargo run --example own_tokenizer`

use treepie::{
    Document, Field, FieldKind, Index, Schema,
    analysis::{
        Analyzer, Analyzers,
        tokenizer_api::{Token, TokenStream, Tokenizer},
    },
};

const WINDOW: usize = 3;

/// Every run of three letters and digits, in lower case; all others are left out first.
#[derive(Clone)]
struct Trigrams;

struct TrigramStream {
    chars: Vec<char>,
    /// Where the next run begins.
    at: usize,
    token: Token,
}

impl Tokenizer for Trigrams {
    type TokenStream<'a> = TrigramStream;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> TrigramStream {
        let kept = text.chars().filter(|char| char.is_alphanumeric());
        let chars = kept.flat_map(char::to_lowercase).collect();
        TrigramStream { chars, at: 0, token: Token::default() }
    }
}

impl TokenStream for TrigramStream {
    fn advance(&mut self) -> bool {
        let Some(run) = self.chars.get(self.at..self.at + WINDOW) else {
            return false;
        };
        self.token.text = run.iter().collect();
        self.token.position = self.at;
        self.at += 1;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

fn main() -> treepie::Result<()> {
    // The field names its analyzer, and the index keeps the name: where nobody registers an analyzer
    // of that name, a search in the field is an error rather than one that finds nothing.
    let analyzers = Analyzers::default().register(Analyzer::new("trigrams", Trigrams));
    let number = Field::new("number", FieldKind::Text).analyzer("trigrams");
    let schema = Schema::builder().field(number).text("name").build()?;
    let index = Index::options().analyzers(analyzers).overwrite("parts.tp", schema)?;

    let mut writer = index.writer()?;
    for (number, name) in
        [("AX-4711/b", "hinge, left"), ("AX-4712/b", "hinge, right"), ("QR-0047-11", "spring")]
    {
        writer.add(Document::new().with("number", number).with("name", name))?;
    }
    writer.commit()?;

    // The words of a query run through the same tokenizer; one that gives several terms means all.
    let searcher = index.searcher()?;
    for text in ["number:4711", "number:ax47", "number:004711", "number:4711 AND name:spring"] {
        let query = searcher.parse(text)?;
        let names: Vec<String> = searcher
            .search(&query)
            .run()?
            .hits
            .iter()
            .map(|hit| format!("{} ({})", hit.fields["number"], hit.fields["name"]))
            .collect();
        println!("{text}: {}", names.join("; "));
    }
    Ok(())
}
