//! The schema as bytes of a manifest; the layout stands with the rest of them.

use crate::bytes::ByteReader;
use crate::error::{Error, Result};
use crate::format::header::{COLUMNS, COPIES, KEY, NULLS, ORDER, SIMILARITY, ZONES};
use crate::ids::FieldId;
use crate::schema::{
    CoordinateOrder, Detail, EMPTY_FIELD, FIELDS_MAX, Field, FieldKind, Metric, NULL_FIELD,
    OrderField, PATH_SEPARATOR_DEFAULT, POSITION_GAP_DEFAULT, Schema, SchemaBuilder, VectorCodes,
    VectorParams, VectorValues,
};

const STORED: u8 = 1;
const MANY: u8 = 2;
const ANALYZER: u8 = 4;
const QUERY_ANALYZER: u8 = 8;
pub(super) const FREQUENCIES: u8 = 16;
pub(super) const POSITIONS: u8 = 32;
const POSITION_GAP: u8 = 64;
const KEEPS_OFFSETS: u8 = 128;
/// The kind of a field whose scale follows.
const DECIMAL: u8 = 8;
/// The kind of a field whose separator follows.
const PATH: u8 = 10;
/// The kind of a field whose dimensions and metric follow.
const VECTOR: u8 = 11;
/// The kind of a field of points, behind which the order of arrays follows.
const POINT: u8 = 12;
/// Bit beside the metric of vectors without graphs.
const NO_GRAPH: u8 = 128;
/// Bit beside it of vectors without codes, of numbers that have them unless told otherwise.
const OTHER_CODES: u8 = 16;
/// Bit beside it of vectors with codes of a bit a number.
const BIT_CODES: u8 = 32;
/// Bits beside it of the numbers of vectors.
const VALUES: u8 = 12;

pub(super) fn encode_schema(schema: &Schema) -> Vec<u8> {
    let mut out = vec![];
    // The builder of schemas refuses more fields and longer names than these widths hold.
    out.extend((schema.fields().len() as u16).to_le_bytes());
    for field in schema.fields() {
        out.push(match field.kind {
            FieldKind::Text => 1,
            FieldKind::Keyword => 2,
            FieldKind::I64 => 3,
            FieldKind::U64 => 4,
            FieldKind::F64 => 5,
            FieldKind::Bool => 6,
            FieldKind::Date => 7,
            FieldKind::Decimal { .. } => DECIMAL,
            FieldKind::Ip => 9,
            FieldKind::Path { .. } => PATH,
            FieldKind::Vector(_) => VECTOR,
            FieldKind::Point { .. } => POINT,
        });
        let flags = [
            (field.stored, STORED),
            (field.many, MANY),
            (field.analyzer.is_some(), ANALYZER),
            (field.query_analyzer.is_some(), QUERY_ANALYZER),
            (field.detail.has_frequencies(), FREQUENCIES),
            (field.detail.has_positions(), POSITIONS),
            (field.position_gap != POSITION_GAP_DEFAULT, POSITION_GAP),
            (field.offsets, KEEPS_OFFSETS),
        ];
        out.push(flags.iter().map(|(set, flag)| u8::from(*set) * flag).sum());
        out.push(field.name.len() as u8);
        out.extend(field.name.as_bytes());
        for spec in [&field.analyzer, &field.query_analyzer].into_iter().flatten() {
            out.extend((spec.len() as u16).to_le_bytes());
            out.extend(spec.as_bytes());
        }
        if field.position_gap != POSITION_GAP_DEFAULT {
            out.extend(field.position_gap.to_le_bytes());
        }
        if let FieldKind::Decimal { scale } = field.kind {
            out.push(scale);
        }
        if let FieldKind::Path { separator } = field.kind {
            out.extend(u32::from(separator).to_le_bytes());
        }
        if let FieldKind::Vector(VectorParams { dims, metric, values, codes, graph, .. }) =
            field.kind
        {
            out.extend(dims.to_le_bytes());
            let graph = if graph { 0 } else { NO_GRAPH };
            let codes = match codes {
                _ if codes == values.codes() => 0,
                VectorCodes::B1 => BIT_CODES,
                VectorCodes::I8 | VectorCodes::None => OTHER_CODES,
            };
            out.push(metric_byte(metric) | values_bits(values) | codes | graph);
        }
        if let FieldKind::Point { array } = field.kind {
            out.push(array_byte(array));
        }
    }
    let default_fields = schema.default_field_ids();
    out.extend((default_fields.len() as u16).to_le_bytes());
    out.extend(default_fields.iter().flat_map(|FieldId(at)| at.to_le_bytes()));
    if let Some(FieldId(key)) = schema.key_id() {
        out.extend(key.to_le_bytes());
    }
    let columns: Vec<FieldId> =
        schema.field_ids().filter(|field| schema.get(*field).column).collect();
    if !columns.is_empty() {
        out.extend((columns.len() as u16).to_le_bytes());
        out.extend(columns.iter().flat_map(|FieldId(at)| at.to_le_bytes()));
    }
    let zones = schema.field_ids().filter_map(|id| Some((id, schema.get(id).zone.as_ref()?)));
    let zones: Vec<_> = zones.collect();
    if !zones.is_empty() {
        out.extend((zones.len() as u16).to_le_bytes());
        for (FieldId(at), zone) in zones {
            out.extend(at.to_le_bytes());
            out.push(zone.len() as u8);
            out.extend(zone.as_bytes());
        }
    }
    if schema.keeps_nulls() {
        let positions = [NULL_FIELD, EMPTY_FIELD].map(|name| schema.field_id(name));
        out.extend(positions.into_iter().flatten().flat_map(|FieldId(at)| at.to_le_bytes()));
    }
    let order = schema.order_fields();
    if !order.is_empty() {
        out.push(order.len() as u8);
        for OrderField { field: FieldId(at), descending } in order {
            out.extend(at.to_le_bytes());
            out.push((*descending).into());
        }
    }
    let copies = schema.copies();
    if !copies.is_empty() {
        out.extend((copies.len() as u16).to_le_bytes());
        let positions = copies.iter().flat_map(|&(source, copy)| [copy, source]);
        out.extend(positions.flat_map(|FieldId(at)| at.to_le_bytes()));
    }
    let similarity = schema.similarity_field_ids();
    if !similarity.is_empty() {
        out.extend((similarity.len() as u16).to_le_bytes());
        out.extend(similarity.iter().flat_map(|FieldId(at)| at.to_le_bytes()));
    }
    out
}

