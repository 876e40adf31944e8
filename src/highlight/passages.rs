//! Choice of the passages of a text to show.
//!
//! From each marked word a stretch as long as a passage may be is weighed by how many different words
//! of the query it holds; the best that do not overlap are taken and filled up with what stands around them.

use std::cmp::Reverse;
use std::ops::Range;

use super::PassageOptions;
use super::marks::Mark;
use super::markup::Passage;
use crate::terminal;

impl Passage {
    /// Returns the beginning of a text, to show if nothing matches.
    ///
    /// That is all of it, or as much as a passage may have, up to the end of a sentence or else of a word. Nothing is
    /// marked.
    ///
    /// ```
    /// use treepie::highlight::{Passage, PassageOptions};
    ///
    /// let text = "Mice & men. A story of two men and of no mouse at all.";
    /// let beginning = Passage::beginning(text, &PassageOptions::default().max_len(20));
    /// assert_eq!(beginning.to_html(text), "Mice &amp; men.");
    /// ```
    pub fn beginning(text: &str, options: &PassageOptions) -> Passage {
        let from = text.len() - text.trim_start().len();
        let range = match text.len() <= options.max_len {
            true => 0..text.len(),
            false => filled_up(text, from..from, options.max_len, from..text.len()),
        };
        Passage::new(range, vec![], 0)
    }
}

/// The best passages of a text, the best first.
pub(super) fn choose(text: &str, marks: &[Mark], options: &PassageOptions) -> Vec<Passage> {
    let matches = merged(text, marks);
    if matches.is_empty() || options.max_passages == 0 {
        return vec![];
    }
    if text.len() <= options.max_len {
        return vec![passage(0..text.len(), &matches, marks)];
    }
    let mut cores = cores(marks, options.max_len);
    cores.sort_by_key(|core| (Reverse(core.n_items), core.range.start));
    let mut chosen: Vec<Passage> = vec![];
    for Core { range: core, .. } in cores {
        if chosen.len() == options.max_passages {
            break;
        }
        let others = || chosen.iter().map(Passage::range);
        if others().any(|other| other.start < core.end && core.start < other.end) {
            continue;
        }
        let lower = others().map(|other| other.end).filter(|end| *end <= core.start).max();
        let upper = others().map(|other| other.start).filter(|start| *start >= core.end).min();
        let within = lower.unwrap_or(0)..upper.unwrap_or(text.len());
        let range = filled_up(text, core, options.max_len, within);
        let passage = passage(range, &matches, marks);
        if !passage.matches().is_empty() {
            chosen.push(passage);
        }
    }
    chosen
}

/// Ascending ranges of marks: overlapping or touching ones are one, and nothing is cut from the characters that combine
/// with them.
fn merged(text: &str, marks: &[Mark]) -> Vec<Range<usize>> {
    let mut merged: Vec<Range<usize>> = vec![];
    for mark in marks {
        let end = merged.last().map_or(0, |last| last.end);
        if mark.to <= end {
            continue;
        }
        let to = next_boundary(text, mark.to);
        if mark.from > end {
            let from = boundary_before(text, mark.from, end);
            if from > end || merged.is_empty() {
                merged.push(from..to);
                continue;
            }
        }
        match merged.last_mut() {
            Some(last) => last.end = to,
            None => merged.push(mark.from..to),
        }
    }
    merged
}

/// A stretch that begins and ends with a mark.
struct Core {
    range: Range<usize>,
    /// Number of different items in it.
    n_items: usize,
}

/// From each mark on the most that a passage may hold.
fn cores(marks: &[Mark], max_len: usize) -> Vec<Core> {
    let n_items = marks.iter().map(|mark| mark.item as usize + 1).max().unwrap_or(0);
    // Number of times that each item is in the stretch.
    let mut counts = vec![0_u32; n_items];
    let (mut n_items, mut end) = (0, 0);
    let mut cores = Vec::with_capacity(marks.len());
    for (start, first) in marks.iter().enumerate() {
        while let Some(mark) = marks.get(end)
            && (end <= start || mark.to <= first.from.saturating_add(max_len))
        {
            let count = &mut counts[mark.item as usize];
            *count += 1;
            n_items += usize::from(*count == 1);
            end += 1;
        }
        let to = marks[end - 1].to.max(first.to);
        cores.push(Core { range: first.from..to, n_items });
        let count = &mut counts[first.item as usize];
        *count -= 1;
        n_items -= usize::from(*count == 0);
    }
    cores
}

