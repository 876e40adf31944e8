//! Parameters of queries, and whether there are any neighbours in one.

use super::bind::check_size;
use super::nearest::unbound;
use super::{Effort, Neighbors, Query, QueryVector};
use crate::error::{Error, ErrorKind, Result};
use std::collections::HashMap;

impl Query {
    /// Replaces parameters by the vectors that they stand for.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Query`] for a parameter without a vector, and for a vector without its parameter.
    ///
    /// ```
    /// use treepie::query::{ParseOptions, parse};
    ///
    /// let query = parse("embedding:nearest($v, 10)", &ParseOptions::default())?;
    /// let query = query.with_vectors([("v", vec![1.0, 0.0])])?;
    /// assert_eq!(query.to_string(), "embedding:nearest([1, 0], 10)");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn with_vectors<S: Into<String>>(
        &self,
        vectors: impl IntoIterator<Item = (S, Vec<f32>)>,
    ) -> Result<Self> {
        let vectors: HashMap<String, QueryVector> =
            vectors.into_iter().map(|(name, numbers)| (name.into(), numbers.into())).collect();
        check_size(self)?;
        let is_of = |name: &str, part: &Query| match part {
            Query::Nearest { vector: QueryVector::Parameter(own), .. } => own == name,
            _ => false,
        };
        let unused = vectors.keys().filter(|name| self.find(|part| is_of(name, part)).is_none());
        match unused.min() {
            Some(name) => Err(Error::new(ErrorKind::Query, "replacing parameters of a query")
                .expected(format!("a query with '${name}'"))
                .found("none of this name")),
            None => self.with_vectors_of(&vectors),
        }
    }

    /// Recursive, as a tree that can be asked is not deep.
    fn with_vectors_of(&self, vectors: &HashMap<String, QueryVector>) -> Result<Self> {
        if let Query::Nearest { field, vector: QueryVector::Parameter(name), wanted, place } = self
        {
            let vector = vectors.get(name).ok_or_else(|| unbound(name, place))?.clone();
            let (field, wanted, place) = (field.clone(), *wanted, place.clone());
            return Ok(Query::Nearest { field, vector, wanted, place });
        }
        let children = self.children().map(|child| child.with_vectors_of(vectors));
        Ok(self.with_children(children.collect::<Result<Vec<_>>>()?))
    }

    /// The query with another effort of all that asks for the nearest; as it is where it is too large to be asked.
    pub(super) fn with_effort(self, effort: Effort) -> Self {
        match check_size(&self) {
            Ok(()) => self.with_effort_of(effort),
            Err(_) => self,
        }
    }

    /// Recursive, as a tree that can be asked is not deep.
    fn with_effort_of(&self, effort: Effort) -> Self {
        if let Query::Nearest { field, vector, wanted: Neighbors::Nearest(k, _), place } = self {
            let (field, vector, place) = (field.clone(), vector.clone(), place.clone());
            return Query::Nearest { field, vector, wanted: Neighbors::Nearest(*k, effort), place };
        }
        self.with_children(self.children().map(|child| child.with_effort_of(effort)))
    }

    /// Whether it, or a part of it, asks for neighbours of a vector.
    pub(crate) fn has_neighbors(&self) -> bool {
        self.find(|part| matches!(part, Query::Nearest { .. })).is_some()
    }

    /// Whether it, or a part of it, asks for a number of nearest documents, so that whether one matches depends on others.
    pub(crate) fn has_nearest(&self) -> bool {
        let is_nearest = |part: &Query| match part {
            Query::Nearest { wanted, .. } => matches!(wanted, Neighbors::Nearest(..)),
            _ => false,
        };
        self.find(is_nearest).is_some()
    }

    /// A part of it that is like this.
    pub(crate) fn find(&self, is_it: impl Fn(&Query) -> bool) -> Option<&Query> {
        let mut waiting = vec![self];
        while let Some(query) = waiting.pop() {
            if is_it(query) {
                return Some(query);
            }
            waiting.extend(query.children());
        }
        None
    }
}