fn metric_byte(metric: Metric) -> u8 {
    match metric {
        Metric::Cosine => 1,
        Metric::Dot => 2,
        Metric::L2 => 3,
    }
}

/// The order of arrays of points, of which those without one have 0.
fn array_byte(array: Option<CoordinateOrder>) -> u8 {
    match array {
        None => 0,
        Some(CoordinateOrder::LatLon) => 1,
        Some(CoordinateOrder::LonLat) => 2,
    }
}

fn values_bits(values: VectorValues) -> u8 {
    match values {
        VectorValues::F32 => 0,
        VectorValues::F16 => 4,
        VectorValues::I8 => 8,
        VectorValues::Bits => 12,
    }
}

pub(super) fn decode_schema(bytes: &[u8], features: u32) -> Result<Schema> {
    let mut reader = ByteReader::new(bytes);
    let builder = decode_schema_parts(&mut reader, features);
    let Some(builder) = builder.filter(|_| reader.remaining().is_empty()) else {
        return Err(Error::corrupt("reading the schema of an index")
            .expected(
                "fields, default fields, a key, columns, an order and copies, as far as there are any",
            )
            .found(format!("something else in byte {} of {}", reader.position(), bytes.len())));
    };
    builder.build().map_err(|error| {
        Error::corrupt("reading the schema of an index")
            .expected("a schema without contradictions")
            .found(error.to_string())
    })
}

