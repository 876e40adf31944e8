//! The postings of one field for the documents of one run, in memory.
//!
//! While documents come in, only a log of term numbers grows, four bytes a token. At the end the log
//! is turned around: terms are sorted, counted, and every document number is scattered to its term,
//! with the token's position where the field keeps more than documents.

use crate::bytes::write_varint;
use crate::error::{Error, ErrorKind, Result};
use crate::format::lengths;
use crate::format::occurrences;
use crate::format::offsets::{self, Word};
use crate::format::terms::MAX_TERM_LEN;
use crate::schema::{Detail, Field};
use crate::segment::doc_ranges::DocRanges;
use crate::value;
use crate::writer::run::{Run, RunWriter};
use crate::writer::term_table::{TermRef, TermTable};

/// One field of the run that is being collected.
#[derive(Debug)]
pub(crate) struct FieldBuffer {
    detail: Detail,
    /// Places between two values of a document.
    position_gap: u16,
    terms: TermTable,
    /// Term number of every token, in order.
    log: Vec<u32>,
    /// Position of every token, where any has another than its number in its document.
    positions: Vec<u32>,
    /// Behind the last word of the current document; 0 if it has none.
    next_position: u32,
    /// Offsets of the words, if the field keeps them.
    offsets: Option<OffsetsBuffer>,
    column: Option<Codes>,
    /// Rows of vectors or points, each behind its document.
    vectors: Vec<u8>,
    /// Bytes of one of them.
    vector_len: usize,
    /// Tokens so far at the end of every document of the run; may lag behind, see `end_document`.
    document_ends: Vec<u32>,
    pub(crate) presence: DocRanges,
    pub(crate) empty: DocRanges,
    /// Tokens in all documents since the field's beginning.
    pub(crate) n_tokens: u64,
    // Buffers of `finish`, kept between runs.
    starts: Vec<u32>,
    /// Ends of the documents of each term, in the order of terms.
    ends: Vec<u32>,
    scattered: Vec<u32>,
    scattered_wide: Vec<u64>,
}

/// Source of a column's codes.
#[derive(Clone, Copy, Debug)]
enum Codes {
    /// Code made of the value's term.
    OfTerms,
    /// The number of its term in the run.
    Ordinals,
}

/// Offsets of the words of each document.
#[derive(Debug, Default)]
struct OffsetsBuffer {
    /// Words of the current document.
    words: Vec<Word>,
    /// Bytes of its values so far.
    n_bytes: u32,
    part: Vec<u8>,
    /// For each document before: varint length of its part, the part.
    parts: Vec<u8>,
}

/// Ranges of a text's tokens in it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TokenRanges<'a> {
    /// Bytes where each token begins and ends.
    pub(crate) ranges: &'a [(usize, usize)],
    /// Bytes of the text.
    pub(crate) len: usize,
}

impl OffsetsBuffer {
    /// Adds the tokens of one more value, given with their positions in it, of which the first would be `first`.
    fn add(&mut self, of_text: TokenRanges<'_>, first: u32, position: impl Fn(u32) -> u32) {
        let TokenRanges { ranges, len } = of_text;
        for (nth, &(from, to)) in (0..).zip(ranges) {
            let position = position(nth);
            // A plugged-in tokenizer may say anything: a word of no bytes is none that could be kept.
            let is_sound = from < to && to <= len && position as usize <= len;
            let n_bytes = if is_sound { (to - from) as u32 } else { 0 };
            self.words.push(Word {
                position: first.saturating_add(position),
                start: self.n_bytes.saturating_add(from.min(len) as u32),
                len: n_bytes,
            });
        }
        self.n_bytes = self.n_bytes.saturating_add(len as u32);
    }

    fn end_document(&mut self) {
        self.part.clear();
        offsets::write_part(&self.words, &mut self.part);
        write_varint(&mut self.parts, self.part.len() as u64);
        self.parts.extend_from_slice(&self.part);
        self.words.clear();
        self.n_bytes = 0;
    }

