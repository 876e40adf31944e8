//! Commits and a merge that write a graph over vectors and pages of points, while the power fails: what is left is one commit, whole.

use crate::disk::{Disk, Promise};
use crate::states::{Dice, NameOrder, for_each};
use std::sync::Arc;
use treepie::geo::{GeoArea, GeoPoint};
use treepie::query::Query;
use treepie::schema::{Metric, VectorCodes, VectorParams};
use treepie::{Document, ErrorKind, Index, Result, Schema, WriterOptions};

/// States of each moment that are looked at.
const PER_MOMENT: usize = 6;
/// Documents of each commit: the second has a graph. The merge behind it, which commits first, makes another.
const DOCS: [u64; 2] = [20, 4_200];

fn vector(n: u64) -> [f32; 2] {
    [(n * 37 % 4_999) as f32, (n * 91 % 5_003) as f32]
}

fn spot(n: u64) -> GeoPoint {
    GeoPoint::new((n * 37 % 179) as f64 - 89.0, (n * 91 % 359) as f64 - 179.0).unwrap()
}

fn write(disk: &Disk) -> Result<()> {
    let params = VectorParams::new(2, Metric::L2);
    let bits = params.codes(VectorCodes::B1);
    let schema = Schema::builder().vector("near", params).vector("bits", bits).point("spot");
    let schema = schema.build()?;
    let index = Index::options().create_in(Arc::new(disk.clone()), schema)?;
    let mut writer = index.writer_with(WriterOptions::new().threads(1))?;
    let mut next = 0;
    for (generation, n) in (1..).zip(DOCS) {
        for nth in next..next + n {
            let document = Document::new().with("near", vector(nth)).with("bits", vector(nth));
            writer.add(document.with("spot", spot(nth)))?;
        }
        next += n;
        disk.begin(generation);
        writer.commit()?;
        disk.acknowledge(generation);
    }
    disk.begin(4);
    writer.merge()?;
    disk.acknowledge(4);
    Ok(())
}

/// The commit that is found, once every byte of it was checked and walks find what is nearest; 0 for none.
fn read(disk: &Disk) -> Result<u64> {
    let index = match Index::options().open_storage(Arc::new(disk.clone())) {
        Err(error) if error.kind() == ErrorKind::NotAnIndex => return Ok(0),
        index => index?,
    };
    let mut wrong = None;
    index.inspect()?.verify(|error| {
        wrong.get_or_insert(error);
    });
    wrong.map_or(Ok(()), Err)?;
    let searcher = index.searcher()?;
    let n_docs = DOCS.iter().take(searcher.generation() as usize).sum::<u64>();
    assert_eq!(searcher.n_docs(), n_docs);
    let area: GeoArea = "3000km OF 10,20".parse()?;
    let center = GeoPoint::new(10.0, 20.0)?;
    let n_inside = (0..n_docs).filter(|n| center.distance(spot(*n)) <= 3e6).count() as u64;
    assert_eq!(searcher.count(&Query::within_area("spot", area))?, n_inside);
    for nth in (0..n_docs).step_by((n_docs as usize / 5).max(1)) {
        for (field, ef) in [("near", 40), ("bits", 200)] {
            let hits = searcher.search(&Query::nearest(field, vector(nth), 5).ef(ef)).run()?.hits;
            assert_eq!((hits.len(), hits[0].doc.0, hits[0].score), (5, nth, Some(1.0)), "{field}");
        }
    }
    Ok(searcher.generation())
}

#[test]
fn a_power_failure_leaves_a_whole_graph_and_pages_or_the_commit_before() {
    let (disk, mut dice) = (Disk::default(), Dice::new(5));
    disk.record(Promise::default());
    write(&disk).unwrap();
    let mut found = [0; 5];
    for moment in disk.take_moments() {
        for_each(&moment.image, NameOrder::Any, PER_MOMENT, &mut dice, |state| {
            let generation = read(&Disk::of(state.image()));
            let generation =
                generation.unwrap_or_else(|error| panic!("after {}: {error}", moment.after));
            let Promise { acknowledged, begun } = moment.promise;
            assert!(
                (acknowledged..=begun).contains(&generation),
                "{generation}, {:?}",
                moment.promise
            );
            found[generation as usize] += 1;
        });
    }
    println!("{found:?} states of each commit");
    assert!(found.iter().all(|n| *n > 0), "{found:?}");
}
