//! Vectors of documents as rows: the bytes of the numbers that their field keeps.

use super::Value;
use super::typed::{self, NotTaken};
use crate::schema::{FieldKind, Metric, VectorParams, VectorValues};
use half::f16;

/// Greatest sum of the squares of a vector's numbers: 2 to the 125th. So neither products nor squared distances of two vectors
/// go beyond what 32 bits have.
const SQUARE_MAX: f64 = (1u128 << 125) as f64;
/// Smallest sum under the cosine: 2 to the −100th. Below it squares of 32 bits begin to vanish, and with them the direction.
const SQUARE_MIN: f64 = 1.0 / (1u128 << 100) as f64;

/// Appends the row of a value of a document.
pub(crate) fn append_vector(
    params: VectorParams,
    value: &Value,
    row: &mut Vec<u8>,
) -> Result<(), NotTaken> {
    let kind = FieldKind::Vector(params);
    let refused = |found| NotTaken { expected: typed::takes(kind).into(), found };
    let Value::Vector(numbers) = value else { return Err(refused(typed::shown(value))) };
    check_vector(params, numbers)?;
    row.reserve(params.row_len());
    let start = row.len();
    append_numbers(params.values, numbers, row)?;
    if params.values == VectorValues::F16 {
        // Rounding may leave nothing of a direction.
        check_vector(params, &numbers_of_row(params, &row[start..]))?;
    }
    Ok(())
}

/// Appends numbers as a field keeps them.
fn append_numbers(
    values: VectorValues,
    numbers: &[f32],
    row: &mut Vec<u8>,
) -> Result<(), NotTaken> {
    match values {
        VectorValues::F32 => row.extend(numbers.iter().flat_map(|number| number.to_le_bytes())),
        VectorValues::F16 => {
            let expected = "numbers of at most 65504, as 16 bits have them";
            check_each(numbers, expected, |number| f16::from_f32(number).is_finite())?;
            row.extend(numbers.iter().flat_map(|number| f16::from_f32(*number).to_le_bytes()));
        }
        VectorValues::I8 => {
            let whole = |number: f32| number == f32::from(number as i8);
            check_each(numbers, "whole numbers from -128 to 127", whole)?;
            row.extend(numbers.iter().map(|number| (*number as i8).cast_unsigned()));
        }
        VectorValues::Bits => {
            check_each(numbers, "numbers that are 0 or 1", |it| it == 0.0 || it == 1.0)?;
            row.extend(numbers.chunks(8).map(byte_of));
        }
    }
    Ok(())
}

fn check_each(
    numbers: &[f32],
    expected: &'static str,
    is_one: impl Fn(f32) -> bool,
) -> Result<(), NotTaken> {
    match numbers.iter().position(|number| !is_one(*number)) {
        None => Ok(()),
        Some(at) => {
            let found = format!("{}, number {} of {}", numbers[at], at + 1, numbers.len());
            Err(NotTaken { expected: expected.into(), found })
        }
    }
}

/// The bits of up to eight numbers, of which the first is the highest.
fn byte_of(numbers: &[f32]) -> u8 {
    let bits =
        numbers.iter().enumerate().map(|(nth, number)| u8::from(*number != 0.0) << (7 - nth));
    bits.sum()
}

/// The bits of numbers that are all 0 or 1; none if there are others.
pub(crate) fn bits_of(numbers: &[f32]) -> Option<Vec<u8>> {
    let mut row = vec![];
    append_numbers(VectorValues::Bits, numbers, &mut row).ok().map(|()| row)
}

/// Sums that squares are added to in turn, so that none waits for the one before.
const LANES: usize = 8;

/// Refuses a vector that a field cannot have, or be asked for.
pub(crate) fn check_vector(params: VectorParams, numbers: &[f32]) -> Result<(), NotTaken> {
    let n_numbers = numbers.len();
    if n_numbers != usize::from(params.dims) {
        let expected = typed::takes(FieldKind::Vector(params)).into();
        return Err(NotTaken { expected, found: format!("one of {n_numbers}") });
    }
    let mut squares = [0.0; LANES];
    for some in numbers.chunks(LANES) {
        for (sum, number) in squares.iter_mut().zip(some) {
            *sum += f64::from(*number) * f64::from(*number);
        }
    }
    let square: f64 = squares.iter().sum();
    // No square of a finite number of 32 bits is infinite in 64, and no sum of a few thousand.
    if !square.is_finite()
        && let Some((nth, number)) = (1..).zip(numbers).find(|(_, number)| !number.is_finite())
    {
        let found = format!("{number}, number {nth} of {n_numbers}");
        return Err(NotTaken { expected: "finite numbers".into(), found });
    }
    let length = square.sqrt();
    if square > SQUARE_MAX {
        let expected = format!("a vector of a length of at most {:.1e}", SQUARE_MAX.sqrt());
        return Err(NotTaken { expected: expected.into(), found: format!("{length:e}") });
    }
    if params.metric == Metric::Cosine && square < SQUARE_MIN {
        let expected = format!(
            "a vector with a direction, which the cosine compares: of a length of at least {:.1e}",
            SQUARE_MIN.sqrt()
        );
        return Err(NotTaken { expected: expected.into(), found: format!("{length:e}") });
    }
    Ok(())
}

