//! Vectors that others are compared with.

use crate::bytes::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::format::graph::codes::Codes;
use crate::format::graph::{bit_codes, codes};
use crate::graph::bit_code::{BitTarget, Frame};
use crate::graph::code::{Measures, Target as ByteTarget};
use crate::ids::DocId;
use crate::query::{NeighborsSpec, QueryVector};
use crate::schema::{Metric, Schema, VectorCodes, VectorParams, VectorValues};
use crate::segment::reader::SegmentReader;
use crate::simd::codes::TOGETHER;
use crate::simd::dots::{
    Bits, F16, F32, I8, Numbers, dot, dot_and_square, ones_in_common, squared_distance,
};
use crate::value::{bits_of, check_vector, numbers_of_row};

/// Vectors of which the nearest counts, and their metric.
#[derive(Debug)]
pub(super) struct Target {
    params: VectorParams,
    vectors: Vec<Prepared>,
    /// The document that they are of, which is not its own neighbour.
    doc: Option<DocId>,
}

#[derive(Debug)]
struct Prepared {
    numbers: Vec<f32>,
    /// Euclidean length.
    length: f32,
    /// The numbers as bits where they are all 0 or 1, as those of the rows are: the same sums are counted then.
    bits: Option<Vec<u8>>,
}

impl Target {
    /// The vectors that neighbours are looked for of, in segments with the number of the first document of each.
    pub(super) fn of(
        spec: &NeighborsSpec,
        schema: &Schema,
        segments: &[(SegmentReader<'_>, u64)],
    ) -> Result<Self> {
        let field = schema.get(spec.field);
        let name = &field.name;
        let doing = || Error::new(ErrorKind::Query, format!("looking for neighbours in '{name}'"));
        let Some(params) = field.kind.vector() else {
            let found = format!("a {} field", field.kind.name());
            return Err(doing().expected("a field of vectors").found(found));
        };
        let (vectors, doc) = match &spec.vector {
            QueryVector::Numbers(numbers) => (vec![numbers.as_slice().to_vec()], None),
            QueryVector::Document(doc) => (of_document(*doc, spec, segments, &doing)?, Some(*doc)),
            QueryVector::Parameter(parameter) => {
                return Err(doing()
                    .expected("a vector")
                    .found(format!("the parameter '${parameter}'")));
            }
        };
        for numbers in &vectors {
            check_vector(params, numbers)
                .map_err(|wrong| doing().expected(wrong.expected).found(wrong.found))?;
        }
        let vectors = vectors.into_iter().map(|it| Prepared::of(params, it)).collect();
        Ok(Target { params, vectors, doc })
    }

    /// The vectors, for a walk to each over a graph with such codes.
    pub(super) fn walked<'s, S: Source<'s>>(
        &self,
        codes: Option<&Codes<S>>,
    ) -> Result<Vec<WalkTarget<'_>>> {
        let params = self.params;
        let frame = match (params.codes, codes) {
            (VectorCodes::B1, Some(codes)) => {
                let (seed, centroid) = bit_codes::seed_and_centroid(codes)?;
                Some(Frame::new(seed, centroid))
            }
            _ => None,
        };
        let walked = self.vectors.iter().map(|vector| {
            let numbers = vector.numbers.iter().copied();
            let code = match (params.codes, &frame) {
                (VectorCodes::I8, _) => Code::Bytes(ByteTarget::new(params.metric, numbers)),
                (_, Some(frame)) => Code::Bits(BitTarget::new(params.metric, frame, numbers)),
                _ => Code::None,
            };
            WalkTarget { params, vector, code }
        });
        Ok(walked.collect())
    }

    pub(super) fn dims(&self) -> u16 {
        self.params.dims
    }

    /// The document of a segment that begins at `base` that is not its own neighbour; one that no segment has in others.
    pub(super) fn left_out(&self, base: u64) -> Option<u32> {
        self.doc.and_then(|doc| u32::try_from(doc.0.checked_sub(base)?).ok())
    }

    /// Similarity of a row to the nearest of the vectors.
    #[inline]
    pub(super) fn similarity(&self, row: &[u8]) -> f32 {
        let mut greatest = f32::MIN;
        for vector in &self.vectors {
            greatest = greatest.max(vector.similarity(self.params, row));
        }
        greatest
    }
}

/// A vector that a walk goes to.
#[derive(Debug)]
pub(super) struct WalkTarget<'t> {
    params: VectorParams,
    vector: &'t Prepared,
    code: Code,
}

/// Code of a vector that a walk goes to.
#[derive(Debug)]
enum Code {
    /// The walk compares vectors.
    None,
    Bytes(ByteTarget),
    Bits(BitTarget),
}

