//! Keys of fields of vectors.

use std::ops::Range;

use toml::de::DeValue;
use treepie::schema::{Metric, VECTOR_DIMS_MAX, VectorCodes, VectorParams, VectorValues};
use treepie::{Error, FieldKind};

use super::File;
use super::vector_keys::VectorKeys;

impl File<'_> {
    /// Reads one of the [keys](VectorKeys::KEYS).
    pub(super) fn read_of_vectors(
        &self,
        key: &str,
        value: &DeValue<'_>,
        span: Range<usize>,
        keys: &mut VectorKeys,
    ) -> Result<(), Error> {
        match key {
            "dims" => keys.dims = Some((self.dims(value, &span)?, span)),
            "metric" => {
                let metric = self.named(key, value, &span, &Metric::ALL, Metric::name)?;
                keys.metric = Some((metric, span));
            }
            "values" => {
                let all = VectorValues::ALL;
                let values = self.named(key, value, &span, &all, VectorValues::name)?;
                keys.values = Some((values, span));
            }
            "codes" => {
                let codes = self.named(key, value, &span, &VectorCodes::ALL, VectorCodes::name)?;
                keys.codes = Some((codes, span));
            }
            _ => keys.graph = Some((self.graph(value, &span)?, span)),
        }
        Ok(())
    }

    /// The kind of a field with what it says of its vectors, which is refused of another kind.
    pub(super) fn of_vectors(
        &self,
        kind: FieldKind,
        (name, span): (&str, &Range<usize>),
        VectorKeys { dims, metric, values, codes, graph }: VectorKeys,
    ) -> Result<FieldKind, Error> {
        if let FieldKind::Vector(_) = kind {
            let Some((dims, _)) = dims else {
                return Err(self
                    .wrong(span.clone())
                    .expected("'dims', the numbers of a vector")
                    .found(format!("the vector field '{name}' without it")));
            };
            let metric = metric.map_or(Metric::default(), |(metric, _)| metric);
            let values = values.map_or(VectorValues::default(), |(values, _)| values);
            let graph = graph.is_none_or(|(graph, _)| graph);
            let mut params = VectorParams::new(dims, metric).values(values).graph(graph);
            if let Some((codes, span)) = codes {
                if codes != VectorCodes::None && params.codes == VectorCodes::None {
                    return Err(self
                        .wrong(span)
                        .expected(format!("none for 'codes' where values = \"{}\"", values.name()))
                        .found(format!("'{}'", codes.name())));
                }
                params = params.codes(codes);
            }
            return Ok(FieldKind::Vector(params));
        }
        let first = [
            dims.map(|(_, span)| ("dims", span)),
            metric.map(|(_, span)| ("metric", span)),
            values.map(|(_, span)| ("values", span)),
            codes.map(|(_, span)| ("codes", span)),
            graph.map(|(_, span)| ("graph", span)),
        ];
        match first.into_iter().flatten().next() {
            None => Ok(kind),
            Some((key, span)) => Err(self
                .wrong(span)
                .expected(format!("'{key}' in vector fields only"))
                .found(format!("it in a {} field", kind.name()))),
        }
    }

    fn dims(&self, value: &DeValue<'_>, span: &Range<usize>) -> Result<u16, Error> {
        let dims = self.places(value, span, "dims")?;
        match (1..=VECTOR_DIMS_MAX).contains(&dims) {
            true => Ok(dims),
            false => Err(self
                .wrong(span.clone())
                .expected(format!("1 to {VECTOR_DIMS_MAX} for 'dims'"))
                .found(dims.to_string())),
        }
    }

    fn graph(&self, value: &DeValue<'_>, span: &Range<usize>) -> Result<bool, Error> {
        match value.as_str() {
            Some("auto") => Ok(true),
            Some("none") => Ok(false),
            Some(other) => Err(self
                .wrong(span.clone())
                .expected("auto or none for 'graph'")
                .found(format!("'{other}'"))),
            None => Err(self.kind_of(span.clone(), "graph", "auto or none", value)),
        }
    }

    /// One of several by its name.
    fn named<T: Copy>(
        &self,
        key: &str,
        value: &DeValue<'_>,
        span: &Range<usize>,
        all: &[T],
        name_of: impl Fn(T) -> &'static str,
    ) -> Result<T, Error> {
        let names = all.iter().map(|it| name_of(*it)).collect::<Vec<_>>().join(", ");
        let Some(name) = value.as_str() else {
            return Err(self.kind_of(span.clone(), key, &format!("one of {names}"), value));
        };
        all.iter().copied().find(|it| name_of(*it) == name).ok_or_else(|| {
            let error = self.wrong(span.clone()).expected(format!("one of {names} for '{key}'"));
            error.found(format!("'{name}'"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{parse, print};
    use super::*;
    use treepie::{Field, Schema};

    #[test]
    fn fields_of_vectors_are_read_and_printed() {
        let text = "[fields.v]\ntype = \"vector\"\ndims = 384\ncodes = \"none\"\n\
                    [fields.u]\ntype = \"vector\"\ndims = 9\nvalues = \"f16\"\ncodes = \"b1\"\n\
                    [fields.w]\ntype = \"vector\"\ndims = 2\nmetric = \"l2\"\nvalues = \"bits\"\ngraph = \"none\"\nstored = false\nmany = true\n";
        let of = |dims, metric| {
            FieldKind::Vector(VectorParams::new(dims, metric).codes(VectorCodes::None))
        };
        let w = VectorParams::new(2, Metric::L2).values(VectorValues::Bits).graph(false);
        let w = FieldKind::Vector(w);
        let w = Field::new("w", w).stored(false).many(true);
        let v = Field::new("v", of(384, Metric::Cosine));
        let u = VectorParams::new(9, Metric::Cosine).values(VectorValues::F16);
        let schema = Schema::builder().field(v).vector("u", u.codes(VectorCodes::B1)).field(w);
        let schema = schema.build().unwrap();
        assert_eq!(parse(text).unwrap(), schema);
        assert_eq!(print(&schema), text);
        let metric =
            text.replace("384", "384\nmetric = \"cosine\"\nvalues = \"f32\"\ngraph = \"auto\"");
        assert_eq!(parse(&metric).unwrap(), schema);
    }

    #[test]
    fn keys_of_vectors_are_told_with_their_line() {
        for (text, words) in [
            (
                "type = \"vector\"",
                "'dims', the numbers of a vector, found the vector field 'v' without it (line 1)",
            ),
            ("type = \"vector\"\ndims = 0", "1 to 8192 for 'dims', found 0 (line 3)"),
            ("type = \"vector\"\ndims = 8193", "1 to 8192 for 'dims', found 8193 (line 3)"),
            ("type = \"vector\"\ndims = \"8\"", "a whole number for 'dims'"),
            (
                "type = \"vector\"\ndims = 8\nmetric = \"euclid\"",
                "one of cosine, dot, l2 for 'metric', found 'euclid' (line 4)",
            ),
            ("type = \"vector\"\ndims = 8\nmetric = 2", "one of cosine, dot, l2 for 'metric'"),
            (
                "type = \"vector\"\ndims = 8\nvalues = \"f64\"",
                "one of f32, f16, i8, bits for 'values', found 'f64' (line 4)",
            ),
            ("type = \"vector\"\ndims = 8\nvalues = 16", "one of f32, f16, i8, bits"),
            ("type = \"text\"\nvalues = \"i8\"", "'values' in vector fields only"),
            (
                "type = \"vector\"\ndims = 8\ngraph = \"hnsw\"",
                "auto or none for 'graph', found 'hnsw' (line 4)",
            ),
            ("type = \"vector\"\ndims = 8\ngraph = true", "auto or none for 'graph'"),
            ("type = \"text\"\ngraph = \"none\"", "'graph' in vector fields only"),
            (
                "type = \"keyword\"\ndims = 8",
                "'dims' in vector fields only, found it in a keyword field (line 3)",
            ),
            (
                "type = \"text\"\nmetric = \"dot\"",
                "'metric' in vector fields only, found it in a text field (line 3)",
            ),
            ("type = \"vector\"\ndims = 8\ncolumn = true", "found it in a vector field (line 4)"),
            (
                "type = \"vector\"\ndims = 8\nanalyzer = \"default\"",
                "'analyzer' in text fields only",
            ),
            (
                "type = \"vector\"\ndims = 8\ncodes = \"pq\"",
                "one of i8, b1, none for 'codes', found 'pq' (line 4)",
            ),
            (
                "type = \"vector\"\ndims = 8\nvalues = \"i8\"\ncodes = \"b1\"",
                "none for 'codes' where values = \"i8\", found 'b1' (line 5)",
            ),
            (
                "type = \"vector\"\ndims = 8\nvalues = \"bits\"\ncodes = \"i8\"",
                "none for 'codes' where values = \"bits\", found 'i8' (line 5)",
            ),
            ("type = \"text\"\ncodes = \"none\"", "'codes' in vector fields only"),
            ("type = \"vector\"\ndims = 8\n[index]\nkey = \"v\"", "a vector field"),
            (
                "type = \"vector\"\ndims = 8\n[index]\ndefault_fields = [\"v\"]",
                "the vector field 'v'",
            ),
            (
                "type = \"vector\"\ndims = 8\n[index]\norder = [\"v\"]",
                "the vector field 'v'; vectors have no order",
            ),
        ] {
            let error = parse(&format!("[fields.v]\n{text}\n")).unwrap_err().to_string();
            assert!(error.contains(words), "{text}\n{error}");
        }
        let copy = "[fields.v]\ntype = \"vector\"\ndims = 8\n[fields.c]\ntype = \"text\"\ncopy_of = \"v\"\n";
        assert!(parse(copy).unwrap_err().to_string().contains("a vector field"));
    }
}