/// Numbers of a row.
pub(crate) fn numbers_of_row(params: VectorParams, row: &[u8]) -> Vec<f32> {
    let of_byte = |byte: &u8| {
        let byte = *byte;
        (0..8).map(move |nth| f32::from(byte >> (7 - nth) & 1))
    };
    match params.values {
        VectorValues::F32 => row.as_chunks().0.iter().map(|it| f32::from_le_bytes(*it)).collect(),
        VectorValues::F16 => {
            row.as_chunks().0.iter().map(|it| f16::from_le_bytes(*it).to_f32()).collect()
        }
        VectorValues::I8 => row.iter().map(|it| f32::from(it.cast_signed())).collect(),
        VectorValues::Bits => row.iter().flat_map(of_byte).take(params.dims.into()).collect(),
    }
}

/// Description of bits behind the last number of a row, which no vector has.
pub(crate) fn beside_numbers(params: VectorParams, row: &[u8]) -> Option<String> {
    let n_beside = match params.values {
        VectorValues::Bits => params.row_len() * 8 - usize::from(params.dims),
        _ => 0,
    };
    let last = row.last().copied().unwrap_or_default();
    let beside = last & ((1 << n_beside) - 1) as u8;
    (beside != 0).then(|| format!("{n_beside} bits behind the last number that are not all zero"))
}

