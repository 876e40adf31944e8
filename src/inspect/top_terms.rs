//! The terms whose lists take the most bytes.

use super::{ContainerCounts, Inspector, count_containers, encoding_of};
use crate::error::Result;
use crate::value::Value;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A term and what is kept of it outside of the dictionary, in all segments.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TermStorage {
    /// The field.
    pub field: String,
    /// The term.
    pub term: Value,
    /// Documents that have it, deleted ones included.
    pub documents: u64,
    /// Bytes of its lists, with frequencies, positions and bounds.
    pub bytes: u64,
    /// Containers of long lists, by kind.
    pub containers: ContainerCounts,
}

impl Inspector {
    /// The `n` terms of all fields whose lists take the most bytes.
    ///
    /// The largest is first; those of the same size are in the order of fields and terms. Walks every dictionary, and
    /// reads the headers of long lists.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) for damage.
    pub fn top_terms(&self, n: usize) -> Result<Vec<TermStorage>> {
        let mut top = BinaryHeap::new();
        for field in self.schema().field_ids() {
            self.for_each_entry(field, &[], |term, entries| {
                let mut bytes = 0;
                for (segment, info) in entries {
                    bytes += encoding_of(info.postings, &segment.field(field).postings(info)?).1;
                }
                let is_among = top.len() < n
                    || top.peek().is_some_and(|Reverse((least, _, _))| bytes > *least);
                if is_among && bytes > 0 {
                    // The earlier of two of one size is better, so it counts as larger.
                    top.push(Reverse((bytes, Reverse(field), Reverse(term.to_vec()))));
                    if top.len() > n {
                        top.pop();
                    }
                }
                Ok(true)
            })?;
        }
        let mut terms = vec![];
        for Reverse((bytes, Reverse(field), Reverse(term))) in top.into_sorted_vec() {
            let of_schema = self.schema().get(field);
            let (mut documents, mut containers) = (0, ContainerCounts::default());
            for segment in self.snapshot.readers() {
                let reader = segment.field(field);
                if let Some(info) = reader.terms()?.get(&term)? {
                    documents += u64::from(info.df);
                    let list = reader.postings(&info)?;
                    count_containers(&list, &mut containers, &mut ContainerCounts::default());
                }
            }
            let term = Value::of_term(of_schema.kind, &term);
            let field = of_schema.name.clone();
            terms.push(TermStorage { field, term, documents, bytes, containers });
        }
        Ok(terms)
    }
}
