//! Counts of a segment and of its fields, which planning and ranking know without looking.
//!
//! Written at the end of a build by [`SegmentStatistics::encode`], read when a segment is opened.
//!
//! # Layout
//!
//! The STATISTICS section; integers are little-endian, offsets count from its start.
//!
//! ```text
//! offset  size  field      meaning
//!      0     4  n_docs     u32, documents of the segment, deleted ones included
//!      4     4  n_fields   u32, fields of the schema
//!      8     *  fields     n_fields times 16 bytes
//! ```
//!
//! A field: u32 documents with a value, u32 documents with an empty value, u64 tokens in all documents.
//!
//! # Example
//!
//! Three documents with one field, present in two, empty in one, with seven tokens:
//!
//! ```text
//! 0000  03 00 00 00 01 00 00 00  02 00 00 00 01 00 00 00
//! 0010  07 00 00 00 00 00 00 00
//! ```
//!
//! # Checks
//!
//! Reading refuses another length than the counts give, and field counts above the segment's.
//!
//! # Cost
//!
//! Read whole when a segment is opened: 16 bytes a field.
//!
//! # Versions
//!
//! 1: as above.

use crate::bytes::{ByteReader, Source};
use crate::error::{Error, Result};

const HEADER_LEN: usize = 8;
const FIELD_LEN: usize = 16;

/// Counts of one segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SegmentStatistics {
    pub(crate) n_docs: u32,
    pub(crate) fields: Vec<FieldStatistics>,
}

/// Counts of one field of one segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldStatistics {
    pub(crate) n_docs_with_value: u32,
    pub(crate) n_docs_with_empty_value: u32,
    pub(crate) n_tokens: u64,
}

impl SegmentStatistics {
    /// The section's bytes.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEADER_LEN + self.fields.len() * FIELD_LEN);
        out.extend_from_slice(&self.n_docs.to_le_bytes());
        out.extend_from_slice(&(self.fields.len() as u32).to_le_bytes());
        for field in &self.fields {
            out.extend_from_slice(&field.n_docs_with_value.to_le_bytes());
            out.extend_from_slice(&field.n_docs_with_empty_value.to_le_bytes());
            out.extend_from_slice(&field.n_tokens.to_le_bytes());
        }
        out
    }

    /// Reads the section of a segment with `n_fields` fields.
    pub(crate) fn read<'s>(section: impl Source<'s>, n_fields: usize) -> Result<Self> {
        let expected_len = (HEADER_LEN + n_fields * FIELD_LEN) as u64;
        let bytes = section.bytes(0..section.len().min(expected_len))?;
        let statistics =
            (section.len() == expected_len).then(|| Self::decode(&bytes, n_fields)).flatten();
        statistics.ok_or_else(|| {
            let error = Error::corrupt("reading the statistics of a segment")
                .expected(format!("counts of {n_fields} fields in {expected_len} bytes"))
                .found(format!("other counts in {} bytes", section.len()));
            section.locate(0, error)
        })
    }

    /// Reads the number of documents alone, if nobody knows the fields.
    pub(crate) fn read_n_docs<'s>(section: impl Source<'s>) -> Result<u32> {
        let bytes = section.bytes(0..section.len().min(HEADER_LEN as u64))?;
        ByteReader::new(&bytes).u32().ok_or_else(|| {
            let error = Error::corrupt("reading the statistics of a segment")
                .expected(format!("at least {HEADER_LEN} bytes"))
                .found(section.len().to_string());
            section.locate(0, error)
        })
    }

    fn decode(bytes: &[u8], n_fields: usize) -> Option<Self> {
        let mut reader = ByteReader::new(bytes);
        let n_docs = reader.u32()?;
        if reader.u32()? as usize != n_fields {
            return None;
        }
        let mut field = || {
            let (n_docs_with_value, n_docs_with_empty_value) = (reader.u32()?, reader.u32()?);
            let sound = n_docs_with_value <= n_docs && n_docs_with_empty_value <= n_docs_with_value;
            let n_tokens = reader.u64()?;
            sound.then_some(FieldStatistics {
                n_docs_with_value,
                n_docs_with_empty_value,
                n_tokens,
            })
        };
        let fields = (0..n_fields).map(|_| field()).collect::<Option<_>>()?;
        Some(SegmentStatistics { n_docs, fields })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::doc_check;

    #[test]
    fn the_example_in_the_docs_is_what_we_write_and_read() {
        let field =
            FieldStatistics { n_docs_with_value: 2, n_docs_with_empty_value: 1, n_tokens: 7 };
        let statistics = SegmentStatistics { n_docs: 3, fields: vec![field] };
        let bytes = statistics.encode();
        assert_eq!(
            doc_check::hex_dump(include_str!("statistics.rs")),
            bytes,
            "{}",
            doc_check::render(&bytes)
        );
        assert_eq!(doc_check::layout(include_str!("statistics.rs"))["fields"], HEADER_LEN);
        assert_eq!(SegmentStatistics::read(&bytes[..], 1).unwrap(), statistics);
        assert!(SegmentStatistics::read(&bytes[..], 2).is_err());
        assert_eq!(SegmentStatistics::read_n_docs(&bytes[..]).unwrap(), 3);
        assert!(SegmentStatistics::read_n_docs(&bytes[..3]).is_err());
        for len in 0..bytes.len() {
            assert!(SegmentStatistics::read(&bytes[..len], 1).is_err(), "cut to {len}");
        }
        let mut too_many = bytes.clone();
        too_many[8] = 4;
        assert!(SegmentStatistics::read(&too_many[..], 1).is_err());
    }
}
