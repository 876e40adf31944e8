//! `treepie index INDEX [INPUT...]`: build or extend an index.
//!
//! ```text
//! Args ── Job::understand ─▶ Job ── schema ─▶ Index ─▶ IndexWriter ◀── lines | documents ── Input
//! ```

mod formats;
mod parser;

use std::{
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::{Arc, mpsc::sync_channel},
    thread,
    time::Instant,
};

use treepie::writer::{BadLines, CommitInfo, LineFormat};
use treepie::{Error, ErrorKind, FieldKind, Index, IndexWriter, Schema, WriterOptions};

use self::{
    formats::Formats,
    parser::{BATCHES_AHEAD, Parser},
};
use super::{ResourceArgs, WaitArg};
use crate::{
    args::Global,
    events::EventsArg,
    failure::{Exit, Outcome, note, usage, warn},
    input::{
        BadRecords, Input, Record, Source,
        encoding::Encodings,
        format::InputFormat,
        kept::Kept,
        null_words::{NullFilter, NullWords, NullsFound},
        options::ReadingArgs,
        remarks::Remarks,
        schema_file,
        settings::{InputSettings, Preset},
        vector_files::{VectorFile, VectorFiles},
    },
    output::{Color, Output, bytes, duration, grouped, plural},
    progress::{Counters, ProgressLine},
    terminal,
    vacated::Vacated,
};

/// Build an index, or add to one.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "More: `treepie index --help`, `treepie help schema`.",
    after_long_help = "Examples:
  treepie index titles.tp enwiki-latest-all-titles-in-ns0.gz --preset wikipedia-titles
  treepie index shop.tp products.jsonl --schema schema.toml
  treepie index shop.tp products.jsonl --order-by price,-since
  treepie index shop.tp more.csv.zst --append
  zcat titles.gz | treepie index titles.tp - --preset wikipedia-titles --overwrite
  treepie index shop.tp more.jsonl --append --events shop.tp.events.jsonl

gzip, zstd, bzip2 and LZ4 are seen by content, and UTF-16 by its byte order mark. What else an input
is, its name says (.csv, .tsv, .json, .jsonl; .txt and .md have lines of text), or the fields of the
schema or index in its first line, or its content; where that leaves a doubt, --input-format is
needed. Without --preset and --schema plain text becomes the field `text`, and the schema of JSON,
CSV and TSV is inferred from the first documents and printed. JSON is objects: one a line, over
several lines, or in a list. CSV and TSV need a header; several columns of one name are several
values of that field. A schema file also says how inputs are read: `from`, `date_format`,
`decimal_comma`, `thousands_comma`, `unit` and `split` of fields, `delimiter`, `encoding`, `trim`
and `ignore_unknown` under [input]. The index remembers that, as it does --preset, --delimiter,
--encoding, --ignore-unknown and --null-words: what --append adds is read in the same way. Such an
option beside --append, or a schema file in place of all, says otherwise for that run; `treepie
inspect INDEX schema` prints what is remembered.
Nothing is visible before everything is durable: a build that is interrupted leaves what was there."
)]
pub(crate) struct Args {
    /// The index, a directory.
    index: PathBuf,
    /// Files, or - for standard input, which is also read if no file is named.
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// Read an input that is well known.
    #[arg(help_heading = "Input")]
    #[arg(long, value_enum, conflicts_with_all = ["schema", "input_format", "delimiter"])]
    preset: Option<Preset>,
    /// Read the schema from FILE (TOML).
    ///
    /// It has fields, and how inputs are read. With --append, the fields must be those of the index, and inputs are
    /// read as the file says and not as the index remembers.
    #[arg(help_heading = "Input")]
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// Order documents within segments by fields.
    ///
    /// Whatever the schema says. By fields of one value with a column, and - before those whose greatest value comes
    /// first. Smaller and faster where most is asked about the first of them.
    #[arg(help_heading = "Index")]
    #[arg(
        long,
        value_name = "FIELD,…",
        value_delimiter = ',',
        allow_hyphen_values = true,
        conflicts_with = "append"
    )]
    order_by: Option<Vec<String>>,
    /// Order documents of large segments by similarity.
    ///
    /// Whatever the schema says: those of like words stand near each other, by all fields of text or these. Smaller and faster, and slower to
    /// build.
    #[arg(help_heading = "Index", hide_short_help = true)]
    #[arg(
        long,
        value_name = "FIELD,…",
        value_delimiter = ',',
        num_args = 0..,
        require_equals = true,
        conflicts_with_all = ["append", "order_by"]
    )]
    order_by_similarity: Option<Vec<String>>,
    #[command(flatten)]
    reading: ReadingArgs,
    /// Take the vectors of a field from a file, a row a document.
    ///
    /// A .npy file of numbers of 16, 32 or 64 bits as NumPy saves them, or .fvecs. Rows are in the order of the documents of all
    /// inputs, as many as there are of these.
    #[arg(help_heading = "Input", hide_short_help = true)]
    #[arg(long, value_name = "FIELD=FILE")]
    vectors: Vec<VectorFile>,
    /// Add to an index that exists.
    #[arg(help_heading = "Index")]
    #[arg(long, conflicts_with = "overwrite")]
    append: bool,
    /// Replace an index that exists.
    ///
    /// Readers see the old one until the new one is whole.
    #[arg(help_heading = "Index")]
    #[arg(long)]
    overwrite: bool,
    #[command(flatten)]
    resources: ResourceArgs,
    /// Words that mean no value, instead of NA, NULL and the like.
    ///
    /// That is in fields of numbers, dates, booleans and addresses, for those of the schema or index or the usual
    /// ones: NA, N/A, NULL, NaN, \N and - in whatever case, and empty texts. An empty word for none.
    #[arg(help_heading = "Input")]
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true, value_name = "WORD,…")]
    null_words: Option<Vec<String>>,
    /// Leave out bad lines and documents, and count them.
    ///
    /// Bad lines have values that their fields cannot have; the first ten are shown.
    #[arg(help_heading = "Input")]
    #[arg(long)]
    skip_bad_lines: bool,
    /// Replace bytes that are not UTF-8 by U+FFFD.
    #[arg(help_heading = "Input", hide_short_help = true)]
    #[arg(long)]
    lossy: bool,
    #[command(flatten)]
    wait: WaitArg,
    #[command(flatten)]
    events: EventsArg,
}

