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

/// Begins to load some rows of one length out of all, back to back, by their numbers. A number beyond the last is no harm.
#[inline]
pub(crate) fn prefetch_rows(rows: &[u8], row_len: usize, some: impl Iterator<Item = usize>) {
    // A row that does not begin a line may end in one more.
    let n_lines = row_len.div_ceil(LINE);
    for row in some {
        let start = rows.as_ptr().wrapping_add(row.wrapping_mul(row_len));
        for line in 0..n_lines {
            prefetch_at(start.wrapping_add(LINE * line));
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
        super::prefetch_rows(&bytes, 130, [0, 7, 8, usize::MAX].into_iter());
        assert!(bytes.iter().all(|byte| *byte == 7));
    }
}
