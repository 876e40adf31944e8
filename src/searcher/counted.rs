//! A facet that was counted, and what lies in its buckets.

use super::hits::{Bucket, FacetCounts, FacetKind};
use super::ranges::FacetRange;
use super::select::LeftOut;
use crate::explain::{ColumnCounts, FacetActual, InBuckets};
use crate::facet::{AddressRange, ColumnProfile, FacetProfile};
use crate::plan::{FacetMethod, FacetPlan};
use crate::plural::counted;
use crate::schema::Field;
use std::ops::Range;
use std::time::Duration;

/// A facet that was counted.
pub(super) struct Counted {
    pub(super) counts: FacetCounts,
    /// Documents of each bucket, where these will be asked for.
    pub(super) buckets: Buckets,
    pub(super) by: CountedBy,
}

/// Values that the documents of buckets have.
pub(super) enum Buckets {
    Terms(Vec<Vec<u8>>),
    /// A code in a range.
    Codes(Vec<Range<u128>>),
    /// An address in a range.
    Addresses(Vec<AddressRange>),
}

/// Lists or columns that were looked at.
pub(super) enum CountedBy {
    Terms(FacetProfile),
    Column(ColumnProfile),
}

impl Counted {
    /// Ranges, each with its codes and its count; beside them so many documents with other values, and with none.
    pub(super) fn ranges(
        field: &Field,
        ranges: Vec<(FacetRange, Range<u128>, u64)>,
        outside: (u64, u64),
        profile: ColumnProfile,
    ) -> Self {
        let (mut shown, mut codes) = (vec![], vec![]);
        for (range, of_range, count) in ranges {
            shown.push((range, count));
            codes.push(of_range);
        }
        Self::of_buckets(field, shown, Buckets::Codes(codes), outside, profile)
    }

    /// Ranges with whatever says what is in each.
    pub(super) fn of_buckets(
        field: &Field,
        ranges: Vec<(FacetRange, u64)>,
        of_ranges: Buckets,
        (other, missing): (u64, u64),
        profile: ColumnProfile,
    ) -> Self {
        let bucket =
            |(FacetRange { from, to }, count)| Bucket { from, to, count, ..Bucket::default() };
        let buckets = ranges.into_iter().map(bucket).collect();
        let counts = FacetCounts {
            field: field.name.clone(),
            kind: FacetKind::Ranges,
            buckets,
            other: Some(other),
            missing,
            exact: true,
            ..FacetCounts::default()
        };
        Counted { counts, buckets: of_ranges, by: CountedBy::Column(profile) }
    }
}

/// A facet within the buckets of another, and what counting it took in all of them.
pub(super) struct Inner {
    /// Of values.
    pub(super) plan: Option<FacetPlan>,
    pub(super) left_out: LeftOut,
    pub(super) run: InnerRun,
    pub(super) inner: Vec<Inner>,
}

impl Inner {
    /// Time of counting it and the facets within it.
    pub(super) fn time(&self) -> Duration {
        let own = self.run.terms.time + self.run.column.time;
        self.inner.iter().map(Inner::time).fold(own, |sum, time| sum + time)
    }
}

/// Work of counting a facet, summed over the buckets that it lies within.
#[derive(Clone, Debug, Default)]
pub(super) struct InnerRun {
    pub(super) n_buckets: u64,
    /// In all of these together.
    pub(super) n_documents: u64,
    /// Of values; in how many buckets each way was taken.
    pub(super) terms: FacetProfile,
    pub(super) methods: Vec<(FacetMethod, u64)>,
    /// Of all else.
    pub(super) column: ColumnProfile,
}

impl InnerRun {
    pub(super) fn add(&mut self, by: &CountedBy, n_documents: u64) {
        self.n_buckets += 1;
        self.n_documents += n_documents;
        match by {
            CountedBy::Column(profile) => self.column.add(profile),
            CountedBy::Terms(profile) => {
                self.terms.terms_intersected += profile.terms_intersected;
                self.terms.terms_skipped += profile.terms_skipped;
                self.terms.terms_from_document_frequency += profile.terms_from_document_frequency;
                self.terms.deleted_taken_away += profile.deleted_taken_away;
                self.terms.bytes_read += profile.bytes_read;
                self.terms.time += profile.time;
                if let Some(column) = &profile.column {
                    self.column.add(column);
                    self.column.time = Duration::ZERO;
                }
                let Some(method) = profile.method else { return };
                match self.methods.iter_mut().find(|(other, _)| *other == method) {
                    Some((_, n)) => *n += 1,
                    None => self.methods.push((method, 1)),
                }
            }
        }
    }
}

impl InnerRun {
    pub(super) fn within(&self) -> InBuckets {
        InBuckets { buckets: self.n_buckets, documents: self.n_documents }
    }
}

impl Inner {
    /// How values were counted, for people.
    pub(super) fn ways(&self) -> String {
        let way = |(method, n): &(FacetMethod, u64)| {
            format!("{} in {}", method.name(), counted(*n, "bucket"))
        };
        self.run.methods.iter().map(way).collect::<Vec<_>>().join("; ")
    }

    /// Work of counting it; by a column the documents that were looked at there.
    pub(super) fn actual(&self) -> FacetActual {
        let InnerRun { terms, column, .. } = &self.run;
        FacetActual {
            terms_intersected: terms.terms_intersected,
            terms_skipped: terms.terms_skipped,
            terms_from_document_frequency: terms.terms_from_document_frequency,
            deleted_taken_away: terms.deleted_taken_away,
            time_ns: u64::try_from(terms.time.as_nanos()).unwrap_or(u64::MAX),
            bytes_read: terms.bytes_read,
            column: (column.documents > 0).then_some(ColumnCounts {
                documents: column.documents,
                blocks: column.blocks,
                blocks_skipped: column.blocks_skipped,
                ends_looked_up: column.ends_looked_up,
                deleted_taken_away: column.deleted_taken_away,
            }),
            within: Some(self.run.within()),
        }
    }
}
