//! Ranks of a segment's documents in the order of the schema, by their columns.

use crate::budget::{self, ns};
use crate::error::{Error, Result};
use crate::format::column::AtHand;
use crate::schema::OrderField;
use crate::segment::file::Section;
use crate::segment::ordinals::OrdinalMap;
use crate::segment::reader::SegmentReader;

/// Rank of a document by one field: the smaller comes first, and a document without a value last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OrderRank {
    pub(crate) is_missing: bool,
    pub(crate) code: u64,
}

/// The ranks of a segment's documents by one field, each read when it is asked for.
#[derive(Debug)]
pub(crate) struct OrderRanks<'s> {
    column: AtHand<'s, Section<'s>>,
    descending: bool,
}

impl<'s> OrderRanks<'s> {
    /// Opens the fields of the schema's order, the first of them first.
    pub(crate) fn open_all(segment: SegmentReader<'s>) -> Result<Vec<Self>> {
        let order = segment.schema().order_fields();
        order.iter().map(|key| Self::open(segment, *key)).collect()
    }

    pub(crate) fn open(segment: SegmentReader<'s>, key: OrderField) -> Result<Self> {
        // A schema has no order by a field without.
        let column = segment.field(key.field).column()?.ok_or_else(|| {
            Error::corrupt("reading the order of a segment").expected("a column").found("none")
        })?;
        Ok(OrderRanks { column: AtHand::of(column), descending: key.descending })
    }

    /// That of a document. Numbers of terms can be mapped to those of other dictionaries.
    pub(crate) fn rank(&mut self, doc: u32, ordinals: Option<&OrdinalMap>) -> Result<OrderRank> {
        budget::work(ns::VALUE_RANKED)?;
        let (block, place) = self.column.block_of(doc)?;
        let Some(code) = block.least(place) else {
            return Ok(OrderRank { is_missing: true, code: 0 });
        };
        let code = match ordinals {
            None => code,
            Some(ordinals) => ordinals.of_code(code)?.into(),
        };
        Ok(OrderRank { is_missing: false, code: if self.descending { !code } else { code } })
    }
}

/// The first document of a segment that comes before the one in front of it; `None` if all lie in the order of the schema.
pub(crate) fn first_out_of_order(segment: SegmentReader<'_>) -> Result<Option<u32>> {
    let mut keys = OrderRanks::open_all(segment)?;
    if keys.is_empty() {
        return Ok(None);
    }
    let (mut before, mut ranks) = (vec![], vec![]);
    for doc in 0..segment.n_docs() {
        ranks.clear();
        for key in &mut keys {
            ranks.push(key.rank(doc, None)?);
        }
        if ranks < before {
            return Ok(Some(doc));
        }
        std::mem::swap(&mut before, &mut ranks);
    }
    Ok(None)
}
