//! Codes of a segment with another average length, in memory.

use super::directory::BLOCKS;
use super::impacts::Codes;
use crate::format::changed::CodeChange;
use crate::recycle::HeapBytes;
use std::cell::{OnceCell, RefCell};

/// Codes of containers that say what parts became; each is computed when its container is first opened.
#[derive(Debug, Default)]
pub(crate) struct ChangedCodes {
    of: Vec<OnceCell<Box<[u8; BLOCKS]>>>,
    #[expect(clippy::vec_box, reason = "boxes move from one query to the next")]
    free: RefCell<Vec<Box<[u8; BLOCKS]>>>,
}

/// Containers whose memory is kept.
const CHANGED_KEPT: usize = 64;

impl ChangedCodes {
    /// Begins a query.
    pub(crate) fn start(&mut self) {
        let free = self.free.get_mut();
        free.extend(self.of.drain(..).filter_map(OnceCell::into_inner));
        free.truncate(CHANGED_KEPT);
    }

    /// Room for those of so many containers.
    pub(crate) fn make_room(&mut self, n: usize) {
        self.of.resize_with(n, OnceCell::new);
    }

    /// Changed codes of a container, for which there is room, in place of its own.
    pub(crate) fn get<'a>(&'a self, at: usize, codes: Codes<'a>, change: &CodeChange) -> Codes<'a> {
        let Some(cell) = self.of.get(at) else { return codes };
        let changed = cell.get_or_init(|| {
            let free = self.free.borrow_mut().pop();
            let mut changed = free.unwrap_or_else(|| Box::new([0; BLOCKS]));
            codes.change(change, &mut changed);
            changed
        });
        codes.replaced(changed)
    }
}

impl HeapBytes for ChangedCodes {
    fn heap_bytes(&self) -> usize {
        let n = self.free.borrow().len() + self.of.iter().filter(|it| it.get().is_some()).count();
        n * BLOCKS + self.of.heap_bytes() + self.free.borrow().heap_bytes()
    }
}
