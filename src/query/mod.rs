//! Queries: their tree, their text, and the bound form that the planner takes.
//!
//! - [`Query`] is the tree as it was asked, built by [`parse`] or by its constructors.
//! - [`parse`] reads the query language; errors carry the span they are about, and
//!   [`render_caret`] points at it.
//!
//! # Grammar
//!
//! ```text
//! query    = group { ("OR" | "||") group }
//! group    = and { and }
//! and      = clause { ("AND" | "&&") clause }
//! clause   = [ "+" | "-" | "NOT" | "!" ] weighted
//! weighted = [ field ":" | fields ":" ] atom [ "^" boost | "^=" score ]
//! atom     = word | "*" | phrase | word "*" | wildcard | fuzzy | "/" regex "/" | range | set | near | area
//!          | "(" query ")" [ "~" minimum ]
//!          | "MAX" "[" and { and } "]" [ "~" tie ]
//! phrase   = ( '"' words '"' [ "*" ] | "PHRASE" "[" part { part } "]" ) [ "~" [ ">" | "<>" ] slop ]
//! part     = word | '"' words '"' | word "*" | wildcard | fuzzy | "/" regex "/" | range | set | "*"
//! wildcard = a word with "*" (any characters) or "?" (one character) in it
//! fuzzy    = word "~" [ "0" | "1" | "2" ] [ "/" fixed ] [ "!" ]
//! range    = ("[" | "{") (value | "*") "TO" (value | "*") ("]" | "}") | (">" | ">=" | "<" | "<=") value
//! set      = "IN" "[" value { value } "]"
//! near     = "nearest(" vector "," whole number ")" | "within(" vector "," number ")"
//! vector   = "$" name | "[" number { "," number } "]" | "doc:" whole number
//! area     = ("WITHIN" | "INTERSECTS" | "CONTAINS" | "DISJOINT") "[" places "]"
//! places   = distance [ "TO" distance ] "OF" point | "BOX" point point | point
//! point    = latitude ("," | "/") longitude, or with the letters N, S, E and W behind the numbers in any order
//! distance = number ("m" | "km" | "mi" | "nmi" | "yd" | "ft")
//! fields   = "{" field [ "^" boost ] { [ "+" ] field [ "^" boost ] } "}"
//! value    = word | '"' text '"'
//! ```
//!
//! NOT, `+` and `-` bind first, then AND, then standing side by side, then OR. Clauses that stand
//! side by side are one group: a document must match all clauses with `+` and none with `-`; the
//! others are alternatives, of which it must match one if there is no `+`. A group of negatives
//! alone is everything but those. Operators are upper case only, and TO, IN, MAX, PHRASE and the relations to areas are words
//! where they stand for nothing else. `\` takes the next character literally. The quotation marks of print, “ and „, are
//! refused where a word could begin: a phrase stands between `"`.
//!
//! | written | matches |
//! |---|---|
//! | `*`, `field:*` | every document, every document that has a value in the field |
//! | `_missing:field` | every document that says nothing of the field; where the schema does not [keep](crate::SchemaBuilder::nulls) nulls, every document that has no value in it |
//! | `_null:field` | those that say that it is null, `null` or `[null]`, and give it no value: of a schema that keeps nulls |
//! | `_empty:field` | those that say that it is an empty text or an empty list: of a schema that keeps nulls. An empty text is a value, too |
//! | `word` | the term that the field's analyzer makes of it; of several (`AC/DC`) a phrase |
//! | `"of mice"` | the words one after the other; in a keyword field exactly this value, in a field without positions all of the words |
//! | `"of mice"~2` | the words at most 2 moves away from that: a word between them is one, two neighbours that change places are two |
//! | `"of mice"~>2` | the words in this order with at most 2 others between them |
//! | `"of mice"~<>2` | the words in any order with at most 2 others between them |
//! | `"of mi"*` | a phrase, the last word of which may go on |
//! | `PHRASE [the gr*t gatzby~1]` | a phrase of words and patterns, each of which stands for one word; `*` is a place where any one may stand; `~2`, `~>2` and `~<>2` as above |
//! | `pre*` | terms that begin so |
//! | `w?ld*c` | terms of this form: `?` is one character, `*` any number of them; in a field of n-grams, and between characters that are cut into pairs, all that stands between the `*`, in any order |
//! | `/re+/` | terms that match from their first to their last character; the syntax is that of the `regex` crate, and a slash is `\/`. Letters and the members of classes are as the field's analyzer or normalizer leaves them: `/ÜB[A-Z]*/` finds `Übung` by the default one |
//! | `word~1` | terms at most 1 character to insert, delete, replace or swap with the next away; 2 unless said, at most 2 |
//! | `word~1/3` | as that, but the first 3 characters are as written |
//! | `word~1!` | as that, but a swap counts as two |
//! | `[a TO f}` | terms from `a`, included, to `f`, excluded, in the order of their UTF-8 bytes; `*` is no bound |
//! | `>=a` | short for `[a TO *]` |
//! | `IN [a b "c d"]` | one of the values |
//! | `field:nearest($v, 10)` | the 10 documents whose vectors are nearest to `$v`, among those that the clauses beside it allow: see [`Query::nearest`]. `$v` [stands for](Query::with_vectors) a vector, which may also be written `[0.5, -1]`; `doc:7` stands for those of a document |
//! | `field:within($v, 0.8)` | documents with a vector of this similarity or a greater one |
//! | `field:WITHIN [10km OF 48.8566,2.3522]` | documents with a point at most 10 km from this one; `1km TO 2km OF` is a ring. Borders belong to areas: see [`geo`](crate::geo) |
//! | `field:WITHIN [BOX -10,170 10,-170]` | those with a point between the south-western and the north-eastern corner, here over 180° |
//! | `field:WITHIN [POLYGON ((0 0, 1 0, 1 1))]` | those with a point in this polygon, in well-known text or GeoJSON; `[@paris.geojson]` is the area of a [file](Query::with_area_files), `[CELL tile:8/129/88]` or `[CELL geohash:u09]` a cell of a grid |
//! | `field:DISJOINT [49.255,4.154]` | those with points, of which none is in the area, here a point; INTERSECTS is the same as WITHIN, and CONTAINS takes a point |
//! | `(a b c)~2` | at least 2 of the alternatives |
//! | `{title^3 body}:(…)` | what stands there, in one of these fields; `field:(…)` gives the field to every word inside that names none |
//!
//! In a typed field, of numbers or dates say, a word, a value in quotes, the ends of a range and the values of a list are
//! values: `price:9.99`, `price:[10 TO 20}`, `year:>1922.5`, `since:IN [2010-12 2011-06-01]`. A date means all of the time
//! that it leaves open, so `since:2010-12` is that month, and `[2010 TO 2011]` both years; without an offset it is UTC, unless
//! [`Query::at`] says another zone, which also gives a meaning to `since:>=now-7d` and `since:now-1M/M`. So does a
//! block of addresses: `ip:10.0.0.0/8`, `ip:[10.1.0.0/16 TO 10.3.0.0/16]`; all of version 4 stand in one place of the order of
//! version 6, between `::ffff:0.0.0.0` and `::ffff:255.255.255.255`. A
//! minus sign stands in quotes or behind a backslash. There are no patterns of characters there. A single value scores by how
//! rare it is, as that of a keyword does, everything else scores 1.
//!
//! Operators that change scores but not matches:
//!
//! | written | score |
//! |---|---|
//! | `a^2.5` | 2.5 times that of `a` |
//! | `a^=2.5` | 2.5 for every document that matches `a` |
//! | `a^=0` | none: `a` is a filter |
//! | `{title^3 + body}:a` | that of `a` in one field that is made of these (BM25F), see [`Query::in_combined_fields`] |
//! | `MAX [a b]~0.1` | that of the best alternative and a tenth of the others' |
//!
//! ```
//! use treepie::query::{ParseOptions, parse};
//!
//! let query = parse("history && (france || spain) -war", &ParseOptions::default())?;
//! assert_eq!(query.to_string(), "history AND (france OR spain) -war");
//! # Ok::<(), treepie::Error>(())
//! ```
//!
//! # Built in a program
//!
//! Each kind of query has a constructor, which takes text literally: nothing in it is syntax.
//!
//! ```
//! use treepie::query::{Boost, Fuzziness, ParseOptions, Proximity, Query, Tie, parse};
//!
//! let word = Query::word;
//! let built = [
//!     (Query::All, "*"),
//!     (word("paris"), "paris"),
//!     (Query::word_in("title", "paris"), "title:paris"),
//!     (Query::phrase("paris texas"), "\"paris texas\""),
//!     (Query::phrase_prefix("paris te"), "\"paris te\"*"),
//!     (Query::near("paris texas", Proximity::Slop(2)), "\"paris texas\"~2"),
//!     (Query::phrase_of([word("the"), Query::prefix("gr")], Proximity::Exact)?, "PHRASE [the gr*]"),
//!     (Query::prefix("par"), "par*"),
//!     (Query::wildcard("p?r*s"), "p?r*s"),
//!     (Query::regex("par(is|ma)"), "/par(is|ma)/"),
//!     (Query::fuzzy("pariss", Fuzziness::new(1))?, "pariss~1"),
//!     (Query::range(1900..2000).in_field("year"), "year:[1900 TO 2000}"),
//!     (Query::in_set(["red", "blue"]).in_field("color"), "color:IN [red blue]"),
//!     (Query::value("kind", "city"), "kind:\"city\""),
//!     (Query::exists("year"), "year:*"),
//!     (Query::missing("year"), "_missing:year"),
//!     (Query::all_of([word("paris"), word("texas")]), "paris AND texas"),
//!     (Query::any_of([word("paris"), word("texas")]), "paris OR texas"),
//!     (Query::not(word("paris")), "NOT paris"),
//!     (Query::boolean().must(word("a")).should(word("b")).must_not(word("c")).build(), "+a b -c"),
//!     (Query::best_of([word("paris"), word("texas")], Tie::new(0.1)?), "MAX [paris texas]~0.1"),
//!     (word("paris").boosted(2.5)?, "paris^2.5"),
//!     (word("paris").constant_score(1.0)?, "paris^=1"),
//!     (word("paris").filter(), "paris^=0"),
//!     (word("paris").in_fields([("title", Boost::new(3.0)?), ("body", Boost::ONE)]), "{title^3 body}:paris"),
//! ];
//! for (query, written) in built {
//!     assert_eq!(parse(written, &ParseOptions::default())?, query, "{written}");
//! }
//! # Ok::<(), treepie::Error>(())
//! ```
//!
//! A search box has [`Query::parse_lenient`], which reads whatever is typed; [`Query::words`] knows no syntax at all, and
//! [`escape`] makes a text literal.
//!
//! Cost: parsing takes one pass over at most [`QUERY_BYTES_MAX`] bytes, printing one walk over the
//! tree. Trees from [`parse`] are at most [`DEPTH_MAX`] brackets deep; a tree built by hand may be of
//! any depth: it is copied, compared, printed and dropped without recursion, and refused when it is
//! asked.

