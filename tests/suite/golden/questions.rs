//! What is asked: queries, and the goals, orders and facets that shape their plans.

use treepie::facet::{FacetMethod, FacetRange};
use treepie::function::{Decay, FieldValue, Function, ScoreFunction};
use treepie::geo::{GeoGrid, GeoPoint};
use treepie::query::Query;
use treepie::search::{Collapse, Fusion, IdfScope, Order, RankedList, TotalMode};
use treepie::value::Interval;
use treepie::{Facet, SearchBuilder, Searcher, SortKey};

/// A name, and what it makes of a search.
pub(super) type Shape = (&'static str, fn(SearchBuilder<'_>) -> SearchBuilder<'_>);

/// What stands in one file.
pub(super) struct Group {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) questions: Vec<Question>,
}

pub(super) struct Question {
    pub(super) living: bool,
    pub(super) shape: Shape,
    pub(super) text: &'static str,
}

impl Question {
    pub(super) fn title(&self) -> String {
        let index = if self.living { "living" } else { "quiet" };
        format!("{index}, {}: {}", self.shape.0, self.text)
    }

    /// Whether the plan is that of a run, which may decide more.
    pub(super) fn runs(&self) -> bool {
        self.shape.0.starts_with("run ")
    }

    pub(super) fn search<'s>(&self, searcher: &'s Searcher, query: &'s Query) -> SearchBuilder<'s> {
        let search = (self.shape.1)(searcher.search(query));
        if self.shape.0 != OF_COLLECTION {
            return search;
        }
        let of_shards = searcher.collection_statistics(search.request()).unwrap();
        search.statistics(IdfScope::Collection(of_shards.into()))
    }

    pub(super) fn query(&self, searcher: &Searcher) -> Query {
        match self.text.strip_prefix("at least ").and_then(|rest| rest.split_once(" of ")) {
            // There are no words for it in the query language.
            Some((minimum, words)) => {
                let mut group = Query::boolean().minimum(minimum.parse().unwrap());
                for word in words.split(", ") {
                    group = group.should(searcher.parse(word).unwrap());
                }
                group.build()
            }
            None => {
                searcher.parse(self.text).unwrap_or_else(|error| panic!("{}: {error}", self.text))
            }
        }
    }
}

/// Shape of a search whose statistics are handed in.
const OF_COLLECTION: &str = "best 10, statistics of a collection";
const COUNT: Shape = ("count", |search| search.count_only());
const PAGE: Shape = ("page of 3", |search| search.order(Order::Document).limit(3));
const UNCOUNTED: Shape = ("page of 3, uncounted", |search| {
    search.order(Order::Document).limit(3).total(TotalMode::Unknown)
});
const DEEP: Shape = ("page of 5 from the 21st, counted up to 1000", |search| {
    search.order(Order::Document).offset(20).limit(5).total(TotalMode::UpTo(1_000))
});
const BEST: Shape = ("best 10", |search| search.limit(10));
const BEST_UNCOUNTED: Shape =
    ("best 10, uncounted", |search| search.limit(10).total(TotalMode::Unknown));

const NEAREST: Shape = ("nearest 10", |search| search.sort([SortKey::near("p", near())]).limit(10));
const FARTHEST: Shape =
    ("farthest 10", |search| search.sort([SortKey::near("p", near()).reversed()]).limit(10));

fn near() -> GeoPoint {
    GeoPoint::new(30.0, 70.0).unwrap()
}

const FUSED: Shape = ("best 10, fused with neighbours and a list", |search| {
    let list = RankedList::of_keys(["7", "1204", "9"]);
    search.fuse(Fusion::rrf().with(Query::nearest("v", [3.0, 4.0], 5)).list(list)).limit(10)
});

