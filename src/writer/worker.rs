//! Worker for one task: tokenizes a batch, collects postings, compresses stored fields.

use crate::analysis::{Analyzer, Analyzers, BULK_PADDING, BulkTokens, Normalizer, TERM_BYTES_MAX};
use crate::bytes::write_varint;
use crate::error::{Error, Result};
use crate::format::stored::ChunkWriter;
use crate::format::terms::MAX_TERM_LEN;
use crate::ids::FieldId;
use crate::schema::{Field, FieldKind, Schema};
use crate::segment::doc_ranges::DocRanges;
use crate::value;
use crate::writer::batch::{Batch, DocumentBatch, LineBatch, ValueRef};
use crate::writer::field_buffer::{FieldBuffer, TokenRanges};
use crate::writer::run::Run;
use std::sync::Arc;

/// Bytes of text tokenized at once: they stay in the processor's cache until their terms are looked up.
const STEP_BYTES: usize = 64 << 10;
/// Stands behind values, where the table of terms reads beyond them.
const PADDING: &str = match str::from_utf8(&[0; 16]) {
    Ok(zeros) => zeros,
    Err(_) => "",
};

const _: () =
    assert!(TERM_BYTES_MAX == MAX_TERM_LEN, "analysis leaves out what no dictionary takes");

/// Buffers for one task at a time, kept from task to task.
#[derive(Debug)]
pub(crate) struct Worker {
    schema: Arc<Schema>,
    /// By field: its analyzer, or none where the default one is applied in bulk.
    analyzers: Vec<Option<Analyzer>>,
    /// By field: what its values go through before they are terms.
    normalizers: Vec<Option<Normalizer>>,
    fields: Vec<FieldBuffer>,
    chunk: ChunkWriter,
    tokens: BulkTokens,
    row: Vec<u8>,
    texts: String,
    spans: Vec<(u32, u32)>,
    ends: Vec<u32>,
    /// By document of a field that may have many values: its lines in `texts`.
    n_lines: Vec<u32>,
    /// The values of each field.
    of_fields: Vec<Vec<ValueRef>>,
}

/// Results of a task for the merge.
#[derive(Debug)]
pub(crate) struct TaskOutput {
    /// By field; runs of consecutive documents in order.
    pub(crate) fields: Vec<FieldOutput>,
    /// Chunks of stored rows back to back.
    pub(crate) stored: Vec<u8>,
    /// Documents and bytes of each chunk.
    pub(crate) chunks: Vec<(u32, u64)>,
    /// Tokens left out because they are too long.
    pub(crate) n_too_long: u64,
}

/// One field of a [`TaskOutput`].
#[derive(Debug, Default)]
pub(crate) struct FieldOutput {
    pub(crate) runs: Vec<Run>,
    pub(crate) presence: DocRanges,
    pub(crate) empty: DocRanges,
    pub(crate) n_tokens: u64,
}

impl Worker {
    pub(crate) fn new(schema: Arc<Schema>, analyzers: &Analyzers) -> Self {
        // Without such an analyzer, the writer takes no text for the field.
        let custom = |field: &Field| {
            let in_bulk = |analyzer: &Analyzer| analyzer.is_default() && !field.offsets;
            analyzers.index_time(field).ok().filter(|analyzer| !in_bulk(analyzer))
        };
        let fields = schema.fields().iter().map(FieldBuffer::new).collect();
        let of_fields = vec![vec![]; schema.fields().len()];
        Worker {
            analyzers: schema.fields().iter().map(custom).collect(),
            normalizers: schema
                .fields()
                .iter()
                .map(|field| analyzers.normalizer(field).ok().flatten())
                .collect(),
            fields,
            schema,
            chunk: ChunkWriter::default(),
            tokens: BulkTokens::default(),
            row: vec![],
            texts: String::new(),
            spans: vec![],
            ends: vec![],
            n_lines: vec![],
            of_fields,
        }
    }

