//! Log of lines in a file of bounded size.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// File that lines are added to, by several processes perhaps, and that is set aside when it is full.
pub(crate) struct LogFile {
    path: PathBuf,
    file: File,
    /// Whether the last line has no end: whoever wrote it was killed, or the disk was full.
    is_torn: bool,
}

impl LogFile {
    pub(crate) fn open(path: &Path) -> io::Result<LogFile> {
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        let mut last = [b'\n'];
        // A file without an end to look at is a pipe or a device.
        if file.metadata()?.is_file() && file.seek(SeekFrom::End(0))? > 0 {
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
        }
        Ok(LogFile { path: path.to_owned(), file, is_torn: last != *b"\n" })
    }

    /// Adds a line, in one call, so that lines of several processes do not mix; the file grows to so many bytes at the most.
    pub(crate) fn write(&mut self, line: &str, bytes_max: u64) -> io::Result<()> {
        let bytes = line.len() as u64 + 1;
        if bytes > bytes_max {
            let message = format!("a line of {bytes} bytes in a log of {bytes_max} at the most");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        self.make_room(bytes, bytes_max)?;
        let written = match self.is_torn {
            true => self.file.write_all(format!("\n{line}").as_bytes()),
            false => self.file.write_all(line.as_bytes()),
        };
        self.is_torn = written.is_err();
        written
    }

    /// Sets the file aside where so many bytes more are too many. Another process may have done that already: then only the
    /// new one is opened.
    fn make_room(&mut self, bytes: u64, bytes_max: u64) -> io::Result<()> {
        let is_full = |len: u64| len.saturating_add(bytes) > bytes_max;
        if !is_full(self.file.metadata()?.len()) {
            return Ok(());
        }
        if fs::metadata(&self.path).is_ok_and(|at_path| is_full(at_path.len())) {
            let mut aside = self.path.clone().into_os_string();
            aside.push(".1");
            fs::rename(&self.path, aside)?;
        }
        *self = LogFile::open(&self.path)?;
        Ok(())
    }
}
