//! An index of one segment whose vectors have a graph, which begins at some thousands of them: few numbers each, so that it is built
//! and read fast. Another field has the same vectors with codes of a bit a number, and a third one points on pages.

use crate::golden::{Dice, Files, Parts, files_in};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use treepie::geo::GeoPoint;
use treepie::query::Query;
use treepie::schema::{Metric, VectorCodes, VectorParams};
use treepie::storage::MemoryStorage;
use treepie::{Document, Field, FieldKind, Index, Result, Schema, Searcher, WriterOptions};

/// Documents, each with a vector of its own; every hundredth is deleted.
pub(crate) const DOCS: u64 = 4_300;
const DIMS: usize = 3;
/// Fields and kinds of the sections of a graph, with the codes of the other field, and those of vectors.
pub(crate) const GRAPH: [(u16, u16); 7] =
    [(1, 17), (1, 18), (1, 19), (1, 20), (1, 21), (1, 22), (2, 17)];
pub(crate) const VECTORS: [(u16, u16); 2] = [(1, 15), (1, 16)];
/// Pages of points, and the boxes around them.
pub(crate) const PAGES: [(u16, u16); 2] = [(3, 24), (3, 25)];
/// Fields with the vectors.
const FIELDS: [&str; 2] = ["near", "bits"];
/// Neighbours that are asked for.
pub(crate) const WANTED: u32 = 10;

/// A number of each document by which it is found, or the error.
pub(crate) type Answer = Result<Vec<(u64, f32)>>;

fn vector(dice: &mut Dice) -> [f32; DIMS] {
    let centre = dice.below(9);
    let mut number = |nth: usize| ((centre * 7 + nth * 5) % 11 * 10 + dice.below(1_000)) as f32;
    [number(0), number(1), number(2)].map(|number| number / 100.0)
}

/// The files of the index.
pub(crate) fn walked() -> &'static Files {
    static WALKED: OnceLock<Files> = OnceLock::new();
    WALKED.get_or_init(|| {
        let params = VectorParams::new(DIMS as u16, Metric::L2);
        let kind = Field::new("kind", FieldKind::Keyword).many(true);
        let schema = Schema::builder().field(kind).vector(FIELDS[0], params);
        let schema = schema.vector(FIELDS[1], params.codes(VectorCodes::B1)).point("spot").build();
        let storage = Arc::new(MemoryStorage::new());
        let index = Index::options().create_in(storage.clone(), schema.unwrap()).unwrap();
        let options = WriterOptions::new().threads(1).reproducible_ids([9; 16]);
        let mut writer = index.writer_with(options).unwrap();
        let mut dice = Dice::new(3);
        for n in 0..DOCS {
            let near = vector(&mut dice);
            let spot = GeoPoint::new(f64::from(near[0]) - 50.0, f64::from(near[1])).unwrap();
            let document = Document::new().with(FIELDS[0], near).with(FIELDS[1], near);
            let mut document = document.with("spot", spot);
            for (kind, step) in [("half", 2), ("tenth", 10), ("few", 600), ("gone", 100)] {
                if n % step == 0 {
                    document.push("kind", kind);
                }
            }
            writer.add(document).unwrap();
        }
        writer.commit().unwrap();
        writer.delete_value("kind", "gone").unwrap();
        writer.commit().unwrap();
        let mut files = files_in(&*storage);
        let old = files.keys().find(|name| name.starts_with("manifest-")).cloned();
        files.remove(&old.unwrap());
        files
    })
}

/// The name of the only segment.
pub(crate) fn segment() -> &'static str {
    walked().keys().find(|name| name.starts_with("seg-")).unwrap()
}

/// Bytes of the file that are a section of the vectors of a field.
pub(crate) fn section((field, kind): (u16, u16)) -> Range<usize> {
    let bytes = &walked()[segment()];
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    let footer = bytes.len() - 64;
    let mut entries = (number(footer + 16)..footer).step_by(24);
    let wanted = [field.to_le_bytes(), kind.to_le_bytes()].concat();
    let entry = entries.find(|at| bytes[*at..at + 4] == wanted).unwrap();
    number(entry + 8)..number(entry + 8) + number(entry + 16)
}

/// A question about neighbours: what is beside it, and how they are looked for.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) query: Query,
    /// Documents that are let through.
    pub(crate) let_through: Query,
    pub(crate) to: [f32; DIMS],
}

