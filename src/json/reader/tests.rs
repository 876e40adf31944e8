use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn skipped(text: &str) -> Result<()> {
    let mut reader = Reader::new(text, "a text")?;
    reader.skip()?;
    reader.end()
}

#[test]
fn what_is_json_is_what_a_well_known_parser_takes() {
    let texts = [
        "{}",
        "[]",
        " [1 , 2]\r\n",
        "null",
        "true",
        "false",
        "\"\"",
        "-0",
        "0.5e-3",
        "1E+9",
        "{\"a\":{\"b\":[[],{}]}}",
        "",
        " ",
        "{",
        "[",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "{1:1}",
        "nul",
        "nulll",
        "truefalse",
        "01",
        "-",
        "+1",
        ".5",
        "1.",
        "1e",
        "1e+",
        "0x1",
        "NaN",
        "inf",
        "\"",
        "\"\\",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\ud800\"",
        "\"\\ud800\\u0041\"",
        "\"\\udc00\"",
        "\"\\ud83d\\ude00\"",
        "\"\n\"",
        "\"\t\"",
        "\"\u{7f}\"",
        "[] []",
        "1 2",
        "\u{feff}[]",
        "'a'",
        "[1}",
        "{\"a\":1]",
        "// no\n1",
        "\"\\u00\u{e9}\"",
        "\u{a0}1",
    ];
    for text in texts {
        let theirs = serde_json::from_str::<Value>(text).is_ok();
        assert_eq!(skipped(text).is_ok(), theirs, "{text:?}: {:?}", skipped(text));
    }
}

#[test]
fn a_mistake_is_told_with_its_path_and_its_place() {
    let read = |text| {
        let mut reader = Reader::new(text, "a text")?;
        let mut numbers = vec![];
        reader.object(&["list"], |reader, name| {
            match name {
                "list" => numbers = reader.array(Reader::whole::<u8>)?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        reader.end().map(|()| numbers)
    };
    assert_eq!(read("{\"more\": {\"deep\": [1, null]}, \"list\": [1, 255]}").unwrap(), [1, 255]);
    let cases = [
        (
            "{\"list\": [1,\n \"é\", x]}",
            "reading list[1] of a text: expected a whole number of at most 8 bits, found the text \"é\" (line 2, column 2)",
        ),
        (
            "{\"list\": [256]}",
            "reading list[0] of a text: expected a whole number of at most 8 bits, found the number 256 (line 1, column 11)",
        ),
        (
            "{\"list\": [1.5]}",
            "reading list[0] of a text: expected a whole number of at most 8 bits, found the number 1.5 (line 1, column 11)",
        ),
        (
            "{\"list\": null}",
            "reading list of a text: expected an array, found 'null' (line 1, column 10)",
        ),
        (
            "{\"list\": [1",
            "reading list of a text: expected a comma or the end of the array, found the end of the text (line 1, column 12)",
        ),
        (
            "{\"lisp\": [1]}",
            "reading a text: expected the name \"list\", found 1 others in this object (line 1, column 13)",
        ),
        (
            "{\"list\": [], \"list\": []}",
            "reading a text: expected each name once, found \"list\" again (line 1, column 14)",
        ),
        (
            "{\"list\": []}}",
            "reading a text: expected the end of the text, found '}' (line 1, column 13)",
        ),
        (
            "{\"a b\": {\"\": [{\"c\": ?}]}}",
            "reading [\"a b\"][\"\"][0].c of a text: expected a value, found '?' (line 1, column 21)",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(read(text).unwrap_err().to_string(), message);
    }
}

#[test]
fn depth_is_bounded_and_the_stack_is_not_exhausted() {
    let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
    skipped(&nested(DEPTH_MAX)).unwrap();
    for text in [nested(DEPTH_MAX + 1), "[".repeat(10_000_000), "{\"a\":".repeat(1_000_000)] {
        let error = skipped(&text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        assert_eq!(error.limit().map(|limit| limit.name), Some("DEPTH_MAX"));
        assert!(error.to_string().len() < 2_000, "{error}");
    }
}

#[test]
fn digits_beyond_every_float_are_refused_and_not_read_as_infinity() {
    let text = "-1e400";
    let reader = || Reader::new(text, "of a plan").unwrap();
    let errors = [
        (reader().float().unwrap_err(), "a number that a float of 32 bits can hold"),
        (reader().finite_double().unwrap_err(), "a number that a float of 64 bits can hold"),
        (reader().double::<f64>().unwrap_err(), "a number that a float can hold"),
    ];
    for (error, expected) in errors {
        let error = error.to_string();
        assert!(
            error.contains(&format!("expected {expected}, found the number -1e400")),
            "{error}"
        );
    }
    assert_eq!(Reader::new("\"-inf\"", "").unwrap().double::<f64>().unwrap(), f64::NEG_INFINITY);
    assert!(Reader::new("\"-inf\"", "").unwrap().finite_double().is_err());
    assert_eq!(Reader::new("1e-400", "").unwrap().finite_double().unwrap(), 0.0);
}

proptest! {
    #[test]
    fn texts_come_back(text in "(\\PC|[\0-\u{9f}]|[\u{2028}\u{feff}\u{202e}\"\\\\/<]|😀|.){0,20}") {
        let mut json = crate::json::Json::default();
        json.string(&text);
        prop_assert_eq!(Reader::new(&json.out, "a text").unwrap().string().unwrap(), &*text);
        let theirs = serde_json::to_string(&text).unwrap();
        prop_assert_eq!(Reader::new(&theirs, "a text").unwrap().string().unwrap(), text);
    }

    #[test]
    fn any_text_is_refused_or_taken_as_by_a_well_known_parser(text in "[\\[\\]{}:,\"\\\\a0-9.eE+nult -]{0,12}") {
        // Names that come twice are ours to refuse.
        let theirs = serde_json::from_str::<Value>(&text).is_ok();
        let ours = skipped(&text);
        let twice = ours.as_ref().is_err_and(|error| error.to_string().contains("each name once"));
        prop_assert!(twice || ours.is_ok() == theirs, "{:?}: {:?}", text, ours);
    }

    #[test]
    fn numbers_come_back(whole: u64, float: f32) {
        prop_assert_eq!(Reader::new(&whole.to_string(), "").unwrap().whole::<u64>().unwrap(), whole);
        if float.is_finite() {
            let read = Reader::new(&float.to_string(), "").unwrap().float().unwrap();
            prop_assert_eq!(read.to_bits(), float.to_bits());
        }
    }
}
