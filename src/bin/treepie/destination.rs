//! Destination of a plan: standard output, a file, or a browser that shows it. A file is there whole or not at all.

use std::{
    env, fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use clap::ValueEnum;
use tempfile::NamedTempFile;
use treepie::{Error, ErrorKind};

use crate::{
    args::Global,
    failure::{Outcome, note, usage},
    terminal,
};

/// The options of every command that writes a file if one is named.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct FileArgs {
    /// Write to FILE, which must not exist.
    ///
    /// Otherwise, and for -, to standard output.
    #[arg(help_heading = "Show")]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace FILE if it exists.
    #[arg(help_heading = "Show")]
    #[arg(long, requires = "output")]
    force: bool,
}

/// The options of every command that prints something worth keeping.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct DestinationArgs {
    #[command(flatten)]
    file: FileArgs,
    /// Show it in a browser.
    ///
    /// That is $BROWSER, or what the system opens such files with; without -o from a temporary file.
    #[arg(help_heading = "Show")]
    #[arg(long)]
    pub(crate) open: bool,
}

/// Checked destination of an output.
#[derive(Debug)]
pub(crate) struct Destination {
    to: Place,
    opens: bool,
}

#[derive(Debug)]
enum Place {
    StandardOutput,
    File {
        path: PathBuf,
        /// Whether there may be one already.
        replaces: bool,
    },
    /// Pipe, device or anything else that has a name and is no file.
    Stream(PathBuf),
    Temporary,
}

impl DestinationArgs {
    /// Whether anything else than standard output was asked for.
    pub(crate) fn is_given(&self) -> bool {
        self.file.output.is_some() || self.open
    }

    /// The name that was given.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.file.output.as_deref()
    }

    /// The format that the ending of the name says, if one of the command's is called so.
    pub(crate) fn format_by_name<F: ValueEnum>(&self) -> Option<F> {
        let format = match &*self.path()?.extension()?.to_str()?.to_ascii_lowercase() {
            "txt" => "text",
            "json" => "json",
            "html" => "html",
            "dot" => "dot",
            "mmd" => "mermaid",
            "folded" => "folded",
            _ => return None,
        };
        F::from_str(format, false).ok()
    }

    /// Refuses what cannot be written, before anything is computed for it.
    pub(crate) fn check(&self) -> Result<Destination, Error> {
        let opens = self.open;
        let to = match self.file.output.as_deref() {
            None if opens => Place::Temporary,
            Some(path) if path == Path::new("-") && opens => {
                return Err(usage("--open shows a file, and -o - writes none"));
            }
            _ => self.file.place()?,
        };
        Ok(Destination { to, opens })
    }
}

impl FileArgs {
    /// Returns the destination, if one was given. Refuses one that cannot be written, before anything is computed for
    /// it.
    pub(crate) fn check(&self) -> Result<Option<Destination>, Error> {
        match self.output {
            None => Ok(None),
            Some(_) => Ok(Some(Destination { to: self.place()?, opens: false })),
        }
    }

    fn place(&self) -> Result<Place, Error> {
        match self.output.as_deref() {
            None => Ok(Place::StandardOutput),
            Some(path) if path == Path::new("-") => Ok(Place::StandardOutput),
            Some(path) => Place::of(path, self.force),
        }
    }
}

impl Place {
    /// Finds the place that a path names. If `replaces`, something may be there already.
    fn of(path: &Path, replaces: bool) -> Result<Place, Error> {
        // The file that a link leads to is replaced, and not the link.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        match fs::metadata(&path) {
            Ok(found) if found.is_dir() => Err(Error::new(ErrorKind::AlreadyExists, WRITING)
                .expected("the name of a file")
                .found("a directory")
                .in_file(path)),
            Ok(found) if !found.is_file() => Ok(Place::Stream(path)),
            Ok(_) if !replaces => Err(exists(&path)),
            Ok(_) => Ok(Place::File { path, replaces }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // Without its directory it could not be written in the end.
                fs::metadata(directory(&path)).map_err(failed(&path))?;
                Ok(Place::File { path, replaces })
            }
            Err(error) => Err(failed(&path)(error)),
        }
    }
}

const WRITING: &str = "writing the output";

fn failed(path: &Path) -> impl Fn(io::Error) -> Error + '_ {
    move |error| Error::io(WRITING, error).in_file(path)
}

fn exists(path: &Path) -> Error {
    Error::new(ErrorKind::AlreadyExists, WRITING)
        .expected("a file that does not exist")
        .found("one that does")
        .in_file(path)
        .hint("--force replaces it")
}

fn directory(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

impl Destination {
    /// A file, in the place of one that may be there.
    pub(crate) fn replacing(path: &Path) -> Result<Destination, Error> {
        Ok(Destination { to: Place::of(path, true)?, opens: false })
    }

    /// The name of what is written, if it has one.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.to {
            Place::File { path, .. } | Place::Stream(path) => Some(path),
            Place::StandardOutput | Place::Temporary => None,
        }
    }

    /// Whether it ends on what colour and width are for.
    pub(crate) fn is_standard_output(&self) -> bool {
        matches!(self.to, Place::StandardOutput)
    }

    /// Writes all of it, and shows it if that was asked for. `extension` is what says which kind of file it is.
    pub(crate) fn write(&self, text: &str, extension: &str, global: Global) -> Outcome<()> {
        let path = match &self.to {
            Place::StandardOutput => {
                let mut out = global.output();
                out.write_all(text.as_bytes())?;
                out.flush()?;
                return Ok(());
            }
            Place::Stream(path) => {
                let file = fs::OpenOptions::new().write(true).open(path);
                let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
                written.map_err(failed(path))?;
                path.clone()
            }
            Place::File { path, replaces } => {
                publish(path, text, *replaces)?;
                path.clone()
            }
            Place::Temporary => keep(text, extension)?,
        };
        if self.opens {
            open(&path)?;
            if matches!(self.to, Place::Temporary) {
                note(format!("treepie: written to {}", path.display()));
            }
        }
        Ok(())
    }
}

