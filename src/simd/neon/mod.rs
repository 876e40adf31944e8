//! Twins for NEON, in files of the same names as their kernels. Kernels that are missing here are vector code without one:
//! every processor of this architecture has NEON, and the compiler knows.

pub(super) mod arrays;
pub(super) mod codes;
pub(super) mod numbers;
pub(super) mod packed;
pub(super) mod scores;

use std::arch::aarch64::*;

/// Bytes of a vector.
const BYTES: usize = size_of::<uint8x16_t>();

#[inline]
#[target_feature(enable = "neon")]
fn load_bytes(bytes: &[u8; BYTES]) -> uint8x16_t {
    #[expect(unsafe_code, reason = "a vector load")]
    // SAFETY: the reference is to exactly the 16 bytes that are read.
    unsafe {
        vld1q_u8(bytes.as_ptr())
    }
}

/// Sixteen bytes from `at` on; zeros past the end.
#[inline]
#[target_feature(enable = "neon")]
fn sixteen_bytes(bytes: &[u8], at: usize) -> uint8x16_t {
    let rest = bytes.get(at..).unwrap_or_default();
    match rest.first_chunk() {
        Some(bytes) => load_bytes(bytes),
        None => last_bytes(rest),
    }
}

#[cold]
#[target_feature(enable = "neon")]
fn last_bytes(rest: &[u8]) -> uint8x16_t {
    let mut bytes = [0; BYTES];
    for (to, byte) in bytes.iter_mut().zip(rest) {
        *to = *byte;
    }
    load_bytes(&bytes)
}

#[inline]
#[target_feature(enable = "neon")]
fn load_four(numbers: &[u32; 4]) -> uint32x4_t {
    #[expect(unsafe_code, reason = "a vector load")]
    // SAFETY: the reference is to exactly the 16 bytes that are read.
    unsafe {
        vld1q_u32(numbers.as_ptr())
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn store_four(numbers: uint32x4_t, to: &mut [u32; 4]) {
    #[expect(unsafe_code, reason = "a vector store")]
    // SAFETY: the reference is to exactly the 16 bytes that are written.
    unsafe {
        vst1q_u32(to.as_mut_ptr(), numbers);
    }
}

/// A bit for each lane that is all ones; the others are zeros.
#[inline]
#[target_feature(enable = "neon")]
fn bits(lanes: uint16x8_t) -> u8 {
    // The bytes of this number are bits 0 to 7.
    let of_each = vmovl_u8(vcreate_u8(0x8040_2010_0804_0201));
    vaddvq_u16(vandq_u16(lanes, of_each)) as u8
}

/// Numbers packed in 16 bytes, and where each of four begins.
#[derive(Clone, Copy)]
struct Four {
    /// The four bytes from that on with the first bit.
    order: uint8x16_t,
    /// Bits before it in these.
    shifts: int32x4_t,
}

impl Four {
    /// Numbers of `width` bits, the first of which begins with bit `first` of 16 bytes.
    #[inline]
    #[target_feature(enable = "neon")]
    fn of(first: u32, width: u32) -> Self {
        let nth = vmovl_u16(vcreate_u16(0x0003_0002_0001_0000));
        let bits = vmlaq_n_u32(vdupq_n_u32(first), nth, width);
        let order = vmulq_n_u32(vshrq_n_u32::<3>(bits), 0x0101_0101);
        let order = vreinterpretq_u8_u32(vaddq_u32(order, vdupq_n_u32(0x0302_0100)));
        let shifts = vreinterpretq_s32_u32(vandq_u32(bits, vdupq_n_u32(7)));
        Four { order, shifts: vnegq_s32(shifts) }
    }

    /// The numbers, with what is behind each in its 25 bits or more.
    #[inline]
    #[target_feature(enable = "neon")]
    fn cut(self, bytes: uint8x16_t) -> uint32x4_t {
        vshlq_u32(vreinterpretq_u32_u8(vqtbl1q_u8(bytes, self.order)), self.shifts)
    }
}
