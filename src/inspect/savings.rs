//! Bytes that an index would save if it kept less: counted, not guessed.

use super::storage::section_len;
use super::{Inspector, deletes_len};
use crate::error::Result;
use crate::format::envelope::SectionKind;
use crate::format::occurrences::OccurrenceReader;
use crate::format::ranked::RankedList;
use crate::schema::Detail;

/// Something that could be left out, and what that would save.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Saving {
    /// Name of the part: `positions`, `column`, `offsets` or `deleted documents`.
    pub what: &'static str,
    /// The field it belongs to, if to one.
    pub field: Option<String>,
    /// Bytes that it takes now. For positions these are the ones that frequencies alone would not take; for deleted
    /// documents their share of the segments that they are in, as if all documents were alike.
    pub bytes: u64,
    /// Loss of function without the part, in words.
    pub loss: &'static str,
    /// Setting or command that leaves the part out.
    pub how: &'static str,
}

impl Inspector {
    /// Lists what could be left out of the index, the largest first. Walks every term and the occurrences of rare
    /// ones: about a second for ten million of these.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) for damage.
    pub fn savings(&self) -> Result<Vec<Saving>> {
        let mut savings = vec![];
        for field in self.schema().field_ids() {
            let of_schema = self.schema().get(field);
            let mut add = |what, bytes, loss, how| {
                let field = Some(of_schema.name.clone());
                savings.push(Saving { what, field, bytes, loss, how });
            };
            let of_sections = |kind: SectionKind| {
                let lens = self.snapshot.readers().map(|one| section_len(one, Some(field), kind));
                lens.sum::<u64>()
            };
            add(
                "positions",
                self.bytes_of_positions(field)?,
                "phrases would be answered as all of their words",
                "positions = false in the schema, and a new index",
            );
            add(
                "column",
                of_sections(SectionKind::COLUMN) + of_sections(SectionKind::CUMULATIVE),
                "no order by this field, no statistics of it, slower facets and ranges",
                "facet = false in the schema, and a new index",
            );
            add(
                "offsets",
                of_sections(SectionKind::OFFSETS),
                "highlights would analyze the text again",
                "offsets = false in the schema, and a new index",
            );
        }
        let mut of_deleted = 0;
        for segment in self.snapshot.readers() {
            let deleted = u128::from(segment.n_docs() - segment.n_live());
            let share = u128::from(segment.file().len()) * deleted;
            let share = share / u128::from(segment.n_docs().max(1));
            of_deleted += u64::try_from(share).unwrap_or(u64::MAX) + deletes_len(segment);
        }
        savings.push(Saving {
            what: "deleted documents",
            field: None,
            bytes: of_deleted,
            loss: "nothing",
            how: "treepie merge",
        });
        savings.retain(|saving| saving.bytes > 0);
        savings.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.field.cmp(&b.field)));
        Ok(savings)
    }

    /// Bytes that the occurrences of a field take beyond what its frequencies alone would.
    fn bytes_of_positions(&self, field: crate::ids::FieldId) -> Result<u64> {
        let mut bytes = 0;
        for segment in self.snapshot.readers() {
            let reader = segment.field(field);
            if !reader.detail().has_positions() {
                continue;
            }
            let mut terms = reader.terms()?.iter();
            while let Some((_, _, info)) = terms.next()? {
                match reader.ranked(&info)? {
                    RankedList::Long(list) => bytes += list.bytes().positions,
                    RankedList::Short(list) => {
                        let stream = list.stream();
                        let mut occurrences = OccurrenceReader::new(stream, Detail::Positions);
                        let frequencies = (0..info.df).map_while(|_| occurrences.frequency());
                        let kept: u64 = frequencies.map(varint_len_of_frequency).sum();
                        bytes += (stream.len() as u64).saturating_sub(kept);
                    }
                }
            }
        }
        Ok(bytes)
    }
}

/// Bytes of the varint that keeps a frequency and nothing else; see `format::occurrences`.
fn varint_len_of_frequency(frequency: u32) -> u64 {
    let bits = u32::BITS - (frequency.saturating_sub(1) | 1).leading_zeros();
    u64::from(bits.div_ceil(7))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::occurrences;

    #[test]
    fn a_frequency_takes_what_is_written_of_it() {
        for frequency in [1usize, 2, 127, 128, 129, 16_384, 16_385, 100_000] {
            let mut stream = vec![];
            occurrences::write(Detail::Frequencies, 0..frequency as u32, &mut stream);
            assert_eq!(varint_len_of_frequency(frequency as u32), stream.len() as u64);
        }
    }
}
