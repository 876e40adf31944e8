//! Codes in a file, those near each other together.
//!
//! Candidates of a vector lie anywhere in the order of rows, so a build whose file is larger than the memory for its pages
//! would read it once and again. Its file is written anew by the nearest of some [leaders]. Numbers of vectors stay as they
//! are, and so does the graph.
//!
//! # Cost
//!
//! 256 distances a vector. The file is read front to back as often as the room for a part of it fits into it, and two numbers
//! of 32 bits are kept of each vector.

use super::leaders::{Followers, LEADERS_MAX, leaders};
use super::space::Space;
use crate::budget::ns;
use crate::error::Result;
use crate::graph::code::Codes;
use crate::graph::crew;
use crate::graph::hash::hash_of_code;
use crate::graph::spill::{Room, SpillWriter};
use rayon::ThreadPool;
use std::sync::Arc;

/// Vectors that are compared with leaders in one task.
const TASK: usize = 4_096;

/// Codes as they are, if they are in memory; else in another file, by place.
///
/// # Errors
///
/// Whatever the [budget](crate::budget) of this thread and temporary files say.
pub(crate) fn arrange(codes: Codes, pool: Option<&ThreadPool>, room: &Room) -> Result<Arc<Codes>> {
    let codes = Arc::new(codes);
    if !codes.is_in_file() {
        return Ok(codes);
    }
    codes.leave_memory();
    let order = by_leader(&codes, pool)?;
    let dims = codes.dims();
    let of_part = (room.bytes / 4 / dims).max(1);
    let (mut to, mut part) = (SpillWriter::new(room.files.as_ref(), 0), vec![]);
    for vectors in order.chunks(of_part) {
        // Vectors of a part are read front to back.
        let mut places: Vec<(u32, u32)> = vectors.iter().copied().zip(0..).collect();
        places.sort_unstable();
        part.clear();
        part.resize(vectors.len() * dims, 0);
        for (vector, place) in places {
            part[place as usize * dims..][..dims].copy_from_slice(codes.code(vector));
        }
        to.write(&part)?;
    }
    Ok(Arc::new(codes.arranged(to.finish()?, order)))
}

/// Vectors by the nearest of some leaders, of one leader in their own order.
fn by_leader(codes: &Arc<Codes>, pool: Option<&ThreadPool>) -> Result<Vec<u32>> {
    let all = 0..codes.len() as u32;
    let hash = |at: u32| hash_of_code(codes.code(at), codes.measures(at).scale);
    let hashes: Vec<u64> = all.clone().map(hash).collect();
    let space = Arc::new(Space::new(codes));
    let leaders = Arc::new(leaders((&space, &hashes), all.clone(), LEADERS_MAX));
    drop(hashes);
    let n = codes.len();
    let groups = crew::map(pool, n.div_ceil(TASK), move |nth, stop| {
        if stop.is_asked(ns::GRAPH_TASK) {
            return Ok(vec![]);
        }
        let members: Vec<u32> = ((nth * TASK) as u32..n.min((nth + 1) * TASK) as u32).collect();
        Ok(Followers::default().assign(&space, &members, &leaders, 1))
    })?
    .concat();
    let mut order: Vec<u32> = all.collect();
    order.sort_by_key(|at| groups[*at as usize]);
    Ok(order)
}
