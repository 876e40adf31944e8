//! Options of a writer: its memory, its threads, and its progress reports.

use crate::error::{Error, ErrorKind, Result};
use crate::events::Observer;
use crate::ids::SegmentId;
use crate::limits::Limits;
use crate::storage::IoPriority;
use crate::writer::merge_policy::MergePolicy;
use crate::writer::pipeline::{OnProgress, Progress, Resources};
use crate::writer::thread_pool::ThreadPool;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Memory of a build unless said otherwise.
const MEMORY_BYTES: usize = 256 << 20;
/// The least memory a build can do with: a batch and its buffers for each thread.
const MEMORY_BYTES_MIN: usize = 16 << 20;

/// Options of an [`IndexWriter`](crate::IndexWriter).
#[derive(Default)]
pub struct WriterOptions {
    memory_bytes: Option<usize>,
    threads: Option<usize>,
    pool: Option<ThreadPool>,
    on_progress: Option<OnProgress>,
    id_seed: Option<[u8; 16]>,
    limits: Limits,
    observer: Arc<Observer>,
    pub(super) wait: Duration,
    pub(super) merge_policy: MergePolicy,
    pub(super) merge_bytes_per_second: Option<u64>,
    pub(super) merge_io_priority: IoPriority,
}

impl WriterOptions {
    /// 256 MiB of memory, a thread for each processor, no word of progress.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the memory of a build in bytes (default: 256 MiB; minimum 16 MiB).
    ///
    /// Data that does not fit is spilled into the index directory. Each 16 MiB are enough for one thread to read documents
    /// with; others wait until merging. A single document may take more, and so may
    /// [what merging holds](crate::IndexWriter#cost), and what is put in an [order](crate::schema::SchemaBuilder::order_by).
    /// Ordering takes as few passes as a quarter of this memory makes possible, and at most about twice this at once:
    /// documents beyond that become further segments.
    #[must_use]
    pub fn memory_bytes(mut self, bytes: usize) -> Self {
        self.memory_bytes = Some(bytes);
        self
    }

    /// Sets the number of threads (default: one for each processor). With 1 everything happens on the
    /// caller's thread. The threads end with the writer.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Works on the threads of a [pool](ThreadPool) that writers share, and starts none. If they are all busy, or wait for
    /// this writer themselves, whoever waits does the work.
    #[must_use]
    pub fn pool(mut self, pool: &ThreadPool) -> Self {
        self.pool = Some(pool.clone());
        self
    }

    /// Sets how long to wait for another writer to finish (default: not at all).
    ///
    /// It may be in this process or any other.
    ///
    /// The lock is asked for again after 1 ms, then after longer and longer, up to 100 ms; a
    /// [budget](crate::Budget) that holds for the thread ends the wait, too. Writers do not queue: whoever asks first
    /// after the lock is free has it.
    ///
    /// ```
    /// use std::time::Duration;
    /// use treepie::{ErrorKind, Index, Schema, WriterOptions};
    ///
    /// let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// let first = index.writer()?;
    /// let wait = || WriterOptions::new().wait(Duration::from_millis(20));
    /// assert_eq!(index.writer_with(wait()).unwrap_err().kind(), ErrorKind::Locked);
    /// drop(first);
    /// index.writer_with(wait())?;
    /// # Ok::<(), treepie::Error>(())
    /// ```
    #[must_use]
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// Sets which segments [`maintain`](crate::IndexWriter::maintain) merges (default: [`MergePolicy::default`]).
    #[must_use]
    pub fn merge_policy(mut self, policy: MergePolicy) -> Self {
        self.merge_policy = policy;
        self
    }

    /// Sets how many bytes a second all merges write at most.
    ///
    /// That is for all [jobs](crate::writer::MergeJob) together. The default, and 0, is as many as the disk takes.
    /// Merges in the foreground are not slowed down: somebody waits for them.
    #[must_use]
    pub fn merge_bytes_per_second(mut self, bytes: u64) -> Self {
        self.merge_bytes_per_second = Some(bytes);
        self
    }