mod address;
mod areas;
mod at;
mod build;
mod caret;
mod copies;
mod cut;
mod expand;
mod lexer;
mod literals;
mod parameters;
mod parser;
mod phrase;
mod phrase_of;
mod phrase_spec;
mod print;
mod bind;
mod logical;
mod nearest;
mod normal;
mod states;
mod typed;
mod walk;
mod weight;

use crate::geo::{GeoArea, GeoRelation};
use std::hash::{Hash, Hasher};
use std::ops::{Bound, Range};

pub use crate::expansion::{
    FUZZY_CHARS_MAX, PATTERN_TERMS_MAX, REGEX_BYTES_MAX, REGEX_NEST_MAX, TERMS_VISITED_MAX,
    WILDCARD_BYTES_MAX,
};
pub(crate) use bind::{
    BindMemory, BindOptions, BoundQuery, BoundSelections, Rewritten, bind, is_required,
    joined_words, matching, matching_in, rewrite,
};
pub use bind::{COMBINED_WEIGHT_MAX, COMBINED_WEIGHT_MIN, TERMS_MAX};
pub use build::GroupBuilder;
pub use caret::render_caret;
pub(crate) use logical::{CombinedField, Logical};
pub use nearest::{Effort, Neighbors, Numbers, QueryVector};
pub(crate) use normal::{NeighborsSpec, Normal};
pub use parser::{
    CLAUSES_MAX, DEPTH_MAX, DefaultOperator, LenientQuery, ParseOptions, QUERY_BYTES_MAX, Remark,
    parse,
};
pub use phrase::{
    NEAR_WORDS_MAX, PHRASE_PATTERN_LISTS_MAX, PHRASE_PATTERN_POSITIONS_MAX, PHRASE_PATTERNS_MAX,
    READINGS_MAX,
};
pub use phrase_of::PhrasePart;
pub(crate) use phrase_spec::PhraseSpec;
pub use print::escape;
pub use weight::{Boost, Score, Tie};

