//! Types of values: of one, and what holds several.

use std::net::IpAddr;

use serde_json::Number;
use treepie::{FieldKind, Timestamp};

/// Kinds of values seen in a field so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// Only null, empty lists, empty cells, and words that say so.
    Nothing,
    Numbers(Numbers),
    Bool,
    Date,
    Address,
    Text,
    /// Values without a kind in common, except as strings.
    Mixed,
}

/// Ranges and forms of the numbers seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Numbers {
    /// One with a point or an exponent.
    fraction: bool,
    /// A whole one below 0.
    negative: bool,
    /// A whole one that a fraction does not keep all digits of, or one beyond all fractions, or too near to 0.
    wide: bool,
    /// A whole one that takes all 64 bits.
    large: bool,
}

impl Numbers {
    /// Kind of a number with a point or an exponent.
    fn fraction(written: &str) -> Seen {
        // From here on a whole number may have more digits than a fraction keeps; with an exponent it says that the nearest
        // will do.
        const KEPT_MAX: f64 = (1u64 << 53) as f64;
        let number = written.parse().unwrap_or(f64::INFINITY);
        let is_rounded = written.contains(['e', 'E']) && number.is_finite();
        let wide = number.abs() >= KEPT_MAX && !is_rounded || vanishes(written, number);
        Seen::Numbers(Numbers { fraction: true, wide, ..Numbers::default() })
    }

    /// `None` for what no field of whole numbers can have.
    fn whole(number: i128) -> Option<Seen> {
        const BITS_OF_FRACTION: u32 = 53;
        (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&number).then_some(Seen::Numbers(
            Numbers {
                fraction: false,
                negative: number < 0,
                wide: number.unsigned_abs() > 1 << BITS_OF_FRACTION,
                large: number > i128::from(i64::MAX),
            },
        ))
    }

    fn and(self, other: Self) -> Self {
        Numbers {
            fraction: self.fraction | other.fraction,
            negative: self.negative | other.negative,
            wide: self.wide | other.wide,
            large: self.large | other.large,
        }
    }

    /// The kind of field that keeps all of them.
    pub(super) fn kind(self) -> Option<FieldKind> {
        match self {
            Numbers { fraction: true, wide: true, .. } => None,
            Numbers { fraction: true, .. } => Some(FieldKind::F64),
            Numbers { large: true, negative: true, .. } => None,
            Numbers { large: true, .. } => Some(FieldKind::U64),
            _ => Some(FieldKind::I64),
        }
    }
}

/// Whether a text that is read as 0 means another number, as 1e-400.
fn vanishes(written: &str, number: f64) -> bool {
    let digits = written.split_once(['e', 'E']).map_or(written, |(digits, _)| digits);
    number == 0.0 && digits.contains(|c: char| matches!(c, '1'..='9'))
}

impl Seen {
    pub(super) fn of_text(text: &str) -> Self {
        // A year or a month alone may as well be a number or a code.
        const DATE_LEN_MIN: usize = 10;
        let is_date = text.len() >= DATE_LEN_MIN
            && text.starts_with(|c: char| c.is_ascii_digit())
            && text.parse::<Timestamp>().is_ok();
        match text.parse::<IpAddr>() {
            _ if is_date => Seen::Date,
            Ok(_) => Seen::Address,
            Err(_) => Seen::Text,
        }
    }

    pub(super) fn of_number(number: &Number) -> Self {
        let whole = number.as_i64().map(i128::from).or(number.as_u64().map(i128::from));
        whole.and_then(Numbers::whole).unwrap_or_else(|| Numbers::fraction(number.as_str()))
    }

    /// Kind of a cell of a table.
    pub(super) fn of_cell(cell: &str) -> Self {
        let digits = cell.strip_prefix('-').unwrap_or(cell);
        let (digits, exponent) = match digits.split_once(['e', 'E']) {
            Some((digits, exponent)) => (digits, Some(exponent)),
            None => (digits, None),
        };
        // 007 is no number.
        let is_code = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
        let are_digits =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
            && exponent.is_none_or(|it| are_digits(it.strip_prefix(['-', '+']).unwrap_or(it)));
        let is_whole = exponent.is_none() && are_digits(digits);
        match cell {
            "" => Seen::Nothing,
            // Python and spreadsheets write them in other cases. `yes` and `no` are printed as they are written only by keywords.
            _ if ["true", "false"].iter().any(|word| word.eq_ignore_ascii_case(cell)) => Seen::Bool,
            _ if is_code || !is_number => Seen::of_text(cell),
            // One with more digits than a number has is the name of something.
            _ if is_whole => cell.parse().ok().and_then(Numbers::whole).unwrap_or(Seen::Text),
            // Four numbers with points between them are an address.
            _ => match cell.parse::<f64>() {
                // One beyond all numbers is a name, too, and one that would become 0.
                Ok(number) if number.is_finite() && !vanishes(cell, number) => {
                    Numbers::fraction(cell)
                }
                _ => Seen::of_text(cell),
            },
        }
    }

    /// Smallest kind that holds both.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (seen, Seen::Nothing) | (Seen::Nothing, seen) => seen,
            (Seen::Numbers(a), Seen::Numbers(b)) => Seen::Numbers(a.and(b)),
            (seen, other) if seen == other => seen,
            (Seen::Date | Seen::Address | Seen::Text, Seen::Date | Seen::Address | Seen::Text) => {
                Seen::Text
            }
            _ => Seen::Mixed,
        }
    }
}