/// The order that documents of segments shall lie in.
enum DocumentOrder {
    Fields(Vec<String>),
    Similarity(Vec<String>),
}

impl DocumentOrder {
    fn asked_for(fields: Option<Vec<String>>, similarity: Option<Vec<String>>) -> Option<Self> {
        similarity.map(Self::Similarity).or_else(|| fields.map(Self::Fields))
    }

    fn of(&self, schema: &Schema) -> Result<Schema, Error> {
        match self {
            Self::Fields(fields) => schema.ordered_by(fields),
            Self::Similarity(fields) => schema.ordered_by_similarity(fields),
        }
    }
}

/// Work that the arguments ask for.
struct Job {
    path: PathBuf,
    sources: Vec<Source>,
    preset: Option<Preset>,
    schema: Option<Schema>,
    order: Option<DocumentOrder>,
    reading: ReadingArgs,
    settings: InputSettings,
    mode: Mode,
    resources: ResourceArgs,
    null_words: NullWords,
    typed_null_words: Option<Vec<String>>,
    remembered: Remembered,
    vectors: Vec<VectorFile>,
    nulls: NullsFound,
    remarks: Remarks,
    skip_bad_lines: bool,
    lossy: bool,
    wait: WaitArg,
    quiet: bool,
    color: Color,
}

/// Settings of inputs that the index remembers which is added to.
#[derive(Default)]
struct Remembered {
    /// The payload that says it, where it counts.
    payload: Option<Vec<u8>>,
    /// A sentence on what of it counts.
    described: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Create,
    Append,
    Overwrite,
}

impl Job {
    fn understand(args: Args, global: Global) -> Result<Self, Error> {
        let (schema, settings) = match (&args.schema, args.preset) {
            (Some(path), _) => {
                let (schema, settings) = schema_file::read(path)?;
                (Some(schema), settings)
            }
            (None, Some(preset)) => (Some(preset.schema()?), InputSettings::of_preset(preset)),
            (None, None) => (None, InputSettings::default()),
        };
        let null_words = match &args.schema {
            Some(path) => NullWords::read(path)?,
            None => NullWords::default(),
        };
        let order = DocumentOrder::asked_for(args.order_by, args.order_by_similarity);
        Ok(Job {
            path: args.index,
            null_words: null_words.typed(args.null_words.as_deref()),
            typed_null_words: args.null_words,
            remembered: Remembered::default(),
            vectors: args.vectors,
            nulls: NullsFound::default(),
            remarks: Remarks::default(),
            sources: Source::find_all(&args.inputs)?,
            preset: args.preset,
            schema: match (schema, &order) {
                (Some(schema), Some(order)) => Some(order.of(&schema)?),
                (schema, _) => schema,
            },
            order,
            settings: args.reading.settings(settings)?,
            reading: args.reading,
            mode: match (args.append, args.overwrite) {
                (true, _) => Mode::Append,
                (_, true) => Mode::Overwrite,
                _ => Mode::Create,
            },
            resources: args.resources,
            skip_bad_lines: args.skip_bad_lines,
            lossy: args.lossy,
            wait: args.wait,
            quiet: global.quiet,
            color: global.color,
        })
    }
}

