//! Indexing titles: how long, how much processor time, how much memory, how many bytes.
//!
//! Every engine runs in a process of its own, one after the other. GNU sort is there as the
//! yardstick: it too reads every line and writes every line, and does nothing else.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::Command,
    time::Instant,
};

use tantivy::{
    TantivyDocument,
    schema::{
        Field, IndexRecordOption, STORED, Schema, SchemaBuilder, TextFieldIndexing, TextOptions,
    },
    tokenizer::{LowerCaser, SimpleTokenizer, TextAnalyzer},
};
use treepie::writer::{BadLines, LineFormat};
use treepie::{Index, WriterOptions};

use crate::{Result, measure};

/// What a benchmark of building prints for one engine.
pub(crate) fn compare(titles: &str, dir: &str, threads: &str, mib: &str) -> Result<()> {
    fs::create_dir_all(dir)?;
    // Once through, so that the first engine finds the file in memory as the others do.
    let n_bytes = std::io::copy(&mut fs::File::open(titles)?, &mut std::io::sink())?;
    println!("{titles}: {n_bytes} bytes, {threads} threads, {mib} MiB");
    println!("{:<10}{:>9}{:>9}{:>11}{:>15}", "", "wall s", "cpu s", "peak MiB", "bytes");
    for engine in ["sort", "tantivy", "treepie"] {
        let at = Path::new(dir).join(engine);
        if at.exists() {
            fs::remove_dir_all(&at)?;
        }
        fs::create_dir(&at)?;
        let mut command = if engine == "sort" {
            let mut sort = Command::new("sort");
            sort.env("LC_ALL", "C").arg(format!("--parallel={threads}"));
            sort.args(["-S", &format!("{mib}M"), titles, "-o"]).arg(at.join("sorted"));
            sort
        } else {
            let mut one = Command::new(std::env::current_exe()?);
            one.args(["build-one", engine, titles]).arg(&at).args([threads, mib]);
            one
        };
        let (cpu, start) = (measure::cpu_of_children()?, Instant::now());
        let output = command.stderr(std::process::Stdio::inherit()).output()?;
        let (wall, cpu) = (start.elapsed().as_secs_f64(), measure::cpu_of_children()? - cpu);
        if !output.status.success() {
            return Err(format!("{engine} failed").into());
        }
        let peak = String::from_utf8(output.stdout)?;
        let peak = peak.trim().parse::<u64>().map_or("-".into(), |kib| format!("{}", kib / 1024));
        let bytes = measure::size_of(&at)?;
        println!("{engine:<10}{wall:>9.2}{cpu:>9.2}{peak:>11}{bytes:>15}");
        if engine == "sort" {
            fs::remove_dir_all(&at)?;
        }
    }
    Ok(())
}

/// One engine in this process; prints the peak of its memory in KiB.
pub(crate) fn one(engine: &str, titles: &str, dir: &str, threads: &str, mib: &str) -> Result<()> {
    let (titles, dir) = (Path::new(titles), Path::new(dir));
    let (threads, bytes) = (threads.parse()?, mib.parse::<usize>()? << 20);
    match engine {
        "tantivy" => with_tantivy(titles, dir, threads, bytes)?,
        "treepie" => with_treepie(titles, dir, threads, bytes)?,
        _ => return Err(format!("no engine {engine}").into()),
    }
    println!("{}", measure::peak_kib()?);
    Ok(())
}

/// Titles stored and indexed without positions, frequencies or lengths, as by treepie here;
/// treepie indexes the qualifier as a second field, tantivy is spared that.
fn with_tantivy(titles: &Path, dir: &Path, threads: usize, bytes: usize) -> Result<()> {
    let mut schema = SchemaBuilder::new();
    let title = schema.add_text_field("title", words_only() | STORED);
    let index = create_tantivy(dir, schema.build())?;
    let mut writer = index.writer_with_num_threads(threads, bytes)?;
    let mut lines = BufReader::with_capacity(1 << 20, fs::File::open(titles)?).lines();
    if let Some(first) = lines.next() {
        let first = first?;
        if first != "page_title" {
            add_title(&writer, title, &first)?;
        }
    }
    for line in lines {
        add_title(&writer, title, &line?)?;
    }
    writer.commit()?;
    merge_all(&index, writer)
}

fn with_treepie(titles: &Path, dir: &Path, threads: usize, bytes: usize) -> Result<()> {
    let preset = treepie::writer::LineFormat::titles().schema().unwrap();
    let fields = preset.fields().iter().cloned();
    let schema = fields.fold(treepie::Schema::builder(), |schema, field| {
        schema.field(field.detail(treepie::schema::Detail::Documents))
    });
    let index = Index::create(dir, schema.build()?)?;
    let options = WriterOptions::new().threads(threads).memory_bytes(bytes);
    let mut writer = index.writer_with(options)?;
    let format = LineFormat::titles();
    writer.add_lines(fs::File::open(titles)?, &format, BadLines::Refuse)?;
    writer.commit()?;
    Ok(())
}

fn add_title(
    writer: &tantivy::IndexWriter<TantivyDocument>,
    title: Field,
    line: &str,
) -> Result<()> {
    let mut document = TantivyDocument::new();
    document.add_text(title, line.replace('_', " "));
    writer.add_document(document)?;
    Ok(())
}

/// The tokenizer `words` is treepie's default: alphanumeric runs, lower-cased; tantivy's own
/// default also drops tokens of 40 bytes and more.
pub(crate) fn create_tantivy(dir: &Path, schema: Schema) -> Result<tantivy::Index> {
    fs::create_dir_all(dir)?;
    let index = tantivy::Index::create_in_dir(dir, schema)?;
    index.tokenizers().register(
        "words",
        TextAnalyzer::builder(SimpleTokenizer::default()).filter(LowerCaser).build(),
    );
    Ok(index)
}

pub(crate) fn words_only() -> TextOptions {
    TextOptions::default().set_indexing_options(
        TextFieldIndexing::default()
            .set_tokenizer("words")
            .set_index_option(IndexRecordOption::Basic)
            .set_fieldnorms(false),
    )
}

/// Leaves one segment and no thread at work.
pub(crate) fn merge_all(
    index: &tantivy::Index,
    mut writer: tantivy::IndexWriter<TantivyDocument>,
) -> Result<()> {
    let segments = index.searchable_segment_ids()?;
    if segments.len() > 1 {
        writer.merge(&segments).wait()?;
    }
    writer.wait_merging_threads()?;
    Ok(())
}
