//! Vector kernels, each beside the portable twin that defines its result.
//!
//! [`arrays`] meets two sorted lists of 16-bit numbers, [`bitmaps`] combines and counts sets of
//! 65,536 bits, [`codes`] multiplies codes of vectors, [`dots`] compares vectors of numbers, [`gaps`] decodes ascending numbers, [`sums`] adds up bounds, [`scores`] what the documents of a block score, [`windows`] of a window, [`packed`] unpacks
//! frequencies and positions, [`widths`] says where packed frequencies are, [`numbers`] those of columns, [`places`] finds numbers in a few others, [`planes`] compares codes of bits,
//! [`prefetch`] asks for memory early. The kernels see a container as its serialised little-endian bytes,
//! unaligned, so mapped and owned containers run through the same code.
//!
//! Instruction sets come in [`steps`], and the processor is asked once on which it is: AVX2; AVX-512 with what
//! Ice Lake and Zen 4 added to it; NEON on 64-bit processors of ARM. A kernel has a twin for a step where that
//! is faster than the next lower one; a machine below all steps, or of another architecture, takes the portable
//! twin. Twins for AVX2 stand beside their kernels, those for AVX-512 in `avx512` and those for NEON in `neon`,
//! in files of the same names. Bodies without instructions of their own are compiled for each step. Tests hold all
//! steps that the machine has equal on random and edge inputs.
//!
//! Measured on Zen 5, times of AVX2 ÷ those of AVX-512: blocks of arrays 2.6 to 4, frequencies of a block 2.5 to 10, bytes
//! picked 6.7, intersections of arrays 1.3 to 4 counted and 2.6 to 4 written, galloping 2, sums 1.3 to 1.7, selections 1.2
//! where little is selected and 10 where a tenth is, positions 1.7 to 3.8, neighbours in columns 2 to 3. For scores,
//! bitmaps probed bit by bit and numbers fetched from places it was not faster. Twins for NEON take a half to a fifth of
//! the instructions of the portable ones by count of an emulator; no processor has timed them.
//!
//! One of the two homes of `unsafe`: loads and stores through references of exactly the right size or with a mask
//! of what there is, and calls of functions whose instruction set was detected in the line above.
//!
//! Inside `#[target_feature]` functions stands no closure: it would not be inlined, and each
//! intrinsic in it would become a call.

/// Returns the result of the first twin whose instruction set the processor has, if it has one: of those for AVX-512, AVX2
/// and NEON, in this order.
macro_rules! return_by_vectors {
    ($($step:ident $twin:path),+ => $arguments:tt) => {
        $(return_by_vectors!(@ $step $twin => $arguments);)+
    };
    (@ avx512 $twin:path => $arguments:tt) => {
        #[cfg(target_arch = "x86_64")]
        if $crate::simd::has_avx512() {
            #[expect(unsafe_code, reason = "calls a function that needs AVX-512")]
            // SAFETY: `has_avx512` found every feature that the function enables.
            return unsafe { $twin $arguments };
        }
    };
    (@ avx2 $twin:path => $arguments:tt) => {
        #[cfg(target_arch = "x86_64")]
        if $crate::simd::has_avx2() {
            #[expect(unsafe_code, reason = "calls a function that needs AVX2")]
            // SAFETY: `has_avx2` found every feature that the function enables.
            return unsafe { $twin $arguments };
        }
    };
    (@ neon $twin:path => $arguments:tt) => {
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        if $crate::simd::has_neon() {
            #[expect(unsafe_code, reason = "calls a function that needs NEON")]
            // SAFETY: `has_neon` found the feature that the function enables.
            return unsafe { $twin $arguments };
        }
    };
}

/// Defines a kernel by its body: the function that chooses, and a module of the same name with the
/// portable function and its twins, which become vector code by themselves.
macro_rules! kernel {
    (
        $(#[$doc:meta])*
        $name:ident $(<$op:ident: $bound:ident>)? ($($arg:ident: $type:ty),*) $(-> $result:ty)? $body:block
    ) => {
        $(#[$doc])*
        #[inline]
        pub(crate) fn $name $(<$op: $bound>)? ($($arg: $type),*) $(-> $result)? {
            return_by_vectors!(
                avx512 $name::avx512 $(::<$op>)?,
                avx2 $name::avx2 $(::<$op>)?
                => ($($arg),*)
            );
            $name::portable $(::<$op>)? ($($arg),*)
        }

        mod $name {
            #[allow(unused_imports, reason = "some kernels use what is beside them")]
            use super::*;

            #[inline(always)]
            pub(super) fn portable $(<$op: $bound>)? ($($arg: $type),*) $(-> $result)? $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx512vpopcntdq,bmi1,bmi2,popcnt")]
            pub(super) fn avx512 $(<$op: $bound>)? ($($arg: $type),*) $(-> $result)? {
                portable $(::<$op>)? ($($arg),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
            pub(super) fn avx2 $(<$op: $bound>)? ($($arg: $type),*) $(-> $result)? {
                portable $(::<$op>)? ($($arg),*)
            }
        }
    };
}

pub(crate) mod arrays;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub(crate) mod bitmaps;
pub(crate) mod codes;
pub(crate) mod dots;
pub(crate) mod gaps;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;
pub(crate) mod numbers;
pub(crate) mod packed;
pub(crate) mod places;
pub(crate) mod planes;
pub(crate) mod prefetch;
pub(crate) mod scores;
mod steps;
pub(crate) mod sums;
pub(crate) mod widths;
pub(crate) mod windows;

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
use steps::has_neon;
#[cfg(test)]
pub(crate) use steps::{each_step, step_of_this_thread};
#[cfg(target_arch = "x86_64")]
use steps::{has_avx2, has_avx512};
