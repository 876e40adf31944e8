//! What is fed with arbitrary bytes: the same functions for `cargo fuzz` (`tests/fuzz`), which searches, and for
//! `cargo test`, which replays what it has found and changes it at random.
//!
//! Each takes any bytes and must return. What it asserts holds of every input.

use crate::golden::{Files, Parts, files_in, manifests};
use crate::seals::reseal;
use crate::walked;
use std::sync::{Arc, OnceLock};
use treepie::analysis::{Analyzer, names};
use treepie::bitmap::{RoaringBuf, RoaringView};
use treepie::geo::GeoPoint;
use treepie::highlight::PassageOptions;
use treepie::query::{Fuzziness, ParseOptions, Query, parse};
use treepie::schema::{Metric, VectorParams};
use treepie::search::TotalMode;
use treepie::storage::MemoryStorage;
use treepie::{DocId, Document, Field, FieldKind, Index, Schema, Searcher, SortKey, WriterOptions};

/// What takes any bytes.
pub(crate) type Target = fn(&[u8]);

/// All of them by name, which is that of the folder of their corpus.
pub(crate) const TARGETS: [(&str, Target); 9] = [
    ("manifest", manifest),
    ("segment", segment),
    ("section", section),
    ("roaring", roaring),
    ("query_text", query_text),
    ("pattern", pattern),
    ("analyzer", analyzer),
    ("query_and_segment", query_and_segment),
    ("graph", graph),
];

/// Documents of the small index: enough for a long list.
const DOCS: u64 = 300;

/// What is asked of a segment that may be anything.
const QUERIES: [&str; 13] = [
    "all AND NOT n3",
    "all n1 w7",
    "\"all n2\"~2",
    "\"all n\"*",
    "w1*",
    "w2~1",
    "kind:[k1 TO k3}",
    "kind:\"\" OR kind:*",
    "title:/w[0-9]2/",
    "PHRASE [all n?]~>2",
    "near:* -n3",
    "spot:WITHIN [900km OF 10,20] n3",
    "spot:DISJOINT [BOX 5,170 30,-170]",
];

/// An index that is quickly read as a whole: one segment of a field with positions and offsets, one of values, one of
/// vectors, and one of points.
fn small() -> &'static Files {
    static SMALL: OnceLock<Files> = OnceLock::new();
    SMALL.get_or_init(|| {
        let title = Field::new("title", FieldKind::Text).offsets(true);
        let kind = Field::new("kind", FieldKind::Keyword).many(true);
        let near = Field::new("near", FieldKind::Vector(VectorParams::new(2, Metric::L2)));
        let spot = Field::new("spot", FieldKind::Point { array: None }).many(true);
        let schema = Schema::builder().field(title).field(kind).field(near).field(spot);
        let schema = schema.build().unwrap();
        let storage = Arc::new(MemoryStorage::new());
        let index = Index::options().create_in(storage.clone(), schema).unwrap();
        let options =
            WriterOptions::new().threads(1).memory_bytes(16 << 20).reproducible_ids([5; 16]);
        let mut writer = index.writer_with(options).unwrap();
        for n in 0..DOCS {
            let mut document = Document::new().with("title", format!("all n{} w{n}", n % 9));
            for k in 0..n % 3 {
                document.push("kind", if n % 8 == 1 { String::new() } else { format!("k{k}") });
            }
            if n % 4 < 3 {
                document.push("near", [n as f32, 0.5]);
            }
            for k in 0..n % 3 {
                document.push("spot", format!("{},{}", n % 40, (n * 7 + k) % 170));
            }
            writer.add(document).unwrap();
        }
        writer.commit().unwrap();
        files_in(&*storage)
    })
}

fn segment_name() -> &'static String {
    small().keys().find(|name| name.starts_with("seg-")).unwrap()
}

fn small_searcher() -> &'static Searcher {
    static SEARCHER: OnceLock<Searcher> = OnceLock::new();
    SEARCHER.get_or_init(|| {
        let index = Index::options().open_storage(Parts::mapped(small().clone())).unwrap();
        index.searcher().unwrap()
    })
}

/// Opens files and reads all there is to read; whether it is sound.
fn scan(files: Files, queries: &[Query]) -> bool {
    let Ok(index) = Index::options().open_storage(Parts::mapped(files)) else { return false };
    let (Ok(searcher), Ok(inspector)) = (index.searcher(), index.inspect()) else { return false };
    for (nth, query) in queries.iter().enumerate() {
        let _ = searcher.count(query);
        let total = [TotalMode::Exact, TotalMode::Unknown][nth % 2];
        let _ = searcher.search(query).limit(4).total(total).facet("kind", 3).run();
        let near = SortKey::near("spot", GeoPoint::new(3.0, nth as f64).unwrap());
        let _ = searcher.search(query).limit(4).sort([near]).run();
        let _ = searcher.explain_score(query, DocId(nth as u64 * 29));
        if let Ok(highlighter) = searcher.highlighter(query) {
            let marked = highlighter.in_document(DocId(7), "title", ["all n7 w7", "w7"]);
            let marked = marked.unwrap_or_default();
            marked.iter().for_each(|text| drop(text.passages(&PassageOptions::default())));
        }
    }
    (0..DOCS).step_by(17).for_each(|doc| drop(searcher.document(DocId(doc))));
    drop(inspector.storage());
    for (field, term) in [("title", "all"), ("kind", "all"), ("size", "1")] {
        let _ = inspector.for_each_term(field, "", |_, _| Ok(true));
        let _ = inspector.postings(field, term, 5);
    }
    inspector.verify(drop).is_sound()
}

