//! Nanoseconds of about each step: the units in which loops report their [work](super::work).
//!
//! They decide how soon the clock is asked and nothing else, so each is one rounded figure for all machines, of memory that is not in
//! the nearest caches. Ways of a search are chosen by the [cost model](crate::explain::Costs), whose figures can be measured.

// Dictionaries

/// Walking over a block of a dictionary.
pub(crate) const TERM_BLOCK: u64 = 700;
/// Testing a byte of a term against a pattern.
pub(crate) const PATTERN_BYTE: u64 = 2;
/// Looking a term up.
pub(crate) const TERM_LOOK_UP: u64 = 300;
/// Reading a term by its number.
pub(crate) const TERM_BY_ORDINAL: u64 = 150;
/// Walking over a term of a facet, and keeping it.
pub(crate) const TERM_WALKED: u64 = 100;
/// Finding the place of a term among others, or an end of a range.
pub(crate) const TERM_RANK: u64 = 500;
/// Looking the end of a range up, and adding up to it.
pub(crate) const RANGE_END: u64 = 1_000;
/// Reading a term and making the key that it is sorted by.
pub(crate) const TEXT_KEY: u64 = 1_000;

// Columns

/// Reading the value of one of a few documents.
pub(crate) const VALUE_OF_FEW: u64 = 10;
/// Finding the range of a document's value.
pub(crate) const VALUE_PLACED: u64 = 4;
/// Finding the range of one of many values.
pub(crate) const VALUE_OF_MANY: u64 = 5;
/// Sorting a code.
pub(crate) const CODE_SORTED: u64 = 20;
/// Comparing a code with a range.
pub(crate) const RANGE_COMPARED: u64 = 1;
/// Going through 64 bits.
pub(crate) const WORD_READ: u64 = 1;
/// Putting a document into a bucket.
pub(crate) const DOC_PUT: u64 = 5;
/// Comparing the value of a document.
pub(crate) const VALUE_COMPARED: u64 = 3;
/// Opening a block of a column.
pub(crate) const COLUMN_BLOCK: u64 = 40;
/// Comparing the box of a block of points with an area.
pub(crate) const POINTS_BOX: u64 = 30;
/// Adding the documents of a page of points.
pub(crate) const PAGE_ADDED: u64 = 2_000;
/// Comparing the points of a page with an area.
pub(crate) const PAGE_COMPARED: u64 = 5_000;
/// Comparing the points of a document with an area.
pub(crate) const POINT_TESTED: u64 = 30;
/// Comparing an edge of a polygon with a point outside of it.
pub(crate) const EDGE_TESTED: u64 = 10;
/// Reading a vector, beside its numbers.
pub(crate) const VECTOR_READ: u64 = 20;
/// Numbers of a vector that are compared in a nanosecond.
pub(crate) const NUMBERS_COMPARED: u64 = 2;
/// Comparing the values of all documents of a window.
pub(crate) const WINDOW_COMPARED: u64 = 30_000;
/// Reading the head of a block of a column.
pub(crate) const COLUMN_HEAD: u64 = 20;
/// Counting the number of a document, or adding it up.
pub(crate) const NUMBER_COUNTED: u64 = 2;
/// Going through a counter.
pub(crate) const COUNTER: u64 = 1;
/// Going through a code that was met.
pub(crate) const CODE_MET: u64 = 10;
/// Moving a code in a round of sorting or of merging.
pub(crate) const CODE_ROUND: u64 = 2;
/// Adding a value to a sketch.
pub(crate) const SKETCHED: u64 = 40;
/// Making a step of a histogram.
pub(crate) const STEP_MADE: u64 = 15;
/// Asking the calendar.
pub(crate) const CALENDAR: u64 = 200;
/// Asking of each document of a block whether it is wanted.
pub(crate) const BLOCK_ASKED: u64 = 2_000;
/// Counting a code.
pub(crate) const CODE_COUNTED: u64 = 3;
/// Counting the step of a value.
pub(crate) const STEP_COUNTED: u64 = 10;
/// Finding the interval of an instant.
pub(crate) const INTERVAL_FOUND: u64 = 50;
/// Adding a value up for statistics.
pub(crate) const VALUE_ADDED: u64 = 6;
/// Adding up the value of one of a few documents.
pub(crate) const VALUE_OF_FEW_ADDED: u64 = 12;

// Order and groups

/// Comparing a document of a block with the last of the first.
pub(crate) const DOC_RANKED: u64 = 4;
/// Putting a block among the others by its best.
pub(crate) const BLOCK_SORTED: u64 = 30;
/// Comparing the key of a text.
pub(crate) const TEXT_COMPARED: u64 = 20;
/// Comparing a document by a key.
pub(crate) const KEY_COMPARED: u64 = 15;
/// Looking up the group of a document.
pub(crate) const GROUP_LOOKED_UP: u64 = 300;