/// A question: which documents match, and with what score.
///
/// `Display` prints it in the query language; [`parse`] with default options gives the same tree
/// back, or, for a tree that no text means (an `And` of one, an empty `Or`), an equivalent one.
/// The constructors build no such trees, and flatten what says the same in one level.
///
/// Since dropping a tree must not recurse, its parts cannot be moved out by a pattern; take them
/// with [`std::mem::take`] if that is needed.
///
/// ```
/// use treepie::query::Query;
///
/// let words = Query::any_of([Query::word("france"), Query::word("spain")]);
/// let query = Query::group(vec![], vec![words], vec![Query::value("qualifier", "film")]);
/// assert_eq!(query.to_string(), r#"(france OR spain) -qualifier:"film""#);
/// ```
#[non_exhaustive]
pub enum Query {
    /// Every document: `*`.
    All,
    /// No document: `NOT *`.
    Nothing,
    /// Documents with this word: `word`, `field:word`. The field's analyzer decides what the terms are.
    Word {
        /// The field, or none for all default fields.
        field: Option<String>,
        /// The word as written, escapes resolved.
        text: String,
        /// Place in the text of the query.
        place: Place,
    },
    /// Documents with these words one after the other: `"the words"`.
    ///
    /// In a keyword field these are documents with exactly this value.
    Phrase {
        /// The field, or none for all default fields.
        field: Option<String>,
        /// Text between the quotes, escapes resolved.
        text: String,
        /// Whether the last word is only the beginning of one: `"the wor"*`.
        prefix: bool,
        /// Distance that the words may have.
        proximity: Proximity,
        /// Place in the text of the query.
        place: Place,
    },
    /// Documents with words and patterns one after the other: `PHRASE [the gr*t gatsby]`.
    ///
    /// In a field without positions all must match, in any order. Words that are the same, and patterns that are,
    /// take different places; a place may be that of two different patterns.
    PhraseOf {
        /// The field, or none for all default fields.
        field: Option<String>,
        /// Words and patterns, in their order.
        parts: Vec<PhrasePart>,
        /// Distance that the words may have.
        proximity: Proximity,
        /// Place in the text of the query.
        place: Place,
    },
    /// Documents with a term that begins so: `pre*`.
    Prefix {
        /// The field, or none for all default fields.
        field: Option<String>,
        /// The beginning, escapes resolved.
        text: String,
        /// Place in the text of the query.
        place: Place,
    },
    /// Documents with a term of this form: `w?ld*c`.
    Wildcard {
        /// The field, or none for all default fields.
        field: Option<String>,
        /// Pattern: `?` is one character, `*` any number, `\` takes the next one literally.
        pattern: String,
        /// Place in the text of the query.
        place: Place,
    },
    /// Documents with a term that matches a regular expression as a whole: `/re+/`.
    Regex {
        /// The field, or none for all default fields.
        field: Option<String>,
        /// The expression, without slashes around it, in the syntax of the `regex` crate.
        pattern: String,
        /// Place in the text of the query.
        place: Place,
    },
    /// Documents with a term that is like this word: `word~1`.
    Fuzzy {
        /// The field, or none for all default fields.
        field: Option<String>,
        /// The word, escapes resolved.
        text: String,
        /// Edits that the term may be away.
        fuzziness: Fuzziness,
        /// Place in the text of the query.
        place: Place,
    },
    /// Documents with a term between two others, in the order of bytes: `[a TO f}`.
    Range {
        /// The field, or none for all default fields.
        field: Option<String>,
        /// Beginning of the range.
        lower: Bound<String>,
        /// End of the range.
        upper: Bound<String>,
        /// Place in the text of the query.
        place: Place,
    },
    /// Documents with one of these values: `IN [a b "c d"]`.
    InSet {
        /// The field, or none for all default fields.
        field: Option<String>,
        /// The values; of none, no document matches.
        values: Vec<String>,
        /// Place in the text of the query.
        place: Place,
    },
    /// Documents that have a value in this field: `field:*`.
    Exists {
        /// The field.
        field: String,
        /// Place in the text of the query.
        place: Place,
    },
    /// Documents whose vectors are nearest to another, or near enough: `field:nearest($v, 10)`, `field:within($v, 0.8)`.
    ///
    /// See [`Query::nearest`].
    Nearest {
        /// The field; a query without one is refused when it is asked.
        field: Option<String>,
        /// Vector whose neighbours are looked for.
        vector: QueryVector,
        /// Number of neighbours, or how near they are.
        wanted: Neighbors,
        /// Place in the text of the query.
        place: Place,
    },
    /// Documents whose points have a relation to an area: `field:WITHIN [10km OF 48.8566,2.3522]`.
    Area {
        /// The field; none is refused.
        field: Option<String>,
        /// Relation of the points to the area.
        relation: GeoRelation,
        /// The area.
        area: GeoArea,
        /// Place in the text of the query.
        place: Place,
    },
    /// Documents that match all of these: `a AND b`. An empty list matches every document.
    And(Vec<Query>),
    /// Documents that match one of these: `a OR b`. An empty list matches no document.
    Or(Vec<Query>),
    /// Documents that do not match this: `NOT a`.
    Not(Box<Query>),
    /// Clauses side by side: `+must should -must_not`, `(a b c)~2`.
    ///
    /// A document must match all of `must`, none of `must_not`, and at least `minimum` of `should`;
    /// without a minimum one of `should` if `must` is empty and `should` is not. A clause that
    /// must match and not be scored is a [filter](Query::filter) in `must`.
    Group {
        /// Clauses with `+`.
        must: Vec<Query>,
        /// Clauses without a prefix.
        should: Vec<Query>,
        /// Clauses with `-`, `!` or NOT.
        must_not: Vec<Query>,
        /// Number of `should` clauses that must match.
        minimum: Option<u32>,
    },
    /// Documents that match one of these, with the score of the best: `MAX [a b]~0.1`.
    DisMax {
        /// The alternatives.
        any: Vec<Query>,
        /// The part of their score that the others add.
        tie: Tie,
    },
    /// Query with its score multiplied: `a^2.5`.
    Boost {
        /// The query that is weighted.
        query: Box<Query>,
        /// The factor.
        boost: Boost,
    },
    /// Query whose documents all have one score: `a^=2.5`; `a^=0` is a filter.
    ConstantScore {
        /// The query that must match.
        query: Box<Query>,
        /// The score.
        score: Score,
    },
    /// Query with other default fields: `{title^3 body}:(…)`, `{title^3 + body}:(…)`.
    Fields {
        /// The names of the fields, each with the weight of its matches.
        fields: Vec<(String, Boost)>,
        /// Whether words are scored as if the fields were [one](Query::in_combined_fields).
        combined: bool,
        /// The query.
        query: Box<Query>,
    },
}

