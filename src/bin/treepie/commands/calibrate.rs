//! `treepie calibrate`: costs of this machine for planning; and the calibration that a command uses.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    time::Instant,
};

use serde_json::{Map, Value, json};
use treepie::explain::Costs;
use treepie::{Error, Index, IndexOptions};

use crate::{
    args::Global,
    destination::{Destination, FileArgs},
    failure::{Exit, Outcome, note, read_text, unread, usage},
    output::{Format, Output, Table, duration, plural},
    terminal,
};

/// Name of a calibration that is kept beside an index.
const FILE: &str = "calibration";
/// Said before, as nothing is to be seen for some time.
const MEASURING: &str = "measuring, a second or two …";
/// No calibration is as long.
const BYTES_MAX: u64 = 64 << 10;

/// Measure what planning reckons with on this machine, and keep it.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Examples:
  treepie calibrate
  treepie calibrate titles.tp
  treepie calibrate -o this-machine.toml
  treepie search titles.tp 'history france' --costs this-machine.toml

Takes a second or two on one core; on a busy machine the figures are those of a busy machine. No
answer depends on them: they choose between ways that find the same, and stand in plans. With an
index the figures are written to the file `calibration` in its directory, and search, explain and
bench of this tool reckon with them from then on; plans say so. The file is none of the index: copy
leaves it where it is, as another machine takes another time, and whoever deletes it has the
built-in figures again.")]
pub(crate) struct Args {
    /// The index to keep them beside.
    #[arg(conflicts_with = "output")]
    index: Option<PathBuf>,
    #[command(flatten)]
    file: FileArgs,
    /// Print in this format.
    ///
    /// With -o - what FILE would have is printed instead.
    #[arg(help_heading = "Show")]
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn run(args: Args, global: Global) -> Outcome {
    let destination = match &args.index {
        Some(index) => {
            // Not into a directory that is none.
            Index::open(index)?;
            Some(Destination::replacing(&index.join(FILE))?)
        }
        None => args.file.check()?,
    };
    if !global.quiet {
        note(MEASURING.to_owned());
    }
    let started = Instant::now();
    let costs = treepie::calibrate()?;
    let took = started.elapsed();
    if let Some(destination) = &destination {
        destination.write(&costs.to_text(), "toml", global)?;
        if destination.is_standard_output() {
            return Ok(Exit::Done);
        }
    }
    print_as(args.format, &costs, &mut Output::new(global.color))?;
    if let Some(path) = destination.as_ref().and_then(Destination::path)
        && !global.quiet
    {
        note(format!("measured in {} and written to {}", duration(took), shown(path)));
    }
    Ok(Exit::Done)
}

/// The name of a file, which may be any text.
fn shown(path: &Path) -> String {
    terminal::printable(&path.display().to_string()).into_owned()
}

fn print_as(format: Format, costs: &Costs, out: &mut Output) -> Outcome<()> {
    match format {
        Format::Text => print(out, costs)?,
        Format::Json => out.json_line(&to_json(costs))?,
        format => {
            let mut table = Table::new(out, format, &["name", "ns", "built_in_ns"])?;
            for ((name, ns), (_, built_in)) in costs.iter().zip(Costs::default().iter()) {
                table.row(vec![json!(name), json!(ns), json!(built_in)])?;
            }
            table.finish()?;
        }
    }
    Ok(out.flush()?)
}

fn to_json(costs: &Costs) -> Value {
    let built_in = Costs::default();
    let figures: Map<String, Value> = costs
        .iter()
        .zip(built_in.iter())
        .map(|((name, ns), (_, built_in))| {
            (
                name.to_owned(),
                json!({ "ns": ns, "built_in_ns": built_in, "measured": ns != built_in }),
            )
        })
        .collect();
    json!({ "machine": costs.machine(), "costs": figures })
}

fn print(out: &mut Output, costs: &Costs) -> Outcome<()> {
    if let Some(machine) = costs.machine() {
        writeln!(out, "{}", out.strong(machine))?;
    }
    let header = format!("{:<20} {:>12} {:>12}", "", "this machine", "built in");
    writeln!(out, "{}", out.dim(&header))?;
    let built_in = Costs::default();
    for ((name, ns), (_, built_in)) in costs.iter().zip(built_in.iter()) {
        let name = name.trim_end_matches("_ns").replace('_', " ");
        let measured = match ns == built_in {
            true => "–".to_owned(),
            false => format!("{ns:.2} ns"),
        };
        writeln!(out, "{name:<20} {measured:>12} {:>12}", format!("{built_in} ns"))?;
    }
    Ok(())
}

/// Source of the costs that a command plans by.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct CostsArgs {
    /// Plan by figures of FILE [default: INDEX/calibration, if any].
    ///
    /// Costs that `treepie calibrate -o FILE` writes. Without such a file the built-in ones count.
    #[arg(help_heading = "Plan", hide_short_help = true)]
    #[arg(long, value_name = "FILE")]
    costs: Option<PathBuf>,
}

impl CostsArgs {
    /// The options to open an index with, by which its searches are planned.
    ///
    /// # Errors
    ///
    /// Whatever is wrong with the file, with its name and line.
    pub(crate) fn apply(&self, options: IndexOptions, index: &Path) -> Result<IndexOptions, Error> {
        let costs = match &self.costs {
            Some(path) => read(path)?,
            None => {
                let path = index.join(FILE);
                if !path.is_file() {
                    return Ok(options);
                }
                let anew = "delete it, or write it anew: treepie calibrate INDEX";
                read(&path).map_err(|error| error.hint(anew))?
            }
        };
        Ok(options.costs(costs))
    }
}

fn read(path: &Path) -> Result<Costs, Error> {
    let failed = unread("reading a calibration", path);
    let found = fs::metadata(path).map_err(&failed)?;
    if !found.is_file() || found.len() > BYTES_MAX {
        return Err(usage("reading a calibration")
            .expected(format!("a file of at most {BYTES_MAX} bytes"))
            .found(match found.is_file() {
                true => plural(found.len(), "byte"),
                false => "no file".to_owned(),
            })
            .in_file(path));
    }
    let text = read_text("reading a calibration", path)?;
    Costs::from_text(&text).map_err(|error| error.in_file(path))
}
