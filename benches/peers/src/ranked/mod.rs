//! Ranked queries: COUNT, TOP_10, TOP_100, TOP_1000 and TOP_10_COUNT by fifteen classes of queries over three
//! corpora, all engines in one process, one thread, one segment, the same tokens.
//!
//! ```text
//! corpus   → lines.txt       a document a line, the same for all
//! questions → questions.tsv   the game's, or sampled from the corpus
//! build    → one process each, its processor time, peak and bytes
//! cold     → fresh processes: open, one answer
//! answers  → every engine once through everything: what it offers, and how many documents match
//! times    → classes × commands × passes × engines × questions of the class
//!            (Lucene's are read from the files that lie beside the questions)
//! ```

mod corpus;
mod croaring_engine;
mod engine;
mod lucene;
mod minima;
mod questions;
mod random;
mod report;
#[cfg(feature = "seekstorm")]
mod seekstorm_engine;
mod tantivy_engine;
mod treepie_engine;
mod worn;

use std::{
    fs,
    hint::black_box,
    path::{Path, PathBuf},
    process::Command as Process,
    time::Instant,
};

use corpus::{Corpus, Name, Sources};
use engine::{Answer, Command, Contender, Engine, Role};
use questions::{Class, Question};
use report::{Built, Column, Report};

use crate::{Result, measure};

pub(crate) use worn::compare as compare_worn;

/// The engines in the order of the columns.
fn contenders() -> Vec<Contender> {
    vec![
        treepie_engine::CONTENDER,
        tantivy_engine::CONTENDER,
        #[cfg(feature = "seekstorm")]
        seekstorm_engine::CONTENDER,
    ]
}

fn contender(name: &str) -> Result<Contender> {
    let found = contenders().into_iter().find(|contender| contender.name == name);
    found.ok_or_else(|| format!("no engine {name}").into())
}

/// What was typed.
struct Options<'a> {
    dir: &'a Path,
    articles: Option<&'a Path>,
    titles: Option<&'a Path>,
    queries: Option<&'a Path>,
    corpora: Vec<Name>,
    /// None where all are asked.
    classes: Option<Vec<Class>>,
    n_lines: usize,
    limit: usize,
    passes: usize,
}

const OPTIONS: &str = "--articles FILE, --titles FILE, --queries FILE, --corpora articles,titles,lines, \
    --classes term,and2, --lines 10000000, --passes 7, --limit N";

impl<'a> Options<'a> {
    fn parse(dir: &'a str, typed: &[&'a str]) -> Result<Self> {
        let mut options = Options {
            dir: Path::new(dir),
            articles: None,
            titles: None,
            queries: None,
            corpora: Name::ALL.to_vec(),
            classes: None,
            n_lines: 10_000_000,
            limit: usize::MAX,
            passes: 7,
        };
        for pair in typed.chunks(2) {
            let [option, value] = *pair else {
                return Err(format!("{} without a value; options: {OPTIONS}", pair[0]).into());
            };
            match option {
                "--articles" => options.articles = Some(Path::new(value)),
                "--titles" => options.titles = Some(Path::new(value)),
                "--queries" => options.queries = Some(Path::new(value)),
                "--lines" => options.n_lines = value.parse()?,
                "--limit" => options.limit = value.parse()?,
                "--passes" => options.passes = value.parse::<usize>()?.max(1),
                "--corpora" => {
                    let name =
                        |typed: &str| Name::ALL.into_iter().find(|name| name.text() == typed);
                    let names: Option<Vec<Name>> = value.split(',').map(name).collect();
                    options.corpora =
                        names.ok_or("--corpora is a list of articles, titles, lines")?;
                }
                "--classes" => {
                    let class =
                        |typed: &str| Class::ALL.into_iter().find(|class| class.name() == typed);
                    let classes: Option<Vec<Class>> = value.split(',').map(class).collect();
                    options.classes =
                        Some(classes.ok_or("--classes is a list of names as in the tables")?);
                }
                _ => return Err(format!("no option {option}; options: {OPTIONS}").into()),
            }
        }
        Ok(options)
    }

    fn sources(&self) -> Sources<'_> {
        Sources {
            articles: self.articles,
            titles: self.titles,
            n_lines: self.n_lines,
            limit: self.limit,
        }
    }

    /// Whether the questions of a class are wanted.
    fn asks(&self, class: Class) -> bool {
        self.classes.as_ref().is_none_or(|classes| classes.contains(&class))
    }
}