/// An index is not replaced by nothing: whoever makes the input has failed, mostly.
fn without_documents(index: &Path) -> Error {
    let replaces = matches!(Index::check_vacant(index), Err(error) if error.kind() == ErrorKind::AlreadyExists);
    let (what, hint) = match replaces {
        true => ("overwriting an index", "`treepie delete INDEX '*'` empties an index"),
        false => (
            "building an index",
            "without --overwrite, --schema or --preset makes an index without documents",
        ),
    };
    Error::new(ErrorKind::Usage, what).expected("documents").found("nothing").hint(hint)
}

/// An error whose offset counts the bytes that were passed over before the first line, too.
fn behind(error: Error, n_bytes: u64) -> Error {
    match error.offset() {
        Some(offset) => error.at_offset(offset + n_bytes),
        None => error,
    }
}

fn nothing_in(input: &Input) {
    warn(format!("nothing in {}", input.name.display()));
}

pub(crate) fn run(args: Args, global: Global) -> Outcome {
    let events = args.events.clone();
    let mut job = Job::understand(args, global)?;
    job.check_place()?;
    job.remember()?;
    let start = Instant::now();
    let counters = Counters::default();
    let progress = ProgressLine::start(job.quiet, Source::n_bytes_of(&job.sources), &counters);
    let encodings = Encodings { asked: job.settings.encoding, lossy: job.lossy };
    let mut inputs = job.sources.iter().map(|source| Input::open(source, encodings, &counters));
    let mut first = job.first_of(&mut inputs)?;
    let events = events.begin("index", &job.path)?;
    let options = events.listen(Index::options());
    let mut to_remember = vec![];
    let mut vectors;
    let mut place = Vacated::unless_kept(&job.path);
    let index = match (job.mode, first.as_mut()) {
        (Mode::Append, _) => {
            let index = options.open(&job.path)?;
            vectors = VectorFiles::open(&job.vectors, index.schema())?;
            index
        }
        (_, Some(first)) => {
            let schema = job.schema_for(first)?;
            // Before there is anything of an index.
            if !first.is_empty()? {
                job.format_of(first, &schema)?;
            }
            vectors = VectorFiles::open(&job.vectors, &schema)?;
            let kept = Kept { settings: job.settings.clone(), null_words: job.null_words.clone() };
            to_remember = kept.payload(&schema).map_err(|error| error.in_file(&job.path))?;
            // Nothing is there before the first commit, so a build that is interrupted can be run again.
            options.overwrite(&job.path, schema)?
        }
        // `Source::find_all` gives one at least.
        (_, None) => return Ok(Exit::Done),
    };
    let writer = index.writer_with(job.writer_options(&counters));
    let mut writer = writer.map_err(|error| job.wait.hint(error))?;
    if job.mode == Mode::Create {
        // Nobody else makes an index there any more.
        job.check_place()?;
    }
    if job.mode == Mode::Append {
        job.check_remembered()?;
    } else {
        writer.set_payload(to_remember)?;
    }
    job.compare_schema(writer.schema())?;
    let mut bad =
        BadRecords::new(job.skip_bad_lines, job.mode != Mode::Append && job.schema.is_none());
    let mut n_added = 0;
    let mut formats = Formats::default();
    for input in first.into_iter().map(Ok).chain(inputs) {
        let beside = (&mut formats, &mut vectors);
        n_added += job.add(&mut writer, input?, beside, &mut bad)?;
    }
    vectors.finish()?;
    if n_added == 0 && job.mode == Mode::Overwrite {
        bad.print();
        return Err(without_documents(&job.path).into());
    }
    let commit = writer.commit()?;
    place.keep();
    // So that whoever appends often has few segments all the same. The documents are there already.
    let maintained = writer.maintain();
    drop(progress);
    if let Err(error) = maintained {
        warn(format!("all was added, but merging segments failed: {error}"));
    }
    bad.print();
    if commit.tokens_skipped > 0 {
        warn(format!(
            "{} left out because they are too long; their positions stay empty",
            plural(commit.tokens_skipped, "token")
        ));
    }
    if !job.quiet {
        formats.recognised.iter().for_each(note);
        job.remembered.described.iter().for_each(|said| note(terminal::printable(said)));
        job.settings.left_out().iter().for_each(note);
        job.nulls.print();
        job.remarks.print();
        note(job.summary(&commit, bytes_of_segments(&job.path), &counters, start));
    }
    Ok(Exit::Done)
}