// Posting lists

/// Adding the documents of a short list to a set.
pub(crate) const SHORT_LIST_UNITED: u64 = 100;
/// Adding those of a container.
pub(crate) const CONTAINER_UNITED: u64 = 2_000;
/// A step of an operator on one window.
pub(crate) const WINDOW_STEP: u64 = 1_000;
/// Looking a document up in the list of a term.
pub(crate) const DOC_IN_TERM: u64 = 200;
/// Counting the inputs that have a document.
pub(crate) const DOC_INPUTS_COUNTED: u64 = 3;
/// Reading a container, and counting what it shares with a window.
pub(crate) const CONTAINER_INTERSECTED: u64 = 500;
/// Looking for a container in the header of a list.
pub(crate) const CONTAINER_LOOKED_FOR: u64 = 5;
/// Counting a term of a facet in a segment, without the containers of a long list.
pub(crate) const TERM_COUNTED: u64 = 200;
/// Looking a document of a short list up among what matches.
pub(crate) const DOC_OF_SHORT_LIST: u64 = 20;
/// Reading a list in the order of its field.
pub(crate) const LIST_STREAMED: u64 = 60;

// Phrases

/// Opening the positions of a list in a window.
pub(crate) const POSITIONS_OPENED: u64 = 1_000;
/// Looking up to 255 documents up in a list.
pub(crate) const RARE_LIST: u64 = 10_000;
/// Gathering the documents of a list in a window.
pub(crate) const CANDIDATES: u64 = 2_000;
/// Placing the words of a phrase in a document.
pub(crate) const WORDS_PLACED: u64 = 100;

// Ranking

/// Adding up the bounds of the lists of a window.
pub(crate) const WINDOW_BOUNDS: u64 = 2_000;
/// Scoring a block of a list.
pub(crate) const BLOCK_SCORED: u64 = 500;
/// A list in a block of a tree.
pub(crate) const BLOCK_OF_LIST: u64 = 100;
/// A phrase in a block of a tree.
pub(crate) const BLOCK_OF_PHRASE: u64 = 3_000;
/// Looking up a document that all lists must have.
pub(crate) const DOC_REQUIRED: u64 = 100;
/// Scoring a posting of a short list.
pub(crate) const POSTING_OF_FEW: u64 = 20;
/// Looking a document of a short list up in another list, to score it.
pub(crate) const DOC_OF_SHORT_SCORED: u64 = 50;
/// Scoring a posting of a list that is read from end to end.
pub(crate) const POSTING_SCORED: u64 = 5;
/// Scoring a document by all lists.
pub(crate) const DOC_SCORED: u64 = 200;
/// Reading a number of a document for a function.
pub(crate) const FUNCTION_NUMBER: u64 = 10;

// Hits

/// Fetching a hit: those of a page are far from each other.
pub(crate) const HIT_FETCHED: u64 = 50_000;
/// Adding a hit of a list to others.
pub(crate) const HIT_FUSED: u64 = 100;
/// Looking into a bucket, without what is counted there.
pub(crate) const BUCKET_OPENED: u64 = 2_000;
/// Trying a set of conditions, without reading.
pub(crate) const CONDITIONS_TRIED: u64 = 5_000;
/// Looking a term up in a document.
pub(crate) const TERM_IN_DOC: u64 = 500;
/// Looking at a word.
pub(crate) const WORD_MARKED: u64 = 50;

// Graphs of neighbours

/// Going on from a node of a graph: reading its links, and comparing those that were not seen.
pub(crate) const LINKS_WALKED: u64 = 1_000;
/// One of the tasks that a build consists of.
pub(crate) const GRAPH_TASK: u64 = 1_000_000;

// Merges

/// Weighing a document by its terms, for an order by similarity.
pub(crate) const DOC_WEIGHED: u64 = 50;
/// Reading a document of a term, for such an order.
pub(crate) const SIMILAR_POSTING: u64 = 3;

/// Asking of each document of a group of rows whether it is wanted.
pub(crate) const STORED_GROUP_ASKED: u64 = 500;
/// Reading the value that a document is ordered by.
pub(crate) const VALUE_RANKED: u64 = 20;
/// Writing that a document has no value in an added field.
pub(crate) const VALUE_MISSING: u64 = 10;
/// Comparing two documents.
pub(crate) const DOCS_COMPARED: u64 = 5;
/// Copying a row; terms are told of by their stream.
pub(crate) const ROW_COPIED: u64 = 200;
/// Copying the values of a document in a column.
pub(crate) const CODES_COPIED: u64 = 20;
/// Copying the places of a document's words.
pub(crate) const OFFSETS_COPIED: u64 = 50;
