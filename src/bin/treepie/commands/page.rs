//! A page of results on its way out, as text, JSON or rows.

mod compact;
mod geojson;

use std::{cmp::Reverse, collections::HashMap, io, io::Write, ops::Range};

use serde_json::{Map, Value, json};
use treepie::facet::FacetKind;
use treepie::highlight::{Highlighter, Marked, Passage, PassageOptions};
use treepie::search::{FusedPart, Relation};
use treepie::{Error, Field, FieldKind, Hit, Hits, Schema};

use super::{columns::Columns, facet, fields_to_json, is_state, statistics, value_to_json};
use crate::{
    output::{self, Format, Output, Table},
    terminal,
};

/// Adds to JSON that something is missing, and why.
pub(super) fn say_why_stopped(object: &mut Value, found: &Hits) {
    if let (Some(stopped), Some(object)) = (found.stopped, object.as_object_mut()) {
        object.insert("complete".into(), false.into());
        object.insert("stopped".into(), stopped.name().into());
    }
}

/// The stored fields to print, in the order they were asked for or declared; vectors only where they are asked for.
pub(super) fn shown_fields<'s>(schema: &'s Schema, asked: Option<&[String]>) -> Vec<&'s Field> {
    match asked {
        Some(names) => names.iter().filter_map(|name| schema.field(name)).collect(),
        None => {
            let come = |field: &&Field| field.stored && field.kind.vector().is_none();
            schema.fields().iter().filter(come).collect()
        }
    }
}

/// The values of each field of a hit, with what to mark in them.
pub(super) type MarkedFields<'a> = HashMap<(u64, &'a str), Vec<Marked<'a>>>;

pub(super) fn mark<'a>(
    highlighter: &Highlighter,
    hits: &'a [Hit],
    fields: &[&'a Field],
) -> Result<MarkedFields<'a>, Error> {
    let mut marked = HashMap::new();
    for hit in hits {
        for field in fields {
            if let Some(values) = hit.fields.get(&field.name) {
                let is_place = matches!(field.kind, FieldKind::Point { .. });
                let has_texts = !field.kind.is_typed() && field.kind.vector().is_none();
                if !has_texts || is_place || is_state(field) {
                    continue;
                }
                let values = highlighter.in_document(hit.doc, &field.name, values.texts())?;
                marked.insert((hit.doc.0, &*field.name), values);
            }
        }
    }
    Ok(marked)
}

/// One page of results on its way out.
pub(super) struct HitsPage<'a> {
    pub(super) found: &'a Hits,
    pub(super) fields: Vec<&'a Field>,
    /// Shows where the hits match, if that is wanted.
    pub(super) marked: Option<MarkedFields<'a>>,
    /// Keys that hits are sorted by, and whether they are grouped.
    pub(super) n_keys: usize,
    pub(super) is_grouped: bool,
    /// Whether text has scores, or what hits are sorted by.
    pub(super) with_scores: bool,
}

/// Columns of a value that text output shows.
const VALUE_COLUMNS_MAX: usize = 240;
/// Passages of a field that JSON shows.
const PASSAGES_MAX: usize = 3;

