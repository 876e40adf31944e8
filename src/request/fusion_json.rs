//! Fusions as JSON, and back.

use super::fusion::{Fusion, FusionMethod, RANK_CONSTANT, RankedList};
use super::json::{read_query, read_vectors, unknown, write_query};
use crate::error::Result;
use crate::json::{Json, Reader};
use crate::query::{Boost, Query};
use crate::value::Value;

const METHODS: [(&str, FusionMethod); 3] = [
    ("rrf", FusionMethod::Rrf { k: RANK_CONSTANT }),
    ("sum", FusionMethod::Sum),
    ("rerank", FusionMethod::Rerank),
];

impl Fusion {
    pub(super) fn write_json(&self, json: &mut Json) {
        // By name, so that none that is new is forgotten.
        let Fusion { method, own_weight, queries, lists, window } = self;
        match method {
            FusionMethod::Rrf { k } => {
                json.field("by").string("rrf");
                json.field("k").number(k);
            }
            FusionMethod::Sum => json.field("by").string("sum"),
            FusionMethod::Rerank => json.field("by").string("rerank"),
        }
        write_weight(json, *own_weight);
        if let Some(window) = window {
            json.field("window").number(window);
        }
        if !queries.is_empty() {
            json.field("queries").array(queries, |json, (query, weight)| {
                json.object(|json| {
                    write_query(json, query);
                    write_weight(json, *weight);
                });
            });
        }
        if !lists.is_empty() {
            json.field("lists")
                .array(lists, |json, list| json.object(|json| list.write_json(json)));
        }
    }

    pub(super) fn read_json(reader: &mut Reader<'_>) -> Result<Self> {
        let (mut fusion, mut own_k) = (Fusion::rrf(), None);
        reader.object(&["by"], |reader, name| {
            match name {
                "by" => fusion.method = reader.one_of(&METHODS)?,
                "k" => own_k = Some(reader.whole()?),
                "weight" => fusion.own_weight = read_weight(reader)?,
                "window" => fusion.window = Some(reader.whole()?),
                "queries" => fusion.queries = reader.array(read_branch)?,
                "lists" => fusion.lists = reader.array(RankedList::read_json)?,
                _ => {
                    let names = "\"by\", \"k\", \"weight\", \"window\", \"queries\" or \"lists\"";
                    return unknown(reader, name, names);
                }
            }
            Ok(true)
        })?;
        match (&mut fusion.method, own_k) {
            (FusionMethod::Rrf { k }, Some(own)) => *k = own,
            (FusionMethod::Sum | FusionMethod::Rerank, Some(k)) => {
                return Err(
                    reader.error("a constant of ranks beside \"rrf\" alone", &format!("k {k}"))
                );
            }
            (_, None) => {}
        }
        Ok(fusion)
    }
}

impl RankedList {
    fn write_json(&self, json: &mut Json) {
        let RankedList { entries, weight, allows_missing } = self;
        json.field("keys").array(entries, |json, (key, _)| key.write_json(json));
        if !entries.is_empty() && self.is_scored() {
            let score =
                |json: &mut Json, score: &Option<f32>| json.float(score.unwrap_or_default());
            let scores: Vec<_> = entries.iter().map(|(_, score)| *score).collect();
            json.field("scores").array(&scores, score);
        }
        write_weight(json, *weight);
        if *allows_missing {
            json.field("allow_missing").boolean(true);
        }
    }

    fn read_json(reader: &mut Reader<'_>) -> Result<Self> {
        let (mut list, mut scores) = (RankedList::of(vec![]), None);
        let mut keys: Vec<Value> = vec![];
        reader.object(&["keys"], |reader, name| {
            match name {
                "keys" => keys = reader.array(Value::read_json)?,
                "scores" => scores = Some(reader.array(Reader::double)?),
                "weight" => list.weight = read_weight(reader)?,
                "allow_missing" => list.allows_missing = reader.boolean()?,
                _ => {
                    let names = "\"keys\", \"scores\", \"weight\" or \"allow_missing\"";
                    return unknown(reader, name, names);
                }
            }
            Ok(true)
        })?;
        let of_keys = match scores {
            None => RankedList::of_keys(keys),
            Some(scores) if scores.len() == keys.len() => {
                RankedList::scored(keys.into_iter().zip(scores))
            }
            Some(scores) => {
                let expected = format!("a score of each of {} keys", keys.len());
                return Err(reader.error(&expected, &scores.len().to_string()));
            }
        };
        Ok(RankedList { entries: of_keys.entries, ..list })
    }
}

fn read_branch(reader: &mut Reader<'_>) -> Result<(Query, Boost)> {
    let (mut query, mut weight, mut vectors) = (Query::Nothing, Boost::ONE, vec![]);
    reader.object(&["query"], |reader, name| {
        match name {
            "query" => query = read_query(reader)?,
            "vectors" => vectors = read_vectors(reader)?,
            "weight" => weight = read_weight(reader)?,
            _ => return unknown(reader, name, "\"query\", \"vectors\" or \"weight\""),
        }
        Ok(true)
    })?;
    let query = if vectors.is_empty() { query } else { query.with_vectors(vectors)? };
    Ok((query, weight))
}

fn write_weight(json: &mut Json, weight: Boost) {
    if weight != Boost::ONE {
        json.field("weight").float(weight.get());
    }
}

fn read_weight(reader: &mut Reader<'_>) -> Result<Boost> {
    let weight = reader.double()?;
    Boost::new(weight).map_err(|_| reader.error("a finite weight above 0", &weight.to_string()))
}
