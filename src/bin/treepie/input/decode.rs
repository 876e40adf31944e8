//! Compressed input, recognised by its first bytes and decoded by pure-Rust code. Formats are gzip with any number of
//! members, zstd with any number of frames, bzip2 with any number of streams, and LZ4 frames.
//!
//! This module finds out what none of these decoders tells by itself: whether the file ended in the middle.

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::sync::{Arc, Mutex, PoisonError};

use ruzstd::decoding::{
    BlockDecodingStrategy, FrameDecoder,
    errors::{FrameDecoderError, ReadFrameHeaderError},
};
use treepie::{Error, ErrorKind};

/// Compression of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Gzip,
    Zstd,
    Bzip2,
    Lz4,
}

impl Compression {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Compression::None => "plain",
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
            Compression::Bzip2 => "bzip2",
            Compression::Lz4 => "LZ4",
        }
    }

    /// By the first bytes of a file.
    fn recognise(head: &[u8]) -> Result<Self, Error> {
        let starts = |magic: &[u8]| head.starts_with(magic);
        let bzip2_follows = |magic: &[u8]| head.get(4..10) == Some(magic);
        if starts(&[0x1F, 0x8B]) {
            return Ok(Compression::Gzip);
        }
        let skippable =
            head.len() >= 4 && head[0] & 0xF0 == 0x50 && head[1..4] == [0x2A, 0x4D, 0x18];
        if starts(&[0x28, 0xB5, 0x2F, 0xFD]) || skippable {
            return Ok(Compression::Zstd);
        }
        // Text may begin with "BZh"; a block or the end of the stream must follow.
        if starts(b"BZh") && (bzip2_follows(b"1AY&SY") || bzip2_follows(b"\x17rE8P\x90")) {
            return Ok(Compression::Bzip2);
        }
        if starts(&[0x04, 0x22, 0x4D, 0x18]) {
            return Ok(Compression::Lz4);
        }
        refuse_foreign(head).map(|()| Compression::None)
    }
}

/// Refuses bytes that begin as something else than text does, also those that were decompressed.
pub(super) fn refuse_foreign(head: &[u8]) -> Result<(), Error> {
    let no_text = |found: &str| {
        Error::new(ErrorKind::Document, "reading the input")
            .expected("text, plain or compressed as gzip, zstd, bzip2 or LZ4 frames")
            .found(found)
    };
    // A name of a file with zeros behind it comes before the magic; text has neither.
    let is_tar = head.get(257..262) == Some(b"ustar") && head[..257].contains(&0);
    match FOREIGN.iter().find(|(magic, _)| head.starts_with(magic)) {
        Some((_, name)) => Err(no_text(name)),
        None if is_tar => Err(no_text("a tar archive").hint("`tar -xOf` prints the files in it")),
        None => Ok(()),
    }
}

/// Formats that people try to index and that are no text, by their first bytes: refused at once and by name.
const FOREIGN: &[(&[u8], &str)] = &[
    (b"\xFD7zXZ\0", "an xz file"),
    (b"PK\x03\x04", "a zip file"),
    (b"7z\xBC\xAF\x27\x1C", "a 7z file"),
    (b"LZIP", "an lzip file"),
    (b"\x1F\x9D", "a file of Unix compress"),
    (b"\x02\x21\x4C\x18", "the legacy format of LZ4"),
    (b"PAR1", "a Parquet file"),
    (b"%PDF-", "a PDF"),
    (b"\x7FELF", "an executable"),
    (b"SQLite format 3\0", "an SQLite database"),
];

/// The longest magic looked for.
const HEAD_BYTES: u64 = 16;
const BUFFER_BYTES: usize = 256 << 10;

/// Reads decoded bytes; its errors tell damage, a missing end and a failing disk apart.
pub(crate) struct Decoder<R: Read> {
    compression: Compression,
    codec: Codec<R>,
    state: SharedState,
}

