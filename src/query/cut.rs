//! Wildcards and prefixes that a tokenizer cuts: `*.pdf`, `x-r?y`, `report.*`.
//!
//! If the tokenizer of a field splits at a character of a pattern, no term matches the pattern as a whole. The pattern
//! is cut as the texts that it stands for are: with a letter, a digit or an ideograph in the place of each wildcard,
//! because tokenizers treat them differently. The parts become words and patterns of a phrase; a `*` that is a part by
//! itself stands for any word, and at an end of the pattern for none, too.
//!
//! If terms are pieces of a text that overlap, n-grams and pairs, no phrase of them has a place for any number of
//! characters: all that is between the `*` must be there, in any order, and a remark says so.

use std::ops::Range;

use super::Place;
use super::bind::{Binder, Clause, Normal, nothing, shortened};
use super::expand::in_paths;
use super::phrase_of::Placed;
use crate::analysis::Analyzer;
use crate::analysis::Ends;
use crate::error::Result;
use crate::expansion::{Expansion, TermPattern, WildcardPiece};
use crate::ids::FieldId;
use crate::query::Proximity;
use crate::schema::FieldKind;

/// Characters that stand for wildcards while a pattern is cut.
const STAND_INS: [char; 2] = ['x', '0'];
/// The one beside characters of scripts that write words without spaces, which begin behind the other.
const IDEOGRAPH: char = '\u{4E00}';
const IDEOGRAPHS_FROM: char = '\u{1100}';

/// A way to read a pattern in a field.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Reading {
    /// The pattern of one term.
    Whole,
    /// A phrase: positions, each with the pieces of the pattern that stand there.
    Parts(Vec<(u32, Range<usize>)>),
}