fn queries() -> &'static [Query] {
    static PARSED: OnceLock<Vec<Query>> = OnceLock::new();
    let parsed = |text: &&str| parse(text, &ParseOptions::default()).unwrap();
    PARSED.get_or_init(|| QUERIES.iter().map(parsed).collect())
}

/// A manifest of these bytes, with right length and checksums.
pub(crate) fn manifest(data: &[u8]) {
    let mut files = small().clone();
    let name = manifests(&files)[0].to_owned();
    let mut bytes = data.to_vec();
    bytes.resize(bytes.len().max(132), 0);
    let len = bytes.len() as u64;
    bytes[64..72].copy_from_slice(&len.to_le_bytes());
    files.insert(name.clone(), Arc::new(bytes));
    reseal(&mut files, &name);
    scan(files, &queries()[..2]);
}

/// Changes of a segment: three bytes each, where and to what.
fn edited(edits: &[u8]) -> Files {
    let mut files = small().clone();
    let mut bytes = files[segment_name()].to_vec();
    for edit in edits.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([edit[0], edit[1]])) % bytes.len();
        bytes[at] = edit[2];
    }
    files.insert(segment_name().clone(), Arc::new(bytes));
    reseal(&mut files, segment_name());
    files
}

/// A segment with changed bytes and right checksums.
pub(crate) fn segment(data: &[u8]) {
    scan(edited(data), queries());
}

/// A segment one section of which is these bytes: dictionary, postings, occurrences, rows, lengths, offsets, vectors, points.
pub(crate) fn section(data: &[u8]) {
    is_sound_with_section(data);
}

fn is_sound_with_section(data: &[u8]) -> bool {
    let Some((&nth, content)) = data.split_first() else { return false };
    let mut files = small().clone();
    let bytes = replace_section(&files[segment_name()], nth.into(), content);
    files.insert(segment_name().clone(), Arc::new(bytes));
    reseal(&mut files, segment_name());
    scan(files, queries())
}

/// How many sections the small index has.
pub(crate) fn n_sections() -> usize {
    let bytes = &small()[segment_name()];
    let footer = bytes.len() - 64;
    (footer - number(bytes, footer + 16)) / 24
}

/// A section as it is, with its number before it.
pub(crate) fn section_seed(nth: usize) -> Vec<u8> {
    let bytes = &small()[segment_name()];
    let entry = number(bytes, bytes.len() - 64 + 16) + nth * 24;
    let (at, len) = (number(bytes, entry + 8), number(bytes, entry + 16));
    [&[nth as u8], &bytes[at..at + len]].concat()
}

/// The manifest of the small index.
pub(crate) fn manifest_seed() -> Vec<u8> {
    small()[manifests(small())[0]].to_vec()
}

fn number(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
}

/// A segment file with another content of its `nth` section. Checksums are left to be made.
fn replace_section(bytes: &[u8], nth: usize, content: &[u8]) -> Vec<u8> {
    let footer = bytes.len() - 64;
    let table: Vec<&[u8]> = bytes[number(bytes, footer + 16)..footer].chunks_exact(24).collect();
    let mut out = bytes[..64].to_vec();
    let mut new_table = vec![];
    for (at, entry) in table.iter().enumerate() {
        let old = number(entry, 8)..number(entry, 8) + number(entry, 16);
        let content = if at == nth % table.len() { content } else { &bytes[old] };
        new_table.extend(&entry[..8]);
        new_table.extend((out.len() as u64).to_le_bytes());
        new_table.extend((content.len() as u64).to_le_bytes());
        out.extend(content);
        out.resize((out.len() + 64).next_multiple_of(8), 0);
    }
    let checksums_at = out.len();
    let n_blocks = checksums_at.div_ceil(1 << bytes[footer + 32]);
    out.resize((out.len() + n_blocks * 4).next_multiple_of(8), 0);
    let table_at = out.len();
    out.extend(new_table);
    let file_len = out.len() + 64;
    out.extend([file_len, checksums_at, table_at].iter().flat_map(|n| (*n as u64).to_le_bytes()));
    out.extend(&bytes[footer + 24..]);
    out
}