/// Compares the engines on each corpus, prints the tables and leaves them in `dir`.
pub(crate) fn compare(dir: &str, typed: &[&str]) -> Result<()> {
    let options = Options::parse(dir, typed)?;
    let mut disagreements = vec![];
    for name in &options.corpora {
        let report = on_corpus(*name, &options)?;
        let table = report.to_markdown();
        print!("{table}");
        fs::write(options.dir.join(format!("{}.md", report.title())), &table)?;
        disagreements.extend(report.own_disagreements());
    }
    match disagreements.as_slice() {
        [] => Ok(()),
        some => Err(format!("treepie does not agree with tantivy:\n{}", some.join("\n")).into()),
    }
}

/// Writes the corpora and the questions, for engines in processes of their own, and does no more.
pub(crate) fn prepare(dir: &str, typed: &[&str]) -> Result<()> {
    let options = Options::parse(dir, typed)?;
    for name in &options.corpora {
        println!("{}", Inputs::prepare(*name, &options)?.dir.display());
    }
    Ok(())
}

/// What all engines read: documents and questions, which stay in a directory of the corpus.
struct Inputs {
    dir: PathBuf,
    corpus: Corpus,
    description: String,
    questions: Vec<Question>,
}

impl Inputs {
    fn prepare(name: Name, options: &Options<'_>) -> Result<Inputs> {
        let sources = options.sources();
        let dir = options.dir.join(sources.title(name));
        let (corpus, description) = corpus::prepare(name, &sources, &dir)?;
        let game = options.queries.filter(|path| name == Name::Articles && path.exists());
        if name == Name::Articles && game.is_none() {
            eprintln!("articles: no file of queries, so they are sampled from the corpus");
        }
        let questions = questions::questions(&dir.join("questions.tsv"), game, &corpus)?;
        Ok(Inputs { dir, corpus, description, questions })
    }
}

fn on_corpus(name: Name, options: &Options<'_>) -> Result<Report> {
    let Inputs { dir, corpus, description, questions: all } = Inputs::prepare(name, options)?;
    let asked = all.iter().filter(|question| options.asks(question.class));
    let questions: Vec<Question> = asked.cloned().collect();
    // A file that does not fit is better refused before the minutes that follow.
    let measured_elsewhere = lucene::columns(&dir, &questions)?;

    let mut columns = vec![];
    for contender in contenders() {
        eprintln!("{}: building {}", name.text(), contender.name);
        let built = build(name, &corpus, &contender, &dir)?;
        let cold = [Command::Count, Command::Top10]
            // By a question of two words, whatever is asked after it.
            .map(|command| cold_start(&contender, command, &dir, &all));
        let [cold_count, cold_top] = cold;
        let engine = (contender.open)(&index_of(&dir, &contender))?;
        let built = Built { cold_count_us: cold_count?, cold_top_us: cold_top?, ..built };
        columns.push((Column::contender(contender, built), engine));
    }
    let tantivy = dir.join(tantivy_engine::NAME);
    let floor: Box<dyn Engine> = Box::new(croaring_engine::Floor::open(&tantivy, &questions)?);
    columns.push((Column::floor(croaring_engine::NAME), floor));
    let (mut columns, mut engines): (Vec<Column>, Vec<Box<dyn Engine>>) =
        columns.into_iter().unzip();

    eprintln!("{}: {} questions, {} passes", name.text(), questions.len(), options.passes);
    for (column, engine) in columns.iter_mut().zip(&mut engines) {
        column.answers = answers(&mut **engine, &questions)?;
        column.times = vec![vec![vec![]; questions.len()]; Command::ALL.len()];
    }
    let load_before = measure::load()?;
    // A query comes again after all others of its class, asked of all engines. Classes are kept apart: after a
    // misspelt word, which takes milliseconds, everything else would be timed with empty caches.
    for class in Class::ALL {
        for (at, command) in Command::ALL.into_iter().enumerate() {
            for _ in 0..options.passes {
                for (column, engine) in columns.iter_mut().zip(&mut engines) {
                    column.time(at, command, class, &mut **engine, &questions)?;
                }
            }
        }
    }
    let load = (load_before, measure::load()?);
    columns.extend(measured_elsewhere);
    Ok(Report::new(dir, description, questions, columns, options.passes, load))
}

fn index_of(dir: &Path, contender: &Contender) -> PathBuf {
    dir.join(contender.name.to_lowercase())
}

/// Every engine's answers, by command and question; nothing for a class that it does not offer.
fn answers(engine: &mut dyn Engine, questions: &[Question]) -> Result<Vec<Vec<Option<Answer>>>> {
    let of_command = |command: Command| -> Result<Vec<Option<Answer>>> {
        let mut refused: Vec<Class> = vec![];
        let mut answers = vec![];
        for question in questions {
            let answer = match refused.contains(&question.class) {
                true => None,
                false => command.run(engine, question)?,
            };
            if answer.is_none() && !refused.contains(&question.class) {
                refused.push(question.class);
            }
            answers.push(answer);
        }
        // A mean over some of a class's questions would be another class's.
        for (answer, question) in answers.iter_mut().zip(questions) {
            if refused.contains(&question.class) {
                *answer = None;
            }
        }
        Ok(answers)
    };
    Command::ALL.into_iter().map(of_command).collect()
}