/// Schema as the bytes have it, to be checked.
fn decode_schema_parts(reader: &mut ByteReader<'_>, features: u32) -> Option<SchemaBuilder> {
    let n_fields = usize::from(reader.u16()?);
    if n_fields > FIELDS_MAX {
        return None;
    }
    let mut fields = Vec::with_capacity(n_fields);
    for _ in 0..n_fields {
        let kind = match reader.u8()? {
            1 => FieldKind::Text,
            2 => FieldKind::Keyword,
            3 => FieldKind::I64,
            4 => FieldKind::U64,
            5 => FieldKind::F64,
            6 => FieldKind::Bool,
            7 => FieldKind::Date,
            DECIMAL => FieldKind::Decimal { scale: 0 },
            9 => FieldKind::Ip,
            PATH => FieldKind::Path { separator: PATH_SEPARATOR_DEFAULT },
            VECTOR => FieldKind::Vector(VectorParams::new(1, Metric::Cosine)),
            POINT => FieldKind::Point { array: None },
            _ => return None,
        };
        let flags = reader.u8()?;
        let detail = match flags & (FREQUENCIES | POSITIONS) {
            0 => Detail::Documents,
            FREQUENCIES => Detail::Frequencies,
            both if both == FREQUENCIES | POSITIONS => Detail::Positions,
            _ => return None,
        };
        let name_len = usize::from(reader.u8()?);
        let name = str::from_utf8(reader.take(name_len)?).ok()?;
        let field = Field::new(name, kind).detail(detail).column(false);
        let mut field = field
            .stored(flags & STORED != 0)
            .many(flags & MANY != 0)
            .offsets(flags & KEEPS_OFFSETS != 0);
        for (flag, spec) in
            [(ANALYZER, &mut field.analyzer), (QUERY_ANALYZER, &mut field.query_analyzer)]
        {
            if flags & flag != 0 {
                let len = usize::from(reader.u16()?);
                *spec = Some(str::from_utf8(reader.take(len)?).ok()?.to_owned());
            }
        }
        if flags & POSITION_GAP != 0 {
            field.position_gap = reader.u16()?;
        }
        if let FieldKind::Decimal { scale } = &mut field.kind {
            *scale = reader.u8()?;
        }
        if let FieldKind::Path { separator } = &mut field.kind {
            *separator = char::from_u32(reader.u32()?)?;
        }
        if let FieldKind::Vector(params) = &mut field.kind {
            let (dims, byte) = (reader.u16()?, reader.u8()?);
            let others = VALUES | OTHER_CODES | BIT_CODES | NO_GRAPH;
            let metric = |it: &Metric| metric_byte(*it) == byte & !others;
            let metric = Metric::ALL.into_iter().find(metric)?;
            let values = |it: &VectorValues| values_bits(*it) == byte & VALUES;
            let values = VectorValues::ALL.into_iter().find(values)?;
            *params = VectorParams::new(dims, metric).values(values).graph(byte & NO_GRAPH == 0);
            // Numbers that have none in any case are not written so.
            let codes = match byte & (OTHER_CODES | BIT_CODES) {
                0 => params.codes,
                _ if params.codes == VectorCodes::None => return None,
                OTHER_CODES => VectorCodes::None,
                BIT_CODES => VectorCodes::B1,
                _ => return None,
            };
            *params = params.codes(codes);
        }
        if let FieldKind::Point { array } = &mut field.kind {
            let byte = reader.u8()?;
            let all = CoordinateOrder::ALL.map(Some).into_iter().chain([None]);
            *array = all.into_iter().find(|array| array_byte(*array) == byte)?;
        }
        fields.push(field);
    }
    let n_default = usize::from(reader.u16()?);
    if n_default > n_fields {
        return None;
    }
    let default_fields = (0..n_default)
        .map(|_| Some(fields.get(usize::from(reader.u16()?))?.name.clone()))
        .collect::<Option<Vec<_>>>()?;
    let key = match features & KEY {
        0 => None,
        _ => Some(fields.get(usize::from(reader.u16()?))?.name.clone()),
    };
    if features & COLUMNS != 0 {
        let mut next = 0;
        for _ in 0..reader.u16()? {
            let at = usize::from(reader.u16()?);
            fields.get_mut(at).filter(|_| at >= next)?.column = true;
            next = at + 1;
        }
    }
    if features & ZONES != 0 {
        let mut next = 0;
        for _ in 0..reader.u16()? {
            let at = usize::from(reader.u16()?);
            let len = usize::from(reader.u8()?);
            let zone = str::from_utf8(reader.take(len)?).ok()?.to_owned();
            fields.get_mut(at).filter(|_| at >= next)?.zone = Some(zone);
            next = at + 1;
        }
    }
    if features & NULLS != 0 {
        for name in [NULL_FIELD, EMPTY_FIELD] {
            fields.get(usize::from(reader.u16()?)).filter(|field| field.name == name)?;
        }
    }
    let mut order = vec![];
    if features & ORDER != 0 {
        let n_order = reader.u8().filter(|n| *n > 0)?;
        for _ in 0..n_order {
            let name = &fields.get(usize::from(reader.u16()?))?.name;
            order.push(match reader.u8()? {
                0 => name.clone(),
                1 => format!("-{name}"),
                _ => return None,
            });
        }
    }
    if features & COPIES != 0 {
        let mut next = 0;
        for _ in 0..reader.u16().filter(|n| *n > 0)? {
            let at = usize::from(reader.u16()?);
            let source = fields.get(usize::from(reader.u16()?))?.name.clone();
            fields.get_mut(at).filter(|_| at >= next)?.copy_of = Some(source);
            next = at + 1;
        }
    }
    let mut similarity = vec![];
    if features & SIMILARITY != 0 {
        for _ in 0..reader.u16().filter(|n| *n > 0 && features & ORDER == 0)? {
            similarity.push(fields.get(usize::from(reader.u16()?))?.name.clone());
        }
    }
    let builder = fields.into_iter().fold(Schema::builder(), SchemaBuilder::field);
    let builder = builder.default_fields(default_fields).order_by(order);
    let builder = match similarity.is_empty() {
        true => builder,
        false => builder.order_by_similarity(similarity),
    };
    let builder = key.into_iter().fold(builder, SchemaBuilder::key);
    Some(if features & NULLS != 0 { builder.nulls() } else { builder })
}