/// A roaring list: what passes the check of its head can be asked anything.
pub(crate) fn roaring(data: &[u8]) {
    let Ok(view) = RoaringView::new(data) else { return };
    let _ = (view.min(), view.max(), view.contains(7), view.rank(70_000), view.select(3));
    let other = RoaringBuf::from_sorted((0..90_000).step_by(3));
    let (other, n_max) = (other.view(), 90_000);
    let _ = (view.and_count(&other), view.or_count(&other), other.and_not_count(&view));
    drop((view.and(&other), view.or(&view), view.xor(&other)));
    let n = view.iter().take(n_max).count() + view.iter_from(1 << 20).take(9).count();
    if view.verify().is_ok() {
        assert!(n as u64 >= view.len().min(n_max as u64));
        assert_eq!(RoaringBuf::from_bytes(data.to_vec()).unwrap().view().len(), view.len());
        assert!(view.select(0) == view.min() && view.iter().is_sorted());
    }
}

/// A query: what can be read can be printed, and reads the same again.
pub(crate) fn query_text(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(query) = parse(&text, &ParseOptions::default()) else { return };
    let printed = query.to_string();
    let again = parse(&printed, &ParseOptions::default());
    let again = again.unwrap_or_else(|error| panic!("{text:?} prints as {printed:?}: {error}"));
    assert_eq!(again, query, "{text:?} prints as {printed:?}");
    let searcher = small_searcher();
    let counted = searcher.count(&query);
    let page = searcher.search(&query).limit(3).run();
    if let (Ok(counted), Ok(page)) = (counted, page) {
        assert_eq!(page.total.value, counted, "{text:?}");
    }
}

/// Patterns of all kinds made of one text.
pub(crate) fn pattern(data: &[u8]) {
    let text = String::from_utf8_lossy(data).into_owned();
    let searcher = small_searcher();
    let distance = data.first().map_or(1, |byte| byte % 3);
    let fuzzy = Query::fuzzy(text.clone(), Fuzziness::new(distance));
    let any = [Query::prefix(text.clone()), Query::wildcard(&text), Query::regex(text.clone())];
    for query in any.into_iter().chain(fuzzy) {
        let _ = searcher.count(&query);
        let _ = searcher.highlighter(&query).map(|marker| marker.marks("title"));
    }
}

/// A text through an analyzer, the first byte says which; the spec of one, where it is 255.
pub(crate) fn analyzer(data: &[u8]) {
    let Some((&which, rest)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(rest);
    if which == u8::MAX {
        drop(Analyzer::from_spec(&text));
        return;
    }
    let specs: Vec<&str> = names().map(|(name, _)| name).collect();
    let more = ["ngram:2,3", "edge_ngram:1,4", "words|lower|fold|length:2,5", "whitespace"];
    let specs = [&specs[..], &more].concat();
    let Ok(mut analyzer) = Analyzer::from_spec(specs[usize::from(which) % specs.len()]) else {
        return;
    };
    let mut n = 0;
    analyzer.for_each_token(&text, |token| {
        assert!(!token.term.is_empty(), "an empty term of {text:?}");
        let range = token.offset_from..token.offset_to;
        assert!(text.get(range.clone()).is_some(), "{range:?} of {text:?}");
        n += 1;
    });
    assert!(n <= text.len() * 8 + 8, "{n} tokens of {} bytes", text.len());
}

/// So many changes of a segment as the first byte says, and a query behind them.
pub(crate) fn query_and_segment(data: &[u8]) {
    let Some((&n_edits, rest)) = data.split_first() else { return };
    let (edits, text) = rest.split_at(rest.len().min(usize::from(n_edits % 8) * 3));
    let Ok(query) = parse(&String::from_utf8_lossy(text), &ParseOptions::default()) else { return };
    scan(edited(edits), &[query]);
}

/// Changes of vectors, the graph over them and pages of points: five bytes each, which section, where in it in three, and to what.
pub(crate) fn graph(data: &[u8]) {
    let files = walked::edited(data);
    let Ok(answers) = walked::answers(&files) else { return };
    const N_SECTIONS: usize = walked::GRAPH.len() + walked::VECTORS.len() + walked::PAGES.len();
    let is_of_graph = |edit: &[u8; 5]| usize::from(edit[0]) % N_SECTIONS < walked::GRAPH.len();
    if data.as_chunks().0.iter().all(is_of_graph) {
        walked::assert_true(&answers);
    }
    let index = Index::options().open_storage(Parts::mapped(files)).unwrap();
    let is_sound = index.inspect().unwrap().verify(drop).is_sound();
    assert!(!is_sound || answers.iter().all(Result::is_ok), "said to be sound");
}

/// Else nothing behind the checksums would be reached.
#[test]
fn what_is_put_together_from_its_own_parts_is_sound() {
    assert!(n_sections() > 15);
    for nth in 0..n_sections() {
        assert!(is_sound_with_section(&section_seed(nth)), "section {nth}");
    }
    assert!(scan(edited(&[]), queries()));
    let mut other = section_seed(0);
    other[3] ^= 1;
    assert!(!is_sound_with_section(&other));
}