/// A passage around a core: from the beginning of a sentence or else of a word, to the end of one.
fn filled_up(text: &str, core: Range<usize>, max_len: usize, within: Range<usize>) -> Range<usize> {
    let core = boundary_before(text, core.start, within.start)..next_boundary(text, core.end);
    let room = max_len.saturating_sub(core.len());
    let earliest = ceil(text, core.start.saturating_sub(room).max(within.start)).min(core.start);
    // Room that is not needed behind may be used before.
    let before = (room / 2).max(room.saturating_sub(within.end.saturating_sub(core.end)));
    let start = last_sentence_start(text, earliest..core.start)
        .or((earliest == 0).then_some(0))
        .unwrap_or_else(|| {
            let from = core.start.saturating_sub(before).max(earliest);
            word_start(text, ceil(text, from).min(core.start)..core.start)
        });
    let start = ceil(text, start).min(core.start);
    let latest = floor(text, start.saturating_add(max_len).min(within.end));
    // A character that is longer than a passage is one all the same.
    let latest = if latest > start { latest } else { next_boundary(text, ceil(text, start + 1)) };
    let core_end = core.end.min(latest);
    let end = match latest == text.len() {
        true => latest,
        false => sentence_end(text, core_end..latest)
            .filter(|end| end - start >= max_len / 2)
            .unwrap_or_else(|| word_end(text, core_end..latest)),
    };
    let (shown, core) = (&text[start..end], core.start..core_end);
    let start = (end - shown.trim_start().len()).min(core.start);
    let end = (start + text[start..end].trim_end().len()).max(core.end);
    boundary_before(text, start, within.start)..next_boundary(text, end)
}

fn passage(range: Range<usize>, matches: &[Range<usize>], marks: &[Mark]) -> Passage {
    let from = matches.partition_point(|other| other.end <= range.start);
    let inside = matches[from..].iter().take_while(|other| other.start < range.end);
    let inside = inside.map(|other| other.start.max(range.start)..other.end.min(range.end));
    let from = marks.partition_point(|mark| mark.from < range.start);
    let marks = marks[from..].iter().take_while(|mark| mark.from < range.end);
    let mut items: Vec<u32> = marks.map(|mark| mark.item).collect();
    items.sort_unstable();
    items.dedup();
    Passage::new(range.clone(), inside.collect(), items.len() as u32)
}

/// Start of the last sentence of a stretch, if one begins there.
fn last_sentence_start(text: &str, stretch: Range<usize>) -> Option<usize> {
    let part = &text[stretch.clone()];
    let mut blank = None;
    for (at, c) in part.char_indices().rev() {
        if c == '\n' || is_full_stop(c) {
            return Some(stretch.start + at + c.len_utf8());
        }
        if let Some(blank) = blank
            && ends_sentence(c)
        {
            return Some(blank);
        }
        blank = c.is_whitespace().then_some(stretch.start + at);
    }
    None
}

/// End of the last sentence that ends in a stretch.
fn sentence_end(text: &str, stretch: Range<usize>) -> Option<usize> {
    let ends_behind = |(at, c): (usize, char)| {
        let end = stretch.start + at + c.len_utf8();
        let is_end = match ends_sentence(c) {
            true => text[end..].chars().next().is_none_or(char::is_whitespace),
            false => c == '\n' || is_full_stop(c),
        };
        is_end.then_some(end)
    };
    text[stretch.clone()].char_indices().rev().find_map(ends_behind)
}

/// The beginning of the first whole word of a stretch, or of the stretch if it is one word.
fn word_start(text: &str, stretch: Range<usize>) -> usize {
    if text[..stretch.start].chars().next_back().is_none_or(char::is_whitespace) {
        return stretch.start;
    }
    let blank = text[stretch.clone()].find(char::is_whitespace);
    blank.map_or(stretch.start, |at| stretch.start + at)
}

/// The end of the last whole word of a stretch, or of the stretch if it is one word.
fn word_end(text: &str, stretch: Range<usize>) -> usize {
    if text[stretch.end..].chars().next().is_none_or(char::is_whitespace) {
        return stretch.end;
    }
    let blank = text[stretch.clone()].rfind(char::is_whitespace);
    blank.map_or(stretch.end, |at| stretch.start + at)
}

/// Ends a sentence where a blank follows.
fn ends_sentence(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '؟' | '।')
}

/// Ends a sentence, whatever follows.
fn is_full_stop(c: char) -> bool {
    matches!(c, '。' | '！' | '？')
}

/// Whether a text can be cut here without taking a mark from its letter, or an emoji apart.
fn is_boundary(text: &str, at: usize) -> bool {
    let (Some(before), Some(after)) = (text.get(..at), text.get(at..)) else { return false };
    let is_joiner = |c: char| c == '\u{200D}';
    after.chars().next().is_none_or(|c| terminal::char_width(c) > 0)
        && !before.chars().next_back().is_some_and(is_joiner)
}

/// The first boundary from `at` on.
fn next_boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| is_boundary(text, *at)).unwrap_or(text.len())
}

/// The last boundary up to `at`, or `least`.
fn boundary_before(text: &str, at: usize, least: usize) -> usize {
    (least..=at).rev().find(|at| is_boundary(text, *at)).unwrap_or(least)
}

fn ceil(text: &str, at: usize) -> usize {
    next_boundary(text, at.min(text.len()))
}

