//! Prefetching of memory before its use, so that several waits happen at once.

/// Bytes that come from memory together.
const LINE: usize = 64;

/// Begins to load `bytes`. A hint: it changes nothing but time, and does nothing at all where the
/// compiler has no stable way to say it.
#[inline]
pub(crate) fn prefetch(bytes: &[u8]) {
    for line in bytes.chunks(LINE) {
        prefetch_line(line);
    }
}

/// Begins to load some rows of one length, by the bytes from the start of each on.
#[inline]
pub(crate) fn prefetch_rows<'r>(rows: impl Iterator<Item = &'r [u8]>, row_len: usize) {
    // A row that does not begin a line may end in one more.
    let n_lines = row_len.div_ceil(LINE);
    for row in rows {
        for line in 0..n_lines {
            prefetch_at(row.as_ptr().wrapping_add(LINE * line));
        }
    }
}

/// Prefetches the line that a value begins in.
#[inline]
pub(crate) fn prefetch_of<T>(value: &T) {
    prefetch_at(std::ptr::from_ref(value).cast());
}

fn prefetch_line(line: &[u8]) {
    prefetch_at(line.as_ptr());
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[expect(unsafe_code, reason = "the intrinsic takes a raw pointer")]
fn prefetch_at(at: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: SSE is part of every x86-64, and a prefetch never faults, wherever it points.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn prefetch_at(_: *const u8) {}

#[cfg(test)]
mod tests {
    #[test]
    fn bytes_of_any_length_and_place_may_be_asked_for() {
        let bytes = vec![7; 1_000];
        for start in [0, 1, 63, 64, 999, 1_000] {
            super::prefetch(&bytes[start..]);
        }
        super::prefetch_of(&bytes[500]);
        super::prefetch_rows(bytes.chunks(130), 130);
        assert!(bytes.iter().all(|byte| *byte == 7));
    }
}
