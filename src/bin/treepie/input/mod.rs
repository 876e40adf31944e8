//! Inputs of an index: files or standard input, as lines, JSON, CSV or TSV. They may be compressed, and in UTF-8 or
//! another encoding.
//!
//! Bytes are decoded on a thread of their own, a bounded distance ahead of whoever parses them.

pub(crate) mod csv;
pub(crate) mod decode;
pub(crate) mod encoding;
pub(crate) mod format;
pub(crate) mod infer;
pub(crate) mod json;
pub(crate) mod kept;
pub(crate) mod null_words;
mod numbers;
pub(crate) mod objects;
pub(crate) mod options;
pub(crate) mod points;
pub(crate) mod records;
pub(crate) mod remarks;
mod rows;
mod scan;
pub(crate) mod schema_file;
pub(crate) mod settings;
mod settings_file;
pub(crate) mod vector_files;
pub(crate) mod vectors;

use std::{
    fs::{self, File},
    io::{self, Cursor, IsTerminal, Read},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, sync_channel},
    },
    thread,
};

use memchr::memchr;
use treepie::{Document, Error, ErrorKind};

use crate::{
    failure::{note, unread, usage, warn},
    output::{grouped, plural},
    progress::{Counters, CountingReader},
    terminal,
};
use decode::{Compression, Decoder};
use encoding::{Encoded, EncodingError, Encodings};

/// The longest line, or record, that JSON Lines, CSV and TSV may have.
pub(crate) const RECORD_BYTES_MAX: usize = 16 << 20;

/// U+FEFF in UTF-8, which some programs begin texts with.
const BYTE_ORDER_MARK: &[u8] = "\u{FEFF}".as_bytes();

/// One record of an input.
#[derive(Debug)]
pub(crate) enum Record {
    Document {
        line: u64,
        document: Document,
    },
    /// It does not fit; the next one may.
    Bad(Error),
}

/// An input that is there and can be read, so far as that is known before reading it.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// A path, or `-`.
    typed: PathBuf,
    /// Bytes on disk; a pipe has none that are known.
    pub(crate) n_bytes: Option<u64>,
}

impl Source {
    /// Looks at what was typed, so that a missing file stops a build before it starts.
    pub(crate) fn find(typed: &Path) -> Result<Self, Error> {
        let typed = typed.to_owned();
        if typed.as_os_str() == "-" {
            return Ok(Source { typed, n_bytes: None });
        }
        let metadata = fs::metadata(&typed).map_err(unread("opening the input", &typed))?;
        if metadata.is_dir() {
            return Err(usage("opening the input")
                .expected("a file, or - for standard input")
                .found("a directory")
                .in_file(typed));
        }
        let n_bytes = metadata.is_file().then_some(metadata.len());
        Ok(Source { typed, n_bytes })
    }

    /// The sources that were typed; standard input at most once, and alone if nothing was.
    pub(crate) fn find_all(typed: &[PathBuf]) -> Result<Vec<Self>, Error> {
        if typed.is_empty() && io::stdin().is_terminal() {
            return Err(usage("nothing to index").hint("name a file, or - for standard input"));
        }
        let standard_input = [PathBuf::from("-")];
        let typed = if typed.is_empty() { &standard_input[..] } else { typed };
        if typed.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
            return Err(usage("standard input is named twice"));
        }
        typed.iter().map(|path| Source::find(path)).collect()
    }

    /// Bytes on disk of all of them, if they are known of each.
    pub(crate) fn n_bytes_of(sources: &[Source]) -> Option<u64> {
        sources.iter().map(|source| source.n_bytes).sum()
    }

    /// The name in messages.
    pub(crate) fn name(&self) -> PathBuf {
        match self.typed.as_os_str() == "-" {
            true => "standard input".into(),
            false => self.typed.clone(),
        }
    }
}

/// An opened input: decoded text that can be looked at before it is read.
pub(crate) struct Input {
    pub(crate) name: PathBuf,
    head: Vec<u8>,
    head_is_all: bool,
    rest: Box<dyn Read + Send>,
    failure: FailureSlot,
    /// Recognised format, once somebody has looked.
    pub(crate) recognised: Option<format::Recognised>,
}

impl Input {
    /// Opens a source and starts decoding it.
    pub(crate) fn open(
        source: &Source,
        encodings: Encodings,
        counters: &Counters,
    ) -> Result<Self, Error> {
        let name = source.name();
        let from: Box<dyn Read + Send> = match source.typed.as_os_str() == "-" {
            true => Box::new(io::stdin()),
            false => {
                Box::new(File::open(&source.typed).map_err(unread("opening the input", &name))?)
            }
        };
        Self::of(name, CountingReader::new(from, &counters.read), encodings, counters)
    }

