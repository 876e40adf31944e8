//! Hashes of the contents of vectors.
//!
//! Samples are the vectors of the least hashes, so that they are the same wherever the vectors stand.

/// Mixes the bits of a number: the last step of splitmix64.
pub(super) fn mixed(mut bits: u64) -> u64 {
    bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ bits >> 31
}

/// Hash of a code and its scale.
pub(super) fn hash_of_code(code: &[u8], scale: f32) -> u64 {
    let (words, rest) = code.as_chunks();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = words.iter().chain([&last]).map(|word| u64::from_le_bytes(*word));
    words.fold(u64::from(scale.to_bits()), |hash, word| {
        mixed(hash.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ word)
    })
}
