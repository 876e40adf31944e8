//! Tests that a manifest is read back, and that what it cannot say is refused.

use super::schema::{FREQUENCIES, POSITIONS};
use super::*;
use crate::format::doc_check;
use crate::schema::{
    CoordinateOrder, Detail, FIELDS_MAX, Field, Metric, VectorCodes, VectorParams, VectorValues,
};
use crate::test_sizes::{each_unless_miri, unless_miri};
use std::ops::Range;

fn example() -> Manifest {
    Manifest {
        index_id: SegmentId([7; 16]),
        generation: 2,
        previous: 1,
        writer: [0, 1, 0],
        term_versions: TermVersions {
            analysis: 1,
            unicode: [16, 0, 0],
            words: [15, 1, 0],
            folding: [15, 0, 0],
            stemmers: 20_261_016,
        },
        schema: Schema::builder()
            .field(Field::new("t", FieldKind::Text).analyzer("words"))
            .build()
            .unwrap(),
        segments: vec![SegmentMeta {
            id: SegmentId([5; 16]),
            seal: Seal { file_len: 300, footer_crc: 0x1234_5678 },
            n_docs: 9,
            deletes: None,
            n_added_fields: 0,
        }],
        payload: b"hi".to_vec(),
        writable: true,
    }
}

/// Puts a right checksum on changed bytes, as somebody who means harm would.
fn with_right_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
    let at = bytes.len() - CRC_LEN;
    let crc = crc32c(&bytes[..at]);
    bytes[at..].copy_from_slice(&crc.to_le_bytes());
    bytes
}

#[test]
fn the_example_in_the_docs_is_what_we_write() {
    let bytes = example().encode().unwrap();
    let documented = doc_check::hex_dump(include_str!("mod.rs"));
    assert_eq!(documented, bytes, "\n{}", doc_check::render(&bytes));
}

#[test]
fn the_layout_table_in_the_docs_matches_what_is_written() {
    let fields = doc_check::layout(include_str!("mod.rs"));
    let bytes = example().encode().unwrap();
    let u64_at = |field: &str| u64::from_le_bytes(*bytes[fields[field]..].first_chunk().unwrap());
    let u32_at = |field: &str| u32::from_le_bytes(*bytes[fields[field]..].first_chunk().unwrap());
    assert_eq!(u64_at("file_len"), bytes.len() as u64);
    assert_eq!((u64_at("generation"), u64_at("previous")), (2, 1));
    assert_eq!(bytes[fields["writer"] + 2], 1);
    assert_eq!(bytes[fields["unicode"]], 16);
    assert_eq!((bytes[fields["words"]], bytes[fields["folding"]]), (15, 15));
    assert_eq!((u32_at("analysis"), u32_at("stemmers")), (1, 20_261_016));
    assert_eq!(u32_at("n_segments"), 1);
    assert_eq!((u32_at("schema_len"), u32_at("payload_len")), (17, 2));
    assert_eq!(fields["segments"], FIXED_LEN);
}

#[test]
fn manifests_round_trip() {
    let schema = Schema::builder().text("title").keyword("größe").default_fields(["größe"]);
    let only = Schema::builder().keyword("only").build().unwrap();
    let schemas = [Schema::of_titles(), schema.build().unwrap(), only, {
        let body = Field::new("body", FieldKind::Text).analyzer("words|lower");
        let both = body.clone().query_analyzer("größe").detail(Detail::Frequencies);
        let query = Field::new("q", FieldKind::Text).query_analyzer("english");
        let query = query.detail(Detail::Documents);
        let near = Field::new("near", FieldKind::Text).many(true).position_gap(0);
        let far = near.clone().analyzer("words").position_gap(u16::MAX);
        let far = Field { name: "far".into(), ..far };
        let near = near.offsets(true);
        let fields = [Field { name: "both".into(), ..both }, query, body, near, far];
        fields.into_iter().fold(Schema::builder(), |b, f| b.field(f)).build().unwrap()
    }];
    let keyed = Schema::builder().text("t").key("größe").build().unwrap();
    let brand = Field::new("brand", FieldKind::Keyword).column(true);
    let price = Field::new("price", FieldKind::Decimal { scale: 2 });
    let ordered = Schema::builder().text("t").field(brand).field(price);
    let ordered = ordered.order_by(["-price", "brand"]).build().unwrap();
    let similar = Schema::builder().text("t").keyword("k").text("u").order_by_similarity(["u"]);
    let similar = similar.build().unwrap();
    let schemas = schemas.into_iter().chain([keyed, ordered, similar]);
    for schema in schemas {
        let deletes = DeletesMeta {
            number: 3,
            n_docs: 4,
            seal: Seal { file_len: 1 << 40, footer_crc: 0x8765_4321 },
        };
        let segment = |n: u8| SegmentMeta {
            id: SegmentId([n; 16]),
            deletes: n.is_multiple_of(3).then_some(deletes),
            n_added_fields: if n % 5 == 1 { schema.fields().len() as u16 - 1 } else { 0 },
            ..example().segments[0]
        };
        let n = unless_miri(100, 10);
        let segments = (0..n).map(segment).collect();
        let payload = vec![9; unless_miri(65_536, 300)];
        let manifest = Manifest { schema, segments, payload, ..example() };
        assert_eq!(Manifest::decode(&manifest.encode().unwrap(), 2).unwrap(), manifest);
        assert_eq!(manifest.n_docs(), u64::from(n) * 9 - u64::from(n.div_ceil(3)) * 4);
    }
}

