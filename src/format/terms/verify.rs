//! Every invariant of a dictionary, checked in one pass over its blocks.

use super::block::{BLOCK_TERMS, Block, Damage};
use super::heads::{HeadsCheck, separator};
use super::{PostingsAt, TermDictionary, prefix_of};
use crate::bytes::{Source, common_prefix_len};
use crate::error::Result;

/// Totals of the blocks so far.
#[derive(Debug, Default)]
struct Totals {
    key_bytes: u64,
    info_bytes: u64,
    occurrence_bytes: u64,
    postings: u64,
    /// Start of the next block.
    blocks_end: u64,
    n_early: u32,
    last_term: Vec<u8>,
}

impl<'s, S: Source<'s>> TermDictionary<S> {
    /// Checks everything that the docs of this module promise; reads all three sections.
    pub(crate) fn verify(&self) -> Result<()> {
        let header = &self.index.header;
        let mut totals = Totals::default();
        let mut heads = self.heads.check(u64::from(header.n_blocks))?;
        for number in 0..header.n_blocks {
            let (block, first_ordinal) = self.block(number)?;
            self.verify_head(&block, first_ordinal, &mut totals, &mut heads)?;
            self.verify_terms(&block, &mut totals)?;
        }
        heads.finish()?;
        let sums = [
            ("bytes of blocks", header.blocks_len, totals.blocks_end),
            ("bytes of keys", header.key_bytes, totals.key_bytes),
            ("bytes of infos", header.info_bytes, totals.info_bytes),
            ("bytes of occurrences", header.occurrence_bytes, totals.occurrence_bytes),
            ("bytes of postings", header.postings_len, totals.postings),
            ("blocks closed early", u64::from(self.index.n_early()), u64::from(totals.n_early)),
        ];
        match sums.into_iter().find(|(_, written, counted)| written != counted) {
            None => Ok(()),
            Some((what, written, counted)) => {
                Err(self.index.damage(0, format!("{written} {what}, which add up to {counted}")))
            }
        }
    }

    /// Checks this block against the other two sections and the block before.
    fn verify_head(
        &self,
        block: &Block<'s>,
        first_ordinal: u32,
        totals: &mut Totals,
        heads: &mut HeadsCheck<'s, S>,
    ) -> Result<()> {
        let damage = |found| self.damage(block, Damage { at: 0, found });
        let number = block.number;
        let head = block.head().map_err(|damage| self.damage(block, damage))?;
        let shared = common_prefix_len(&totals.last_term, head);
        let is_first = number == 0;
        if !is_first && totals.last_term.get(shared) >= head.get(shared) {
            return Err(damage("a first term that is not greater than the last one before"));
        }
        heads.expect(if is_first { &[] } else { separator(shared, head) }, number)?;

        if self.index.prefix(number)? != prefix_of(head) {
            return Err(damage("a first term that does not begin with its prefix in the index"));
        }
        let top = self.index.top_at(number)?;
        if top.is_some_and(|top| top != (prefix_of(head), block.at)) {
            return Err(damage("a first term or offset that its top entry does not have"));
        }
        if block.at != totals.blocks_end {
            return Err(damage("a gap or overlap before the block"));
        }
        if block.postings_base != totals.postings {
            return Err(damage("posting lists that do not follow those of the block before"));
        }
        let is_last = number + 1 == self.index.header.n_blocks;
        if block.count < BLOCK_TERMS && !is_last {
            let after = first_ordinal + block.count;
            let is_listed = totals.n_early < self.index.n_early()
                && self.index.early(totals.n_early)? == (number, after);
            if !is_listed {
                return Err(damage("fewer than 32 terms, which the index does not list"));
            }
            totals.n_early += 1;
        }
        totals.blocks_end += block.len() as u64;
        totals.key_bytes += block.key_bytes() as u64;
        totals.info_bytes += block.info_bytes() as u64;
        totals.occurrence_bytes += block.occurrence_bytes() as u64;
        Ok(())
    }

