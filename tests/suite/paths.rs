//! Paths: what is found at each level and counted below each, compared with documents that are looked at one by one.

use crate::random::Random;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use treepie::query::Query;
use treepie::{
    Document, ErrorKind, Facet, FacetMethod, Field, FieldKind, Index, Schema, Searcher, SortKey,
    Value,
};

const SEPARATOR: char = '/';
/// Names that stand close to a separator in the order of bytes, or have one in them.
const NAMES: [&str; 8] = ["a", "a-", "a0", "a/b", "b", r"b\", "é", "!"];

/// The paths of a document, each as its names.
type Item = Vec<Vec<&'static str>>;

fn any_item(random: &mut Random) -> Item {
    (0..random.below(4))
        .map(|_| (0..1 + random.below(4)).map(|_| NAMES[random.below(NAMES.len())]).collect())
        .collect()
}

/// Whether a document is at a path or below it.
fn is_below(item: &Item, names: &[&str]) -> bool {
    item.iter().any(|path| path.starts_with(names))
}

fn schema(column: bool) -> Schema {
    let kind = FieldKind::Path { separator: SEPARATOR };
    Schema::builder()
        .field(Field::new("id", FieldKind::U64))
        .field(Field::new("path", kind).many(true).column(column))
        .key("id")
        .build()
        .unwrap()
}

fn document(id: usize, item: &Item) -> Document {
    let document = Document::new().with("id", id);
    item.iter()
        .fold(document, |document, names| document.with("path", Value::path(names, SEPARATOR)))
}

/// The same documents in several forms, and which of them are left in each.
fn searchers(items: &[Item]) -> Vec<(Searcher, Vec<bool>)> {
    let mut searchers = vec![];
    for column in [true, false] {
        let one = Index::in_memory(schema(column));
        let mut writer = one.writer().unwrap();
        let several = Index::in_memory(schema(column));
        let mut parts = several.writer().unwrap();
        for (id, item) in items.iter().enumerate() {
            writer.add(document(id, item)).unwrap();
            parts.add(document(id, item)).unwrap();
            if id % 170 == 169 {
                parts.commit().unwrap();
            }
        }
        writer.commit().unwrap();
        parts.commit().unwrap();
        let all = vec![true; items.len()];
        searchers.push((one.searcher().unwrap(), all.clone()));
        searchers.push((several.searcher().unwrap(), all));
        let left: Vec<_> = items.iter().map(|item| !is_below(item, &["b", "a/b"])).collect();
        assert!(left.contains(&false));
        parts.delete_value("path", Value::path(["b", "a/b"], SEPARATOR)).unwrap();
        parts.commit().unwrap();
        searchers.push((several.searcher().unwrap(), left.clone()));
        parts.merge().unwrap();
        assert!(several.inspect().unwrap().verify(|error| panic!("{error}")).is_sound());
        searchers.push((several.searcher().unwrap(), left));
    }
    searchers
}

#[test]
fn what_is_below_a_path_is_found_and_counted_once() {
    let mut random = Random(9);
    let items: Vec<_> = (0..900).map(|_| any_item(&mut random)).collect();
    let methods = [None, Some(FacetMethod::Dictionary), Some(FacetMethod::Column)];
    for (searcher, left) in searchers(&items) {
        for _ in 0..150 {
            let names: Vec<_> =
                (0..random.below(4)).map(|_| NAMES[random.below(NAMES.len())]).collect();
            let path = Value::path(&names, SEPARATOR);
            let with_path = |item: &Item| names.is_empty() || is_below(item, &names);
            let n_below = items.iter().zip(&left).filter(|(item, left)| **left && with_path(item));
            let query = match names.is_empty() {
                true => Query::All,
                false => Query::value("path", &path),
            };
            assert_eq!(searcher.count(&query).unwrap(), n_below.count() as u64, "{path}");
            let text = query.to_string();
            assert_eq!(searcher.parse(&text).unwrap(), query, "{text}");

            // What is right below it, of documents that are below another one.
            let other = NAMES[random.below(NAMES.len())];
            let (limit, by_value) = (1 + random.below(6), random.below(2) == 0);
            let mut counts: BTreeMap<String, u64> = BTreeMap::new();
            let mut missing = 0;
            let of_other = |item: &Item| random_other(item, other);
            for item in items.iter().zip(&left).filter(|(item, left)| **left && of_other(item)) {
                let is_child =
                    |path: &&Vec<&str>| path.len() > names.len() && path.starts_with(&names);
                let below = item.0.iter().filter(is_child).map(|path| &path[..=names.len()]);
                for child in below.collect::<BTreeSet<_>>() {
                    *counts.entry(Value::path(child, SEPARATOR).to_string()).or_default() += 1;
                }
                missing += u64::from(item.0.is_empty());
            }
            let mut expected: Vec<_> = counts.into_iter().collect();
            if !by_value {
                expected.sort_by_key(|(_, count)| Reverse(*count));
            }
            expected.truncate(limit);
            let other = Query::value("path", Value::path([other], SEPARATOR));
            let query = Query::any_of([other, Query::Not(Box::new(Query::exists("path")))]);
            let method = methods[random.below(3)]
                .filter(|method| *method != FacetMethod::Column || has_column(&searcher));
            let mut facet = Facet::values("path").under(path.to_string()).limit(limit);
            facet = if by_value { facet.by_value() } else { facet };
            facet = if let Some(method) = method { facet.method(method) } else { facet };
            let search = || searcher.search(&query).limit(0).with_facet(facet.clone());
            // A selection of the field itself changes nothing for its facet.
            let selected = search().select("path", [Value::path(["é"], SEPARATOR)]);
            for search in [search(), selected] {
                let found = search.run().unwrap().facets.remove(0);
                let buckets = found.buckets.iter();
                let buckets: Vec<_> = buckets.map(|b| (b.value.to_string(), b.count)).collect();
                assert_eq!(buckets, expected, "below {path} by {method:?}");
                assert_eq!(found.missing, missing);
            }
        }
    }
}

fn has_column(searcher: &Searcher) -> bool {
    searcher.schema().field("path").unwrap().column
}

/// Whether a document is below a name, or nowhere.
fn random_other(item: &Item, name: &'static str) -> bool {
    item.is_empty() || is_below(item, &[name])
}

#[test]
fn what_is_no_path_is_refused_and_nothing_else() {
    let index = Index::in_memory(schema(true));
    let mut writer = index.writer().unwrap();
    for (path, words) in [
        ("", "found ''"),
        ("/a", "one '/' between them"),
        ("a//b", "one '/' between them"),
        (r"a\b", "before '/' or another backslash"),
    ] {
        let error = writer.add(Document::new().with("id", 1).with("path", path)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Document);
        let message = error.to_string();
        assert!(message.contains("the path field 'path'") && message.contains(words), "{message}");
    }
    let deep = vec!["x"; treepie::schema::PATH_NAMES_MAX].join("/");
    writer.add(Document::new().with("id", 1).with("path", &*deep).with("path", "y")).unwrap();
    let error = writer.add(Document::new().with("id", 2).with("path", deep.clone() + "/x"));
    assert!(error.unwrap_err().to_string().contains("at most 128 names"));
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    assert_eq!(searcher.count(&Query::value("path", &*deep)).unwrap(), 1);
    for query in [r#"path:"a//b""#, "path:/", "path:IN [a a/]", r"path:a\\b"] {
        let error = searcher.parse(query).and_then(|query| searcher.count(&query)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Query, "{query}: {error}");
    }
    let all = Query::All;
    let refused = |search: treepie::SearchBuilder<'_>, words: &str| {
        for error in [search.clone().run().unwrap_err(), search.explain().unwrap_err()] {
            assert_eq!(error.kind(), ErrorKind::Usage);
            assert!(error.to_string().contains(words), "{error}");
        }
    };
    let search = || searcher.search(&all);
    refused(search().with_facet(Facet::values("path").under("a/")), "found 'a/'");
    refused(search().with_facet(Facet::values("path").under("a").prefix("b")), "found both");
    refused(search().with_facet(Facet::values("id").under("a")), "found a u64 field");
    refused(search().sort([SortKey::ascending("path")]), "the path field 'path'");
    let plan = search().with_facet(Facet::values("path").under("x")).explain().unwrap();
    assert!(plan.to_string().contains("right below 'x'"), "{plan}");
}
