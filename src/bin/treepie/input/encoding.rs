//! Conversion of other encodings to UTF-8, as a stream. An encoding is UTF-16 if a byte order mark says so, or the one
//! asked for by name. UTF-8 passes through as it is, with whatever in it is none.

use std::io::{self, Read};

use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE};
use memchr::memchr_iter;
use treepie::{Error, ErrorKind};

use super::decode;

/// Encodings by which bytes become text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Encodings {
    /// Encoding that was asked for; a byte order mark goes before it.
    pub(crate) asked: Option<&'static Encoding>,
    /// Whether U+FFFD stands for what means nothing in the encoding.
    pub(crate) lossy: bool,
}

/// Reads UTF-8, whatever encoding the bytes below are in.
pub(crate) struct Encoded<R> {
    from: R,
    encodings: Encodings,
    state: State,
}

enum State {
    Begin,
    /// Bytes are text already; these were read to see that.
    Plain(io::Cursor<Vec<u8>>),
    Decoding(Box<Decoding>),
}

struct Decoding {
    decoder: Decoder,
    /// Bytes that were read and not decoded yet.
    bytes: Vec<u8>,
    at: usize,
    ended: bool,
    text: Vec<u8>,
    given: usize,
    /// Bytes decoded so far, and the line of the text that they reach.
    offset: u64,
    line: u64,
    /// Error to report once the text before it was given.
    failure: Option<Error>,
}

/// Bytes that are looked at for a mark, and for what is no text; of an archive the first header.
const HEAD_BYTES: usize = 512;
/// Bytes that look like UTF-16 without a mark.
const UNMARKED_BYTES: usize = 16;
const READ_BYTES: usize = 64 << 10;
const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

impl<R: Read> Encoded<R> {
    pub(crate) fn new(from: R, encodings: Encodings) -> Self {
        Encoded { from, encodings, state: State::Begin }
    }

    /// Works like [`Read::read`]; the error of the bytes below, or that of the encoding.
    pub(crate) fn read(&mut self, into: &mut [u8]) -> Result<usize, EncodingError> {
        loop {
            match &mut self.state {
                State::Begin => self.begin()?,
                State::Plain(head) => {
                    return Ok(match head.read(into)? {
                        0 => self.from.read(into)?,
                        n => n,
                    });
                }
                State::Decoding(decoding) => {
                    return decoding.read(&mut self.from, into, self.encodings.lossy);
                }
            }
        }
    }

    fn begin(&mut self) -> Result<(), EncodingError> {
        let mut head = Vec::with_capacity(HEAD_BYTES);
        (&mut self.from).take(HEAD_BYTES as u64).read_to_end(&mut head)?;
        decode::refuse_foreign(&head)?;
        if head.starts_with(b"\xFF\xFE\0\0") || head.starts_with(b"\0\0\xFE\xFF") {
            return Err(Error::new(ErrorKind::Document, "reading the input")
                .expected("text in UTF-8, or in UTF-16 with a byte order mark")
                .found("UTF-32")
                .hint("`iconv -f UTF-32 -t UTF-8` makes UTF-8 of it")
                .into());
        }
        let by_mark = Encoding::for_bom(&head).map(|(encoding, _)| encoding);
        if by_mark.is_none()
            && self.encodings.asked.is_none()
            && let Some(encoding) = looks_like_utf_16(&head[..head.len().min(UNMARKED_BYTES)])
        {
            return Err(Error::new(ErrorKind::Document, "reading the input")
                .expected("text in UTF-8, or in UTF-16 with a byte order mark")
                .found(format!("what looks like {} without one", encoding.name()))
                .hint(format!("--encoding {} reads it", encoding.name().to_ascii_lowercase()))
                .into());
        }
        let encoding = by_mark.or(self.encodings.asked).unwrap_or(UTF_8);
        self.state = match encoding == UTF_8 {
            true => State::Plain(io::Cursor::new(head)),
            false => State::Decoding(Box::new(Decoding {
                decoder: encoding.new_decoder(),
                bytes: head,
                at: 0,
                ended: false,
                text: vec![],
                given: 0,
                offset: 0,
                line: 1,
                failure: None,
            })),
        };
        Ok(())
    }
}

impl Decoding {
    fn read(
        &mut self,
        from: &mut impl Read,
        into: &mut [u8],
        lossy: bool,
    ) -> Result<usize, EncodingError> {
        while self.given == self.text.len() {
            if let Some(error) = self.failure.take() {
                return Err(error.into());
            }
            if self.ended && self.at == self.bytes.len() {
                return Ok(0);
            }
            if self.at == self.bytes.len() {
                self.at = 0;
                self.bytes.resize(READ_BYTES, 0);
                let read = from.read(&mut self.bytes);
                self.bytes.truncate(*read.as_ref().unwrap_or(&0));
                self.ended = read? == 0;
            }
            self.decode(lossy);
        }
        let n = into.len().min(self.text.len() - self.given);
        into[..n].copy_from_slice(&self.text[self.given..self.given + n]);
        self.given += n;
        Ok(n)
    }

