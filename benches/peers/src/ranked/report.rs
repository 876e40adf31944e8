//! The tables: figures by command and class, ratios to the best peer, and where counts differ.

use std::{
    fmt::{Display, Write},
    fs,
    path::PathBuf,
    process::Command as Process,
};

use super::{
    engine::{Answer, Command, Contender, Role},
    minima,
    questions::{Class, Question},
    tantivy_engine,
};
use crate::measure;

/// One engine's side of the tables.
pub(crate) struct Column {
    pub(crate) name: &'static str,
    version: String,
    /// None of a floor.
    pub(crate) role: Option<Role>,
    built: Option<Built>,
    /// By command and question.
    pub(crate) answers: Vec<Vec<Option<Answer>>>,
    /// In µs, by command, question and pass.
    pub(crate) times: Vec<Vec<Vec<f64>>>,
}

impl Column {
    pub(crate) fn contender(contender: Contender, built: Built) -> Self {
        let Contender { name, version, role, .. } = contender;
        Column {
            name,
            version: version.to_owned(),
            role: Some(role),
            built: Some(built),
            answers: vec![],
            times: vec![],
        }
    }

    pub(crate) fn floor(name: &'static str) -> Self {
        let version = String::new();
        Column { name, version, role: None, built: None, answers: vec![], times: vec![] }
    }

    /// An engine that was measured by another program.
    pub(crate) fn of_file(name: &'static str, version: String, role: Role, built: Built) -> Self {
        let (role, built) = (Some(role), Some(built));
        Column { name, version, role, built, answers: vec![], times: vec![] }
    }
}

/// What building and opening took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Built {
    pub(crate) cpu_s: f64,
    pub(crate) wall_s: f64,
    pub(crate) peak_kib: u64,
    pub(crate) bytes: u64,
    pub(crate) cold_count_us: Option<f64>,
    pub(crate) cold_top_us: Option<f64>,
}

impl Built {
    /// The part that is kept with the index.
    pub(crate) fn to_figures(self) -> String {
        format!("{} {} {} {}\n", self.cpu_s, self.wall_s, self.peak_kib, self.bytes)
    }

    pub(crate) fn from_figures(text: &str) -> Option<Self> {
        let mut figures = text.split_whitespace();
        Some(Built {
            cpu_s: figures.next()?.parse().ok()?,
            wall_s: figures.next()?.parse().ok()?,
            peak_kib: figures.next()?.parse().ok()?,
            bytes: figures.next()?.parse().ok()?,
            ..Built::default()
        })
    }
}

/// The figures of a class: over the medians of its queries, in µs.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Figures {
    mean: f64,
    p50: f64,
    p99: f64,
}

impl Figures {
    fn of(mut medians: Vec<f64>) -> Option<Figures> {
        medians.sort_by(f64::total_cmp);
        let last = medians.len().checked_sub(1)?;
        // The nearest rank: the least figure that 99 % of the queries do not exceed.
        let rank = (medians.len() * 99).div_ceil(100).max(1) - 1;
        Some(Figures {
            mean: measure::mean(&medians),
            p50: medians[medians.len() / 2],
            p99: medians[rank.min(last)],
        })
    }
}

pub(crate) struct Report {
    dir: PathBuf,
    description: String,
    questions: Vec<Question>,
    columns: Vec<Column>,
    passes: usize,
    /// Of the machine, before and after.
    load: (String, String),
    /// By command, class and column.
    figures: Vec<Vec<Vec<Option<Figures>>>>,
}

impl Report {
    pub(crate) fn new(
        dir: PathBuf,
        description: String,
        questions: Vec<Question>,
        mut columns: Vec<Column>,
        passes: usize,
        load: (String, String),
    ) -> Self {
        let figures = (0..Command::ALL.len())
            .map(|command| {
                let of_class = |class| {
                    let figures =
                        |column: &mut Column| class_figures(column, command, class, &questions);
                    columns.iter_mut().map(figures).collect()
                };
                Class::ALL.into_iter().map(of_class).collect()
            })
            .collect();
        Report { dir, description, questions, columns, passes, load, figures }
    }