impl HitsPage<'_> {
    pub(super) fn print_text(&self, out: &mut Output) -> io::Result<()> {
        let took = format!("({})", output::duration(self.found.took));
        let stopped = self.stopped();
        writeln!(out, "{} {}{stopped}", self.total(), out.dim(&took))?;
        if !self.found.hits.is_empty() {
            writeln!(out)?;
        }
        let last = self.found.hits.last().map_or(0, |hit| hit.doc.0);
        let width = output::grouped(last).len();
        for hit in &self.found.hits {
            self.print_hit(out, hit, width)?;
        }
        self.print_facets(out)
    }

    /// Documents that match, and groups of them, in words.
    fn total(&self) -> String {
        let total = &self.found.total;
        let number = output::plural(total.value, "document");
        let documents = match total.relation {
            Relation::Exact => number,
            Relation::AtLeast => format!("at least {number}"),
            _ => "documents not counted".to_owned(),
        };
        let groups = self.found.groups.map(|n| format!(", {}", output::plural(n, "group")));
        documents + &groups.unwrap_or_default()
    }

    /// Reason why there may be more, behind a comma.
    fn stopped(&self) -> String {
        self.found.stopped.map_or_else(String::new, |why| format!(", {why}"))
    }

    fn print_facets(&self, out: &mut Output) -> io::Result<()> {
        self.found.facets.iter().try_for_each(|facet| match facet.kind {
            FacetKind::Statistics => statistics::print(out, facet),
            _ => facet::print(out, facet, &|hit| self.label(hit)),
        })
    }

    fn print_hit(&self, out: &mut Output, hit: &Hit, width: usize) -> io::Result<()> {
        let number = format!("{:>width$}", output::grouped(hit.doc.0));
        let name = self.name(hit);
        write!(out, "  {}  ", out.dim(&number))?;
        if self.with_scores {
            write!(out, "{}  ", out.dim(&rank(hit)))?;
        }
        for (piece, marked) in name.and_then(|field| self.pieces(field, hit)).unwrap_or_default() {
            let piece = if marked { out.marked(&piece) } else { out.strong(&piece) };
            write!(out, "{piece}")?;
        }
        writeln!(out)?;
        for field in self.fields.iter().filter(|field| name != Some(field)) {
            let Some(pieces) = self.pieces(field, hit) else { continue };
            write!(out, "  {:width$}  {} ", "", out.dim(&format!("{}:", field.name)))?;
            for (piece, marked) in pieces {
                write!(out, "{}", if marked { out.marked(&piece) } else { piece.into() })?;
            }
            writeln!(out)?;
        }
        Ok(())
    }

    /// The field that people know a document by: its text rather than its number.
    fn name(&self, hit: &Hit) -> Option<&&Field> {
        let mut there = self.fields.iter().filter(|field| hit.fields.contains_key(&field.name));
        let text = there.clone().find(|field| field.kind == FieldKind::Text);
        // One keyword rather than tags.
        let keyword = || there.find(|field| field.kind == FieldKind::Keyword && !field.many);
        text.or_else(keyword).or(self.fields.first())
    }

    /// Text by which people know a document, on one line.
    fn label(&self, hit: &Hit) -> String {
        let pieces = self.name(hit).and_then(|field| self.pieces(field, hit));
        pieces.unwrap_or_default().into_iter().map(|(piece, _)| piece).collect()
    }

    /// A field of a hit on one line, piece by piece, each with whether it was looked for. Of a long text that
    /// is the best passage.
    fn pieces(&self, field: &Field, hit: &Hit) -> Option<Vec<(String, bool)>> {
        let mut pieces = vec![];
        let mut push = |text: &str, marked| {
            if !text.is_empty() {
                pieces.push((terminal::printable(text).into_owned(), marked));
            }
        };
        for (nth, value) in hit.fields.get(&field.name)?.iter().enumerate() {
            let text = &value.to_text();
            push(if nth > 0 { ", " } else { "" }, false);
            let max_len = match terminal::width(text) <= VALUE_COLUMNS_MAX {
                true => text.len(),
                false => VALUE_COLUMNS_MAX,
            };
            let options = PassageOptions::default().max_len(max_len).max_passages(1);
            let passages = self.passages(field, hit, nth, &options);
            let Some(passage) = passages.into_iter().next() else {
                push(text, false);
                continue;
            };
            let Range { start, end } = passage.range();
            push(if start > 0 { "…" } else { "" }, false);
            passage.pieces(text).for_each(|(piece, marked)| push(piece, marked));
            push(if end < text.len() { "…" } else { "" }, false);
        }
        Some(cut(pieces, VALUE_COLUMNS_MAX))
    }

    /// The best passages of the `nth` value of a field of a hit.
    fn passages(
        &self,
        field: &Field,
        hit: &Hit,
        nth: usize,
        options: &PassageOptions,
    ) -> Vec<Passage> {
        let of_hit = self.marked.as_ref().and_then(|all| all.get(&(hit.doc.0, &*field.name)));
        let value = of_hit.and_then(|values| values.get(nth));
        value.map_or(vec![], |value| value.passages(options))
    }

    /// The best passages of each field that has any, as HTML.
    fn highlights(&self, hit: &Hit) -> Map<String, Value> {
        let options = PassageOptions::default().max_passages(PASSAGES_MAX);
        let mut object = Map::new();
        for field in &self.fields {
            let Some(value) = hit.fields.get(&field.name) else { continue };
            let passages = value.texts().enumerate().flat_map(|(nth, text)| {
                let passages = self.passages(field, hit, nth, &options).into_iter();
                passages.map(move |passage| (passage.score(), passage.to_html(text)))
            });
            let mut passages: Vec<_> = passages.collect();
            passages.sort_by_key(|(score, _)| Reverse(*score));
            passages.truncate(PASSAGES_MAX);
            if !passages.is_empty() {
                let html = passages.into_iter().map(|(_, html)| html).collect();
                object.insert(field.name.clone(), html);
            }
        }
        object
    }

    pub(super) fn to_json(&self, query: &str) -> Value {
        let hit = |hit: &Hit| self.hit_to_json(hit, false);
        let (facets, statistics) = facet::all_to_json(&self.found.facets, &hit);
        let mut object = json!({
            "query": query,
            "total": {
                "value": self.found.total.value,
                "relation": self.found.total.relation.name(),
            },
            "took_us": self.found.took.as_micros() as u64,
            "hits": self.found.hits.iter().map(|hit| self.hit_to_json(hit, true)).collect::<Vec<_>>(),
            "facets": facets,
        });
        if !statistics.is_empty()
            && let Some(object) = object.as_object_mut()
        {
            object.insert("statistics".into(), statistics.into());
        }
        if let (Some(groups), Some(object)) = (self.found.groups, object.as_object_mut()) {
            object.insert("groups".into(), groups.into());
        }
        say_why_stopped(&mut object, self.found);
        object
    }

    /// A hit of the page, or of a bucket, whose words are not marked.
    fn hit_to_json(&self, hit: &Hit, is_of_page: bool) -> Value {
        let mut object = json!({
            "doc": hit.doc.0,
            "score": hit.score,
            "fields": fields_to_json(&self.fields, &hit.fields),
        });
        if !hit.sort.is_empty()
            && let Some(object) = object.as_object_mut()
        {
            object.insert("sort".into(), hit.sort.iter().map(value_to_json).collect());
        }
        if let (Some(group), Some(object)) = (&hit.group, object.as_object_mut()) {
            object.insert("group".into(), value_to_json(group));
        }
        if let (false, Some(object)) = (hit.fused.is_empty(), object.as_object_mut()) {
            object.insert("fused".into(), hit.fused.iter().map(part_to_json).collect());
        }
        if let (false, Some(object)) = (hit.similarities.is_empty(), object.as_object_mut()) {
            let similarities = hit.similarities.iter();
            let similarities =
                similarities.map(|it| json!({ "field": it.field, "similarity": it.similarity }));
            object.insert("similarities".into(), similarities.collect());
        }
        if let (false, Some(object)) = (hit.distances.is_empty(), object.as_object_mut()) {
            let mut distances = Map::new();
            for it in &hit.distances {
                let distance = json!({ "metres": it.metres, "value": it.value });
                distances.entry(it.field.clone()).or_insert(distance);
            }
            object.insert("distances".into(), distances.into());
        }
        if self.marked.is_some()
            && is_of_page
            && let Some(object) = object.as_object_mut()
        {
            object.insert("highlights".into(), self.highlights(hit).into());
        }
        object
    }

    pub(super) fn print_hit_rows(&self, out: &mut Output, format: Format) -> io::Result<()> {
        if format == Format::Jsonl {
            return self
                .found
                .hits
                .iter()
                .try_for_each(|hit| out.json_line(&self.hit_to_json(hit, true)));
        }
        let n_keys = self.n_keys;
        let mut names = vec!["doc".to_owned(), "score".to_owned()];
        // Whoever asked for these fields knows their names.
        names.extend(
            (1..=n_keys)
                .map(|nth| if n_keys == 1 { "sort".to_owned() } else { format!("sort{nth}") }),
        );
        names.extend(self.is_grouped.then(|| "group".to_owned()));
        let fields = self.fields.iter().copied().filter(|field| !is_state(field));
        let mut columns = Columns::new(fields);
        self.found.hits.iter().for_each(|hit| columns.see(&hit.fields));
        names.extend(columns.names());
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut table = Table::new(out, format, &names)?.of_documents();
        for hit in &self.found.hits {
            let values = fields_to_json(&self.fields, &hit.fields);
            let mut cells = vec![json!(hit.doc.0), json!(hit.score)];
            cells.extend(hit.sort.iter().chain(&hit.group).map(value_to_json));
            cells.extend(columns.cells(&values));
            table.row(cells)?;
        }
        table.finish()
    }
}

