//! `treepie verify INDEX`: every checksum and invariant.

use std::{
    fs::File,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    time::Instant,
};

use serde_json::json;
use treepie::inspect::{Inspector, VerifyReport};
use treepie::{Error, ErrorKind, Index, storage::ReadMode};

use super::open;
use crate::{
    args::Global,
    failure::{Exit, Outcome},
    output::{Format, Output, Table, bytes, duration, plural},
};

/// Check every checksum and everything the bytes say.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Example:
  treepie verify titles.tp

Lists what is damaged on standard output, and below it what to do next, and ends with 2; with 0 where
all is well.")]
pub(crate) struct Args {
    /// The index.
    index: PathBuf,
    /// Print in this format.
    #[arg(help_heading = "Show")]
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn run(args: Args, global: Global) -> Outcome {
    let start = Instant::now();
    let mut damage = vec![];
    let mut checked = None;
    match inspect(&args.index) {
        Ok(index) => checked = Some(index.verify(|error| damage.push(error))),
        // An index that cannot be opened because it is damaged is what was asked about.
        Err(error) if is_damage(&error) => damage.push(error),
        Err(error) => return Err(error.into()),
    }
    let mut out = Output::new(global.color);
    if args.format != Format::Text {
        print_rows(&mut out, args.format, &damage)?;
    } else {
        damage.iter().try_for_each(|error| writeln!(out, "{error}"))?;
        match checked {
            Some(checked) if damage.is_empty() => writeln!(
                out,
                "sound: {}, {} checked in {}",
                plural(checked.segments, "segment"),
                bytes(checked.bytes),
                duration(start.elapsed())
            )?,
            checked => writeln!(out, "damaged: {}; {NEXT}", what_is_damaged(checked))?,
        }
    }
    if args.format == Format::Text && damage.is_empty() {
        print_unreferenced(&mut out, &args.index)?;
    }
    out.flush()?;
    Ok(if damage.is_empty() { Exit::Done } else { Exit::Failed })
}

/// Says how much is in files of no commit, if anything is.
pub(super) fn print_unreferenced(out: &mut Output, index: &Path) -> Outcome<()> {
    let unreferenced = open(index)?.disk_usage()?.unreferenced;
    if unreferenced > 0 {
        writeln!(
            out,
            "{} in files that no commit names: being written, left by a writer that was stopped, or of a newer commit \
             whose manifest is gone; the next writer removes them",
            bytes(unreferenced)
        )?;
    }
    Ok(())
}

/// Next step after damage.
const NEXT: &str = "next: copy the directory, then `treepie salvage INDEX OUT` saves what can be read; \
    `treepie recover INDEX --dry-run` says whether an older commit is whole";

fn what_is_damaged(checked: Option<VerifyReport>) -> String {
    match checked {
        Some(VerifyReport { damaged_segments, segments, .. }) => {
            format!("{damaged_segments} of {}", plural(segments, "segment"))
        }
        None => "the newest commit cannot be opened".to_owned(),
    }
}

/// Opens an index for every byte to be looked at. A sector that cannot be read is an error where files are read, and the end
/// of the process if they are mapped, which is faster: so only what could be read is mapped.
fn inspect(index: &Path) -> Result<Inspector, Error> {
    let unmapped = Index::options().read_mode(ReadMode::Pread).open(index)?.inspect()?;
    let segments = unmapped.segments();
    let mut files = segments.iter().flat_map(|of| [Some(&of.path), of.deletes_path.as_ref()]);
    match files.all(|file| file.is_none_or(|file| is_readable(file).is_ok())) {
        true => open(index)?.inspect(),
        false => Ok(unmapped),
    }
}

fn is_readable(file: &Path) -> io::Result<()> {
    let mut piece = vec![0; 1 << 20];
    let mut file = File::open(file)?;
    while file.read(&mut piece)? > 0 {}
    Ok(())
}

/// A file of an index that is missing is damage too; an index that is missing is not.
fn is_damage(error: &Error) -> bool {
    let in_a_file = error.file().is_some_and(|file| file.extension().is_some_and(|e| e == "idx"));
    error.kind() == ErrorKind::Corrupt || (error.kind() == ErrorKind::NotFound && in_a_file)
}

fn print_rows(out: &mut Output, format: Format, damage: &[Error]) -> Outcome<()> {
    let mut table = Table::new(out, format, &["file", "offset", "message"])?;
    for error in damage {
        let file = error.file().map(|file| file.display().to_string());
        table.row(vec![json!(file), json!(error.offset()), json!(error.to_string())])?;
    }
    Ok(table.finish()?)
}
