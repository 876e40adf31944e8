//! Types that are compared by a part of what they are.

/// Makes types equal, and hashes them, by a key of each.
macro_rules! equal_by {
    ($($type:ty: $it:ident => $key:expr;)+) => {
        $(impl PartialEq for $type {
            fn eq(&self, other: &Self) -> bool {
                let own = { let $it = self; $key };
                own == { let $it = other; $key }
            }
        }

        impl Eq for $type {}

        impl std::hash::Hash for $type {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                { let $it = self; $key }.hash(state);
            }
        })+
    };
}

/// Puts types in the order of their method `compare`, by which they are equal, too.
macro_rules! ordered {
    ($($type:ty;)+) => {
        $(impl Ord for $type {
            #[inline]
            fn cmp(&self, other: &Self) -> std::cmp::Ordering {
                self.compare(other)
            }
        }

        impl PartialOrd for $type {
            #[inline]
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }

        impl PartialEq for $type {
            fn eq(&self, other: &Self) -> bool {
                self.compare(other).is_eq()
            }
        }

        impl Eq for $type {})+
    };
}

pub(crate) use {equal_by, ordered};
