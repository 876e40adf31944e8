//! Vectors of a field: dimensions, numbers, and the measure of how alike two are.

/// Numbers a vector may have at the most.
pub const VECTOR_DIMS_MAX: u16 = 8_192;

/// Dimensions of a vector field, its metric, its numbers, and its graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct VectorParams {
    /// Numbers of each vector, 1 to [`VECTOR_DIMS_MAX`].
    pub dims: u16,
    /// Measure of how alike two vectors are.
    pub metric: Metric,
    /// Numbers that are kept of a vector.
    pub values: VectorValues,
    /// Codes that walks over graphs compare.
    pub codes: VectorCodes,
    /// Whether segments of many vectors keep a graph.
    ///
    /// By it the nearest are found without comparing all.
    pub graph: bool,
}

impl VectorParams {
    /// Vectors of so many numbers, compared by a metric.
    pub const fn new(dims: u16, metric: Metric) -> Self {
        let values = VectorValues::F32;
        VectorParams { dims, metric, values, codes: values.codes(), graph: true }
    }

    /// Sets the numbers that are kept of a vector; by default they have 32 bits.
    ///
    /// Sets the [codes](Self::codes), too: numbers of 32 and 16 bits have those of 8 bits, others none.
    ///
    /// ```
    /// use treepie::schema::{Metric, Schema, VectorParams, VectorValues};
    ///
    /// let halves = VectorParams::new(384, Metric::Cosine).values(VectorValues::F16);
    /// let schema = Schema::builder().vector("embedding", halves).build()?;
    /// # Ok::<(), treepie::Error>(())
    /// ```
    #[must_use]
    pub const fn values(self, values: VectorValues) -> Self {
        VectorParams { values, codes: values.codes(), ..self }
    }

    /// Sets the codes that walks over graphs compare.
    ///
    /// Only numbers of 32 and 16 bits have codes. Codes of a bit take an eighth of the bytes of those of a byte; more vectors are
    /// compared in the end, as these tell less apart. Without codes a walk reads the vectors themselves, and a graph takes less than a
    /// hundred bytes a vector.
    ///
    /// ```
    /// use treepie::schema::{Metric, VectorCodes, VectorParams};
    ///
    /// let params = VectorParams::new(384, Metric::Cosine).codes(VectorCodes::None);
    /// assert_eq!(params.codes.name(), "none");
    /// ```
    #[must_use]
    pub const fn codes(self, codes: VectorCodes) -> Self {
        VectorParams { codes, ..self }
    }

    /// Sets whether segments of some thousand vectors keep a graph; by default they do.
    ///
    /// It takes about a quarter of the bytes of the vectors and much of the time of writing. Without it all vectors that a query
    /// lets through are compared.
    #[must_use]
    pub const fn graph(self, graph: bool) -> Self {
        VectorParams { graph, ..self }
    }

    /// Bytes of the numbers of a vector.
    pub(crate) fn row_len(self) -> usize {
        self.values.row_len(self.dims)
    }
}

/// Numbers that are kept of each vector, which is what vectors are compared by.
///
/// A vector that is asked about may have any finite numbers, whatever a field keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VectorValues {
    /// Numbers of 32 bits, as they are given.
    #[default]
    F32,
    /// The nearest numbers of 16 bits: three to four digits, up to 65,504.
    ///
    /// Greater numbers are refused.
    F16,
    /// Whole numbers from −128 to 127, a byte each. Others are refused.
    I8,
    /// Bits: each number is 0 or 1. Others are refused.
    ///
    /// By [`Metric::L2`] the distance is that of Hamming: the number of places at which two vectors differ. [`Metric::Dot`] counts
    /// the ones that two have in common, and [`Metric::Cosine`] divides these by the root of the product of the ones of each.
    Bits,
}

impl VectorValues {
    /// All, the most exact first.
    pub const ALL: [VectorValues; 4] =
        [VectorValues::F32, VectorValues::F16, VectorValues::I8, VectorValues::Bits];

    /// The name used in schema files and plans.
    pub fn name(self) -> &'static str {
        match self {
            VectorValues::F32 => "f32",
            VectorValues::F16 => "f16",
            VectorValues::I8 => "i8",
            VectorValues::Bits => "bits",
        }
    }

    /// The numbers of a name.
    pub fn of_name(name: &str) -> Option<VectorValues> {
        VectorValues::ALL.into_iter().find(|values| values.name() == name)
    }

    /// Bytes of so many numbers.
    ///
    /// ```
    /// use treepie::schema::VectorValues;
    ///
    /// let bytes = VectorValues::ALL.map(|values| values.row_len(12));
    /// assert_eq!(bytes, [48, 24, 12, 2]);
    /// ```
    pub fn row_len(self, dims: u16) -> usize {
        let dims = usize::from(dims);
        match self {
            VectorValues::F32 => 4 * dims,
            VectorValues::F16 => 2 * dims,
            VectorValues::I8 => dims,
            VectorValues::Bits => dims.div_ceil(8),
        }
    }
}

