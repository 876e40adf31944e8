//! Malice: changed bytes with right checksums. Answers may be wrong then; nothing may panic, abort, go on
//! for ever, or take memory out of proportion.

use crate::changes::{self, Case, sample};
use crate::golden::{Dice, Files, Parts, manifests};
use crate::guard::for_each;
use crate::questions::{Turn, ask, look, sound};
use crate::seals::reseal;
use crate::{mutations, seed};
use treepie::Index;

/// Changes tried by `cargo test`.
const SHORT: usize = 600;

/// Opens files with right checksums, asks everything and looks at everything.
fn survive(files: Files, turn: Turn) {
    let Ok(index) = Index::options().open_storage(Parts::mapped(files)) else { return };
    // What it says may be wrong now; that it says something is enough.
    let (Ok(searcher), Ok(inspector)) = (index.searcher(), index.inspect()) else { return };
    ask(&searcher, turn, |_, _, answer| drop(answer));
    look(&inspector, turn, |_, _, answer| drop(answer));
    drop(inspector.segments());
    inspector.verify(drop);
}

fn crafted(case: Case<'_>, files: &Files) -> Files {
    let mut files = case.apply(files);
    reseal(&mut files, case.file);
    files
}

#[test]
fn no_crafted_byte_does_harm() {
    let (files, _) = sound();
    let read: Files =
        files.clone().into_iter().filter(|(file, _)| file != manifests(files)[0]).collect();
    let all = changes::bytes(&read);
    let cases = sample(&all, mutations(SHORT), seed());
    let seen = for_each(&cases, |case| survive(crafted(case, &read), case.turn()));
    println!("{} of {} crafted bytes, seed {}: {seen}", cases.len(), all.len(), seed());
}

#[test]
fn no_crafted_sector_burst_or_length_does_harm() {
    let (files, _) = sound();
    let all = [changes::coarse(files, &mut Dice::new(seed())), changes::cuts(files)];
    let cases: Vec<_> =
        all.iter().flat_map(|all| sample(all, mutations(SHORT) / 6, seed())).collect();
    let seen = for_each(&cases, |case| survive(crafted(case, files), case.turn()));
    println!("{} crafted sectors, bursts and lengths: {seen}", cases.len());
}
