//! Time, memory and size, as the kernel counts them.

use std::{fs, path::Path, time::Instant};

use crate::Result;

/// Seconds of processor time that this process's ended children have used.
pub(crate) fn cpu_of_children() -> Result<f64> {
    ticks(13)
}

/// The seconds of user and of system time that begin with this field behind the name.
fn ticks(first: usize) -> Result<f64> {
    // USER_HZ: what user space sees is 100 a second on every Linux.
    const TICKS: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The second field is the name in parentheses, which may contain anything.
    let fields: Vec<&str> =
        stat.rsplit_once(')').ok_or("/proc/self/stat has no name")?.1.split(' ').collect();
    let (user, system): (f64, f64) = (fields[first + 1].parse()?, fields[first + 2].parse()?);
    Ok((user + system) / TICKS)
}

/// Seconds of processor time that this process has used, all of its threads together.
pub(crate) fn cpu() -> Result<f64> {
    ticks(11)
}

/// The most memory this process has had, in KiB.
pub(crate) fn peak_kib() -> Result<u64> {
    status("VmHWM:")
}

fn status(name: &str) -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with(name)).ok_or("no such line")?;
    Ok(line.split_whitespace().nth(1).ok_or("no figure")?.parse()?)
}

/// The memory that this process has for itself, and not from files, in KiB.
pub(crate) fn anonymous_kib() -> Result<u64> {
    status("RssAnon:")
}

/// Bytes of all files below a directory.
pub(crate) fn size_of(dir: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let found = entry.metadata()?;
        bytes += if found.is_dir() { size_of(&entry.path())? } else { found.len() };
    }
    Ok(bytes)
}

/// How many processes have wanted a processor, on average over the last minute.
pub(crate) fn load() -> Result<String> {
    let load = fs::read_to_string("/proc/loadavg")?;
    Ok(load.split(' ').next().unwrap_or_default().to_owned())
}

/// Microseconds that `run` took, and what it gave.
pub(crate) fn time<T>(run: impl FnOnce() -> Result<T>) -> Result<(f64, T)> {
    let start = Instant::now();
    let value = run()?;
    Ok((start.elapsed().as_nanos() as f64 / 1e3, value))
}

/// The middle one; the upper of two.
pub(crate) fn median(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

pub(crate) fn mean(figures: &[f64]) -> f64 {
    figures.iter().sum::<f64>() / figures.len() as f64
}
