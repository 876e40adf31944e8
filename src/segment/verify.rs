//! Everything that can be wrong with a segment: checksums first, then what the bytes say.

use crate::bytes::Source;
use crate::error::{Error, Result};
use crate::format::column::{BLOCK_DOCS, Column};
use crate::format::cumulative::Cumulative;
use crate::format::lengths::{self, Bm25};
use crate::format::offsets::Offsets;
use crate::format::pages::{self, Placed};
use crate::format::postings::{LongList, PostingList};
use crate::format::ranked::{Place, RankedList, RankedWriter, Ranking};
use crate::format::terms::TermDictionary;
use crate::format::vectors::Vectors;
use crate::graph::code::encode;
use crate::ids::FieldId;
use crate::schema::{FieldKind, VectorParams};
use crate::segment::file::Section;
use crate::segment::order::first_out_of_order;
use crate::segment::reader::{FieldReader, SegmentReader};
use crate::value;

/// Damage of one segment that is reported one by one; more is counted.
const REPORTED_MAX: u64 = 100;

/// Checks the whole of a segment and calls `report` with what is wrong; how much that is.
///
/// Reads every byte. Structures are looked at only where all checksums are right: what damaged bytes
/// say is of no interest.
pub(crate) fn verify(segment: SegmentReader<'_>, mut report: impl FnMut(Error)) -> u64 {
    let mut n_damaged = 0;
    if let Some(deleted) = segment.deleted() {
        n_damaged += deleted.verify(segment.n_docs(), &mut report);
    }
    let of_deletes = n_damaged;
    let reported = segment.file().verify(|error| {
        n_damaged += 1;
        if n_damaged <= REPORTED_MAX {
            report(error);
        }
    });
    if reported > 0 {
        return of_deletes + reported;
    }
    let mut check = |result: Result<()>| {
        if let Err(error) = result {
            n_damaged += 1;
            report(error.in_file(segment.file().path()));
        }
    };
    check(counts(segment));
    check(segment.verify_stored());
    check(order(segment));
    // Fields added since are in no file.
    for field in segment.schema().field_ids().take(segment.n_own_fields()) {
        check(terms(segment, field));
        check(values(segment, field));
        check(vectors(segment, field));
        check(points(segment, field));
    }
    n_damaged
}

fn counts(segment: SegmentReader<'_>) -> Result<()> {
    let n_docs = segment.statistics()?.n_docs;
    expect("the documents of a segment", segment.n_docs().into(), n_docs.into())
}

/// Whether documents lie in the order that the schema says.
fn order(segment: SegmentReader<'_>) -> Result<()> {
    match first_out_of_order(segment)? {
        None => Ok(()),
        Some(doc) => Err(Error::corrupt("checking the order of the documents of a segment")
            .expected(format!(
                "that of {}",
                segment.schema().order().collect::<Vec<_>>().join(", ")
            ))
            .found(format!("document {doc} behind one that it comes before"))),
    }
}