    /// Turns a batch whose first document is `first_doc` into runs and chunks. A run ends early, at
    /// the end of a chunk, where the buffers pass `heap_max` bytes.
    pub(crate) fn process(
        &mut self,
        mut batch: Batch,
        first_doc: u32,
        heap_max: usize,
    ) -> Result<TaskOutput> {
        let fields = self.fields.iter().map(|_| FieldOutput::default()).collect();
        let mut output = TaskOutput { fields, stored: vec![], chunks: vec![], n_too_long: 0 };
        let n_chunks = match &batch {
            Batch::Lines(lines) => lines.chunk_ends.len(),
            Batch::Documents(documents) => documents.chunk_ends.len(),
        };
        let (mut doc, mut run_start) = (first_doc, first_doc);
        for nth in 0..n_chunks {
            doc += match &mut batch {
                Batch::Lines(lines) => self.add_lines(lines, nth, doc)?,
                Batch::Documents(documents) => self.add_documents(documents, nth, doc)?,
            };
            let (n_docs, before) = (self.chunk.n_docs(), output.stored.len());
            self.chunk.finish(&mut output.stored);
            output.chunks.push((n_docs, (output.stored.len() - before) as u64));
            let needed = self.fields.iter().map(FieldBuffer::needed_bytes).sum::<usize>()
                + output.stored.len()
                + self.chunk.heap_bytes();
            if needed > heap_max || nth + 1 == n_chunks {
                self.end_run(run_start, &mut output);
                run_start = doc;
                // A run may need a little more than it should, but fields whose long runs were not the same ones could
                // keep much more together.
                let kept: usize = self.fields.iter().map(FieldBuffer::kept_bytes).sum();
                if kept > heap_max + heap_max / 2 {
                    self.fields.iter_mut().for_each(FieldBuffer::release);
                }
            }
        }
        output.n_too_long = self.tokens.take_too_long();
        Ok(output)
    }

    fn end_run(&mut self, run_start: u32, output: &mut TaskOutput) {
        for (field, out) in self.fields.iter_mut().zip(&mut output.fields) {
            out.runs.push(field.finish(run_start));
            out.presence.append(&field.presence);
            out.empty.append(&field.empty);
            out.n_tokens += std::mem::take(&mut field.n_tokens);
            field.presence.clear();
            field.empty.clear();
        }
    }

    /// Adds chunk `nth` of a batch of lines; the result is its number of documents.
    fn add_lines(&mut self, batch: &mut LineBatch, nth: usize, first_doc: u32) -> Result<u32> {
        let start = if nth == 0 { 0 } else { batch.chunk_ends[nth - 1] };
        let end = batch.chunk_ends[nth];
        let is_dump = batch.fields.qualifier.is_some();
        if is_dump {
            // Every byte is written, so that many are at once.
            for byte in &mut batch.text[start..end] {
                *byte = if *byte == b'_' { b' ' } else { *byte };
            }
        }
        let (mut at, mut doc) = (start, first_doc);
        while at < end {
            let step_end = if end - at <= STEP_BYTES {
                end
            } else {
                // A line longer than a step is a step of its own.
                match memchr::memrchr(b'\n', &batch.text[at..at + STEP_BYTES]) {
                    Some(last) => at + last + 1,
                    None => memchr::memchr(b'\n', &batch.text[at..end])
                        .map_or(end, |next| at + next + 1),
                }
            };
            let step = simdutf8::basic::from_utf8(&batch.text[at..step_end])
                .map_err(|_| Error::corrupt("a batch of lines is not UTF-8 any more"))?;
            doc += self.add_step(batch, step, at, doc)?;
            at = step_end;
        }
        Ok(doc - first_doc)
    }

    fn add_step(
        &mut self,
        batch: &LineBatch,
        step: &str,
        at: usize,
        first_doc: u32,
    ) -> Result<u32> {
        let title = usize::from(batch.fields.text);
        let stored = self.schema.fields()[title].stored;
        let bare = self.schema.bare_stored_field(usize::MAX) == Some(FieldId(batch.fields.text));
        if self.analyzers[title].is_none() {
            self.tokens.tokenize(step);
            let tokens = &self.tokens;
            self.fields[title].add_documents(
                &tokens.bytes,
                &tokens.tokens,
                &tokens.ends,
                tokens.positions(),
            )?;
        } else {
            for line in step.split_terminator('\n') {
                self.add_custom_text(FieldId(batch.fields.text), line)?;
                self.fields[title].end_document();
            }
        }
        self.spans.clear();
        self.ends.clear();
        let (mut line_start, mut doc) = (0, first_doc);
        for line_end in memchr::memchr_iter(b'\n', step.as_bytes()) {
            let line = &step.as_bytes()[line_start..line_end];
            if line.is_empty() {
                self.fields[title].empty.add(doc, doc + 1);
            }
            if batch.fields.qualifier.is_some() {
                if let Some((from, to)) = qualifier_of(line) {
                    self.spans.push(((at + line_start + from) as u32, (to - from) as u32));
                }
                self.ends.push(self.spans.len() as u32);
            }
            match (stored, bare) {
                (true, true) => self.chunk.add(Some(line)),
                (true, false) => {
                    self.row.clear();
                    let title = FieldId(batch.fields.text);
                    write_row(&self.schema, &mut self.row, [(title, line)].into_iter());
                    self.chunk.add(Some(&self.row));
                }
                (false, _) => self.chunk.add(None),
            }
            line_start = line_end + 1;
            doc += 1;
        }
        self.fields[title].presence.add(first_doc, doc);
        self.add_parts_of_lines(batch, step, at, first_doc)?;
        // Fields that lines do not fill still count documents.
        let copies: Vec<_> = batch.fields.copies(&self.schema).map(|(_, copy)| copy).collect();
        for (id, field) in self.schema.field_ids().zip(&mut self.fields) {
            if !batch.fields.fill(id) && !copies.contains(&id) {
                (first_doc..doc).for_each(|_| field.end_document());
            }
        }
        Ok(doc - first_doc)
    }

