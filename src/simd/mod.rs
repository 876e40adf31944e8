//! Kernels where vector instructions pay, each beside the portable twin that defines its result.
//!
//! [`arrays`] meets two sorted lists of 16-bit numbers, [`bitmaps`] combines and counts sets of
//! 65,536 bits, [`sums`] adds up bounds, [`scores`] what the documents of a block score, [`packed`] unpacks
//! frequencies and positions, [`numbers`] those of columns, [`places`] finds numbers in a few others, [`prefetch`] asks for memory early. The kernels see a container as its serialised little-endian bytes, unaligned, so mapped and
//! owned containers run through the same code. The instruction set is asked for at run time (the
//! standard library keeps the answer, asking costs a load and a test); a machine without it, or of
//! another architecture, takes the portable twin. Tests hold both equal on random and edge inputs.
//!
//! One of the two homes of `unsafe`: loads and stores through references of exactly the right size,
//! and calls of functions whose instruction set was detected in the line above.
//!
//! Inside `#[target_feature]` functions stands no closure: it would not be inlined, and each
//! intrinsic in it would become a call.

pub(crate) mod arrays;
pub(crate) mod bitmaps;
pub(crate) mod numbers;
pub(crate) mod packed;
pub(crate) mod places;
pub(crate) mod prefetch;
pub(crate) mod scores;
pub(crate) mod sums;

/// Whether the processor has AVX2, BMI1, BMI2 and POPCNT. Asked once, because four questions cost more than some of the kernels.
#[cfg(target_arch = "x86_64")]
#[inline]
fn has_bit_features() -> bool {
    static FOUND: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *FOUND.get_or_init(|| {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt")
    })
}
