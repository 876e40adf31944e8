//! Test support: reads the layout table and the hex dump of a module's docs. The docs of a format are also its test
//! vectors, and cannot drift from the code.

use std::collections::BTreeMap;

/// The lines of every fenced `text` block in the module docs of `source`.
fn text_blocks(source: &str) -> Vec<Vec<&str>> {
    let mut blocks: Vec<Vec<&str>> = vec![];
    let mut inside = false;
    for line in source.lines().map_while(|line| line.strip_prefix("//!")) {
        match (line.trim(), inside) {
            ("```text", false) => (inside, _) = (true, blocks.push(vec![])),
            ("```", true) => inside = false,
            (text, true) => blocks.last_mut().unwrap().push(text),
            _ => {}
        }
    }
    blocks
}

/// The bytes of the block that starts with offset `0000`.
pub(super) fn hex_dump(source: &str) -> Vec<u8> {
    let block = text_blocks(source).into_iter().find(|b| b[0].starts_with("0000  ")).unwrap();
    let mut bytes = vec![];
    for line in block {
        let (offset, hex) = line.split_once("  ").unwrap();
        assert_eq!(usize::from_str_radix(offset, 16).unwrap(), bytes.len(), "dump offset");
        bytes.extend(hex.split_whitespace().map(|b| u8::from_str_radix(b, 16).unwrap()));
    }
    bytes
}

/// Field name → offset, from the block that starts with `offset  size  field`. Checks that each
/// fixed offset is the sum of the sizes before it.
pub(super) fn layout(source: &str) -> BTreeMap<String, usize> {
    let block = text_blocks(source).into_iter().find(|b| b[0].starts_with("offset  size")).unwrap();
    let mut fields = BTreeMap::new();
    let mut expected = Some(0);
    for row in &block[1..] {
        let mut cells = row.split_whitespace();
        let (offset, size, name) =
            (cells.next().unwrap(), cells.next().unwrap(), cells.next().unwrap());
        if let (Ok(offset), Some(expected)) = (offset.parse::<usize>(), expected) {
            assert_eq!(offset, expected, "offset of {name} in the layout table");
            fields.insert(name.to_owned(), offset);
        }
        expected = expected.zip(size.parse::<usize>().ok()).map(|(at, size)| at + size);
    }
    fields
}

/// `bytes` as the docs should show them, to paste when the format changes on purpose.
pub(super) fn render(bytes: &[u8]) -> String {
    let line = |(n, row): (usize, &[u8])| {
        let hex =
            |half: &[u8]| half.iter().map(|b| format!("{b:02X}")).collect::<Vec<_>>().join(" ");
        let (left, right) = row.split_at(row.len().min(8));
        format!("//! {:04X}  {}  {}\n", n * 16, hex(left), hex(right)).trim_end().to_owned() + "\n"
    };
    bytes.chunks(16).enumerate().map(line).collect()
}