/// The dictionary, and every list it knows of.
fn terms(segment: SegmentReader<'_>, field: FieldId) -> Result<()> {
    let reader = segment.field(field);
    let dictionary = reader.terms()?;
    dictionary.verify()?;
    expect(
        "the documents that a dictionary is for",
        segment.n_docs().into(),
        dictionary.n_docs().into(),
    )?;
    expect("the bytes of all postings", dictionary.postings_len(), reader.postings_len()?)?;
    let mut stream = dictionary.iter();
    let mut docs = vec![];
    let offsets = reader.offsets()?;
    let mut positions = offsets.map(|_| PositionCheck::new(segment.n_docs()));
    let mut occurrences = OccurrenceCheck::new(reader, segment.n_docs())?;
    let kind = segment.schema().get(field).kind;
    let mut column = reader.column()?.map(ColumnCheck::new).transpose()?;
    let cumulative = reader.cumulative(dictionary.n_blocks())?;
    let mut cumulative = cumulative.map(|cumulative| (cumulative, SumCheck::default()));
    while let Some((term, ordinal, info)) = stream.next()? {
        if kind.is_typed() && value::value_of_term(kind, term).is_none() {
            return Err(Error::corrupt(format!("checking the terms of a {} field", kind.name()))
                .expected("the bytes of a value that it can have")
                .found(format!("the bytes {term:02x?}")));
        }
        if let FieldKind::Path { separator } = kind
            && !str::from_utf8(term).is_ok_and(|text| value::check_path(text, separator).is_ok())
        {
            return Err(Error::corrupt("checking the terms of a path field")
                .expected("names and separators")
                .found(format!("the bytes {term:02x?}")));
        }
        if let Some((cumulative, sums)) = &mut cumulative {
            sums.add(&dictionary, cumulative, ordinal.0, info.df)?;
        }
        docs.clear();
        let list = reader.postings(&info)?;
        list.decode_into(segment.n_docs(), &mut docs)?;
        if let PostingList::Long(list) = &list {
            verify_containers(list)?;
        }
        expect("the documents of a term", info.df.into(), docs.len() as u64)?;
        let code = match kind.has_codes() {
            true => value::code_of_term(term),
            false => Some(ordinal.0.into()),
        };
        if let (Some(column), Some(code)) = (&mut column, code) {
            column.add(code, &docs)?;
        }
        if let Some(occurrences) = &mut occurrences {
            let list = reader.ranked(&info)?;
            occurrences.add(&list, &docs)?;
            if let Some(positions) = &mut positions {
                positions.add(&list, &docs)?;
            }
        }
    }
    if let Some((cumulative, sums)) = cumulative {
        sums.finish(&cumulative, reader.statistics()?.n_docs_with_value)?;
    }
    if let Some(column) = column {
        column.finish(reader.statistics()?.n_docs_with_value)?;
    }
    if let (Some(positions), Some(offsets)) = (positions, offsets) {
        positions.compare(&offsets)?;
    }
    occurrences.map_or(Ok(()), |occurrences| occurrences.finish(reader))
}

/// Looks whether the terms of a field have the same documents as its column.
struct ColumnCheck<S> {
    column: Column<S>,
    /// Postings so far.
    n_values: u64,
}

impl<'s, S: Source<'s>> ColumnCheck<S> {
    /// Checks the column by itself.
    fn new(column: Column<S>) -> Result<Self> {
        column.verify()?;
        Ok(ColumnCheck { column, n_values: 0 })
    }

    /// Adds the documents of a term, which ascend, with the code that they have.
    fn add(&mut self, code: u64, docs: &[u32]) -> Result<()> {
        self.n_values += docs.len() as u64;
        for of_block in docs.chunk_by(|a, b| a / BLOCK_DOCS == b / BLOCK_DOCS) {
            let nth = of_block[0] / BLOCK_DOCS;
            let block = self.column.block(nth, self.column.head(nth)?)?;
            let without = |doc: &&u32| !block.contains(*doc % BLOCK_DOCS, code);
            if let Some(doc) = of_block.iter().find(without) {
                return Err(Error::corrupt(format!("checking the column of document {doc}"))
                    .expected("the values of all terms that it has")
                    .found("others"));
            }
        }
        Ok(())
    }

    /// Checks that the column has the values of all terms, and as many, so that it has no others.
    fn finish(self, n_with: u32) -> Result<()> {
        expect("the values of a column", self.n_values, self.column.n_values())?;
        expect("the documents in a column", n_with.into(), self.column.n_with().into())
    }
}

/// Adds document frequencies up, beside those that a field keeps.
#[derive(Default)]
struct SumCheck {
    n_postings: u64,
    /// The next block of the dictionary.
    block: u32,
}

impl SumCheck {
    fn add<'s, S: Source<'s>>(
        &mut self,
        dictionary: &TermDictionary<S>,
        cumulative: &Cumulative<S>,
        ordinal: u32,
        df: u32,
    ) -> Result<()> {
        if self.block < dictionary.n_blocks() && dictionary.first_of_block(self.block)? == ordinal {
            let before = cumulative.before(self.block)?;
            expect("the documents of all terms before a block", self.n_postings, before.into())?;
            self.block += 1;
        }
        self.n_postings += u64::from(df);
        Ok(())
    }

