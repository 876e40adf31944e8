//! Page with a line for each hit. It is for people who skim, and for programs that pay by the word.

use std::{cmp::Reverse, io, io::Write};

use treepie::{
    Field, Hit,
    highlight::{Passage, PassageOptions},
};

use super::{HitsPage, cut, rank};
use crate::{
    output::{self, Output},
    terminal,
};

/// Blanks between the columns.
const GAP: &str = "  ";

impl<'a> HitsPage<'a> {
    /// A line for each hit: its number, its score or what it is sorted by, its name, and its best passage if that is not
    /// in the name.
    pub(in super::super) fn print_compact(&self, out: &mut Output) -> io::Result<()> {
        let shown = match (self.found.hits.len() as u64, self.found.total.value) {
            (0, _) => String::new(),
            (shown, total) if shown == total => String::new(),
            (shown, _) => format!(", {} shown", output::grouped(shown)),
        };
        writeln!(out, "{}{shown}{}", self.total(), self.stopped())?;
        let hits = &self.found.hits;
        let ranks: Vec<String> = hits.iter().map(rank).collect();
        let rank_width = ranks.iter().map(|rank| terminal::width(rank)).max().unwrap_or(0);
        let doc_width = hits.iter().map(|hit| hit.doc.0.to_string().len()).max().unwrap_or(0);
        for (hit, rank) in hits.iter().zip(&ranks) {
            // A number without signs in it is one that --doc and `inspect document` take, also of a program.
            let doc = format!("{:>doc_width$}", hit.doc.0);
            let padding = rank_width - terminal::width(rank);
            write!(out, "{}  {:padding$}{}", out.dim(&doc), "", out.dim(rank))?;
            let taken = doc_width + 2 + rank_width;
            self.print_name_and_passage(out, hit, output::width().saturating_sub(taken))?;
            writeln!(out)?;
        }
        self.print_facets(out)
    }

    fn print_name_and_passage(
        &self,
        out: &mut Output,
        hit: &Hit,
        columns: usize,
    ) -> io::Result<()> {
        let name = self.name(hit).copied();
        let pieces = name.and_then(|field| self.pieces(field, hit)).unwrap_or_default();
        let width: usize = pieces.iter().map(|(piece, _)| terminal::width(piece)).sum();
        let half = width.min(columns / 2);
        let passage = self.best_passage(hit, name, columns.saturating_sub(half + GAP.len()));
        let room = if passage.is_some() { half } else { columns.saturating_sub(GAP.len()) };
        let left = columns.saturating_sub(print_pieces(out, cut(pieces, room), GAP)?);
        if let Some((field, passage, text)) = passage {
            let label = label(field);
            let room = left.saturating_sub(terminal::width(&label));
            write!(out, "{}", out.dim(&label))?;
            print_pieces(out, cut(pieces_of(&passage, &text), room), "")?;
        }
        Ok(())
    }

    /// Best passage of all fields but the one that names the hit.
    fn best_passage(
        &self,
        hit: &Hit,
        name: Option<&Field>,
        columns: usize,
    ) -> Option<(&'a Field, Passage, String)> {
        let others = self.fields.iter().copied().filter(|field| Some(*field) != name);
        let of_field = |field: &'a Field| {
            let room = columns.saturating_sub(terminal::width(&label(field)));
            let options = PassageOptions::default().max_len(room).max_passages(1);
            let texts = hit.fields.get(&field.name)?.texts().enumerate();
            let passages = texts.filter_map(|(nth, text)| {
                let passage = self.passages(field, hit, nth, &options).into_iter().next()?;
                Some((field, passage, text.to_owned()))
            });
            passages.min_by_key(|(_, passage, _)| Reverse(passage.score()))
        };
        others.filter_map(of_field).min_by_key(|(_, passage, _)| Reverse(passage.score()))
    }
}

/// Name of the field in front of its passage.
fn label(field: &Field) -> String {
    format!("{GAP}{}: ", terminal::printable(&field.name))
}

/// A passage piece by piece, each with whether it was looked for.
fn pieces_of(passage: &Passage, text: &str) -> Vec<(String, bool)> {
    let pieces = passage.pieces(text).filter(|(piece, _)| !piece.is_empty());
    pieces.map(|(piece, marked)| (one_line(piece), marked)).collect()
}

/// Text with its line breaks as blanks, which need less room than their escapes.
fn one_line(text: &str) -> String {
    terminal::printable(&text.replace(['\n', '\r', '\t'], " ")).into_owned()
}

/// Prints pieces behind a gap, and returns how many columns that took. Behind a gap is the name, which is strong.
fn print_pieces(out: &mut Output, pieces: Vec<(String, bool)>, gap: &str) -> io::Result<usize> {
    write!(out, "{gap}")?;
    let mut columns = gap.len();
    for (piece, marked) in pieces {
        columns += terminal::width(&piece);
        let piece = match marked {
            true => out.marked(&piece),
            false if gap.is_empty() => piece.as_str().into(),
            false => out.strong(&piece),
        };
        write!(out, "{piece}")?;
    }
    Ok(columns)
}
