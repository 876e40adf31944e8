//! Threads that writers share.

use crate::error::{Error, ErrorKind, Result};
use rayon::ThreadPoolBuilder;
use std::fmt;
use std::sync::Arc;

/// Threads that any number of writers work on.
///
/// So a program with many indexes has no more threads than processors. Cheap to clone: all clones are the same
/// threads, which end with the last of them.
///
/// ```
/// use treepie::{Document, Index, Schema, WriterOptions, writer::ThreadPool};
///
/// let pool = ThreadPool::new(2)?;
/// for title in ["Paris", "London"] {
///     let index = Index::in_memory(Schema::builder().text("title").build()?);
///     let mut writer = index.writer_with(WriterOptions::new().pool(&pool))?;
///     writer.add(Document::new().with("title", title))?;
///     writer.commit()?;
/// }
/// # Ok::<(), treepie::Error>(())
/// ```
#[derive(Clone)]
pub struct ThreadPool(pub(super) Arc<rayon::ThreadPool>);

impl ThreadPool {
    /// Starts threads.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Usage`] for none, [`ErrorKind::Io`] if the system has no room for them.
    pub fn new(threads: usize) -> Result<Self> {
        if threads == 0 {
            return Err(Error::new(ErrorKind::Usage, "starting the threads of a pool")
                .expected("at least 1")
                .found("0"));
        }
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|nth| format!("treepie-{nth}"));
        // Tests choose instructions by thread.
        #[cfg(test)]
        let pool = pool.start_handler(crate::simd::step_of_this_thread());
        pool.build().map(|pool| ThreadPool(Arc::new(pool))).map_err(|error| {
            Error::io(format!("starting {threads} threads"), std::io::Error::other(error))
        })
    }

    /// Returns the number of threads.
    pub fn threads(&self) -> usize {
        self.0.current_num_threads()
    }

    /// Runs work of the program's own on one of the threads, when one is free. Writers go on without it meanwhile.
    pub fn spawn(&self, work: impl FnOnce() + Send + 'static) {
        self.0.spawn(work);
    }
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPool").field("threads", &self.threads()).finish()
    }
}
