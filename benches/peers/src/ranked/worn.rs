//! What deleted documents and many segments cost: the same questions of worn indexes and of one clean segment with the
//! documents that are left, treepie beside itself.
//!
//! ```text
//! lots     → each document is of one of a hundred lots by chance; the first lots are what is deleted
//! clean    → one segment of the other lots, for each share of deleted documents
//! worn     → all lots, committed in so many segments, and then the first lots deleted; nothing merges
//! times    → classes × commands × passes × indexes × questions of the class
//! ```

use std::{fmt::Write, fs, hint::black_box, path::Path, time::Instant};

use treepie::writer::MergePolicy;
use treepie::{Document, Field, FieldKind, Index, IndexWriter, Schema, WriterOptions};

use super::{
    Options,
    corpus::{self, Columns, Corpus, Name},
    engine::{Answer, Command, Engine},
    questions::{self, Class, Question},
    random::Random,
    treepie_engine,
};
use crate::Result;

/// Percent of the documents that are deleted, and segments they are in.
const WORN: [(u32, u32); 8] =
    [(0, 5), (0, 20), (5, 1), (30, 1), (5, 5), (5, 20), (30, 5), (30, 20)];
/// Ratios above this are bold.
const ENOUGH: f64 = 1.3;
const LOTS: usize = 100;
const BUILD_BYTES: usize = 1 << 30;

/// An index with its answers and times.
struct Side {
    name: String,
    engine: Box<dyn Engine>,
    answers: Vec<Option<Answer>>,
    /// The least of all passes in µs, by question.
    least: Vec<f64>,
}

/// Prints a table for each corpus and leaves it in `dir`.
pub(crate) fn compare(dir: &str, typed: &[&str]) -> Result<()> {
    let options = Options::parse(dir, typed)?;
    for name in &options.corpora {
        let table = on_corpus(*name, &options)?;
        print!("{table}");
        fs::write(options.dir.join(format!("worn-{}.md", name.text())), &table)?;
    }
    Ok(())
}

fn on_corpus(name: Name, options: &Options<'_>) -> Result<String> {
    let sources = options.sources();
    let dir = options.dir.join(sources.title(name));
    let (corpus, description) = corpus::prepare(name, &sources, &dir)?;
    let game = options.queries.filter(|path| name == Name::Articles && path.exists());
    let questions = questions::questions(&dir.join("questions.tsv"), game, &corpus)?;
    let mut sides = vec![];
    for (deleted, segments) in all_indexes() {
        let side = format!("{deleted} % deleted, {segments} segments");
        let at = dir.join(format!("worn-{deleted}-{segments}"));
        eprintln!("{}: building {side}", name.text());
        build(&corpus, &at, deleted, segments)?;
        let engine = (treepie_engine::CONTENDER.open)(&at)?;
        sides.push(Side { name: side, engine, answers: vec![], least: vec![] });
    }
    let mut text = format!("### {}: {description}\n\n", name.text());
    write!(
        text,
        "Time ÷ that of one clean segment with the documents that are left, geometric mean over "
    )?;
    writeln!(text, "a class's questions of their least times in {} passes.\n", options.passes)?;
    let mut ratios = vec![];
    for command in Command::ALL {
        let names = WORN.map(|(deleted, segments)| format!("{deleted} %, {segments}"));
        writeln!(text, "| {} | µs, clean | {} |", command.name(), names.join(" | "))?;
        writeln!(text, "|---|---|{}", "---|".repeat(names.len()))?;
        for class in Class::ALL.into_iter().filter(|class| options.asks(*class)) {
            let of_class: Vec<&Question> =
                questions.iter().filter(|question| question.class == class).collect();
            time(&mut sides, command, &of_class, options.passes)?;
            let clean = geometric_mean(sides[0].least.iter().copied());
            write!(text, "| {} | {clean:.1} |", class.name())?;
            for ((deleted, segments), name) in WORN.into_iter().zip(&names) {
                let ratio = ratio(side(&sides, deleted, segments), clean_of(&sides, deleted));
                let mark = if ratio > ENOUGH { "**" } else { "" };
                write!(text, " {mark}{ratio:.2}{mark} |")?;
                ratios.push((ratio, format!("{} {} of {name}", command.name(), class.name())));
            }
            writeln!(text)?;
        }
        writeln!(text)?;
    }
    let n_above = ratios.iter().filter(|(ratio, _)| *ratio > ENOUGH).count();
    let worst = ratios.iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let worst = worst.map(|(ratio, name)| format!("{name}, {ratio:.2}")).unwrap_or_default();
    writeln!(text, "{n_above} of {} are above {ENOUGH}; the worst is {worst}.\n", ratios.len())?;
    Ok(text)
}

