//! Text that names an analyzer, in a schema file and in an index.
//!
//! ```text
//! spec    = name | tokenizer { "|" filter }
//! tokenizer, filter = word [ ":" argument { "," argument } ]
//! ```
//!
//! A name is one of [`names`], short for a longer spec, or that of a registered analyzer. White space around
//! the parts is ignored.
//!
//! A spec stands for the terms of one version of the analyzers, that of the index: in version 1 `lower` changed each
//! character by itself, n-grams had a position each, and nothing was normalized.

use crate::analysis::VERSION_OF_CHARACTERS;
use crate::analysis::filter::{Filter, LOWER_LANGUAGES, elision_languages};
use crate::analysis::splitter::{Old, Splitter};
use crate::analysis::stem::Stemmer;
use crate::analysis::stop_words;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::DEFAULT_ANALYZER;

/// Filters of a spec at the most.
const FILTERS_MAX: usize = 32;

/// Names and what they stand for.
const NAMES: &[(&str, &str)] = &[
    (DEFAULT_ANALYZER, "default"),
    ("catalan", "words|nfkc|lower|elision:ca|stop:ca|stem:ca"),
    ("cjk", "cjk_bigrams|lower"),
    ("danish", "words|nfkc|lower|stop:da|stem:da"),
    ("dutch", "words|nfkc|lower|stop:nl|stem:nl"),
    ("english", "words|nfkc|possessive|lower|stop:en|stem:en"),
    ("finnish", "words|nfkc|lower|stop:fi|stem:fi"),
    ("french", "words|nfkc|lower|elision:fr|stop:fr|stem:fr"),
    ("german", "words|nfkc|lower|stop:de|stem:de"),
    ("italian", "words|nfkc|lower|elision:it|stop:it|stem:it"),
    ("norwegian", "words|nfkc|lower|stop:no|stem:no"),
    ("portuguese", "words|nfkc|lower|stop:pt|stem:pt"),
    ("russian", "words|nfkc|lower|stop:ru|stem:ru"),
    ("spanish", "words|nfkc|lower|stop:es|stem:es"),
    ("swedish", "words|nfkc|lower|stop:sv|stem:sv"),
    ("turkish", "words|nfkc|lower:tr|stop:tr|stem:tr"),
];

/// Names and what they stand for in version 1.
const NAMES_OF_VERSION_1: &[(&str, &str)] = &[
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
    DEFAULT_ANALYZER,
    "alphanumeric",
    "whitespace",
    "words",
    "keyword",
    "ngram:MIN,MAX",
    "edge_ngram:MIN,MAX",
    "cjk_bigrams",
];

/// Filters as they are written, without those that name a language.
const FILTERS: &[&str] =
    &["lower", "nfc", "nfkc", "fold", "possessive", "length:MAX", "length:MIN,MAX"];

/// Built-in analyzers: a name, and the spec that it is short for.
pub fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    NAMES.iter().copied()
}

/// Built-in tokenizers as a spec names them.
pub fn tokenizers() -> impl Iterator<Item = &'static str> {
    TOKENIZERS.iter().copied()
}

