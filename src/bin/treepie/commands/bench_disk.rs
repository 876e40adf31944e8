//! `treepie bench-disk DIR`: times of small durable writes on the disk of a directory. It says how many commits a
//! second to expect of it.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    process, thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use treepie::{Document, Error, Index, Schema};

use crate::{
    args::Global,
    failure::{Exit, Outcome, usage},
    output::{Format, Output, Table, plural},
};

/// Measure what a disk does with durable writes.
///
/// The result says how many commits a second to expect.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Examples:
  treepie bench-disk .
  treepie bench-disk /var/lib/app --seconds 60 --format json

Writes into a directory of its own under DIR, at most some 100 MiB at a time, and removes it. What
is measured:

  cached     overwrites blocks of a file; the system writes them when it likes, nothing is durable
  overwrite  overwrites blocks of a file and makes them durable, each by itself (fdatasync)
  append     appends to a file and makes that durable
  new file   makes a file, writes it, makes it and its name durable: half of what a commit is
  commit     adds documents to an index and commits, which survives a power failure; one writer at a time

A disk with a volatile cache that says too early that it is done looks fast here. Numbers of a busy
machine are those of a busy machine.")]
pub(crate) struct Args {
    /// A directory on the disk.
    directory: PathBuf,
    /// About how long to measure.
    #[arg(long, default_value_t = 20.0, value_name = "SECONDS")]
    seconds: f64,
    /// Print in this format.
    #[arg(help_heading = "Show")]
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const SIZES: [usize; 3] = [4 << 10, 64 << 10, 1 << 20];
const THREADS: [usize; 2] = [1, 4];
const COMMIT_DOCUMENTS: [usize; 2] = [1, 1_000];
/// Bytes of a file that are written before it begins again, and blocks at the least.
const FILE_BYTES: u64 = 4 << 20;
const FILE_BLOCKS: u64 = 16;
/// The least time for one figure.
const CELL_MIN: Duration = Duration::from_millis(20);

/// When a write is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Durability {
    Cached,
    Overwrite,
    Append,
    NewFile,
}

impl Durability {
    const ALL: [Durability; 4] =
        [Durability::Cached, Durability::Overwrite, Durability::Append, Durability::NewFile];

    fn name(self) -> &'static str {
        match self {
            Durability::Cached => "cached",
            Durability::Overwrite => "overwrite",
            Durability::Append => "append",
            Durability::NewFile => "new file",
        }
    }
}