    /// Decodes what was read, up to what means nothing.
    fn decode(&mut self, lossy: bool) {
        const ROOM: usize = 16;
        let rest = &self.bytes[self.at..];
        // Three bytes of UTF-8 for a byte at the most.
        self.text.resize(rest.len() * REPLACEMENT.len() + ROOM, 0);
        let (result, n_read, n_written) =
            self.decoder.decode_to_utf8_without_replacement(rest, &mut self.text, self.ended);
        self.text.truncate(n_written);
        self.given = 0;
        self.at += n_read;
        self.offset += n_read as u64;
        self.line += memchr_iter(b'\n', &self.text).count() as u64;
        match result {
            DecoderResult::Malformed(..) if lossy => self.text.extend_from_slice(REPLACEMENT),
            DecoderResult::Malformed(n_bad, n_after) => {
                let name = self.decoder.encoding().name();
                let at = self.offset - u64::from(n_bad) - u64::from(n_after);
                self.failure = Some(
                    Error::new(ErrorKind::Document, format!("decoding {name}"))
                        .expected(format!("text in {name}"))
                        .found("bytes that mean nothing in it")
                        .at_offset(at)
                        .at_line(self.line)
                        .hint("--lossy replaces such bytes, --encoding names another encoding"),
                );
            }
            DecoderResult::InputEmpty | DecoderResult::OutputFull => {}
        }
    }
}

/// Name of the UTF-16 that the beginning of a text looks like: every other byte is zero and no other one is.
fn looks_like_utf_16(head: &[u8]) -> Option<&'static Encoding> {
    const CHARS_MIN: usize = 2;
    let pairs = || head.chunks_exact(2);
    let all = |which: usize| pairs().all(|pair| pair[which] == 0 && pair[1 - which] != 0);
    match pairs().len() >= CHARS_MIN {
        true if all(1) => Some(UTF_16LE),
        true if all(0) => Some(UTF_16BE),
        _ => None,
    }
}

/// Why there is no text.
#[derive(Debug)]
pub(crate) enum EncodingError {
    /// Error of the reader below.
    Below(io::Error),
    Encoding(Error),
}

impl From<io::Error> for EncodingError {
    fn from(error: io::Error) -> Self {
        EncodingError::Below(error)
    }
}

impl From<Error> for EncodingError {
    fn from(error: Error) -> Self {
        EncodingError::Encoding(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time.
    struct Slowly<'t>(&'t [u8]);

    impl Read for Slowly<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let n = into.len().min(3).min(self.0.len());
            into[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    fn decode(bytes: &[u8], asked: Option<&str>, lossy: bool) -> Result<Vec<u8>, String> {
        let asked = asked.map(|label| Encoding::for_label(label.as_bytes()).unwrap());
        let mut encoded = Encoded::new(Slowly(bytes), Encodings { asked, lossy });
        let (mut all, mut chunk) = (vec![], [0; 5]);
        loop {
            match encoded.read(&mut chunk) {
                Ok(0) => return Ok(all),
                Ok(n) => all.extend_from_slice(&chunk[..n]),
                Err(EncodingError::Encoding(error)) => return Err(error.to_string()),
                Err(EncodingError::Below(error)) => return Err(error.to_string()),
            }
        }
    }

    fn utf_16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn text_comes_out_as_utf_8() {
        let text = "a,ü\nПарис,東京\n𝄞\n";
        let marked = format!("\u{FEFF}{text}");
        for bytes in [
            utf_16(&marked, u16::to_le_bytes),
            utf_16(&marked, u16::to_be_bytes),
            text.as_bytes().to_vec(),
        ] {
            assert_eq!(decode(&bytes, None, false).unwrap(), text.as_bytes());
        }
        let le = utf_16(text, u16::to_le_bytes);
        assert_eq!(decode(&le, Some("utf-16le"), false).unwrap(), text.as_bytes());
        assert_eq!(decode(b"caf\xE9 \x80", Some("latin1"), false).unwrap(), "café €".as_bytes());
        // The mark is right.
        let marked = utf_16(&marked, u16::to_be_bytes);
        assert_eq!(decode(&marked, Some("latin1"), false).unwrap(), text.as_bytes());
        // Others say what is wrong with these.
        for plain in [&b""[..], b"a", b"\xEF\xBB\xBFa", b"a\xFF\0b", b"\0\0\0\0", b"one\0two\n\0"] {
            assert_eq!(decode(plain, None, false).unwrap(), plain);
        }
    }

    #[test]
    fn an_archive_is_no_text() {
        let mut tar = b"names.txt".to_vec();
        tar.resize(257, 0);
        tar.extend_from_slice(b"ustar\0");
        let message = decode(&tar, None, false).unwrap_err();
        assert!(message.contains("a tar archive") && message.contains("`tar -xOf`"), "{message}");
        let text = [&[b'x'; 256][..], b"\nustar is a format\n"].concat();
        assert_eq!(decode(&text, None, false).unwrap(), text);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (bytes, words) in [
            (
                utf_16("a,b\n", u16::to_le_bytes),
                "found what looks like UTF-16LE without one; --encoding utf-16le",
            ),
            (utf_16("a,b\n", u16::to_be_bytes), "found what looks like UTF-16BE without one"),
            (b"\xFF\xFE\0\0a\0\0\0".to_vec(), "UTF-32"),
            (
                b"\xFF\xFEa\0\n\0\0\xDCb\0".to_vec(),
                "bytes that mean nothing in it (at offset 6, line 2)",
            ),
            (b"\xFF\xFEa\0\n\0b".to_vec(), "bytes that mean nothing in it (at offset 6, line 2)"),
        ] {
            let message = decode(&bytes, None, false).unwrap_err();
            assert!(message.contains(words), "{message}");
        }
        let lossy = decode(b"\xFF\xFEa\0\n\0\0\xDCb\0", None, true).unwrap();
        assert_eq!(lossy, "a\n\u{FFFD}b".as_bytes());
        assert_eq!(decode(b"\xFF\xFEa\0b", None, true).unwrap(), "a\u{FFFD}".as_bytes());
    }
}
