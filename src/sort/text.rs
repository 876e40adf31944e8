//! Orders of texts other than by bytes. Their keys have bytes in that order.
//!
//! To rank all terms of a dictionary so would take longer than most searches. So a key is made of a term when a document is met that
//! has it, and some are kept at hand. Documents are compared by the first 15 bytes of a key, as a number, then by the rest.
//!
//! Keys do not depend on the segment, and are never written to disk: those of a collation may be others in the next version of it.

use super::key::{Direction, TextSort};
use super::order::SortField;
use crate::analysis::natural_key;
use crate::budget::{self, Held, ns};
use crate::error::{Error, ErrorKind, Result};
use crate::format::column::AtHand;
use crate::format::terms::TermDictionary;
use crate::ids::TermOrdinal;
use crate::segment::file::Section;
use std::cmp::Ordering;
use std::rc::Rc;
use std::sync::Arc;

const AT_HAND: usize = 4_096;
/// Bytes of a key that are compared as a number.
const PREFIX_LEN: usize = 15;
/// Bytes of a key beside its text.
const KEY_BYTES: usize = 96;

/// Order of texts.
#[derive(Debug)]
pub(crate) enum TextOrder {
    Natural,
    #[cfg(feature = "collation")]
    Collated(Box<icu_collator::CollatorBorrowed<'static>>),
}

/// A term, and what it is compared by.
#[derive(Debug)]
pub(crate) struct TextKey {
    prefix: u128,
    key: Vec<u8>,
    pub(crate) term: Vec<u8>,
}

/// Tie breaker of documents whose ranks by a key are equal.
#[derive(Clone, Debug)]
pub(super) struct Tie {
    pub(super) key: Option<Rc<TextKey>>,
    descending: bool,
}

impl TextOrder {
    /// `None` for the order of bytes; refuses what is no locale, and any locale in builds without collation.
    pub(super) fn new(sort: &TextSort) -> Result<Option<Self>> {
        match sort {
            TextSort::Bytes => Ok(None),
            TextSort::Natural => Ok(Some(TextOrder::Natural)),
            TextSort::Collated(locale) => collator(locale).map(Some),
        }
    }

    pub(super) fn key(&self, term: &[u8]) -> TextKey {
        let mut key = vec![];
        let text = String::from_utf8_lossy(term);
        match self {
            TextOrder::Natural => natural_key(&text, &mut key),
            #[cfg(feature = "collation")]
            TextOrder::Collated(collator) => {
                let Ok(()) = collator.write_sort_key_to(&text, &mut key);
            }
        }
        // Texts that differ only by characters that the order passes over are side by side, and always alike.
        key.push(0);
        key.extend_from_slice(term);
        let first = key.iter().copied().chain(std::iter::repeat(0)).take(PREFIX_LEN);
        let prefix = first.fold(0, |prefix, byte| prefix << 8 | u128::from(byte));
        TextKey { prefix, key, term: term.to_vec() }
    }
}

#[cfg(feature = "collation")]
fn collator(locale: &str) -> Result<TextOrder> {
    use icu_collator::CollatorBorrowed;
    use icu_collator::options::CollatorOptions;
    let refused = || refused("a locale, as de, sv-SE or es-u-co-trad", format!("'{locale}'"));
    let parsed = icu_locale_core::Locale::try_from_str(locale).map_err(|_| refused())?;
    let collator = CollatorBorrowed::try_new((&parsed).into(), CollatorOptions::default());
    Ok(TextOrder::Collated(Box::new(collator.map_err(|_| refused())?)))
}

#[cfg(not(feature = "collation"))]
fn collator(locale: &str) -> Result<TextOrder> {
    let found = format!("one without it, and the locale '{locale}'");
    Err(refused("a build with the feature 'collation'", found))
}

fn refused(expected: &'static str, found: String) -> Error {
    Error::new(ErrorKind::Usage, "sorting hits by the rules of a language")
        .expected(expected)
        .found(found)
}

impl TextKey {
    /// A rank by its beginning, between those of no value: of two keys that differ there the one that comes first has the smaller.
    pub(super) fn rank(&self, direction: Direction) -> u128 {
        let most = (1 << (8 * PREFIX_LEN)) - 1;
        1 + if direction.descending { most - self.prefix } else { self.prefix }
    }

