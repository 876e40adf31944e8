//! Progress of a build on standard error: only on a terminal, and never with `--quiet`.

use std::{
    io::{self, IsTerminal, Read},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use treepie::writer::Progress;

use crate::output::{bytes, plural};

/// Counters of the threads of a build; cheap to clone and to count in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counters {
    /// Bytes read from the inputs as they lie on disk.
    pub(crate) read: Arc<AtomicU64>,
    /// Bytes of text after decompression.
    pub(crate) text: Arc<AtomicU64>,
    /// Last report of the writer.
    stage: Arc<Mutex<Option<Progress>>>,
}

impl Counters {
    pub(crate) fn text_bytes(&self) -> u64 {
        self.text.load(Relaxed)
    }

    pub(crate) fn set_stage(&self, stage: Progress) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = Some(stage);
    }

    fn stage(&self) -> Option<Progress> {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A line on the terminal that a thread keeps fresh until this is dropped.
#[derive(Debug)]
pub(crate) struct ProgressLine {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Interval between two changes of the line.
const TICK: Duration = Duration::from_millis(100);

impl ProgressLine {
    /// `total` is the number of bytes all inputs have on disk, if that is known.
    pub(crate) fn start(quiet: bool, total: Option<u64>, counters: &Counters) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        if quiet || !io::stderr().is_terminal() {
            return ProgressLine { stop, thread: None };
        }
        let (stopped, counters) = (Arc::clone(&stop), counters.clone());
        let thread = thread::spawn(move || draw(total, &counters, &stopped));
        ProgressLine { stop, thread: Some(thread) }
    }
}

impl Drop for ProgressLine {
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
        // The bar runs once for reading and once for merging.
        match (counters.stage(), total) {
            (
                Some(Progress::Merging { done, total } | Progress::Reordering { done, total }),
                Some(_),
            ) => {
                bar.set_length(total);
                bar.set_position(done);
            }
            _ => bar.set_position(counters.read.load(Relaxed)),
        }
        bar.set_message(message(counters, start.elapsed()));
        bar.tick();
        thread::sleep(TICK);
    }
    bar.finish_and_clear();
}

/// Text of the line, without the bar.
fn message(counters: &Counters, elapsed: Duration) -> String {
    let text = counters.text_bytes();
    let rate = text as f64 / 1e6 / elapsed.as_secs_f64().max(1e-3);
    let reading = |documents: u64| {
        format!("reading: {}, {} at {rate:.0} MB/s", plural(documents, "document"), bytes(text))
    };
    match counters.stage() {
        Some(Progress::Reading { documents, runs_spilled: 0 }) => reading(documents),
        Some(Progress::Reading { documents, runs_spilled }) => {
            format!("{}, {} spilled", reading(documents), plural(runs_spilled, "run"))
        }
        Some(Progress::Reordering { done, total }) => {
            format!("ordering by similarity: {}%", done * 100 / total.max(1))
        }
        Some(Progress::Merging { done, total }) => {
            format!("merging: {done} of {}", plural(total, "range"))
        }
        Some(Progress::Committing) => "committing".to_owned(),
        _ => reading(0),
    }
}

/// Adds what passes through to a counter.
#[derive(Debug)]
pub(crate) struct CountingReader<R> {
    from: R,
    counter: Arc<AtomicU64>,
}

impl<R> CountingReader<R> {
    pub(crate) fn new(from: R, counter: &Arc<AtomicU64>) -> Self {
        CountingReader { from, counter: Arc::clone(counter) }
    }
}

impl<R: Read> Read for CountingReader<R> {
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
        CountingReader::new(&b"ab\ncd\n"[..], &counters.text).read_to_string(&mut text).unwrap();
        let second = Duration::from_secs(1);
        assert_eq!(message(&counters, second), "reading: 0 documents, 6 B at 0 MB/s");
        counters.set_stage(Progress::Merging { done: 1, total: 3 });
        assert_eq!(message(&counters, second), "merging: 1 of 3 ranges");
    }

    #[test]
    fn without_a_terminal_nothing_is_drawn() {
        let progress = ProgressLine::start(true, Some(1), &Counters::default());
        assert!(progress.thread.is_none());
    }
}