impl Binder<'_> {
    /// Documents with a term of this form, or, where the field's tokenizer cuts it, with a phrase of its parts.
    pub(super) fn wildcard(
        &mut self,
        id: FieldId,
        pieces: &[WildcardPiece],
        place: &Place,
    ) -> Result<Clause<Normal>> {
        let field = self.schema.get(id);
        if field.kind != FieldKind::Text {
            let pattern = match field.kind {
                FieldKind::Path { separator } => {
                    TermPattern::Wildcard(in_paths(pieces.to_vec(), separator))
                }
                _ if field.normalizer_spec().is_some() => self.normal_pattern(id, pieces)?,
                _ => TermPattern::Wildcard(pieces.to_vec()),
            };
            return Ok(self.expanded(id, pattern)?.into());
        }
        let (name, written) = (&field.name, shortened(&WildcardPiece::print(pieces)));
        let analyzer = self.analyzers.query_time(field)?;
        let readings = readings(&analyzer, pieces);
        if (readings.is_empty() || overlaps(&analyzer, pieces))
            && let Some(normal) = self.between_stars(id, &analyzer, pieces, place)?
        {
            return Ok(normal.into());
        }
        if readings.is_empty() {
            let reason = format!("the analyzer of '{name}' makes no term that '{written}' fits");
            self.note(format!("{reason}, so it matches nothing"));
            return Ok(nothing(reason).into());
        }
        let is_cut = readings.iter().any(|reading| *reading != Reading::Whole);
        let mut any = vec![];
        for reading in readings {
            match reading {
                Reading::Whole => {
                    let pattern = self.normal_pattern(id, pieces)?;
                    let beginning = match &pattern {
                        TermPattern::Wildcard(all) => {
                            all.iter().map_while(|it| it.literal()).collect()
                        }
                        TermPattern::Prefix(all) => String::from_utf8_lossy(all).into_owned(),
                        _ => String::new(),
                    };
                    self.note_beginning(id, &beginning, &format!("'{written}'"))?;
                    any.push(self.expanded(id, pattern)?);
                }
                Reading::Parts(parts) => {
                    let mut placed = Placed::default();
                    self.place_pieces(id, pieces, &parts, &mut placed)?;
                    self.check_patterns(&placed)?;
                    if placed.len() > 0 {
                        self.count_terms(placed.len(), place)?;
                        any.push(self.phrase(id, placed, Proximity::Exact, place)?);
                    }
                }
            }
        }
        if any.is_empty() {
            return Ok(Clause::Dropped(self.no_words(id, &WildcardPiece::print(pieces))));
        }
        let normal = self.or(any);
        if is_cut {
            let meant = shortened(&normal.display(self.schema).to_string());
            self.note(format!(
                "'{written}' is several words in '{name}', so it is looked up as {meant}"
            ));
        }
        Ok(normal.into())
    }

    /// Documents with all that stands between the `*` of a pattern, where terms are pieces of a text that overlap, and a `*` may
    /// stand for more than a piece has; `None` if a part can be no term.
    fn between_stars(
        &mut self,
        id: FieldId,
        analyzer: &Analyzer,
        pieces: &[WildcardPiece],
        place: &Place,
    ) -> Result<Option<Normal>> {
        let (mut all, any) = (vec![], WildcardPiece::Any);
        for part in pieces.split(|piece| *piece == any).filter(|part| !part.is_empty()) {
            let mut placed = Placed::default();
            match readings(analyzer, part).into_iter().next() {
                Some(Reading::Parts(parts)) => {
                    self.place_pieces(id, part, &parts, &mut placed)?;
                }
                Some(Reading::Whole) => {
                    self.place_pieces(id, part, &[(0, 0..part.len())], &mut placed)?;
                }
                // Shorter than every piece, and so inside of one.
                None if analyzer.is_of_ngrams() => {
                    let inside = [&[any], part, &[any]].concat();
                    placed.push_open(self.normal_pattern(id, &inside)?)?;
                }
                None => return Ok(None),
            }
            self.check_patterns(&placed)?;
            if placed.len() == 0 {
                return Ok(None);
            }
            self.count_terms(placed.len(), place)?;
            all.push(self.phrase(id, placed, Proximity::Exact, place)?);
        }
        let n_parts = all.len();
        if n_parts == 0 {
            return Ok(None);
        }
        let normal = self.and(all, vec![]);
        if n_parts > 1 {
            let (name, written) = (&self.schema.get(id).name, WildcardPiece::print(pieces));
            self.note(format!(
                "terms of '{name}' are pieces of texts, so of '{}' all parts must match, in any order, as {}",
                shortened(&written),
                shortened(&normal.display(self.schema).to_string())
            ));
        }
        Ok(Some(normal))
    }

    /// Whether the beginning of a word ends with a character that is part of no word, so that any word may follow.
    pub(super) fn is_cut_off(&self, id: FieldId, beginning: &str) -> Result<bool> {
        let field = self.schema.get(id);
        if field.kind != FieldKind::Text || beginning.ends_with(|c: char| c.is_ascii_alphanumeric())
        {
            return Ok(false);
        }
        let cuts = self.analyzers.query_time(field)?.cuts(beginning);
        Ok(!beginning.is_empty() && cuts.iter().all(|(_, cut)| cut.end < beginning.len()))
    }

    /// Places a pattern as parts of a phrase behind what there is.
    pub(super) fn place_wildcard(
        &mut self,
        id: FieldId,
        pieces: &[WildcardPiece],
        placed: &mut Placed,
    ) -> Result<()> {
        let analyzer = self.analyzers.query_time(self.schema.get(id))?;
        let readings = readings(&analyzer, pieces);
        match readings.into_iter().next() {
            Some(Reading::Parts(parts)) => self.place_pieces(id, pieces, &parts, placed),
            _ => placed.push_open(self.normal_pattern(id, pieces)?),
        }
    }

    fn place_pieces(
        &mut self,
        id: FieldId,
        pieces: &[WildcardPiece],
        parts: &[(u32, Range<usize>)],
        placed: &mut Placed,
    ) -> Result<()> {
        let start = placed.end();
        let first = parts.first().map_or(0, |part| part.0);
        for (position, range) in parts {
            let at = start.saturating_add(position - first);
            let part = pieces.get(range.clone()).unwrap_or_default();
            let word: Option<String> = part.iter().map(|piece| piece.literal()).collect();
            if let Some(word) = word {
                let terms = self.analyzers.query_terms(self.schema.get(id), &word)?;
                let terms = terms.into_iter();
                placed.terms.extend(
                    terms.map(|it| (at.saturating_add(it.position), it.term.into_bytes().into())),
                );
            } else if part.iter().any(|piece| *piece != WildcardPiece::Any) {
                let pattern = self.normal_pattern(id, part)?;
                placed.open.push((at, Expansion::new(pattern)?));
            }
            placed.end_at(at.saturating_add(1));
        }
        Ok(())
    }

    /// A pattern with its letters as the terms of a field have them.
    pub(super) fn normal_pattern(
        &self,
        id: FieldId,
        pieces: &[WildcardPiece],
    ) -> Result<TermPattern> {
        let normal = self.normal_pieces(id, pieces, true)?;
        // If only an article is written, any word would be found.
        let normal = match normal.iter().all(|piece| *piece == WildcardPiece::Any) {
            true => self.normal_pieces(id, pieces, false)?,
            false => normal,
        };
        let beginning = match normal.split_last() {
            Some((WildcardPiece::Any, beginning)) if !beginning.is_empty() => {
                beginning.iter().map(|piece| piece.literal()).collect::<Option<String>>()
            }
            _ => None,
        };
        Ok(match beginning {
            Some(beginning) => TermPattern::Prefix(beginning.into_bytes()),
            None => TermPattern::Wildcard(normal),
        })
    }

    /// Pieces with their letters as the terms of a field have them; without what is taken off the ends of words.
    fn normal_pieces(
        &self,
        id: FieldId,
        pieces: &[WildcardPiece],
        trims: bool,
    ) -> Result<Vec<WildcardPiece>> {
        let (mut normal, mut at) = (vec![], 0);
        for run in pieces.chunk_by(|a, b| a.literal().is_some() && b.literal().is_some()) {
            let ends =
                Ends { first: trims && at == 0, last: trims && at + run.len() == pieces.len() };
            at += run.len();
            let text: Option<String> = run.iter().map(|piece| piece.literal()).collect();
            match text {
                Some(text) => {
                    let text = self.normal_part(id, &text, ends)?;
                    normal.extend(text.chars().map(WildcardPiece::Char));
                }
                None => normal.extend_from_slice(run),
            }
        }
        Ok(normal)
    }
}