/// Built-in filters as a spec names them, `stop:en` once for each language, and so on. Languages are those of this
/// build.
pub fn filters() -> impl Iterator<Item = String> {
    let plain = FILTERS.iter().map(|filter| (*filter).to_owned());
    let with = |filter: &'static str| move |language: &str| format!("{filter}:{language}");
    plain
        .chain(LOWER_LANGUAGES.into_iter().map(with("lower")))
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

/// The tokenizer and the filters of a spec, in a version of the analyzers.
pub(super) fn parse(spec: &str, version: u32) -> Result<(Splitter, Vec<Filter>)> {
    let is_old = version < VERSION_OF_CHARACTERS;
    let names = if is_old { NAMES_OF_VERSION_1 } else { NAMES };
    let trimmed = spec.trim();
    let long = names.iter().find(|(name, _)| *name == trimmed).map_or(trimmed, |(_, long)| long);
    let mut parts = long.split('|').map(str::trim);
    let in_spec = |error: Error| error.during(format!("reading the analyzer '{spec}'"));
    let first = parts.next().unwrap_or_default();
    let tokenizer = if is_old { old_tokenizer(first) } else { tokenizer(first) };
    let mut tokenizer = tokenizer.map_err(in_spec)?;
    let filter = |part| if is_old { old_filter(part) } else { filter(part) };
    let mut filters = parts.map(filter).collect::<Result<Vec<_>>>().map_err(in_spec)?;
    if filters.len() > FILTERS_MAX {
        return Err(Error::new(ErrorKind::Analyzer, "counting the filters of an analyzer")
            .expected(format!("at most {FILTERS_MAX}"))
            .found(filters.len().to_string()));
    }
    if tokenizer.takes_prepared() {
        let n = filters.iter().take_while(|filter| filter.is_of_characters()).count();
        let rest = filters.split_off(n);
        tokenizer = tokenizer.prepared_by(std::mem::replace(&mut filters, rest));
    }
    Ok((tokenizer, filters))
}

fn tokenizer(part: &str) -> Result<Splitter> {
    let (word, arguments) = split(part);
    match (word, arguments.as_slice()) {
        (DEFAULT_ANALYZER, []) => Ok(Splitter::folded()),
        ("alphanumeric", []) => Ok(Splitter::alphanumeric()),
        ("whitespace", []) => Ok(Splitter::whitespace()),
        ("words", []) => Ok(Splitter::words()),
        ("keyword", []) => Ok(Splitter::keyword()),
        ("cjk_bigrams", []) => Ok(Splitter::cjk_bigrams()),
        ("ngram", [min, max]) => Splitter::ngrams(number(part, min)?, number(part, max)?),
        ("edge_ngram", [min, max]) => Splitter::edge_ngrams(number(part, min)?, number(part, max)?),
        _ => {
            let names = NAMES.iter().map(|(name, _)| *name);
            let others = tokenizers().filter(|name| *name != DEFAULT_ANALYZER);
            let known: Vec<_> = names.chain(others).collect();
            Err(unknown("an analyzer or a tokenizer", part, &known.join(", ")))
        }
    }
}

/// A tokenizer as version 1 of the analyzers had it.
fn old_tokenizer(part: &str) -> Result<Splitter> {
    let (word, arguments) = split(part);
    match (word, arguments.as_slice()) {
        ("whitespace", []) => Splitter::old(Old::Whitespace),
        ("words", []) => Splitter::old(Old::Words),
        ("cjk_bigrams", []) => Splitter::old(Old::CjkBigrams),
        ("ngram", [min, max]) => {
            Splitter::old(Old::Ngrams { min: number(part, min)?, max: number(part, max)? })
        }
        ("edge_ngram", [min, max]) => {
            Splitter::old(Old::EdgeNgrams { min: number(part, min)?, max: number(part, max)? })
        }
        _ => tokenizer(part),
    }
}

fn filter(part: &str) -> Result<Filter> {
    let (word, arguments) = split(part);
    match (word, arguments.as_slice()) {
        ("lower", []) => Ok(Filter::lower_case()),
        ("lower", [language]) => Filter::lower_case_of(language),
        ("nfc", []) => Ok(Filter::nfc()),
        ("nfkc", []) => Ok(Filter::nfkc()),
        ("fold", []) => Ok(Filter::fold_diacritics()),
        ("possessive", []) => Ok(Filter::possessive()),
        ("elision", [language]) => Filter::elision(language),
        ("stop", [language]) => Filter::stop_words_of(language),
        ("stem", [language]) => Filter::stem(language),
        ("length", [max]) => length(part, 0, number(part, max)?),
        ("length", [min, max]) => length(part, number(part, min)?, number(part, max)?),
        _ => {
            let known = "lower:LANGUAGE, elision:LANGUAGE, stop:LANGUAGE, stem:LANGUAGE";
            Err(unknown("a filter", part, &format!("{}, {known}", FILTERS.join(", "))))
        }
    }
}

/// A filter as version 1 of the analyzers had it.
fn old_filter(part: &str) -> Result<Filter> {
    match split(part) {
        ("lower", arguments) if arguments.is_empty() => Ok(Filter::lower_characters()),
        _ => filter(part).map(Filter::with_apostrophes_of_version_1),
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
    use crate::analysis::ANALYSIS_VERSION;

    fn now(spec: &str) -> Result<(Splitter, Vec<Filter>)> {
        parse(spec, ANALYSIS_VERSION)
    }

    fn refusal(spec: &str) -> String {
        let error = parse(spec, ANALYSIS_VERSION).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Analyzer, "{spec}");
        error.to_string()
    }

    #[test]
    fn every_name_tokenizer_and_filter_that_is_listed_can_be_used() {
        for (name, long) in names() {
            if cfg!(feature = "stem") || !long.contains("stem") {
                assert!(now(name).is_ok() && now(long).is_ok(), "{name}");
            } else {
                assert!(refusal(name).contains("feature `stem`"), "{}", refusal(name));
            }
            assert!(
                is_built_in(name) && is_name(name) && (*name == *long || !is_name(long)),
                "{name}"
            );
        }
        for (name, long) in NAMES_OF_VERSION_1 {
            let is_there = cfg!(feature = "stem") || !long.contains("stem");
            assert!(!is_there || parse(name, 1).is_ok() && parse(long, 1).is_ok(), "{name}");
        }
        for tokenizer in tokenizers() {
            assert!(now(&tokenizer.replace("MIN,MAX", "2,3")).is_ok(), "{tokenizer}");
        }
        for filter in filters() {
            let filter = filter.replace("MIN,MAX", "2,3").replace("MAX", "9");
            assert!(now(&format!("words|{filter}")).is_ok(), "{filter}");
        }
    }

    #[test]
    fn white_space_around_the_parts_is_ignored() {
        let (_, filters) = now(" words | lower | length : 4 ").unwrap();
        assert_eq!(filters.len(), 2);
        assert!(now(" ngram : 2 , 3 | lower ").is_ok());
    }

    #[test]
    fn mistakes_are_told_with_what_is_there() {
        for (spec, words) in [
            ("", "found ''"),
            ("englsh", "english, "),
            ("lower", "an analyzer or a tokenizer: expected one of default, "),
            ("words|lowr", "a filter: expected one of lower, nfc, nfkc, fold, "),
            ("words|lower:en", "one of az, tr"),
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