impl Job {
    /// Refuses a place that nothing can be written to, before anything is read: then it does not matter what the input is
    /// like.
    fn check_place(&self) -> Result<(), Error> {
        match (self.mode, Index::check_vacant(&self.path)) {
            (Mode::Append, _) => Index::open(&self.path).map(drop),
            (Mode::Overwrite, Err(error)) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            (_, Err(error)) if error.kind() == ErrorKind::AlreadyExists => {
                Err(error.hint("--append adds to it, --overwrite replaces it"))
            }
            (_, checked) => checked,
        }
    }

    /// Takes over what the index that is added to remembers of how its inputs are read, unless a schema file says that. Options
    /// that were typed count before it.
    fn remember(&mut self) -> Result<(), Error> {
        let has_schema_file = self.schema.is_some() && self.preset.is_none();
        if self.mode != Mode::Append || has_schema_file {
            return Ok(());
        }
        let (payload, schema) = Kept::payload_of(&self.path)?;
        let kept = Kept::of_payload(&payload, &schema, &self.path).map_err(|error| {
            error.hint("--schema FILE says how the input is read, whatever the index says")
        })?;
        self.remembered.payload = Some(payload);
        let Some(Kept { settings, null_words }) = kept else { return Ok(()) };
        let mut counts = Kept {
            settings: self.reading.left_of(settings.clone()),
            null_words: match self.typed_null_words {
                Some(_) => null_words.clone().without_those_of_index(),
                None => null_words.clone(),
            },
        };
        if self.preset.is_some() {
            counts.settings.preset = None;
        }
        self.remembered.described = counts.described(&self.path);
        self.settings = self.reading.settings(settings)?;
        self.null_words = null_words.typed(self.typed_null_words.as_deref());
        Ok(())
    }