    /// Adds the qualifiers of the lines of a step, whose places are in `spans` and `ends`, and fills copies of all that lines
    /// fill.
    fn add_parts_of_lines(
        &mut self,
        batch: &LineBatch,
        step: &str,
        at: usize,
        first_doc: u32,
    ) -> Result<()> {
        let schema = Arc::clone(&self.schema);
        let (spans, ends) = (std::mem::take(&mut self.spans), std::mem::take(&mut self.ends));
        let qualifiers = ValuesOfLines { step, at, spans: &spans, ends: &ends };
        if let Some(qualifier) = batch.fields.qualifier {
            self.add_values_of_lines(&batch.text, qualifiers, FieldId(qualifier), first_doc)?;
        }
        let mut lines = None;
        for (source, copy) in batch.fields.copies(&schema) {
            let values = match source.0 == batch.fields.text {
                true => {
                    let (spans, ends) = lines.get_or_insert_with(|| spans_of_lines(step, at));
                    ValuesOfLines { step, at, spans, ends }
                }
                false => qualifiers,
            };
            self.add_values_of_lines(&batch.text, values, copy, first_doc)?;
        }
        (self.spans, self.ends) = (spans, ends);
        Ok(())
    }

    fn add_values_of_lines(
        &mut self,
        text: &[u8],
        values: ValuesOfLines<'_>,
        field: FieldId,
        first_doc: u32,
    ) -> Result<()> {
        let buffer = &mut self.fields[field.index()];
        for (doc, value) in (first_doc..).zip(values.by_document()) {
            if let Some(value) = value {
                buffer.presence.add(doc, doc + 1);
                if value.is_empty() {
                    buffer.empty.add(doc, doc + 1);
                }
            }
        }
        if self.schema.get(field).kind != FieldKind::Text {
            return buffer.add_documents(text, values.spans, values.ends, None);
        }
        if self.analyzers[field.index()].is_none() {
            self.texts.clear();
            let lines = values.by_document().map(Option::unwrap_or_default);
            self.texts.extend(lines.flat_map(|line| [line, "\n"]));
            return self.add_pending_texts(field);
        }
        for value in values.by_document() {
            if let Some(value) = value {
                self.add_custom_text(field, value)?;
            }
            self.fields[field.index()].end_document();
        }
        Ok(())
    }

    /// Adds chunk `nth` of a batch of documents; the result is its number of documents.
    fn add_documents(&mut self, batch: &DocumentBatch, nth: usize, first_doc: u32) -> Result<u32> {
        let start = if nth == 0 { 0 } else { batch.chunk_ends[nth - 1] };
        let end = batch.chunk_ends[nth];
        let first = batch.values.partition_point(|value| value.doc < start);
        let last = batch.values.partition_point(|value| value.doc < end);
        let values = &batch.values[first..last];
        self.of_fields.iter_mut().for_each(Vec::clear);
        for value in values {
            self.of_fields[value.field.index()].push(*value);
        }
        for field in self.schema.field_ids() {
            let of_field = std::mem::take(&mut self.of_fields[field.index()]);
            self.note_values(batch, &of_field, field, start, first_doc);
            let by_doc = ByDocument { values: &of_field, doc: start, end };
            match self.schema.get(field).kind {
                FieldKind::Vector(_) | FieldKind::Point { .. } => {
                    self.add_vectors(batch, field, by_doc, first_doc);
                }
                kind if kind != FieldKind::Text => self.add_keywords(batch, field, by_doc)?,
                _ if self.analyzers[field.index()].is_none() => {
                    self.add_texts(batch, field, by_doc)?;
                }
                _ => {
                    for of_doc in by_doc {
                        for value in of_doc {
                            self.add_custom_text(field, utf8(batch.value(*value))?)?;
                        }
                        self.fields[field.index()].end_document();
                    }
                }
            }
            self.of_fields[field.index()] = of_field;
        }
        self.store_documents(batch, values, start, end);
        Ok(end - start)
    }

