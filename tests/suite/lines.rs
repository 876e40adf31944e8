//! Lines of text as documents: the copies of the fields that they fill.

use treepie::writer::{BadLines, LineFormat};
use treepie::{
    Document, ErrorKind, Field, FieldKind, Index, IndexWriter, Schema, SchemaBuilder, WriterOptions,
};

fn text(name: &str) -> Field {
    Field::new(name, FieldKind::Text)
}

/// Copies of every kind, of what lines fill and of what they do not.
fn schema() -> SchemaBuilder {
    let keyword = |name| Field::new(name, FieldKind::Keyword);
    Schema::builder()
        .field(text("title.again").copy_of("title"))
        .field(text("title"))
        .field(text("title.words").copy_of("title").analyzer("words|lower|fold|stop:en"))
        .field(text("title.places").copy_of("title").offsets(true))
        .field(keyword("qualifier").column(true).stored(false))
        .field(text("qualifier.text").copy_of("qualifier"))
        .field(text("qualifier.words").copy_of("qualifier").analyzer("whitespace"))
        .field(keyword("qualifier.again").copy_of("qualifier"))
        .field(text("other"))
        .field(keyword("other.whole").copy_of("other"))
}

/// An index of what is added, with ids that are always the same.
fn index(schema: &Schema, add: impl FnOnce(&mut IndexWriter)) -> Index {
    let index = Index::in_memory(schema.clone());
    let options = WriterOptions::new().threads(2).reproducible_ids([7; 16]);
    let mut writer = index.writer_with(options).unwrap();
    add(&mut writer);
    writer.commit().unwrap();
    drop(writer);
    assert!(index.inspect().unwrap().verify(|error| panic!("{error}")).is_sound());
    index
}

fn of_lines(schema: &Schema, lines: &str, format: &LineFormat) -> Index {
    index(schema, |writer| {
        let report = writer.add_lines(lines.as_bytes(), format, BadLines::Refuse).unwrap();
        assert_eq!(report.documents, lines.lines().count() as u64);
    })
}

/// The documents that lines are, added one by one.
fn of_documents(schema: &Schema, lines: &str, is_dump: bool) -> Index {
    index(schema, |writer| {
        for line in lines.lines() {
            let line = if is_dump { line.replace('_', " ") } else { line.to_owned() };
            let qualifier = line.strip_suffix(')').and_then(|line| Some(line.rsplit_once('(')?.1));
            let mut document = Document::new().with("title", &*line);
            if let Some(qualifier) = qualifier.filter(|it| is_dump && !it.is_empty()) {
                document = document.with("qualifier", qualifier);
            }
            writer.add(document).unwrap();
        }
    })
}

fn lines(n: usize) -> String {
    let line = |nth: usize| match nth % 7 {
        0 => String::new(),
        1 => format!("The_Café_of_{nth}_(film)\n"),
        2 => format!("{nth}\u{a0}Straße, where it's at\n"),
        3 => format!("東京_{nth}_(song by Ünknown {})\n", nth % 5),
        4 => "An_(album)_of_the_()\n".to_owned(),
        5 => format!("and\tthe {}\n", "x".repeat(nth % 300)),
        _ => "\n".to_owned(),
    };
    (0..n).map(line).collect()
}

#[test]
fn lines_fill_copies_as_documents_do() {
    let whole = Field::new("title.whole", FieldKind::Keyword).copy_of("title").column(true);
    for (has_whole, more) in [(true, ""), (false, &*"word ".repeat(40_000))] {
        let schema = if has_whole { schema().field(whole.clone()) } else { schema() };
        let schema = schema.build().unwrap();
        let lines = format!("{}{more}\n{}", lines(800), lines(100));
        for (format, is_dump) in [(LineFormat::field("title"), false), (LineFormat::titles(), true)]
        {
            let by_lines = of_lines(&schema, &lines, &format);
            let by_documents = of_documents(&schema, &lines, is_dump);
            let what = format!("whole lines: {has_whole}, titles: {is_dump}");
            let searcher = by_lines.searcher().unwrap();
            for query in ["title.again:straße", "title.words:straße", "title.places:straße"] {
                let count = searcher.count(&searcher.parse(query).unwrap()).unwrap();
                assert!(count > 100, "{what}: {query}: {count}");
            }
            let of_qualifiers = searcher.parse("qualifier.text:film").unwrap();
            assert_eq!(searcher.count(&of_qualifiers).unwrap() > 100, is_dump, "{what}");
            let (lines, documents) =
                (by_lines.to_image().unwrap(), by_documents.to_image().unwrap());
            // The id of the index, which is drawn, and a checksum over it stand before the segments.
            let is_same = lines.len() == documents.len() && lines[512..] == documents[512..];
            assert!(is_same, "{what}: other bytes than of documents");
        }
    }
}

#[test]
fn copies_that_lines_cannot_fill_are_refused() {
    let add = |field: Field, line: &str, bad: BadLines| {
        let schema = Schema::builder().field(text("title")).field(field.copy_of("title"));
        let index = Index::in_memory(schema.build().unwrap());
        let mut writer = index.writer().unwrap();
        let report = writer.add_lines(line.as_bytes(), &LineFormat::field("title"), bad)?;
        let commit = writer.commit()?;
        Ok::<_, treepie::Error>((report.skipped, commit.documents))
    };
    let copy = || Field::new("copy", FieldKind::Keyword);
    let error = add(copy().normalizer("lower"), "a\n", BadLines::Refuse).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Schema);
    for words in ["copies without a normalizer", "'copy'", "treepie export"] {
        assert!(error.to_string().contains(words), "{words}: {error}");
    }
    let error = add(text("copy").analyzer("nobody"), "a\n", BadLines::Refuse).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Analyzer, "{error}");
    let index = Index::in_memory(schema().build().unwrap());
    let format = LineFormat::field("title.words");
    let error = index.writer().unwrap().add_lines(&b"a\n"[..], &format, BadLines::Refuse);
    assert!(error.unwrap_err().to_string().contains("a copy of another"));
    let titles = Schema::builder().field(text("title"));
    let titles = titles.field(Field::new("qualifier", FieldKind::Keyword)).build().unwrap();
    let (index, format) = (Index::in_memory(titles), LineFormat::titles());
    let error = index.writer().unwrap().add_lines(&b"a (b)\n"[..], &format, BadLines::Refuse);
    assert!(error.unwrap_err().to_string().contains("that is not stored"));
    // A line that is a term is no longer than these may be.
    let long = format!("a\n{}\nb\n", "x".repeat(40_000));
    let error = add(copy(), &long, BadLines::Refuse).unwrap_err();
    assert_eq!((error.kind(), error.line()), (ErrorKind::Document, Some(2)), "{error}");
    assert_eq!(add(copy(), &long, BadLines::Skip).unwrap(), (1, 2));
    assert_eq!(add(text("copy"), &long, BadLines::Refuse).unwrap(), (0, 3));
}
