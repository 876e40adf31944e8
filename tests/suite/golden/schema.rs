//! The published schema of plans: what is written has its shape, and it allows nothing else.

use super::{INDEXES, groups};
use jsonschema::Validator;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::{io, time::Duration};
use treepie::Index;
use treepie::explain::{ExplainTree, JSON_SCHEMA};
use treepie::search::SlowLog;
use treepie::storage::MemoryStorage;

fn published() -> Value {
    serde_json::from_str(JSON_SCHEMA).expect("JSON")
}

fn validator() -> Validator {
    jsonschema::draft202012::new(&published()).expect("a schema")
}

#[track_caller]
fn check(validator: &Validator, json: &str, of: &str) {
    let value: Value = serde_json::from_str(json).expect("JSON");
    let wrong: Vec<_> = validator
        .iter_errors(&value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(wrong.is_empty(), "{of}\n{}\n{json}", wrong.join("\n"));
    // And it is read back as it is.
    assert_eq!(ExplainTree::from_json(json).unwrap().to_json(), json, "{of}");
}

#[test]
fn it_is_a_schema_in_which_every_name_is_described() {
    let schema = published();
    assert!(jsonschema::draft202012::meta::is_valid(&schema));
    fn described(path: &str, value: &Value) {
        match value {
            Value::Object(object) => {
                if let Some(properties) = object.get("properties").and_then(Value::as_object) {
                    assert_eq!(object.get("additionalProperties"), Some(&json!(false)), "{path}");
                    for (name, of) in properties {
                        let text = of["description"].as_str().unwrap_or_default();
                        assert!(text.ends_with('.'), "{path}.{name}: {text:?}");
                    }
                }
                object.iter().for_each(|(name, value)| described(&format!("{path}/{name}"), value));
            }
            Value::Array(list) => list.iter().for_each(|value| described(path, value)),
            _ => {}
        }
    }
    described("", &schema);
}

/// Of every golden plan, made and run, and with what nodes say of a document.
#[test]
fn every_golden_plan_has_its_shape() {
    let (indexes, validator) = (&*INDEXES, validator());
    for group in groups() {
        for question in &group.questions {
            let searcher = if question.living { &indexes.living } else { &indexes.quiet };
            let query = question.query(searcher);
            let search = question.search(searcher, &query);
            check(&validator, &search.clone().explain().unwrap().to_json(), &question.title());
            check(&validator, &search.analyze().unwrap().to_json(), &question.title());
        }
    }
}

#[test]
fn plans_of_slow_searches_have_its_shape() {
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);
    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let lines = Lines::default();
    let log = SlowLog::to_writer(lines.clone(), Duration::ZERO);
    let index = Index::options()
        .slow_log(log)
        .create_in(Arc::new(MemoryStorage::new()), super::schema())
        .unwrap();
    let mut writer = index.writer().unwrap();
    (0..500).for_each(|n| writer.add(super::document(n)).unwrap());
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    for text in ["by2 w7*", "\"san marino\"", "absent"] {
        searcher.search(&searcher.parse(text).unwrap()).facet("tag", 3).run().unwrap();
    }
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    assert_eq!(text.lines().count(), 3);
    for line in text.lines() {
        let search = treepie::explain::SlowSearch::from_json(line).unwrap();
        check(&validator(), &search.plan.unwrap().to_json(), line);
    }
}

/// What is left out, renamed or added in any place is noticed.
#[test]
fn it_is_as_tight_as_what_is_written() {
    let (indexes, validator) = (&*INDEXES, validator());
    let query = indexes.living.parse("(by2 OR w7*) AND NOT \"san marino\"").unwrap();
    let tree = indexes.living.search(&query).facet("tag", 3).analyze().unwrap();
    let value: Value = serde_json::from_str(&tree.to_json()).unwrap();
    assert!(validator.is_valid(&value));
    let mut paths = vec![];
    collect(&value, String::new(), &mut paths);
    assert!(paths.len() > 100, "{paths:?}");
    for path in &paths {
        let mut more = value.clone();
        let object = more.pointer_mut(path).and_then(Value::as_object_mut).unwrap();
        let n_names = object.len();
        object.insert("stranger".into(), json!(1));
        assert!(!validator.is_valid(&more), "'stranger' in {path}");
        let names: Vec<String> =
            value.pointer(path).unwrap().as_object().unwrap().keys().cloned().collect();
        assert_eq!(names.len(), n_names);
        for name in names {
            let mut other = value.clone();
            let object = other.pointer_mut(path).and_then(Value::as_object_mut).unwrap();
            object.insert(name.clone(), json!([-1.5]));
            assert!(!validator.is_valid(&other), "a list of -1.5 as {path}/{name}");
        }
    }
}

/// The paths of all objects.
fn collect(value: &Value, path: String, paths: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                collect(value, format!("{path}/{name}"), paths);
            }
            paths.push(path);
        }
        Value::Array(list) => {
            for (nth, value) in list.iter().enumerate() {
                collect(value, format!("{path}/{nth}"), paths);
            }
        }
        _ => {}
    }
}
