//! Neighbours that are known to be the nearest, and how many of them were found.

use std::{
    fs::File,
    io::{BufReader, Read},
    path::Path,
};

use treepie::{DocId, Error, ErrorKind, schema::Metric};

use crate::failure::{unread, usage};

const READING: &str = "reading the truth";
/// Neighbours a row may have; more is a file of another kind.
const ROW_MAX: usize = 1 << 20;
/// Part of a similarity by which numbers of 32 bits may put two neighbours in the other order.
const ROUNDING: f64 = 1e-6;

fn wrong(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Document, what)
}

/// The `k` nearest documents of each of so many queries, as an `.ivecs` file has them: in each row how many there are,
/// and their numbers, of 32 bits.
pub(crate) fn read_truth(
    path: &Path,
    n_queries: usize,
    k: usize,
) -> Result<Vec<Vec<DocId>>, Error> {
    let file = File::open(path).map_err(unread(READING, path))?;
    rows(BufReader::new(file), n_queries, k).map_err(|error| error.in_file(path))
}

fn rows(mut from: impl Read, n_queries: usize, k: usize) -> Result<Vec<Vec<DocId>>, Error> {
    let mut rows = vec![];
    while let Some(row) = next(&mut from, rows.len() + 1, k)? {
        rows.push(row);
        if rows.len() > n_queries {
            break;
        }
    }
    if rows.len() == n_queries {
        return Ok(rows);
    }
    let found = if rows.len() > n_queries { "more".to_owned() } else { rows.len().to_string() };
    Err(wrong(READING).expected(format!("a row for each of {n_queries} queries")).found(found))
}

/// The first `k` numbers of the next row, if there is one.
fn next(from: &mut impl Read, row: usize, k: usize) -> Result<Option<Vec<DocId>>, Error> {
    let doing = || wrong(format!("reading row {row} of the truth"));
    let mut read = |n_bytes: usize| {
        let mut bytes = vec![];
        let read = from.take(n_bytes as u64).read_to_end(&mut bytes);
        read.map_err(|error| Error::io(READING, error))?;
        match bytes.len() {
            n if n == n_bytes || n == 0 => Ok(bytes),
            n => Err(doing().expected(format!("{n_bytes} bytes")).found(format!("{n}"))),
        }
    };
    let head = read(size_of::<i32>())?;
    let Some(head) = head.first_chunk() else { return Ok(None) };
    let n = i32::from_le_bytes(*head);
    let n = usize::try_from(n).ok().filter(|n| (1..=ROW_MAX).contains(n)).ok_or_else(|| {
        doing()
            .expected(format!("how many neighbours there are, 1 to {ROW_MAX}"))
            .found(n.to_string())
    })?;
    let bytes = read(n * size_of::<i32>())?;
    let (numbers, _) = bytes.as_chunks();
    if numbers.is_empty() {
        return Err(doing().expected(format!("{n} neighbours")).found("the end of the file"));
    }
    if n < k {
        let error = doing().expected(format!("{k} neighbours or more")).found(n.to_string());
        return Err(error.hint(format!("--k {n} measures those that there are")));
    }
    let doc = |(at, number): (usize, &[u8; 4])| {
        let number = i32::from_le_bytes(*number);
        u64::try_from(number).map(DocId).map_err(|_| {
            doing()
                .expected("numbers of documents")
                .found(format!("{number}, number {} of {n}", at + 1))
        })
    };
    numbers.iter().take(k).enumerate().map(doc).collect::<Result<_, _>>().map(Some)
}

/// Similarity of two vectors by 64 bits.
pub(crate) fn similarity(metric: Metric, a: &[f32], b: &[f32]) -> Result<f64, Error> {
    let pairs = || a.iter().zip(b).map(|(a, b)| (f64::from(*a), f64::from(*b)));
    let product = || pairs().map(|(a, b)| a * b).sum::<f64>();
    let length = |numbers: &[f32]| {
        numbers.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt()
    };
    match metric {
        Metric::Cosine => Ok(product() / (length(a) * length(b))),
        Metric::Dot => Ok(product()),
        Metric::L2 => Ok(-pairs().map(|(a, b)| (a - b).powi(2)).sum::<f64>()),
        other => Err(usage(format!("computing the {} by 64 bits", other.name()))),
    }
}

