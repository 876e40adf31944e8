//! The terms of each document, as a bipartite graph.

/// The terms of documents, of both the numbers from 0 on: 4 bytes for each term of each document, and 4 for each document.
#[derive(Debug)]
pub(crate) struct Graph {
    /// Places where the terms of each document begin, and behind the last one where they end.
    starts: Vec<u32>,
    terms: Vec<u32>,
    n_terms: u32,
}

/// Bytes of memory for each term of each document.
pub(crate) const POSTING_BYTES: u64 = 4;
/// Postings that a graph can have.
pub(crate) const POSTINGS_MAX: u64 = u32::MAX as u64;

impl Graph {
    pub(crate) fn n_docs(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    pub(crate) fn n_terms(&self) -> u32 {
        self.n_terms
    }

    #[inline]
    pub(crate) fn terms_of(&self, doc: u32) -> &[u32] {
        let doc = doc as usize;
        &self.terms[self.starts[doc] as usize..self.starts[doc + 1] as usize]
    }
}

/// Builds a graph in two turns over the same postings: the first counts them, the second one puts them in their places.
#[derive(Debug)]
pub(crate) struct GraphBuilder {
    /// Terms of each document; once they are counted, where the next term of each goes.
    places: Vec<u32>,
    terms: Vec<u32>,
}

impl GraphBuilder {
    pub(crate) fn new(n_docs: u32) -> Self {
        GraphBuilder { places: vec![0; n_docs as usize + 1], terms: vec![] }
    }

    /// First turn: a document has a term. There must be no more than [`POSTINGS_MAX`].
    #[inline]
    pub(crate) fn count(&mut self, doc: u32) {
        if let Some(place) = self.places.get_mut(doc as usize) {
            *place += 1;
        }
    }

    /// Between the turns.
    pub(crate) fn end_count(&mut self) {
        let mut sum = 0;
        for place in &mut self.places {
            (*place, sum) = (sum, sum + *place);
        }
        self.terms = vec![0; sum as usize];
    }

    /// Second turn: a document has this term.
    #[inline]
    pub(crate) fn add(&mut self, doc: u32, term: u32) {
        let Some(place) = self.places.get_mut(doc as usize) else { return };
        if let Some(slot) = self.terms.get_mut(*place as usize) {
            *slot = term;
            *place += 1;
        }
    }

    /// The graph, where both turns brought the same.
    pub(crate) fn finish(mut self, n_terms: u32) -> Graph {
        // Each document ends where the next one begins.
        self.places.pop();
        self.places.insert(0, 0);
        Graph { starts: self.places, terms: self.terms, n_terms }
    }
}

#[cfg(test)]
pub(super) fn of(docs: &[&[u32]], n_terms: u32) -> Graph {
    let mut builder = GraphBuilder::new(docs.len() as u32);
    let all = || (0..).zip(docs).flat_map(|(doc, terms)| terms.iter().map(move |it| (doc, *it)));
    all().for_each(|(doc, _)| builder.count(doc));
    builder.end_count();
    all().for_each(|(doc, term)| builder.add(doc, term));
    builder.finish(n_terms)
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_document_has_its_terms() {
        let docs: [&[u32]; 5] = [&[], &[2, 0], &[1], &[], &[0, 1, 2]];
        let graph = super::of(&docs, 3);
        assert_eq!(graph.n_docs(), 5);
        for (doc, terms) in (0..).zip(docs) {
            assert_eq!(graph.terms_of(doc), terms);
        }
        assert_eq!(super::of(&[], 0).n_docs(), 0);
    }
}