    /// An input over any reader; `name` stands in messages.
    fn of(
        name: PathBuf,
        from: impl Read + Send + 'static,
        encodings: Encodings,
        counters: &Counters,
    ) -> Result<Self, Error> {
        let decoder = Decoder::new(from).map_err(|error| error.in_file(&name))?;
        let compression = decoder.compression();
        let failure = FailureSlot::default();
        let decoded = Decoded { decoder, name: name.clone(), failure: failure.clone() };
        let decoded = Text {
            encoded: Encoded::new(decoded, encodings),
            name: name.clone(),
            failure: failure.clone(),
        };
        let rest: Box<dyn Read + Send> = match compression {
            // The kernel reads plain files ahead by itself.
            Compression::None => Box::new(CountingReader::new(decoded, &counters.text)),
            _ => Box::new(CountingReader::new(ReadAhead::spawn(decoded), &counters.text)),
        };
        Ok(Input { name, head: vec![], head_is_all: false, rest, failure, recognised: None })
    }

    /// The first `n` bytes of text, fewer if there are no more.
    pub(crate) fn peek(&mut self, n: usize) -> Result<&[u8], Error> {
        let missing = n.saturating_sub(self.head.len());
        if missing > 0 && !self.head_is_all {
            let read = (&mut self.rest).take(missing as u64).read_to_end(&mut self.head);
            let read =
                read.map_err(|error| self.failure.or(Error::io("reading the input", error)))?;
            self.head_is_all = read < missing;
        }
        Ok(&self.head[..n.min(self.head.len())])
    }

    /// Whether there is nothing but a byte order mark.
    pub(crate) fn is_empty(&mut self) -> Result<bool, Error> {
        let begin = self.peek(BYTE_ORDER_MARK.len() + 1)?;
        Ok(begin.is_empty() || begin == BYTE_ORDER_MARK)
    }

    /// Leaves a byte order mark out of the text, for formats whose readers do not; how many bytes that are.
    pub(crate) fn pass_mark(&mut self) -> Result<u64, Error> {
        let begin = self.peek(BYTE_ORDER_MARK.len())?;
        if begin != BYTE_ORDER_MARK {
            return Ok(0);
        }
        self.head.drain(..BYTE_ORDER_MARK.len());
        Ok(BYTE_ORDER_MARK.len() as u64)
    }

    /// All that was looked at.
    pub(crate) fn peeked(&self) -> &[u8] {
        &self.head
    }

    /// Whether [`peek`](Self::peek) has seen everything.
    pub(crate) fn peeked_at_all(&self) -> bool {
        self.head_is_all
    }

    /// All of the text from its beginning, and where an error met while reading it is kept.
    pub(crate) fn into_reader(self) -> (impl Read + Send + 'static, FailureSlot) {
        let has = |byte| memchr(byte, &self.head).is_some();
        let bare_returns = has(b'\r') && !has(b'\n');
        let from = Cursor::new(self.head).chain(self.rest);
        (LineEnds { from, bare_returns }, self.failure)
    }
}

/// Text whose lines end in `\n`, also where its beginning has nothing but `\r`, as old files have.
struct LineEnds<R> {
    from: R,
    bare_returns: bool,
}

impl<R: Read> Read for LineEnds<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(into)?;
        if self.bare_returns {
            into[..n].iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
        }
        Ok(n)
    }
}

/// Carries an error with its file and kind past interfaces that know `io::Error` only.
#[derive(Clone, Debug, Default)]
pub(crate) struct FailureSlot(Arc<Mutex<Option<Error>>>);

impl FailureSlot {
    fn keep(&self, error: Error) -> io::Error {
        let text = error.to_string();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        io::Error::other(text)
    }

    /// The error that was kept, which is the cause of `error`; else `error` itself.
    pub(crate) fn or(&self, error: Error) -> Error {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or(error)
    }
}

/// Decoded bytes whose errors name the input.
struct Decoded<R: Read> {
    decoder: Decoder<R>,
    name: PathBuf,
    failure: FailureSlot,
}

impl<R: Read + Send> Read for Decoded<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.decoder.read(into).map_err(|error| self.failure.keep(error.in_file(&self.name)))
    }
}

/// Text in UTF-8, whose errors name the input.
struct Text<R> {
    encoded: Encoded<R>,
    name: PathBuf,
    failure: FailureSlot,
}

impl<R: Read> Read for Text<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.encoded.read(into).map_err(|error| match error {
            EncodingError::Below(error) => error,
            EncodingError::Encoding(error) => self.failure.keep(error.in_file(&self.name)),
        })
    }
}