/// Walks through all nodes, through those of a filter, in two hops, and comparisons of all.
pub(crate) fn asked() -> &'static [Asked] {
    static ASKED: OnceLock<Vec<Asked>> = OnceLock::new();
    ASKED.get_or_init(|| {
        let mut dice = Dice::new(8);
        let mut all = vec![];
        for kind in ["", "half", "tenth", "few"] {
            let to = vector(&mut dice);
            let [nearest, by_bits] = FIELDS.map(|field| Query::nearest(field, to, WANTED));
            let let_through = match kind {
                "" => Query::All,
                kind => Query::value("kind", kind),
            };
            let of_bytes = [nearest.clone().ef(20), nearest.clone(), nearest.exact()];
            for nearest in of_bytes.into_iter().chain([by_bits.clone().ef(40), by_bits]) {
                let query = Query::boolean().must(nearest).filter(let_through.clone()).build();
                all.push(Asked { query, let_through: let_through.clone(), to });
            }
        }
        all
    })
}

/// Areas on pages of points, alone and beside something else.
fn areas() -> Vec<Query> {
    let areas = ["900km OF 10,40", "20km OF 12.5,44.5", "BOX -20,30 40,70"];
    let areas = areas.map(|area| Query::within_area("spot", area.parse().unwrap()));
    let beside = areas.iter().map(|area| {
        Query::boolean().must(area.clone()).filter(Query::value("kind", "half")).build()
    });
    areas.iter().cloned().chain(beside).collect()
}

/// Answers to all questions, then to those about areas; none if the index cannot be opened.
pub(crate) fn answers(files: &Files) -> Result<Vec<Answer>> {
    let index = Index::options().open_storage(Parts::mapped(files.clone()))?;
    let searcher = index.searcher()?;
    let of_vectors = asked().iter().map(|it| hits(&searcher, &it.query, WANTED.into()));
    Ok(of_vectors.chain(areas().iter().map(|area| hits(&searcher, area, DOCS))).collect())
}

fn hits(searcher: &Searcher, query: &Query, limit: u64) -> Answer {
    let page = searcher.search(query).limit(limit).fields(["near"]).run()?;
    Ok(page.hits.iter().map(|hit| (hit.doc.0, hit.score.unwrap_or_default())).collect())
}

/// For each question the score of each document that may be found.
pub(crate) fn scores() -> &'static [BTreeMap<u64, f32>] {
    static SCORES: OnceLock<Vec<BTreeMap<u64, f32>>> = OnceLock::new();
    SCORES.get_or_init(|| {
        let index = Index::options().open_storage(Parts::mapped(walked().clone())).unwrap();
        let searcher = index.searcher().unwrap();
        let scores = |it: &Asked| {
            let all = Query::nearest("near", it.to, DOCS as u32).exact();
            let query = Query::boolean().must(all).filter(it.let_through.clone()).build();
            hits(&searcher, &query, DOCS).unwrap().into_iter().collect()
        };
        asked().iter().map(scores).collect()
    })
}

/// Whether answers have as many hits as there are, each once and with its own score, the nearest first.
pub(crate) fn assert_true(answers: &[Answer]) {
    for ((asked, scores), answer) in asked().iter().zip(scores()).zip(answers) {
        let Ok(found) = answer else { continue };
        let query = &asked.query;
        assert_eq!(found.len(), scores.len().min(WANTED as usize), "{query}");
        assert!(found.is_sorted_by(|a, b| b.1.total_cmp(&a.1).is_le()), "{query}: {found:?}");
        let known: BTreeMap<u64, f32> = found.iter().copied().collect();
        assert_eq!(known.len(), found.len(), "{query}: {found:?}");
        let is_own = |(doc, score): (&u64, &f32)| scores.get(doc) == Some(score);
        assert!(known.iter().all(is_own), "{query}: {found:?}");
    }
}

/// The index with other bytes in sections of its vectors and its pages of points, where `edits` say: which of all, where in it, and to what.
pub(crate) fn edited(edits: &[u8]) -> Files {
    let mut files = walked().clone();
    let mut bytes = files[segment()].to_vec();
    for edit in edits.as_chunks::<5>().0 {
        let [nth, at_0, at_1, at_2, is] = *edit;
        let kinds = [&GRAPH[..], &VECTORS, &PAGES].concat();
        let section = section(kinds[usize::from(nth) % kinds.len()]);
        let at = u32::from_le_bytes([at_0, at_1, at_2, 0]) as usize;
        bytes[section.start + at % section.len()] = is;
    }
    files.insert(segment().to_owned(), Arc::new(bytes));
    crate::seals::reseal(&mut files, segment());
    files
}
