//! Lines of text for a terminal, as wide as it is and in its colours.
//!
//! Texts from outside cannot drive the terminal: see [`terminal`].

use crate::terminal;
use std::borrow::Cow;

/// Columns left for text however long the start of a line is.
const ROOM_MIN: usize = 20;

/// Text of one style, without blanks around it.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) style: Style,
    pub(crate) text: String,
    /// Whether it moves to the next line rather than being broken, if it fits there.
    pub(crate) whole: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Strong,
    Faint,
    Good,
    Bad,
}

pub(crate) fn plain(text: impl Into<String>) -> Piece {
    piece(Style::Plain, text)
}

pub(crate) fn strong(text: impl Into<String>) -> Piece {
    piece(Style::Strong, text)
}

pub(crate) fn faint(text: impl Into<String>) -> Piece {
    piece(Style::Faint, text).whole()
}

pub(crate) fn piece(style: Style, text: impl Into<String>) -> Piece {
    Piece { style, text: text.into(), whole: false }
}

/// Pieces that stay whole, with commas between them.
pub(crate) fn listed(mut pieces: Vec<Piece>) -> Vec<Piece> {
    let last = pieces.len().saturating_sub(1);
    pieces[..last].iter_mut().for_each(|piece| piece.text.push(','));
    pieces.into_iter().map(Piece::whole).collect()
}

impl Piece {
    pub(crate) fn whole(self) -> Self {
        Piece { whole: true, ..self }
    }
}

/// Lines that are printed one after the other.
#[derive(Debug, Default)]
pub(crate) struct Console {
    /// Columns that a line may take.
    pub(crate) width: usize,
    /// Whether nothing but ASCII is printed.
    pub(crate) ascii: bool,
    pub(crate) color: bool,
    pub(crate) out: String,
}

impl Console {
    /// Prints pieces with a blank between them, cut where the line is full.
    pub(crate) fn cut(&mut self, prefix: &str, pieces: Vec<Piece>) {
        let (prefix, mut room, mark) = self.start(prefix);
        let mut line = vec![];
        for piece in pieces {
            // The last column of a piece is followed by a blank or nothing.
            let text = self.clean(&piece.text);
            let text = terminal::truncate(&text, room, mark);
            room = room.saturating_sub(terminal::width(&text) + 1);
            line.push((piece.style, text.into_owned()));
            if room == 0 {
                break;
            }
        }
        self.push_line(&prefix, &line);
    }

    /// Prints pieces with a blank between them, wrapped at blanks; lines after the first start
    /// `indent` columns further in.
    pub(crate) fn line(&mut self, prefix: &str, indent: usize, pieces: Vec<Piece>) {
        let (prefix, room, mark) = self.start(prefix);
        let mut line: Vec<(Style, String)> = vec![];
        let mut used = 0;
        for piece in pieces {
            let text = self.clean(&piece.text).into_owned();
            let words: Vec<&str> = match piece.whole && terminal::width(&text) <= room - indent {
                true => vec![&*text],
                false => text.split(' ').collect(),
            };
            for word in words {
                let word = terminal::truncate(word, room - indent, mark);
                let width = terminal::width(&word);
                if used > 0 && used + 1 + width > room {
                    self.push_line(&prefix, &line);
                    line = vec![(Style::Plain, " ".repeat(indent - 1))];
                    used = indent - 1;
                }
                used += usize::from(used > 0) + width;
                line.push((piece.style, word.into_owned()));
            }
        }
        self.push_line(&prefix, &line);
    }

    /// The start of a line in the characters there are, the columns left behind it, and the mark of a cut.
    fn start<'t>(&self, prefix: &'t str) -> (Cow<'t, str>, usize, &'static str) {
        let (prefix, mark) = match self.ascii {
            false => (Cow::Borrowed(prefix), "…"),
            true => {
                let lines = prefix.replace(['│', '├'], "|").replace('└', "`");
                (Cow::Owned(lines.replace('─', "-").replace('≠', "*")), "...")
            }
        };
        let room = self.width.saturating_sub(terminal::width(&prefix)).max(ROOM_MIN);
        (prefix, room, mark)
    }

    fn push_line(&mut self, prefix: &str, words: &[(Style, String)]) {
        let mut line = String::new();
        self.paint(Style::Faint, prefix, &mut line);
        for (at, (style, word)) in words.iter().enumerate() {
            if at > 0 {
                line.push(' ');
            }
            self.paint(*style, word, &mut line);
        }
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }

    fn paint(&self, style: Style, text: &str, line: &mut String) {
        let code = match style {
            _ if !self.color || text.trim().is_empty() => "",
            Style::Plain => "",
            Style::Strong => "1",
            Style::Faint => "2",
            Style::Good => "32",
            Style::Bad => "31",
        };
        match code {
            "" => line.push_str(text),
            _ => *line += &format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }

    /// Text that may go to the terminal.
    fn clean<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let text = terminal::printable(text);
        if !self.ascii || text.is_ascii() {
            return text;
        }
        let mut shown = String::new();
        for c in text.chars() {
            match c {
                _ if c.is_ascii() => shown.push(c),
                '≈' => shown.push('~'),
                '×' => shown.push('x'),
                'µ' => shown.push('u'),
                '→' => shown.push('>'),
                '✓' => shown.push('+'),
                '✗' => shown.push('-'),
                '·' => shown.push('.'),
                '…' => shown.push_str("..."),
                _ => shown.extend(c.escape_unicode()),
            }
        }
        Cow::Owned(shown)
    }
}