impl Column {
    /// Once through all questions of a class with one command.
    fn time(
        &mut self,
        at: usize,
        command: Command,
        class: Class,
        engine: &mut dyn Engine,
        questions: &[Question],
    ) -> Result<()> {
        for (number, question) in questions.iter().enumerate() {
            if question.class != class || self.answers[at][number].is_none() {
                continue;
            }
            let start = Instant::now();
            let answer = command.run(black_box(engine), black_box(question))?;
            let us = start.elapsed().as_nanos() as f64 / 1e3;
            if black_box(answer) != self.answers[at][number] {
                return Err(format!("{}: {} has another answer", self.name, question.text).into());
            }
            self.times[at][number].push(us);
        }
        Ok(())
    }
}

/// Builds the index in a process of its own. Those of the peers are kept, with their figures.
fn build(name: Name, corpus: &Corpus, contender: &Contender, dir: &Path) -> Result<Built> {
    let at = index_of(dir, contender);
    let figures = at.with_extension("figures");
    if contender.role == Role::Peer && figures.exists() {
        let text = fs::read_to_string(&figures)?;
        return Built::from_figures(&text).ok_or_else(|| format!("{figures:?} is damaged").into());
    }
    if at.exists() {
        fs::remove_dir_all(&at)?;
    }
    fs::create_dir_all(&at)?;
    let (cpu, start) = (measure::cpu_of_children()?, Instant::now());
    let output = Process::new(std::env::current_exe()?)
        .args(["ranked-build", contender.name, name.text()])
        .arg(&corpus.lines)
        .arg(&at)
        .stderr(std::process::Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(format!("building {} failed", contender.name).into());
    }
    let printed = String::from_utf8(output.stdout)?;
    let peak = printed.lines().last().ok_or("no figure printed")?.parse()?;
    let built = Built {
        cpu_s: measure::cpu_of_children()? - cpu,
        wall_s: start.elapsed().as_secs_f64(),
        peak_kib: peak,
        bytes: measure::size_of(&at)?,
        ..Built::default()
    };
    fs::write(figures, built.to_figures())?;
    Ok(built)
}

/// One engine's build, in this process; prints the peak of its memory in KiB.
pub(crate) fn build_one(engine: &str, corpus: &str, lines: &str, dir: &str) -> Result<()> {
    let name = Name::ALL.into_iter().find(|name| name.text() == corpus).ok_or("no such corpus")?;
    let corpus = Corpus::new(lines.into(), name);
    (contender(engine)?.build)(&corpus, Path::new(dir))?;
    println!("{}", measure::peak_kib()?);
    Ok(())
}

/// Fresh processes for one figure of a cold start.
const COLD_RUNS: usize = 15;

/// Microseconds from before opening to the first answer, the files in the page cache.
fn cold_start(
    contender: &Contender,
    command: Command,
    dir: &Path,
    questions: &[Question],
) -> Result<Option<f64>> {
    let class = Class::And2;
    let question = questions.iter().find(|question| question.class == class);
    let text = &question.ok_or("no question of two words")?.text;
    let mut times = vec![];
    for _ in 0..COLD_RUNS {
        let output = Process::new(std::env::current_exe()?)
            .args(["ranked-open", contender.name])
            .arg(index_of(dir, contender))
            .args([command.name(), text])
            .stderr(std::process::Stdio::inherit())
            .output()?;
        if !output.status.success() {
            return Err(format!("opening {} failed", contender.name).into());
        }
        match String::from_utf8(output.stdout)?.lines().last() {
            Some("-") => return Ok(None),
            printed => times.push(printed.ok_or("no figure printed")?.parse()?),
        }
    }
    Ok(Some(measure::median(&mut times)))
}

/// Opens an index in this process and answers an intersection; prints the microseconds, or `-`.
pub(crate) fn open_one(engine: &str, dir: &str, command: &str, text: &str) -> Result<()> {
    let contender = contender(engine)?;
    let command = Command::ALL.into_iter().find(|known| known.name() == command);
    let command = command.ok_or("no such command")?;
    let question = Question::new(Class::And2, text.to_owned());
    let (time, answer) = measure::time(|| {
        let mut engine = (contender.open)(Path::new(dir))?;
        command.run(&mut *engine, &question)
    })?;
    match answer {
        Some(_) => println!("{time}"),
        None => println!("-"),
    }
    Ok(())
}