    fn n_bytes(&self) -> u64 {
        (KEY_BYTES + self.key.len() + self.term.len()) as u64
    }
}

impl Tie {
    pub(super) fn new(key: Option<Rc<TextKey>>, direction: Direction) -> Self {
        Tie { key, descending: direction.descending }
    }

    /// In the order of ranks that are the same.
    pub(super) fn cmp(&self, other: &Self) -> Ordering {
        // If the ranks are the same, both have a value or neither has.
        let order = self.key.as_ref().map(|it| &it.key).cmp(&other.key.as_ref().map(|it| &it.key));
        if self.descending { order.reverse() } else { order }
    }

    pub(super) fn n_bytes(&self) -> u64 {
        self.key.as_ref().map_or(0, |key| key.n_bytes())
    }
}

/// The keys of a segment's documents.
#[derive(Debug)]
pub(super) struct TextKeys<'s> {
    pub(super) field: SortField,
    order: Arc<TextOrder>,
    column: AtHand<'s, Section<'s>>,
    dictionary: TermDictionary<Section<'s>>,
    /// By the lowest bits of its number a term that was met.
    at_hand: Vec<Option<(u32, Rc<TextKey>)>>,
    held: Held,
    ordinals: Vec<u32>,
    term: Vec<u8>,
}

impl<'s> TextKeys<'s> {
    pub(super) fn new(
        field: SortField,
        order: Arc<TextOrder>,
        column: AtHand<'s, Section<'s>>,
        dictionary: TermDictionary<Section<'s>>,
    ) -> Result<Self> {
        let mut held = Held::default();
        held.more((AT_HAND * size_of::<Option<(u32, Rc<TextKey>)>>()) as u64)?;
        let at_hand = vec![None; AT_HAND];
        let (ordinals, term) = (vec![], vec![]);
        Ok(TextKeys { field, order, column, dictionary, at_hand, held, ordinals, term })
    }

    /// Key that a document is compared by; `None` without a value. Of several, the least or greatest by its key counts.
    pub(super) fn of(&mut self, doc: u32) -> Result<Option<Rc<TextKey>>> {
        let (block, place) = self.column.block_of(doc)?;
        let mut best: Option<Rc<TextKey>> = None;
        self.ordinals.clear();
        self.ordinals
            .extend(block.codes(place).map(|code| u32::try_from(code).unwrap_or(u32::MAX)));
        budget::work(ns::TEXT_COMPARED * self.ordinals.len() as u64)?;
        for nth in 0..self.ordinals.len() {
            let key = self.of_term(self.ordinals[nth])?;
            let is_better = |best: &Rc<TextKey>| match self.field.direction.descending {
                true => key.key > best.key,
                false => key.key < best.key,
            };
            if best.as_ref().is_none_or(is_better) {
                best = Some(key);
            }
        }
        Ok(best)
    }

