//! Several processes that create the same index at once.

use crate::content::schema;
use crate::place::{Place, names};
use crate::process::{Parent, Process};
use treepie::{ErrorKind, Index};

const CREATORS: usize = 6;
const ROUNDS: usize = 8;

/// Creates, opens, or either, as it is told. Says `created`, or the kind of the error.
pub(crate) fn create(parent: &Parent) {
    parent.say("ready");
    loop {
        let told = parent.hear();
        let Some((how, nth)) = told.split_once(' ') else { return };
        let place = parent.place.with_extension(nth);
        let index = match how {
            "create" => Index::create(place, schema()),
            _ => Index::open_or_create(place, schema()),
        };
        match index.and_then(|index| index.searcher()) {
            Ok(searcher) => parent.say(format!("found {}", searcher.n_docs())),
            Err(error) => parent.say(format!("{:?}", error.kind())),
        }
    }
}

#[test]
fn of_many_processes_that_create_an_index_one_does_and_all_open_it() {
    let place = Place::new("creating");
    let index = place.index();
    let mut creators: Vec<_> = (0..CREATORS).map(|_| Process::start("creator", &index)).collect();
    creators.iter_mut().for_each(|creator| drop(creator.expect("ready")));
    for nth in 0..ROUNDS {
        for how in ["create", "either"] {
            let name = format!("{how}{nth}");
            creators.iter_mut().for_each(|creator| creator.tell(&format!("{how} {name}")));
            let said: Vec<_> = creators.iter_mut().map(|it| it.hear().unwrap()).collect();
            let n_found = said.iter().filter(|said| *said == "found 0").count();
            let refused = format!("{:?}", ErrorKind::AlreadyExists);
            let n_refused = said.iter().filter(|said| **said == refused).count();
            match how {
                "create" => assert_eq!((n_found, n_refused), (1, CREATORS - 1), "{said:?}"),
                _ => assert_eq!(n_found, CREATORS, "{said:?}"),
            }
            let left = names(&index.with_extension(&name));
            assert_eq!(left, ["manifest-0000000000000000", "write.lock"]);
        }
    }
    creators.into_iter().for_each(|creator| drop(creator.kill()));
}
