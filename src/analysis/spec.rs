//! The text that names an analyzer: what a schema file says and what an index keeps.
//!
//! ```text
//! spec    = name | tokenizer { "|" filter }
//! tokenizer, filter = word [ ":" argument { "," argument } ]
//! ```
//!
//! A name is one of [`names`], short for a longer spec, or that of a registered analyzer. White space around
//! the parts is ignored.

use crate::analysis::filter::{Filter, elision_languages};
use crate::analysis::splitter::Splitter;
use crate::analysis::stem::Stemmer;
use crate::analysis::stop_words;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::DEFAULT_ANALYZER;

/// Filters of a spec at the most.
const FILTERS_MAX: usize = 32;

/// Names and what they stand for.
const NAMES: &[(&str, &str)] = &[
    (DEFAULT_ANALYZER, "alphanumeric|lower"),
    ("catalan", "words|lower|elision:ca|stop:ca|stem:ca"),
    ("cjk", "cjk_bigrams|lower"),
    ("danish", "words|lower|stop:da|stem:da"),
    ("dutch", "words|lower|stop:nl|stem:nl"),
    ("english", "words|possessive|lower|stop:en|stem:en"),
    ("finnish", "words|lower|stop:fi|stem:fi"),
    ("french", "words|lower|elision:fr|stop:fr|stem:fr"),
    ("german", "words|lower|stop:de|stem:de"),
    ("italian", "words|lower|elision:it|stop:it|stem:it"),
    ("norwegian", "words|lower|stop:no|stem:no"),
    ("portuguese", "words|lower|stop:pt|stem:pt"),
    ("russian", "words|lower|stop:ru|stem:ru"),
    ("spanish", "words|lower|stop:es|stem:es"),
    ("swedish", "words|lower|stop:sv|stem:sv"),
];

/// Tokenizers as they are written.
const TOKENIZERS: &[&str] = &[
    "alphanumeric",
    "whitespace",
    "words",
    "keyword",
    "ngram:MIN,MAX",
    "edge_ngram:MIN,MAX",
    "cjk_bigrams",
];

/// Filters as they are written, without those that name a language.
const FILTERS: &[&str] = &["lower", "fold", "possessive", "length:MAX", "length:MIN,MAX"];

/// Built-in analyzers: a name, and the spec that it is short for.
pub fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    NAMES.iter().copied()
}

/// Built-in tokenizers as a spec names them.
pub fn tokenizers() -> impl Iterator<Item = &'static str> {
    TOKENIZERS.iter().copied()
}

/// Built-in filters as a spec names them, `stop:en` and its like once for each language of this build.
pub fn filters() -> impl Iterator<Item = String> {
    let plain = FILTERS.iter().map(|filter| (*filter).to_owned());
    let with = |filter: &'static str| move |language: &str| format!("{filter}:{language}");
    plain
        .chain(elision_languages().map(with("elision")))
        .chain(stop_words::languages().map(with("stop")))
        .chain(Stemmer::languages().map(with("stem")))
}

/// Whether a spec is a name and nothing else, so that a registered analyzer may have it.
pub(super) fn is_name(spec: &str) -> bool {
    !spec.is_empty() && !spec.contains(['|', ':', ',']) && spec.trim() == spec
}

/// Whether a name stands for something built in.
pub(super) fn is_built_in(name: &str) -> bool {
    NAMES.iter().any(|(known, _)| *known == name) || TOKENIZERS.contains(&name)
}

/// The tokenizer and the filters of a spec.
pub(super) fn parse(spec: &str) -> Result<(Splitter, Vec<Filter>)> {
    let trimmed = spec.trim();
    let long = NAMES.iter().find(|(name, _)| *name == trimmed).map_or(trimmed, |(_, long)| long);
    let mut parts = long.split('|').map(str::trim);
    let in_spec = |error: Error| error.during(format!("reading the analyzer '{spec}'"));
    let tokenizer = tokenizer(parts.next().unwrap_or_default()).map_err(in_spec)?;
    let filters = parts.map(filter).collect::<Result<Vec<_>>>().map_err(in_spec)?;
    if filters.len() > FILTERS_MAX {
        return Err(Error::new(ErrorKind::Analyzer, "counting the filters of an analyzer")
            .expected(format!("at most {FILTERS_MAX}"))
            .found(filters.len().to_string()));
    }
    Ok((tokenizer, filters))
}

fn tokenizer(part: &str) -> Result<Splitter> {
    let (word, arguments) = split(part);
    match (word, arguments.as_slice()) {
        ("alphanumeric", []) => Ok(Splitter::alphanumeric()),
        ("whitespace", []) => Ok(Splitter::whitespace()),
        ("words", []) => Ok(Splitter::words()),
        ("keyword", []) => Ok(Splitter::keyword()),
        ("cjk_bigrams", []) => Ok(Splitter::cjk_bigrams()),
        ("ngram", [min, max]) => Splitter::ngrams(number(part, min)?, number(part, max)?),
        ("edge_ngram", [min, max]) => Splitter::edge_ngrams(number(part, min)?, number(part, max)?),
        _ => {
            let names = NAMES.iter().map(|(name, _)| *name);
            let known: Vec<_> = names.chain(tokenizers()).collect();
            Err(unknown("an analyzer or a tokenizer", part, &known.join(", ")))
        }
    }
}