    fn of_term(&mut self, ordinal: u32) -> Result<Rc<TextKey>> {
        let slot = ordinal as usize % AT_HAND;
        if let Some(Some((own, key))) = self.at_hand.get(slot)
            && *own == ordinal
        {
            return Ok(Rc::clone(key));
        }
        budget::work(ns::TEXT_KEY)?;
        self.dictionary.term(TermOrdinal(ordinal), &mut self.term)?;
        let key = Rc::new(self.order.key(&self.term));
        self.held.more(key.n_bytes())?;
        if let Some(slot) = self.at_hand.get_mut(slot)
            && let Some((_, before)) = slot.replace((ordinal, Rc::clone(&key)))
        {
            self.held.less(before.n_bytes());
        }
        Ok(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(order: &TextOrder, texts: &[&'static str]) -> Vec<&'static str> {
        let mut texts = texts.to_vec();
        texts.sort_by_key(|text| order.key(text.as_bytes()).key);
        texts
    }

    #[test]
    fn numbers_in_texts_are_in_the_order_of_their_values() {
        let natural = [
            "",
            "!",
            "/a",
            "0",
            "1",
            "01",
            "001",
            "2",
            "10",
            "10 a",
            "010b",
            ":",
            "a",
            "A",
            "a1",
            "a1b2",
            "a1b10",
            "A2",
            "a\u{661}\u{660}",
            "a11",
            "Á11",
            "a12",
            "a99999999999999999999",
            "a100000000000000000000",
            "aa",
            "éa",
            "ez",
            "f",
            "Straße 2",
            "strasse",
            "z",
        ];
        // Texts that are the same by value and letters come in the order of bytes.
        let mut expected = natural.to_vec();
        let first = ["001", "01", "1"];
        expected.splice(4..7, first);
        let at = expected.iter().position(|text| *text == "a").unwrap();
        expected.swap(at, at + 1);
        let at = expected.iter().position(|text| *text == "Straße 2").unwrap();
        expected.swap(at, at + 1);
        let mut turned = natural.to_vec();
        turned.reverse();
        assert_eq!(sorted(&TextOrder::Natural, &turned), expected);
        let long = |n: usize| format!("a{}", "9".repeat(n));
        let key = |text: &str| TextOrder::Natural.key(text.as_bytes()).key;
        for n in [253, 254, 255, 256, 70_000] {
            assert!(key(&long(n)) < key(&long(n + 1)), "{n}");
        }
        assert!(key("a1\u{ff12}") > key("a2") && key("\u{1d7ff}") > key("8"));
    }

    #[test]
    fn ranks_are_in_the_order_of_keys() {
        for descending in [false, true] {
            let direction = Direction { descending, missing_first: false };
            let texts =
                ["", "a", "a2", "a10", "the same beginning 9", "the same beginning 10", "z"];
            let of = |text: &&str| TextOrder::Natural.key(text.as_bytes());
            let keys: Vec<_> = texts.iter().map(of).map(Rc::new).collect();
            for pair in keys.windows(2) {
                let place = |key: &Rc<TextKey>| {
                    (key.rank(direction), Tie::new(Some(Rc::clone(key)), direction))
                };
                let [(a, of_a), (b, of_b)] = [place(&pair[0]), place(&pair[1])];
                let expected = if descending { Ordering::Greater } else { Ordering::Less };
                assert_eq!(a.cmp(&b).then_with(|| of_a.cmp(&of_b)), expected, "{pair:?}");
            }
        }
    }

    #[cfg(feature = "collation")]
    #[test]
    fn languages_have_rules_of_their_own() {
        let by = |locale: &str| {
            let order = TextOrder::new(&TextSort::Collated(locale.into())).unwrap().unwrap();
            sorted(&order, &["Zebra", "äpple", "apple", "ähnlich", "Apple", "zoo", "10", "9"])
        };
        let german = ["10", "9", "ähnlich", "apple", "Apple", "äpple", "Zebra", "zoo"];
        assert_eq!(by("de"), german);
        assert_eq!(by("xx"), german, "one that is not known has the rules of the root");
        let swedish = ["10", "9", "apple", "Apple", "Zebra", "zoo", "ähnlich", "äpple"];
        assert_eq!(by("sv-SE"), swedish);
        assert_eq!(by("de-u-kn")[..2], ["9", "10"]);
        let error = TextOrder::new(&TextSort::Collated("d".into())).unwrap_err().to_string();
        assert!(error.contains("expected a locale") && error.contains("'d'"), "{error}");
    }
}
