//! This binary once more, as a process of its own with a line to whom it was started by.
//!
//! The line is a pair of sockets, one of which is the standard input of the child: both sides write lines of text
//! into it, and what was written before a kill still arrives.

use crate::roles;
use std::cell::RefCell;
use std::env;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::time::Duration;

const ROLE: &str = "TREEPIE_PROCESSES_ROLE";
const PLACE: &str = "TREEPIE_PROCESSES_PLACE";
/// The most that a process may be silent while it is waited for.
const SILENCE: Duration = Duration::from_secs(600);

/// A child, as its parent sees it. Killed with the test.
pub(crate) struct Process {
    child: Child,
    line: BufReader<UnixStream>,
    role: String,
}

impl Process {
    pub(crate) fn start(role: &str, place: &Path) -> Process {
        Self::start_with(Command::new(this_binary()), role, place).unwrap()
    }

    /// A child that leaves the processor to others, so that there is a writer beside readers that never rest.
    pub(crate) fn start_nice(role: &str, place: &Path) -> Process {
        Self::start_by(Command::new("nice"), role, place).unwrap()
    }

    /// A child that another program begins as: what `program` runs in the end is what follows its arguments.
    pub(crate) fn start_by(mut program: Command, role: &str, place: &Path) -> io::Result<Process> {
        program.arg(this_binary());
        Self::start_with(program, role, place)
    }

    /// Adds what makes of a command that runs this binary a child of this role.
    pub(crate) fn start_with(
        mut command: Command,
        role: &str,
        place: &Path,
    ) -> io::Result<Process> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_read_timeout(Some(SILENCE))?;
        let child = command
            .args(["process::role", "--exact", "--ignored", "--nocapture", "--test-threads=1"])
            .env(ROLE, role)
            .env(PLACE, place)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .spawn()?;
        Ok(Process { child, line: BufReader::new(ours), role: role.to_owned() })
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The next line that the child says; `None` once it has ended.
    pub(crate) fn hear(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.line.read_line(&mut line) {
            Ok(_) if line.ends_with('\n') => Some(line.trim_end().to_owned()),
            // A child may be killed in the middle of a line.
            Ok(_) => None,
            Err(error) if error.kind() == ErrorKind::ConnectionReset => None,
            Err(error) => panic!("{} {}: {error}", self.role, self.id()),
        }
    }

    /// The next line, which must be one that begins with `what`; the rest of it.
    pub(crate) fn expect(&mut self, what: &str) -> String {
        let line = self.hear();
        let rest = line.as_deref().and_then(|line| line.strip_prefix(what));
        rest.map(|rest| rest.trim().to_owned())
            .unwrap_or_else(|| panic!("{} {}: {what}, not {line:?}", self.role, self.id()))
    }

    pub(crate) fn tell(&mut self, line: &str) {
        writeln!(self.line.get_mut(), "{line}").unwrap();
    }

    /// Kills the child; what it had still said.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        let said = std::iter::from_fn(|| self.hear()).collect();
        let status = self.child.wait().unwrap();
        assert_eq!(status.signal(), Some(9), "{} ended before it was killed: {status}", self.role);
        said
    }

    /// Panics where the child has ended by itself.
    pub(crate) fn assert_alive(&mut self) {
        if let Some(status) = self.child.try_wait().unwrap() {
            panic!("{} {} has ended: {status}", self.role, self.id());
        }
    }

    /// Tells the child to end, and waits for it; what it had still said.
    pub(crate) fn end(self) -> Vec<String> {
        self.ending()();
        let role = self.role.clone();
        let (said, status) = self.wait();
        assert!(status.success(), "{role}: {status}");
        said
    }

    /// What tells the child to end, for somebody who does not wait for it.
    pub(crate) fn ending(&self) -> impl FnOnce() + use<> {
        let line = self.line.get_ref().try_clone().unwrap();
        move || drop(line.shutdown(Shutdown::Write))
    }

    /// Waits for the end of a child that ends by itself; what it had still said.
    pub(crate) fn wait(mut self) -> (Vec<String>, ExitStatus) {
        let said = std::iter::from_fn(|| self.hear()).collect();
        (said, self.child.wait().unwrap())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn this_binary() -> PathBuf {
    env::current_exe().unwrap()
}

/// The line of a child to its parent.
pub(crate) struct Parent {
    line: RefCell<BufReader<UnixStream>>,
    pub(crate) place: PathBuf,
}

impl Parent {
    /// Says a line. A child without a parent ends.
    pub(crate) fn say(&self, what: impl std::fmt::Display) {
        if writeln!(self.line.borrow_mut().get_mut(), "{what}").is_err() {
            std::process::exit(0);
        }
    }

    /// Waits for a line.
    pub(crate) fn hear(&self) -> String {
        let mut line = String::new();
        self.line.borrow_mut().read_line(&mut line).unwrap();
        assert!(line.ends_with('\n'), "the parent has ended");
        line.trim_end().to_owned()
    }

    /// Whether the parent wants the child to end, or has ended itself.
    pub(crate) fn wants_the_end(&self) -> bool {
        let mut line = self.line.borrow_mut();
        let stream = line.get_mut();
        stream.set_nonblocking(true).unwrap();
        let read = stream.read(&mut [0]);
        stream.set_nonblocking(false).unwrap();
        match read {
            Ok(n) => n == 0,
            Err(error) => error.kind() != ErrorKind::WouldBlock,
        }
    }
}

/// What the children run.
#[test]
#[ignore = "it is started by the other tests"]
fn role() {
    let Ok(role) = env::var(ROLE) else { return };
    let line = || UnixStream::from(io::stdin().as_fd().try_clone_to_owned().unwrap());
    // Before anything else: printing where it was takes so long that a kill may come first.
    let (report, to) = (std::panic::take_hook(), Mutex::new(line()));
    std::panic::set_hook(Box::new(move |panic| {
        let what = panic.to_string().replace('\n', " ");
        let _ = writeln!(to.lock().unwrap(), "panicked: {what}");
        report(panic);
    }));
    let line = line();
    let place = PathBuf::from(env::var_os(PLACE).unwrap());
    roles::play(&role, &Parent { line: RefCell::new(BufReader::new(line)), place });
}
