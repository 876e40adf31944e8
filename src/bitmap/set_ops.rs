//! Set algebra over whole lists. Containers with the same key meet, the others pass or go.

use super::buffer::ContainerBuf;
use super::container::Container;
use super::container_ops;
use super::many::{self, Scratch};
use super::owned::RoaringBuf;
use super::view::RoaringView;
use super::write::ListBuilder;

/// Lists that the n-ary counts take without allocating.
const OPERANDS_INLINE: usize = 16;

impl RoaringView<'_> {
    /// The values in both lists.
    ///
    /// ```
    /// # use treepie::bitmap::RoaringBuf;
    /// let (a, b) = (RoaringBuf::from_sorted([1, 2, 3]), RoaringBuf::from_sorted([2, 3, 4]));
    /// assert_eq!(a.view().and(&b.view()), RoaringBuf::from_sorted([2, 3]));
    /// ```
    pub fn and(&self, other: &RoaringView<'_>) -> RoaringBuf {
        self.combined(other, [false, false], container_ops::and)
    }

    /// The values in at least one of the lists.
    ///
    /// ```
    /// # use treepie::bitmap::RoaringBuf;
    /// let (a, b) = (RoaringBuf::from_sorted([1, 2, 3]), RoaringBuf::from_sorted([2, 3, 4]));
    /// assert_eq!(a.view().or(&b.view()), RoaringBuf::from_sorted([1, 2, 3, 4]));
    /// ```
    pub fn or(&self, other: &RoaringView<'_>) -> RoaringBuf {
        self.combined(other, [true, true], container_ops::or)
    }

    /// The values in this list that are not in `other`.
    ///
    /// ```
    /// # use treepie::bitmap::RoaringBuf;
    /// let (a, b) = (RoaringBuf::from_sorted([1, 2, 3]), RoaringBuf::from_sorted([2, 3, 4]));
    /// assert_eq!(a.view().and_not(&b.view()), RoaringBuf::from_sorted([1]));
    /// ```
    pub fn and_not(&self, other: &RoaringView<'_>) -> RoaringBuf {
        self.combined(other, [true, false], container_ops::and_not)
    }

    /// The values in exactly one of the lists.
    ///
    /// ```
    /// # use treepie::bitmap::RoaringBuf;
    /// let (a, b) = (RoaringBuf::from_sorted([1, 2, 3]), RoaringBuf::from_sorted([2, 3, 4]));
    /// assert_eq!(a.view().xor(&b.view()), RoaringBuf::from_sorted([1, 4]));
    /// ```
    pub fn xor(&self, other: &RoaringView<'_>) -> RoaringBuf {
        self.combined(other, [true, true], container_ops::xor)
    }

    /// Counts the values in both lists; allocates nothing, as all counts of two.
    ///
    /// ```
    /// # use treepie::bitmap::RoaringBuf;
    /// let (a, b) = (RoaringBuf::from_sorted([1, 2, 3]), RoaringBuf::from_sorted([2, 3, 4]));
    /// assert_eq!(a.view().and_count(&b.view()), 2);
    /// ```
    pub fn and_count(&self, other: &RoaringView<'_>) -> u64 {
        let mut count = 0;
        let (mut a, mut b) = (Cursor { view: *self, at: 0 }, Cursor { view: *other, at: 0 });
        let mut proposed = a.key();
        while let Some(key) = proposed {
            proposed = b.seek(key);
            if proposed == Some(key) {
                let ((_, a_card, x), (_, b_card, y)) =
                    (a.view.container(a.at), b.view.container(b.at));
                count += u64::from(container_ops::and_count(x, a_card, y, b_card));
                a.at += 1;
                proposed = a.key();
            } else {
                std::mem::swap(&mut a, &mut b);
            }
        }
        count
    }

    /// Counts the values in at least one of the lists.
    ///
    /// ```
    /// # use treepie::bitmap::RoaringBuf;
    /// let (a, b) = (RoaringBuf::from_sorted([1, 2, 3]), RoaringBuf::from_sorted([2, 3, 4]));
    /// assert_eq!(a.view().or_count(&b.view()), 4);
    /// ```
    pub fn or_count(&self, other: &RoaringView<'_>) -> u64 {
        (self.len() + other.len()).saturating_sub(self.and_count(other))
    }

    /// Counts the values that are in this list and not in `other`.
    ///
    /// ```
    /// # use treepie::bitmap::RoaringBuf;
    /// let (a, b) = (RoaringBuf::from_sorted([1, 2, 3]), RoaringBuf::from_sorted([2, 3, 4]));
    /// assert_eq!(a.view().and_not_count(&b.view()), 1);
    /// ```
    pub fn and_not_count(&self, other: &RoaringView<'_>) -> u64 {
        self.len().saturating_sub(self.and_count(other))
    }

    /// Counts the values in exactly one of the lists.
    ///
    /// ```
    /// # use treepie::bitmap::RoaringBuf;
    /// let (a, b) = (RoaringBuf::from_sorted([1, 2, 3]), RoaringBuf::from_sorted([2, 3, 4]));
    /// assert_eq!(a.view().xor_count(&b.view()), 2);
    /// ```
    pub fn xor_count(&self, other: &RoaringView<'_>) -> u64 {
        (self.len() + other.len()).saturating_sub(2 * self.and_count(other))
    }

    /// Counts the values in all of `lists`, container by container, the smallest first. Without lists the
    /// count is 2^32. Allocates only for more than 16 lists.
    ///
    /// ```
    /// # use treepie::bitmap::{RoaringBuf, RoaringView, Scratch};
    /// let lists = [[1, 2, 3], [2, 3, 4], [3, 4, 5]].map(RoaringBuf::from_sorted);
    /// let views = lists.each_ref().map(RoaringBuf::view);
    /// assert_eq!(RoaringView::and_count_all(&views, &mut Scratch::new()), 1);
    /// ```
    pub fn and_count_all(lists: &[RoaringView<'_>], scratch: &mut Scratch) -> u64 {
        if lists.is_empty() {
            return 1 << 32;
        }
        with_operands(lists, |cursors, operands| {
            // The list with the fewest containers proposes keys; its rivals refuse most of them.
            cursors.sort_unstable_by_key(|cursor| cursor.view.n_containers());
            let mut count = 0;
            let mut proposed = cursors.first().and_then(Cursor::key);
            while let Some(key) = proposed {
                // If all meet, the next proposal is one further; else the key of the refusal.
                let mut ahead = Some(key);
                for cursor in &mut *cursors {
                    ahead = cursor.seek(key);
                    if ahead != Some(key) {
                        break;
                    }
                }
                proposed = ahead;
                if ahead == Some(key) {
                    for (operand, cursor) in operands.iter_mut().zip(&mut *cursors) {
                        let (_, cardinality, container) = cursor.view.container(cursor.at);
                        *operand = (container, cardinality);
                        cursor.at += 1;
                    }
                    count += u64::from(many::and_count_all(operands, scratch));
                    proposed = cursors.first().and_then(Cursor::key);
                }
            }
            count
        })
    }

    /// Counts the values in at least one of `lists`, container by container. Without lists the count is 0.
    /// Allocates only for more than 16 lists.
    ///
    /// ```
    /// # use treepie::bitmap::{RoaringBuf, RoaringView, Scratch};
    /// let lists = [[1, 2, 3], [2, 3, 4], [3, 4, 5]].map(RoaringBuf::from_sorted);
    /// let views = lists.each_ref().map(RoaringBuf::view);
    /// assert_eq!(RoaringView::or_count_all(&views, &mut Scratch::new()), 5);
    /// ```
    pub fn or_count_all(lists: &[RoaringView<'_>], scratch: &mut Scratch) -> u64 {
        with_operands(lists, |cursors, operands| {
            let mut count = 0;
            while let Some(key) = cursors.iter().filter_map(Cursor::key).min() {
                let mut n = 0;
                let taken = cursors.iter_mut().filter_map(|cursor| cursor.take(key));
                for ((cardinality, container), operand) in taken.zip(&mut *operands) {
                    *operand = (container, cardinality);
                    n += 1;
                }
                let operands = operands.get(..n).unwrap_or_default();
                count += u64::from(many::or_count_all(operands, scratch));
            }
            count
        })
    }

    /// Merges two lists; `lonely` says whether a container whose key the other list lacks stays.
    fn combined(
        &self,
        other: &RoaringView<'_>,
        lonely: [bool; 2],
        op: fn(Container<'_>, Container<'_>, &mut ContainerBuf),
    ) -> RoaringBuf {
        let mut builder = ListBuilder::default();
        let mut out = None;
        let (mut a, mut b) = (Cursor { view: *self, at: 0 }, Cursor { view: *other, at: 0 });
        while let Some(key) = a.key().into_iter().chain(b.key()).min() {
            match (a.take(key), b.take(key)) {
                (Some((_, a)), Some((_, b))) => {
                    let out = out.get_or_insert_with(ContainerBuf::new);
                    op(a, b, out);
                    builder.push(key, out.as_container());
                }
                (Some((_, a)), None) if lonely[0] => builder.push(key, a),
                (None, Some((_, b))) if lonely[1] => builder.push(key, b),
                _ => {}
            }
        }
        RoaringBuf::from_builder(&builder)
    }

    fn key(&self, i: usize) -> u16 {
        self.header.key(self.bytes, i)
    }
}

/// Position of a walk through a list, container by container.
#[derive(Clone, Copy)]
struct Cursor<'a> {
    view: RoaringView<'a>,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// The key ahead.
    #[inline]
    fn key(&self) -> Option<u16> {
        (self.at < self.view.n_containers()).then(|| self.view.key(self.at))
    }

    /// The container ahead if it has `key`, moving past it.
    #[inline]
    fn take(&mut self, key: u16) -> Option<(u32, Container<'a>)> {
        if self.key()? != key {
            return None;
        }
        let (_, cardinality, container) = self.view.container(self.at);
        self.at += 1;
        Some((cardinality, container))
    }

    /// Moves to the first container whose key is at least `key`, and says which that is.
    #[inline]
    fn seek(&mut self, key: u16) -> Option<u16> {
        loop {
            let ahead = self.key()?;
            if ahead >= key {
                return Some(ahead);
            }
            self.at += 1;
        }
    }
}

/// Calls `count` with a cursor and an operand for each list, on the stack if they are few.
fn with_operands<'a>(
    lists: &[RoaringView<'a>],
    count: impl FnOnce(&mut [Cursor<'a>], &mut [(Container<'a>, u32)]) -> u64,
) -> u64 {
    const NONE: Container<'_> = Container::Array(&[]);
    let Some(&first) = lists.first() else {
        return count(&mut [], &mut []);
    };
    let mut cursors = [Cursor { view: first, at: 0 }; OPERANDS_INLINE];
    let mut operands = [(NONE, 0); OPERANDS_INLINE];
    match (cursors.get_mut(..lists.len()), operands.get_mut(..lists.len())) {
        (Some(cursors), Some(operands)) => {
            for (cursor, &view) in cursors.iter_mut().zip(lists) {
                cursor.view = view;
            }
            count(cursors, operands)
        }
        _ => {
            let mut cursors: Vec<_> = lists.iter().map(|&view| Cursor { view, at: 0 }).collect();
            count(&mut cursors, &mut vec![(NONE, 0); lists.len()])
        }
    }
}
