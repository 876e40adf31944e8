//! The one checksum: CRC32C (Castagnoli), by hardware if there is one.
//!
//! It finds every change of up to 32 adjacent bits and all but one in four thousand million others.
//! It does not stop an attacker, who can compute it too: that is what the checks of each format are for.

/// CRC32C of `bytes`.
#[inline]
pub(crate) fn crc32c(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes)
}

/// CRC32C of the bytes behind `so_far` followed by `bytes`.
#[inline]
pub(crate) fn crc32c_append(so_far: u32, bytes: &[u8]) -> u32 {
    crc32c::crc32c_append(so_far, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_of_the_catalogue() {
        // CRC-32/ISCSI in the CRC catalogue: check=0xe3069283 for "123456789".
        assert_eq!(crc32c(b"123456789"), 0xE306_9283);
        assert_eq!(crc32c_append(crc32c(b"1234"), b"56789"), 0xE306_9283);
    }
}