/// Each query with each shape, of both indexes.
fn both(shapes: &[Shape], texts: &[&'static str]) -> Vec<Question> {
    let of = |living: bool| {
        texts.iter().flat_map(move |text| {
            shapes.iter().map(move |shape| Question { living, shape: *shape, text })
        })
    };
    of(false).chain(of(true)).collect()
}

/// The same of one index.
fn one(living: bool, shapes: &[Shape], texts: &[&'static str]) -> Vec<Question> {
    both(shapes, texts).into_iter().filter(|question| question.living == living).collect()
}

pub(super) fn groups() -> Vec<Group> {
    let group = |name, about, questions| Group { name, about, questions };
    vec![
        group("leaves", "One word, one value, everything and nothing.", leaves()),
        group("boolean", "Conditions with each other.", boolean()),
        group("patterns", "Prefixes, wildcards, regular expressions, misspelt words.", patterns()),
        group("ranges", "Ranges, and sets of values.", ranges()),
        group("phrases", "Words that stand with each other.", phrases()),
        group("ranked", "The best by score.", ranked()),
        group("sorted", "The first in the order of fields, and groups of hits.", sorted()),
        group("vectors", "Neighbours of vectors, and what filters them.", vectors()),
        group("places", "Points in areas, alone and beside other conditions.", places()),
        group("facets", "What is counted beside the hits.", facets()),
    ]
}

fn vectors() -> Vec<Question> {
    let texts = [
        "v:nearest([3, 4], 5)",
        "v:within([3, 4], -2)",
        "by3 AND v:nearest([3, 4], 5) AND NOT k:k9",
        "by500 OR v:nearest([3, 4], 5)",
        "+by500 v:nearest([3, 4], 5)",
        "v:nearest([3, 4], 5) AND v:within([9, 9], -60)",
    ];
    let mut questions = both(&[COUNT, BEST], &texts);
    questions.extend(both(&[FUSED], &["by500 by7", "k:k7"]));
    questions
}

fn places() -> Vec<Question> {
    const MAP: Shape = ("cells, rings and box of p", |search| {
        let near = GeoPoint::new(30.0, 70.0).unwrap();
        let rings = ["..500km", "500km.."].map(|ring| ring.parse().unwrap());
        search
            .limit(0)
            .with_facet(Facet::grid("p", GeoGrid::Tile { zoom: 3 }))
            .with_facet(Facet::rings("p", near, rings))
            .with_facet(Facet::statistics("p"))
    });
    let texts = [
        "p:WITHIN [500km OF 30,70]",
        "p:WITHIN [BOX -1,-1 70,160]",
        "p:WITHIN [1km OF -80,0]",
        "by50 AND p:WITHIN [500km TO 3000km OF 30,70] AND NOT k:k9",
        "by500 OR p:WITHIN [500km OF 30,70]",
        "p:DISJOINT [2000km OF 30,70]",
        "p:WITHIN [POLYGON ((60 20, 80 20, 75 40, 65 40), (69 25, 71 25, 70 30))]",
    ];
    let mut questions = both(&[COUNT, BEST], &texts);
    let sorted = ["*", "by50", "p:WITHIN [3000km OF 30,70]"];
    questions.extend(both(&[NEAREST, FARTHEST], &sorted));
    questions.extend(both(&[MAP], &["*", "p:WITHIN [500km OF 30,70]"]));
    questions
}

fn leaves() -> Vec<Question> {
    let texts = [
        "*",
        "by1",
        "by2",
        "by50",
        "by4000",
        "absent",
        "w77",
        "k:k7",
        "tag:red",
        "tag:pink",
        "list:l12",
        "k:*",
        "tag:*",
        "list:*",
        "d:*",
        "n:*",
        "n:7",
        "d:2024-02-10",
        "t:*",
    ];
    let mut questions = both(&[COUNT, PAGE], &texts);
    questions.extend(both(&[UNCOUNTED, DEEP], &["*", "by2", "tag:red"]));
    questions
}

fn boolean() -> Vec<Question> {
    let texts = [
        "by2 AND by3",
        "by3 AND by2",
        "by2 AND by3 AND by5",
        "by1 AND by2",
        "by2 AND by4000",
        "by50 AND by500",
        "w77 AND w78",
        "by2 AND absent",
        "by2 OR by3",
        "by2 OR by3 OR by5",
        "by2 OR absent",
        "by50 OR by500 OR w77",
        "absent OR gone",
        "NOT by2",
        "NOT (by2 OR by3)",
        "NOT by1",
        "by2 AND NOT by3",
        "by2 AND NOT by4000",
        "by2 -by2",
        "+by2 +by3 -by50 -by500",
        "by2 AND (by3 OR by5)",
        "by2 AND (by3 OR by5) AND NOT by50",
        "(by2 OR by3) AND (by5 OR by7)",
        "by2 OR (by3 AND by5)",
        "by2 AND by1 AND by3 AND NOT by50",
        "tag:red AND tag:green",
        "tag:red AND by3",
        "tag:red OR tag:green OR tag:blue",
        "k:k7 AND tag:blue",
        "list:* AND by3 AND NOT list:l12",
        "d:* AND NOT tag:*",
        "NOT d:*",
        "NOT (NOT by2)",
        "(by2 AND by3) OR (by5 AND by7) OR by50",
        "by2 AND NOT (by3 AND by5)",
        "at least 2 of by2, by3, by5",
        "at least 3 of by2, by3, by5, by7",
        "at least 2 of by2, absent, by50",
        "at least 2 of tag:red, by3",
    ];
    let mut questions = one(false, &[COUNT, PAGE], &texts);
    let living =
        ["by2 AND by3", "by2 OR by3", "NOT by2", "by2 AND NOT by3", "by2 AND (by3 OR by5)"];
    questions.extend(one(true, &[COUNT, PAGE, UNCOUNTED], &living));
    questions.extend(one(
        true,
        &[COUNT],
        &["at least 2 of by2, by3, by5", "w77 AND w78", "by2 AND absent"],
    ));
    questions
}

fn patterns() -> Vec<Question> {
    let texts = [
        "w7*",
        "by5*",
        "w*",
        "absent*",
        "k:k1*",
        "list:l*",
        "w?7",
        "w*7",
        "b?*0",
        "?y2",
        "k:k?5",
        "/w[0-3]+/",
        "/by(2|3)/",
        "/absent[0-9]/",
        "k:/k[12]0/",
        "by50~1",
        "marino~1",
        "marinno~2",
        "absentee~1",
        "sam~1",
    ];
    let mut questions = one(false, &[COUNT, PAGE, UNCOUNTED], &texts);
    let inside = [
        "w7* AND by2",
        "by4000 AND w*",
        "w7* OR by50",
        "by2 AND NOT w7*",
        "w7* AND w*7",
        "NOT w*",
        "k:k1* AND w77",
        "k:k* AND by4000",
    ];
    questions.extend(both(&[COUNT, PAGE], &inside));
    questions.extend(one(true, &[COUNT, UNCOUNTED], &["w7*", "by50~1", "k:k1*"]));
    questions
}

fn ranges() -> Vec<Question> {
    let texts = [
        "n:[100 TO 200]",
        "n:{100 TO 200}",
        "n:[990 TO *]",
        "n:[* TO *]",
        "n:>500",
        "n:<=3",
        "n:[5000 TO 6000]",
        "n:[7 TO 7]",
        "d:[2024-01-01 TO 2024-03-31]",
        "d:>2024-11-30",
        "d:2024-02",
        "k:[k1 TO k2]",
        "list:[l1 TO l3}",
        "tag:[a TO c}",
        "t:[w1 TO w3]",
        "n:IN [1 2 3]",
        "k:IN [k1 k2 k3 k400]",
        "k:IN [absent gone]",
        "tag:IN [red green]",
        "d:IN [2024-01-05 2024-02-10]",
    ];
    let mut questions = both(&[COUNT, PAGE], &texts);
    let inside = [
        "n:[100 TO 200] AND by2",
        "n:[100 TO 900] AND by4000",
        "n:[100 TO 900] AND w77",
        "n:>500 AND d:>2024-06-01",
        "n:>500 AND NOT d:>2024-06-01",
        "n:[100 TO 200] OR by50",
        "NOT n:[100 TO 900]",
        "k:IN [k1 k2 k3] AND n:>500",
        "n:[0 TO 10] AND n:[990 TO *]",
        "tag:[a TO c} AND by500",
    ];
    questions.extend(both(&[COUNT, PAGE], &inside));
    questions.extend(both(&[UNCOUNTED], &["n:[100 TO 200]", "d:>2024-11-30", "k:[k1 TO k2]"]));
    questions
}

fn phrases() -> Vec<Question> {
    let texts = [
        "\"san marino\"",
        "\"marino san\"",
        "\"by1 by2\"",
        "\"by1 by2 by3\"",
        "\"by2 by1\"",
        "\"san\"",
        "\"san absent\"",
        "\"san marino\"~1",
        "\"marino san\"~1",
        "\"marino san\"~3",
        "\"san mar*\"",
        "\"by2 by*\"",
        "\"by1 by1\"",
        "k:\"k7\"",
    ];
    let mut questions = both(&[COUNT, PAGE], &texts);
    let inside = [
        "\"san marino\" AND by2",
        "\"san marino\" AND NOT by3",
        "\"san marino\" OR by50",
        "by2 AND NOT \"san marino\"",
        "\"san marino\" AND \"by1 by2\"",
        "\"san marino\" AND tag:red",
        "NOT \"san marino\"",
    ];
    questions.extend(one(false, &[COUNT, PAGE], &inside));
    questions.extend(one(true, &[COUNT], &inside));
    questions
}

fn ranked() -> Vec<Question> {
    let texts = [
        "by50",
        "by2 by3",
        "by2 by50 w77",
        "+by2 +by3",
        "+by2 by50",
        "by2 AND (by3 OR by50)",
        "w7*",
        "\"san marino\"",
        "\"san marino\"~2",
        "+san +marino -by3",
        "*",
        "tag:red",
        "absent",
        "+absent +by2",
        "by50^3 by2",
        "by2 w7*",
        "n:[100 TO 200] by50",
        "san~1",
        "at least 2 of by2, by50, san",
        "+by2^=0 +(by3 by50)",
        "+san^=0 +(by3 by50)",
    ];
    let mut questions = both(&[BEST, BEST_UNCOUNTED], &texts);
    const SEGMENTS: Shape = ("best 10, statistics of segments", |search| {
        search.limit(10).statistics(IdfScope::Segment)
    });
    const COLLECTION: Shape = (OF_COLLECTION, |search| search.limit(10));
    const TERMS: Shape =
        ("best 10, patterns by 20 terms", |search| search.limit(10).pattern_terms(20));
    const NTH: Shape = ("best 10 after the first 20", |search| search.offset(20).limit(10));
    const VALUE: Shape = ("best 10 with a field's value", |search| {
        search.limit(10).score_function(ScoreFunction::multiply(FieldValue::new("n").missing(1.0)))
    });
    const DECAY: Shape = ("best 10 with a decay", |search| {
        search.limit(10).score_function(ScoreFunction::sum(Decay::gauss("n", 500, 100.0)))
    });
    const EXPRESSION: Shape = ("best 10 with an expression", |search| {
        let function = Function::expression("n / 2").unwrap();
        search.limit(10).score_function(ScoreFunction::sum(function))
    });
    const FACET: Shape = ("best 10 with a facet", |search| search.limit(10).facet("tag", 3));
    questions.extend(one(true, &[SEGMENTS, COLLECTION], &["by2 by50", "+by2 +by3"]));
    questions.extend(one(false, &[TERMS], &["w7*", "by2 w7*"]));
    questions.extend(one(false, &[NTH], &["by2 by50", "\"san marino\""]));
    questions.extend(one(false, &[VALUE, DECAY, EXPRESSION], &["by2 by50", "*"]));
    questions.extend(one(false, &[FACET], &["by2 by50", "\"san marino\"", "tag:red"]));
    questions
}

fn sorted() -> Vec<Question> {
    const UP: Shape = ("first 5 by n", |search| search.limit(5).sort([SortKey::ascending("n")]));
    const DOWN: Shape = ("first 5 by n, descending, then k", |search| {
        search.limit(5).sort([SortKey::descending("n"), SortKey::ascending("k")])
    });
    const DATE: Shape = ("5 after the first 10 by d", |search| {
        search.offset(10).limit(5).sort([SortKey::descending("d")])
    });
    const RANDOM: Shape =
        ("first 5 at random", |search| search.limit(5).sort([SortKey::random(7)]));
    const SCORE: Shape = ("first 5 by score, then n", |search| {
        search.limit(5).sort([SortKey::score(), SortKey::ascending("n")])
    });
    const RUN: Shape =
        ("run first 5 by n", |search| search.limit(5).sort([SortKey::ascending("n")]));
    const GROUPS: Shape =
        ("first 5, one of each tag", |search| search.limit(5).collapse(Collapse::by("tag")));
    const GROUPS_SORTED: Shape = ("first 5 by n, two of each tag", |search| {
        search.limit(5).sort([SortKey::ascending("n")]).collapse(Collapse::by("tag").keep(2))
    });
    const MANY_GROUPS: Shape =
        ("first 2000, one of each k", |search| search.limit(2_000).collapse(Collapse::by("k")));
    let texts = ["*", "by2", "by2 AND by3", "w77", "absent", "n:[100 TO 200]", "\"san marino\""];
    let mut questions = both(&[UP, GROUPS], &texts);
    questions.extend(one(
        false,
        &[DOWN, DATE, RANDOM, SCORE, GROUPS_SORTED, MANY_GROUPS],
        &["by2", "by2 AND NOT by3"],
    ));
    questions.extend(both(&[RUN], &["*", "by2", "w77", "by2 AND by3"]));
    questions
}

fn facets() -> Vec<Question> {
    fn by(search: SearchBuilder<'_>, method: FacetMethod) -> SearchBuilder<'_> {
        search
            .order(Order::Document)
            .limit(3)
            .with_facet(Facet::values("tag").limit(3).method(method))
    }
    const TAG: Shape =
        ("facet tag", |search| search.order(Order::Document).limit(3).facet("tag", 3));
    const VALUES: Shape =
        ("facet k", |search| search.order(Order::Document).limit(3).facet("k", 10));
    const LIST: Shape =
        ("facet list", |search| search.order(Order::Document).limit(3).facet("list", 10));
    const WORDS: Shape =
        ("facet t", |search| search.order(Order::Document).limit(3).facet("t", 10));
    const BY_VALUE: Shape = ("facet k by value", |search| {
        search.count_only().with_facet(Facet::values("k").by_value().prefix("k1").limit(5))
    });
    const CONTAINING: Shape = ("facet k containing 9, at least 3", |search| {
        search.count_only().with_facet(Facet::values("k").containing("9").minimum(3))
    });
    const METHODS: [Shape; 4] = [
        ("facet tag by document frequencies", |search| by(search, FacetMethod::DocumentFrequency)),
        ("facet tag by the most frequent", |search| by(search, FacetMethod::MostFrequentFirst)),
        ("facet tag by the dictionary", |search| by(search, FacetMethod::Dictionary)),
        ("facet tag by the column", |search| by(search, FacetMethod::Column)),
    ];
    const RANGES: Shape = ("facet ranges of n", |search| {
        let range = |from: Option<i64>, to: Option<i64>| FacetRange::new(from, to);
        search
            .limit(0)
            .with_facet(Facet::ranges("n", [range(None, Some(10)), range(Some(10), None)]))
    });
    const MONTHS: Shape = ("facet months of d", |search| {
        search.limit(0).with_facet(Facet::date_histogram("d", Interval::Month))
    });
    const STEPS: Shape =
        ("facet steps of n", |search| search.limit(0).with_facet(Facet::histogram("n", 100)));
    const SUITABLE: Shape = ("facet suitable ranges and quantiles of n", |search| {
        search.limit(0).with_facet(Facet::auto_ranges("n", 5)).with_facet(Facet::quantiles("n", 4))
    });
    const STATISTICS: Shape = ("statistics of n, d and m", |search| {
        search
            .limit(0)
            .with_facet(Facet::statistics("n"))
            .with_facet(Facet::statistics("d"))
            .with_facet(Facet::statistics("m"))
    });
    const SPREADS: Shape = ("median and different values of n and d", |search| {
        search
            .limit(0)
            .with_facet(Facet::statistics("n").percentiles([50.0]))
            .with_facet(Facet::statistics("n").distinct())
            .with_facet(Facet::statistics("d").percentiles([50.0]).distinct())
    });
    const BEST: Shape = ("best of each tag by score", |search| {
        search.limit(0).with_facet(Facet::values("tag").limit(2).top_hits(2))
    });
    const BEST_SORTED: Shape = ("best of each tag by n", |search| {
        let search = search.limit(0).sort([SortKey::ascending("n")]);
        search.with_facet(Facet::values("tag").limit(2).top_hits(1))
    });
    const WITHIN: Shape = ("facet k and statistics within tag", |search| {
        let tags = Facet::values("tag").limit(2).with_facet(Facet::values("k").limit(3));
        search.limit(0).with_facet(tags.with_facet(Facet::statistics("n")))
    });
    const SELECTED: Shape = ("facets tag and list, tag red selected", |search| {
        search
            .limit(3)
            .order(Order::Document)
            .select("tag", ["red"])
            .facet("tag", 5)
            .facet("list", 5)
    });
    const RUN: Shape =
        ("run facet k", |search| search.order(Order::Document).limit(3).facet("k", 10));
    const RUN_WITHIN: Shape = ("run facet k within ranges of n", |search| {
        let range = |from: Option<i64>, to: Option<i64>| FacetRange::new(from, to);
        let ranges = Facet::ranges("n", [range(None, Some(10)), range(Some(10), None)]);
        search.limit(0).with_facet(ranges.with_facet(Facet::values("k").limit(3)).top_hits(1))
    });
    let texts = ["*", "by2", "w77", "absent"];
    let shapes = [TAG, VALUES, LIST, WORDS];
    let mut questions = both(&shapes, &texts);
    questions.extend(one(false, &METHODS, &["*", "by2"]));
    questions.extend(one(true, &METHODS, &["*"]));
    let shapes = [
        BY_VALUE,
        CONTAINING,
        RANGES,
        MONTHS,
        STEPS,
        SUITABLE,
        STATISTICS,
        WITHIN,
        SELECTED,
        SPREADS,
        BEST,
        BEST_SORTED,
    ];
    questions.extend(one(false, &shapes, &["*", "by2"]));
    questions.extend(one(true, &shapes[2..], &["*"]));
    questions.extend(both(
        &[RUN, RUN_WITHIN],
        &["*", "\"by2 by1\"", "w77 OR w78", "by2 AND by3 AND by5"],
    ));
    questions
}