enum Codec<R: Read> {
    None(Below<R>),
    Gzip(flate2::bufread::MultiGzDecoder<BufReader<Below<R>>>),
    Zstd(Box<ZstdFrames<BufReader<Below<R>>>>),
    Bzip2(bzip2::bufread::MultiBzDecoder<BufReader<Below<R>>>),
    Lz4(Lz4Frames<R>),
}

impl<R: Read> Decoder<R> {
    /// Looks at the first bytes and chooses.
    pub(crate) fn new(mut from: R) -> Result<Self, Error> {
        let mut head = vec![];
        (&mut from)
            .take(HEAD_BYTES)
            .read_to_end(&mut head)
            .map_err(|error| Error::io("reading the input", error))?;
        let compression = Compression::recognise(&head)?;
        let state = SharedState::default();
        let from = Below { from: Cursor::new(head).chain(from), state: state.clone() };
        let buffered = |from| BufReader::with_capacity(BUFFER_BYTES, from);
        let codec = match compression {
            Compression::None => Codec::None(from),
            Compression::Gzip => Codec::Gzip(flate2::bufread::MultiGzDecoder::new(buffered(from))),
            Compression::Zstd => Codec::Zstd(Box::new(ZstdFrames::new(buffered(from)))),
            Compression::Bzip2 => Codec::Bzip2(bzip2::bufread::MultiBzDecoder::new(buffered(from))),
            Compression::Lz4 => Codec::Lz4(Lz4Frames {
                frame: Some(lz4_flex::frame::FrameDecoder::new(buffered(from))),
                state: state.clone(),
            }),
        };
        Ok(Decoder { compression, codec, state })
    }

    pub(crate) fn compression(&self) -> Compression {
        self.compression
    }

    /// Works like [`Read::read`], with an error that says what is wrong with the input.
    pub(crate) fn read(&mut self, into: &mut [u8]) -> Result<usize, Error> {
        loop {
            let read = match &mut self.codec {
                Codec::None(from) => from.read(into),
                Codec::Gzip(from) => from.read(into),
                Codec::Zstd(from) => from.read(into),
                Codec::Bzip2(from) => from.read(into),
                Codec::Lz4(from) => from.read(into),
            };
            match read {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read.map_err(|error| self.explain(error)),
            }
        }
    }

    fn explain(&self, error: io::Error) -> Error {
        let name = self.compression.name();
        match self.state.take() {
            State::Failed(error) => Error::io("reading the input", error),
            _ if self.compression == Compression::None => Error::io("reading the input", error),
            State::Ended => Error::new(ErrorKind::Corrupt, format!("decompressing {name} data"))
                .expected("the end of the compressed data")
                .found("the end of the file")
                .hint("the file is cut short"),
            State::Flowing => Error::new(ErrorKind::Corrupt, format!("decompressing {name} data"))
                .expected(format!("valid {name}"))
                .found(error.to_string()),
        }
    }
}

/// All frames of an LZ4 file.
struct Lz4Frames<R: Read> {
    /// None after the last frame.
    frame: Option<lz4_flex::frame::FrameDecoder<BufReader<Below<R>>>>,
    state: SharedState,
}

impl<R: Read> Read for Lz4Frames<R> {
    /// The decoder takes a missing end for an end. A frame that ends well does so before its reader
    /// has met the end of the file, and only then may there be nothing more.
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while let (Some(frame), false) = (&mut self.frame, into.is_empty()) {
            let n = frame.read(into)?;
            if n > 0 {
                return Ok(n);
            }
            if self.state.has_ended() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            // A decoder used for a second frame keeps the buffers of the first, which may be too small.
            if let Some(mut from) = self.frame.take().map(|frame| frame.into_inner())
                && !from.fill_buf()?.is_empty()
            {
                self.frame = Some(lz4_flex::frame::FrameDecoder::new(from));
            }
        }
        Ok(0)
    }
}

