//! A passage with its words marked, for different readers.

use std::ops::Range;

use crate::terminal;

/// Part of a text, and what to mark in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    range: Range<usize>,
    matches: Vec<Range<usize>>,
    score: u32,
}

impl Passage {
    pub(super) fn new(range: Range<usize>, matches: Vec<Range<usize>>, score: u32) -> Self {
        Passage { range, matches, score }
    }

    /// Returns the byte range of the passage in the text. It cuts no character, and none from the marks that combine with it.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// Returns the byte ranges to mark: inside [`range`](Self::range), ascending, apart from each other.
    pub fn matches(&self) -> &[Range<usize>] {
        &self.matches
    }

    /// Returns the number of different words and patterns of the query that the passage has.
    pub fn score(&self) -> u32 {
        self.score
    }

    /// The passage piece by piece, each with whether it is to be marked. `text` is the one that the passage is
    /// of, here and below; of another one, pieces that it does not have are empty.
    ///
    /// ```
    /// # use treepie::{Schema, analysis::Analyzers, highlight::{Highlighter, PassageOptions}, query::Query};
    /// let schema = Schema::builder().text("title").build()?;
    /// let highlighter = Highlighter::new(&Query::word("mice"), &schema, &Analyzers::default())?;
    /// let text = "Of Mice and Men";
    /// let passages = highlighter.passages("title", text, &PassageOptions::default());
    /// let pieces: Vec<_> = passages[0].pieces(text).collect();
    /// assert_eq!(pieces, [("Of ", false), ("Mice", true), (" and Men", false)]);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn pieces<'t>(&self, text: &'t str) -> impl Iterator<Item = (&'t str, bool)> + use<'_, 't> {
        let starts =
            std::iter::once(self.range.start).chain(self.matches.iter().map(|own| own.end));
        let behind = Some(self.range.end..self.range.end);
        let pairs = starts.zip(self.matches.iter().cloned().chain(behind));
        let pieces = pairs.flat_map(|(start, own)| [(start..own.start, false), (own, true)]);
        let pieces = pieces.map(|(range, marked)| (text.get(range).unwrap_or_default(), marked));
        pieces.filter(|(piece, _)| !piece.is_empty())
    }

    /// With markers around what matches, and everything else as it is.
    ///
    /// ```
    /// # use treepie::{Schema, analysis::Analyzers, highlight::{Highlighter, PassageOptions}, query::Query};
    /// # let schema = Schema::builder().text("title").build()?;
    /// let highlighter = Highlighter::new(&Query::prefix("m"), &schema, &Analyzers::default())?;
    /// let text = "Of Mice and Men";
    /// let passages = highlighter.passages("title", text, &PassageOptions::default());
    /// assert_eq!(passages[0].to_plain(text, "[", "]"), "Of [Mice] and [Men]");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn to_plain(&self, text: &str, open: &str, close: &str) -> String {
        self.written(text, open, close, |piece, out| out.push_str(piece))
    }

    /// Returns HTML with `<em>` around matches. The text is escaped, in attributes and between tags alike.
    pub fn to_html(&self, text: &str) -> String {
        self.written(text, "<em>", "</em>", |piece, out| {
            for c in piece.chars() {
                match c {
                    '&' => out.push_str("&amp;"),
                    '<' => out.push_str("&lt;"),
                    '>' => out.push_str("&gt;"),
                    '"' => out.push_str("&quot;"),
                    '\'' => out.push_str("&#39;"),
                    c => out.push(c),
                }
            }
        })
    }

    /// Returns text for a terminal, with matches in bold. Control characters and others that are invisible are escaped.
    pub fn to_ansi(&self, text: &str) -> String {
        self.written(text, "\x1b[1m", "\x1b[0m", |piece, out| {
            out.push_str(&terminal::printable(piece));
        })
    }

    fn written(
        &self,
        text: &str,
        open: &str,
        close: &str,
        mut write: impl FnMut(&str, &mut String),
    ) -> String {
        let mut out = String::with_capacity(self.range.len() + 16 * self.matches.len());
        for (piece, marked) in self.pieces(text) {
            out.push_str(if marked { open } else { "" });
            write(piece, &mut out);
            out.push_str(if marked { close } else { "" });
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_escapes_what_would_be_taken_for_markup() {
        let text = "<b>&\"it's\"</b>\u{1b}[2J end";
        let passage = Passage::new(0..text.len(), vec![1..2, 5..9], 2);
        assert_eq!(
            passage.to_html(text),
            "&lt;<em>b</em>&gt;&amp;&quot;<em>it&#39;s</em>&quot;&lt;/b&gt;\u{1b}[2J end"
        );
        assert_eq!(
            passage.to_ansi(text),
            "<\x1b[1mb\x1b[0m>&\"\x1b[1mit's\x1b[0m\"</b>\\u{1b}[2J end"
        );
        assert_eq!(passage.to_plain(text, "«", "»"), "<«b»>&\"«it's»\"</b>\u{1b}[2J end");
    }

    #[test]
    fn part_of_a_text_is_shown_alone_and_of_another_text_nothing() {
        let passage = Passage::new(3..9, vec![3..4, 8..9], 1);
        assert_eq!(passage.to_plain("0123456789", "[", "]"), "[3]4567[8]");
        assert_eq!(passage.to_plain("0", "[", "]"), "");
        assert_eq!(passage.to_plain("01東京都", "[", "]"), "");
    }
}