    /// Refuses to go on if somebody else has changed what the index remembers before this one became its writer: inputs
    /// would be read in the way of an index that is no more.
    fn check_remembered(&self) -> Result<(), Error> {
        let Some(before) = &self.remembered.payload else { return Ok(()) };
        let (now, _) = Kept::payload_of(&self.path)?;
        // Another program may carry what it likes from commit to commit.
        match Kept::own(&now) == Kept::own(before) {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::Busy, "adding to an index")
                .expected("the one that was there at first")
                .found("another, whose inputs are read in another way")
                .in_file(&self.path)
                .hint("run it again")),
        }
    }

    /// The input that says what the documents are like: the first that has anything in it. Empty ones before it are
    /// reported; who appends need not know.
    ///
    /// # Errors
    ///
    /// Fails if all are empty and no schema was given, or if the result would replace an index: then somebody expected
    /// documents.
    fn first_of(
        &self,
        inputs: &mut impl Iterator<Item = Result<Input, Error>>,
    ) -> Result<Option<Input>, Error> {
        let mut last = None;
        while let Some(mut input) = inputs.next().transpose()? {
            let has_any = self.mode == Mode::Append || !input.is_empty()?;
            let before = last.replace(input);
            before.iter().for_each(nothing_in);
            if has_any {
                return Ok(last);
            }
        }
        let has_schema =
            self.schema.is_some() || self.reading.input_format == Some(InputFormat::Lines);
        match last {
            Some(empty) if self.mode == Mode::Overwrite => {
                Err(without_documents(&self.path).in_file(&empty.name))
            }
            Some(empty) if !has_schema => Err(Error::new(ErrorKind::Schema, "inferring a schema")
                .expected("a document")
                .found("nothing")
                .in_file(&empty.name)
                .hint("--schema or --preset makes an index without documents")),
            empty => Ok(empty),
        }
    }

    /// The schema that was given, or else what the first input looks like, which is printed.
    fn schema_for(&self, first: &mut Input) -> Result<Schema, Error> {
        if let Some(schema) = &self.schema {
            return Ok(schema.clone());
        }
        let (inferred, _) =
            self.reading.infer(first, &self.settings, &self.null_words, self.lossy)?;
        let format = self.reading.format_of(first, None, &self.settings)?;
        let inferred = match &self.order {
            Some(order) => inferred.ordered_by(|schema| order.of(schema))?,
            None => inferred,
        };
        if format != InputFormat::Lines {
            let mut out = Output::new(self.color);
            // Whether anybody reads this is no reason to build nothing.
            let name = first.name.display().to_string();
            let name = terminal::printable(&name);
            let _ = write!(out, "# inferred from {name}\n{}", inferred.print());
            let _ = out.flush();
        }
        Ok(inferred.schema)
    }

    fn format_of(&self, input: &mut Input, schema: &Schema) -> Result<InputFormat, Error> {
        match self.preset {
            Some(_) => Ok(InputFormat::Lines),
            None => self.reading.format_of(input, Some(schema), &self.settings),
        }
    }

    /// Refuses to add to an index whose fields are not those of the schema file, which says how they are read.
    fn compare_schema(&self, schema: &Schema) -> Result<(), Error> {
        let (Mode::Append, None, Some(given)) = (self.mode, self.preset, &self.schema) else {
            return Ok(());
        };
        match given.fields().iter().find(|field| schema.field(&field.name) != Some(field)) {
            None => Ok(()),
            Some(field) => Err(Error::new(
                ErrorKind::Schema,
                "adding to an index by a schema file",
            )
            .expected(format!("the field '{}' as the index has it", field.name))
            .found(match schema.field(&field.name) {
                Some(_) => "other properties",
                None => "none in the index",
            })
            .hint(
                "`treepie inspect INDEX schema` prints its fields, `treepie schema add` adds some",
            )),
        }
    }

    fn writer_options(&self, counters: &Counters) -> WriterOptions {
        let counters = counters.clone();
        let options = self.resources.apply(self.wait.options());
        options.on_progress(move |progress| counters.set_stage(progress))
    }

    /// Adds all of one input; how many documents with a value those were, at least one if there is any.
    fn add(
        &self,
        writer: &mut IndexWriter,
        mut input: Input,
        (formats, vectors): (&mut Formats, &mut VectorFiles),
        bad: &mut BadRecords,
    ) -> Result<u64, Error> {
        if input.is_empty()? {
            // Its format does not matter: it has no documents, and is no reason to refuse the others.
            nothing_in(&input);
            return Ok(0);
        }
        let format = self.format_of(&mut input, writer.schema())?;
        formats.meet(&input, format)?;
        if format != InputFormat::Lines {
            return self.add_documents(writer, (input, vectors), format, bad);
        }
        if !vectors.is_empty() {
            return Err(usage("reading --vectors")
                .expected("documents beside it, as JSON, CSV or TSV")
                .found("lines of plain text")
                .in_file(&input.name));
        }
        let name = input.name.clone();
        let lines = self.line_format(writer.schema()).map_err(|error| error.in_file(&name))?;
        let n_marked = input.pass_mark()?;
        let (reader, failure) = input.into_reader();
        let bad_lines = match (self.lossy, self.skip_bad_lines) {
            (true, true) => BadLines::SkipLossy,
            (true, false) => BadLines::Lossy,
            (false, true) => BadLines::Skip,
            (false, false) => BadLines::Refuse,
        };
        let mut reader = Noting { from: reader, has_any: false };
        let report = writer
            .add_lines(&mut reader, &lines, bad_lines)
            .map_err(|error| failure.or(behind(error, n_marked)).in_file(&name))?;
        let first = report.first_skipped.into_iter().map(|error| behind(error, n_marked));
        bad.add(report.skipped, first.collect(), &name);
        Ok(if reader.has_any { report.documents } else { 0 })
    }

    /// Format of the lines.
    fn line_format(&self, schema: &Schema) -> Result<LineFormat, Error> {
        // Fields that were added to an index of lines have no value in these.
        let mut texts = schema
            .fields()
            .iter()
            .filter(|field| field.kind == FieldKind::Text && field.copy_of.is_none());
        // A format that was typed says what a line is, too.
        let remembered = self.settings.preset.filter(|_| self.reading.input_format.is_none());
        let preset = self.preset.or(remembered);
        match (preset, texts.next().filter(|_| texts.next().is_none())) {
            (Some(preset), _) => Ok(preset.line_format()),
            (None, Some(field)) => Ok(LineFormat::field(&*field.name)),
            (None, None) => {
                let names: Vec<_> = schema.fields().iter().map(|field| &*field.name).collect();
                Err(Error::new(ErrorKind::Schema, "indexing lines of plain text")
                    .expected("a schema of one text field")
                    .found(format!("the fields {}", names.join(", ")))
                    .hint("--preset or --input-format says what a line is"))
            }
        }
    }

    /// Parses on a thread of its own, a few batches ahead of indexing.
    fn add_documents(
        &self,
        writer: &mut IndexWriter,
        (input, vectors): (Input, &mut VectorFiles),
        format: InputFormat,
        bad: &mut BadRecords,
    ) -> Result<u64, Error> {
        let parser = Parser {
            schema: Arc::new(writer.schema().clone()),
            name: input.name.clone(),
            settings: self.settings.clone(),
            lossy: self.lossy,
            nulls: NullFilter::new(
                self.null_words.clone(),
                Arc::new(writer.schema().clone()),
                self.nulls.clone(),
            ),
            remarks: self.remarks.clone(),
            // A schema that somebody wrote says which fields have numbers.
            watches_numbers: self.schema.is_none(),
        };
        let name = input.name.clone();
        let (send, batches) = sync_channel(BATCHES_AHEAD);
        let (reader, failure) = input.into_reader();
        // Not joined: after an error it may wait for a pipe on which nothing comes any more.
        thread::spawn(move || parser.run(reader, failure, format, send));
        let mut n_added = 0;
        loop {
            // A thread that panics says nothing, and what it has read so far is not all.
            let batch = batches.recv().map_err(|_| {
                Error::io(
                    "reading documents",
                    io::Error::other("the thread that reads has panicked"),
                )
                .in_file(&name)
            })??;
            if batch.is_empty() {
                return Ok(n_added);
            }
            for record in batch {
                match record {
                    Record::Bad(error) => {
                        // It has rows as well.
                        drop(vectors.next(None)?);
                        bad.meet(error)?;
                    }
                    Record::Document { line, mut document } => {
                        if let Err(error) = vectors.next(Some(&mut document))? {
                            bad.meet(error)?;
                            continue;
                        }
                        let has_values = document.iter().any(|(_, value)| !value.is_null());
                        match writer.add(document) {
                            Err(error) if error.kind() == ErrorKind::Document => {
                                bad.meet(error.in_file(&name).at_line(line))?;
                            }
                            added => {
                                added?;
                                n_added += u64::from(has_values);
                            }
                        }
                    }
                }
            }
        }
    }

    fn summary(
        &self,
        commit: &CommitInfo,
        n_bytes: Option<u64>,
        counters: &Counters,
        start: Instant,
    ) -> String {
        let elapsed = start.elapsed();
        let text = counters.text_bytes();
        let rate = text as f64 / 1e6 / elapsed.as_secs_f64().max(1e-6);
        // A build deletes nothing else.
        let replaced = match commit.deleted {
            0 => String::new(),
            n => format!(", {} replaced", grouped(n)),
        };
        format!(
            "{} added{replaced} in {} ({}, {rate:.1} MB/s); {}: {}, {}{}",
            plural(commit.added, "document"),
            duration(elapsed),
            bytes(text),
            self.path.display(),
            plural(commit.documents, "document"),
            plural(commit.segments, "segment"),
            n_bytes.map_or(String::new(), |n_bytes| format!(", {}", bytes(n_bytes))),
        )
    }
}

/// Bytes of the segments of an index. The commit stands, whatever keeps these from being read: then nobody knows.
fn bytes_of_segments(path: &Path) -> Option<u64> {
    let index = Index::open(path).and_then(|index| index.inspect());
    Some(index.ok()?.segments().iter().map(|segment| segment.bytes).sum())
}

/// Passes on what it reads, and notes whether there is anything but blanks in it.
struct Noting<R> {
    from: R,
    has_any: bool,
}

impl<R: Read> Read for Noting<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(into)?;
        self.has_any = self.has_any || !into[..n].trim_ascii().is_empty();
        Ok(n)
    }
}
