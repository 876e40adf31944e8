//! [`ExplainTree`] → JSON, and plans that were kept, read back. The shape is a contract: one table of names for each object, by
//! which it is written and read.

use super::*;
use crate::error::Result;
use crate::json::{Json, JsonValue, Reader, json_names, read_some};
use crate::ranking::scorer::Explanation;

impl ExplainTree {
    /// The tree as one JSON object on one line; its shape is [`JSON_SCHEMA`].
    pub fn to_json(&self) -> String {
        let mut json = Json::default();
        self.write(&mut json);
        json.out
    }

    /// The tree that [`to_json`](Self::to_json) wrote. Names that are not known are left out, as a later version may write
    /// more of them; what is derived, such as `q_error`, is not read.
    ///
    /// Takes time and memory for a few copies of the text.
    ///
    /// # Errors
    ///
    /// With the line, the column and the path that leads there, such as `plan.children[2].estimate.upper`:
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) for what is not JSON, lacks a name, has a value of the wrong type,
    /// or has nodes with other ids than [`ExplainNode::number`] gives them;
    /// [`ErrorKind::UnsupportedVersion`](crate::ErrorKind::UnsupportedVersion) for a `schema_version` other than
    /// [`SCHEMA_VERSION`]; and [`ErrorKind::LimitExceeded`](crate::ErrorKind::LimitExceeded) for more than
    /// [`JSON_BYTES_MAX`], or more than 640 objects and arrays inside each other, which no plan of a query has.
    ///
    /// ```
    /// use treepie::explain::{ExplainNode, ExplainTree};
    ///
    /// let tree = ExplainTree::new("rust", ExplainNode::new("Term", "title:rust"));
    /// assert_eq!(ExplainTree::from_json(&tree.to_json())?, tree);
    ///
    /// let torn = &tree.to_json()[..100];
    /// let error = ExplainTree::from_json(torn).unwrap_err();
    /// assert!(error.to_string().contains("line 1, column "), "{error}");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn from_json(text: &str) -> Result<ExplainTree> {
        let mut reader = Reader::new(text, "a plan")?;
        let tree = ExplainTree::read(&mut reader)?;
        reader.end()?;
        Ok(tree)
    }
}

/// The id of a node, which has to be the path that leads to it.
fn read_place(slot: &mut String, reader: &mut Reader<'_>) -> Result<()> {
    *slot = reader.places().fold("0".to_owned(), |place, nth| format!("{place}.{nth}"));
    reader.one_of(&[(&**slot, ())])
}

json_names! {
    Severity;
    Verdict;
}

/// Objects by their names, in the order in which they are written:
///
/// | before a name | written | read |
/// |---|---|---|
/// | `must` | always | has to be there |
/// | `may` | always | nothing where an older version has not written it |
/// | `some` | where there is one | `None` where it is not there |
/// | `full` | where it is not 0, false or empty | that where it is not there |
/// | `word` | always, null where it is empty | as `may` |
/// | `name` | always, by what it is called | has to be there |
/// | `terms` | in a facet of which anything was counted by terms | as `may` |
/// | `told` | where the function of that name has one | never, as it follows from the others |
/// | `rounded` | as `told`, with three decimals | never |
/// | `place` | always | has to be the place of the node, as a path from the root |
/// | `version` | always, [`SCHEMA_VERSION`] | has to be that |
macro_rules! json_objects {
    ($($type:ident { $($how:ident $name:ident,)+ } $(=> $check:ident)?)+) => {
        $(impl JsonValue for $type {
            fn write(&self, json: &mut Json) {
                json.object(|json| {
                    $(json_objects!(write $how self, json, $name);)+
                });
            }

            fn read(reader: &mut Reader<'_>) -> Result<Self> {
                let mut it = Self::default();
                it.read_to(reader)?;
                Ok(it)
            }

            fn read_to(&mut self, reader: &mut Reader<'_>) -> Result<()> {
                let required = [$(json_objects!(required $how $name)),+].concat();
                reader.object(&required, |reader, name| {
                    let read = match name {
                        $(stringify!($name) => json_objects!(read $how self, reader, $name),)+
                        _ => return Ok(false),
                    };
                    read.map(|()| true)
                })?;
                $($check(reader, self)?;)?
                Ok(())
            }
        })+
    };
    (write some $it:expr, $json:ident, $name:ident) => {
        $json.put_some(stringify!($name), $it.$name.as_ref())
    };
    (write full $it:expr, $json:ident, $name:ident) => {
        $json.put_full(stringify!($name), &$it.$name)
    };
    (write word $it:expr, $json:ident, $name:ident) => {
        $json.field(stringify!($name)).string_or_null(Some(&*$it.$name).filter(|it| !it.is_empty()))
    };
    (write name $it:expr, $json:ident, $name:ident) => {
        $json.field(stringify!($name)).string($it.$name.name())
    };
    (write terms $it:expr, $json:ident, $name:ident) => {
        $json.put_some(stringify!($name), $it.is_by_terms().then_some(&$it.$name))
    };
    (write told $it:expr, $json:ident, $name:ident) => {
        $json.put_some(stringify!($name), $it.$name().as_ref())
    };
    (write rounded $it:expr, $json:ident, $name:ident) => {
        let rounded = $it.$name().map(|number| (number * 1_000.0).round() / 1_000.0);
        $json.put_some(stringify!($name), rounded.as_ref())
    };
    (write version $it:expr, $json:ident, $name:ident) => {
        $json.put(stringify!($name), &SCHEMA_VERSION)
    };
    (write $how:ident $it:expr, $json:ident, $name:ident) => {
        $json.put(stringify!($name), &$it.$name)
    };
    (required must $name:ident) => { &[stringify!($name)][..] };
    (required name $name:ident) => { &[stringify!($name)][..] };
    (required place $name:ident) => { &[stringify!($name)][..] };
    (required version $name:ident) => { &[stringify!($name)][..] };
    (required $how:ident $name:ident) => { &[][..] };
    (read some $it:expr, $reader:ident, $name:ident) => { read_some(&mut $it.$name, $reader) };
    (read word $it:expr, $reader:ident, $name:ident) => {
        $reader.or_null(Reader::string).map(|word| $it.$name = word.unwrap_or_default())
    };
    (read name $it:expr, $reader:ident, $name:ident) => {
        $reader.string().map(|name| $it.$name = (&*name).into())
    };
    (read told $it:expr, $reader:ident, $name:ident) => { return Ok(false) };
    (read rounded $it:expr, $reader:ident, $name:ident) => { return Ok(false) };
    (read place $it:expr, $reader:ident, $name:ident) => { read_place(&mut $it.$name, $reader) };
    (read version $it:expr, $reader:ident, $name:ident) => { $reader.version(SCHEMA_VERSION, "a plan") };
    (read $how:ident $it:expr, $reader:ident, $name:ident) => { $it.$name.read_to($reader) };
}