impl WalkTarget<'_> {
    /// Distance of the code in a row; numbers that damage made of others are far. None where the row has too few bytes.
    #[inline]
    pub(super) fn distance_of_code(&self, row: &[u8]) -> Option<f32> {
        let distance = match &self.code {
            Code::Bytes(own) => {
                let code = codes::code_of_row(row)?;
                own.distance(code.steps, Measures { scale: code.scale, square: code.square })
            }
            Code::Bits(own) => own.distance(bit_codes::code_of_row(row)?),
            Code::None => return None,
        };
        Some(if distance.is_nan() { f32::MAX } else { distance })
    }

    /// The greatest similarity that a vector may have, given the row of its code and the distance of that; none where nothing
    /// bounds it.
    pub(super) fn greatest_similarity(&self, row: &[u8], distance: f32) -> Option<f32> {
        let least = match &self.code {
            Code::Bytes(own) => {
                let code = codes::code_of_row(row)?;
                let measures = Measures { scale: code.scale, square: code.square };
                own.least_distance(distance, measures)
            }
            Code::Bits(own) => own.least_distance(distance, bit_codes::code_of_row(row)?),
            Code::None => return None,
        };
        let greatest = match self.params.metric {
            // Both vectors have the length 1.
            Metric::Cosine => 1.0 - least / 2.0,
            Metric::Dot | Metric::L2 => -least,
        };
        greatest.is_finite().then_some(greatest)
    }

    /// Distances of the codes in some rows, which take less together. None where a row has too few bytes.
    #[inline]
    pub(super) fn distances_of_codes(&self, rows: [&[u8]; TOGETHER]) -> Option<[f32; TOGETHER]> {
        let Code::Bytes(own) = &self.code else {
            let [a, b, c, d] = rows.map(|row| self.distance_of_code(row));
            return Some([a?, b?, c?, d?]);
        };
        let measures = rows.map(|row| {
            let [scale, square] = codes::measures_of_row(row);
            Measures { scale, square }
        });
        let distances = own.distances(rows, measures);
        Some(distances.map(|distance| if distance.is_nan() { f32::MAX } else { distance }))
    }

    /// Distance of a row, or what grows with it.
    #[inline]
    pub(super) fn distance_of_row(&self, row: &[u8]) -> f32 {
        -self.vector.similarity(self.params, row)
    }
}

impl Prepared {
    fn of(params: VectorParams, numbers: Vec<f32>) -> Self {
        let length = numbers.iter().map(|number| number * number).sum::<f32>().sqrt();
        let bits = match params.values {
            VectorValues::Bits => bits_of(&numbers),
            _ => None,
        };
        Prepared { numbers, length, bits }
    }

    #[inline]
    fn similarity(&self, VectorParams { metric, values, .. }: VectorParams, row: &[u8]) -> f32 {
        let similarity = match (values, &self.bits) {
            (VectorValues::F32, _) => self.similarity_to::<F32>(metric, row),
            (VectorValues::F16, _) => self.similarity_to::<F16>(metric, row),
            (VectorValues::I8, _) => self.similarity_to::<I8>(metric, row),
            (VectorValues::Bits, Some(bits)) => self.similarity_of_bits(metric, bits, row),
            (VectorValues::Bits, None) => self.similarity_to::<Bits>(metric, row),
        };
        // Vectors are short enough for a finite sum, unless damage makes others of them.
        if similarity.is_finite() { similarity } else { f32::MIN }
    }

    #[inline]
    fn similarity_to<N: Numbers>(&self, metric: Metric, row: &[u8]) -> f32 {
        match metric {
            Metric::Cosine => {
                let (product, square) = dot_and_square::<N>(&self.numbers, row);
                product / (self.length * square.sqrt())
            }
            Metric::Dot => dot::<N>(&self.numbers, row),
            Metric::L2 => -squared_distance::<N>(&self.numbers, row),
        }
    }

    /// The similarity that numbers of 32 bits would give, to the bit: all sums of ones are whole numbers.
    fn similarity_of_bits(&self, metric: Metric, bits: &[u8], row: &[u8]) -> f32 {
        let (both, of_row) = ones_in_common(bits, row);
        let (product, square) = (both as f32, of_row as f32);
        match metric {
            Metric::Cosine => product / (self.length * square.sqrt()),
            Metric::Dot => product,
            Metric::L2 => -((self.length * self.length).round() + square - 2.0 * product),
        }
    }
}

/// All vectors of a document.
fn of_document(
    doc: DocId,
    spec: &NeighborsSpec,
    segments: &[(SegmentReader<'_>, u64)],
    doing: &impl Fn() -> Error,
) -> Result<Vec<Vec<f32>>> {
    let inside = segments.iter().find_map(|(segment, base)| {
        let doc = u32::try_from(doc.0.checked_sub(*base)?).ok()?;
        (doc < segment.n_docs()).then_some((segment, doc))
    });
    let Some((segment, of_segment)) = inside else {
        let n_docs: u64 = segments.iter().map(|(segment, _)| u64::from(segment.n_docs())).sum();
        let error = doing().expected(format!("a document below {n_docs}"));
        return Err(error.found(format!("doc:{doc}")));
    };
    if segment.is_deleted(of_segment)? {
        return Err(doing().expected("a document").found(format!("doc:{doc}, which is deleted")));
    }
    let mut all = vec![];
    if let Some(vectors) = segment.field(spec.field).vectors()? {
        let rows = vectors.rows_of(0, of_segment)?;
        let bytes = vectors.rows(rows)?;
        let of_row = |row: &[u8]| numbers_of_row(vectors.params(), row);
        all.extend(bytes.chunks_exact(vectors.row_len()).map(of_row));
    }
    match all.is_empty() {
        true => Err(doing()
            .expected("a document with a vector")
            .found(format!("doc:{doc}, which has none"))),
        false => Ok(all),
    }
}
