//! Lucene, which runs in no process of ours: `lucene/run.sh` asks it the questions that lie in a corpus's directory and
//! leaves there what they took, which is read here.

use std::{collections::HashMap, fs, path::Path};

use serde_json::Value;

use super::{
    engine::{Answer, Command, Role, Top},
    questions::Question,
    report::{Built, Column},
};
use crate::Result;

/// The names of its indexes, documents in the order of the corpus and in that of bisection.
const INDEXES: [(&str, &str, Role); 2] =
    [("lucene", "Lucene", Role::Peer), ("lucene-bp", "Lucene BP", Role::Reordered)];

/// A column for each file of its times that lies beside the questions.
pub(crate) fn columns(dir: &Path, questions: &[Question]) -> Result<Vec<Column>> {
    let mut columns = vec![];
    for (index, name, role) in INDEXES {
        let file = dir.join(index).with_extension("jsonl");
        if !file.exists() {
            continue;
        }
        let in_file = |error| format!("{}: {error}", file.display());
        let (version, measured) = read(&fs::read_to_string(&file)?).map_err(in_file)?;
        let built = Built::from_figures(&fs::read_to_string(file.with_extension("figures"))?);
        let mut column = Column::of_file(name, version, role, built.ok_or("damaged figures")?);
        (column.answers, column.times) = arrange(measured, questions).map_err(in_file)?;
        columns.push(column);
    }
    Ok(columns)
}

/// An answer and the times it took, by the command and the text of the question.
type Measured = HashMap<(String, String), (Answer, Vec<f64>)>;

/// The version with what else was measured, and the lines below it.
fn read(text: &str) -> Result<(String, Measured)> {
    let mut lines = text.lines().map(serde_json::from_str::<Value>);
    let head = lines.next().ok_or("an empty file")??;
    let of_head = |name: &str| match &head[name] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let [version, java, order] = ["version", "java", "order"].map(of_head);
    let [ended, passes, before, after] =
        ["ended", "passes", "load_before", "load_after"].map(of_head);
    let version = format!(
        "{version}, Java {java}, {order}; {passes} passes until {ended}, load {before} to {after}"
    );
    let mut measured = HashMap::new();
    for line in lines {
        let line = line?;
        let (answer, times) = (answer(&line), times(&line));
        let text = |name: &str| line[name].as_str().map(str::to_owned);
        let (command, query) = text("command").zip(text("query")).ok_or("a line of no query")?;
        let times = times.ok_or_else(|| format!("{command} {query} has no times"))?;
        measured.insert((command, query), (answer, times));
    }
    Ok((version, measured))
}

fn answer(line: &Value) -> Answer {
    let hits = line["hits"].as_u64().and_then(|n| usize::try_from(n).ok());
    Answer { count: line["count"].as_u64(), top: hits.map(|n| Top { n }) }
}

fn times(line: &Value) -> Option<Vec<f64>> {
    let times: Vec<f64> =
        line["us"].as_array()?.iter().map(Value::as_f64).collect::<Option<_>>()?;
    Some(times).filter(|times| !times.is_empty())
}

/// Answers by command and question, and times by command, question and pass.
type Arranged = (Vec<Vec<Option<Answer>>>, Vec<Vec<Vec<f64>>>);

/// Every question has to be there: a mean over some of them would be another class's.
fn arrange(measured: Measured, questions: &[Question]) -> Result<Arranged> {
    let (mut answers, mut times) = (vec![], vec![]);
    for command in Command::ALL {
        let mut of_command = (vec![], vec![]);
        for question in questions {
            let key = (command.name().to_owned(), question.text.clone());
            let found = measured.get(&key).ok_or_else(|| {
                format!("{} of {} is missing: run lucene/run.sh again", key.0, key.1)
            })?;
            of_command.0.push(Some(found.0));
            of_command.1.push(found.1.clone());
        }
        answers.push(of_command.0);
        times.push(of_command.1);
    }
    Ok((answers, times))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranked::questions::Class;

    const HEAD: &str = r#"{"version":"10.6.0","java":"25","order":"as given","ended":"2026-11-20T10:00:00Z","passes":2,"load_before":"1.00","load_after":"1.10"}"#;

    fn lines() -> String {
        let line = |command: Command| {
            let name = command.name();
            format!("{{\"query\":\"+a +b\",\"command\":\"{name}\",\"hits\":3,\"us\":[2.5,1.5]}}\n")
        };
        format!("{HEAD}\n{}", Command::ALL.map(line).concat())
    }

    #[test]
    fn lines_are_arranged_by_command_and_question() {
        let (version, measured) = read(&lines()).unwrap();
        assert_eq!(
            version,
            "10.6.0, Java 25, as given; 2 passes until 2026-11-20T10:00:00Z, load 1.00 to 1.10"
        );
        let question = Question::new(Class::And2, "+a +b".into());
        let (answers, times) = arrange(measured, &[question]).unwrap();
        let answer = Answer { count: None, top: Some(Top { n: 3 }) };
        assert_eq!(answers, vec![vec![Some(answer)]; Command::ALL.len()]);
        assert_eq!(times, vec![vec![vec![2.5, 1.5]]; Command::ALL.len()]);
    }

    #[test]
    fn a_file_of_other_questions_is_refused() {
        let (_, measured) = read(&lines()).unwrap();
        let other = Question::new(Class::And2, "+a +c".into());
        let error = arrange(measured, &[other]).unwrap_err().to_string();
        assert_eq!(error, "TOP_10 of +a +c is missing: run lucene/run.sh again");
        let no_times = lines().replace("[2.5,1.5]", "[]");
        assert_eq!(read(&no_times).unwrap_err().to_string(), "TOP_10 +a +b has no times");
    }
}
