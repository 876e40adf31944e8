//! CRoaring on bitmaps that are ready in memory: the floor of counting by intersection, not an engine.

use std::collections::BTreeMap;

use croaring::Bitmap;

use super::{
    Other, TOP, Task,
    products::{MARKS, PRICES, each_document},
};
use crate::Result;

pub(super) struct Floor {
    marks: BTreeMap<&'static str, Bitmap>,
    brands: Vec<Bitmap>,
    prices: Vec<Bitmap>,
}

impl Floor {
    pub(super) fn new(documents: u64) -> Result<Self> {
        let mut marks: BTreeMap<_, _> = MARKS.map(|(mark, _)| (mark, Bitmap::new())).into();
        let mut brands: BTreeMap<String, Bitmap> = BTreeMap::new();
        let mut prices = vec![Bitmap::new(); PRICES.len() + 1];
        let mut number = 0;
        each_document(documents, |product| {
            for mark in &product.marks {
                marks.get_mut(mark).ok_or("a mark")?.add(number);
            }
            match brands.get_mut(product.brand) {
                Some(brand) => brand.add(number),
                None => drop(brands.insert(product.brand.into(), Bitmap::of(&[number]))),
            }
            prices[PRICES.partition_point(|end| *end <= product.cents)].add(number);
            number += 1;
            Ok(())
        })?;
        let mut floor = Floor { marks, brands: brands.into_values().collect(), prices };
        let lists = floor.brands.iter_mut().chain(&mut floor.prices);
        lists.chain(floor.marks.values_mut()).for_each(|list| {
            list.run_optimize();
        });
        Ok(floor)
    }
}

impl Other for Floor {
    fn name(&self) -> &'static str {
        "CRoaring"
    }

    fn is_peer(&self) -> bool {
        false
    }

    fn run(&mut self, task: Task, mark: &str) -> Result<Option<Vec<i64>>> {
        let lists = match task {
            Task::Brands => &self.brands,
            Task::Prices => &self.prices,
            _ => return Ok(None),
        };
        let matches = &self.marks[mark];
        let count = |list: &Bitmap| match mark == MARKS[3].0 {
            true => list.cardinality() as i64,
            false => list.and_cardinality(matches) as i64,
        };
        let mut counts: Vec<i64> = lists.iter().map(count).collect();
        if task == Task::Brands {
            counts.sort_unstable_by(|a, b| b.cmp(a));
            counts.truncate(TOP);
            counts.retain(|count| *count > 0);
        }
        Ok(Some(counts))
    }
}
