//! Paths: what is found at each level and counted below each, compared with documents that are looked at one by one.

use crate::random::Random;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use treepie::facet::FacetMethod;
use treepie::query::Query;
use treepie::{
    Document, ErrorKind, Facet, Field, FieldKind, Index, Schema, Searcher, SortKey, Value,
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
        ("/", "one name at least"),
        ("//", "one name at least"),
        (r"a\b", "before '/' or another backslash"),
        (r"C:\dir", "unless the separator of the field is the backslash"),
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
    for query in [r#"path:"""#, "path:/", r#"path:IN [a ""]"#, r"path:a\\b"] {
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
    refused(search().with_facet(Facet::values("path").under(r"a\b")), r"found 'a\b'");
    refused(search().with_facet(Facet::values("path").under("a").prefix("b")), "found both");
    refused(search().with_facet(Facet::values("id").under("a")), "found a u64 field");
    refused(search().sort([SortKey::ascending("path")]), "the path field 'path'");
    let plan = search().with_facet(Facet::values("path").under("x")).explain().unwrap();
    assert!(plan.to_string().contains("right below 'x'"), "{plan}");
}

/// Each form of a path is the same path, whoever gives it.
#[test]
fn separators_around_names_mean_nothing_and_a_backslash_may_be_one() {
    let unix = ["/usr/lib", "usr//lib//", "usr/lib", "/usr/", "/etc", "a/b/"];
    let windows = [r"C:\usr\lib", r"C:\usr\\lib\", r"\C:\usr\lib", r"C:\usr", r"D:\", r"a\b"];
    for (separator, paths) in [('/', unix), ('\\', windows)] {
        for column in [true, false] {
            let field = Field::new("path", FieldKind::Path { separator }).many(true).column(column);
            let schema = Schema::builder().field(field).text("note").build().unwrap();
            let index = Index::in_memory(schema);
            let mut writer = index.writer().unwrap();
            for path in paths {
                writer.add(Document::new().with("path", path)).unwrap();
                writer.commit().unwrap();
            }
            // Twice the same path is one.
            writer.add(Document::new().with("path", paths[0]).with("path", paths[1])).unwrap();
            writer.add(Document::new().with("note", "nowhere")).unwrap();
            writer.commit().unwrap();
            check_forms(&index, separator, paths);
            writer.merge().unwrap();
            check_forms(&index, separator, paths);
            writer.delete_value("path", paths[1]).unwrap();
            writer.commit().unwrap();
            let searcher = index.searcher().unwrap();
            assert_eq!(searcher.count(&Query::exists("path")).unwrap(), 3);
            let root = writer.delete_value("path", String::from(separator)).unwrap_err();
            assert_eq!(root.kind(), ErrorKind::Usage, "{root}");
        }
    }
}

fn check_forms(index: &Index, separator: char, paths: [&str; 6]) {
    assert!(index.inspect().unwrap().verify(|error| panic!("{error}")).is_sound());
    let searcher = index.searcher().unwrap();
    let of_unix: String = String::from(separator);
    let drive = if separator == '/' { "" } else { r"C:\" };
    let usr = format!("{drive}usr");
    let lib = format!("{usr}{separator}lib");
    for (path, n) in [(&usr, 5), (&lib, 4), (&format!("a{separator}b"), 1), (&of_unix, 7)] {
        for form in [
            path.clone(),
            format!("{separator}{path}"),
            format!("{path}{separator}"),
            format!("{separator}{separator}{path}{separator}{separator}"),
            path.replace(separator, &format!("{separator}{separator}")),
        ] {
            let value = Query::value("path", &*form);
            let set = Query::in_set([&*form, "nowhere"]).in_field("path");
            let fuzzy = Query::fuzzy(&*form, Default::default()).unwrap().in_field("path");
            let range = Query::range(&*form..=&*form).in_field("path");
            for query in [&value, &set] {
                assert_eq!(searcher.count(query).unwrap(), n, "{query}");
            }
            if *path != of_unix {
                assert_eq!(searcher.count(&range).unwrap(), n, "{range}");
                assert!(searcher.count(&fuzzy).unwrap() >= n, "{fuzzy}");
            }
            let printed = searcher.parse(&value.to_string()).unwrap();
            assert_eq!(searcher.count(&printed).unwrap(), n, "{value}");
            let selected = searcher.search(&Query::All).select("path", [&*form]).run().unwrap();
            assert_eq!(selected.total.value, n, "{form}");
        }
    }
    let below = |facet: treepie::facet::ValueFacet| -> Vec<(String, u64)> {
        let facet = facet.by_value();
        let mut page = searcher.search(&Query::All).with_facet(facet).run().unwrap();
        let buckets = page.facets.remove(0).buckets.into_iter();
        buckets.map(|bucket| (bucket.value.to_string(), bucket.count)).collect()
    };
    let expected = vec![(lib.clone(), 4)];
    for form in [usr.clone(), format!("{separator}{usr}{separator}"), format!("{usr}{separator}")] {
        assert_eq!(below(Facet::values("path").under(&*form)), expected, "{form}");
    }
    assert_eq!(
        below(Facet::values("path").under(&*of_unix)),
        below(Facet::values("path").under(""))
    );
    // Behind a separator a beginning has ended a name.
    let begin = format!("{separator}{usr}");
    assert_eq!(below(Facet::values("path").prefix(&*begin)).len(), 2);
    assert_eq!(below(Facet::values("path").prefix(begin.clone() + &of_unix)), expected);
    for (query, n) in [
        (Query::prefix(&*begin), 5),
        (Query::prefix(begin.clone() + &of_unix), 4),
        (Query::prefix(format!("{separator}us").replace("us", &usr[..usr.len() - 1])), 5),
        (Query::prefix(&*of_unix), 7),
    ] {
        let query = query.in_field("path");
        assert_eq!(searcher.count(&query).unwrap(), n, "{query}");
    }
    let escaped = begin.replace('\\', r"\\");
    for (pattern, n) in [("*", 5), ("?*", 4), ("/l?b", 4), ("/l?b/", 4), ("//l?b//", 4)] {
        let pattern = pattern.replace('/', if separator == '/' { "/" } else { r"\\" });
        let text = format!("{escaped}{pattern}").replace('/', r"\/");
        let query = searcher.parse(&format!("path:{text}")).unwrap();
        assert_eq!(searcher.count(&query).unwrap(), n, "{query}");
    }
    // What is stored is as it was given.
    let all = searcher.search(&Query::exists("path")).run().unwrap();
    let stored: Vec<_> = all.hits.iter().map(|hit| hit.fields["path"].to_string()).collect();
    assert_eq!(stored[..6], paths);
}
