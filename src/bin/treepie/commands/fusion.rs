//! Fusion of ranked lists on the command line: `--fuse rrf:60`, `--fuse-list other.tsv`, `--rerank embedding=@q.json:100`.

use treepie::query::{Boost, Query};
use treepie::search::{Fusion, RankedList, SearchBuilder};
use treepie::{Error, Value};

use super::vectors::rerank;
use crate::args;
use crate::failure::{Outcome, read_text, usage};

/// Options about ranked lists that are fused.
#[derive(Debug, clap::Args)]
pub(crate) struct FusionArgs {
    /// Fuse the hits of the query with those of others.
    ///
    /// They are those of --knn and --fuse-list. By ranks, rrf, or rrf:60 with the constant that is added to each; or by scores, sum, as parts of the best of each
    /// list, sum:0.3 with the weight of the query, of which the others share the rest.
    #[arg(help_heading = "Order", hide_short_help = true)]
    #[arg(long, value_name = "rrf[:K]|sum[:WEIGHT]", conflicts_with_all = ["sort", "collapse", "after", "score", "boosts", "decays", "top_hits"])]
    fuse: Option<String>,
    /// Fuse with a list that was ranked elsewhere.
    ///
    /// The file has a key a line, the best first, or a key, a tab and a score. A key that no document has is an error, or
    /// passed over with FILE,missing=skip. May be given several times.
    #[arg(help_heading = "Order", hide_short_help = true)]
    #[arg(long = "fuse-list", value_name = "FILE[,missing=skip]", requires = "fuse")]
    lists: Vec<String>,
    /// Fuse the best N of each list [default: ten for each hit, at least 100].
    #[arg(help_heading = "Order", hide_short_help = true)]
    #[arg(long, value_parser = args::whole_number::<u64>, value_name = "N", requires = "fuse")]
    window: Option<u64>,
    /// Order the best N hits by similarity to a vector.
    ///
    /// The vector is in a file, embedding=@q.json:100, a list, embedding=[0.5,-1]:100, or that of a document,
    /// embedding=doc:15212:100, which itself comes last. So do hits without a vector. No more than these N can be shown.
    #[arg(help_heading = "Order", hide_short_help = true)]
    #[arg(long, value_name = "FIELD=VECTOR:N", conflicts_with_all = ["fuse", "sort", "collapse", "after", "score", "boosts", "decays", "top_hits"])]
    rerank: Option<String>,
}

impl FusionArgs {
    /// Whether lists are fused.
    pub(super) fn is_given(&self) -> bool {
        self.fuse.is_some()
    }

    /// Gives these options to a search, with queries beside its own.
    pub(super) fn apply<'s>(
        &self,
        search: SearchBuilder<'s>,
        queries: Vec<Query>,
    ) -> Outcome<SearchBuilder<'s>> {
        if let Some(typed) = &self.rerank {
            return Ok(search.fuse(rerank(typed)?));
        }
        let Some(typed) = &self.fuse else { return Ok(search) };
        let lists =
            self.lists.iter().map(|typed| read_list(typed)).collect::<Result<Vec<_>, _>>()?;
        let fusion = fusion(typed, queries, lists)?;
        Ok(search.fuse(match self.window {
            Some(window) => fusion.window(window),
            None => fusion,
        }))
    }
}

/// `rrf`, `rrf:20`, `sum`, `sum:0.3`: a fusion with queries and lists beside a search's own query.
pub(super) fn fusion(typed: &str, queries: Vec<Query>, lists: Vec<RankedList>) -> Outcome<Fusion> {
    let wrong = || {
        let wrong = usage("reading --fuse");
        let wrong = wrong.expected("rrf, rrf:K, sum or sum:WEIGHT, a weight between 0 and 1");
        wrong.found(format!("'{typed}'"))
    };
    let n_others = queries.len() + lists.len();
    let (mut fusion, mut weight) = (Fusion::rrf(), Boost::ONE);
    match typed.split_once(':').unwrap_or((typed, "")) {
        ("rrf", "") => {}
        ("rrf", k) => fusion = Fusion::rrf_with(args::whole_number(k).map_err(|_| wrong())?),
        ("sum", "") => fusion = Fusion::sum(),
        ("sum", own) => {
            let own: f32 = own.parse().map_err(|_| wrong())?;
            let others = (1.0 - own) / n_others.max(1) as f32;
            let weights = Boost::new(own).and_then(|own| Ok((own, Boost::new(others)?)));
            let (own, others) = weights.map_err(|_| wrong())?;
            (fusion, weight) = (Fusion::sum().own_weight(own), others);
        }
        _ => return Err(wrong().into()),
    }
    for query in queries {
        fusion = fusion.with_weighted(query, weight);
    }
    for list in lists {
        fusion = fusion.list(list.weight(weight));
    }
    Ok(fusion)
}

/// A list of a file.
fn read_list(typed: &str) -> Result<RankedList, Error> {
    let doing = "reading --fuse-list";
    let (path, skips) = match typed.strip_suffix(",missing=skip") {
        Some(path) => (path, true),
        None => (typed, false),
    };
    let text = read_text(doing, path.as_ref())?;
    let lines = text.lines().map(|line| line.strip_suffix('\r').unwrap_or(line)).enumerate();
    let (mut keys, mut scored) = (vec![], vec![]);
    for (nth, line) in lines.filter(|(_, line)| !line.is_empty()) {
        let wrong = |expected: &str| {
            let wrong = usage(doing).expected(expected).found(format!("'{line}'"));
            wrong.in_file(path).at_line(nth as u64 + 1)
        };
        match line.split_once('\t') {
            None if scored.is_empty() => keys.push(Value::from(line)),
            Some((key, score)) if keys.is_empty() => {
                let score: f32 = score.parse().map_err(|_| wrong("KEY, a tab and a score"))?;
                scored.push((Value::from(key), score));
            }
            None => return Err(wrong("a score, as the lines before have")),
            Some(_) => return Err(wrong("no score, as the lines before have none")),
        }
    }
    let list =
        if scored.is_empty() { RankedList::of_keys(keys) } else { RankedList::scored(scored) };
    Ok(if skips { list.allow_missing() } else { list })
}