    /// Sets how urgent the reads and writes of [jobs](crate::writer::MergeJob) are (default: [`IoPriority::Low`]). The thread
    /// that runs one has that priority meanwhile, and afterwards its own again. Merges in the
    /// foreground are as urgent as the thread that waits for them.
    #[must_use]
    pub fn merge_io_priority(mut self, priority: IoPriority) -> Self {
        self.merge_io_priority = priority;
        self
    }

    /// Sets the function called after each step of the work, on the caller's thread.
    #[must_use]
    pub fn on_progress(mut self, on_progress: impl FnMut(Progress) + Send + 'static) -> Self {
        self.on_progress = Some(Box::new(on_progress));
        self
    }

    /// Draws the ids of segments from `seed` and not at random.
    ///
    /// So the same documents give the same bytes. For tests: two segments of one index must never have the same id,
    /// so no seed may be used twice for the same index.
    #[must_use]
    pub fn reproducible_ids(mut self, seed: [u8; 16]) -> Self {
        self.id_seed = Some(seed);
        self
    }

    /// Sets the limits of documents that the index has.
    pub(crate) fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Who counts and tells what the writer does: the index.
    pub(crate) fn observed_by(mut self, observer: Arc<Observer>) -> Self {
        self.observer = observer;
        self
    }

    pub(super) fn limits(&self) -> Limits {
        self.limits
    }

    pub(super) fn resolve(self) -> Result<(Resources, IdSource, Option<OnProgress>)> {
        let memory_bytes = self.memory_bytes.unwrap_or(MEMORY_BYTES);
        if memory_bytes < MEMORY_BYTES_MIN {
            return Err(Error::new(ErrorKind::Usage, "setting the memory of a build")
                .expected(format!("at least {MEMORY_BYTES_MIN} bytes"))
                .found(memory_bytes.to_string()));
        }
        let pool = match (self.pool, self.threads) {
            (Some(_), Some(_)) => {
                return Err(Error::new(ErrorKind::Usage, "setting the threads of a build")
                    .expected("a pool or a number of threads")
                    .found("both"));
            }
            (Some(pool), None) => Some(pool.0),
            (None, Some(0)) => {
                return Err(Error::new(ErrorKind::Usage, "setting the threads of a build")
                    .expected("at least 1")
                    .found("0"));
            }
            (None, threads) => start_pool(threads)?,
        };
        let ids = IdSource { seed: self.id_seed, drawn: 0 };
        Ok((Resources { memory_bytes, pool, observer: self.observer }, ids, self.on_progress))
    }
}

/// The threads of one writer; none if the caller's is enough.
fn start_pool(threads: Option<usize>) -> Result<Option<Arc<rayon::ThreadPool>>> {
    let threads =
        threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    match threads {
        1 => Ok(None),
        threads => ThreadPool::new(threads).map(|pool| Some(pool.0)),
    }
}

impl fmt::Debug for WriterOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriterOptions")
            .field("memory_bytes", &self.memory_bytes)
            .field("threads", &self.threads)
            .field("wait", &self.wait)
            .finish_non_exhaustive()
    }
}

/// Source of the ids of new segments.
#[derive(Debug)]
pub(super) struct IdSource {
    seed: Option<[u8; 16]>,
    drawn: u64,
}

impl IdSource {
    pub(super) fn next(&mut self) -> SegmentId {
        let Some(mut id) = self.seed else { return SegmentId::random() };
        self.drawn += 1;
        id.iter_mut().zip(self.drawn.to_le_bytes()).for_each(|(byte, drawn)| *byte ^= drawn);
        SegmentId(id)
    }

    /// A number for deletes, which is not 0.
    pub(super) fn next_number(&mut self) -> u64 {
        let SegmentId(id) = self.next();
        let half = std::array::from_fn(|at| id[at] ^ id[at + 8]);
        u64::from_le_bytes(half).max(1)
    }
}
