//! The terms of a block, in order or those that are looked for.

use super::{Block, Damage, KeyCursor, KeyPlace, NIBBLE_FULL, later_key_lens};
use crate::bytes::{ByteReader, common_prefix_len};
use crate::format::terms::MAX_TERM_LEN;

impl Block<'_> {
    /// Number of bytes that the next term takes over from the one before, and the bytes it adds.
    ///
    /// Call it `count` times at most.
    #[inline]
    pub(in crate::format::terms) fn next_key(
        &self,
        cursor: &mut KeyCursor,
    ) -> Result<(usize, &[u8]), Damage> {
        let keys = self.bytes.get(..self.infos_at).unwrap_or_default();
        if let Some(previous_len) = cursor.previous_len
            && let Some(rest) = keys.get(cursor.at..)
            && let Some((shared, suffix, behind)) = plain_key(rest, previous_len)
        {
            cursor.at = keys.len() - behind.len();
            cursor.previous_len = Some(shared + suffix.len());
            return Ok((shared, suffix));
        }
        self.next_long_key(cursor)
    }

    /// The next term that shares less than `least` bytes with the one before; the terms before it are passed over. `index`
    /// counts them and it.
    #[inline]
    pub(in crate::format::terms) fn next_sharing_less(
        &self,
        cursor: &mut KeyCursor,
        index: &mut u32,
        least: usize,
    ) -> Result<Option<(usize, &[u8])>, Damage> {
        let keys = self.bytes.get(..self.infos_at).unwrap_or_default();
        while *index < self.count {
            if let Some(mut previous_len) = cursor.previous_len {
                // Nearly all keys, whose cursor stays in registers.
                let (mut rest, mut n_passed) = (keys.get(cursor.at..).unwrap_or_default(), *index);
                let mut found = None;
                while n_passed < self.count
                    && let Some((shared, suffix, behind)) = plain_key(rest, previous_len)
                {
                    (rest, previous_len, n_passed) = (behind, shared + suffix.len(), n_passed + 1);
                    if shared < least {
                        found = Some((shared, suffix));
                        break;
                    }
                }
                *cursor =
                    KeyCursor { at: keys.len() - rest.len(), previous_len: Some(previous_len) };
                *index = n_passed;
                if found.is_some() || n_passed == self.count {
                    return Ok(found);
                }
            }
            let (shared, suffix) = self.next_long_key(cursor)?;
            *index += 1;
            if shared < least {
                return Ok(Some((shared, suffix)));
            }
        }
        Ok(None)
    }

    /// Reads a key whose lengths may be written as varints.
    #[cold]
    fn next_long_key(&self, cursor: &mut KeyCursor) -> Result<(usize, &[u8]), Damage> {
        let keys = self.bytes.get(cursor.at..self.infos_at).ok_or_else(|| cut(cursor.at))?;
        let mut reader = ByteReader::new(keys);
        let (shared, suffix_len) = match cursor.previous_len {
            None => (0, reader.varint().ok_or_else(|| cut(cursor.at))?),
            Some(previous_len) => {
                let (shared, suffix_len) =
                    later_key_lens(&mut reader).ok_or_else(|| cut(cursor.at))?;
                if shared > previous_len as u64 {
                    let found = "a term that shares more bytes than the one before has";
                    return Err(Damage { at: cursor.at, found });
                }
                (shared as usize, suffix_len)
            }
        };
        if suffix_len > (MAX_TERM_LEN - shared) as u64 {
            return Err(Damage { at: cursor.at, found: "a term longer than 32766 bytes" });
        }
        let suffix = reader.take(suffix_len as usize).ok_or_else(|| cut(cursor.at))?;
        cursor.at += reader.position();
        cursor.previous_len = Some(shared + suffix.len());
        Ok((shared, suffix))
    }

    /// The first term of the block.
    pub(in crate::format::terms) fn head(&self) -> Result<&[u8], Damage> {
        self.next_key(&mut self.keys()).map(|(_, head)| head)
    }

    /// Looks for `term`.
    pub(in crate::format::terms) fn find(&self, term: &[u8]) -> Result<KeyPlace, Damage> {
        let mut n_passed = 0;
        let found = self.next_not_less(&mut self.keys(), &mut n_passed, term)?;
        let exact = found.is_some_and(|(matched, rest)| matched == term.len() && rest.is_empty());
        Ok(KeyPlace { index: n_passed - u32::from(found.is_some()), exact })
    }

    /// The first term that is not less than `term`, comparing no byte twice: how many bytes it begins with are those of
    /// `term`, and the bytes behind them. The terms before it are passed over, from the first on; `index` counts them and it.
    #[inline]
    pub(in crate::format::terms) fn next_not_less(
        &self,
        cursor: &mut KeyCursor,
        index: &mut u32,
        term: &[u8],
    ) -> Result<Option<(usize, &[u8])>, Damage> {
        // Length of the common prefix of `term` and the last key seen, which is less than `term`.
        let mut matched = 0;
        loop {
            self.pass_less(cursor, index, matched, term.get(matched).copied().unwrap_or_default());
            if *index == self.count {
                return match cursor.at <= self.infos_at {
                    true => Ok(None),
                    false => Err(cut(cursor.at)),
                };
            }
            let (shared, suffix) = self.next_key(cursor)?;
            *index += 1;
            // Keys that share more than that with the one before are on the same side of `term`.
            if shared > matched {
                continue;
            }
            if shared < matched {
                return Ok(Some((shared, suffix)));
            }
            let wanted = term.get(matched..).unwrap_or_default();
            let common = common_prefix_len(wanted, suffix);
            matched += common;
            let (wanted, rest) = (wanted.get(common), suffix.get(common..).unwrap_or_default());
            if rest.first() > wanted || wanted.is_none() {
                return Ok(Some((matched, rest)));
            }
        }
    }

    /// Passes over keys behind one that has `matched` bytes in common with a term and is less than it, for as long as a look at
    /// their first bytes says that they are less, too. The term goes on with `wanted`, which is 0 also where it ends.
    #[inline]
    fn pass_less(&self, cursor: &mut KeyCursor, index: &mut u32, matched: usize, wanted: u8) {
        let keys = self.bytes.get(..self.infos_at).unwrap_or_default();
        let Some(mut previous_len) = cursor.previous_len else { return };
        let (mut at, mut n_passed) = (cursor.at, *index);
        while n_passed < self.count
            && let Some([lens, first, ..]) = keys.get(at..)
        {
            let (shared, len) = (usize::from(lens >> 4), usize::from(lens & 15) + 1);
            let is_less = shared > matched || shared == matched && *first < wanted;
            let is_plain = shared < NIBBLE_FULL && len <= NIBBLE_FULL && shared <= previous_len;
            if !is_less || !is_plain {
                break;
            }
            (at, previous_len, n_passed) = (at + 1 + len, shared + len, n_passed + 1);
        }
        // The last of them may reach beyond the keys, which whoever goes on finds out.
        *cursor = KeyCursor { at, previous_len: Some(previous_len) };
        *index = n_passed;
    }
}

#[cold]
fn cut(at: usize) -> Damage {
    Damage { at, found: "the end of the keys inside a term" }
}

/// Number of bytes that the first of some keys takes over from the term before, which has `previous_len`, the bytes it adds, and the
/// keys behind it, for nearly all keys: both lengths stand in the nibbles of the first byte.
#[inline]
fn plain_key(keys: &[u8], previous_len: usize) -> Option<(usize, &[u8], &[u8])> {
    let (lens, rest) = keys.split_first()?;
    let (shared, len) = (usize::from(lens >> 4), usize::from(lens & 15) + 1);
    if shared >= NIBBLE_FULL || len > NIBBLE_FULL || shared > previous_len {
        return None;
    }
    let (suffix, behind) = rest.split_at_checked(len)?;
    Some((shared, suffix, behind))
}
