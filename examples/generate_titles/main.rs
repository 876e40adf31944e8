//! Writes any number of made-up encyclopedia titles, as the title dumps of Wikipedia have them: a
//! header line, then one title a line with `_` for spaces.
//!
//! `cargo run --release --example generate_titles -- N [SEED] > FILE`
//!
//! All N titles are distinct, their words follow a Zipf law in ten scripts, every seventh title or
//! so ends in a qualifier like `_(film)`, and the same N and SEED (default 1) give the same bytes on
//! every machine. Memory grows with the square root of N: 100 million titles take 5 MB.

mod titles;
mod words;

use std::{
    env,
    io::{self, Write},
    process::ExitCode,
};

use titles::Titles;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let numbers: Option<Vec<u64>> = arguments.iter().map(|text| text.parse().ok()).collect();
    let (n, seed) = match numbers.as_deref() {
        Some([n]) => (*n, 1),
        Some([n, seed]) => (*n, *seed),
        _ => {
            eprintln!("usage: generate_titles N [SEED] > FILE");
            return ExitCode::from(2);
        }
    };
    match write_titles(n, seed, io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        // `generate_titles 1000000 | head` is a fine thing to type.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("writing titles: {error}");
            ExitCode::from(2)
        }
    }
}

fn write_titles(n: u64, seed: u64, mut out: impl Write) -> io::Result<()> {
    const CHUNK_BYTES: usize = 1 << 16;
    let mut chunk = Vec::with_capacity(CHUNK_BYTES + 1024);
    chunk.extend_from_slice(b"page_title\n");
    let mut titles = Titles::new(n, seed);
    while titles.write_next(&mut chunk) {
        chunk.push(b'\n');
        if chunk.len() >= CHUNK_BYTES {
            out.write_all(&chunk)?;
            chunk.clear();
        }
    }
    out.write_all(&chunk)?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `corpus/titles.txt` is what its README says it is, byte for byte.
    #[test]
    fn the_corpus_is_its_handwritten_part_and_generated_titles() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
        let mut expected = std::fs::read(root.join("handwritten.txt")).unwrap();
        let mut generated = vec![];
        write_titles(3_600, 1, &mut generated).unwrap();
        expected.extend_from_slice(generated.strip_prefix(b"page_title\n").unwrap());
        assert!(std::fs::read(root.join("titles.txt")).unwrap() == expected);

        let text = String::from_utf8(expected).unwrap();
        let distinct: std::collections::HashSet<&str> = text.lines().collect();
        assert_eq!(distinct.len(), text.lines().count(), "a handwritten title is generated too");
    }
}