/// Writes a file beside its place and then gives it the name: nobody sees half of it, also where this ends early.
fn publish(path: &Path, text: &str, replaces: bool) -> Result<(), Error> {
    let mut file = temporary(".treepie-", "").tempfile_in(directory(path)).map_err(failed(path))?;
    file.write_all(text.as_bytes()).map_err(failed(path))?;
    if let Ok(old) = fs::metadata(path) {
        file.as_file().set_permissions(old.permissions()).map_err(failed(path))?;
    }
    let published: Result<fs::File, _> = match replaces {
        true => file.persist(path),
        false => file.persist_noclobber(path),
    };
    match published {
        Ok(_) => Ok(()),
        // It has come meanwhile.
        Err(refused) if refused.error.kind() == io::ErrorKind::AlreadyExists => Err(exists(path)),
        Err(refused) => Err(failed(path)(refused.error)),
    }
}

/// Writes a file that stays, for a browser to read when this has ended.
fn keep(text: &str, extension: &str) -> Result<PathBuf, Error> {
    let dir = env::temp_dir();
    let suffix = format!(".{extension}");
    let kept = temporary("treepie-", &suffix).tempfile().and_then(|mut file: NamedTempFile| {
        file.write_all(text.as_bytes())?;
        Ok(file.keep()?.1)
    });
    kept.map_err(failed(&dir))
}

/// Files of these names, which the umask alone keeps from others, as any other output.
fn temporary<'n>(prefix: &'n str, suffix: &'n str) -> tempfile::Builder<'n, 'n> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(suffix);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder
}

/// Time within which a browser that fails has failed. One that is still at work then is showing the page.
const FAILS_WITHIN: Duration = Duration::from_secs(1);

/// Shows a file in a browser.
fn open(path: &Path) -> Result<(), Error> {
    let mut tried = vec![];
    for (name, mut command) in browsers(path, env::var("BROWSER").ok().as_deref()) {
        match start(&mut command) {
            Ok(()) => return Ok(()),
            Err(why) => tried.push(format!("{} ({why})", terminal::printable(&name))),
        }
    }
    Err(Error::new(ErrorKind::NotFound, "showing the output")
        .expected("a browser")
        .found(format!("none: tried {}", tried.join(", ")))
        .in_file(path)
        .hint("set BROWSER, or open the file yourself"))
}

/// Programs that may show a page, by name, in the order they are tried. First come the variable's, separated by colons,
/// with %s for the file; then the system's.
fn browsers(path: &Path, variable: Option<&str>) -> Vec<(String, Command)> {
    let named = variable.unwrap_or_default().split(':').filter(|name| !name.trim().is_empty());
    let mut browsers: Vec<_> = named
        .map(|line| {
            let mut words = line.split_whitespace();
            let name = words.next().unwrap_or_default();
            let mut command = Command::new(name);
            let mut has_path = false;
            for word in words {
                match word {
                    "%s" => {
                        has_path = true;
                        command.arg(path)
                    }
                    word => command.arg(word),
                };
            }
            if !has_path {
                command.arg(path);
            }
            (name.to_owned(), command)
        })
        .collect();
    let (name, before): (_, &[&str]) = match env::consts::OS {
        "macos" => ("open", &[]),
        // Does the work of `start`, without a shell that would read the name of the file.
        "windows" => ("rundll32", &["url.dll,FileProtocolHandler"]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(name);
    command.args(before).arg(path);
    browsers.push((name.to_owned(), command));
    browsers
}

/// Starts a browser, and gives why it has ended at once, if it has.
fn start(command: &mut Command) -> Result<(), String> {
    // Output of the browser is not for readers of ours.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "not found".to_owned(),
        _ => error.to_string(),
    })?;
    const STEPS: u32 = 50;
    for _ in 0..STEPS {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(status.to_string()),
            Ok(None) => thread::sleep(FAILS_WITHIN / STEPS),
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_of_the_environment_come_first() {
        let path = Path::new("a b.html");
        let lines: Vec<_> = browsers(path, Some("w3m:firefox --new-window %s:: "))
            .iter()
            .map(|(name, command)| {
                let words = command.get_args().map(|word| word.to_string_lossy().into_owned());
                (name.clone(), words.collect::<Vec<_>>())
            })
            .collect();
        assert_eq!(lines[0], ("w3m".into(), vec!["a b.html".into()]));
        assert_eq!(lines[1], ("firefox".into(), vec!["--new-window".into(), "a b.html".into()]));
        assert_eq!(lines.len(), 3, "and that of the system");
        assert_eq!(lines[2].1.last().map(String::as_str), Some("a b.html"));
        assert_eq!(browsers(path, None).len(), 1);
    }
}