    /// Bytes of heap, with those that the run will take.
    fn heap_bytes(&self) -> usize {
        self.words.capacity() * size_of::<Word>()
            + self.part.capacity()
            + self.parts.capacity()
            + self.parts.len()
    }
}

/// Document and position of a token in one number: the position in the lower bits, the document, counted
/// from the run's first, above them. Half of the memory if 32 bits are enough, as they are nearly always.
trait Token: Copy + Default {
    fn new(bits: u64) -> Self;
    fn bits(self) -> u64;
}

impl Token for u32 {
    #[inline]
    fn new(bits: u64) -> Self {
        bits as u32
    }

    #[inline]
    fn bits(self) -> u64 {
        u64::from(self)
    }
}

impl Token for u64 {
    #[inline]
    fn new(bits: u64) -> Self {
        bits
    }

    #[inline]
    fn bits(self) -> u64 {
        self
    }
}

impl FieldBuffer {
    pub(crate) fn new(field: &Field) -> Self {
        FieldBuffer {
            detail: field.detail,
            position_gap: field.position_gap,
            offsets: field.offsets.then(OffsetsBuffer::default),
            column: field.column.then_some(match field.kind.has_codes() {
                true => Codes::OfTerms,
                false => Codes::Ordinals,
            }),
            vectors: vec![],
            vector_len: field.kind.row_len().map_or(0, |len| size_of::<u32>() + len),
            terms: TermTable::default(),
            log: vec![],
            positions: vec![],
            next_position: 0,
            document_ends: vec![],
            presence: DocRanges::default(),
            empty: DocRanges::default(),
            n_tokens: 0,
            starts: vec![],
            ends: vec![],
            scattered: vec![],
            scattered_wide: vec![],
        }
    }

    /// Adds the tokens of the next documents: `ends` has the number of tokens up to the end of each.
    /// Without `positions`, that of a token is the number of tokens before it in its document; those of
    /// a document do not descend. For fields that keep no offsets.
    pub(crate) fn add_documents(
        &mut self,
        bytes: &[u8],
        tokens: &[(u32, u32)],
        ends: &[u32],
        positions: Option<&[u32]>,
    ) -> Result<()> {
        debug_assert!(self.offsets.is_none(), "offsets come with one value at a time");
        let before = self.log.len() as u32;
        if self.detail.has_positions() && (positions.is_some() || !self.positions.is_empty()) {
            self.place_all();
            match positions {
                Some(positions) => self.positions.extend_from_slice(positions),
                None => count_positions(ends.iter().copied(), &mut self.positions),
            }
        }
        self.intern(bytes, tokens)?;
        self.document_ends.extend(ends.iter().map(|end| before + end));
        Ok(())
    }

    /// Adds the tokens of one more value to the document that [`end_document`](Self::end_document) will end.
    /// Positions go on behind those that the document has, and the gap. `ranges` are for a field that keeps
    /// offsets.
    pub(crate) fn add_tokens(
        &mut self,
        bytes: &[u8],
        tokens: &[(u32, u32)],
        positions: Option<&[u32]>,
        ranges: TokenRanges<'_>,
    ) -> Result<()> {
        let first = match self.next_position {
            0 => 0,
            next => next.saturating_add(self.position_gap.into()),
        };
        if let Some(offsets) = &mut self.offsets {
            offsets.add(ranges, first, |nth| positions.map_or(nth, |at| at[nth as usize]));
        }
        let n_before = self.log.len() as u32 - self.document_ends.last().copied().unwrap_or(0);
        let are_counted = positions.is_none() && first == n_before && self.positions.is_empty();
        let n_tokens = tokens.len() as u32;
        // A plugged-in tokenizer may give them in any order.
        let last = match positions {
            Some(positions) => positions.iter().copied().max(),
            None => n_tokens.checked_sub(1),
        };
        if let Some(last) = last {
            self.next_position = first.saturating_add(last).saturating_add(1);
        }
        if self.detail.has_positions() && !are_counted {
            self.place_all();
            let at = |nth| positions.map_or(nth, |positions| positions[nth as usize]);
            self.positions.extend((0..n_tokens).map(|nth| first.saturating_add(at(nth))));
        }
        self.intern(bytes, tokens)
    }

