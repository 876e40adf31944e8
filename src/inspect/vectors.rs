//! Vectors of fields: number, lengths, bytes, and the graphs over them.

use super::Inspector;
use super::storage::section_len;
use crate::error::{Error, ErrorKind, Result};
use crate::format::envelope::SectionKind;
use crate::format::graph::curve::WHOLE;
use crate::ids::FieldId;
use crate::schema::{Field, VectorParams};
use crate::segment::reader::{FieldReader, SegmentReader};
use crate::value::numbers_of_row;

/// The vectors of one field in one segment.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct VectorsInfo {
    /// The field's name.
    pub field: String,
    /// The segment's place in the snapshot, from 0.
    pub segment: usize,
    /// Dimensions, metric, numbers and codes of each vector.
    pub params: VectorParams,
    /// Documents of the segment, deleted ones included.
    pub documents: u64,
    /// Documents that have a vector.
    pub with_vectors: u64,
    /// Vectors of all documents.
    pub vectors: u64,
    /// Bytes of the vectors, and of the numbers of their documents.
    pub bytes: u64,
    /// The least and the greatest Euclidean length; none without vectors.
    pub lengths: Option<(f64, f64)>,
    /// Graph over them, if there are enough for one.
    pub graph: Option<GraphInfo>,
}

/// The graph over the vectors of one field in one segment.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GraphInfo {
    /// Different vectors.
    pub nodes: u64,
    /// Links of all nodes to others, without those of the upper levels.
    pub links: u64,
    /// The most links of a node.
    pub links_max: u64,
    /// Nodes of the upper levels, the largest level first.
    pub levels: Vec<u64>,
    /// Bytes of codes, links, levels and all else.
    pub bytes: u64,
    /// Vectors of its own that the [curve](Self::curve) was measured with.
    pub samples: u64,
    /// Recall by effort.
    pub curve: Vec<CurvePoint>,
}

/// Measurement of walks through a graph.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CurvePoint {
    /// Nodes that a walk keeps.
    pub ef: u32,
    /// Part of the 10 nearest that is found.
    pub recall: f64,
    /// Codes that are compared.
    pub distances: u32,
    /// Nodes whose links are read.
    pub hops: u32,
}

impl Inspector {
    /// Vectors of a field by segment. Without a name those of all fields follow each other. Reads all of them.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Schema`] for an unknown field, [`ErrorKind::Usage`] for one without vectors, [`ErrorKind::Corrupt`]
    /// for damage.
    pub fn vectors(&self, field: Option<&str>) -> Result<Vec<VectorsInfo>> {
        let schema = self.schema();
        let named = field.map(|name| self.field_id(name)).transpose()?;
        if let Some(Field { name, kind, .. }) = named.map(|id| schema.get(id))
            && kind.vector().is_none()
        {
            let error = Error::new(ErrorKind::Usage, "looking at vectors");
            let error = error.expected("a field of vectors");
            return Err(error.found(format!("the {} field '{name}'", kind.name())));
        }
        let mut infos = vec![];
        for id in schema.field_ids().filter(|id| named.is_none_or(|named| named == *id)) {
            let Some(params) = schema.get(id).kind.vector() else { continue };
            for (nth, segment) in self.snapshot.readers().enumerate() {
                infos.push(info(segment, id, (nth, params))?);
            }
        }
        Ok(infos)
    }
}

fn info(
    segment: SegmentReader<'_>,
    field: FieldId,
    (nth, params): (usize, VectorParams),
) -> Result<VectorsInfo> {
    let (mut n, mut n_with, mut last) = (0u64, 0, None);
    let mut lengths = None;
    if let Some(vectors) = segment.field(field).vectors()? {
        vectors.for_each(|doc, row| {
            n += 1;
            n_with += u64::from(last.replace(doc) != Some(doc));
            let numbers = numbers_of_row(params, row).into_iter();
            let length = numbers.map(|it| f64::from(it).powi(2)).sum::<f64>().sqrt();
            let (least, most) = lengths.unwrap_or((length, length));
            lengths = Some((length.min(least), length.max(most)));
            Ok(())
        })?;
    }
    let bytes = |kinds: &[SectionKind]| {
        kinds.iter().map(|kind| section_len(segment, Some(field), *kind)).sum()
    };
    Ok(VectorsInfo {
        field: segment.schema().get(field).name.clone(),
        segment: nth,
        params,
        documents: segment.n_docs().into(),
        with_vectors: n_with,
        vectors: n,
        bytes: bytes(&[SectionKind::VECTORS, SectionKind::VECTOR_DOCS]),
        lengths,
        graph: graph_info(segment.field(field), n, bytes(&SectionKind::GRAPH))?,
    })
}

fn graph_info(field: FieldReader<'_>, n_vectors: u64, bytes: u64) -> Result<Option<GraphInfo>> {
    let n_vectors = u32::try_from(n_vectors).unwrap_or(u32::MAX);
    let Some((graph, curve)) = field.graph(n_vectors)?.zip(field.curve()?) else { return Ok(None) };
    let (mut n_links, mut most, mut links) = (0, 0, vec![]);
    for node in 0..graph.n_nodes() {
        links.clear();
        graph.links.read(node, &mut links)?;
        n_links += links.len() as u64;
        most = most.max(links.len() as u64);
    }
    let levels = (0..graph.upper.n_levels()).map(|level| graph.upper.n_nodes(level).into());
    let points = curve.points.iter().map(|point| CurvePoint {
        ef: point.ef,
        recall: f64::from(point.recall) / f64::from(WHOLE),
        distances: point.distances,
        hops: point.hops,
    });
    Ok(Some(GraphInfo {
        nodes: graph.n_nodes().into(),
        links: n_links,
        links_max: most,
        levels: levels.collect(),
        bytes,
        samples: curve.n_samples.into(),
        curve: points.collect(),
    }))
}
