//! Right checksums for wrong bytes: what somebody who means harm would write.

use crate::golden::{Files, manifests};
use std::ops::Range;
use std::sync::Arc;

/// Where the numbers are that a segment file's footer has, counted from its start.
const FOOTER_LEN: usize = 64;
const FOOTER_CHECKSUMS_CRC: usize = 24;
const FOOTER_BLOCK_SHIFT: usize = 32;
const FOOTER_ID: usize = 40;
const FOOTER_CRC: usize = 56;
const HEADER_CRC: usize = 60;
/// Where the segments are in a manifest, how long each entry is, and where it has the footer's checksum.
const MANIFEST_SEGMENTS: usize = 128;
const ENTRY_LEN: usize = 40;
const ENTRY_LEN_OF_FILE: usize = 16;
const ENTRY_SEAL: usize = 24;
const ENTRY_DELETES: usize = 32;
/// Behind the segments of a manifest, for each that has deletes: length and footer's checksum of their file.
const DELETES_LEN: usize = 16;
const N_SEGMENTS: usize = 116;

/// Puts right checksums on whatever `file` is now, and into the newest manifest. A file that is too
/// short to have any is left as it is.
pub(crate) fn reseal(files: &mut Files, file: &str) {
    let newest = manifests(files).last().unwrap().to_string();
    if file.starts_with("manifest-") {
        return change(files, file, reseal_manifest);
    }
    let Some(bytes) = files.get(file).filter(|bytes| bytes.len() >= 2 * FOOTER_LEN) else { return };
    let mut bytes = bytes.to_vec();
    reseal_segment(&mut bytes);
    let footer = bytes.len() - FOOTER_LEN;
    let seal: [u8; 4] = bytes[footer + FOOTER_CRC..][..4].try_into().unwrap();
    let len = (bytes.len() as u64).to_le_bytes();
    files.insert(file.to_owned(), Arc::new(bytes));
    change(files, &newest, |manifest| {
        if let Some((len_at, seal_at)) = places_in_manifest(manifest, file) {
            manifest[len_at..len_at + 8].copy_from_slice(&len);
            manifest[seal_at..seal_at + 4].copy_from_slice(&seal);
        }
        reseal_manifest(manifest);
    });
}

/// Where a manifest has the length of a file and its footer's checksum.
fn places_in_manifest(manifest: &[u8], file: &str) -> Option<(usize, usize)> {
    let n_segments = u32::from_le_bytes(manifest[N_SEGMENTS..][..4].try_into().unwrap()) as usize;
    let mut deletes_at = MANIFEST_SEGMENTS + n_segments * ENTRY_LEN;
    for at in (MANIFEST_SEGMENTS..deletes_at).step_by(ENTRY_LEN) {
        let is_segment = manifest[at..at + 16] == parse_id(file);
        let number = number(manifest, at + ENTRY_DELETES);
        if is_segment && file.starts_with("seg-") {
            return Some((at + ENTRY_LEN_OF_FILE, at + ENTRY_SEAL));
        }
        if is_segment && file.ends_with(&format!("-{number:016x}.rbm")) {
            return Some((deletes_at, deletes_at + 8));
        }
        deletes_at += if number == 0 { 0 } else { DELETES_LEN };
    }
    None
}

fn change(files: &mut Files, file: &str, how: impl FnOnce(&mut [u8])) {
    if let Some(bytes) = files.get(file) {
        let mut bytes = bytes.to_vec();
        how(&mut bytes);
        files.insert(file.to_owned(), Arc::new(bytes));
    }
}

fn parse_id(file: &str) -> [u8; 16] {
    let hex = file.split('-').nth(1).unwrap();
    std::array::from_fn(|at| u8::from_str_radix(&hex[at * 2..at * 2 + 2], 16).unwrap())
}

fn number(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
}

/// Leaves the place alone where it does not exist.
fn put_crc(bytes: &mut [u8], of: Range<usize>, at: usize) {
    if let Some(crc) = bytes.get(of).map(crc32c::crc32c)
        && let Some(to) = bytes.get_mut(at..at.saturating_add(4))
    {
        to.copy_from_slice(&crc.to_le_bytes());
    }
}

/// The checksums of header, blocks, tables and footer, as far as what the footer says lies in the file.
fn reseal_segment(bytes: &mut [u8]) {
    let footer = bytes.len() - FOOTER_LEN;
    put_crc(bytes, 0..HEADER_CRC, HEADER_CRC);
    let (checksums_at, table_at) = (number(bytes, footer + 8), number(bytes, footer + 16));
    let block_len = 1_usize << (bytes[footer + FOOTER_BLOCK_SHIFT] & 31);
    if checksums_at <= table_at && table_at <= footer {
        for (nth, start) in (0..checksums_at).step_by(block_len).enumerate() {
            let at = checksums_at + nth * 4;
            if at + 4 <= table_at {
                put_crc(bytes, start..checksums_at.min(start + block_len), at);
            }
        }
    }
    put_crc(bytes, checksums_at..table_at, footer + FOOTER_CHECKSUMS_CRC);
    put_crc(bytes, table_at..footer, footer + FOOTER_CHECKSUMS_CRC + 4);
    put_crc(bytes, footer..footer + FOOTER_CRC, footer + FOOTER_CRC);
}

fn reseal_manifest(bytes: &mut [u8]) {
    if let Some(end) = bytes.len().checked_sub(4) {
        put_crc(bytes, 0..HEADER_CRC, HEADER_CRC);
        put_crc(bytes, 0..end, end);
    }
}

#[test]
fn sealing_what_is_sound_changes_nothing() {
    let (files, _) = crate::questions::sound();
    for file in files.keys().filter(|file| *file != "write.lock") {
        let mut again = files.clone();
        reseal(&mut again, file);
        assert!(again == *files, "{file}");
    }
    let segment = files.keys().find(|file| file.starts_with("seg-")).unwrap();
    let bytes = &files[segment];
    assert_eq!(parse_id(segment), bytes[bytes.len() - FOOTER_LEN + FOOTER_ID..][..16]);
}
