//! Children with mounts, limits and users of their own; with them it all goes away again.

use crate::process::Process;
use std::path::Path;
use std::process::Command;

/// Whether children can have mounts of their own, such as `script` makes.
pub(crate) fn can_mount(script: &str, place: &Path) -> bool {
    let mut command = in_namespace(script);
    command.env("PLACE", place).arg("true").output().is_ok_and(|ran| ran.status.success())
}

/// A child that begins once `script` has mounted something on, or in, its `$PLACE`. Nobody else sees that.
pub(crate) fn mounted(script: &str, role: &str, place: &Path) -> Process {
    let mut command = in_namespace(script);
    command.env("PLACE", place);
    Process::start_by(command, role, place).unwrap()
}

/// A child for which the system refuses memory of its own beyond so many bytes.
pub(crate) fn with_data_limit(bytes: u64, role: &str, place: &Path) -> Process {
    let mut command = Command::new("sh");
    // In KiB.
    command.args(["-c", &format!("ulimit -d {} && exec \"$@\"", bytes >> 10), "sh"]);
    Process::start_by(command, role, place).unwrap()
}

/// Runs `script`, then the arguments that follow.
fn in_namespace(script: &str) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", &format!("{script} && exec \"$@\""), "sh"]);
    command
}