    /// Gives every token so far its position, because from now on positions are not simply counted.
    #[cold]
    fn place_all(&mut self) {
        let done = self.positions.len() as u32;
        if done as usize == self.log.len() {
            return;
        }
        debug_assert_eq!(done, 0, "positions are kept of all tokens or of none");
        let ends = self.document_ends.iter().copied().chain([self.log.len() as u32]);
        count_positions(ends, &mut self.positions);
    }

    fn intern(&mut self, bytes: &[u8], tokens: &[(u32, u32)]) -> Result<()> {
        if let Some(&(start, len)) = tokens.iter().find(|token| token.1 as usize > MAX_TERM_LEN) {
            let beginning: String = String::from_utf8_lossy(&bytes[start as usize..][..40]).into();
            return Err(Error::new(ErrorKind::Document, "indexing a value")
                .expected(format!("terms of at most {MAX_TERM_LEN} bytes"))
                .found(format!("one of {len} bytes that begins with {beginning:?}")));
        }
        self.n_tokens += tokens.len() as u64;
        self.terms.intern(bytes, tokens, &mut self.log);
        Ok(())
    }

    /// Adds a vector or point of a document, numbered as the segment has it.
    pub(crate) fn add_vector(&mut self, doc: u32, row: &[u8]) {
        self.vectors.extend(doc.to_le_bytes());
        self.vectors.extend(row);
        debug_assert!(self.vectors.len().is_multiple_of(self.vector_len), "rows of one length");
    }

    /// Ends a document.
    pub(crate) fn end_document(&mut self) {
        self.next_position = 0;
        if let Some(offsets) = &mut self.offsets {
            offsets.end_document();
        }
        self.document_ends.push(self.log.len() as u32);
    }

    /// Bytes of heap that this run will have needed at its end: what it fills, and what turning the log around takes. Room
    /// that a longer run before has left is not counted, or every later one would end as soon as it begins.
    pub(crate) fn needed_bytes(&self) -> usize {
        let n_tokens = self.log.len();
        let is_wide = !self.scattered_wide.is_empty();
        let scatter = n_tokens * if is_wide { size_of::<u64>() } else { size_of::<u32>() };
        // A posting takes about two bytes of gap, and one or two of occurrences.
        let run = match self.detail {
            Detail::Documents => n_tokens * 2,
            _ => n_tokens * 4 + self.document_ends.len(),
        };
        // A byte says how many values there are, and up to ten by how much one differs from that before.
        let column = match self.column {
            Some(_) => {
                n_tokens * 8 + self.document_ends.len() + self.terms.len() * size_of::<u64>()
            }
            None => 0,
        };
        let per_term =
            self.terms.len() * (size_of::<u128>() + size_of::<TermRef>() + 2 * size_of::<u32>());
        let logs = n_tokens + self.document_ends.len();
        logs * size_of::<u32>()
            + self.terms.needed_bytes()
            + scatter
            + per_term
            + run.max(self.positions.len() * size_of::<u32>())
            + column
            + self.offsets.as_ref().map_or(0, OffsetsBuffer::heap_bytes)
            + self.terms.len() * 12
            + self.vectors.capacity()
    }

    /// Bytes of heap in buffers that are kept from run to run.
    pub(crate) fn kept_bytes(&self) -> usize {
        let n = [&self.log, &self.positions, &self.document_ends, &self.starts, &self.ends];
        let n: usize = n.into_iter().chain([&self.scattered]).map(Vec::capacity).sum();
        n * size_of::<u32>()
            + self.scattered_wide.capacity() * size_of::<u64>()
            + self.terms.kept_bytes()
    }

    /// Gives the buffers back, between two runs.
    pub(crate) fn release(&mut self) {
        self.terms = TermTable::default();
        let buffers = [&mut self.log, &mut self.positions, &mut self.document_ends];
        let scratch = [&mut self.starts, &mut self.ends, &mut self.scattered];
        buffers.into_iter().chain(scratch).for_each(|buffer| *buffer = vec![]);
        self.scattered_wide = vec![];
    }

