use super::*;
use crate::error::ErrorKind;
use crate::format::header::{TIGHT, TOLD_FROM};
use crate::format::{FORMAT_VERSION, doc_check};
use crate::test_sizes::{each_unless_miri, unless_miri};

const ID: SegmentId = SegmentId([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);

fn example() -> (Vec<u8>, Seal) {
    let mut writer = EnvelopeWriter::new(FileKind::Segment, ID, vec![]).unwrap();
    writer.section(Some(FieldId(0)), SectionKind::TERMS, b"abc").unwrap();
    let (seal, file) = writer.finish().unwrap();
    (file, seal)
}

fn open(file: &[u8], expected: Option<(SegmentId, Seal)>) -> Result<Envelope> {
    Envelope::open(FileKind::Segment, file.len() as u64, expected, |range| {
        let found = file.get(range.start as usize..range.end as usize);
        Ok(Bytes::Mapped(found.unwrap_or_else(|| panic!("{range:?} of {}", file.len()))))
    })
}

/// Puts right checksums on changed tables and footer, as somebody who means harm would.
fn with_right_checksums(mut file: Vec<u8>) -> Vec<u8> {
    let footer_at = file.len() - FOOTER_LEN;
    let place = |at: usize| {
        let at = u64::from_le_bytes(array_at(&file, footer_at + at).unwrap());
        usize::try_from(at).unwrap_or(usize::MAX)
    };
    let (checksums_at, table_at) = (place(8), place(16));
    let crc_of = |range: Range<usize>| file.get(range).map_or(0, crc32c);
    let crcs = [crc_of(checksums_at..table_at), crc_of(table_at..footer_at)];
    for (at, crc) in [(24, crcs[0]), (28, crcs[1])] {
        file[footer_at + at..][..4].copy_from_slice(&crc.to_le_bytes());
    }
    let crc = crc32c(&file[footer_at..][..FOOTER_CRC_AT]);
    file[footer_at + FOOTER_CRC_AT..][..4].copy_from_slice(&crc.to_le_bytes());
    file
}

#[test]
fn the_example_in_the_docs_is_what_we_write() {
    let (file, _) = example();
    let documented = doc_check::hex_dump(include_str!("mod.rs"));
    assert_eq!(documented, file, "\n{}", doc_check::render(&file));
}

#[test]
fn the_layout_table_in_the_docs_matches_the_constants() {
    let fields = doc_check::layout(include_str!("mod.rs"));
    assert_eq!(fields["sections"], HEADER_LEN);
}

#[test]
fn what_was_written_is_found_again() {
    let (file, seal) = example();
    let envelope = open(&file, Some((ID, seal))).unwrap();
    let version = FORMAT_VERSION;
    let header = Header { id: ID, version, incompatible: TOLD_FROM | TIGHT, writable: true };
    assert_eq!(envelope.header, header);
    let entry = envelope.section(Some(FieldId(0)), SectionKind::TERMS).unwrap();
    let start = entry.offset as usize;
    assert_eq!(&file[start..][..entry.len as usize], b"abc");
    assert_eq!(file[start + 3..][..SECTION_PADDING as usize], [0; SECTION_PADDING as usize]);
    assert_eq!(envelope.section(None, SectionKind::TERMS), None);
    assert_eq!(envelope.section(Some(FieldId(0)), SectionKind::POSTINGS), None);
}

#[test]
fn sections_of_every_length_around_a_block_are_covered_by_right_checksums() {
    let lens = [0, 1, 7, 8, 9, 4_096 - 64, 4_096 - 65, 4_096, 3 * 4_096, 20_000];
    for &len in unless_miri(&lens[..], &[0, 9, 2_050]) {
        let mut writer =
            EnvelopeWriter::with_block_shift(FileKind::Segment, ID, vec![], 12).unwrap();
        writer.section(None, SectionKind::STORED, &vec![7; len]).unwrap();
        writer.section(Some(FieldId(3)), SectionKind::EMPTY, b"").unwrap();
        writer.start_section(Some(FieldId(3)), SectionKind::TERMS, 9).unwrap();
        (0..len).for_each(|n| writer.write(&[n as u8]).unwrap());
        assert_eq!(writer.end_section().unwrap(), len as u64);
        let (seal, file) = writer.finish().unwrap();
        let envelope = open(&file, Some((ID, seal))).unwrap();
        assert_eq!(envelope.n_blocks(), envelope.covered_len().div_ceil(4_096));
        for block in 0..envelope.n_blocks() {
            let bytes = |range: Range<u64>| &file[range.start as usize..range.end as usize];
            let expected = bytes(envelope.checksums_range(block..block + 1));
            let found = crc32c(bytes(envelope.block_range(block)));
            assert_eq!(expected, found.to_le_bytes(), "block {block} of {len}");
        }
        let keys: Vec<_> = envelope.sections().iter().map(SectionEntry::key).collect();
        assert_eq!(keys, [0x3_0001, 0x3_0006, 0xFFFF_0007]);
        assert_eq!(envelope.sections()[0].codec, 9);
        let fields: Vec<_> = envelope.sections().iter().map(|entry| entry.field).collect();
        assert_eq!(fields, [Some(FieldId(3)), Some(FieldId(3)), None]);
    }
}

#[test]
fn every_flipped_bit_is_found_by_open_or_by_the_checksum_of_its_block() {
    let (file, seal) = example();
    let covered = open(&file, None).unwrap().covered_len() as usize;
    for bit in each_unless_miri(0..file.len() * 8, 61) {
        let mut bad = file.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        match open(&bad, None) {
            Err(error) => assert_ne!(error.kind(), ErrorKind::Usage, "bit {bit}"),
            Ok(_) => {
                let in_blocks = (HEADER_LEN..covered).contains(&(bit / 8));
                assert!(in_blocks, "bit {bit}");
                let expected = &file[covered..][..4];
                assert_ne!(crc32c(&bad[..covered]).to_le_bytes(), expected, "bit {bit}");
            }
        }
        assert!(open(&bad, Some((ID, seal))).is_err() || bit / 8 < covered, "bit {bit}");
    }
}

#[test]
fn every_cut_and_every_extension_is_refused() {
    let (file, seal) = example();
    for len in each_unless_miri(0..file.len(), 7) {
        assert_eq!(open(&file[..len], None).unwrap_err().kind(), ErrorKind::Corrupt, "{len}");
        assert!(open(&file[..len], Some((ID, seal))).is_err(), "{len}");
    }
    let mut longer = file.clone();
    longer.extend(&file[file.len() - FOOTER_LEN..]);
    assert!(open(&longer, None).is_err(), "the footer gives another length");
}

#[test]
fn another_segment_under_this_name_is_refused() {
    let (file, seal) = example();
    let other = SegmentId([9; 16]);
    let error = open(&file, Some((other, seal))).unwrap_err().to_string();
    assert!(error.contains(&other.to_string()) && error.contains(&ID.to_string()), "{error}");
    let newer = Seal { footer_crc: seal.footer_crc ^ 1, ..seal };
    assert!(open(&file, Some((ID, newer))).is_err(), "same id and length, other content");
}

#[test]
fn crafted_tables_and_footers_are_refused_or_harmless() {
    let (file, _) = example();
    let footer_at = file.len() - FOOTER_LEN;
    for at in each_unless_miri(footer_at - ENTRY_LEN..footer_at + FOOTER_ID_AT, 5) {
        for value in [0, 1, 0x7F, 0x80, 0xFF] {
            let mut bad = file.clone();
            bad[at] = value;
            let Ok(envelope) = open(&with_right_checksums(bad), None) else {
                continue;
            };
            for entry in envelope.sections() {
                let end = entry.offset + entry.len + SECTION_PADDING;
                assert!(end <= envelope.covered_len() && entry.offset >= HEADER_LEN as u64);
            }
            assert!(envelope.covered_len() < file.len() as u64);
        }
    }
}

/// A checksum more than there are blocks would make a file that nobody can open.
#[test]
fn a_file_that_ends_with_a_whole_block_and_one_without_sections_are_opened() {
    for len in [4_095, 4_096, 4_097, 2 * 4_096].map(|end| end - HEADER_LEN - 64) {
        let mut writer =
            EnvelopeWriter::with_block_shift(FileKind::Segment, ID, vec![], 12).unwrap();
        writer.section(None, SectionKind::STORED, &vec![7; len]).unwrap();
        let (seal, file) = writer.finish().unwrap();
        let envelope = open(&file, Some((ID, seal))).unwrap();
        assert_eq!(envelope.section(None, SectionKind::STORED).unwrap().len, len as u64);
    }
    let writer = EnvelopeWriter::new(FileKind::Segment, ID, vec![]).unwrap();
    let (seal, file) = writer.finish().unwrap();
    assert!(open(&file, Some((ID, seal))).unwrap().sections().is_empty());
}

#[test]
fn the_header_of_another_segment_is_refused() {
    let (mut file, seal) = example();
    let other = Header::encode(FileKind::Segment, SegmentId([9; 16]), 0);
    file[..HEADER_LEN].copy_from_slice(&other);
    for expected in [None, Some((ID, seal)), Some((SegmentId([9; 16]), seal))] {
        assert_eq!(open(&file, expected).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}

/// Each of these is seen by one check alone.
#[test]
fn places_that_contradict_each_other_are_refused_though_the_checksums_are_right() {
    let (file, _) = example();
    let footer_at = file.len() - FOOTER_LEN;
    let refused = |what: &str, change: &dyn Fn(&mut Footer)| {
        let mut footer = Footer::decode(&array_at(&file, footer_at).unwrap()).unwrap();
        change(&mut footer);
        let bad = [&file[..footer_at], &footer.encode()].concat();
        let error = open(&with_right_checksums(bad), None).unwrap_err().to_string();
        assert!(error.contains("places that fit"), "{what}: {error}");
    };
    refused("blocks of 2 KiB", &|footer| footer.block_shift = 11);
    refused("blocks of 128 KiB", &|footer| footer.block_shift = 17);
    refused("another length", &|footer| footer.file_len += 8);
    refused("checksums in the header", &|f| (f.checksums_at, f.table_at) = (40, 48));
    refused("checksums off their place", &|footer| footer.checksums_at += 1);
    refused("a table behind its place", &|footer| footer.table_at += ENTRY_LEN as u64);
    let [behind, far_behind] = [8, 16].map(|by| (footer_at + by) as u64);
    refused("a table behind the end", &|f| (f.checksums_at, f.table_at) = (behind, far_behind));
    refused("half an entry", &|f| (f.checksums_at, f.table_at) = (128, 136));
}

#[test]
fn sections_out_of_place_or_out_of_order_are_refused_though_the_checksums_are_right() {
    let mut writer = EnvelopeWriter::new(FileKind::Segment, ID, vec![]).unwrap();
    writer.section(None, SectionKind::TERMS, b"abc").unwrap();
    writer.section(None, SectionKind::STORED, b"def").unwrap();
    let (_, file) = writer.finish().unwrap();
    let table_at = file.len() - FOOTER_LEN - 2 * ENTRY_LEN;
    let with_table = |entries: [SectionEntry; 2]| {
        let (mut bad, mut table) = (file.clone(), vec![]);
        entries.iter().for_each(|entry| entry.encode(&mut table));
        bad[table_at..][..table.len()].copy_from_slice(&table);
        open(&with_right_checksums(bad), None)
    };
    let envelope = open(&file, None).unwrap();
    let [one, two] = [envelope.sections()[0], envelope.sections()[1]];
    with_table([one, two]).unwrap();
    assert!(with_table([two, one]).is_err(), "descending");
    assert!(with_table([one, one]).is_err(), "one twice");
    assert!(with_table([SectionEntry { offset: one.offset + 1, ..one }, two]).is_err(), "odd");
    assert!(with_table([SectionEntry { offset: 56, ..one }, two]).is_err(), "in the header");
    let room = envelope.covered_len() - two.offset - SECTION_PADDING;
    with_table([one, SectionEntry { len: room, ..two }]).unwrap();
    assert!(with_table([one, SectionEntry { len: room + 1, ..two }]).is_err(), "too long");
}

#[test]
fn sections_are_begun_and_ended_in_turn_and_each_once() {
    let (kind, other) = (SectionKind::TERMS, SectionKind::STORED);
    type Slip = fn(EnvelopeWriter<Vec<u8>>, [SectionKind; 2]) -> Result<()>;
    let slips: [(&str, Slip); 5] = [
        ("written to none", |mut writer, _| writer.write(b"abc")),
        ("ended none", |mut writer, _| writer.end_section().map(|_| ())),
        ("began another", |mut writer, [kind, other]| {
            writer.start_section(None, kind, 0)?;
            writer.start_section(None, other, 0)
        }),
        ("one twice", |mut writer, [kind, _]| {
            writer.section(None, kind, b"abc")?;
            writer.section(None, kind, b"def")
        }),
        ("not ended", |mut writer, [kind, _]| {
            writer.start_section(None, kind, 0)?;
            writer.finish().map(|_| ())
        }),
    ];
    for (what, slip) in slips {
        let slipped = std::panic::catch_unwind(|| {
            slip(EnvelopeWriter::new(FileKind::Segment, ID, vec![]).unwrap(), [kind, other])
        });
        assert!(slipped.is_err(), "{what}");
    }
}