    /// The name of the corpus with its size, as in the directory.
    pub(crate) fn title(&self) -> String {
        self.dir.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    pub(crate) fn to_markdown(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = self.write_head(&mut text);
        for (at, command) in Command::ALL.into_iter().enumerate() {
            let _ = self.write_command(at, command, &mut text);
        }
        let _ = self.write_summary(&mut text);
        let _ = self.write_minima(&mut text);
        let _ = self.write_counts(&mut text);
        text
    }

    fn write_head(&self, text: &mut String) -> std::fmt::Result {
        writeln!(text, "### {}: {}\n", self.title(), self.description)?;
        writeln!(
            text,
            "{}, {}; treepie {}. One thread, one segment, the same tokens, files in the page cache; \
             {} queries.\nµs a query, with parsing and looking words up: mean (p50 / p99) over a \
             class's queries of the medians of {} passes.\nLoad of the machine before and after: {}, {}.\n",
            today(),
            machine(),
            revision(),
            self.questions.len(),
            self.passes,
            self.load.0,
            self.load.1,
        )?;
        writeln!(
            text,
            "| | version | build CPU s | wall s | peak MiB | MB | open and COUNT, ms | open and TOP_10, ms |"
        )?;
        writeln!(text, "|---|---|---|---|---|---|---|---|")?;
        for column in &self.columns {
            let Some(built) = column.built else { continue };
            writeln!(
                text,
                "| {} | {} | {:.1} | {:.1} | {} | {:.1} | {} | {} |",
                column.name,
                column.version,
                built.cpu_s,
                built.wall_s,
                built.peak_kib / 1024,
                built.bytes as f64 / 1e6,
                or_dash(built.cold_count_us.map(|us| format!("{:.2}", us / 1e3))),
                or_dash(built.cold_top_us.map(|us| format!("{:.2}", us / 1e3))),
            )?;
        }
        writeln!(text)
    }

    fn write_command(&self, at: usize, command: Command, text: &mut String) -> std::fmt::Result {
        write!(text, "| {} | queries |", command.name())?;
        self.columns.iter().try_for_each(|column| write!(text, " {} |", column.name))?;
        writeln!(text, " tantivy ÷ treepie | best peer ÷ treepie | of p99 |")?;
        writeln!(text, "|---|---|{}---|---|---|", "---|".repeat(self.columns.len()))?;
        let mut ratios = <[Vec<f64>; 3]>::default();
        for (class_at, class) in Class::ALL.into_iter().enumerate() {
            let n = self.questions.iter().filter(|question| question.class == class).count();
            if n == 0 {
                continue;
            }
            write!(text, "| {} | {n} |", class.name())?;
            let figures = &self.figures[at][class_at];
            for figures in figures {
                let shown =
                    figures.map(|f| format!("{} ({} / {})", us(f.mean), us(f.p50), us(f.p99)));
                write!(text, " {} |", or_dash(shown))?;
            }
            for (ratio, known) in self.ratios(figures).into_iter().zip(&mut ratios) {
                write!(text, " {} |", or_dash(ratio.map(times)))?;
                known.extend(ratio);
            }
            writeln!(text)?;
        }
        write!(text, "| geometric mean |{}", " |".repeat(self.columns.len() + 1))?;
        for ratios in &ratios {
            write!(text, " {} |", or_dash(geometric_mean(ratios).map(times)))?;
        }
        writeln!(text, "\n")?;
        if at + 1 == Command::ALL.len() {
            writeln!(
                text,
                "CRoaring is the floor of COUNT: bitmaps ready in memory, no \
                 words, no parser. – is what an engine does not offer.\n"
            )?;
        }
        Ok(())
    }

    fn tantivy(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.name == tantivy_engine::NAME)
    }

