//! Reader of JSON, one value after the other, straight into the wanted types. Nothing is held twice, and every mistake
//! is told with its line, its column and the path that leads to it.
//!
//! Our own and not a crate's, because it is about that last part: a tree of values has forgotten where they stood by the time
//! one turns out to be of the wrong type, and what keeps it (serde, its derive and a crate for paths) is three crates for a
//! library that has none of them. The grammar is RFC 8259's and nothing more.

use crate::error::{Error, ErrorKind, Result};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt::Write;
use std::ops::Range;
use std::str::FromStr;

/// Objects and arrays inside each other at the most, so that no text can exhaust the stack.
const DEPTH_MAX: usize = 640;
/// Bytes of a text that is read back at the most: 256 MiB. A larger text was not written by this library.
pub const JSON_BYTES_MAX: usize = 256 << 20;
/// Characters of the text that a message repeats.
const SHOWN_CHARS_MAX: usize = 40;
/// Steps of a path that a message repeats, from its end.
const PATH_STEPS_MAX: usize = 40;

/// Reads one text from its start to its end. Each method reads one value.
#[derive(Debug)]
pub(crate) struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    path: Vec<Step<'t>>,
    /// Name of the whole, for messages.
    of: &'static str,
}

#[derive(Debug)]
enum Step<'t> {
    Name(Cow<'t, str>),
    Nth(usize),
}