fn filter(part: &str) -> Result<Filter> {
    let (word, arguments) = split(part);
    match (word, arguments.as_slice()) {
        ("lower", []) => Ok(Filter::lower_case()),
        ("fold", []) => Ok(Filter::fold_diacritics()),
        ("possessive", []) => Ok(Filter::possessive()),
        ("elision", [language]) => Filter::elision(language),
        ("stop", [language]) => Filter::stop_words_of(language),
        ("stem", [language]) => Filter::stem(language),
        ("length", [max]) => length(part, 0, number(part, max)?),
        ("length", [min, max]) => length(part, number(part, min)?, number(part, max)?),
        _ => {
            let known = "elision:LANGUAGE, stop:LANGUAGE, stem:LANGUAGE";
            Err(unknown("a filter", part, &format!("{}, {known}", FILTERS.join(", "))))
        }
    }
}

fn length(part: &str, min: usize, max: usize) -> Result<Filter> {
    if min <= max && max > 0 {
        return Ok(Filter::length(min, max));
    }
    Err(Error::new(ErrorKind::Analyzer, "choosing lengths")
        .expected("MIN ≤ MAX characters, MAX above 0")
        .found(format!("'{part}'")))
}

/// `word:a,b` in its parts.
fn split(part: &str) -> (&str, Vec<&str>) {
    match part.split_once(':') {
        None => (part, vec![]),
        Some((word, arguments)) => (word.trim(), arguments.split(',').map(str::trim).collect()),
    }
}

fn number(part: &str, text: &str) -> Result<usize> {
    // No text is longer, and products of it do not overflow.
    text.parse::<u32>().map(|number| number as usize).map_err(|_| {
        Error::new(ErrorKind::Analyzer, format!("reading '{part}'"))
            .expected("a number of characters")
            .found(format!("'{text}'"))
    })
}

fn unknown(what: &str, part: &str, known: &str) -> Error {
    Error::new(ErrorKind::Analyzer, format!("choosing {what}"))
        .expected(format!("one of {known}"))
        .found(format!("'{part}'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(spec: &str) -> String {
        let error = parse(spec).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Analyzer, "{spec}");
        error.to_string()
    }

    #[test]
    fn every_name_tokenizer_and_filter_that_is_listed_can_be_used() {
        for (name, long) in names() {
            if cfg!(feature = "stem") || !long.contains("stem") {
                assert!(parse(name).is_ok() && parse(long).is_ok(), "{name}");
            } else {
                assert!(refusal(name).contains("feature `stem`"), "{}", refusal(name));
            }
            assert!(is_built_in(name) && is_name(name) && !is_name(long), "{name}");
        }
        for tokenizer in tokenizers() {
            assert!(parse(&tokenizer.replace("MIN,MAX", "2,3")).is_ok(), "{tokenizer}");
        }
        for filter in filters() {
            let filter = filter.replace("MIN,MAX", "2,3").replace("MAX", "9");
            assert!(parse(&format!("words|{filter}")).is_ok(), "{filter}");
        }
    }

    #[test]
    fn white_space_around_the_parts_is_ignored() {
        let (_, filters) = parse(" ngram : 2 , 3 | lower | length : 4 ").unwrap();
        assert_eq!(filters.len(), 2);
    }

    #[test]
    fn mistakes_are_told_with_what_is_there() {
        for (spec, words) in [
            ("", "found ''"),
            ("englsh", "english, "),
            ("lower", "an analyzer or a tokenizer: expected one of default, "),
            ("words|lowr", "a filter: expected one of lower, fold, "),
            ("words|lowr", "reading the analyzer 'words|lowr': choosing"),
            ("words|", "found ''"),
            ("english|fold", "found 'english'"),
            ("words|stop:xx", "found 'xx'"),
            ("words|stop", "found 'stop'"),
            ("words:2", "found 'words:2'"),
            ("ngram:2", "ngram:MIN,MAX"),
            ("ngram:a,b", "reading 'ngram:a,b': expected a number of characters, found 'a'"),
            ("ngram:3,2", "1 ≤ MIN ≤ MAX ≤ 64"),
            ("words|length:5,2", "MIN ≤ MAX characters"),
            ("words|length:0", "MAX above 0"),
            ("words|length:99999999999", "a number of characters"),
        ] {
            let message = refusal(spec);
            assert!(message.contains(words), "{spec}: {message}");
        }
        assert!(refusal(&("words".to_owned() + &"|lower".repeat(33))).contains("at most 32"));
    }
}