    fn own(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.role == Some(Role::Own))
    }

    /// How many times longer tantivy takes by the mean, and the fastest peer by the mean and by the
    /// 99th percentile.
    fn ratios(&self, figures: &[Option<Figures>]) -> [Option<f64>; 3] {
        let Some(own) = self.own().and_then(|at| figures[at]) else { return [None; 3] };
        let peers = self.columns.iter().zip(figures);
        let peers = peers.filter(|(column, _)| column.role == Some(Role::Peer));
        let peers: Vec<Figures> = peers.filter_map(|(_, figures)| *figures).collect();
        let best = |of: fn(&Figures) -> f64| peers.iter().map(of).min_by(f64::total_cmp);
        let tantivy = self.tantivy().and_then(|at| figures[at]);
        [
            tantivy.map(|tantivy| tantivy.mean / own.mean),
            best(|figures| figures.mean).map(|mean| mean / own.mean),
            best(|figures| figures.p99).map(|p99| p99 / own.p99),
        ]
    }

    /// The geometric mean over everything that treepie offers, and the ratios that are below 1.
    fn write_summary(&self, text: &mut String) -> std::fmt::Result {
        let (mut all, mut behind) = (vec![], vec![]);
        for (command, figures) in Command::ALL.into_iter().zip(&self.figures) {
            for (class, figures) in Class::ALL.into_iter().zip(figures) {
                let [_, mean, p99] = self.ratios(figures);
                all.extend(mean);
                for (ratio, of) in [(mean, "mean"), (p99, "p99")] {
                    if let Some(ratio) = ratio.filter(|ratio| *ratio < 1.0) {
                        let (command, class) = (command.name(), class.name());
                        behind.push(format!("{command} {class} {of} {}", times(ratio)));
                    }
                }
            }
        }
        let mean = or_dash(geometric_mean(&all).map(times));
        let n = all.len();
        writeln!(
            text,
            "Best peer ÷ treepie, geometric mean over {n} commands and classes: {mean}."
        )?;
        match behind.as_slice() {
            [] => writeln!(text, "treepie is behind the best peer nowhere.\n"),
            some => writeln!(text, "Behind the best peer: {}.\n", some.join("; ")),
        }
    }

    fn write_minima(&self, text: &mut String) -> std::fmt::Result {
        writeln!(text, "Geometric means over the queries of a class of ratios of least times:\n")?;
        minima::write(&self.columns, &self.questions, text)
    }

    fn write_counts(&self, text: &mut String) -> std::fmt::Result {
        let lines = self.disagreements(|_| true);
        if lines.is_empty() {
            return writeln!(
                text,
                "All engines count the same number of documents for every query.\n"
            );
        }
        writeln!(text, "Numbers of documents that differ from tantivy's:\n")?;
        lines.iter().try_for_each(|line| writeln!(text, "- {line}"))?;
        writeln!(text)
    }

    /// Where treepie counts other documents than tantivy, or gives too few.
    pub(crate) fn own_disagreements(&self) -> Vec<String> {
        self.disagreements(|column| column.role == Some(Role::Own))
    }

    /// A line per engine, command and class where counts are not tantivy's COUNT, or where the best
    /// are not as many as asked for or as there are.
    fn disagreements(&self, of: impl Fn(&Column) -> bool) -> Vec<String> {
        let count_at = Command::ALL.iter().position(|command| *command == Command::Count);
        let (Some(tantivy), Some(count_at)) = (self.tantivy(), count_at) else { return vec![] };
        let expected = &self.columns[tantivy].answers[count_at];
        let mut lines = vec![];
        for column in self.columns.iter().filter(|column| of(column)) {
            for (at, command) in Command::ALL.into_iter().enumerate() {
                for class in Class::ALL {
                    let answers = self.questions.iter().zip(&column.answers[at]).zip(expected);
                    let differing: Vec<String> = answers
                        .filter(|((question, _), _)| question.class == class)
                        .filter_map(|((question, answer), expected)| {
                            let expected = expected.as_ref()?.count?;
                            let found = difference(answer.as_ref()?, expected, command.k())?;
                            Some(format!("`{}` {found} of {expected}", question.text))
                        })
                        .collect();
                    if let [first, ..] = differing.as_slice() {
                        let (name, n) = (column.name, differing.len());
                        lines.push(format!(
                            "{name}, {}, {}: {n} queries, as {first}",
                            command.name(),
                            class.name()
                        ));
                    }
                }
            }
        }
        lines
    }
}