    fn note_values(
        &mut self,
        batch: &DocumentBatch,
        values: &[ValueRef],
        field: FieldId,
        start: u32,
        first_doc: u32,
    ) {
        let buffer = &mut self.fields[field.index()];
        for value in values {
            let doc = first_doc + (value.doc - start);
            buffer.presence.add(doc, doc + 1);
            if batch.value(*value).is_empty() {
                buffer.empty.add(doc, doc + 1);
            }
        }
    }

    fn add_vectors(
        &mut self,
        batch: &DocumentBatch,
        field: FieldId,
        by_doc: ByDocument<'_>,
        first_doc: u32,
    ) {
        let buffer = &mut self.fields[field.index()];
        for (doc, of_doc) in (first_doc..).zip(by_doc) {
            of_doc.iter().for_each(|value| buffer.add_vector(doc, batch.value(*value)));
            buffer.end_document();
        }
    }

    fn add_keywords(
        &mut self,
        batch: &DocumentBatch,
        field: FieldId,
        by_doc: ByDocument<'_>,
    ) -> Result<()> {
        if self.normalizers[field.index()].is_some() {
            return self.add_normalized(batch, field, by_doc);
        }
        self.spans.clear();
        self.ends.clear();
        let kind = self.schema.get(field).kind;
        if let FieldKind::Path { separator } = kind
            && batch.has_loose_paths
        {
            return self.add_loose_paths(batch, field, separator, by_doc);
        }
        for of_doc in by_doc {
            match kind {
                // A path, and all that it is below.
                FieldKind::Path { separator } => {
                    self.spans.extend(of_doc.iter().flat_map(|value| {
                        let ends = value::path_ends(batch.value(*value), separator);
                        ends.map(|end| (value.span().0, end as u32))
                    }))
                }
                _ => self.spans.extend(of_doc.iter().map(|value| value.span())),
            }
            self.ends.push(self.spans.len() as u32);
        }
        self.fields[field.index()].add_documents(&batch.text, &self.spans, &self.ends, None)
    }

    /// Adds paths of which some have separators that mean nothing, in their canonical form.
    fn add_loose_paths(
        &mut self,
        batch: &DocumentBatch,
        field: FieldId,
        separator: char,
        by_doc: ByDocument<'_>,
    ) -> Result<()> {
        self.texts.clear();
        for of_doc in by_doc {
            for value in of_doc {
                let path = value::canonical_path(utf8(batch.value(*value))?, separator);
                let start = self.texts.len() as u32;
                let ends = value::path_ends(path.as_bytes(), separator);
                self.spans.extend(ends.map(|end| (start, end as u32)));
                self.texts.push_str(&path);
            }
            self.ends.push(self.spans.len() as u32);
        }
        self.texts.push_str(PADDING);
        let bytes = self.texts.as_bytes();
        self.fields[field.index()].add_documents(bytes, &self.spans, &self.ends, None)
    }

    /// Adds values by the normalizer of their field.
    fn add_normalized(
        &mut self,
        batch: &DocumentBatch,
        field: FieldId,
        by_doc: ByDocument<'_>,
    ) -> Result<()> {
        let Some(normalizer) = &mut self.normalizers[field.index()] else { return Ok(()) };
        self.spans.clear();
        self.ends.clear();
        let (mut terms, mut term) = (String::new(), String::new());
        for of_doc in by_doc {
            for value in of_doc {
                term.clear();
                term.push_str(utf8(batch.value(*value))?);
                normalizer.apply(&mut term);
                self.spans.push((terms.len() as u32, term.len() as u32));
                terms.push_str(&term);
            }
            self.ends.push(self.spans.len() as u32);
        }
        let mut terms = terms.into_bytes();
        terms.extend_from_slice(&[0; BULK_PADDING]);
        self.fields[field.index()].add_documents(&terms, &self.spans, &self.ends, None)
    }