#[test]
fn a_segment_that_was_made_without_any_field_is_refused() {
    let mut manifest = example();
    manifest.schema = Schema::builder().text("a").text("b").build().unwrap();
    manifest.segments[0].n_added_fields = 1;
    assert_eq!(Manifest::decode(&manifest.encode().unwrap(), 2).unwrap(), manifest);
    for n in [2, 3, u16::MAX] {
        manifest.segments[0].n_added_fields = n;
        let error = Manifest::decode(&manifest.encode().unwrap(), 2).unwrap_err();
        assert!(error.to_string().contains(&format!("{n} fields that were added")), "{error}");
    }
    // The bit without any.
    manifest.segments[0].n_added_fields = 1;
    let mut bytes = manifest.encode().unwrap();
    let at = FIXED_LEN + SEGMENT_LEN;
    bytes[at..at + 2].fill(0);
    assert!(Manifest::decode(&with_right_checksum(bytes), 2).is_err());
}

#[test]
fn every_flipped_bit_every_cut_and_every_extension_is_refused() {
    let bytes = example().encode().unwrap();
    for bit in each_unless_miri(0..bytes.len() * 8, 61) {
        let mut bad = bytes.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        let error = Manifest::decode(&bad, 2).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "bit {bit}");
        assert!(error.offset().is_none_or(|at| at < bytes.len() as u64), "{error}");
    }
    for len in each_unless_miri(0..bytes.len(), 11) {
        assert!(Manifest::decode(&bytes[..len], 2).is_err(), "cut to {len}");
    }
    let longer = [&bytes[..], &[0; 4]].concat();
    assert!(Manifest::decode(&longer, 2).is_err());
    assert!(Manifest::decode(&with_right_checksum(longer), 2).is_err());
}