/// State of the compressed bytes, for the message when decoding fails.
#[derive(Debug, Default)]
enum State {
    #[default]
    Flowing,
    Ended,
    Failed(io::Error),
}

#[derive(Clone, Debug, Default)]
struct SharedState(Arc<Mutex<State>>);

impl SharedState {
    fn set(&self, state: State) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }

    fn take(&self) -> State {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn has_ended(&self) -> bool {
        matches!(*self.0.lock().unwrap_or_else(PoisonError::into_inner), State::Ended)
    }
}

/// The compressed bytes, remembering whether they have ended or failed.
struct Below<R> {
    from: io::Chain<Cursor<Vec<u8>>, R>,
    state: SharedState,
}

impl<R: Read> Read for Below<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.from.read(into) {
            Ok(0) if !into.is_empty() => {
                self.state.set(State::Ended);
                Ok(0)
            }
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                // Decoders wrap errors beyond recognition: the real one is kept beside.
                let kind = error.kind();
                self.state.set(State::Failed(error));
                Err(kind.into())
            }
            read => read,
        }
    }
}

/// All frames of a zstd file, skippable ones left out, checksums compared.
struct ZstdFrames<R> {
    from: R,
    decoder: FrameDecoder,
    in_frame: bool,
}

impl<R: BufRead> ZstdFrames<R> {
    fn new(from: R) -> Self {
        ZstdFrames { from, decoder: FrameDecoder::new(), in_frame: false }
    }

