//! Distances between vectors of a graph that is built.

use crate::graph::code::Codes;
use crate::schema::Metric;
use crate::simd::codes::{
    self, GROUP_OF_STRIP, Measured, STRIP, Tile, pack_into, tile, tile_distances,
};
use std::sync::Arc;

/// Codes with what makes the nearest of inner products those of least distance.
#[derive(Debug)]
pub(super) struct Space {
    pub(super) codes: Arc<Codes>,
    /// Squared length with the further number.
    squares: Vec<f32>,
    /// A further number of each vector; empty where there is none.
    extras: Vec<f32>,
}

impl Space {
    pub(super) fn new(codes: &Arc<Codes>) -> Self {
        let all = || (0..codes.len() as u32).map(|at| codes.measures(at).square);
        let mut space =
            Space { codes: Arc::clone(codes), squares: all().collect(), extras: vec![] };
        if codes.metric() == Metric::Dot {
            let greatest = all().fold(0.0, f32::max);
            space.extras = all().map(|square| (greatest - square).sqrt()).collect();
            space.squares.fill(greatest);
        }
        space
    }

    pub(super) fn len(&self) -> usize {
        self.codes.len()
    }

    #[inline]
    fn measured(&self, at: u32) -> [f32; 3] {
        let extra = self.extras.get(at as usize).copied().unwrap_or(0.0);
        [self.codes.measures(at).scale, self.squares[at as usize], extra]
    }

    /// Squared distance of two vectors.
    #[inline]
    pub(super) fn distance(&self, a: u32, b: u32) -> f32 {
        let product = codes::dot(self.codes.code(a), self.codes.sum(a), self.codes.code(b));
        codes::distance(self.measured(a), self.measured(b), product)
    }
}

/// Some vectors side by side, to be compared with others.
#[derive(Debug, Default)]
pub(super) struct Strips {
    /// Groups of each strip.
    n_groups: usize,
    groups: Vec<[u8; GROUP_OF_STRIP]>,
    sums: Vec<[i32; STRIP]>,
    measured: Vec<Measured>,
}

impl Strips {
    /// Replaces the vectors.
    pub(super) fn fill(&mut self, space: &Space, members: &[u32]) {
        let n_numbers = space.codes.dims();
        self.n_groups = n_numbers.div_ceil(codes::GROUP);
        self.groups.clear();
        self.sums.clear();
        self.measured.clear();
        for members in members.chunks(STRIP) {
            let rows = members.iter().map(|at| space.codes.code(*at));
            pack_into(rows, n_numbers, &mut self.groups);
            let (mut sums, mut measured) = ([0; STRIP], Measured::NONE);
            for (nth, at) in members.iter().enumerate() {
                sums[nth] = space.codes.sum(*at);
                [measured.scales[nth], measured.squares[nth], measured.extras[nth]] =
                    space.measured(*at);
            }
            self.sums.push(sums);
            self.measured.push(measured);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.sums.len()
    }

    fn groups(&self, nth: usize) -> &[[u8; GROUP_OF_STRIP]] {
        &self.groups[nth * self.n_groups..][..self.n_groups]
    }

    /// Inner products of the vectors of a strip with 16 codes that are no vectors.
    pub(super) fn products(&self, nth: usize, codes: &[[u8; GROUP_OF_STRIP]]) -> Tile {
        let mut products: Tile = [[0; STRIP]; STRIP];
        tile(self.groups(nth), &self.sums[nth], codes, &mut products);
        products
    }

    /// Scales of the vectors of a strip.
    pub(super) fn scales(&self, nth: usize) -> &[f32; STRIP] {
        &self.measured[nth].scales
    }

    /// Squared distances of the vectors of one strip from those of another; infinite where there is no vector.
    #[inline]
    pub(super) fn distances(
        &self,
        nth: usize,
        others: &Strips,
        other: usize,
        to: &mut [[f32; STRIP]; STRIP],
    ) {
        let mut products: Tile = [[0; STRIP]; STRIP];
        tile(self.groups(nth), &self.sums[nth], others.groups(other), &mut products);
        tile_distances(&products, &self.measured[nth], &others.measured[other], to);
    }
}