#[test]
fn schemas_of_more_than_they_count_or_may_are_refused() {
    let refused = |bytes: &[u8], features| {
        let error = decode_schema(bytes, features).unwrap_err().to_string();
        assert!(error.contains("something else in byte"), "{error}");
    };
    let keyed = encode_schema(&Schema::builder().text("t").key("k").build().unwrap());
    let plain = encode_schema(&Schema::builder().keyword("t").build().unwrap());
    decode_schema(&keyed, KEY).unwrap();
    decode_schema(&plain, 0).unwrap();
    refused(&[&keyed[..], &[0]].concat(), KEY);
    refused(&[&keyed[..], &[0; 2]].concat(), KEY);
    refused(&[&plain[..], &[0; 3]].concat(), 0);
    // A field with a column twice, one that there is not, and fewer than are told of.
    let number = Field::new("n", FieldKind::I64).column(true);
    let columns = encode_schema(&Schema::builder().field(number).build().unwrap());
    decode_schema(&columns, COLUMNS).unwrap();
    let others: [&[u8]; 3] = [&[2, 0, 0, 0, 0, 0], &[1, 0, 1, 0], &[2, 0, 0, 0]];
    for other in others {
        refused(&[&columns[..columns.len() - 4], other].concat(), COLUMNS);
    }
    // Another direction than there is, a field that there is not, the same twice, fewer than are told of, and none.
    let price = Field::new("price", FieldKind::I64);
    let ordered = Schema::builder().text("t").field(price).order_by(["-price"]);
    let ordered = encode_schema(&ordered.build().unwrap());
    decode_schema(&ordered, COLUMNS | ORDER).unwrap();
    let others: [&[u8]; 5] = [&[1, 1, 0, 2], &[1, 2, 0, 0], &[2, 1, 0, 0], &[1, 1, 0], &[0]];
    for other in others {
        refused(&[&ordered[..ordered.len() - 4], other].concat(), COLUMNS | ORDER);
    }
    let contradictions: [&[u8]; 2] = [&[1, 0, 0, 0], &[2, 1, 0, 0, 1, 0, 1]];
    for other in contradictions {
        let bytes = [&ordered[..ordered.len() - 4], other].concat();
        let error = decode_schema(&bytes, COLUMNS | ORDER).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    }
    // A field that there is not, fewer than are told of, none, and one that has no words.
    let similar = Schema::builder().text("t").text("u").order_by_similarity(["u"]);
    let similar = encode_schema(&similar.build().unwrap());
    decode_schema(&similar, SIMILARITY).unwrap();
    let others: [&[u8]; 4] = [&[1, 0, 2, 0], &[2, 0, 1, 0], &[0, 0], &[1, 0, 1]];
    for other in others {
        refused(&[&similar[..similar.len() - 4], other].concat(), SIMILARITY);
    }
    let both = [&ordered[..], &[1, 0, 0, 0]].concat();
    refused(&both, COLUMNS | ORDER | SIMILARITY);
    let twice = [&similar[..similar.len() - 4], &[2, 0, 1, 0, 1, 0]].concat();
    assert_eq!(decode_schema(&twice, SIMILARITY).unwrap_err().kind(), ErrorKind::Corrupt);
    // One field, named twice among the defaults; one field too many.
    let field = &plain[2..][..4];
    refused(&[&[1, 0], field, &[2, 0], &[0; 4]].concat(), 0);
    let n_fields = FIELDS_MAX + 1;
    let fields = field.repeat(n_fields);
    refused(&[&(n_fields as u16).to_le_bytes()[..], &fields, &[0; 2]].concat(), 0);
}

#[test]
fn a_manifest_says_which_version_wrote_it() {
    assert_eq!(writer_version().map(|part| part.to_string()).join("."), env!("CARGO_PKG_VERSION"));
}

#[test]
fn a_renamed_manifest_is_refused() {
    let error = Manifest::decode(&example().encode().unwrap(), 3).unwrap_err().to_string();
    assert!(error.contains("generation 3") && error.contains("found 2"), "{error}");
}

#[test]
fn crafted_counts_never_panic_nor_allocate_beyond_the_file() {
    let bytes = example().encode().unwrap();
    for at in each_unless_miri(HEADER_LEN..bytes.len() - CRC_LEN, 13) {
        for value in each_unless_miri([0, 1, 2, 3, 0x7F, 0x80, 0xFF], 5) {
            let mut bad = bytes.clone();
            bad[at] = value;
            if let Ok(manifest) = Manifest::decode(&with_right_checksum(bad), 2) {
                assert_eq!(manifest.segments.len(), 1);
                assert_eq!(manifest.schema.fields().len(), 1);
            }
        }
    }
    let twice = Manifest { segments: vec![example().segments[0]; 2], ..example() };
    assert!(Manifest::decode(&twice.encode().unwrap(), 2).is_err());
}

/// The example with `bytes` in the place of a range, and with the length that makes.
fn spliced(range: Range<usize>, bytes: &[u8]) -> Vec<u8> {
    let mut all = example().encode().unwrap();
    all.splice(range, bytes.iter().copied());
    let len = all.len() as u64;
    all[HEADER_LEN..HEADER_LEN + 8].copy_from_slice(&len.to_le_bytes());
    with_right_checksum(all)
}