    /// Goes to the next frame; false at the end of the file.
    fn start_frame(&mut self) -> io::Result<bool> {
        loop {
            if self.from.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.decoder.reset(&mut self.from) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    if io::copy(&mut (&mut self.from).take(length), &mut io::sink())? < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
    }

    fn end_frame(&mut self) -> io::Result<()> {
        self.in_frame = false;
        match (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum()) {
            (Some(written), Some(computed)) if written != computed => Err(io::Error::other(
                format!("the checksum {computed:#010x}, where {written:#010x} is written"),
            )),
            _ => Ok(()),
        }
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.in_frame {
                self.in_frame = self.start_frame()?;
                if !self.in_frame {
                    return Ok(0);
                }
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.from, one).map_err(io::Error::other)?;
            }
            match self.decoder.read(into)? {
                0 => self.end_frame()?,
                n => return Ok(n),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn decode(bytes: &[u8]) -> Result<Vec<u8>, Error> {
        let mut decoder = Decoder::new(bytes)?;
        let mut all = vec![];
        let mut chunk = [0; 7_000];
        loop {
            match decoder.read(&mut chunk)? {
                0 => return Ok(all),
                n => all.extend_from_slice(&chunk[..n]),
            }
        }
    }

    /// Text that compresses to several blocks.
    fn sample() -> Vec<u8> {
        (0..60_000_u32)
            .flat_map(|n| n.wrapping_mul(2_654_435_761).to_string().into_bytes())
            .collect()
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut to = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
        to.write_all(text).unwrap();
        to.finish().unwrap()
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
    }

    fn bzip2(text: &[u8]) -> Vec<u8> {
        let mut to = bzip2::write::BzEncoder::new(vec![], bzip2::Compression::fast());
        to.write_all(text).unwrap();
        to.finish().unwrap()
    }

    fn lz4(text: &[u8]) -> Vec<u8> {
        let info = lz4_flex::frame::FrameInfo::new().content_checksum(true);
        let mut to = lz4_flex::frame::FrameEncoder::with_frame_info(info, vec![]);
        to.write_all(text).unwrap();
        to.finish().unwrap()
    }

    type Encoder = fn(&[u8]) -> Vec<u8>;
    const ALL: [(Compression, Encoder); 4] = [
        (Compression::Gzip, gzip),
        (Compression::Zstd, zstd),
        (Compression::Bzip2, bzip2),
        (Compression::Lz4, lz4),
    ];

    #[test]
    fn every_compression_is_seen_by_content_and_decoded() {
        let text = sample();
        for (compression, encode) in ALL {
            let bytes = encode(&text);
            assert_eq!(Decoder::new(&*bytes).unwrap().compression(), compression);
            assert!(decode(&bytes).unwrap() == text, "{compression:?}");
            assert!(decode(&encode(b"")).unwrap().is_empty(), "{compression:?}");
        }
        assert!(decode(&text).unwrap() == text);
        assert_eq!(decode(b"").unwrap(), b"");
        assert_eq!(decode(b"BZhang").unwrap(), b"BZhang");
    }

    #[test]
    fn members_frames_and_streams_follow_one_another() {
        for (compression, encode) in ALL {
            let bytes =
                [encode(b"one\n"), encode(b""), encode(&sample()), encode(b"end\n")].concat();
            let text = [b"one\n", &sample()[..], b"end\n"].concat();
            assert!(decode(&bytes).unwrap() == text, "{compression:?}");
        }
        let skippable = [0x5A, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3];
        let bytes = [&skippable[..], &zstd(b"a"), &skippable, &zstd(b"b"), &skippable].concat();
        assert_eq!(decode(&bytes).unwrap(), b"ab");
        assert!(decode(&bytes[..bytes.len() - 1]).is_err());
    }

    #[test]
    fn a_file_cut_at_any_length_is_an_error_that_says_so() {
        let text: Vec<u8> = sample()[..3_000].to_vec();
        for (compression, encode) in ALL {
            let one = encode(&text);
            let bytes = [one.clone(), encode(&text)].concat();
            // Shorter than the magic it is taken for text.
            for len in 10..bytes.len() {
                if len == one.len() {
                    continue;
                }
                let error = decode(&bytes[..len]).expect_err(&format!("{compression:?} {len}"));
                let message = error.to_string();
                assert!(message.contains("cut short"), "{compression:?} {len}: {message}");
                assert_eq!(error.kind(), ErrorKind::Corrupt);
            }
        }
    }

    #[test]
    fn a_changed_byte_never_passes_for_other_text() {
        let text: Vec<u8> = sample()[..2_000].to_vec();
        for (compression, encode) in ALL {
            // The pure-Rust zstd encoder and LZ4's header have bytes no checksum covers; what must
            // hold for all is that nothing panics and, with a checksum, that no wrong text comes.
            let bytes = encode(&text);
            for at in 0..bytes.len() {
                let mut changed = bytes.clone();
                changed[at] ^= 0x55;
                if let Ok(decoded) = decode(&changed)
                    && matches!(compression, Compression::Gzip | Compression::Bzip2)
                {
                    assert!(decoded == text || at < 10, "{compression:?} at {at}");
                }
            }
        }
    }

    #[test]
    fn what_is_no_text_is_named() {
        for (bytes, name) in
            [(&b"PK\x03\x04rest"[..], "a zip file"), (b"\xFD7zXZ\0\0\0", "an xz file")]
        {
            let error = decode(bytes).unwrap_err();
            assert!(error.to_string().contains(name), "{error}");
        }
    }

    #[test]
    fn a_failing_disk_is_not_taken_for_damage() {
        struct Failing(Cursor<Vec<u8>>);
        impl Read for Failing {
            fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
                match self.0.read(into)? {
                    0 => Err(io::ErrorKind::PermissionDenied.into()),
                    n => Ok(n),
                }
            }
        }
        for (compression, encode) in ALL {
            let mut bytes = encode(&sample());
            bytes.truncate(bytes.len() / 2);
            let mut decoder = Decoder::new(Failing(Cursor::new(bytes))).unwrap();
            let mut chunk = [0; 7_000];
            let error = loop {
                match decoder.read(&mut chunk) {
                    Ok(n) => assert!(n > 0),
                    Err(error) => break error,
                }
            };
            assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{compression:?}: {error}");
        }
    }
}
