//! Natural order of texts: numbers in them count by their values.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;

/// Adds the key of a text: letters without case and marks, and numbers by their value, a number where its first digit would be,
/// those of more digits behind those of fewer.
pub(crate) fn natural_key(text: &str, key: &mut Vec<u8>) {
    /// Numbers of so many digits and more say how many in four bytes more.
    const LONG: usize = 255;
    let mut digits: Vec<u8> = vec![];
    let finish = |digits: &mut Vec<u8>, key: &mut Vec<u8>| {
        if digits.is_empty() {
            return;
        }
        let from = digits.iter().position(|digit| *digit != b'0').unwrap_or(digits.len());
        let number = digits.get(from..).unwrap_or_default();
        key.push(b'0');
        key.push(number.len().min(LONG) as u8);
        if number.len() >= LONG {
            // The highest byte first.
            key.extend(u32::try_from(number.len()).unwrap_or(u32::MAX).swap_bytes().to_le_bytes());
        }
        key.extend_from_slice(number);
        digits.clear();
    };
    for c in text.nfd().filter(|c| canonical_combining_class(*c) == 0) {
        if let Some(digit) = digit(c) {
            digits.push(b'0' + digit);
            continue;
        }
        finish(&mut digits, key);
        for lower in c.to_lowercase() {
            key.extend_from_slice(lower.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
    finish(&mut digits, key);
}

/// The value of a decimal digit of any script.
fn digit(c: char) -> Option<u8> {
    /// The zeros of Unicode's decimal digits (general category Nd, version 16), each followed by nine others.
    const ZEROS: [u32; 76] = [
        0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66,
        0xde6, 0xe50, 0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90,
        0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0,
        0xff10, 0x104a0, 0x10d30, 0x10d40, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450,
        0x114d0, 0x11650, 0x116c0, 0x116d0, 0x116da, 0x11730, 0x118e0, 0x11950, 0x11bf0, 0x11c50,
        0x11d50, 0x11da0, 0x11f50, 0x16130, 0x16a60, 0x16ac0, 0x16b50, 0x16d70, 0x1ccf0, 0x1d7ce,
        0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e4f0, 0x1e5f1, 0x1e950, 0x1fbf0,
    ];
    let code = u32::from(c);
    let at = ZEROS.partition_point(|zero| *zero <= code);
    let value = code - ZEROS.get(at.checked_sub(1)?)?;
    u8::try_from(value).ok().filter(|value| *value < 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_every_script_have_their_values() {
        let digits = (0..=u32::from(char::MAX)).filter_map(char::from_u32).filter_map(|c| {
            let value = digit(c)?;
            assert!(c.is_numeric(), "{c:?}");
            assert_eq!(c.to_digit(10).unwrap_or(value.into()), u32::from(value));
            Some(c)
        });
        assert_eq!(digits.count(), 760);
    }
}
