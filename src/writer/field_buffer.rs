//! The postings of one field for the documents of one run, in memory.
//!
//! While documents come in, only a log of term numbers grows, four bytes a token. At the end the log
//! is turned around: terms are sorted, counted, and every document number is scattered to its term.

use crate::error::{Error, ErrorKind, Result};
use crate::format::terms::MAX_TERM_LEN;
use crate::segment::doc_ranges::DocRanges;
use crate::writer::run::{Run, RunWriter};
use crate::writer::term_table::TermTable;

/// One field of the run that is being collected.
#[derive(Debug, Default)]
pub(crate) struct FieldBuffer {
    terms: TermTable,
    /// Term number of every token, in order.
    log: Vec<u32>,
    /// Tokens so far at the end of every document of the run; may lag behind, see `end_document`.
    document_ends: Vec<u32>,
    pub(crate) presence: DocRanges,
    pub(crate) empty: DocRanges,
    /// Tokens in all documents since the field's beginning.
    pub(crate) n_tokens: u64,
    // Buffers of `finish`, kept between runs.
    starts: Vec<u32>,
    scattered: Vec<u32>,
}

impl FieldBuffer {
    /// Adds the tokens of the next documents: `ends` has the number of tokens up to the end of each.
    pub(crate) fn add_documents(
        &mut self,
        bytes: &[u8],
        tokens: &[(u32, u32)],
        ends: &[u32],
    ) -> Result<()> {
        self.add_tokens(bytes, tokens)?;
        let before = (self.log.len() - tokens.len()) as u32;
        self.document_ends.extend(ends.iter().map(|end| before + end));
        Ok(())
    }

    /// Adds tokens to the document that [`end_document`](Self::end_document) will end.
    pub(crate) fn add_tokens(&mut self, bytes: &[u8], tokens: &[(u32, u32)]) -> Result<()> {
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

    /// Ends a document.
    pub(crate) fn end_document(&mut self) {
        self.document_ends.push(self.log.len() as u32);
    }

    /// Bytes of heap that this run will have needed at its end: what is held, and what turning the
    /// log around takes.
    pub(crate) fn heap_bytes(&self) -> usize {
        let scatter = self.log.len().max(self.scattered.capacity()) * size_of::<u32>();
        let per_term = self.terms.len() * (size_of::<(u64, u32)>() + 2 * size_of::<u32>());
        let run = self.log.len() * 2 + self.terms.len() * 12;
        (self.log.capacity() + self.document_ends.capacity()) * size_of::<u32>()
            + self.terms.heap_bytes()
            + scatter
            + per_term
            + run
    }

    /// Turns the log around and starts the next run; documents are numbered from `first_doc`.
    pub(crate) fn finish(&mut self, first_doc: u32) -> Run {
        let order = self.terms.sorted();
        self.count(&order);
        self.scatter(first_doc);
        let mut run = RunWriter::default();
        let mut term = vec![];
        let mut docs = vec![];
        let mut from = 0;
        for &at in &order {
            // After scattering, a term's start has moved to its end.
            let end = self.starts[self.terms.number(at) as usize] as usize;
            docs.clear();
            docs.extend_from_slice(&self.scattered[from..end]);
            docs.dedup();
            from = end;
            self.terms.copy_term(at, &mut term);
            run.add(&term, &docs);
        }
        self.terms.clear();
        self.log.clear();
        self.document_ends.clear();
        run.finish()
    }

    /// Sets `starts[number]` to where the documents of a term begin, terms in the given order.
    fn count(&mut self, order: &[crate::writer::term_table::TermRef]) {
        self.starts.clear();
        self.starts.resize(self.terms.len(), 0);
        for &number in &self.log {
            self.starts[number as usize] += 1;
        }
        let mut next = 0;
        for &at in order {
            let count = &mut self.starts[self.terms.number(at) as usize];
            next += std::mem::replace(count, next);
        }
    }

    fn scatter(&mut self, first_doc: u32) {
        self.scattered.resize(self.log.len(), 0);
        let mut from = 0;
        for (nth, &end) in self.document_ends.iter().enumerate() {
            let doc = first_doc + nth as u32;
            for &number in &self.log[from..end as usize] {
                let slot = &mut self.starts[number as usize];
                self.scattered[*slot as usize] = doc;
                *slot += 1;
            }
            from = end as usize;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::ByteReader;
    use crate::format::postings;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn a_log_turned_around_is_the_postings_of_each_term() {
        let mut field = FieldBuffer::default();
        for round in 0..2 {
            let first_doc = round * 1000;
            let mut expected: BTreeMap<Vec<u8>, BTreeSet<u32>> = BTreeMap::new();
            for nth in 0..500u32 {
                let words = [format!("w{}", nth % 7), format!("x{}", nth * nth % 91), "w0".into()];
                let (mut bytes, mut tokens) = (vec![], vec![]);
                for word in &words {
                    tokens.push((bytes.len() as u32, word.len() as u32));
                    bytes.extend_from_slice(word.as_bytes());
                    expected.entry(word.as_bytes().to_vec()).or_default().insert(first_doc + nth);
                }
                bytes.extend_from_slice(&[0; 16]);
                field.add_documents(&bytes, &tokens, &[3]).unwrap();
            }
            let run = field.finish(first_doc);
            let slice = run.read(None, None).unwrap();
            let mut cursor = slice.cursor(None).unwrap();
            for (term, docs) in expected {
                let mut found = vec![];
                postings::decode_gaps(
                    &mut ByteReader::new(cursor.payload),
                    cursor.df as usize,
                    &mut found,
                )
                .unwrap();
                assert_eq!((&cursor.term, found), (&term, docs.into_iter().collect::<Vec<_>>()));
                cursor.advance().unwrap();
            }
            assert!(cursor.done);
        }
    }
}
