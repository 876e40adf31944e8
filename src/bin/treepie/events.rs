//! `--events FILE`: the index's work on its files as JSON Lines. `treepie inspect INDEX io` reads them.
//!
//! A line is an event as [`treepie::events`] documents it, or the beginning of a session: what a command adds to
//! the file. Each line is written at once and behind what is there, so that a command that is killed loses none.

use std::{
    ffi::OsString,
    fs::{File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use serde_json::json;
use treepie::{Error, IndexOptions, events::Event};

use crate::failure::warn;

/// The option of every command that writes to an index.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct EventsArg {
    /// Add what is done to the files to FILE, as JSON Lines.
    ///
    /// `inspect INDEX io FILE` shows it.
    #[arg(help_heading = "Record", hide_short_help = true)]
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
}

/// Suffix of the default file of `inspect INDEX io`, which is beside the index.
const SUFFIX: &str = ".events.jsonl";

/// The events of an index, by name.
pub(crate) fn beside(index: &Path) -> PathBuf {
    let name = index.components().as_path().as_os_str();
    let mut path = OsString::from(name);
    path.push(SUFFIX);
    path.into()
}

/// One session of a file of events, or nothing if none was asked for.
#[derive(Debug)]
pub(crate) struct EventLog(Option<Arc<Log>>);

#[derive(Debug)]
struct Log {
    path: PathBuf,
    file: File,
    /// Why a line could not be written.
    failed: Mutex<Option<io::Error>>,
}

impl EventsArg {
    /// Begins the session of a command.
    pub(crate) fn begin(&self, command: &str, index: &Path) -> Result<EventLog, Error> {
        let Some(path) = &self.events else { return Ok(EventLog(None)) };
        let failed = |error| Error::io("opening the file for events", error).in_file(path);
        let file = OpenOptions::new().append(true).create(true).open(path).map_err(failed)?;
        let log = Log { path: path.clone(), file, failed: Mutex::default() };
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let begun = json!({
            "session": command,
            "index": index.display().to_string(),
            "version": env!("CARGO_PKG_VERSION"),
            "start_us": since_1970.as_micros() as u64,
        });
        log.write(begun.to_string()).map_err(failed)?;
        Ok(EventLog(Some(Arc::new(log))))
    }
}

impl EventLog {
    /// Adds to the options that events of the index are written down.
    pub(crate) fn listen(&self, options: IndexOptions) -> IndexOptions {
        let Some(log) = &self.0 else { return options };
        let log = Arc::clone(log);
        options.on_event(move |event| log.tell(event))
    }
}

impl Log {
    fn tell(&self, event: &Event) {
        if let Err(error) = self.write(event.to_json()) {
            self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    }

    /// One call a line, so that lines of several threads do not mix.
    fn write(&self, mut line: String) -> io::Result<()> {
        line.push('\n');
        (&self.file).write_all(line.as_bytes())
    }
}

/// The index is as it should be; that the events are not all there has to be known.
impl Drop for Log {
    fn drop(&mut self) {
        let failed = self.failed.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(error) = failed {
            warn(format!("events are missing in {}: {error}", self.path.display()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_events_of_an_index_lie_beside_it() {
        for typed in ["a/titles.tp", "a/titles.tp/", "a/./titles.tp"] {
            assert_eq!(beside(Path::new(typed)), Path::new("a/titles.tp.events.jsonl"), "{typed}");
        }
    }
}