impl VectorValues {
    /// Codes of such numbers, unless others are set.
    pub(crate) const fn codes(self) -> VectorCodes {
        match self {
            VectorValues::F32 | VectorValues::F16 => VectorCodes::I8,
            VectorValues::I8 | VectorValues::Bits => VectorCodes::None,
        }
    }
}

/// Codes of vectors that walks over a graph compare in place of these.
///
/// Vectors that a walk comes to are compared themselves in the end, unless their codes prove that they are farther than the nearest.
/// Bounds of what a code is off hold as if rounding were random: for codes of a bit 98 times of 100, for those of a byte 9,997 times of
/// 10,000. The recall that a graph is known to have is measured with what that loses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VectorCodes {
    /// A byte for each number, scaled for each vector.
    I8,
    /// A bit for each number, and 8 bytes.
    B1,
    /// No codes: walks compare the vectors themselves.
    None,
}

impl VectorCodes {
    /// All, in the order of their names in files.
    pub const ALL: [VectorCodes; 3] = [VectorCodes::I8, VectorCodes::B1, VectorCodes::None];

    /// The name used in schema files.
    pub fn name(self) -> &'static str {
        match self {
            VectorCodes::I8 => "i8",
            VectorCodes::B1 => "b1",
            VectorCodes::None => "none",
        }
    }
}

/// Measure of how alike two vectors are.
///
/// [`similarity`](crate::query::Query::nearest) is what it gives; the score of a document grows with it and is never
/// negative, so that it can be added to that of words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Metric {
    /// Cosine of the angle between them, −1 to 1. A score is (1 + cosine) ÷ 2. A vector of zeros has no direction, and is
    /// refused.
    #[default]
    Cosine,
    /// Inner product.
    ///
    /// A score is 1 ÷ (1 − product) below 0, else product + 1.
    Dot,
    /// Squared Euclidean distance, as similarity with its sign changed.
    ///
    /// A score is 1 ÷ (1 + distance²).
    L2,
}

impl Metric {
    /// All, in the order of their names in files.
    pub const ALL: [Metric; 3] = [Metric::Cosine, Metric::Dot, Metric::L2];

    /// The name used in schema files and plans.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Cosine => "cosine",
            Metric::Dot => "dot",
            Metric::L2 => "l2",
        }
    }

    /// The metric of a name.
    pub fn of_name(name: &str) -> Option<Metric> {
        Metric::ALL.into_iter().find(|metric| metric.name() == name)
    }

    /// Score of a similarity, which grows with that and is never negative.
    ///
    /// ```
    /// use treepie::schema::Metric;
    ///
    /// assert_eq!(Metric::Cosine.score(1.0), 1.0);
    /// assert_eq!(Metric::Dot.score(-1.0), 0.5);
    /// assert_eq!(Metric::L2.score(-3.0), 0.25);
    /// ```
    pub fn score(self, similarity: f32) -> f32 {
        match self {
            // Rounding may leave a cosine some parts in ten million beyond 1.
            Metric::Cosine => ((1.0 + similarity) / 2.0).clamp(0.0, 1.0),
            Metric::Dot if similarity < 0.0 => 1.0 / (1.0 - similarity),
            Metric::Dot => similarity + 1.0,
            Metric::L2 => 1.0 / (1.0 - similarity),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_grow_with_similarities_and_are_never_negative() {
        let similarities: [f32; 8] = [-1e30, -9.0, -1.0, -0.5, -0.0, 0.0, 0.25, 1.0];
        for metric in Metric::ALL {
            let of_metric = similarities.map(|similarity| match metric {
                Metric::L2 => metric.score(similarity.min(0.0)),
                Metric::Cosine => metric.score(similarity.max(-1.0)),
                Metric::Dot => metric.score(similarity),
            });
            assert!(of_metric.is_sorted() && of_metric[0] >= 0.0, "{metric:?} {of_metric:?}");
            assert_eq!(Metric::of_name(metric.name()), Some(metric));
        }
        assert_eq!(Metric::of_name("euclid"), None);
        for values in VectorValues::ALL {
            assert_eq!(VectorValues::of_name(values.name()), Some(values));
        }
        assert_eq!(VectorValues::of_name("f64"), None);
    }

    #[test]
    fn numbers_of_few_bits_have_no_codes() {
        let built = |values: VectorValues, codes| {
            let params = VectorParams::new(3, Metric::L2).values(values).codes(codes);
            crate::schema::Schema::builder().vector("v", params).build()
        };
        for codes in [VectorCodes::I8, VectorCodes::B1] {
            assert!(
                built(VectorValues::F32, codes).is_ok() && built(VectorValues::F16, codes).is_ok()
            );
            for values in [VectorValues::I8, VectorValues::Bits] {
                let error = built(values, codes).unwrap_err();
                assert_eq!(error.kind(), crate::error::ErrorKind::Schema);
                let words = format!(
                    "no codes of numbers that are {}, found {}",
                    values.name(),
                    codes.name()
                );
                assert!(error.to_string().contains(&words), "{error}");
            }
        }
    }
}