/// Reads on a thread of its own, at most [`CHUNKS_AHEAD`] chunks before its consumer.
struct ReadAhead {
    chunks: Receiver<io::Result<Vec<u8>>>,
    current: Cursor<Vec<u8>>,
    is_over: bool,
}

const CHUNK_BYTES: usize = 512 << 10;
const CHUNKS_AHEAD: usize = 4;

impl ReadAhead {
    fn spawn(mut from: impl Read + Send + 'static) -> Self {
        let (send, chunks) = sync_channel(CHUNKS_AHEAD);
        thread::spawn(move || {
            loop {
                let mut chunk = Vec::with_capacity(CHUNK_BYTES);
                let read = (&mut from).take(CHUNK_BYTES as u64).read_to_end(&mut chunk);
                let is_all = read.is_ok() && chunk.is_empty();
                // An empty one says that this is all, which one that fails or panics does not say. Chunks before an
                // error are still to be read; nobody listening is an end too.
                let sent = (chunk.is_empty() && !is_all) || send.send(Ok(chunk)).is_ok();
                if let Err(error) = read {
                    let _ = send.send(Err(error));
                    return;
                }
                if is_all || !sent {
                    return;
                }
            }
        });
        ReadAhead { chunks, current: Cursor::default(), is_over: false }
    }
}

impl Read for ReadAhead {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let n = self.current.read(into)?;
            if n > 0 || into.is_empty() {
                return Ok(n);
            }
            if self.is_over {
                return Ok(0);
            }
            let chunk = self.chunks.recv();
            let chunk =
                chunk.map_err(|_| io::Error::other("the thread that reads has panicked"))??;
            self.is_over = chunk.is_empty();
            self.current = Cursor::new(chunk);
        }
    }
}

/// Bad records: the first one stops the build, or all of them are counted and the first ten shown.
#[derive(Debug)]
pub(crate) struct BadRecords {
    skip: bool,
    is_inferred: bool,
    n_skipped: u64,
    shown: Vec<String>,
}

/// Bad records shown in full.
const SHOWN_MAX: usize = 10;

/// Settings that may read a value which does not fit its field, before a semicolon.
fn hint_of_writing(message: &str) -> &'static str {
    let is_of = |kind: &str| message.contains(&format!("indexing a value of the {kind} field"));
    if is_of("date") {
        "`date_format` in the schema file reads dates that are written otherwise, and --null-words WORD passes over words; "
    } else if ["decimal", "f64", "i64", "u64"].into_iter().any(is_of) {
        "`thousands_comma` (1,234.50), `decimal_comma` (1.234,50) or `unit` ($5, 5 kg) in the schema file reads numbers that \
         are written so, and --null-words WORD passes over words; "
    } else {
        ""
    }
}

impl BadRecords {
    /// Whether they are left out; if they are not, whether a schema that was inferred may be why they do not fit.
    pub(crate) fn new(skip: bool, is_inferred: bool) -> Self {
        BadRecords { skip, is_inferred, n_skipped: 0, shown: vec![] }
    }

    /// A record that does not fit.
    pub(crate) fn meet(&mut self, error: Error) -> Result<(), Error> {
        if !self.skip {
            let as_written = hint_of_writing(&error.to_string());
            return Err(error.hint(match self.is_inferred {
                true => format!(
                    "{as_written}--skip-bad-lines leaves such lines out; `treepie schema infer` prints what was inferred, \
                     to change it and to give it with --schema"
                ),
                false => format!("{as_written}--skip-bad-lines leaves such lines out"),
            }));
        }
        self.n_skipped += 1;
        if self.shown.len() < SHOWN_MAX {
            self.shown.push(error.to_string());
        }
        Ok(())
    }

    /// Adds the lines of one input that the library left out.
    pub(crate) fn add(&mut self, n_skipped: u64, first: Vec<Error>, name: &Path) {
        self.n_skipped += n_skipped;
        let room = SHOWN_MAX - self.shown.len();
        let first = first.into_iter().take(room);
        self.shown.extend(first.map(|error| error.in_file(name).to_string()));
    }

    /// Says on standard error what was left out, if anything was; also with `--quiet`, for it is loss.
    pub(crate) fn print(&self) {
        if self.n_skipped == 0 {
            return;
        }
        let n_skipped = usize::try_from(self.n_skipped).unwrap_or(usize::MAX);
        warn(format!("{} left out", plural(n_skipped, "bad line")));
        for message in &self.shown {
            note(format!("  {}", terminal::printable(message)));
        }
        let more = self.n_skipped - self.shown.len() as u64;
        if more > 0 {
            note(format!("  and {} more", grouped(more)));
        }
    }
}

