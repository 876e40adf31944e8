//! The ranks of a segment's documents, each read when it is asked for.

use super::key::Direction;
use super::order::{OrderBy, Shuffle, SortField, SortOrder, code_of_score};
use super::place::Place;
use super::text::{TextKeys, Tie};
use crate::budget::{self, ns};
use crate::error::Result;
use crate::format::column::AtHand;
use crate::function::{BoundFunction, FunctionColumns};
use crate::ids::DocId;
use crate::ranking::scorer::SegmentScorer;
use crate::segment::file::Section;
use crate::segment::reader::SegmentReader;
use crate::value;
use std::sync::Arc;

/// Ranks by which the documents of a segment are compared.
#[derive(Debug)]
pub(super) struct SegmentRanks<'s> {
    pub(super) base: u64,
    keys: Vec<KeyReader<'s>>,
    has_texts: bool,
    scores: Scores<'s>,
}

/// Reader of the documents' ranks by one key.
#[derive(Debug)]
enum KeyReader<'s> {
    Field(SortField, AtHand<'s, Section<'s>>),
    Text(Box<TextKeys<'s>>),
    Score(Direction),
    /// By the key of the index, where that has a column.
    Random(Shuffle, Option<AtHand<'s, Section<'s>>>),
    Function(Arc<BoundFunction>, FunctionColumns<'s>, Direction),
}

/// The scores of documents, as far as they are asked for.
#[derive(Debug)]
struct Scores<'s> {
    scorer: Option<SegmentScorer<'s, 's>>,
    /// The last document that was scored, which several keys may ask for.
    last: Option<(u32, f32)>,
}

impl<'s> SegmentRanks<'s> {
    /// Opens what the keys read of a segment, whose first document has the number `base`. That each field has a column was
    /// looked up in the schema.
    pub(super) fn open(
        order: &SortOrder,
        segment: SegmentReader<'s>,
        base: u64,
        scorer: Option<SegmentScorer<'s, 's>>,
    ) -> Result<Self> {
        let mut keys = Vec::with_capacity(order.keys().len());
        for key in order.keys() {
            let direction = key.direction;
            keys.push(match &key.by {
                OrderBy::Field(field) => {
                    let Some(column) = segment.field(field.field).column()? else { continue };
                    KeyReader::Field(*field, AtHand::of(column))
                }
                OrderBy::Text(field, order) => {
                    let reader = segment.field(field.field);
                    let Some(column) = reader.column()? else { continue };
                    let (order, column) = (Arc::clone(order), AtHand::of(column));
                    let keys = TextKeys::new(*field, order, column, reader.terms()?)?;
                    KeyReader::Text(Box::new(keys))
                }
                OrderBy::Score => KeyReader::Score(direction),
                OrderBy::Function(function) => {
                    KeyReader::Function(Arc::clone(function), function.open(segment)?, direction)
                }
                OrderBy::Random(shuffle) => {
                    let column = shuffle.key.map(|key| segment.field(key).column()).transpose()?;
                    KeyReader::Random(*shuffle, column.flatten().map(AtHand::of))
                }
            });
        }
        let (has_texts, scores) = (order.has_texts(), Scores { scorer, last: None });
        Ok(SegmentRanks { base, keys, has_texts, scores })
    }

    pub(super) fn id(&self, doc: u32) -> DocId {
        DocId(self.base + u64::from(doc))
    }

    pub(super) fn first(&mut self, doc: u32) -> Result<u128> {
        let first = self.keys.first_mut();
        first.map_or(Ok(0), |key| key.rank(doc, self.base, &mut self.scores))
    }

    pub(super) fn rest(&mut self, doc: u32, place: &mut Place) -> Result<()> {
        place.rest.clear();
        for key in self.keys.iter_mut().skip(1) {
            place.rest.push(key.rank(doc, self.base, &mut self.scores)?);
        }
        place.score = self.scores.known(doc);
        if !self.has_texts {
            return Ok(());
        }
        place.ties.clear();
        for key in &mut self.keys {
            place.ties.push(match key {
                KeyReader::Text(keys) => Tie::new(keys.of(doc)?, keys.field.direction),
                _ => Tie::new(None, Direction::default()),
            });
        }
        Ok(())
    }
}

impl KeyReader<'_> {
    fn rank(&mut self, doc: u32, base: u64, scores: &mut Scores<'_>) -> Result<u128> {
        Ok(match self {
            KeyReader::Field(field, column) => {
                let (block, place) = column.block_of(doc)?;
                field.rank(field.code_of(block, place))
            }
            KeyReader::Text(keys) => match keys.of(doc)? {
                Some(key) => key.rank(keys.field.direction),
                None => keys.field.direction.rank(None),
            },
            KeyReader::Score(direction) => direction.rank(code_of_score(scores.of(doc)?)),
            KeyReader::Function(function, columns, direction) => {
                let score = if function.needs_score() { scores.of(doc)? } else { 0.0 };
                let value = function.value(columns, doc, score.into())?;
                direction.rank(value.and_then(value::code_of_f64))
            }
            KeyReader::Random(shuffle, column) => {
                let own = column.as_mut().map(|column| column.block_of(doc)).transpose()?;
                let own = own.and_then(|(block, place)| block.least(place));
                let number = own.unwrap_or(base + u64::from(doc));
                Direction::default().rank(Some(shuffle.code(number)))
            }
        })
    }
}

impl Scores<'_> {
    fn of(&mut self, doc: u32) -> Result<f32> {
        if let Some(score) = self.known(doc) {
            return Ok(score);
        }
        budget::work(ns::DOC_SCORED)?;
        let score = self.scorer.as_mut().map(|scorer| scorer.score(doc)).transpose()?;
        let score = score.flatten().unwrap_or_default();
        self.last = Some((doc, score));
        Ok(score)
    }

    /// Returns the score of a document that was scored just now.
    fn known(&self, doc: u32) -> Option<f32> {
        self.last.filter(|(last, _)| *last == doc).map(|(_, score)| score)
    }
}