    /// Tokenizes the values of many documents at once, one line a value, and one for a document without any. A
    /// newline inside a value separates words as a space does.
    fn add_texts(
        &mut self,
        batch: &DocumentBatch,
        field: FieldId,
        by_doc: ByDocument<'_>,
    ) -> Result<()> {
        let many = self.schema.get(field).many;
        self.texts.clear();
        self.n_lines.clear();
        for of_doc in by_doc {
            let mut n_values = 0;
            for value in of_doc {
                if n_values > 0 {
                    self.texts.push('\n');
                }
                self.texts
                    .extend(utf8(batch.value(*value))?.split('\n').flat_map(|line| [line, " "]));
                n_values += 1;
            }
            self.texts.push('\n');
            if many {
                self.n_lines.push(n_values.max(1));
            }
            if self.texts.len() >= STEP_BYTES {
                self.add_pending_texts(field)?;
            }
        }
        self.add_pending_texts(field)
    }

    fn add_pending_texts(&mut self, field: FieldId) -> Result<()> {
        self.tokens.tokenize(&self.texts);
        self.texts.clear();
        if self.n_lines.iter().any(|n_lines| *n_lines > 1) {
            self.tokens.join(&self.n_lines, self.schema.get(field).position_gap);
        }
        self.n_lines.clear();
        let tokens = &self.tokens;
        self.fields[field.index()].add_documents(
            &tokens.bytes,
            &tokens.tokens,
            &tokens.ends,
            tokens.positions(),
        )
    }

    /// Adds the tokens of one value: of a field with another analyzer than the default one, or with offsets.
    fn add_custom_text(&mut self, field: FieldId, text: &str) -> Result<()> {
        let Some(analyzer) = &mut self.analyzers[field.index()] else { return Ok(()) };
        let tokens = &mut self.tokens;
        tokens.analyze(analyzer, text, self.schema.get(field).offsets);
        let ranges = TokenRanges { ranges: tokens.ranges(), len: text.len() };
        let positions = tokens.positions();
        self.fields[field.index()].add_tokens(&tokens.bytes, &tokens.tokens, positions, ranges)
    }

    fn store_documents(
        &mut self,
        batch: &DocumentBatch,
        values: &[ValueRef],
        start: u32,
        end: u32,
    ) {
        let bare = self.schema.bare_stored_field(usize::MAX);
        let stored = |value: &&ValueRef| self.schema.get(value.field).is_in_rows();
        for of_doc in (ByDocument { values, doc: start, end }) {
            if !of_doc.iter().any(|value| stored(&value)) {
                self.chunk.add(None);
                continue;
            }
            self.row.clear();
            if bare.is_some() {
                of_doc
                    .iter()
                    .filter(stored)
                    .for_each(|value| self.row.extend_from_slice(batch.value(*value)));
            } else {
                let values = of_doc.iter().map(|value| (value.field, batch.value(*value)));
                write_row(&self.schema, &mut self.row, values);
            }
            self.chunk.add(Some(&self.row));
        }
    }
}

/// A row of several fields, whose values come in the order of these: for each stored field a count and lengths, then all values.
fn write_row<'v>(
    schema: &Schema,
    row: &mut Vec<u8>,
    values: impl Iterator<Item = (FieldId, &'v [u8])> + Clone,
) {
    let stored = values.filter(|(field, _)| schema.get(*field).is_in_rows());
    let mut rest = stored.clone();
    for field in schema.field_ids().filter(|id| schema.get(*id).is_in_rows()) {
        let of_field = rest.clone().take_while(|(other, _)| *other == field);
        let n = of_field.clone().count();
        write_varint(row, n as u64);
        of_field.for_each(|(_, value)| write_varint(row, value.len() as u64));
        rest.by_ref().take(n).for_each(drop);
    }
    stored.for_each(|(_, value)| row.extend_from_slice(value));
}

/// Values that the lines of a step give a field, at most one each: where they stand in the batch, and how many there are up
/// to each line.
#[derive(Clone, Copy)]
struct ValuesOfLines<'v> {
    step: &'v str,
    /// Beginning of the step in the batch.
    at: usize,
    spans: &'v [(u32, u32)],
    ends: &'v [u32],
}

impl<'v> ValuesOfLines<'v> {
    /// The value of each line, if it has one.
    fn by_document(self) -> impl Iterator<Item = Option<&'v str>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(self.ends).map(move |(start, end)| {
            let (from, len) = *self.spans.get(start as usize..*end as usize)?.first()?;
            let from = (from as usize).checked_sub(self.at)?;
            self.step.get(from..from + len as usize)
        })
    }
}