json_objects! {
    ExplainTree {
        version schema_version, must query, must parsed, must rewritten, must notes, may findings, must plan, must segments,
        some page, must facets, full documents, some term_lookups, some planning_ns, some planning, told rest_ns,
        some total_ns, some repeated,
    }
    ExplainNode {
        place id, name operator, must label, may field, may predicate, word algorithm, must estimate, some neighbors,
        some terms, some actual, some times, rounded q_error, may segments, may decisions, full windows, must children,
    }
    ExplainPage { must offset, must limit, must total, }
    RepeatedRuns { must runs, must planning, must total, }
    RunTimes { must min_ns, must median_ns, must max_ns, }
    PlanningTimes { some parse_ns, must bind_ns, must look_up_ns, must estimate_ns, must choose_ns, }
    Estimate { must documents, must lower, must upper, must source, }
    Actual {
        must documents, some documents_in, must time_ns, must bytes_read, must containers, some terms, some vectors,
        some geo, some positions, some ranking, some sort, some streamed, must complete, full stopped,
    }
    ContainerCounts { must array, must bitmap, must run, must skipped, }
    TermCounts { must visited, must expanded, must cut, }
    VectorCounts {
        must candidates, must compared, full rescored, full proved_out, full hops, full distances, full blocks,
        full switched, full exhausted, told ended, full nearest, full recalled,
    }
    GeoCounts {
        must boxes_tested, must boxes_settled, full pages_inside, full pages_border, must points_tested,
        must points_by_formula,
    }
    PositionCounts { must candidates, must positions, }
    RankingCounts {
        must documents_scored, some postings, must blocks, must blocks_skipped, must windows, must windows_skipped,
        full searched_twice, some candidates, may thresholds,
    }
    CandidateCounts { must looked_up, must found, must skipped_by_blocks, must skipped_by_frequencies, }
    Threshold { must documents, must score, }
    ColumnCounts {
        must documents, must blocks, must blocks_skipped, full ends_looked_up, full deleted_taken_away,
    }
    StreamCounts { must segments, must given_up, must terms, must documents, must candidates, }
    NodeSegment { must id, word algorithm, must estimate, some actual, }
    ContainerMap { must segment, must kinds, must documents, } => windows_are_counted
    Decision {
        must rule, must accepted, must reason, may estimated_cost_ns, some measured_ns, told confirmed, some recall,
        may alternative, full others,
    }
    Alternative { must name, may estimated_cost_ns, some measured_ns, some recall, }
    Recall { must nearest, must recalled, }
    NeighborsEstimate { must way, full ef, must recall, full distances, }
    ExplainSegment { must id, must documents, full deleted, must bytes, }
    ExplainFacet {
        may operator, must field, must limit, some ranges, some options, word algorithm, must terms, some estimate, some actual, some times,
        may decisions, full within,
    } => facets_have_operators
    FacetActual {
        some within, terms terms_intersected, terms terms_skipped, terms terms_from_document_frequency,
        full deleted_taken_away, must time_ns, terms bytes_read, some column, some geo,
    }
    FacetEstimate { must buckets, may buckets_upper, must documents, may lower, may upper, }
    InBuckets { must buckets, must documents, }
    Finding { must rule, must severity, may node, may facet, must message, may remedy, full rebuild, }
    ExplainDocument {
        must doc, must title, may deleted, must matches, may failed_at, may reason, may misses, must verdicts, may score,
    }
    Explanation { must value, must what, must parts, }
}