    /// Turns the log around and starts the next run; documents are numbered from `first_doc`.
    pub(crate) fn finish(&mut self, first_doc: u32) -> Run {
        let order = self.terms.sorted();
        self.count(&order);
        let mut run = match self.detail {
            Detail::Documents => self.write_documents(&order, first_doc),
            _ => {
                let position_bits = u64::BITS - self.last_position().leading_zeros();
                let doc_bits = usize::BITS - self.document_ends.len().leading_zeros();
                if position_bits + doc_bits <= u32::BITS {
                    let mut scattered = std::mem::take(&mut self.scattered);
                    let run =
                        self.write_occurrences(&order, first_doc, position_bits, &mut scattered);
                    self.scattered = scattered;
                    run
                } else {
                    let mut scattered = std::mem::take(&mut self.scattered_wide);
                    let run = self.write_occurrences(&order, first_doc, 32, &mut scattered);
                    self.scattered_wide = scattered;
                    run
                }
            }
        };
        if self.detail.has_frequencies() {
            let starts = [0].into_iter().chain(self.document_ends.iter().copied());
            let lengths = starts.zip(&self.document_ends).map(|(start, end)| end - start);
            run.set_lengths(lengths.map(lengths::code_of).collect());
        }
        if let Some(offsets) = &mut self.offsets {
            run.set_offsets(std::mem::take(&mut offsets.parts));
        }
        if let Some(codes) = self.column {
            self.write_column(codes, &order, &mut run);
        }
        run.set_vectors(std::mem::take(&mut self.vectors), self.vector_len);
        self.terms.clear();
        self.log.clear();
        self.positions.clear();
        self.document_ends.clear();
        run.finish()
    }

    /// Writes the codes of each document.
    fn write_column(&self, codes: Codes, order: &[TermRef], run: &mut RunWriter) {
        let mut by_number = vec![0; self.terms.len()];
        let mut term = vec![];
        match codes {
            Codes::Ordinals => {
                (0..).zip(order).for_each(|(ordinal, at)| by_number[at.number as usize] = ordinal);
            }
            Codes::OfTerms => self.terms.for_each(order, |at| {
                self.terms.copy_term(at, &mut term);
                if let Some(code) = value::code_of_term(&term) {
                    by_number[at.number as usize] = code;
                }
            }),
        }
        let mut codes = vec![];
        let mut from = 0;
        for &end in &self.document_ends {
            codes.clear();
            let numbers = &self.log[from..end as usize];
            codes.extend(numbers.iter().map(|number| by_number[*number as usize]));
            codes.sort_unstable();
            codes.dedup();
            run.add_to_column(&codes);
            from = end as usize;
        }
    }

    /// Sets `starts[number]` to where the documents of a term begin, terms in the given order, and `ends` to where they end.
    fn count(&mut self, order: &[TermRef]) {
        self.starts.clear();
        self.starts.resize(self.terms.len(), 0);
        for &number in &self.log {
            self.starts[number as usize] += 1;
        }
        self.ends.clear();
        let mut next = 0;
        for at in order {
            let count = &mut self.starts[at.number as usize];
            next += std::mem::replace(count, next);
            self.ends.push(next);
        }
    }

    fn write_documents(&mut self, order: &[TermRef], first_doc: u32) -> RunWriter {
        let scattered = &mut self.scattered;
        scattered.resize(self.log.len(), 0);
        let mut from = 0;
        for (doc, &end) in (first_doc..).zip(&self.document_ends) {
            for &number in &self.log[from..end as usize] {
                let slot = &mut self.starts[number as usize];
                scattered[*slot as usize] = doc;
                *slot += 1;
            }
            from = end as usize;
        }
        let mut run = RunWriter::default();
        let (mut term, mut docs) = (vec![], vec![]);
        let mut from = 0;
        let mut ends = self.ends.iter();
        self.terms.for_each(order, |at| {
            let Some(&end) = ends.next() else { return };
            docs.clear();
            docs.extend_from_slice(&scattered[from..end as usize]);
            docs.dedup();
            from = end as usize;
            self.terms.copy_term(at, &mut term);
            run.add(&term, &docs, &[]);
        });
        run
    }