/// `plan.children[2].estimate.upper`
fn shown_path(path: &[Step<'_>]) -> String {
    let left_out = path.len().saturating_sub(PATH_STEPS_MAX);
    let mut text = String::from(if left_out > 0 { "…" } else { "" });
    for step in &path[left_out..] {
        match step {
            Step::Name(name) => {
                let short: String = name.chars().take(SHOWN_CHARS_MAX).collect();
                let is_plain = short.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                match is_plain && !short.is_empty() {
                    true if text.is_empty() => text.push_str(&short),
                    true => write!(text, ".{short}").expect("a String takes every text"),
                    false => write!(text, "[{short:?}]").expect("a String takes every text"),
                }
            }
            Step::Nth(nth) => write!(text, "[{nth}]").expect("a String takes every text"),
        }
    }
    text
}

impl<'t> Reader<'t> {
    /// A reader of `text`, which is `of` for people: "a plan".
    ///
    /// # Errors
    ///
    /// [`ErrorKind::LimitExceeded`] where the text is larger than [`JSON_BYTES_MAX`].
    pub(crate) fn new(text: &'t str, of: &'static str) -> Result<Reader<'t>> {
        if text.len() > JSON_BYTES_MAX {
            let what = format!("reading {of}");
            let found = Some(text.len());
            return Err(Error::limit_reached(
                what,
                "JSON_BYTES_MAX",
                JSON_BYTES_MAX,
                "bytes",
                found,
            ));
        }
        Ok(Reader { text, at: 0, depth: 0, path: vec![], of })
    }

    /// A reader of the value that lies at `place` in `text`, whose lines and columns are those of `text`.
    ///
    /// # Errors
    ///
    /// Fails like [`new`](Self::new).
    pub(crate) fn at(text: &'t str, place: Range<usize>, of: &'static str) -> Result<Reader<'t>> {
        let reader = Reader::new(&text[..place.end], of)?;
        Ok(Reader { at: place.start, ..reader })
    }

    /// An object: `field` is told each name and reads its value, or leaves it and says false, which is for names that are not
    /// known. All of `required` have to be there.
    pub(crate) fn object(
        &mut self,
        required: &[&str],
        mut field: impl FnMut(&mut Self, &str) -> Result<bool>,
    ) -> Result<()> {
        self.opening(b'{', "an object")?;
        let mut seen: HashSet<Cow<'t, str>> = HashSet::new();
        let mut is_first = true;
        while self.next_item(b'}', is_first)? {
            is_first = false;
            self.blanks();
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.unexpected("a name in double quotes"));
            }
            let name = self.text_value()?;
            if !seen.insert(name.clone()) {
                self.at = start;
                return Err(self.error("each name once", &format!("{name:?} again")));
            }
            self.blanks();
            self.expect(b':', "a colon after a name")?;
            self.path.push(Step::Name(name.clone()));
            self.blanks();
            let before = self.at;
            if !field(self, &name)? {
                debug_assert_eq!(self.at, before, "what is not known is not read");
                self.skip()?;
            }
            self.path.pop();
        }
        self.depth -= 1;
        match required.iter().find(|name| !seen.contains(**name)) {
            None => Ok(()),
            Some(name) => {
                let found = match seen.len() {
                    0 => "none in this object".to_owned(),
                    n => format!("{n} others in this object"),
                };
                self.at -= 1;
                Err(self.error(&format!("the name \"{name}\""), &found))
            }
        }
    }

    /// An array, whose values `item` reads one by one.
    pub(crate) fn array<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.opening(b'[', "an array")?;
        let mut items = vec![];
        while self.next_item(b']', items.is_empty())? {
            self.path.push(Step::Nth(items.len()));
            items.push(item(self)?);
            self.path.pop();
        }
        self.depth -= 1;
        Ok(items)
    }

    pub(crate) fn string(&mut self) -> Result<String> {
        self.blanks();
        match self.peek() {
            Some(b'"') => Ok(self.text_value()?.into_owned()),
            _ => Err(self.unexpected("a text")),
        }
    }

    /// Reads a text that is one of several names.
    pub(crate) fn one_of<T: Copy>(&mut self, names: &[(&str, T)]) -> Result<T> {
        self.blanks();
        let start = self.at;
        let read = self.string()?;
        names.iter().find(|(name, _)| *name == read).map(|(_, value)| *value).ok_or_else(|| {
            self.at = start;
            let names: Vec<_> = names.iter().map(|(name, _)| format!("\"{name}\"")).collect();
            self.unexpected(&names.join(" or "))
        })
    }

    /// Reads null, or a value by `read`.
    pub(crate) fn or_null<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<Option<T>> {
        self.blanks();
        if self.text[self.at..].starts_with("null") {
            self.at += "null".len();
            return Ok(None);
        }
        read(self).map(Some)
    }

    pub(crate) fn boolean(&mut self) -> Result<bool> {
        self.blanks();
        for (word, value) in [("true", true), ("false", false)] {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.unexpected("true or false"))
    }

    /// A whole number from 0 to the largest of `T`.
    pub(crate) fn whole<T: FromStr>(&mut self) -> Result<T> {
        let bits = 8 * size_of::<T>();
        self.number(&format!("a whole number of at most {bits} bits"))
    }

    /// The number of the version of `what`, which has to be the one that is known.
    pub(crate) fn version(&mut self, known: u32, what: &str) -> Result<()> {
        let version: u64 = self.whole()?;
        let error = || {
            Error::new(ErrorKind::UnsupportedVersion, format!("reading schema_version of {what}"))
                .expected(known.to_string())
                .found(version.to_string())
        };
        match version.cmp(&u64::from(known)) {
            Ordering::Equal => Ok(()),
            Ordering::Less => Err(error()),
            Ordering::Greater => Err(error().hint("a newer treepie wrote it, and reads it")),
        }
    }

    /// A number with or without a fraction.
    pub(crate) fn float(&mut self) -> Result<f32> {
        self.finite("a number that a float of 32 bits can hold")
    }

    /// A number with or without a fraction, of more digits.
    pub(crate) fn finite_double(&mut self) -> Result<f64> {
        self.finite("a number that a float of 64 bits can hold")
    }

    /// A number whose digits are refused with `holds` where only infinity would be near enough.
    fn finite<T: FromStr + Copy + Into<f64>>(&mut self, holds: &str) -> Result<T> {
        self.blanks();
        let start = self.at;
        let number: T = self.number("a number")?;
        self.or_refused(start, holds, Some(number).filter(|&number| number.into().is_finite()))
    }

    /// The place of the next character.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// A part of the text.
    pub(crate) fn slice(&self, place: Range<usize>) -> &'t str {
        &self.text[place]
    }

    /// Another reader of a value that was passed over.
    pub(crate) fn again(&self, place: Range<usize>) -> Reader<'t> {
        let text = &self.text[..place.end];
        Reader { text, at: place.start, depth: self.depth, path: vec![], of: self.of }
    }

    /// The first byte of the next value, behind blanks.
    pub(crate) fn next_byte(&mut self) -> Option<u8> {
        self.blanks();
        self.peek()
    }

    /// Value that a text stands for, if it is `expected`.
    pub(crate) fn parsed<T>(
        &mut self,
        expected: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T> {
        self.blanks();
        let start = self.at;
        let text = self.string()?;
        self.or_refused(start, expected, parse(&text))
    }

    /// A value that was read from `start` on, or else the error that something else was expected there.
    fn or_refused<T>(&mut self, start: usize, expected: &str, read: Option<T>) -> Result<T> {
        read.ok_or_else(|| {
            self.at = start;
            self.unexpected(expected)
        })
    }

    /// A float as [`Json::float`](crate::json::Json::float) writes it.
    pub(crate) fn double<T: FromStr + Copy + Into<f64>>(&mut self) -> Result<T> {
        let expected = "a number, \"NaN\", \"inf\" or \"-inf\"";
        match self.next_byte() {
            Some(b'"') => self.parsed(expected, |text| match text {
                "NaN" | "inf" | "-inf" => text.parse().ok(),
                _ => None,
            }),
            Some(b'-' | b'0'..=b'9') => self.finite("a number that a float can hold"),
            _ => Err(self.unexpected(expected)),
        }
    }

    /// Value that the digits of a number stand for, if it is `expected`.
    pub(crate) fn number_as<T>(
        &mut self,
        expected: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T> {
        self.blanks();
        let start = self.at;
        if !matches!(self.peek(), Some(b'-' | b'0'..=b'9')) {
            return Err(self.unexpected(expected));
        }
        let digits = self.number_text()?;
        self.or_refused(start, expected, parse(digits))
    }

    fn number<T: FromStr>(&mut self, expected: &str) -> Result<T> {
        self.number_as(expected, |digits| digits.parse().ok())
    }

    /// Passes over a value, which is well-formed JSON, and tells where it lies.
    pub(crate) fn skip(&mut self) -> Result<Range<usize>> {
        self.blanks();
        let start = self.at;
        match self.peek() {
            Some(b'{') => self.object(&[], |_, _| Ok(false))?,
            Some(b'[') => {
                self.array(|reader| reader.skip().map(|_| ()))?;
            }
            Some(b'"') => {
                self.text_value()?;
            }
            Some(b'-' | b'0'..=b'9') => {
                self.number_text()?;
            }
            Some(b't' | b'f') => {
                self.boolean()?;
            }
            _ => {
                self.or_null(|reader| Err::<(), _>(reader.unexpected("a value")))?;
            }
        }
        Ok(start..self.at)
    }

    /// There must be nothing more.
    pub(crate) fn end(&mut self) -> Result<()> {
        self.blanks();
        match self.at == self.text.len() {
            true => Ok(()),
            false => Err(self.unexpected("the end of the text")),
        }
    }

    /// Error of an expectation at the next character.
    #[cold]
    pub(crate) fn unexpected(&self, expected: &str) -> Error {
        let rest = &self.text[self.at..];
        let shown = |text: &str| {
            let mut short: String = text.chars().take(SHOWN_CHARS_MAX).collect();
            if short.len() < text.len() {
                short.push('…');
            }
            short
        };
        let end_of_word = |c: char| matches!(c, ',' | '}' | ']' | ':' | ' ' | '\n' | '\r' | '\t');
        let found = match rest.as_bytes().first() {
            None => "the end of the text".to_owned(),
            Some(b'{') => "an object".to_owned(),
            Some(b'[') => "an array".to_owned(),
            Some(b'"') => {
                let mut copy =
                    Reader { text: self.text, at: self.at, depth: 0, path: vec![], of: "" };
                match copy.text_value() {
                    Ok(text) => format!("the text {:?}", shown(&text)),
                    Err(_) => "a text without an end".to_owned(),
                }
            }
            Some(b'-' | b'0'..=b'9') => {
                let end = rest.find(end_of_word).unwrap_or(rest.len());
                format!("the number {}", shown(&rest[..end]))
            }
            Some(_) => {
                let end = rest.find(end_of_word).unwrap_or(rest.len()).max(1);
                let mut ends = end..=rest.len();
                let end = ends.find(|at| rest.is_char_boundary(*at)).unwrap_or(rest.len());
                format!("'{}'", shown(&rest[..end]))
            }
        };
        self.error(expected, &found)
    }

    /// An error about the name whose value is next, told with the object that it is in.
    #[cold]
    pub(crate) fn unknown_name(&self, expected: &str, name: &str) -> Error {
        let object = self.path.split_last().map_or(&[][..], |(_, object)| object);
        self.error_in(object, expected, &format!("the name {name:?}"))
    }

    /// An error at the next character, or behind the last one.
    #[cold]
    pub(crate) fn error(&self, expected: &str, found: &str) -> Error {
        self.error_in(&self.path, expected, found)
    }

    fn error_in(&self, path: &[Step<'_>], expected: &str, found: &str) -> Error {
        let before = match self.at < self.text.len() {
            true => &self.text[..self.at],
            // The end is that of what stands there, not of the line breaks behind it.
            false => self.text.trim_end(),
        };
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = 1 + before.bytes().filter(|byte| *byte == b'\n').count();
        let column = 1 + before[line_start..].chars().count();
        let what = match path.is_empty() {
            true => format!("reading {}", self.of),
            false => format!("reading {} of {}", shown_path(path), self.of),
        };
        Error::new(ErrorKind::Corrupt, what)
            .expected(expected)
            .found(found)
            .at_line(line as u64)
            .at_column(column as u64)
    }

    /// Places in the arrays that the next value is in, the outermost first.
    pub(crate) fn places(&self) -> impl Iterator<Item = usize> {
        self.path.iter().filter_map(|step| match step {
            Step::Nth(nth) => Some(*nth),
            Step::Name(_) => None,
        })
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8, what: &str) -> Result<()> {
        if self.peek() != Some(byte) {
            return Err(self.unexpected(what));
        }
        self.at += 1;
        Ok(())
    }

    fn opening(&mut self, byte: u8, what: &str) -> Result<()> {
        self.blanks();
        self.expect(byte, what)?;
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let what = format!("reading {} of {}", shown_path(&self.path), self.of);
            let unit = "objects and arrays inside each other";
            return Err(Error::limit_reached(what, "DEPTH_MAX", DEPTH_MAX, unit, None));
        }
        Ok(())
    }

    /// Whether another item stands before the closing bracket; goes past the comma, or past that.
    fn next_item(&mut self, closing: u8, is_first: bool) -> Result<bool> {
        self.blanks();
        match self.peek() {
            Some(byte) if byte == closing => {
                self.at += 1;
                Ok(false)
            }
            _ if is_first => Ok(true),
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            _ => Err(self.unexpected(match closing {
                b'}' => "a comma or the end of the object",
                _ => "a comma or the end of the array",
            })),
        }
    }

    /// The text of a number as the grammar has it: no sign but a minus, no zeros before it.
    fn number_text(&mut self) -> Result<&'t str> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let digits = |from: usize| {
            let n = bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            (n > 0).then_some(from + n)
        };
        let mut at = start + usize::from(bytes[start] == b'-');
        let whole = match bytes.get(at) {
            Some(b'0') => Some(at + 1),
            _ => digits(at),
        };
        let end = whole.and_then(|end| {
            at = end;
            if bytes.get(at) == Some(&b'.') {
                at = digits(at + 1)?;
            }
            if matches!(bytes.get(at), Some(b'e' | b'E')) {
                let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
                at = digits(at + 1 + sign)?;
            }
            Some(at)
        });
        // The next character must end it, or it is no number: 012, 1x.
        let ends = |end: &usize| {
            let next = bytes.get(*end);
            next.is_none_or(|byte| {
                matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r')
            })
        };
        match end.filter(ends) {
            Some(end) => {
                self.at = end;
                Ok(&self.text[start..end])
            }
            None => Err(self.unexpected("a number as JSON has them")),
        }
    }

    /// A text in double quotes, which begins here; borrowed if nothing in it is escaped.
    fn text_value(&mut self) -> Result<Cow<'t, str>> {
        let opening = self.at;
        self.at += 1;
        let mut owned: Option<String> = None;
        loop {
            let start = self.at;
            let rest = &self.text.as_bytes()[start..];
            let n = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
            let Some(n) = n else {
                self.at = opening;
                return Err(
                    self.error("a double quote at the end of a text", "the end of the text")
                );
            };
            self.at += n;
            let plain = &self.text[start..self.at];
            match rest[n] {
                b'"' => {
                    self.at += 1;
                    return Ok(match owned {
                        None => Cow::Borrowed(plain),
                        Some(text) => Cow::Owned(text + plain),
                    });
                }
                b'\\' => {
                    let text = owned.get_or_insert_default();
                    text.push_str(plain);
                    let c = self.escaped()?;
                    owned.get_or_insert_default().push(c);
                }
                byte => {
                    let found = format!("the control character 0x{byte:02X}");
                    return Err(self.error("an escape such as \\n in a text", &found));
                }
            }
        }
    }

    /// The character that an escape stands for, which begins here.
    fn escaped(&mut self) -> Result<char> {
        let start = self.at;
        let escape = self.text.as_bytes().get(start + 1).copied();
        self.at += 2;
        Ok(match escape {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let mut code = self.four_digits();
                // Half of a pair needs the other half.
                if let Some(high @ 0xd800..0xdc00) = code
                    && self.text.as_bytes()[self.at..].starts_with(b"\\u")
                {
                    self.at += 2;
                    let low = self.four_digits().filter(|low| (0xdc00..0xe000).contains(low));
                    code = low.map(|low| 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00));
                }
                match code.and_then(char::from_u32) {
                    Some(c) => c,
                    None => {
                        return Err(
                            self.bad_escape(start, "four hexadecimal digits of a character")
                        );
                    }
                }
            }
            _ => return Err(self.bad_escape(start, "an escape of JSON")),
        })
    }

    #[cold]
    fn bad_escape(&mut self, start: usize, expected: &str) -> Error {
        self.at = start;
        let found: String = self.text[start..].chars().take(6).collect();
        self.error(expected, &format!("'{found}'"))
    }

    fn four_digits(&mut self) -> Option<u32> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4)?;
        let code = digits
            .iter()
            .try_fold(0, |code, digit| Some(16 * code + char::from(*digit).to_digit(16)?))?;
        self.at += 4;
        Some(code)
    }
}

#[cfg(test)]
mod tests;