/// The one vector that numbers which a document has one after the other are, as a list of them becomes.
pub(crate) fn gathered<'v>(values: impl Iterator<Item = &'v Value>) -> Option<Value> {
    let number = |value: &Value| match value {
        // A number of 32 bits became one of 64 by its digits, and is the nearest to these again.
        Value::F64(number) => Some(*number as f32),
        Value::I64(number) => Some(*number as f32),
        Value::U64(number) => Some(*number as f32),
        _ => None,
    };
    let numbers: Option<Vec<f32>> = values.map(number).collect();
    numbers.filter(|numbers| !numbers.is_empty()).map(Value::Vector)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(metric: Metric, numbers: &[f32]) -> Result<(), String> {
        let params = VectorParams::new(2, metric);
        let mut row = vec![];
        append_vector(params, &numbers.into(), &mut row)
            .map(|()| assert_eq!(numbers_of_row(params, &row), numbers))
            .map_err(|wrong| format!("expected {}, found {}", wrong.expected, wrong.found))
    }

    #[test]
    fn vectors_that_can_be_compared_are_taken_and_kept_to_the_bit() {
        let subnormal = f32::from_bits(7);
        for metric in Metric::ALL {
            check(metric, &[1.0, -0.0]).unwrap();
            check(metric, &[subnormal, -1.0]).unwrap();
            check(metric, &[1e-15, 0.0]).unwrap();
            check(metric, &[6e18, 0.0]).unwrap();
        }
        for metric in [Metric::Dot, Metric::L2] {
            check(metric, &[0.0, 0.0]).unwrap();
            check(metric, &[subnormal, 0.0]).unwrap();
        }
    }

    #[test]
    fn others_are_refused_by_what_is_wrong_with_them() {
        for metric in Metric::ALL {
            for (numbers, words) in [
                (&[1.0][..], "expected a vector of 2 numbers, found one of 1"),
                (&[], "found one of 0"),
                (&[1.0, f32::NAN], "expected finite numbers, found NaN, number 2 of 2"),
                (&[f32::NEG_INFINITY, 1.0], "found -inf, number 1 of 2"),
                (&[1e19, 0.0], "a length of at most 6.5e18, found 9.9"),
                (&[f32::MAX, f32::MAX], "found 4.8"),
            ] {
                let error = check(metric, numbers).unwrap_err();
                assert!(error.contains(words), "{metric:?} {numbers:?}: {error}");
            }
        }
        for numbers in [[0.0, -0.0], [1e-16, 0.0], [f32::from_bits(7), f32::from_bits(7)]] {
            let error = check(Metric::Cosine, &numbers).unwrap_err();
            assert!(error.contains("a direction"), "{numbers:?}: {error}");
        }
        let params = VectorParams::new(2, Metric::Dot);
        for (value, found) in [
            (Value::from("1,2"), "a text (1,2)"),
            (Value::from(7), "a whole number (7)"),
            (Value::from(true), "a boolean (true)"),
        ] {
            assert_eq!(append_vector(params, &value, &mut vec![]).unwrap_err().found, found);
        }
    }

    #[test]
    fn whatever_is_taken_has_products_and_distances_of_32_bits() {
        let longest = [SQUARE_MAX.sqrt() as f32 * 0.999, 0.0];
        let opposite = longest.map(|number| -number);
        for metric in Metric::ALL {
            check(metric, &longest).unwrap();
            check(metric, &opposite).unwrap();
        }
        let of = |f: fn(f32, f32) -> f32| longest.iter().zip(opposite).map(move |(a, b)| f(*a, b));
        assert!(of(|a, b| a * b).sum::<f32>().is_finite());
        assert!(of(|a, b| (a - b) * (a - b)).sum::<f32>().is_finite());
        let shortest = SQUARE_MIN.sqrt() as f32 * 1.001;
        check(Metric::Cosine, &[shortest, 0.0]).unwrap();
        assert!((shortest * shortest).is_normal());
    }

    /// Bytes of the row of a vector, and the numbers that it has again.
    fn kept(values: VectorValues, numbers: &[f32]) -> Result<(Vec<u8>, Vec<f32>), String> {
        let params = VectorParams::new(numbers.len() as u16, Metric::Cosine).values(values);
        let mut row = vec![];
        append_vector(params, &numbers.into(), &mut row)
            .map_err(|wrong| format!("expected {}, found {}", wrong.expected, wrong.found))?;
        assert_eq!((row.len(), beside_numbers(params, &row)), (params.row_len(), None));
        let again = numbers_of_row(params, &row);
        let mut second = vec![];
        append_vector(params, &again[..].into(), &mut second).unwrap();
        assert_eq!(second, row, "what is kept is kept again");
        Ok((row, again))
    }

    #[test]
    fn numbers_of_fewer_bits_are_kept_as_they_are_or_the_nearest() {
        let (row, again) = kept(VectorValues::F16, &[1.0, -2.0, 0.1, 65_519.0, 1e-9]).unwrap();
        assert_eq!(row, [0x3C00u16, 0xC000, 0x2E66, 0x7BFF, 0].map(u16::to_le_bytes).concat());
        assert_eq!(again, [1.0, -2.0, 0.099975586, 65_504.0, 0.0]);
        let whole = [-128.0, 127.0, 0.0, -1.0, -0.0];
        assert_eq!(kept(VectorValues::I8, &whole).unwrap().0, [128, 127, 0, 255, 0]);
        let bits = [1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0];
        let (row, again) = kept(VectorValues::Bits, &bits).unwrap();
        assert_eq!((&row[..], &again[..]), (&[0b1001_1110, 0b0100_0000][..], &bits[..]));
        assert_eq!(bits_of(&bits), Some(row));
        assert_eq!(bits_of(&[0.0, 1.0, 0.5]), None);
        let params = VectorParams::new(10, Metric::L2).values(VectorValues::Bits);
        assert!(beside_numbers(params, &[0, 0b0110_0000]).unwrap().contains("6 bits"));
    }

    #[test]
    fn numbers_that_a_field_does_not_keep_are_refused_by_their_place() {
        for (values, numbers, words) in [
            (
                VectorValues::F16,
                [1.0, 65_520.0],
                "65504, as 16 bits have them, found 65520, number 2",
            ),
            (VectorValues::F16, [1e-9, -1e-9], "a direction"),
            (
                VectorValues::I8,
                [1.0, 0.5],
                "whole numbers from -128 to 127, found 0.5, number 2 of 2",
            ),
            (VectorValues::I8, [128.0, 0.0], "found 128, number 1"),
            (VectorValues::I8, [1.0, -129.0], "found -129, number 2"),
            (VectorValues::I8, [0.0, 0.0], "a direction"),
            (VectorValues::Bits, [1.0, 2.0], "numbers that are 0 or 1, found 2, number 2 of 2"),
            (VectorValues::Bits, [-1.0, 1.0], "found -1, number 1"),
            (VectorValues::Bits, [0.0, 0.0], "a direction"),
            (VectorValues::Bits, [f32::NAN, 0.0], "finite numbers, found NaN"),
        ] {
            let error = kept(values, &numbers).unwrap_err();
            assert!(error.contains(words), "{values:?} {numbers:?}: {error}");
        }
    }

    #[test]
    fn numbers_of_a_list_are_one_vector() {
        let numbers = [0.1f32, -3.0, f32::MIN_POSITIVE / 8.0];
        let values: Vec<Value> = numbers.map(Value::from).into();
        assert_eq!(gathered(values.iter()), Some(numbers.into()));
        assert_eq!(gathered([Value::from(3), 4u64.into()].iter()), Some([3.0f32, 4.0].into()));
        assert_eq!(gathered([Value::from(3), "4".into()].iter()), None);
        assert_eq!(gathered([].iter()), None);
    }
}