    fn finish<'s, S: Source<'s>>(self, cumulative: &Cumulative<S>, n_with: u32) -> Result<()> {
        let of_all = cumulative.before(self.block)?;
        expect("the documents of all terms", self.n_postings, of_all.into())?;
        expect("the documents with one value", n_with.into(), of_all.into())
    }
}

/// Adds up the positions of each document, scattered over 64 bits, for those that offsets are kept for must come
/// to the same. Takes 8 bytes a document.
struct PositionCheck {
    sums: Vec<u64>,
    positions: Vec<u32>,
}

impl PositionCheck {
    fn new(n_docs: u32) -> Self {
        PositionCheck { sums: vec![0; n_docs as usize], positions: vec![] }
    }

    fn add(&mut self, list: &RankedList<'_, Section<'_>>, docs: &[u32]) -> Result<()> {
        let mut reader = match list {
            RankedList::Long(list) => list.reader(),
            RankedList::Short(_) => None,
        };
        for (rank, &doc) in docs.iter().enumerate() {
            match (list, &mut reader) {
                (RankedList::Short(list), _) => {
                    let found = list.positions(rank, &mut self.positions);
                    found.ok_or_else(|| Error::corrupt("reading the positions of a term"))?;
                }
                (RankedList::Long(_), Some(reader)) => {
                    let mut place = Place::default();
                    reader.place(rank as u32, &mut place)?;
                    reader.positions(&place, u32::MAX, &mut self.positions)?;
                }
                (RankedList::Long(_), None) => self.positions.clear(),
            }
            let sum = &mut self.sums[doc as usize];
            let of_term = self.positions.iter().map(|position| scattered(*position));
            *sum = of_term.fold(*sum, u64::wrapping_add);
        }
        Ok(())
    }

    fn compare<'s, S: Source<'s>>(&self, offsets: &Offsets<S>) -> Result<()> {
        offsets.verify(|doc, words| {
            let Some(words) = words else { return Ok(()) };
            let of_words = words.iter().map(|word| scattered(word.position));
            if of_words.fold(0, u64::wrapping_add) == self.sums[doc as usize] {
                return Ok(());
            }
            Err(Error::corrupt(format!("checking the offsets of document {doc}"))
                .expected("words at the positions that its terms have")
                .found(format!("other positions of {} words", words.len())))
        })
    }
}

