//! Codes in an order in which those near each other are together.
//!
//! A build compares each vector with those near it. In the order of rows these lie anywhere: a build of codes in a file would
//! read the whole file for a few vectors, once and again, where the system has no memory for all of its pages. Codes in memory stay where
//! they are; vectors get other numbers all the same, so that the graph does not depend on memory.
//!
//! # Cost
//!
//! A hundred distances a vector. A file is read front to back as often as the room for a part of it fits into it.

use super::leaders::{Followers, leaders};
use super::space::Space;
use crate::budget::ns;
use crate::error::Result;
use crate::graph::code::Codes;
use crate::graph::crew;
use crate::graph::hash::hash_of_code;
use crate::graph::spill::{Room, SpillWriter};
use rayon::ThreadPool;
use std::sync::Arc;

/// Groups of vectors that are together.
const GROUPS: usize = 128;
/// Vectors that are compared with leaders in one task.
const TASK: usize = 4_096;

/// Gives vectors other numbers, those near each other numbers near each other, in `of_rows` too, which has the vector of each row.
///
/// # Errors
///
/// Whatever the [budget](crate::budget) of this thread and temporary files say.
pub(crate) fn arrange(
    codes: &Arc<Codes>,
    of_rows: &mut [u32],
    pool: Option<&ThreadPool>,
    room: &Room,
) -> Result<Codes> {
    let order = order(codes, pool)?;
    let mut ranks = vec![0; order.len()];
    (0..).zip(&order).for_each(|(rank, at)| ranks[*at as usize] = rank);
    of_rows.iter_mut().for_each(|vector| *vector = ranks[*vector as usize]);
    drop(ranks);
    let Some(files) = room.files.as_ref().filter(|_| codes.is_in_file()) else {
        return Ok(codes.renumbered(&order, None));
    };
    let of_part = (room.bytes / 4 / codes.dims()).max(1);
    let (mut to, mut part) = (SpillWriter::new(Some(files), 0), vec![]);
    for vectors in order.chunks(of_part) {
        // Codes of a part are read front to back.
        let mut places: Vec<(u32, u32)> = vectors.iter().copied().zip(0..).collect();
        places.sort_unstable();
        part.clear();
        part.resize(vectors.len() * codes.dims(), 0);
        for (vector, place) in places {
            part[place as usize * codes.dims()..][..codes.dims()]
                .copy_from_slice(codes.code(vector));
        }
        to.write(&part)?;
    }
    Ok(codes.renumbered(&order, Some(to.finish()?)))
}

/// Vectors by the nearest of some leaders.
fn order(codes: &Arc<Codes>, pool: Option<&ThreadPool>) -> Result<Vec<u32>> {
    let n = codes.len();
    let all = 0..n as u32;
    let hashes: Vec<u64> =
        all.clone().map(|at| hash_of_code(codes.code(at), codes.measures(at).scale)).collect();
    let space = Arc::new(Space::new(codes));
    let leaders = Arc::new(leaders((&space, &hashes), all, GROUPS));
    drop(hashes);
    let groups = {
        let space = Arc::clone(&space);
        crew::map(pool, n.div_ceil(TASK), move |nth, stop| {
            if stop.is_asked(ns::GRAPH_TASK) {
                return Ok(vec![]);
            }
            let members: Vec<u32> = ((nth * TASK) as u32..n.min((nth + 1) * TASK) as u32).collect();
            Ok(Followers::default().assign(&space, &members, &leaders, 1))
        })?
        .concat()
    };
    drop(space);
    let mut starts = vec![0; GROUPS + 1];
    groups.iter().for_each(|group| starts[usize::from(*group) + 1] += 1);
    for nth in 0..GROUPS {
        starts[nth + 1] += starts[nth];
    }
    let mut order = vec![0; n];
    for (at, group) in (0..).zip(&groups) {
        let next = &mut starts[usize::from(*group)];
        order[*next] = at;
        *next += 1;
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::distinct::RowCodes;
    use crate::graph::spill::SpillFiles;
    use crate::ids::SegmentId;
    use crate::schema::Metric;
    use crate::storage::{FsStorage, ReadMode, TestDirectory};

    /// Rows about twenty places on a line, one after the other, some of them twice.
    fn row(nth: u32) -> [f32; 2] {
        let nth = nth % 900;
        [(nth % 20) as f32 * 100.0, (nth / 20) as f32 + 1.0]
    }

    #[test]
    fn codes_get_the_same_places_in_memory_and_in_files() {
        let directory = TestDirectory::new();
        let storage = Arc::new(FsStorage::create(directory.path(), ReadMode::Mmap).unwrap());
        let files = SpillFiles::new(storage, SegmentId([7; 16]));
        let mut all: Vec<(Codes, Vec<u32>)> = vec![];
        for (bytes_in_memory, room) in [(usize::MAX, usize::MAX), (0, 800), (0, usize::MAX)] {
            let bytes = SpillWriter::new(Some(&files), bytes_in_memory);
            let mut codes = RowCodes::new(Metric::L2, 2, 1_000, bytes);
            (0..1_000).for_each(|nth| codes.add(row(nth).into_iter()).unwrap());
            let (codes, mut of_rows) = codes.finish().unwrap();
            assert_eq!(codes.is_in_file(), bytes_in_memory == 0);
            let known: Vec<_> = of_rows.iter().map(|at| codes.code(*at).to_vec()).collect();
            let room = Room { bytes: room, files: Some(files.clone()) };
            let arranged = arrange(&Arc::new(codes), &mut of_rows, None, &room).unwrap();
            assert_eq!(arranged.is_in_file(), bytes_in_memory == 0);
            assert!(known.iter().zip(&of_rows).all(|(code, at)| code == arranged.code(*at)));
            all.push((arranged, of_rows));
        }
        let (first, of_rows) = &all[0];
        for (codes, others) in &all[1..] {
            assert_eq!((codes.len(), others), (900, of_rows));
            assert!((0..900).all(|at| {
                codes.code(at) == first.code(at)
                    && codes.measures(at) == first.measures(at)
                    && codes.sum(at) == first.sum(at)
            }));
        }
        // Rows of one place on the line come together, and are not where others are.
        let places = |code: u32| (0..900).filter(move |nth| nth % 20 == code);
        let spread = (0..20).map(|place| {
            let of_place: Vec<u32> = places(place).map(|nth| of_rows[nth as usize]).collect();
            of_place.iter().max().unwrap() - of_place.iter().min().unwrap()
        });
        let spread: u32 = spread.sum();
        assert!(spread < 20 * 300, "{spread} instead of 20 * 899 in the order of rows");
    }
}
