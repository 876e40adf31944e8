//! Looking up words in several fields that are taken for one.

use super::Weight;
use super::bm25::{FieldScoring, idf};
use super::combined::{CombinedWeight, RankedField};
use super::node::Node;
use super::statistics::Sources;
use crate::error::Result;
use crate::format::lengths::Bm25;
use crate::query::CombinedField;
use std::sync::Arc;

impl Weight<'_> {
    pub(crate) fn combined(
        &mut self,
        fields: &[CombinedField],
        boost: f32,
        sources: &Sources<'_>,
    ) -> Result<Node> {
        let (mut n_docs, mut df, mut n_tokens) = (0, 0, 0.0);
        let mut parameters = None;
        let mut ranked = Vec::with_capacity(fields.len());
        for CombinedField { field, weight, term } in fields {
            let place = self.place_of(*field, sources)?;
            let own = &self.fields[place];
            let (k1, b) = *parameters.get_or_insert((own.bm25.k1, own.bm25.b));
            let bm25 = Bm25 { k1, b, average: own.bm25.average };
            let scoring = match bm25 == own.bm25 {
                true => Arc::clone(own),
                false => Arc::new(FieldScoring { bm25, norm_cache: bm25.norm_cache(), ..**own }),
            };
            n_docs = n_docs.max(own.n_docs);
            n_tokens += f64::from(*weight) * own.n_tokens as f64;
            let mut infos = vec![None; self.segments.len()];
            if let Some(term) = term {
                for (info, segment) in infos.iter_mut().zip(&self.segments) {
                    *info = sources.look_ups.get(*segment, *field, term)?;
                }
                let here = infos.iter().flatten().map(|info| u64::from(info.df)).sum();
                df = df.max(sources.statistics.document_frequency(*field, term, here)?);
            }
            ranked.push(RankedField { weight: *weight, scoring, term: term.clone(), infos });
        }
        let (k1, b) = parameters.unwrap_or_default();
        // Length of one word where there are none, to divide by.
        let average = if n_docs > 0 && n_tokens > 0.0 { n_tokens / n_docs as f64 } else { 1.0 };
        let bm25 = Bm25 { k1, b, average: average as f32 };
        let weight = boost * idf(n_docs, df) * (k1 + 1.0);
        let word = CombinedWeight { fields: ranked, bm25, n_docs, df, boost, weight };
        self.combined.push(Arc::new(word));
        Ok(Node::Combined(self.combined.len() - 1))
    }
}