    /// A position that none is behind.
    fn last_position(&self) -> u64 {
        if !self.detail.has_positions() {
            return 0;
        }
        let starts = [0].into_iter().chain(self.document_ends.iter().copied());
        let counted = starts.zip(&self.document_ends).map(|(start, end)| end - start).max();
        let given = self.positions.iter().copied().max();
        u64::from(counted.max(given).unwrap_or(0))
    }

    fn write_occurrences<T: Token>(
        &mut self,
        order: &[TermRef],
        first_doc: u32,
        position_bits: u32,
        scattered: &mut Vec<T>,
    ) -> RunWriter {
        self.scatter(position_bits, scattered);
        // The run takes its place.
        self.positions = vec![];
        let mut run = RunWriter::default();
        let (mut term, mut docs, mut stream) = (vec![], vec![], vec![]);
        let mask = (1 << position_bits) - 1;
        let position = |token: T| (token.bits() & mask) as u32;
        let mut from = 0;
        let mut ends = self.ends.iter();
        self.terms.for_each(order, |at| {
            let Some(&end) = ends.next() else { return };
            docs.clear();
            stream.clear();
            let mut rest = &scattered[from..end as usize];
            while let [first, later @ ..] = rest {
                let doc = first.bits() >> position_bits;
                let n_more = later.iter().take_while(|t| t.bits() >> position_bits == doc).count();
                let of_doc = &rest[..=n_more];
                docs.push(first_doc + doc as u32);
                let positions = of_doc.iter().map(|token| position(*token));
                occurrences::write(self.detail, positions, &mut stream);
                rest = &later[n_more..];
            }
            from = end as usize;
            self.terms.copy_term(at, &mut term);
            run.add(&term, &docs, &stream);
        });
        run
    }

    /// Puts every token where its term's are, in order.
    fn scatter<T: Token>(&mut self, position_bits: u32, scattered: &mut Vec<T>) {
        scattered.resize(self.log.len(), T::default());
        let has_positions = self.detail.has_positions();
        let mut from = 0;
        for (doc, &end) in (0..).zip(&self.document_ends) {
            let doc: u64 = doc << position_bits;
            let tokens = &self.log[from..end as usize];
            let mut put = |number: u32, position: u32| {
                let slot = &mut self.starts[number as usize];
                scattered[*slot as usize] = T::new(doc | u64::from(position));
                *slot += 1;
            };
            match self.positions.get(from..end as usize) {
                _ if !has_positions => tokens.iter().for_each(|&number| put(number, 0)),
                Some(positions) if !positions.is_empty() => {
                    tokens.iter().zip(positions).for_each(|(&number, &at)| put(number, at));
                }
                _ => (0..).zip(tokens).for_each(|(at, &number)| put(number, at)),
            }
            from = end as usize;
        }
    }
}