    /// Order, infos, and that nothing is left over.
    fn verify_terms(&self, block: &Block<'s>, totals: &mut Totals) -> Result<()> {
        let damage = |damage| self.damage(block, damage);
        let (mut keys, mut infos) = (block.keys(), block.infos());
        let last_term = &mut totals.last_term;
        let mut n_inline = 0;
        for index in 0..block.count {
            let (shared, suffix) = block.next_key(&mut keys).map_err(damage)?;
            // Shared bytes are counted exactly, so the first byte after them must be greater.
            if index > 0 && last_term.get(shared) >= suffix.first() {
                let found = "a term that is not greater than the one before";
                return Err(damage(Damage { at: 0, found }));
            }
            last_term.truncate(shared);
            last_term.extend_from_slice(suffix);
            let info = block.info(&mut infos, index).map_err(damage)?;
            match info.postings {
                PostingsAt::Inline(docs) => n_inline += docs.as_slice().len(),
                PostingsAt::Section { len: 0, .. } => {
                    return Err(damage(Damage { at: 0, found: "an empty posting list" }));
                }
                PostingsAt::Section { offset, len, ranked_len } => {
                    totals.postings = offset + u64::from(len) + ranked_len;
                }
            }
        }
        if !block.all_consumed(&keys, &infos, n_inline) {
            return Err(damage(Damage { at: 0, found: "bytes that belong to no term" }));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::heads::HeadsBuilder;
    use super::super::index::{
        BLOCKS_LEN_AT, INFO_BYTES_AT, KEY_BYTES_AT, N_EARLY_AT, OCCURRENCE_BYTES_AT,
        POSTINGS_LEN_AT, TOPS_AT,
    };
    use super::super::tests::damage::with_lone_terms;
    use super::super::tests::{Sections, documented};

    /// Checks the refusal of a sound dictionary with these changes, each of which no other check notices.
    fn refused(mut sections: Sections, change: impl FnOnce(&mut Sections), why: &str) {
        sections.open().unwrap().verify().unwrap();
        change(&mut sections);
        let error = sections.open().unwrap().verify().expect_err(why).to_string();
        assert!(error.contains(why), "{error}");
    }

    /// Puts a byte into TERMS, and says so in INDEX.
    fn insert(sections: &mut Sections, at: usize, byte: u8) {
        sections.blocks.insert(at, byte);
        sections.index[BLOCKS_LEN_AT] += 1;
    }

    // Places in the example of the docs.
    const KEY_BYTES: usize = 2;
    const POSTINGS_BASE: usize = 3;
    const LAST_BYTE_OF_PART: usize = 12;
    const KEYS_END: usize = 15;
    const LEN_OF_LIST: usize = 20;
    const PREFIX: usize = TOPS_AT + 16;
    const OFFSET: usize = PREFIX + 8;

    #[test]
    fn whatever_a_block_has_otherwise_than_index_and_terms_say_is_refused() {
        let check = |change: &dyn Fn(&mut Sections), why| refused(documented(), change, why);
        for byte in [b'i', b'h', 0] {
            let why = "a term that is not greater than the one before";
            check(&|own| own.blocks[LAST_BYTE_OF_PART] = byte, why);
        }
        check(&|own| own.blocks[LEN_OF_LIST] = 0, "an empty posting list");
        let why = "posting lists that do not follow those of the block before";
        check(&|own| own.blocks[POSTINGS_BASE] = 1, why);
        let unused_key = |own: &mut Sections| {
            insert(own, KEYS_END, 0);
            own.blocks[KEY_BYTES] += 1;
            own.index[KEY_BYTES_AT] += 1;
        };
        check(&unused_key, "bytes that belong to no term");

        let why = "a first term that does not begin with its prefix in the index";
        check(&|own| own.index[PREFIX] ^= 1, why);
        let why = "a first term or offset that its top entry does not have";
        check(&|own| own.index[TOPS_AT] ^= 1, why);
        let in_group = |own: &mut Sections| {
            insert(own, 0, 0);
            own.index[OFFSET] = 1;
        };
        check(&in_group, why);
        let at_top = |own: &mut Sections| {
            insert(own, 0, 0);
            own.index[TOPS_AT + 8] = 1;
        };
        check(&at_top, "a gap or overlap before the block");

        for at in [KEY_BYTES_AT, INFO_BYTES_AT, OCCURRENCE_BYTES_AT, POSTINGS_LEN_AT] {
            check(&|own| own.index[at] -= 1, "which add up to");
        }
        check(&|own| own.index[POSTINGS_LEN_AT + 7] = 1, "of postings, which add up to 6");
    }

    #[test]
    fn blocks_that_do_not_ascend_are_refused() {
        let change = |own: &mut Sections, head: &[u8]| {
            // The fourth block begins with a byte for its head's length, and behind it the head: 9 and 0.
            let dictionary = own.open().unwrap();
            let at = dictionary.index.block_range(3).unwrap().start as usize;
            let head_at = at + own.blocks[at..].windows(3).position(|of| of == [2, 9, 0]).unwrap();
            own.blocks[head_at + 1..][..2].copy_from_slice(head);
            // A group of five blocks, behind its top.
            let prefix_at = TOPS_AT + 16 + 3 * 8;
            own.index[prefix_at..][6..8].copy_from_slice(&[head[1], head[0]]);
            let mut heads = HeadsBuilder::default();
            let separators = [&[][..], &[2], &[3], head, &[9, 32]];
            separators.iter().zip(0..).for_each(|(separator, n)| heads.add(separator, n));
            own.heads = heads.finish();
        };
        let why = "a first term that is not greater than the last one before";
        refused(with_lone_terms(), |own| change(own, &[3, 3]), why);
        refused(with_lone_terms(), |own| change(own, &[3, 2]), why);
    }

    #[test]
    fn blocks_that_closed_early_are_refused_where_the_list_has_others() {
        let entries = |own: &mut Sections, entries: &[u32]| {
            own.index.truncate(own.index.len() - 3 * 8);
            own.index[N_EARLY_AT] = (entries.len() / 2) as u8;
            own.index.extend(entries.iter().flat_map(|number| number.to_le_bytes()));
        };
        let sound = [0, 1, 1, 2, 2, 3];
        refused(
            with_lone_terms(),
            |own| entries(own, &[&sound[..], &[3, 35]].concat()),
            "closed early, which add up to 3",
        );
        // Whoever looks for a block finds the right entries in the middle.
        let why = "fewer than 32 terms, which the index does not list";
        refused(with_lone_terms(), |own| entries(own, &[0, 0, 0, 1, 1, 2, 2, 3]), why);
    }
}