/// The clean ones first, by their share of deleted documents: those are not in them, and not deleted from them.
fn all_indexes() -> impl Iterator<Item = (u32, u32)> {
    [(0, 0), (5, 0), (30, 0)].into_iter().chain(WORN)
}

fn side(sides: &[Side], deleted: u32, segments: u32) -> &Side {
    let at = all_indexes().position(|known| known == (deleted, segments));
    &sides[at.unwrap_or_default()]
}

fn clean_of(sides: &[Side], deleted: u32) -> &Side {
    side(sides, deleted, 0)
}

/// How many times as long one takes as the other, over their questions.
fn ratio(worn: &Side, clean: &Side) -> f64 {
    geometric_mean(worn.least.iter().zip(&clean.least).map(|(worn, clean)| worn / clean))
}

fn geometric_mean(figures: impl Iterator<Item = f64>) -> f64 {
    let logs: Vec<f64> = figures.map(f64::ln).collect();
    crate::measure::mean(&logs).exp()
}

/// Asks every index all questions, pass after pass in turns, and holds the answers of the worn ones against those of the clean.
fn time(sides: &mut [Side], command: Command, of: &[&Question], passes: usize) -> Result<()> {
    for side in &mut *sides {
        side.least = vec![f64::MAX; of.len()];
        let answers = of.iter().map(|question| command.run(&mut *side.engine, question));
        side.answers = answers.collect::<Result<_>>()?;
    }
    for _ in 0..passes {
        for side in &mut *sides {
            for (least, question) in side.least.iter_mut().zip(of) {
                let start = Instant::now();
                black_box(command.run(black_box(&mut *side.engine), black_box(question))?);
                *least = least.min(start.elapsed().as_nanos() as f64 / 1e3);
            }
        }
    }
    for (deleted, segments) in WORN {
        let (worn, clean) = (side(sides, deleted, segments), clean_of(sides, deleted));
        for ((worn_answer, clean_answer), question) in
            worn.answers.iter().zip(&clean.answers).zip(of)
        {
            if worn_answer != clean_answer {
                let (text, name) = (&question.text, &worn.name);
                return Err(format!(
                    "{text}: {worn_answer:?} of {name}, {clean_answer:?} of the clean one"
                )
                .into());
            }
        }
    }
    Ok(())
}

/// Indexes a corpus in so many segments and deletes a share of it; with 0 segments only the rest is indexed, in one.
fn build(corpus: &Corpus, dir: &Path, deleted: u32, segments: u32) -> Result<()> {
    if dir.exists() {
        fs::remove_dir_all(dir)?;
    }
    let schema = match corpus.columns {
        Columns::Title => Schema::builder().text("text").keyword("lot").build()?,
        Columns::TitleAndBody => {
            let text = Field::new("text", FieldKind::Text).stored(false);
            Schema::builder().keyword("title").field(text).keyword("lot").build()?
        }
    };
    let index = Index::create(dir, schema)?;
    let options = WriterOptions::new().threads(1).memory_bytes(BUILD_BYTES);
    let never = MergePolicy::default().documents_max(0).deleted_percent(100);
    let mut writer = index.writer_with(options.merge_policy(never))?;
    let mut n_documents = 0;
    corpus.each_document(|_, _| {
        n_documents += 1;
        Ok(())
    })?;
    let of_segment = (n_documents as usize).div_ceil(segments.max(1) as usize);
    let (mut random, mut n_added) = (Random::new(7), 0);
    corpus.each_document(|title, body| {
        let lot = random.below(LOTS);
        if segments > 0 || lot >= deleted as usize {
            writer.add(document(corpus, title, body).with("lot", lot.to_string()))?;
        }
        n_added += 1;
        if n_added % of_segment == 0 {
            writer.commit()?;
        }
        Ok(())
    })?;
    writer.commit()?;
    if segments < 2 && n_segments(dir)? > 1 {
        writer.merge()?;
    }
    if segments > 0 {
        delete(&mut writer, deleted)?;
    }
    match n_segments(dir)? {
        made if made == segments.max(1) as usize => Ok(()),
        made => Err(format!("{made} segments instead of {segments}").into()),
    }
}

fn n_segments(dir: &Path) -> Result<usize> {
    Ok(Index::open(dir)?.inspect()?.segments().len())
}

fn document(corpus: &Corpus, title: &str, body: &str) -> Document {
    match corpus.columns {
        Columns::Title => Document::new().with("text", body),
        Columns::TitleAndBody => Document::new().with("title", title).with("text", body),
    }
}

fn delete(writer: &mut IndexWriter, lots: u32) -> Result<()> {
    for lot in 0..lots {
        writer.delete_value("lot", lot.to_string())?;
    }
    writer.commit()?;
    Ok(())
}
