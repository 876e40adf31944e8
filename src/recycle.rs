//! Memory kept from one query for the next, where what was in it borrowed from an index.

/// An empty vector of the same type but for lifetimes, with the memory of another.
///
/// Cost: a few instructions, no allocation.
pub(crate) fn recycled<A, B>(mut from: Vec<A>) -> Vec<B> {
    from.clear();
    // The standard library collects in place where sizes are equal; elsewhere it would allocate anew.
    from.into_iter().map(|_| -> B { unreachable!("the vector is empty") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_stays_and_what_was_in_it_goes() {
        let text = String::from("raven");
        let mut kept: Vec<&'static str> = Vec::with_capacity(100);
        let at = kept.as_ptr();
        for _ in 0..3 {
            let mut words: Vec<&str> = recycled(kept);
            assert!(words.is_empty());
            words.push(&text);
            kept = recycled(words);
            assert_eq!((kept.as_ptr(), kept.len()), (at, 0));
            assert!(kept.capacity() >= 100);
        }
    }
}