/// The error about a record that is not what it should be.
pub(crate) fn bad(what: impl Into<String>, line: u64) -> Error {
    Error::new(ErrorKind::Document, what).at_line(line)
}

/// Text from bytes: valid, or made valid if that was asked for.
pub(crate) fn text(bytes: &[u8], lossy: bool, line: u64, offset: u64) -> Result<String, Error> {
    match simdutf8::compat::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(_) if lossy => Ok(String::from_utf8_lossy(bytes).into_owned()),
        Err(error) => {
            let at = error.valid_up_to();
            let found = bytes.get(at).map_or(String::new(), |byte| {
                format!("the byte 0x{byte:02X}, which another encoding may mean (--encoding) and --lossy replaces")
            });
            Err(bad("reading a line", line)
                .expected("UTF-8")
                .found(found)
                .at_offset(offset + at as u64))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn read_all(bytes: Vec<u8>) -> Result<Vec<u8>, Error> {
        let input =
            Input::of("x".into(), Cursor::new(bytes), Encodings::default(), &Counters::default())?;
        let (mut reader, failure) = input.into_reader();
        let mut text = vec![];
        reader.read_to_end(&mut text).map_err(|e| failure.or(Error::io("test", e)))?;
        Ok(text)
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut to = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
        to.write_all(text).unwrap();
        to.finish().unwrap()
    }

    /// Gives some bytes, then fails.
    struct Failing(usize);

    impl Read for Failing {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let n = self.0.min(into.len());
            self.0 -= n;
            if n > 0 { Ok(n) } else { Err(io::Error::other("a disk that fails")) }
        }
    }

    #[test]
    fn what_fails_is_no_end_wherever_it_does() {
        for n in [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES] {
            let (mut text, mut reader) = (vec![], ReadAhead::spawn(Failing(n)));
            let error = reader.read_to_end(&mut text).unwrap_err();
            assert_eq!((text.len(), error.to_string()), (n, "a disk that fails".into()));
            let mut whole = ReadAhead::spawn(Cursor::new(vec![7; n]));
            let mut text = vec![];
            assert_eq!(whole.read_to_end(&mut text).unwrap(), n);
            assert_eq!(whole.read(&mut [0]).unwrap(), 0, "the end stays");
        }
    }

    #[test]
    fn a_thread_that_panics_is_no_end() {
        struct Panicking;
        impl Read for Panicking {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                panic!("a decoder that panics")
            }
        }
        let error = ReadAhead::spawn(Panicking).read(&mut [0]).unwrap_err();
        assert!(error.to_string().contains("has panicked"), "{error}");
    }

    #[test]
    fn peeking_takes_nothing_away() {
        let text: Vec<u8> = (0..3_000_000_u32).flat_map(u32::to_le_bytes).collect();
        let mut input = Input::of(
            "x".into(),
            Cursor::new(gzip(&text)),
            Encodings::default(),
            &Counters::default(),
        )
        .unwrap();
        assert_eq!(input.peek(10).unwrap(), &text[..10]);
        assert_eq!(input.peek(1_000_000).unwrap(), &text[..1_000_000]);
        assert!(!input.peeked_at_all());
        assert_eq!(input.peek(10).unwrap(), &text[..10]);
        let mut all = vec![];
        input.into_reader().0.read_to_end(&mut all).unwrap();
        assert!(all == text);
    }

    #[test]
    fn an_error_keeps_its_kind_and_file_through_the_thread() {
        let mut bytes = gzip(&vec![b'x'; 5_000_000]);
        bytes.truncate(bytes.len() - 5);
        let error = read_all(bytes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert_eq!(error.file(), Some(Path::new("x")));
        assert!(error.to_string().contains("gzip"), "{error}");
    }

    #[test]
    fn a_consumer_that_leaves_does_not_hang_the_thread() {
        let mut input = Input::of(
            "x".into(),
            Cursor::new(gzip(&vec![b'x'; 20_000_000])),
            Encodings::default(),
            &Counters::default(),
        )
        .unwrap();
        assert_eq!(input.peek(1).unwrap(), b"x");
    }

    #[test]
    fn bad_records_stop_or_are_counted() {
        assert!(BadRecords::new(false, false).meet(bad("x", 1)).is_err());
        let mut bad_records = BadRecords::new(true, true);
        (0..12).for_each(|line| bad_records.meet(bad("x", line)).unwrap());
        assert_eq!((bad_records.n_skipped, bad_records.shown.len()), (12, 10));
    }
}