pub(crate) fn run(args: Args, global: Global) -> Outcome {
    if !(args.seconds.is_finite() && (0.1..=86_400.0).contains(&args.seconds)) {
        return Err(usage("reading --seconds")
            .expected("0.1 to 86400")
            .found(args.seconds.to_string())
            .into());
    }
    let place = Place::new(&args.directory)?;
    let n_cells = SIZES.len() * Durability::ALL.len() * THREADS.len() + COMMIT_DOCUMENTS.len();
    let of_cell = Duration::from_secs_f64(args.seconds / n_cells as f64).max(CELL_MIN);
    let mut rows = vec![];
    for durability in Durability::ALL {
        for size in SIZES {
            for threads in THREADS {
                let times = write_by(&place, durability, size, threads, of_cell)?;
                rows.push(Row::of(durability.name(), size as u64, threads, of_cell, times));
            }
        }
    }
    for documents in COMMIT_DOCUMENTS {
        let times = commit_by(&place, documents, of_cell)?;
        let mut row = Row::of("commit", 0, 1, of_cell, times);
        row.documents = documents as u64;
        rows.push(row);
    }
    drop(place);
    let mut out = Output::new(global.color);
    match args.format {
        Format::Json => out.json_line(&to_json(&args.directory, &rows))?,
        Format::Text => print_text(&mut out, &args.directory, &rows)?,
        format => print_table(&mut out, format, &rows)?,
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// One figure of the grid.
struct Row {
    what: &'static str,
    bytes: u64,
    documents: u64,
    threads: usize,
    per_second: f64,
    p50: Duration,
    p99: Duration,
}

impl Row {
    /// Summary of the times of single operations, of several threads together.
    fn of(
        what: &'static str,
        bytes: u64,
        threads: usize,
        took: Duration,
        mut times: Vec<Duration>,
    ) -> Row {
        times.sort_unstable();
        let at = |share: f64| {
            let last = times.len().saturating_sub(1) as f64;
            times.get((last * share).round() as usize).copied().unwrap_or_default()
        };
        // Operations that began before the end ran beyond it: by the times themselves if these are few.
        let spent: Duration = times.iter().sum();
        let wall = took.max(spent / threads as u32);
        let per_second = times.len() as f64 / wall.as_secs_f64();
        Row { what, bytes, documents: 0, threads, per_second, p50: at(0.5), p99: at(0.99) }
    }

    /// Bytes or documents a second.
    fn volume(&self) -> String {
        match self.documents {
            0 => format!("{:.1} MB/s", self.per_second * self.bytes as f64 / 1e6),
            n => format!("{:.0} documents/s", self.per_second * n as f64),
        }
    }

    fn size(&self) -> String {
        match (self.documents, self.bytes) {
            (0, bytes) if bytes >= 1 << 20 => format!("{} MiB", bytes >> 20),
            (0, bytes) => format!("{} KiB", bytes >> 10),
            (n, _) => plural(n, "document"),
        }
    }
}

/// A directory of our own, gone at the end.
struct Place(PathBuf);

impl Place {
    fn new(directory: &Path) -> Result<Place, Error> {
        let refused = |error: io::Error| {
            Error::io("measuring a disk", error)
                .in_file(directory)
                .hint("name a directory that you may write to")
        };
        if !fs::metadata(directory).map_err(refused)?.is_dir() {
            return Err(refused(io::ErrorKind::NotADirectory.into()));
        }
        let own = directory.join(format!("treepie-bench-disk-{}", process::id()));
        fs::create_dir(&own).map_err(refused)?;
        Ok(Place(own))
    }

    fn failed(&self) -> impl Fn(io::Error) -> Error + '_ {
        |error| Error::io("measuring a disk", error).in_file(&self.0)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Writes as often as fits into the time, on several threads; how long each write took.
fn write_by(
    place: &Place,
    durability: Durability,
    size: usize,
    threads: usize,
    time: Duration,
) -> Result<Vec<Duration>, Error> {
    let measured: Vec<io::Result<Vec<Duration>>> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|nth| {
                scope.spawn(move || {
                    let mut writes = Writes::new(&place.0, nth, durability, size)?;
                    let (started, mut times) = (Instant::now(), vec![]);
                    while times.is_empty() || started.elapsed() < time {
                        let began = Instant::now();
                        writes.next()?;
                        times.push(began.elapsed());
                    }
                    writes.end()?;
                    Ok(times)
                })
            })
            .collect();
        let died = |_| Err(io::Error::other("a thread that measures has panicked"));
        workers.into_iter().map(|worker| worker.join().unwrap_or_else(died)).collect()
    });
    let all: io::Result<Vec<Vec<Duration>>> = measured.into_iter().collect();
    Ok(all.map_err(place.failed())?.concat())
}

/// Number of blocks of a size in a file.
fn blocks_of_file(size: usize) -> u64 {
    (FILE_BYTES / size as u64).max(FILE_BLOCKS)
}

/// One thread's file and what it writes there.
struct Writes<'p> {
    directory: &'p Path,
    path: PathBuf,
    file: File,
    durability: Durability,
    block: Vec<u8>,
    n_written: u64,
}

