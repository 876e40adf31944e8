//! Counts that add up name by name.

/// Adds numbers of another to these; what stands behind a bar is true if it is true of either.
macro_rules! sums {
    ($($type:ident: $($number:ident),+ $(| $flag:ident)?;)+) => {
        $(impl std::ops::AddAssign for $type {
            fn add_assign(&mut self, other: Self) {
                $(self.$number += other.$number;)+
                $(self.$flag |= other.$flag;)?
            }
        })+
    };
}
pub(crate) use sums;