/// Appends the numbers of tokens in their documents, given where each document ends.
fn count_positions(ends: impl Iterator<Item = u32>, positions: &mut Vec<u32>) {
    let mut from = 0;
    for end in ends {
        positions.extend(0..end - from);
        from = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::occurrences::OccurrenceReader;
    use crate::schema::FieldKind;
    use std::collections::BTreeMap;

    fn buffer(detail: Detail, position_gap: u16) -> FieldBuffer {
        let field = Field::new("text", FieldKind::Text).detail(detail).position_gap(position_gap);
        FieldBuffer::new(&field)
    }

    /// By term, then by document: positions.
    type Expected = BTreeMap<Vec<u8>, BTreeMap<u32, Vec<u32>>>;

    fn check(run: &Run, detail: Detail, expected: Expected) {
        let slice = run.read(None, None).unwrap();
        let mut cursor = slice.cursor(None).unwrap();
        for (term, by_doc) in expected {
            assert_eq!(cursor.term, term);
            let mut docs = vec![];
            cursor.piece.append_docs(&mut docs).unwrap();
            assert!(docs.iter().eq(by_doc.keys()));
            let mut occurrences = OccurrenceReader::new(cursor.piece.occurrences, detail);
            for expected in by_doc.values().filter(|_| detail.has_frequencies()) {
                assert_eq!(occurrences.frequency(), Some(expected.len() as u32));
                let mut positions = vec![];
                occurrences.positions(&mut positions).unwrap();
                assert!(!detail.has_positions() || positions == *expected);
            }
            assert!(occurrences.is_at_end());
            cursor.advance().unwrap();
        }
        assert!(cursor.done);
    }

    #[test]
    fn a_log_turned_around_is_the_postings_of_each_term() {
        for detail in [Detail::Documents, Detail::Frequencies, Detail::Positions] {
            let mut field = buffer(detail, 0);
            for first_doc in [0, 1000] {
                let mut expected = Expected::new();
                for nth in 0..500u32 {
                    let words = [format!("w{}", nth % 7), format!("x{}", nth * nth % 91)];
                    let (mut bytes, mut tokens) = (vec![], vec![]);
                    for (at, word) in (0..).zip([&words[0], &words[1], "w0"]) {
                        tokens.push((bytes.len() as u32, word.len() as u32));
                        bytes.extend_from_slice(word.as_bytes());
                        let of_term = expected.entry(word.as_bytes().to_vec()).or_default();
                        of_term.entry(first_doc + nth).or_default().push(at);
                    }
                    bytes.extend_from_slice(&[0; 16]);
                    field.add_documents(&bytes, &tokens, &[3], None).unwrap();
                }
                let run = field.finish(first_doc);
                let mut lengths = vec![];
                run.append_lengths(&mut lengths).unwrap();
                assert_eq!(lengths, if detail.has_frequencies() { vec![3; 500] } else { vec![] });
                check(&run, detail, expected);
            }
        }
    }

    #[test]
    fn positions_that_are_given_are_kept_and_others_are_counted() {
        // In 32 bits a token, then in 64.
        check_given_positions(9, 0);
        check_given_positions(u32::MAX, 0);
        check_given_positions(9, 10);
    }

    fn check_given_positions(far: u32, gap: u16) {
        let mut field = buffer(Detail::Positions, gap);
        let mut bytes = b"onetwo".to_vec();
        bytes.extend_from_slice(&[0; 16]);
        let (one, two) = ((0, 3), (3, 3));
        field.add_documents(&bytes, &[two, one, one], &[1, 3], None).unwrap();
        field.add_tokens(&bytes, &[one, two], None, TokenRanges::default()).unwrap();
        field.add_tokens(&bytes, &[], None, TokenRanges::default()).unwrap();
        field
            .add_tokens(&bytes, &[one, two, one], Some(&[4, 4, 70_000]), TokenRanges::default())
            .unwrap();
        field.add_tokens(&bytes, &[two], None, TokenRanges::default()).unwrap();
        field.end_document();
        field.end_document();
        field.add_tokens(&bytes, &[two], Some(&[far]), TokenRanges::default()).unwrap();
        field.end_document();
        field.add_documents(&bytes, &[two, one, two], &[0, 2, 3], None).unwrap();
        field.add_documents(&bytes, &[one], &[1], Some(&[5])).unwrap();
        let run = field.finish(5);
        let mut lengths = vec![];
        run.append_lengths(&mut lengths).unwrap();
        assert_eq!(lengths, [1, 2, 6, 0, 1, 0, 2, 1, 1]);
        let of = |list: &[(u32, &[u32])]| list.iter().map(|(d, p)| (*d, p.to_vec())).collect();
        let gap = u32::from(gap);
        let one = [0, gap + 6, gap + 70_002];
        let one = of(&[(6, &[0, 1]), (7, &one), (11, &[1]), (13, &[5])]);
        let two = [1, gap + 6, 2 * gap + 70_003];
        let two = of(&[(5, &[0]), (7, &two), (9, &[far]), (11, &[0]), (12, &[0])]);
        let expected = BTreeMap::from([(b"one".to_vec(), one), (b"two".to_vec(), two)]);
        check(&run, Detail::Positions, expected);
    }
}
