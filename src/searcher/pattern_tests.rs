//! Tests of how often the patterns of facets are compiled.

use crate::document::Document;
use crate::expansion::n_compiled;
use crate::request::Facet;
use crate::schema::{Field, FieldKind, Schema};
use crate::searcher::stopping_tests::filled;

/// However many buckets, segments and ways ask for them.
#[test]
fn patterns_are_made_ready_once_for_a_search() {
    let schema = Schema::builder()
        .field(Field::new("brand", FieldKind::Keyword).column(true))
        .field(Field::new("color", FieldKind::Keyword).column(true))
        .build()
        .unwrap();
    let searcher = filled(schema, |writer| {
        for nth in 0..60 {
            let document = Document::new().with("brand", format!("b{}", nth % 7));
            writer.add(document.with("color", format!("c{}", nth % 3))).unwrap();
            if nth % 20 == 19 {
                writer.commit().unwrap();
            }
        }
    });
    let query = searcher.parse("*").unwrap();
    let within = Facet::values("color").matching("c[01]");
    let brands = Facet::values("brand").matching("b.*").containing("B").with_facet(within);
    let search = searcher.search(&query).select("brand", ["b1", "b2"]).with_facet(brands);
    let before = n_compiled();
    let page = search.clone().run().unwrap();
    assert_eq!(page.facets[0].buckets.len(), 7);
    assert_eq!(page.facets[0].buckets[0].facets[0].buckets.len(), 2);
    assert_eq!(n_compiled() - before, 3);
    // And by whoever asks for a plan first.
    search.clone().explain().unwrap();
    let before = n_compiled();
    search.prepare().unwrap().run().unwrap();
    assert_eq!(n_compiled() - before, 3);
}