fn floor(text: &str, at: usize) -> usize {
    boundary_before(text, at.min(text.len()), 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Passages of a text where every occurrence of each word is marked.
    fn shown(text: &str, words: &[&str], options: PassageOptions) -> Vec<String> {
        let mut marks = vec![];
        for (item, word) in (0..).zip(words) {
            let found = text.match_indices(word);
            marks.extend(found.map(|(from, _)| Mark { from, to: from + word.len(), item }));
        }
        marks.sort_by_key(|mark| (mark.from, mark.to));
        let passages = choose(text, &marks, &options);
        passages.iter().map(|passage| passage.to_plain(text, "[", "]")).collect()
    }

    fn options(max_len: usize, max_passages: usize) -> PassageOptions {
        PassageOptions::default().max_len(max_len).max_passages(max_passages)
    }

    const TEXT: &str = "The first sentence tells of mice and nothing else. The second is about men and mice! \
        A third one, which is long and tells of nothing at all, stands here. Men again.";

    #[test]
    fn most_different_words_win_and_then_the_earliest() {
        let words = ["mice", "men"];
        assert_eq!(shown(TEXT, &words, options(40, 1)), ["The second is about [men] and [mice]!"]);
        assert_eq!(
            shown(TEXT, &words, options(40, 9)),
            ["The second is about [men] and [mice]!", "The first sentence tells of [mice] and"]
        );
        assert_eq!(shown(TEXT, &["Men"], options(40, 9)), ["[Men] again."]);
        assert_eq!(shown(TEXT, &["none"], options(40, 9)), [""; 0]);
        assert_eq!(shown(TEXT, &words, options(40, 0)), [""; 0]);
        assert_eq!(shown("mice", &words, options(40, 1)), ["[mice]"]);
        assert_eq!(shown("", &words, options(40, 1)), [""; 0]);
    }

    #[test]
    fn a_sentence_that_is_too_long_is_cut_between_words() {
        assert_eq!(shown(TEXT, &["nothing at"], options(30, 1)), ["tells of [nothing at] all,"]);
        assert_eq!(shown(TEXT, &["nothing at"], options(4, 1)), ["[noth]"]);
        let one_word = "x".repeat(100) + "mice" + &"y".repeat(100);
        assert_eq!(shown(&one_word, &["mice"], options(10, 1)), ["xxx[mice]yyy"]);
        assert_eq!(shown("東京。大阪です。京都です。", &["阪"], options(15, 1)), ["大[阪]です。"]);
    }

    #[test]
    fn beginnings_end_with_a_sentence_or_a_word() {
        let beginning = |text: &str, max_len| {
            let passage = Passage::beginning(text, &options(max_len, 1));
            assert_eq!((passage.matches(), passage.score()), (&[][..], 0), "{text}");
            passage.to_plain(text, "[", "]")
        };
        assert_eq!(beginning(TEXT, 60), "The first sentence tells of mice and nothing else.");
        assert_eq!(beginning(TEXT, 30), "The first sentence tells of");
        assert_eq!(beginning(TEXT, 4), "The");
        assert_eq!(beginning(TEXT, TEXT.len()), TEXT);
        assert_eq!(beginning(&"x".repeat(100), 10), "x".repeat(10));
        assert_eq!(beginning("東京。大阪です。京都です。", 10), "東京。");
        for blanks in ["", " ", "\n\n  "] {
            let text = format!("{blanks}{}", "mice and men ".repeat(9));
            assert_eq!(beginning(&text, 10), "mice and", "{text}");
        }
        assert_eq!(beginning("", 10), "");
        assert_eq!(beginning(&" ".repeat(20), 10), "");
        // A character that is longer than a passage is one all the same.
        assert_eq!(beginning("👩\u{200D}👧 ok", 1), "👩\u{200D}👧");
        assert_eq!(beginning("e\u{301}e\u{301}e\u{301}", 4), "e\u{301}");
    }

    #[test]
    fn overlapping_marks_are_one_and_passages_do_not_overlap() {
        assert_eq!(shown("abcabd", &["abc", "bc", "ca"], options(40, 1)), ["[abca]bd"]);
        let text = "aa ".repeat(10);
        assert_eq!(shown(&text, &["aa"], options(9, 2)), ["[aa] [aa] [aa]", "[aa] [aa] [aa]"]);
    }

    #[test]
    fn what_combines_is_not_cut() {
        let text = "e\u{301}e\u{301}e\u{301} xx";
        assert_eq!(shown(text, &["e"], options(4, 1)), ["[e\u{301}]"]);
        assert_eq!(shown(text, &["\u{301} "], options(40, 1)), ["e\u{301}e\u{301}[e\u{301} ]xx"]);
        let family = "👩\u{200D}👧 ok";
        assert_eq!(shown(family, &["👩"], options(3, 1)), ["[👩\u{200D}👧]"]);
    }
}