impl<'p> Writes<'p> {
    fn new(
        directory: &'p Path,
        nth: usize,
        durability: Durability,
        size: usize,
    ) -> io::Result<Self> {
        let path = directory.join(format!("thread-{nth}"));
        // Not all the same, so that no disk makes them small.
        let mut state = 0x9E37_79B9_7F4A_7C15_u64 ^ (nth as u64 + 1);
        let random = |_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        };
        let block: Vec<u8> = (0..size).map(random).collect();
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(&path)?;
        if matches!(durability, Durability::Cached | Durability::Overwrite) {
            for _ in 0..blocks_of_file(size) {
                file.write_all(&block)?;
            }
            file.sync_all()?;
            file.rewind()?;
        }
        Ok(Writes { directory, path, file, durability, block, n_written: 0 })
    }

    fn next(&mut self) -> io::Result<()> {
        if self.durability == Durability::NewFile {
            let path = self.path.with_extension(format!("new-{}", self.n_written % 2));
            let mut file = OpenOptions::new().write(true).create_new(true).open(&path)?;
            file.write_all(&self.block)?;
            file.sync_data()?;
            if cfg!(unix) {
                File::open(self.directory)?.sync_all()?;
            }
            // The one before goes, so that there are never many.
            let before = self.path.with_extension(format!("new-{}", (self.n_written + 1) % 2));
            self.n_written += 1;
            return match fs::remove_file(before) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        }
        let is_full = self.n_written.is_multiple_of(blocks_of_file(self.block.len()));
        if is_full && self.n_written > 0 {
            self.file.seek(SeekFrom::Start(0))?;
            if self.durability == Durability::Append {
                self.file.set_len(0)?;
            }
        }
        self.file.write_all(&self.block)?;
        self.n_written += 1;
        match self.durability {
            Durability::Cached => Ok(()),
            _ => self.file.sync_data(),
        }
    }

    fn end(self) -> io::Result<()> {
        drop(self.file);
        for path in [
            self.path.clone(),
            self.path.with_extension("new-0"),
            self.path.with_extension("new-1"),
        ] {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Commits to one index before a new one takes its place: each makes a segment, and with many of them it would be manifests
/// and listings that are measured.
const COMMITS_OF_ONE: usize = 20;

/// Commits some documents as often as fits into the time, to new indexes; how long each commit took.
fn commit_by(place: &Place, documents: usize, time: Duration) -> Result<Vec<Duration>, Error> {
    let started = Instant::now();
    commit_until(place, documents, |n| n > 0 && started.elapsed() >= time)
}

fn commit_until(
    place: &Place,
    documents: usize,
    is_enough: impl Fn(usize) -> bool,
) -> Result<Vec<Duration>, Error> {
    let path = place.0.join(format!("{documents}.tp"));
    let mut times = vec![];
    loop {
        let index = Index::create(&path, Schema::builder().text("title").build()?)?;
        let mut writer = index.writer()?;
        for _ in 0..COMMITS_OF_ONE {
            if is_enough(times.len()) {
                return Ok(times);
            }
            let began = Instant::now();
            for nth in 0..documents {
                writer
                    .add(Document::new().with("title", &*format!("Treepie {nth} of the disk")))?;
            }
            writer.commit()?;
            times.push(began.elapsed());
        }
        drop(writer);
        fs::remove_dir_all(&path).map_err(place.failed())?;
    }
}

fn to_json(directory: &Path, rows: &[Row]) -> Value {
    let seconds = |time: Duration| time.as_secs_f64() * 1e6;
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "what": row.what,
                "bytes": if row.documents == 0 { Some(row.bytes) } else { None },
                "documents": if row.documents > 0 { Some(row.documents) } else { None },
                "threads": row.threads,
                "per_second": row.per_second,
                "p50_us": seconds(row.p50),
                "p99_us": seconds(row.p99),
            })
        })
        .collect();
    json!({ "directory": directory.display().to_string(), "rows": rows })
}

fn print_table(out: &mut Output, format: Format, rows: &[Row]) -> Outcome<()> {
    let names = ["what", "size", "threads", "per_second", "p50_us", "p99_us"];
    let mut table = Table::new(out, format, &names)?;
    for row in rows {
        let micros = |time: Duration| json!(time.as_micros() as u64);
        let size = if row.documents > 0 { row.documents } else { row.bytes };
        let cells = [json!(row.what), json!(size), json!(row.threads), json!(row.per_second)];
        table.row(cells.into_iter().chain([micros(row.p50), micros(row.p99)]).collect())?;
    }
    table.finish()?;
    Ok(())
}

fn print_text(out: &mut Output, directory: &Path, rows: &[Row]) -> Outcome<()> {
    let heads = ["", "size", "threads", "a second", "p50", "p99", ""];
    let mut cells: Vec<[String; 7]> = vec![heads.map(str::to_owned)];
    for row in rows {
        let millis = |time: Duration| format!("{:.3} ms", time.as_secs_f64() * 1e3);
        cells.push([
            row.what.to_owned(),
            row.size(),
            row.threads.to_string(),
            format!("{:.0}", row.per_second),
            millis(row.p50),
            millis(row.p99),
            row.volume(),
        ]);
    }
    let widths: [usize; 7] =
        std::array::from_fn(|at| cells.iter().map(|row| row[at].len()).max().unwrap_or(0));
    for (nth, row) in cells.iter().enumerate() {
        if nth > 1 && cells[nth - 1][0] != row[0] {
            writeln!(out)?;
        }
        let mut line = format!("{:<width$}", row[0], width = widths[0]);
        for at in 1..7 {
            line.push_str(&format!("  {:>width$}", row[at], width = widths[at]));
        }
        let line = line.trim_end();
        match nth {
            0 => writeln!(out, "{}", out.dim(line))?,
            _ => writeln!(out, "{line}")?,
        }
    }
    let per_second = |documents: u64| {
        let row = rows.iter().find(|row| row.documents == documents);
        row.map_or(0.0, |row| row.per_second)
    };
    writeln!(
        out,
        "\nAn index in {} can commit some {:.0} times a second, each commit surviving a power failure.",
        directory.display(),
        per_second(1)
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_index_is_committed_to_more_than_a_few_times() {
        let place = Place::new(&std::env::temp_dir()).unwrap();
        let n = 2 * COMMITS_OF_ONE + 3;
        let times = commit_until(&place, 1, |done| done == n).unwrap();
        assert_eq!(times.len(), n);
        let index = Index::open(place.0.join("1.tp")).unwrap();
        assert_eq!(index.inspect().unwrap().documents(), 3);
    }
}
