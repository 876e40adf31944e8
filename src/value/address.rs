//! Addresses of the Internet Protocol: as text, and as sixteen bytes in order.
//!
//! One of version 4 stands where version 6 has it, in `::ffff:0:0/96`, so that both are in one order and each has one
//! place in it: `10.0.0.1` and `::ffff:10.0.0.1` are the same address.

use super::typed::NotTaken;
use std::net::{IpAddr, Ipv6Addr};

/// Bytes of an address.
pub(super) const ADDRESS_LEN: usize = 16;
/// Bits before those that an address of version 4 has.
const BITS_BEFORE_V4: u32 = 96;

/// The addresses that a text means in a query: one, or those of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AddressSpan {
    pub(crate) first: u128,
    pub(crate) last: u128,
}

/// An address as a number.
pub(super) fn number_of(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// The address of a number, of version 4 if it is one of those.
pub(super) fn address_of(number: u128) -> IpAddr {
    let address = Ipv6Addr::from_bits(number);
    address.to_ipv4_mapped().map_or(IpAddr::V6(address), IpAddr::V4)
}

/// The term of an address: its bytes, the highest first.
pub(crate) fn term_of_address(number: u128) -> [u8; ADDRESS_LEN] {
    number.swap_bytes().to_le_bytes()
}

/// The address of a term; `None` if it is none.
pub(super) fn address_of_term(term: &[u8]) -> Option<IpAddr> {
    let number = u128::from_le_bytes(term.try_into().ok()?).swap_bytes();
    Some(address_of(number))
}

/// The one address that a text is.
pub(super) fn parse(text: &str) -> Result<IpAddr, NotTaken> {
    let address = text.trim().parse::<IpAddr>();
    address.map(|address| address_of(number_of(address))).map_err(|_| NotTaken {
        expected: "an address as 10.0.0.1 or 2001:db8::1".into(),
        found: format!("'{text}'"),
    })
}

/// The addresses that a text means: `10.0.0.1`, or a block as `10.0.0.0/8` and `2001:db8::/32`.
///
/// A block whose address has bits behind its length is refused, because it may as well have been meant as that address.
pub(crate) fn addresses(text: &str) -> Result<AddressSpan, NotTaken> {
    let text = text.trim();
    let Some((address, length)) = text.split_once('/') else {
        let number = parse(text).map(number_of).map_err(|refused| NotTaken {
            expected: "an address as 10.0.0.1 or 2001:db8::1, or a block as 10.0.0.0/8".into(),
            ..refused
        })?;
        return Ok(AddressSpan { first: number, last: number });
    };
    let wrong =
        |expected: String| NotTaken { expected: expected.into(), found: format!("'{text}'") };
    let written: IpAddr = address
        .parse()
        .map_err(|_| wrong("an address before the / of a block, as in 10.0.0.0/8".into()))?;
    let (bits_before, bits) = match written {
        IpAddr::V4(_) => (BITS_BEFORE_V4, u32::BITS),
        IpAddr::V6(_) => (0, u128::BITS),
    };
    let is_number = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
    let length = length.parse::<u32>().ok().filter(|length| is_number && *length <= bits);
    let Some(length) = length else {
        return Err(wrong(format!("a length of 0 to {bits} behind the / of a block")));
    };
    let behind = u128::MAX.checked_shr(bits_before + length).unwrap_or(0);
    let first = number_of(written);
    if first & behind != 0 {
        let block = match written {
            IpAddr::V4(_) => address_of(first & !behind),
            IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::from_bits(first & !behind)),
        };
        return Err(wrong(format!(
            "a block that begins where its address does, as {block}/{length}"
        )));
    }
    Ok(AddressSpan { first, last: first | behind })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Result<String, String> {
        let span =
            addresses(text).map_err(|wrong| format!("{} | {}", wrong.expected, wrong.found))?;
        Ok(format!("{} {}", address_of(span.first), address_of(span.last)))
    }

    #[test]
    fn a_text_means_an_address_or_a_block() {
        for (text, expected) in [
            ("10.0.0.1", "10.0.0.1 10.0.0.1"),
            (" 10.0.0.1 ", "10.0.0.1 10.0.0.1"),
            ("::ffff:10.0.0.1", "10.0.0.1 10.0.0.1"),
            ("2001:DB8:0::1", "2001:db8::1 2001:db8::1"),
            ("10.0.0.0/8", "10.0.0.0 10.255.255.255"),
            ("10.0.0.7/32", "10.0.0.7 10.0.0.7"),
            ("0.0.0.0/0", "0.0.0.0 255.255.255.255"),
            ("::ffff:10.0.0.0/104", "10.0.0.0 10.255.255.255"),
            ("2001:db8::/32", "2001:db8:: 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("::1/128", "::1 ::1"),
            ("::/0", ":: ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ] {
            assert_eq!(shown(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for (text, words) in [
            ("", "an address as 10.0.0.1"),
            ("10.0.0", "an address as 10.0.0.1"),
            ("10.0.0.256", "'10.0.0.256'"),
            ("010.0.0.1", "'010.0.0.1'"),
            ("fe80::1%eth0", "'fe80::1%eth0'"),
            ("10.0.0.0/33", "a length of 0 to 32"),
            ("10.0.0.0/", "a length of 0 to 32"),
            ("10.0.0.0/+8", "a length of 0 to 32"),
            ("::/129", "a length of 0 to 128"),
            ("x/8", "an address before the /"),
            ("10.0.0.1/8", "as 10.0.0.0/8 | '10.0.0.1/8'"),
            ("2001:db8::1/32", "as 2001:db8::/32"),
        ] {
            let message = shown(text).unwrap_err();
            assert!(message.contains(words), "{text}: {message}");
        }
    }

    #[test]
    fn terms_are_in_the_order_of_addresses() {
        let texts =
            ["::", "::1", "0.0.0.0", "9.255.255.255", "10.0.0.0", "::1:0:0:0", "2001:db8::1"];
        let terms = texts.map(|text| term_of_address(addresses(text).unwrap().first));
        assert!(terms.is_sorted());
        for (term, text) in terms.iter().zip(texts) {
            assert_eq!(address_of_term(term).unwrap().to_string(), text);
        }
        assert_eq!(address_of_term(&terms[0][1..]), None);
    }
}
