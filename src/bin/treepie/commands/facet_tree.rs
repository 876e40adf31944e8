//! `--facet brand --facet brand/color:3 --stats brand/price --top-hits brand:2`: what is counted within what.

use treepie::Facet;

use super::typed_names::path_and_rest;
use super::{facet, statistics};
use crate::{
    args,
    failure::{Outcome, usage},
};

/// A facet that was typed, with those within it.
struct Node<'t> {
    /// The fields that it lies within, and its own.
    path: Vec<&'t str>,
    facet: Facet,
    hits: Option<usize>,
    is_statistics: bool,
    within: Vec<Node<'t>>,
}

impl Node<'_> {
    fn finish(self) -> Facet {
        let facet = self.within.into_iter().map(Node::finish).fold(self.facet, Facet::with_facet);
        self.hits.into_iter().fold(facet, Facet::top_hits)
    }
}

/// Facets in the order they were typed, then statistics; what names others before a `/` lies within these.
pub(crate) fn read(
    facets: &[String],
    statistics: &[String],
    hits: &[String],
) -> Outcome<Vec<Facet>> {
    let mut nodes = vec![];
    for typed in facets {
        let (path, facet) = facet::read(typed)?;
        nodes.push((typed, path, facet, false));
    }
    for typed in statistics {
        let (path, facet) = statistics::read(typed)?;
        nodes.push((typed, path, facet.into(), true));
    }
    // Outer facets come first, in whatever order they were typed.
    nodes.sort_by_key(|(_, path, ..)| path.len());
    let mut tree: Vec<Node<'_>> = vec![];
    for (typed, path, facet, is_statistics) in nodes {
        let option = if is_statistics { "--stats" } else { "--facet" };
        let among = match path.split_last() {
            Some((_, [])) | None => &mut tree,
            Some((_, outer)) => match find(&mut tree, outer) {
                Some(outer) => &mut outer.within,
                None => return Err(nothing_there(option, typed, outer).into()),
            },
        };
        let of_field = || {
            among.iter().filter(|other| other.path == path && other.is_statistics == is_statistics)
        };
        if is_statistics && of_field().next().is_some() {
            let error = usage(format!("statistics of '{}' are asked for twice", path.join("/")));
            return Err(error.hint("one --stats has all of a field, as price:distinct,p50").into());
        }
        if of_field().any(|other| other.facet == facet) {
            let what = path.join("/");
            return Err(
                usage(format!("the facet '{what}' is asked for twice in the same way")).into()
            );
        }
        among.push(Node { path, facet, hits: None, is_statistics, within: vec![] });
    }
    for typed in hits {
        let (path, n) = path_and_rest(typed);
        let n = n.unwrap_or("1");
        let Some(n) = args::whole_number(n).ok().filter(|n| *n > 0) else {
            let wrong = usage("reading --top-hits").expected("FIELD or FIELD:N, N from 1 on");
            return Err(wrong.found(format!("'{typed}'")).into());
        };
        match find(&mut tree, &path) {
            Some(Node { hits: Some(_), .. }) => {
                let what = path.join("/");
                return Err(usage(format!("hits of '{what}' are asked for twice")).into());
            }
            Some(node) => node.hits = Some(n),
            None => return Err(nothing_there("--top-hits", typed, &path).into()),
        }
    }
    Ok(tree.into_iter().map(Node::finish).collect())
}

/// The facet of this path: of several of one field the first.
fn find<'n, 't>(among: &'n mut [Node<'t>], path: &[&str]) -> Option<&'n mut Node<'t>> {
    let (first, rest) = path.split_first()?;
    let is_first = |node: &&mut Node<'_>| !node.is_statistics && node.path.last() == Some(first);
    let node = among.iter_mut().find(is_first)?;
    match rest {
        [] => Some(node),
        rest => find(&mut node.within, rest),
    }
}

fn nothing_there(option: &str, typed: &str, outer: &[&str]) -> treepie::Error {
    let outer = outer.join("/");
    usage(format!("reading {option} {typed}"))
        .expected(format!("a facet to look into, as --facet {outer}"))
        .found("none")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Failure;

    fn read_all(facets: &[&str], statistics: &[&str], hits: &[&str]) -> Outcome<Vec<Facet>> {
        let texts = |typed: &[&str]| typed.iter().map(ToString::to_string).collect::<Vec<_>>();
        read(&texts(facets), &texts(statistics), &texts(hits))
    }

    #[test]
    fn what_lies_within_others_is_put_there() {
        let read = read_all(
            &["brand/`color`/price:step=5", "brand:3", "`year`", "brand/color:prefix=a/b"],
            &["brand/price:p50", "price"],
            &["brand/color:2", "`year`"],
        );
        let steps = Facet::histogram("price", "5");
        let color = Facet::values("color").prefix("a/b").with_facet(steps).top_hits(2);
        let of_price = Facet::statistics("price");
        let expected: [Facet; 3] = [
            Facet::values("brand")
                .limit(3)
                .with_facet(color)
                .with_facet(of_price.clone().percentiles([50.0]))
                .into(),
            Facet::values("year").top_hits(1).into(),
            of_price.into(),
        ];
        assert_eq!(read.unwrap(), expected);
    }

    #[test]
    fn several_facets_of_one_field_are_read_and_the_first_has_what_lies_within() {
        let read =
            read_all(&["price:step=10", "price:step=20", "price", "price/brand"], &[], &["price"]);
        let first = Facet::histogram("price", "10").with_facet(Facet::values("brand")).top_hits(1);
        let all: [Facet; 3] =
            [first, Facet::histogram("price", "20"), Facet::values("price").into()];
        assert_eq!(read.unwrap(), all);
    }

    #[test]
    fn what_lies_nowhere_is_refused() {
        for (facets, statistics, hits, words) in [
            (&["brand/color"][..], &[][..], &[][..], "a facet to look into, as --facet brand"),
            (
                &["a", "a/b", "a/b:10"],
                &[],
                &[],
                "the facet 'a/b' is asked for twice in the same way",
            ),
            (&["a"], &["a/b", "a/b"], &[], "statistics of 'a/b' are asked for twice"),
            (&[], &["a", "a/b"], &[], "reading --stats a/b"),
            (&["a"], &[], &["a:0"], "N from 1 on, found 'a:0'"),
            (&["a"], &[], &["a", "a:2"], "hits of 'a' are asked for twice"),
            (&["a"], &[], &["b"], "reading --top-hits b"),
        ] {
            let Err(Failure::Error(error)) = read_all(facets, statistics, hits) else {
                panic!("{words}")
            };
            assert!(error.to_string().contains(words), "{error}");
        }
    }
}
