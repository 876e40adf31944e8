//! Different vectors out of rows.

use super::code::{Codes, Measures, encode};
use super::hash::hash_of_code;
use super::spill::{SpillWriter, SpilledBytes};
use crate::error::Result;
use crate::schema::Metric;
use crate::simd::codes::sum;

/// Codes of rows one after the other.
///
/// They are compared with each other when there are all of them: those of equal hashes, so that it takes one pass.
#[derive(Debug)]
pub(crate) struct RowCodes {
    metric: Metric,
    dims: u16,
    bytes: SpillWriter,
    measures: Vec<Measures>,
    sums: Vec<i32>,
    /// Hash of each row.
    hashes: Vec<(u64, u32)>,
    /// The code of the row that was added last.
    code: Vec<u8>,
}

impl RowCodes {
    /// For so many rows of so many numbers.
    pub(crate) fn new(metric: Metric, dims: u16, n_rows: u32, bytes: SpillWriter) -> Self {
        let n = n_rows as usize;
        let (measures, sums) = (Vec::with_capacity(n), Vec::with_capacity(n));
        let (hashes, code) = (Vec::with_capacity(n), vec![]);
        RowCodes { metric, dims: dims.max(1), bytes, measures, sums, hashes, code }
    }

    /// Adds the code of the next row.
    pub(crate) fn add(
        &mut self,
        numbers: impl ExactSizeIterator<Item = f32> + Clone,
    ) -> Result<()> {
        let code = &mut self.code;
        code.clear();
        let measures = encode(self.metric, numbers, code);
        code.resize(usize::from(self.dims), 0);
        self.hashes.push((hash_of_code(code, measures.scale), self.measures.len() as u32));
        self.measures.push(measures);
        self.sums.push(sum(code));
        self.bytes.write(code)
    }

    /// Codes, each once, in the order in which they came first; and for each row the number of its own.
    pub(crate) fn finish(self) -> Result<(Codes, Vec<u32>)> {
        let RowCodes { metric, dims, bytes, mut measures, mut sums, hashes, .. } = self;
        let bytes = bytes.finish()?;
        let mut of_rows = first_rows(hashes, &bytes, &measures);
        let (mut places, mut n) = (Vec::new(), 0);
        for row in 0..of_rows.len() {
            let first = of_rows[row] as usize;
            if first < row {
                // Rows before have the numbers of their codes by now.
                of_rows[row] = of_rows[first];
                continue;
            }
            (measures[n], sums[n]) = (measures[row], sums[row]);
            places.push(row as u32);
            of_rows[row] = n as u32;
            n += 1;
        }
        measures.truncate(n);
        sums.truncate(n);
        let places = if n < of_rows.len() { places } else { vec![] };
        Ok((Codes::of((metric, dims), bytes, places, measures, sums), of_rows))
    }
}

/// For each row the first that has its code.
fn first_rows(
    mut hashes: Vec<(u64, u32)>,
    bytes: &SpilledBytes,
    measures: &[Measures],
) -> Vec<u32> {
    let len = bytes.len() / measures.len().max(1);
    let code = |row: u32| &bytes[row as usize * len..][..len];
    hashes.sort_unstable();
    let mut of_rows: Vec<u32> = (0..measures.len() as u32).collect();
    for rows in hashes.chunk_by(|a, b| a.0 == b.0).filter(|rows| rows.len() > 1) {
        let mut firsts: Vec<u32> = vec![];
        for &(_, row) in rows {
            let is_same = |first: &&u32| {
                code(**first) == code(row) && measures[**first as usize] == measures[row as usize]
            };
            match firsts.iter().find(is_same) {
                Some(first) => of_rows[row as usize] = *first,
                None => firsts.push(row),
            }
        }
    }
    of_rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rows_are_one_vector() {
        let rows = [[3.0f32, 1.0], [0.0, 2.0], [6.0, 2.0], [0.0, 2.0], [1.0, 9.0], [3.0, 1.0]];
        for (metric, expected) in
            [(Metric::L2, [0, 1, 2, 1, 3, 0]), (Metric::Cosine, [0, 1, 0, 1, 2, 0])]
        {
            let mut codes = RowCodes::new(metric, 2, 6, SpillWriter::new(None, 0));
            rows.iter().for_each(|row| codes.add(row.iter().copied()).unwrap());
            let (codes, of_rows) = codes.finish().unwrap();
            assert_eq!(of_rows, expected);
            let mut naive = Codes::new(metric, 2);
            rows.iter().for_each(|row| naive.push(row.iter().copied()));
            for (row, of_row) in (0..).zip(of_rows) {
                assert_eq!(codes.code(of_row), naive.code(row));
                assert_eq!(codes.measures(of_row), naive.measures(row));
                assert_eq!(codes.sum(of_row), naive.sum(row));
            }
        }
    }

    /// Rows of one hash are compared all the same.
    #[test]
    fn a_hash_does_not_make_rows_equal() {
        let bytes = SpilledBytes::Memory(vec![1, 2, 1, 3, 2]);
        let hashes = (0..5).map(|row| (7, row)).collect();
        assert_eq!(first_rows(hashes, &bytes, &[Measures::default(); 5]), [0, 1, 0, 3, 1]);
    }
}