/// Places of whole lines in a batch, of a step that begins at `at`, and how many there are up to each.
fn spans_of_lines(step: &str, at: usize) -> (Vec<(u32, u32)>, Vec<u32>) {
    let mut from = at as u32;
    let spans = step.split_terminator('\n').map(|line| {
        let span = (from, line.len() as u32);
        from += span.1 + 1;
        span
    });
    let spans: Vec<_> = spans.collect();
    let ends = (1..=spans.len() as u32).collect();
    (spans, ends)
}

/// Range of the text in a trailing "(…)" without inner parentheses.
pub(crate) fn qualifier_of(title: &[u8]) -> Option<(usize, usize)> {
    let inner = title.strip_suffix(b")")?;
    let open = memchr::memrchr2(b'(', b')', inner)?;
    (inner[open] == b'(' && open + 1 < inner.len()).then_some((open + 1, inner.len()))
}

fn utf8(value: &[u8]) -> Result<&str> {
    simdutf8::basic::from_utf8(value)
        .map_err(|_| Error::corrupt("a batch of documents is not UTF-8 any more"))
}

/// Walks the documents `doc..end` with their values, which are sorted by document.
struct ByDocument<'v> {
    values: &'v [ValueRef],
    doc: u32,
    end: u32,
}

impl<'v> Iterator for ByDocument<'v> {
    type Item = &'v [ValueRef];

    fn next(&mut self) -> Option<&'v [ValueRef]> {
        if self.doc == self.end {
            return None;
        }
        // A document has few, so that its end is found sooner one by one than by a search in those of all.
        let n = self.values.iter().take_while(|value| value.doc <= self.doc).count();
        let (of_doc, later) = self.values.split_at(n);
        self.values = later;
        self.doc += 1;
        Some(of_doc)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_qualifier_is_what_stands_in_the_last_parentheses() {
        let cases = [
            ("Paris (film)", Some("film")),
            ("Paris (film) II", None),
            ("A (b) (c d)", Some("c d")),
            ("A (b (c))", None),
            ("A (b (c)", Some("c")),
            ("A )b)", None),
            ("A ()", None),
            ("(x)", Some("x")),
            (")", None),
            ("", None),
        ];
        for (title, expected) in cases {
            let found = qualifier_of(title.as_bytes()).map(|(from, to)| &title[from..to]);
            assert_eq!(found, expected, "{title}");
        }
    }

    /// Lines of words that come again and words that do not, a chunk for every 2,000.
    fn batch_of_lines(n_chunks: u32) -> Batch {
        let mut batch = LineBatch::default();
        for chunk in 0..n_chunks {
            for nth in chunk * 2_000..(chunk + 1) * 2_000 {
                let line = format!("word {} of {}\n", nth % 100, nth * 7);
                batch.text.extend_from_slice(line.as_bytes());
            }
            batch.chunk_ends.push(batch.text.len());
        }
        (batch.len, batch.n_lines) = (batch.text.len(), n_chunks * 2_000);
        batch.text.extend_from_slice(&[0; BULK_PADDING]);
        Batch::Lines(batch)
    }

    fn n_runs(worker: &mut Worker, n_chunks: u32, heap_max: usize) -> usize {
        let output = worker.process(batch_of_lines(n_chunks), 0, heap_max).unwrap();
        output.fields[0].runs.len()
    }

    #[test]
    fn runs_behind_a_long_one_are_as_long() {
        let schema = Arc::new(Schema::builder().text("text").build().unwrap());
        let worker = || Worker::new(Arc::clone(&schema), &Analyzers::default());
        // Some more than the least that two runs need.
        let mut limits = (1..).map(|nth| nth << 14);
        let least = limits.find(|limit| n_runs(&mut worker(), 8, *limit) == 2).unwrap();
        let (heap_max, mut worker) = (least + least / 4, worker());
        for _ in 0..3 {
            assert_eq!(n_runs(&mut worker, 8, heap_max), 2);
        }
        // Nor is more kept than that, if a run was longer by far.
        assert_eq!(n_runs(&mut worker, 64, 1 << 30), 1);
        n_runs(&mut worker, 8, heap_max);
        let kept: usize = worker.fields.iter().map(FieldBuffer::kept_bytes).sum();
        assert!(kept <= 2 * heap_max, "{kept} of {heap_max}");
    }
}