#[test]
fn what_no_writer_writes_is_refused_though_the_checksum_is_right() {
    let sound = example().encode().unwrap();
    let end = sound.len() - CRC_LEN;
    assert_eq!(Manifest::decode(&spliced(end..end, &[]), 2).unwrap(), example());
    assert!(Manifest::decode(&spliced(end..end, &[0; 4]), 2).is_err(), "bytes behind the last");
    for len in [sound.len() as u64 - 1, sound.len() as u64 + 1] {
        let mut bytes = sound.clone();
        bytes[HEADER_LEN..HEADER_LEN + 8].copy_from_slice(&len.to_le_bytes());
        assert!(Manifest::decode(&with_right_checksum(bytes), 2).is_err(), "a length of {len}");
    }

    // Positions without frequencies: the flags lie behind the number of fields and the kind.
    let flags = FIXED_LEN + SEGMENT_LEN + 3;
    let positions = [sound[flags] & !FREQUENCIES | POSITIONS];
    assert!(Manifest::decode(&spliced(flags..flags + 1, &positions), 2).is_err());
}

#[test]
#[cfg_attr(miri, ignore = "65,536 segments are allowed")]
fn more_segments_than_are_allowed_are_refused_though_the_checksum_is_right() {
    let sound = example().encode().unwrap();
    let fields = doc_check::layout(include_str!("mod.rs"));
    let with_segments = |n: usize| {
        let entry = &sound[FIXED_LEN..][..SEGMENT_LEN];
        let entries = (0..n as u128).flat_map(|id| {
            let mut entry = entry.to_vec();
            entry[..16].copy_from_slice(&id.to_le_bytes());
            entry
        });
        let mut bytes = spliced(FIXED_LEN..FIXED_LEN + SEGMENT_LEN, &entries.collect::<Vec<_>>());
        bytes[fields["n_segments"]..][..4].copy_from_slice(&(n as u32).to_le_bytes());
        Manifest::decode(&with_right_checksum(bytes), 2)
    };
    assert_eq!(with_segments(SEGMENTS_MAX).unwrap().segments.len(), SEGMENTS_MAX);
    assert!(with_segments(SEGMENTS_MAX + 1).is_err(), "more segments than are allowed");
}