/// Distance and order of the words of a phrase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Proximity {
    /// Next to each other, in this order: `"a b"`.
    #[default]
    Exact,
    /// At most so many moves away from that, in any order: `"a b"~2`. With p(i) the position of
    /// word i, the greatest p(i) - i is at most this much more than the least, as in Lucene. Words
    /// that are the same stand in different places, here and below.
    Slop(u32),
    /// In this order, with at most so many other words between: `"a b"~>2`. The places of words that the field's
    /// analyzer leaves out, stop words say, are not counted.
    Ordered(u32),
    /// In any order, with at most so many other words between: `"a b"~<>2`.
    Near(u32),
}

/// Maximum edit distance of a term from a word, and how it is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fuzziness {
    /// Maximum number of characters to insert, delete or replace: 0 to [`Fuzziness::DISTANCE_MAX`].
    pub distance: u8,
    /// Number of characters at the beginning that must be as written.
    pub prefix_len: u32,
    /// Whether two neighbours that change places count as one and not as two.
    pub transpositions: bool,
}

impl Fuzziness {
    /// The greatest distance there is.
    pub const DISTANCE_MAX: u8 = 2;

    /// Allows words at most `distance` away, transpositions included, without a fixed beginning.
    ///
    /// ```
    /// use treepie::query::{Fuzziness, Query};
    ///
    /// let one_away = Fuzziness::new(1);
    /// assert_eq!(Query::fuzzy("londn", one_away)?.to_string(), "londn~1");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn new(distance: u8) -> Self {
        Fuzziness { distance, prefix_len: 0, transpositions: true }
    }
}

/// The fuzziness of `word~`.
impl Default for Fuzziness {
    fn default() -> Self {
        Fuzziness::new(Self::DISTANCE_MAX)
    }
}

/// Place of a word or its field in the query text, for messages.
///
/// Two trees that differ in places only are the same query, so all places are equal.
#[derive(Clone, Debug, Default)]
pub struct Place {
    pub(crate) field: Option<Range<usize>>,
    pub(crate) text: Option<Range<usize>>,
}

impl PartialEq for Place {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Place {}

impl Hash for Place {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
