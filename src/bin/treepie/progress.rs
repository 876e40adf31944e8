//! Progress of a build on standard error: only on a terminal, and never with `--quiet`.

use std::{
    io::{self, IsTerminal, Read},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::{bytes, grouped};

/// What the threads of a build have done so far; cheap to clone and to count in.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// Bytes read from the inputs as they lie on disk.
    pub read: Arc<AtomicU64>,
    /// Bytes of text after decompression.
    pub text: Arc<AtomicU64>,
    /// Lines, or documents, of the input.
    pub lines: Arc<AtomicU64>,
    /// The input has ended, what remains is merging and writing.
    pub input_ended: Arc<AtomicBool>,
}

/// A line on the terminal that a thread keeps fresh until this is dropped.
#[derive(Debug)]
pub struct Progress {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// How often the line changes.
const TICK: Duration = Duration::from_millis(100);

impl Progress {
    /// `total` is the number of bytes all inputs have on disk, where that is known.
    pub fn start(quiet: bool, total: Option<u64>, counters: &Counters) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        if quiet || !io::stderr().is_terminal() {
            return Progress { stop, thread: None };
        }
        let (stopped, counters) = (Arc::clone(&stop), counters.clone());
        let thread = thread::spawn(move || draw(total, &counters, &stopped));
        Progress { stop, thread: Some(thread) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            // The drawing thread has nothing to say that matters here.
            let _ = thread.join();
        }
    }
}

fn draw(total: Option<u64>, counters: &Counters, stop: &AtomicBool) {
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
    let template = match total {
        Some(_) => "{spinner} {msg} [{wide_bar}] {percent}% {eta}",
        None => "{spinner} {msg}",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    let start = Instant::now();
    while !stop.load(Relaxed) {
        bar.set_position(counters.read.load(Relaxed));
        bar.set_message(message(counters, start.elapsed()));
        bar.tick();
        thread::sleep(TICK);
    }
    bar.finish_and_clear();
}

fn message(counters: &Counters, elapsed: Duration) -> String {
    let text = counters.text.load(Relaxed);
    let lines = grouped(counters.lines.load(Relaxed));
    match counters.input_ended.load(Relaxed) {
        true => format!("merging and writing {lines} lines ({})", bytes(text)),
        false => {
            let rate = text as f64 / 1e6 / elapsed.as_secs_f64().max(1e-3);
            format!("reading: {lines} lines, {} at {rate:.0} MB/s", bytes(text))
        }
    }
}

/// Adds what passes through to a counter.
#[derive(Debug)]
pub struct Counted<R> {
    from: R,
    counter: Arc<AtomicU64>,
}

impl<R> Counted<R> {
    pub fn new(from: R, counter: &Arc<AtomicU64>) -> Self {
        Counted { from, counter: Arc::clone(counter) }
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(into)?;
        self.counter.fetch_add(n as u64, Relaxed);
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_is_counted() {
        let counters = Counters::default();
        let mut text = String::new();
        Counted::new(&b"ab\ncd\n"[..], &counters.text).read_to_string(&mut text).unwrap();
        counters.lines.store(2, Relaxed);
        let message = message(&counters, Duration::from_secs(1));
        assert_eq!(message, "reading: 2 lines, 6 B at 0 MB/s");
    }

    #[test]
    fn without_a_terminal_nothing_is_drawn() {
        let progress = Progress::start(true, Some(1), &Counters::default());
        assert!(progress.thread.is_none());
    }
}
