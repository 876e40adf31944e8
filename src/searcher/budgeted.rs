//! Searchers that stop by a budget.

use super::Searcher;
use crate::budget::{self, Budget};
use crate::limits;
use std::sync::Arc;

impl Searcher {
    /// Returns a searcher of this snapshot whose calls all stop within the budget. These are searches, counts,
    /// explanations, documents and highlighters, on whatever thread.
    ///
    /// A timeout begins with each call; several calls that share one have a [deadline](Budget::deadline). A
    /// [budget of a search](super::SearchBuilder::budget) holds beside this one.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use treepie::{Budget, ErrorKind};
    /// # use treepie::{Document, Index, Schema};
    /// # let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// # let mut writer = index.writer()?;
    /// # writer.add(Document::new().with("title", "Paris"))?;
    /// # writer.commit()?;
    ///
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("pari* OR london")?;
    /// let one_request = Budget::new().deadline(Instant::now() + Duration::from_secs(60)).memory_bytes(64 << 20);
    /// let hurried = searcher.with_budget(one_request);
    /// assert_eq!(hurried.count(&query)?, 1);
    /// assert_eq!(hurried.search(&query).run()?.hits.len(), 1);
    ///
    /// let too_late = searcher.with_budget(Budget::new().deadline(Instant::now()));
    /// assert_eq!(too_late.count(&query).unwrap_err().kind(), ErrorKind::Timeout);
    /// assert_eq!(searcher.count(&query)?, 1); // which has no budget
    /// # Ok::<(), treepie::Error>(())
    /// ```
    #[must_use]
    pub fn with_budget(&self, budget: Budget) -> Searcher {
        Searcher(Arc::clone(&self.0), Some(Arc::new(budget)))
    }

    /// A searcher that nothing stops.
    pub(super) fn without_budget(&self) -> Searcher {
        Searcher(Arc::clone(&self.0), None)
    }

    /// Makes the limits of the index, the searcher's budget and another one hold. Scopes end from the innermost to the outermost.
    pub(super) fn enter(
        &self,
        budget: &Budget,
    ) -> (budget::Scope, Option<budget::Scope>, Option<limits::Scope>) {
        let limits = self.0.setting.limits.as_deref().map(|limits| limits.enter());
        let own = self.1.as_deref().map(Budget::enter);
        (budget.enter(), own, limits)
    }
}