/// The part of the nearest that was found, by similarity, so that one neighbour is as good as another that is as near.
pub(crate) fn recall(found: &[f64], nearest: &[f64]) -> f64 {
    let least = nearest.iter().copied().fold(f64::INFINITY, f64::min);
    let n_found = found.iter().filter(|it| **it >= least - least.abs() * ROUNDING).count();
    match nearest.len() {
        0 => 1.0,
        n => n_found.min(n) as f64 / n as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(numbers: &[i32]) -> Vec<u8> {
        let n = numbers.len() as i32;
        [n].iter().chain(numbers).flat_map(|number| number.to_le_bytes()).collect()
    }

    fn read(bytes: &[u8], n_queries: usize, k: usize) -> Result<Vec<Vec<u64>>, String> {
        let read = rows(bytes, n_queries, k).map_err(|error| error.to_string())?;
        Ok(read.iter().map(|row| row.iter().map(|doc| doc.0).collect()).collect())
    }

    #[test]
    fn rows_are_read_as_far_as_neighbours_are_wanted() {
        let two = [row(&[3, 1, 2]), row(&[0, 2, 1])].concat();
        assert_eq!(read(&two, 2, 2), Ok(vec![vec![3, 1], vec![0, 2]]));
        assert_eq!(read(&two, 2, 3), Ok(vec![vec![3, 1, 2], vec![0, 2, 1]]));
    }

    #[test]
    fn other_files_are_told_by_what_is_wrong_with_them() {
        let (one, two) = (row(&[3, 1, 2]), [row(&[3, 1, 2]), row(&[0, 2, 1])].concat());
        for (bytes, words) in [
            (&one[..], "a row for each of 2 queries, found 1"),
            (&[&two[..], &one].concat(), "a row for each of 2 queries, found more"),
            (&[], "a row for each of 2 queries, found 0"),
            (&two[..two.len() - 1], "reading row 2 of the truth: expected 12 bytes, found 11"),
            (&two[..18], "reading row 2 of the truth: expected 4 bytes, found 2"),
            (&two[..20], "reading row 2 of the truth: expected 3 neighbours, found the end"),
            (&row(&[]), "how many neighbours there are, 1 to 1048576, found 0"),
            (&row(&[1, -2, 3]), "numbers of documents, found -2, number 2 of 3"),
            (&row(&[1]), "2 neighbours or more, found 1; --k 1"),
            (&[0xFF; 16], "1 to 1048576, found -1"),
            (b"\x93NUMPY\x01\x00", "1 to 1048576, found"),
        ] {
            let error = read(bytes, 2, 2).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn neighbours_as_near_as_the_last_count() {
        assert_eq!(recall(&[0.9, 0.8, 0.7], &[0.9, 0.8, 0.7]), 1.0);
        assert_eq!(recall(&[0.9, 0.7, 0.7], &[0.7, 0.8, 0.9]), 1.0, "as near as one of them");
        assert_eq!(recall(&[0.9, 0.8, 0.6], &[0.9, 0.8, 0.7]), 2.0 / 3.0);
        assert_eq!(recall(&[-4.0, -4.000_000_1], &[-3.0, -4.0]), 1.0, "rounded");
        assert_eq!((recall(&[], &[0.5]), recall(&[], &[])), (0.0, 1.0));
        let of = |metric| similarity(metric, &[1.0, 2.0], &[3.0, 0.0]).unwrap();
        assert_eq!((of(Metric::Dot), of(Metric::L2)), (3.0, -8.0));
        assert!((of(Metric::Cosine) - 3.0 / (5f64.sqrt() * 3.0)).abs() < 1e-12);
    }
}