/// A number for a position whose sums tell sets of positions apart.
fn scattered(position: u32) -> u64 {
    let product = (u64::from(position) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (product ^ product >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

/// Counts the words of each document, which its length must agree with. Takes 5 bytes a document.
struct OccurrenceCheck {
    ranking: Ranking,
    writer: RankedWriter,
    /// Words of each document.
    words: Vec<u32>,
    positions: Vec<u32>,
}

impl OccurrenceCheck {
    fn new(field: FieldReader<'_>, n_docs: u32) -> Result<Option<Self>> {
        let Some(lengths) = field.lengths()? else { return Ok(None) };
        let codes = lengths.codes(0..n_docs)?.to_vec();
        let mut ranking = Ranking::new(field.detail(), lengths.bm25(), codes);
        ranking.set_features(field.features()?);
        Ok(Some(OccurrenceCheck {
            ranking,
            writer: RankedWriter::default(),
            words: vec![0; n_docs as usize],
            positions: vec![],
        }))
    }

    fn add(&mut self, list: &RankedList<'_, Section<'_>>, docs: &[u32]) -> Result<()> {
        let mut count = |doc: u32, frequency: u32| {
            let words = &mut self.words[doc as usize];
            *words = words.saturating_add(frequency);
        };
        match list {
            RankedList::Short(list) => {
                for (nth, (&doc, &frequency)) in docs.iter().zip(list.frequencies()).enumerate() {
                    count(doc, frequency);
                    if self.ranking.detail.has_positions() {
                        list.positions(nth, &mut self.positions).ok_or_else(|| {
                            Error::corrupt("reading the positions of a term")
                                .expected("positions below 4294967296")
                                .found("greater ones")
                        })?;
                    }
                }
            }
            RankedList::Long(list) => {
                let mut docs_left = docs.iter();
                list.frequencies().for_each(|frequency| {
                    if let Some(&doc) = docs_left.next() {
                        count(doc, frequency);
                    }
                })?;
                list.verify(docs, &self.ranking, &mut self.writer)?;
            }
        }
        Ok(())
    }

    fn finish(self, field: FieldReader<'_>) -> Result<()> {
        let n_tokens = self.words.iter().map(|words| u64::from(*words)).sum();
        let statistics = field.statistics()?;
        expect("the words of a field", statistics.n_tokens, n_tokens)?;
        let bm25 = Bm25::of_segment(n_tokens, statistics.n_docs_with_value.into());
        if bm25 != self.ranking.bm25 {
            return Err(Error::corrupt("checking the parameters of impacts")
                .expected(format!("{bm25:?}"))
                .found(format!("{:?}", self.ranking.bm25)));
        }
        for (doc, (words, code)) in self.words.iter().zip(&self.ranking.lengths).enumerate() {
            if lengths::code_of(*words) != *code {
                let what = format!("the words of document {doc}, as a code");
                expect(&what, lengths::code_of(*words).into(), (*code).into())?;
            }
        }
        Ok(())
    }
}

/// The sets of documents with a value, and with an empty one.
fn values(segment: SegmentReader<'_>, field: FieldId) -> Result<()> {
    let reader = segment.field(field);
    let statistics = reader.statistics()?;
    let sets = [
        (reader.presence()?, statistics.n_docs_with_value, "the documents with a value"),
        (reader.empty()?, statistics.n_docs_with_empty_value, "the documents with an empty value"),
    ];
    for (list, expected, what) in sets {
        let mut docs = vec![];
        list.decode_into(segment.n_docs(), &mut docs)?;
        verify_containers(&list)?;
        expect(what, expected.into(), docs.len() as u64)?;
    }
    Ok(())
}

/// Whether vectors are of the documents that have a value, and none that the field would refuse.
fn vectors(segment: SegmentReader<'_>, field: FieldId) -> Result<()> {
    let (reader, of_schema) = (segment.field(field), segment.schema().get(field));
    let (Some(vectors), Some(params)) = (reader.vectors()?, of_schema.kind.vector()) else {
        return Ok(());
    };
    let mut present = vec![];
    reader.presence()?.decode_into(segment.n_docs(), &mut present)?;
    let checked = check_rows(&vectors, params, of_schema.many, &present);
    checked.and_then(|()| check_graph(reader, &vectors, params)).map_err(|error| {
        error.during(format!("checking the vectors of the field '{}'", of_schema.name))
    })
}

/// Whether points are written as they should be, and are of the documents that have a value.
fn points(segment: SegmentReader<'_>, field: FieldId) -> Result<()> {
    let (reader, of_schema) = (segment.field(field), segment.schema().get(field));
    let Some(points) = reader.points()? else { return Ok(()) };
    let mut present = vec![];
    reader.presence()?.decode_into(segment.n_docs(), &mut present)?;
    let check = || {
        points.verify()?;
        if points.most() > 1 && !of_schema.many {
            let error = Error::corrupt("counting the points of documents");
            return Err(error.expected("one a document").found(points.most().to_string()));
        }
        let (mut left, mut sum) = (present.iter().copied(), 0u64);
        points.for_each(
            |_| true,
            |doc, points| {
                let placed = points.iter().map(|point| Placed { doc, point: *point });
                sum = placed.map(Placed::scattered).fold(sum, u64::wrapping_add);
                if points.is_empty() || left.next() == Some(doc) {
                    return Ok(());
                }
                Err(Error::corrupt("comparing points with the documents that have a value")
                    .expected("points of those documents alone")
                    .found(format!("some of document {doc}")))
            },
        )?;
        let found = present.len() - left.len();
        expect("the documents with points", present.len() as u64, found as u64)?;
        let Some(of_field) = reader.pages(points.n_points())? else { return Ok(()) };
        let of_pages = pages::verify(&of_field.pages, &of_field.boxes)?;
        expect("the points of all pages, as a sum", sum, of_pages)
    };
    check().map_err(|error| {
        let error = error.in_file(segment.file().path());
        error.during(format!("checking the points of the field '{}'", of_schema.name))
    })
}

/// Whether the graph over the vectors, if there is one, is whole and of their codes.
fn check_graph<'s>(
    reader: FieldReader<'s>,
    vectors: &Vectors<Section<'s>>,
    params: VectorParams,
) -> Result<()> {
    let Some(graph) = reader.graph(vectors.n_vectors())? else { return Ok(()) };
    reader.curve()?;
    graph.verify(vectors.n_vectors(), |row| {
        let (row, mut steps) = (vectors.rows(row..row + 1)?, vec![]);
        let numbers = value::numbers_of_row(params, &row);
        let measures = encode(params.metric, numbers.into_iter(), &mut steps);
        Ok((steps, [measures.scale, measures.square].map(f32::to_bits)))
    })
}

fn check_rows<'s, S: Source<'s>>(
    vectors: &Vectors<S>,
    params: VectorParams,
    many: bool,
    present: &[u32],
) -> Result<()> {
    let mut left = present.iter().copied();
    let (mut last, mut ordinal) = (None, 0);
    vectors.for_each(|doc, row| {
        let is_next = last != Some(doc);
        if !is_next && !many {
            let found = format!("a second row of document {doc}");
            return Err(vectors.damage(ordinal, found).expected("one row a document"));
        }
        if is_next && left.next() != Some(doc) {
            let found = format!("a row of document {doc}");
            return Err(vectors
                .damage(ordinal, found)
                .expected("rows of the documents with a value"));
        }
        if let Some(found) = value::beside_numbers(params, row) {
            let found = format!("{found}, of document {doc}");
            return Err(vectors.damage(ordinal, found).expected("no more bits than numbers"));
        }
        let numbers = value::numbers_of_row(params, row);
        value::check_vector(params, &numbers).map_err(|wrong| {
            vectors
                .damage(ordinal, format!("{} of document {doc}", wrong.found))
                .expected(wrong.expected)
        })?;
        (last, ordinal) = (Some(doc), ordinal + 1);
        Ok(())
    })?;
    expect("the documents with a vector", present.len() as u64, (present.len() - left.len()) as u64)
}

fn verify_containers(list: &LongList<'_, Section<'_>>) -> Result<()> {
    for nth in 0..list.n_containers() {
        let payload = list.payload(nth)?;
        let found = list.container(nth, &payload)?.cardinality();
        expect("the values of a container", list.container_cardinality(nth).into(), found.into())?;
    }
    Ok(())
}

fn expect(what: &str, expected: u64, found: u64) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(Error::corrupt(format!("counting {what}"))
        .expected(expected.to_string())
        .found(found.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::column::{ColumnWriter, FrameFinder};
    use crate::format::cumulative;
    use crate::format::offsets::{OffsetsWriter, Word, write_part};
    use crate::format::terms::{NewTerm, TermDictionaryWriter};
    use crate::format::vectors::VectorsWriter;
    use crate::schema::{Detail, Metric};

    #[test]
    fn a_column_of_other_values_than_the_terms_have_is_damage() {
        let mut finder = FrameFinder::default();
        [3, 5].iter().for_each(|code| finder.add(*code));
        let (mut writer, mut section) = (ColumnWriter::new(finder.frame(false)), vec![]);
        for codes in [&[3, 5][..], &[], &[3]] {
            writer.add(codes.iter().copied(), &mut section);
        }
        writer.finish(&mut section);
        let check = |terms: &[(u64, &[u32])], n_with| {
            let mut column = ColumnCheck::new(Column::open(&section[..])?)?;
            for (code, docs) in terms {
                column.add(*code, docs)?;
            }
            column.finish(n_with)
        };
        check(&[(3, &[0, 2]), (5, &[0])], 2).unwrap();
        type Wrong<'w> = (&'w [(u64, &'w [u32])], u32, &'w str);
        let wrong: [Wrong<'_>; 5] = [
            (&[(3, &[0, 2]), (5, &[2])], 2, "the column of document 2"),
            (&[(3, &[0, 1, 2])], 2, "the column of document 1"),
            (&[(4, &[0, 2]), (5, &[0])], 2, "the column of document 0"),
            (&[(3, &[0, 2])], 2, "the values of a column"),
            (&[(3, &[0, 2]), (5, &[0])], 3, "the documents in a column"),
        ];
        for (terms, n_with, words) in wrong {
            let error = check(terms, n_with).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn sums_of_other_frequencies_than_the_terms_have_are_damage() {
        let mut writer = TermDictionaryWriter::new(100, Detail::Documents);
        for nth in 0..40u8 {
            writer.add(&[nth], NewTerm::Inline { docs: &[nth.into()], occurrences: &[] }).unwrap();
        }
        let written = writer.finish();
        let dictionary =
            TermDictionary::open(&written.blocks[..], &written.index[..], &written.heads[..]);
        let dictionary = dictionary.unwrap();
        let check = |before_blocks: [u32; 2], of_all, n_with| {
            let sums = cumulative::encode(&before_blocks, of_all);
            let sums = Cumulative::open(&sums[..], 2)?;
            let mut check = SumCheck::default();
            (0..40).try_for_each(|ordinal| check.add(&dictionary, &sums, ordinal, 1))?;
            check.finish(&sums, n_with)
        };
        check([0, 32], 40, 40).unwrap();
        let wrong = [
            (check([1, 32], 40, 40), "before a block"),
            (check([0, 31], 40, 40), "before a block"),
            (check([0, 32], 41, 40), "the documents of all terms"),
            (check([0, 32], 40, 39), "the documents with one value"),
        ];
        for (checked, words) in wrong {
            let error = checked.unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn vectors_of_other_documents_or_that_no_field_takes_are_damage() {
        let check = |rows: &[(u32, [f32; 2])], many, present: &[u32]| {
            let mut section = vec![];
            let params = VectorParams::new(2, Metric::Cosine);
            let mut writer = VectorsWriter::start(9, rows.len() as u32, params, &mut section);
            for (doc, row) in rows {
                writer.add(*doc, &row.map(f32::to_le_bytes).concat(), &mut section);
            }
            let docs: Vec<u8> = writer.finish().flat_map(u32::to_le_bytes).collect();
            let vectors = Vectors::open(&section[..], &docs[..], params).unwrap();
            check_rows(&vectors, params, many, present)
        };
        check(&[(1, [1.0, 2.0]), (8, [0.0, 1.0])], false, &[1, 8]).unwrap();
        check(&[(1, [1.0, 2.0]), (1, [1.0, 2.0]), (8, [0.0, 1.0])], true, &[1, 8]).unwrap();
        type Wrong<'w> = (&'w [(u32, [f32; 2])], &'w [u32], &'w str);
        let wrong: [Wrong<'_>; 5] = [
            (&[(1, [1.0, 2.0]), (1, [1.0, 2.0])], &[1], "a second row of document 1"),
            (&[(1, [1.0, 2.0])], &[2], "a row of document 1"),
            (&[(1, [1.0, 2.0])], &[1, 2], "the documents with a vector"),
            (&[(1, [1.0, f32::NAN])], &[1], "NaN, number 2 of 2 of document 1"),
            (&[(1, [0.0, 0.0])], &[1], "a direction"),
        ];
        for (rows, present, words) in wrong {
            let error = check(rows, false, present).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn offsets_of_other_positions_than_the_terms_have_are_damage() {
        let (mut section, mut part) = (vec![], vec![]);
        let mut writer = OffsetsWriter::start(2, &mut section);
        writer.add(&part, &mut section);
        let word = |position| Word { position, start: 2 * position, len: 1 };
        write_part(&[0, 1, 7].map(word), &mut part);
        writer.add(&part, &mut section);
        writer.finish(&mut section);
        let offsets = Offsets::open(&section[..]).unwrap();
        let compare = |of_terms: [&[u32]; 2]| {
            let sum = |of: &[u32]| of.iter().map(|at| scattered(*at)).fold(0, u64::wrapping_add);
            let sums = of_terms.map(sum).to_vec();
            PositionCheck { sums, positions: vec![] }.compare(&offsets)
        };
        compare([&[], &[7, 0, 1]]).unwrap();
        for wrong in
            [[&[][..], &[0, 1][..]], [&[], &[0, 1, 8]], [&[], &[0, 2, 6]], [&[3], &[0, 1, 7]]]
        {
            let error = compare(wrong).unwrap_err().to_string();
            assert!(error.contains("the offsets of document"), "{error}");
        }
    }
}