/// Whether the texts that a pattern stands for may become pieces that overlap, more than one has room for.
fn overlaps(analyzer: &Analyzer, pieces: &[WildcardPiece]) -> bool {
    pieces.contains(&WildcardPiece::Any)
        && (analyzer.is_of_ngrams()
            || pieces.iter().any(is_ideograph) && read_with(IDEOGRAPH, analyzer, pieces).is_none())
}

fn is_ideograph(piece: &WildcardPiece) -> bool {
    piece.literal().is_some_and(|c| c >= IDEOGRAPHS_FROM && c.is_alphanumeric())
}

/// The ways to read a pattern, the one as a whole first.
fn readings(analyzer: &Analyzer, pieces: &[WildcardPiece]) -> Vec<Reading> {
    let is_plain = |piece: &WildcardPiece| {
        piece.literal().is_none_or(|c| analyzer.is_default() && c.is_ascii_alphanumeric())
    };
    // The number of characters counts for n-grams.
    if !analyzer.is_of_ngrams() && pieces.iter().all(is_plain) {
        return vec![Reading::Whole];
    }
    let mut readings: Vec<Reading> = vec![];
    let ideograph = pieces.iter().any(is_ideograph).then_some(IDEOGRAPH);
    for stand_in in STAND_INS.into_iter().chain(ideograph) {
        let reading = read_with(stand_in, analyzer, pieces);
        if let Some(reading) = reading.filter(|reading| !readings.contains(reading)) {
            readings.push(reading);
        }
    }
    readings.sort_by_key(|reading| *reading != Reading::Whole);
    readings
}

/// Cuts a pattern with this character in the place of each wildcard; `None` if no term and no phrase of terms stands
/// for it.
fn read_with(stand_in: char, analyzer: &Analyzer, pieces: &[WildcardPiece]) -> Option<Reading> {
    let (mut text, mut starts) = (String::new(), Vec::with_capacity(pieces.len()));
    for piece in pieces {
        starts.push(text.len());
        text.push(piece.literal().unwrap_or(stand_in));
    }
    let nth = |at: usize| starts.partition_point(|start| *start < at);
    let cuts = analyzer.cuts(&text).into_iter();
    let parts: Vec<_> = cuts.map(|(at, cut)| (at, nth(cut.start)..nth(cut.end))).collect();
    if parts.iter().any(|(_, part)| part.len() == pieces.len()) {
        return Some(Reading::Whole);
    }
    let pairs = || parts.windows(2).map(|pair| (&pair[0], &pair[1]));
    let is_cut = pairs().all(|(a, b)| a.0 < b.0 && a.1.end <= b.1.start);
    // Pieces that overlap stand for one another only where all have their length, as bigrams have.
    let is_covered = || {
        pairs().all(|(a, b)| a.0 < b.0 && a.1.start < b.1.start && a.1.len() == b.1.len())
            && !pieces.contains(&WildcardPiece::Any)
    };
    (!parts.is_empty() && (is_cut || is_covered())).then_some(Reading::Parts(parts))
}
