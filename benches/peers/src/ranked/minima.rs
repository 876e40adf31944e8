//! Each peer by treepie, query by query: ratios of the least times, which a machine that does other things too disturbs
//! least.

use std::fmt::Write;

use super::{
    engine::{Command, Role},
    questions::{Class, Question},
    report::{Column, geometric_mean, or_dash, times},
};

/// A table for each peer, and its cells below 1.
pub(crate) fn write(
    columns: &[Column],
    questions: &[Question],
    text: &mut String,
) -> std::fmt::Result {
    let Some(own) = columns.iter().find(|column| column.role == Some(Role::Own)) else {
        return Ok(());
    };
    for peer in columns {
        if matches!(peer.role, Some(Role::Peer | Role::Reordered)) {
            write_peer(own, peer, questions, text)?;
        }
    }
    Ok(())
}

fn write_peer(
    own: &Column,
    peer: &Column,
    questions: &[Question],
    text: &mut String,
) -> std::fmt::Result {
    write!(text, "| {} ÷ {} |", peer.name, own.name)?;
    Command::ALL.iter().try_for_each(|command| write!(text, " {} |", command.name()))?;
    writeln!(text, "\n|---|{}", "---|".repeat(Command::ALL.len()))?;
    let (mut all, mut below) = (vec![vec![]; Command::ALL.len()], vec![]);
    for class in Class::ALL {
        write!(text, "| {} |", class.name())?;
        for (at, command) in Command::ALL.into_iter().enumerate() {
            let ratio = ratio(own, peer, at, class, questions);
            write!(text, " {} |", or_dash(ratio.map(times)))?;
            all[at].extend(ratio);
            if let Some(ratio) = ratio.filter(|ratio| *ratio < 1.0) {
                below.push(format!("{} {} {}", command.name(), class.name(), times(ratio)));
            }
        }
        writeln!(text)?;
    }
    write!(text, "| geometric mean |")?;
    for ratios in &all {
        write!(text, " {} |", or_dash(geometric_mean(ratios).map(times)))?;
    }
    let cells = all.concat();
    let mean = or_dash(geometric_mean(&cells).map(times));
    write!(text, "\n\n{} ÷ {} over {} cells: {mean}; ", peer.name, own.name, cells.len())?;
    match below.as_slice() {
        [] => writeln!(text, "nowhere below 1.\n"),
        some => writeln!(text, "below 1 in {}: {}.\n", some.len(), some.join("; ")),
    }
}

/// The geometric mean over a class's queries of the peer's least time by ours.
fn ratio(
    own: &Column,
    peer: &Column,
    command: usize,
    class: Class,
    questions: &[Question],
) -> Option<f64> {
    let of_class = |(at, question): (usize, &Question)| (question.class == class).then_some(at);
    let ratios = questions.iter().enumerate().filter_map(of_class).filter_map(|at| {
        let least = |column: &Column| {
            column.times.get(command)?.get(at)?.iter().copied().min_by(f64::total_cmp)
        };
        Some(least(peer)? / least(own)?)
    });
    geometric_mean(&ratios.collect::<Vec<f64>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranked::report::Built;

    #[test]
    fn a_ratio_is_that_of_least_times() {
        let questions = [Class::Term, Class::Or2, Class::Term]
            .map(|class| Question::new(class, "a".to_owned()));
        let column = |role, times: [Vec<f64>; 3]| {
            let mut column = Column::of_file("any", String::new(), role, Built::default());
            column.times = vec![times.to_vec(); Command::ALL.len()];
            column
        };
        let own = column(Role::Own, [vec![2.0, 1.0], vec![1.0], vec![3.0, 4.0]]);
        let peer = column(Role::Peer, [vec![2.0, 3.0], vec![0.5], vec![24.0]]);
        assert!((ratio(&own, &peer, 0, Class::Term, &questions).unwrap() - 4.0).abs() < 1e-12);
        assert_eq!(ratio(&own, &peer, 0, Class::Prefix, &questions), None);
        let mut text = String::new();
        write(&[own, peer], &questions, &mut text).unwrap();
        assert!(text.contains("over 10 cells: 1.41; below 1 in 5: TOP_10 or2 0.50; "), "{text}");
    }
}