/// A build that did not know one of them would give wrong answers.
#[test]
fn what_a_reader_must_know_is_in_the_header_and_nothing_else() {
    let body = Field::new("body", FieldKind::Text).offsets(true);
    let offsets = Schema::builder().field(body).build().unwrap();
    let keyed = Schema::builder().text("t").key("id").build().unwrap();
    let kinds = [
        FieldKind::I64,
        FieldKind::U64,
        FieldKind::F64,
        FieldKind::Bool,
        FieldKind::Date,
        FieldKind::Decimal { scale: 18 },
    ];
    let with_columns = |columns: bool| {
        let fields = kinds.iter().map(|kind| Field::new(kind.name(), *kind).column(columns));
        fields.fold(Schema::builder(), |builder, field| builder.field(field)).build().unwrap()
    };
    let (typed, columns) = (with_columns(false), with_columns(true));
    let ip = Field::new("ip", FieldKind::Ip).column(false);
    let ip = Schema::builder().field(ip).build().unwrap();
    let zones = Field::new("d", FieldKind::Date).column(false).zone("Europe/Berlin");
    let zones = Schema::builder().keyword("k").field(zones).build().unwrap();
    let nulls = Schema::builder().keyword("k").nulls().build().unwrap();
    let path = Field::new("path", FieldKind::Path { separator: '›' });
    let path = Schema::builder().field(path).build().unwrap();
    let deletes = DeletesMeta { number: 3, n_docs: 4, seal: example().segments[0].seal };
    let segment = SegmentMeta { deletes: Some(deletes), ..example().segments[0] };
    let ordered = Schema::builder().field(Field::new("n", FieldKind::I64)).order_by(["n"]);
    let ordered = ordered.build().unwrap();
    let similar = Schema::builder().text("t").order_by_similarity::<&str>([]).build().unwrap();
    let copied = Field::new("words", FieldKind::Text).many(true).copy_of("tags");
    let copied = Schema::builder().keyword("tags").field(copied).build().unwrap();
    let vectors = VectorParams::new(8_192, Metric::L2)
        .values(VectorValues::F16)
        .codes(VectorCodes::None)
        .graph(false);
    let bits = VectorParams::new(5, Metric::Dot).values(VectorValues::F16).codes(VectorCodes::B1);
    let vectors = Schema::builder().vector("v", vectors).vector("w", bits).build().unwrap();
    let array = FieldKind::Point { array: Some(CoordinateOrder::LonLat) };
    let points = Schema::builder().point("p").field(Field::new("q", array)).build().unwrap();
    let wider = Schema::builder().text("t").text("u").build().unwrap();
    let narrow = SegmentMeta { n_added_fields: 1, ..example().segments[0] };
    let cases = [
        (example(), 0),
        (Manifest { schema: offsets, ..example() }, OFFSETS),
        (Manifest { segments: vec![segment], ..example() }, DELETES),
        (Manifest { schema: keyed, ..example() }, KEY),
        (Manifest { schema: columns, ..example() }, TYPED | COLUMNS),
        (Manifest { schema: typed, ..example() }, TYPED),
        (Manifest { schema: ip, ..example() }, TYPED | ADDRESSES),
        (Manifest { schema: path, ..example() }, PATHS),
        (Manifest { schema: nulls, ..example() }, NULLS),
        (Manifest { schema: zones, ..example() }, TYPED | ZONES),
        (Manifest { schema: wider, segments: vec![narrow], ..example() }, ADDED_FIELDS),
        (Manifest { schema: ordered, ..example() }, TYPED | COLUMNS | ORDER),
        (Manifest { schema: copied, ..example() }, COPIES),
        (Manifest { schema: similar, ..example() }, SIMILARITY),
        (Manifest { schema: vectors, ..example() }, VECTORS),
        (Manifest { schema: points, ..example() }, POINTS),
    ];
    for (manifest, needed) in cases {
        let bytes = manifest.encode().unwrap();
        let stated = |bytes: &[u8]| Header::decode(bytes, FileKind::Manifest).unwrap().incompatible;
        assert_eq!(stated(&bytes), needed);
        assert_eq!(Manifest::decode(&bytes, manifest.generation).unwrap(), manifest);
        let bits = [OFFSETS, DELETES, KEY, TYPED, COLUMNS, ADDRESSES, PATHS, NULLS, ZONES];
        for others in
            bits.into_iter().chain([ADDED_FIELDS, ORDER, COPIES, SIMILARITY, VECTORS, POINTS])
        {
            let mut other = bytes.clone();
            let header = Header::encode(FileKind::Manifest, manifest.index_id, needed ^ others);
            other[..HEADER_LEN].copy_from_slice(&header);
            assert_eq!(stated(&other), needed ^ others);
            let error = Manifest::decode(&with_right_checksum(other), 2).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{needed} and {others}");
        }
    }
}

#[test]
fn as_many_documents_are_deleted_as_a_segment_has_and_at_least_one() {
    let with = |n_docs: u32| {
        let deletes = DeletesMeta { number: 3, n_docs, seal: example().segments[0].seal };
        let segment = SegmentMeta { deletes: Some(deletes), ..example().segments[0] };
        let manifest = Manifest { segments: vec![segment], ..example() };
        Manifest::decode(&manifest.encode().unwrap(), 2).map(|manifest| manifest.n_docs())
    };
    assert_eq!((with(1).unwrap(), with(9).unwrap()), (8, 0));
    assert!([0, 10, u32::MAX].into_iter().all(|n_docs| with(n_docs).is_err()));
}

#[test]
fn a_schema_may_have_as_many_fields_as_are_allowed() {
    let fields =
        (0..unless_miri(FIELDS_MAX, 20)).map(|n| Field::new(format!("f{n}"), FieldKind::Keyword));
    let schema = fields.fold(Schema::builder(), |builder, field| builder.field(field));
    let manifest = Manifest { schema: schema.build().unwrap(), ..example() };
    assert_eq!(Manifest::decode(&manifest.encode().unwrap(), 2).unwrap(), manifest);
}

#[test]
fn limits_are_told_before_anything_is_written() {
    let manifest = Manifest { payload: vec![0; PAYLOAD_BYTES_MAX + 1], ..example() };
    assert_eq!(manifest.encode().unwrap_err().kind(), ErrorKind::LimitExceeded);
    let segments = vec![example().segments[0]; SEGMENTS_MAX + 1];
    let manifest = Manifest { segments, ..example() };
    assert_eq!(manifest.encode().unwrap_err().kind(), ErrorKind::LimitExceeded);
}