/// Values that a hit is sorted by, or else its score.
fn rank(hit: &Hit) -> String {
    let value = |value: &treepie::Value| match value {
        treepie::Value::Null => "-".to_owned(),
        value => terminal::printable(&value.to_text()).into_owned(),
    };
    match &hit.sort[..] {
        [] => hit.score.map_or_else(|| "-".to_owned(), significant),
        keys => keys.iter().map(value).collect::<Vec<_>>().join(","),
    }
}

/// A score with four digits that tell scores apart.
fn significant(score: f32) -> String {
    const DIGITS: i32 = 4;
    let magnitude = if score == 0.0 { 0 } else { score.abs().log10().floor() as i32 };
    let decimals = (DIGITS - 1 - magnitude).clamp(0, 12) as usize;
    format!("{score:.decimals$}")
}

/// The pieces of printable text that fit into `columns`, and an ellipsis if anything is missing.
fn cut(pieces: Vec<(String, bool)>, columns: usize) -> Vec<(String, bool)> {
    let widths = pieces.iter().map(|(piece, _)| terminal::width(piece));
    if widths.sum::<usize>() <= columns {
        return pieces;
    }
    let mut shown = vec![];
    let mut room = columns.saturating_sub(1);
    for (piece, marked) in pieces {
        let width = terminal::width(&piece);
        if width > room {
            shown.push((terminal::truncate(&piece, room, "").into_owned(), marked));
            break;
        }
        room -= width;
        shown.push((piece, marked));
    }
    shown.push(("…".to_owned(), false));
    shown
}

/// Part of a score that a branch added.
fn part_to_json(part: &FusedPart) -> Value {
    json!({ "branch": part.branch, "rank": part.rank, "score": part.score, "part": part.part })
}
