//! Vectors of documents as rows: little-endian numbers of 32 bits.

use super::Value;
use super::typed::{self, NotTaken};
use crate::schema::{FieldKind, Metric, VectorParams};

/// Bytes of a number of a row.
const NUMBER_LEN: usize = size_of::<f32>();
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
    check_vector(params, numbers.iter().copied())?;
    row.reserve(params.row_len());
    numbers.iter().for_each(|number| row.extend_from_slice(&number.to_le_bytes()));
    Ok(())
}

/// Refuses a vector that a field cannot have, or be asked for.
pub(crate) fn check_vector(
    params: VectorParams,
    numbers: impl ExactSizeIterator<Item = f32>,
) -> Result<(), NotTaken> {
    let n_numbers = numbers.len();
    if n_numbers != usize::from(params.dims) {
        let expected = typed::takes(FieldKind::Vector(params)).into();
        return Err(NotTaken { expected, found: format!("one of {n_numbers}") });
    }
    let mut square = 0.0;
    for (nth, number) in (1..).zip(numbers) {
        if !number.is_finite() {
            let found = format!("{number}, number {nth} of {n_numbers}");
            return Err(NotTaken { expected: "finite numbers".into(), found });
        }
        square += f64::from(number) * f64::from(number);
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
pub(crate) fn numbers_of_row(row: &[u8]) -> impl ExactSizeIterator<Item = f32> + Clone {
    let (numbers, _) = row.as_chunks::<NUMBER_LEN>();
    numbers.iter().map(|number| f32::from_le_bytes(*number))
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
            .map(|()| assert_eq!(numbers_of_row(&row).collect::<Vec<_>>(), numbers))
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
