//! A fresh process: from nothing to the first count.

use std::{path::Path, process::Command};

use tantivy::{ReloadPolicy, Term, collector::Count, query::TermQuery, schema::IndexRecordOption};

use crate::{Result, measure};

const RUNS: usize = 41;

pub(crate) fn compare(dir: &str, word: &str) -> Result<()> {
    println!("open and count `{word}`, median of {RUNS} processes");
    println!("{:<10}{:>9}{:>11}{:>12}", "", "µs", "peak KiB", "documents");
    for engine in ["tantivy", "treepie"] {
        let at = Path::new(dir).join(engine);
        let (mut times, mut peaks, mut counts) = (vec![], vec![], vec![]);
        for _ in 0..RUNS {
            let output = Command::new(std::env::current_exe()?)
                .args(["open-one", engine])
                .arg(&at)
                .arg(word)
                .stderr(std::process::Stdio::inherit())
                .output()?;
            let printed = String::from_utf8(output.stdout)?;
            let figures: Vec<f64> = printed
                .split_whitespace()
                .map(str::parse)
                .collect::<std::result::Result<_, _>>()?;
            let [time, peak, count] = figures[..] else {
                return Err(format!("{engine} printed {printed:?}").into());
            };
            times.push(time);
            peaks.push(peak);
            counts.push(count);
        }
        let (time, peak) = (measure::median(&mut times), measure::median(&mut peaks));
        println!("{engine:<10}{time:>9.0}{peak:>11}{:>12}", counts[0]);
    }
    Ok(())
}

/// Prints microseconds, peak KiB and the count.
pub(crate) fn one(engine: &str, dir: &str, word: &str) -> Result<()> {
    let dir = Path::new(dir);
    let (time, count) = match engine {
        "tantivy" => measure::time(|| with_tantivy(dir, word))?,
        "treepie" => measure::time(|| with_treepie(dir, word))?,
        _ => return Err(format!("no engine {engine}").into()),
    };
    println!("{time} {} {count}", measure::peak_kib()?);
    Ok(())
}

fn with_tantivy(dir: &Path, word: &str) -> Result<u64> {
    let index = tantivy::Index::open_in_dir(dir)?;
    let title = index.schema().get_field("title")?;
    let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
    let query = TermQuery::new(Term::from_field_text(title, word), IndexRecordOption::Basic);
    Ok(reader.searcher().search(&query, &Count)? as u64)
}

fn with_treepie(dir: &Path, word: &str) -> Result<u64> {
    let searcher = treepie::Index::open(dir)?.searcher()?;
    let query = searcher.parse(word)?;
    Ok(searcher.count(&query)?)
}
