//! Parameters of queries, and whether there are any neighbours in one.

use super::bind::check_size;
use super::nearest::unbound;
use super::{Effort, Neighbors, Numbers, Query, QueryVector};
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
        let query = self.with_some_vectors(vectors)?;
        let is_unbound = |part: &Query| matches!(part.vector(), Some(QueryVector::Parameter(_)));
        if let Some(Query::Nearest { vector: QueryVector::Parameter(name), place, .. }) =
            query.find(is_unbound)
        {
            return Err(unbound(name, place));
        }
        Ok(query)
    }

    /// Replaces parameters as [`with_vectors`](Self::with_vectors) does; those without a vector stay.
    pub(crate) fn with_some_vectors<S: Into<String>>(
        &self,
        vectors: impl IntoIterator<Item = (S, Vec<f32>)>,
    ) -> Result<Self> {
        let vectors: HashMap<String, QueryVector> =
            vectors.into_iter().map(|(name, numbers)| (name.into(), numbers.into())).collect();
        check_size(self)?;
        let unused = vectors.keys().filter(|name| !self.has_parameter(name));
        match unused.min() {
            Some(name) => Err(Error::new(ErrorKind::Query, "replacing parameters of a query")
                .expected(format!("a query with '${name}'"))
                .found("none of this name")),
            None => Ok(self.with_vectors_of(&vectors)),
        }
    }

    /// Recursive, as a tree that can be asked is not deep.
    fn with_vectors_of(&self, vectors: &HashMap<String, QueryVector>) -> Self {
        if let Some(QueryVector::Parameter(name)) = self.vector() {
            return match vectors.get(name) {
                Some(vector) => self.with_vector(vector.clone()),
                None => self.clone(),
            };
        }
        let children: Vec<_> =
            self.children().map(|child| child.with_vectors_of(vectors)).collect();
        self.with_children(children)
    }

    /// The query with names in the place of numbers, and what they stand for: [`with_vectors`](Self::with_vectors) is the way
    /// back. None where it has no numbers.
    pub(crate) fn with_parameters(&self) -> Option<(Self, Vec<(String, Numbers)>)> {
        let has_numbers = |part: &Query| matches!(part.vector(), Some(QueryVector::Numbers(_)));
        // A tree that cannot be asked may be too deep to walk.
        if self.find(has_numbers).is_none() || check_size(self).is_err() {
            return None;
        }
        let mut named = vec![];
        let query = self.with_names(&|name| self.has_parameter(name), &mut named);
        Some((query, named))
    }

    /// Recursive, as a tree that can be asked is not deep.
    fn with_names(
        &self,
        is_taken: &dyn Fn(&str) -> bool,
        named: &mut Vec<(String, Numbers)>,
    ) -> Self {
        if let Some(QueryVector::Numbers(numbers)) = self.vector() {
            let known = named.iter().find(|(_, known)| known == numbers);
            let name = known.map(|(name, _)| name.clone()).unwrap_or_else(|| {
                let is_new =
                    |name: &String| !is_taken(name) && named.iter().all(|(known, _)| known != name);
                let name = (1..).map(|nth: u64| format!("v{nth}")).find(is_new);
                let name = name.unwrap_or_default();
                named.push((name.clone(), numbers.clone()));
                name
            });
            return self.with_vector(QueryVector::Parameter(name));
        }
        let children: Vec<_> =
            self.children().map(|child| child.with_names(is_taken, named)).collect();
        self.with_children(children)
    }

    /// The vector whose neighbours it asks for, itself and not a part of it.
    fn vector(&self) -> Option<&QueryVector> {
        match self {
            Query::Nearest { vector, .. } => Some(vector),
            _ => None,
        }
    }

    /// A copy of it that asks for neighbours of another vector.
    fn with_vector(&self, other: QueryVector) -> Self {
        let mut query = self.clone();
        if let Query::Nearest { vector, .. } = &mut query {
            *vector = other;
        }
        query
    }

    /// Whether a parameter of this name is in it.
    fn has_parameter(&self, name: &str) -> bool {
        let is_it = |part: &Query| match part.vector() {
            Some(QueryVector::Parameter(own)) => own == name,
            _ => false,
        };
        self.find(is_it).is_some()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_for_numbers_each_once_and_are_none_of_those_that_are_there() {
        let of = |vector: QueryVector| Query::nearest("e", vector, 3);
        let (a, b) = (QueryVector::from([0.5, -1.0]), QueryVector::from([2.0]));
        let taken = of(QueryVector::Parameter("v2".into()));
        let query = Query::any_of([
            Query::all_of([of(a.clone()), Query::word("x")]),
            Query::not(of(b.clone())),
            of(a.clone()).boosted(2.0).unwrap(),
            taken.clone(),
        ]);
        let (named, vectors) = query.with_parameters().unwrap();
        let text = named.to_string();
        assert_eq!(text.matches("nearest($v1, 3)").count(), 2, "{text}");
        assert_eq!(text.matches("nearest($v3, 3)").count(), 1, "{text}");
        assert_eq!(text.matches("nearest($v2, 3)").count(), 1, "{text}");
        let vectors = vectors.iter().map(|(name, numbers)| (name.as_str(), numbers.as_slice()));
        assert_eq!(vectors.collect::<Vec<_>>(), [("v1", &[0.5, -1.0][..]), ("v3", &[2.0])]);
        assert!(Query::word("x").with_parameters().is_none());
        assert!(taken.with_parameters().is_none());
    }
}