/// The number in an answer that is not what it should be.
fn difference(answer: &Answer, expected: u64, k: usize) -> Option<u64> {
    let top = answer.top.map(|top| top.n as u64);
    let count = answer.count.filter(|count| *count != expected);
    count.or(top.filter(|n| *n != expected.min(k as u64)))
}

fn class_figures(
    column: &mut Column,
    command: usize,
    class: Class,
    questions: &[Question],
) -> Option<Figures> {
    let times = column.times.get_mut(command)?.iter_mut().zip(questions);
    let times = times.filter(|(times, question)| question.class == class && !times.is_empty());
    Figures::of(times.map(|(times, _)| measure::median(times)).collect())
}

pub(crate) fn geometric_mean(ratios: &[f64]) -> Option<f64> {
    let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    (!logs.is_empty()).then(|| measure::mean(&logs).exp())
}

pub(crate) fn or_dash(text: Option<impl Display>) -> String {
    text.map_or("–".into(), |text| text.to_string())
}

/// Three digits that matter.
fn us(us: f64) -> String {
    match us {
        _ if us < 9.995 => format!("{us:.2}"),
        _ if us < 99.95 => format!("{us:.1}"),
        _ => format!("{us:.0}"),
    }
}

pub(crate) fn times(ratio: f64) -> String {
    format!("{ratio:.2}")
}

fn today() -> String {
    printed("date", &["-u", "+%Y-%m-%d"]).unwrap_or_else(|| "no date".into())
}

/// The commit this was built from, where git knows it.
fn revision() -> String {
    let at = env!("CARGO_MANIFEST_DIR");
    printed("git", &["-C", at, "describe", "--always", "--dirty"])
        .unwrap_or_else(|| "of an unknown revision".into())
}

fn printed(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Process::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| output.status.success() && !text.is_empty())
}

fn machine() -> String {
    let known = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let mut models =
        known.lines().filter_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = models.next().map_or("unknown processor", |(_, model)| model);
    let n = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{n} cores of {model}, {}", std::env::consts::OS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranked::engine::Top;

    #[test]
    fn figures_are_mean_middle_and_the_99th() {
        let figures = Figures::of((1..=100).map(f64::from).rev().collect()).unwrap();
        assert_eq!(figures, Figures { mean: 50.5, p50: 51.0, p99: 99.0 });
        let one = Figures::of(vec![7.0]).unwrap();
        assert_eq!(one, Figures { mean: 7.0, p50: 7.0, p99: 7.0 });
        assert_eq!(Figures::of(vec![]), None);
    }

    #[test]
    fn a_geometric_mean_weighs_twice_and_half_alike() {
        assert!((geometric_mean(&[2.0, 0.5, 8.0]).unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(geometric_mean(&[]), None);
    }

    #[test]
    fn an_answer_differs_by_count_or_by_length() {
        let answer = |count, n: Option<usize>| Answer { count, top: n.map(|n| Top { n }) };
        assert_eq!(difference(&answer(Some(7), None), 7, 0), None);
        assert_eq!(difference(&answer(Some(7), None), 8, 0), Some(7));
        assert_eq!(difference(&answer(None, Some(10)), 80, 10), None);
        assert_eq!(difference(&answer(None, Some(8)), 8, 10), None);
        assert_eq!(difference(&answer(None, Some(9)), 80, 10), Some(9));
        assert_eq!(difference(&answer(Some(80), Some(9)), 80, 10), Some(9));
    }
}