/// Plans that were written before there were others have facets alone.
fn facets_have_operators(_: &Reader<'_>, facet: &mut ExplainFacet) -> Result<()> {
    if facet.operator.is_empty() {
        facet.operator = ExplainFacet::of("").operator;
    }
    Ok(())
}

fn windows_are_counted(reader: &Reader<'_>, map: &ContainerMap) -> Result<()> {
    let (n_kinds, n_numbers) = (map.kinds.chars().count(), map.documents.len());
    if n_kinds == n_numbers {
        return Ok(());
    }
    let expected = format!("a number of documents for each of {n_kinds} windows");
    Err(reader.error(&expected, &format!("{n_numbers} before this")))
}

#[cfg(test)]
mod reading_tests;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::explain::{ExplainNode, sample};

    fn parsed(tree: &ExplainTree) -> Value {
        serde_json::from_str(&tree.to_json()).expect("valid JSON")
    }

    #[test]
    fn the_shape_is_the_documented_one() {
        let value = parsed(&ExplainTree { planning_ns: Some(3_000), ..sample::analyzed() });
        assert_eq!(
            value["plan"]["children"][0],
            json!({
                "id": "0.0", "operator": "Term", "label": "title:history", "field": "title",
                "predicate": "title:history", "algorithm": null,
                "estimate": {"documents": 4312, "lower": 4312, "upper": 4312, "source": "document frequency"},
                "actual": {
                    "documents": 4312, "time_ns": 1200, "bytes_read": 8192,
                    "containers": {"array": 1, "bitmap": 2, "run": 0, "skipped": 29}, "complete": true
                },
                "q_error": 1,
                "segments": [], "decisions": [], "children": []
            })
        );
        assert_eq!(value["schema_version"], 1);
        assert_eq!(
            value["plan"]["decisions"][0],
            json!({
                "rule": "order by document frequency", "accepted": true,
                "reason": "the rarest input first", "estimated_cost_ns": 2900,
                "alternative": {"name": "as written", "estimated_cost_ns": 5100}
            })
        );
        assert_eq!(value["plan"]["decisions"][1]["alternative"], Value::Null);
        assert_eq!(value["plan"]["actual"]["documents_in"], 4430);
        assert_eq!(value["plan"]["segments"][0]["id"], "0a1b");
        assert_eq!(
            value["segments"],
            json!([{"id": "0a1b", "documents": 13_755_095, "bytes": 641_728_512}])
        );
        assert_eq!(value["facets"][0]["actual"]["terms_skipped"], 288);
        assert_eq!((&value["planning_ns"], &value["total_ns"]), (&json!(3_000), &json!(42_000)));
        assert_eq!(value["rest_ns"], 39_000 - sample::analyzed().measured_ns());
        assert_eq!(value["notes"], json!(["'AC/DC' is several words"]));
    }

    #[test]
    fn what_was_not_run_has_no_actual() {
        let mut tree = sample::analyzed();
        (tree.planning_ns, tree.total_ns) = (None, None);
        tree.plan.actual = None;
        tree.facets[0].actual = None;
        let value = parsed(&tree);
        for (object, name) in [
            (&value, "planning_ns"),
            (&value, "rest_ns"),
            (&value, "total_ns"),
            (&value["plan"], "actual"),
            (&value["plan"], "q_error"),
            (&value["facets"][0], "actual"),
        ] {
            assert!(object.is_object() && object.get(name).is_none(), "{name} in {object}");
        }
    }

    proptest! {
        #[test]
        fn any_text_survives(text in "(\\PC|[\0-\u{9f}]|[\u{2028}\u{2029}\u{feff}\u{202e}\"\\\\/<]|.){0,20}") {
            let tree = ExplainTree::new(text.clone(), ExplainNode::new("Term", text.clone()));
            let written = tree.to_json();
            let on_one_line = !written.contains(['\n', '\u{2028}', '\u{2029}', '\u{1b}']);
            prop_assert!(on_one_line);
            let value = parsed(&tree);
            prop_assert_eq!(value["query"].as_str(), Some(&*text));
            prop_assert_eq!(value["plan"]["label"].as_str(), Some(&*text));
        }
    }
}
