//! Objects in JSON text, one at a time. They may be a line each, over several lines, several on a line, or in a list at
//! the top.
//!
//! A line that is one whole object is what most files have, and is tried first. If that fails, the brackets and texts
//! of the object are followed to its end, which takes no more memory than one object may have. Anything between objects
//! is an error with its line and column.
//!
//! Reading goes on after an object that is broken or cut short: with the next line, if the broken one looks whole, else with
//! the next line that begins with a bracket no further right than the broken object did. So neither what is left of an object
//! nor the objects inside of it are taken for documents.

use std::io::{self, Read};

use memchr::{memchr, memchr_iter};
use treepie::Error;

use super::{
    BYTE_ORDER_MARK, bad,
    scan::{Scan, Step},
};

/// Finds objects in text and holds one of them at a time.
#[derive(Debug)]
pub(crate) struct Objects<R> {
    from: R,
    buffer: Vec<u8>,
    /// Start in the buffer of the bytes that were not given out yet.
    start: usize,
    ended: bool,
    begun: bool,
    /// Place of `buffer[start]`.
    place: Place,
    list: List,
    /// Whether nothing but blanks is before `start` on its line, so that the line may be one object.
    at_line_start: bool,
    /// Whether the text goes on beyond its end, so that nothing there is cut short.
    is_part: bool,
    bytes_max: usize,
}

/// Place of a byte in the decoded text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// From 1.
    pub(crate) line: u64,
    /// In bytes, from 1.
    pub(crate) column: u64,
    pub(crate) offset: u64,
}

impl Place {
    /// The beginning of a line.
    #[cfg(test)]
    pub(crate) fn of_line(line: u64) -> Self {
        Place { line, column: 1, offset: 0 }
    }

    /// The place behind some text that begins here.
    pub(crate) fn after(self, text: &[u8]) -> Self {
        let n_lines = memchr_iter(b'\n', text).count() as u64;
        let last = memchr::memrchr(b'\n', text).map_or(0, |at| at + 1);
        let before = if n_lines == 0 { self.column } else { 1 };
        Place {
            line: self.line + n_lines,
            column: before + (text.len() - last) as u64,
            offset: self.offset + text.len() as u64,
        }
    }
}

/// Position of the text in a list at the top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    Outside,
    /// In one that began at this line: before its first object, or after a broken one.
    First(u64),
    AfterObject(u64),
    AfterComma(u64),
}

impl List {
    fn after_object(self) -> Self {
        match self {
            List::Outside => List::Outside,
            List::First(line) | List::AfterObject(line) | List::AfterComma(line) => {
                List::AfterObject(line)
            }
        }
    }

    fn before_object(self) -> Self {
        match self {
            List::Outside => List::Outside,
            List::First(line) | List::AfterObject(line) | List::AfterComma(line) => {
                List::First(line)
            }
        }
    }
}

const READ_BYTES: usize = 256 << 10;
/// Line in which an object begins, and what it was read to.
pub(crate) type Found<T> = (u64, Result<T, Error>);

impl<R: Read> Objects<R> {
    /// Objects of at most `bytes_max` bytes; longer ones are passed over without being held.
    pub(crate) fn new(from: R, bytes_max: usize) -> Self {
        Objects {
            from,
            buffer: vec![],
            start: 0,
            ended: false,
            begun: false,
            place: Place { line: 1, column: 1, offset: 0 },
            list: List::Outside,
            at_line_start: true,
            is_part: false,
            bytes_max,
        }
    }

    /// Objects of the beginning of a text: an object that is not whole there ends it.
    pub(crate) fn of_part(mut self) -> Self {
        self.is_part = true;
        self
    }

    /// The next object as `read` makes it from its text, or the next error.
    pub(crate) fn next<T>(
        &mut self,
        mut read: impl FnMut(&[u8], Place) -> Result<T, Error>,
    ) -> io::Result<Option<Found<T>>> {
        if !self.begun {
            self.begun = true;
            self.fill()?;
            if self.buffer.starts_with(BYTE_ORDER_MARK) {
                self.start = BYTE_ORDER_MARK.len();
                self.place.offset = BYTE_ORDER_MARK.len() as u64;
            }
        }
        loop {
            let Some(byte) = self.next_byte()? else { return Ok(self.at_end()) };
            match (self.list, byte) {
                (List::AfterObject(line), b',') => {
                    self.take(1);
                    self.list = List::AfterComma(line);
                }
                (List::AfterObject(_) | List::First(_), b']') => {
                    self.take(1);
                    self.list = List::Outside;
                }
                (List::AfterComma(_), b']') => {
                    let error = wrong(self.place, "an object after ','").found("']'");
                    self.take(1);
                    self.list = List::Outside;
                    return Ok(Some((self.place.line, Err(error))));
                }
                (List::AfterObject(_), b'{') => {
                    let error = wrong(self.place, "',' or ']' after an object").found("'{'");
                    self.list = self.list.before_object();
                    return Ok(Some((self.place.line, Err(error))));
                }
                (List::Outside, b'[') => {
                    self.list = List::First(self.place.line);
                    self.take(1);
                }
                (_, b'{') => return self.object(&mut read).map(Some),
                (List::Outside, _) => return self.other_line(&mut read).map(Some),
                _ => return self.other_value().map(Some),
            }
        }
    }

    /// The byte after blanks, if there is one.
    fn next_byte(&mut self) -> io::Result<Option<u8>> {
        loop {
            let rest = &self.buffer[self.start..];
            let n_blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let byte = rest.get(n_blanks).copied();
            self.take(n_blanks);
            if byte.is_some() || self.ended {
                return Ok(byte);
            }
            self.fill()?;
        }
    }

    fn at_end<T>(&mut self) -> Option<Found<T>> {
        let (List::First(line) | List::AfterObject(line) | List::AfterComma(line)) = self.list
        else {
            return None;
        };
        self.list = List::Outside;
        let error = bad("reading JSON", line)
            .expected("']' at the end of the list that begins here")
            .found(format!("the end of the input in line {}", self.place.line));
        (!self.is_part).then_some((line, Err(error)))
    }

    fn fill(&mut self) -> io::Result<()> {
        self.buffer.drain(..self.start);
        self.start = 0;
        let n = (&mut self.from).take(READ_BYTES as u64).read_to_end(&mut self.buffer)?;
        self.ended = n < READ_BYTES;
        Ok(())
    }

    /// Goes on by some bytes.
    fn take(&mut self, n: usize) {
        if n == 0 {
            return;
        }
        let text = &self.buffer[self.start..self.start + n];
        let line = self.place.line;
        self.place = self.place.after(text);
        let has_moved = self.place.line > line || self.at_line_start;
        self.at_line_start = has_moved && ends_in_blanks(text);
        self.start += n;
    }

    /// Length of the line that is begun, up to its end; `None` if it is longer than an object may be.
    fn line_len(&mut self) -> io::Result<Option<usize>> {
        let mut searched = 0;
        loop {
            let rest = &self.buffer[self.start..];
            if let Some(at) = memchr(b'\n', &rest[searched..]) {
                return Ok(Some(searched + at).filter(|len| *len <= self.bytes_max));
            }
            searched = rest.len();
            if searched > self.bytes_max {
                return Ok(None);
            }
            if self.ended {
                return Ok(Some(searched));
            }
            self.fill()?;
        }
    }

    /// The object that begins here.
    fn object<T>(
        &mut self,
        read: &mut impl FnMut(&[u8], Place) -> Result<T, Error>,
    ) -> io::Result<Found<T>> {
        let place = self.place;
        let mut of_line = None;
        if self.at_line_start
            && self.list == List::Outside
            && let Some(len) = self.line_len()?
        {
            let line = self.buffer[self.start..self.start + len].trim_ascii_end();
            match read(line, place) {
                Ok(object) => {
                    // Its end is there, or the text ends.
                    self.start += len;
                    self.place.column += len as u64;
                    self.place.offset += len as u64;
                    self.at_line_start = false;
                    return Ok((place.line, Ok(object)));
                }
                Err(error) => of_line = Some((line.len(), error)),
            }
        }
        let mut scan = Scan::new();
        loop {
            let rest = &self.buffer[self.start..];
            match scan.step(rest) {
                Step::Whole(len) => {
                    let object = match of_line {
                        Some((n, error)) if n == len => Err(error),
                        _ => read(&rest[..len], place),
                    };
                    self.take(len);
                    self.list = self.list.after_object();
                    return Ok((place.line, object));
                }
                Step::Wrong(expected) => {
                    let at = place.after(&rest[..scan.at]);
                    let found = shown(&rest[scan.at..]);
                    let error = match of_line {
                        Some((_, error)) if at.line == place.line => error,
                        _ => wrong_inside(place, at, expected, &found),
                    };
                    return self.recover(place, error);
                }
                Step::More if self.ended => {
                    let is_one_line = memchr(b'\n', rest).is_none_or(|at| at + 1 == rest.len());
                    let error = match of_line {
                        Some((_, error)) if is_one_line => error,
                        _ => {
                            let at = place.after(rest);
                            wrong_inside(place, at, "the end of the object", "the end of the input")
                        }
                    };
                    if self.is_part {
                        self.take(self.buffer.len() - self.start);
                        return Ok((place.line, Err(error)));
                    }
                    return self.recover(place, error);
                }
                Step::More if rest.len() > self.bytes_max => {
                    self.pass_over(scan, place)?;
                    let error = bad("reading JSON", place.line)
                        .expected(format!("objects of at most {} MiB", self.bytes_max >> 20))
                        .found("a longer one");
                    return Ok((place.line, Err(error)));
                }
                Step::More => self.fill()?,
            }
        }
    }

    /// Goes on to the end of an object without holding it.
    fn pass_over(&mut self, mut scan: Scan, place: Place) -> io::Result<()> {
        loop {
            self.take(scan.at);
            scan.at = 0;
            self.fill()?;
            match scan.step(&self.buffer[self.start..]) {
                Step::Whole(len) => {
                    self.take(len);
                    self.list = self.list.after_object();
                    return Ok(());
                }
                Step::Wrong(_) => return self.resume(place).map(drop),
                Step::More if self.ended => {
                    self.take(self.buffer.len() - self.start);
                    return Ok(());
                }
                Step::More => {}
            }
        }
    }

    /// Goes on after a broken object, and says what is left out with it.
    fn recover<T>(&mut self, place: Place, error: Error) -> io::Result<Found<T>> {
        let is_alone = self.at_line_start && self.list == List::Outside;
        let last = self.resume(place)?;
        let error = match last > place.line {
            true => error.hint(format!("it takes the lines {} to {last}", place.line)),
            false if is_alone => error,
            false => error.hint(format!("with it goes the rest of line {last}")),
        };
        Ok((place.line, Err(error)))
    }

    /// Goes to where the next object may begin, and gives the last line that is left out before it.
    fn resume(&mut self, place: Place) -> io::Result<u64> {
        self.list = self.list.before_object();
        let mut looks_whole = self.pass_line()?;
        loop {
            let last = self.place.line.saturating_sub(1).max(place.line);
            let Some(byte) = self.next_byte()? else {
                return Ok(if self.place.column > 1 { self.place.line } else { last });
            };
            let is_bracket = match self.list {
                List::Outside => matches!(byte, b'{' | b'['),
                _ => matches!(byte, b'{' | b']'),
            };
            if looks_whole || (is_bracket && self.place.column <= place.column) {
                return Ok(last);
            }
            // Nothing but its own end makes a later line whole.
            looks_whole = false;
            self.pass_line()?;
        }
    }

    /// Goes to the next line; whether this one looks as if an object ended there.
    fn pass_line(&mut self) -> io::Result<bool> {
        let mut looks_whole = false;
        loop {
            let rest = &self.buffer[self.start..];
            let end = memchr(b'\n', rest);
            let line = &rest[..end.unwrap_or(rest.len())];
            let last = line.iter().rev().copied().find(|byte| !byte.is_ascii_whitespace());
            if let Some(last) = last {
                let before = line.trim_ascii_end().strip_suffix(b",").unwrap_or(line);
                looks_whole = last == b'}' || before.trim_ascii_end().ends_with(b"}");
            }
            let len = end.map_or(rest.len(), |end| end + 1);
            self.take(len);
            if end.is_some() || self.ended {
                return Ok(looks_whole);
            }
            self.fill()?;
        }
    }

    /// A line that begins with something else, outside of lists.
    fn other_line<T>(
        &mut self,
        read: &mut impl FnMut(&[u8], Place) -> Result<T, Error>,
    ) -> io::Result<Found<T>> {
        let place = self.place;
        let object = match self.line_len()? {
            Some(len) => {
                let line = &self.buffer[self.start..self.start + len];
                match self.at_line_start {
                    true => read(line.trim_ascii_end(), place),
                    false => Err(wrong(place, "an object").found(shown(line))),
                }
            }
            None => Err(wrong(place, "an object").found("a line that is too long")),
        };
        self.pass_line()?;
        Ok((place.line, object))
    }

    /// A value in a list that is no object.
    fn other_value<T>(&mut self) -> io::Result<Found<T>> {
        let place = self.place;
        let expected = match self.list {
            List::AfterObject(_) => "',' or ']' after an object",
            _ => "objects in the list",
        };
        let mut scan = Scan::new();
        loop {
            let rest = &self.buffer[self.start..];
            match scan.step(rest) {
                Step::More if !self.ended && rest.len() <= self.bytes_max => self.fill()?,
                Step::Whole(len) => {
                    let error = wrong(place, expected).found(described(rest));
                    self.take(len);
                    self.list = self.list.after_object();
                    return Ok((place.line, Err(error)));
                }
                Step::More | Step::Wrong(_) => {
                    let error = wrong(place, expected).found(described(rest));
                    return self.recover(place, error);
                }
            }
        }
    }
}

fn ends_in_blanks(text: &[u8]) -> bool {
    let last_line = memchr::memrchr(b'\n', text).map_or(0, |at| at + 1);
    text[last_line..].iter().all(u8::is_ascii_whitespace)
}

/// The error about what is at a place.
fn wrong(place: Place, expected: &str) -> Error {
    bad("reading JSON", place.line).expected(expected).at_column(place.column)
}

/// The error about what is at a place within an object.
fn wrong_inside(object: Place, at: Place, expected: &str, found: &str) -> Error {
    match at.line == object.line {
        true => wrong(at, expected).found(found),
        false => wrong(object, expected)
            .found(format!("{found} in line {} at column {}", at.line, at.column)),
    }
}

/// The first character of a text, in quotes.
fn shown(text: &[u8]) -> String {
    match String::from_utf8_lossy(&text[..text.len().min(4)]).chars().next() {
        Some('\n') => "the end of the line".to_owned(),
        Some(c) => format!("'{c}'"),
        None => "the end of the input".to_owned(),
    }
}

/// Kind of a JSON value, by its beginning.
fn described(text: &[u8]) -> String {
    match text.first() {
        Some(b'"') => "a string".to_owned(),
        Some(b'[') => "a list".to_owned(),
        Some(b'-' | b'0'..=b'9') => "a number".to_owned(),
        _ if text.starts_with(b"null") => "null".to_owned(),
        _ if text.starts_with(b"true") || text.starts_with(b"false") => "a boolean".to_owned(),
        _ => shown(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time.
    struct Slowly<'t>(&'t [u8]);

    impl Read for Slowly<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let n = into.len().min(3).min(self.0.len());
            into[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    /// Each object as `line: text`, or what is wrong.
    fn all(text: &str) -> Vec<String> {
        let mut objects = Objects::new(Slowly(text.as_bytes()), 1_000);
        let mut found = vec![];
        let read = |text: &[u8], place: Place| {
            let value: Result<serde_json::Value, _> = serde_json::from_slice(text);
            match value {
                Ok(value) if value.is_object() => Ok(value.to_string()),
                _ => Err(bad("x", place.line).found("no object")),
            }
        };
        while let Some((line, object)) = objects.next(read).unwrap() {
            found.push(match object {
                Ok(object) => format!("{line}: {object}"),
                Err(error) => error.to_string(),
            });
        }
        found
    }

    #[test]
    fn objects_are_found_in_every_layout() {
        for (text, expected) in [
            ("", &[] as &[&str]),
            (" \n\r\n", &[]),
            ("{\"a\":1}\n\n{\"a\":2}", &["1: {\"a\":1}", "3: {\"a\":2}"]),
            (
                "{\"a\":1}{\"a\":2} {}\r\n{\"a\":3}",
                &["1: {\"a\":1}", "1: {\"a\":2}", "1: {}", "2: {\"a\":3}"],
            ),
            (
                "{\n  \"a\": {\n    \"b\": [1,\n {}]}\n}\n{\"a\":2}",
                &["1: {\"a\":{\"b\":[1,{}]}}", "6: {\"a\":2}"],
            ),
            ("[]", &[]),
            ("[\n{\"a\":1},\n{\"a\":2}\n]\n", &["2: {\"a\":1}", "3: {\"a\":2}"]),
            (
                "\u{FEFF}[{\"a\":\"]},{\\\"\"},{\"a\":2}]",
                &["1: {\"a\":\"]},{\\\"\"}", "1: {\"a\":2}"],
            ),
            ("[{}]\n[{}] {}", &["1: {}", "2: {}", "2: {}"]),
            ("{\"a\":\n1}\n[\n{\"a\":\n2}\n,\n{}\n]", &["1: {\"a\":1}", "4: {\"a\":2}", "7: {}"]),
        ] {
            assert_eq!(all(text), expected, "{text:?}");
        }
    }

    #[test]
    fn what_is_wrong_has_its_place_and_loses_itself_only() {
        for (text, message, after) in [
            (
                "{\"a\":\n{\"a\":1}\n{\"a\":2}\n",
                "',' or '}' after a value, found '{' in line 3 at column 1 (line 1, column 1)",
                &["2: {\"a\":1}", "3: {\"a\":2}"][..],
            ),
            ("{\"a\":1\n", "no object", &[]),
            ("{\"a\":\n1\n", "the end of the object, found the end of the input in line 3", &[]),
            ("{\"a\": x}\n{\"a\":1}\n", "no object", &["2: {\"a\":1}"]),
            ("{\"a\": \"x\n{\"a\":1}\n", "no object", &["2: {\"a\":1}"]),
            (
                "{\n \"a\": {\n  \"b\": }\n }\n}\n{\"a\":1}\n",
                "a value, found '}' in line 3 at column 8 (line 1, column 1); it takes the lines 1 to 5",
                &["6: {\"a\":1}"],
            ),
            (
                "{\n \"a\": [\n  {\n \"b\" 1\n },\n {\"c\":2}\n ]\n}\n{\"a\":1}\n",
                "':' after a key, found '1' in line 4",
                &["9: {\"a\":1}"],
            ),
            ("{\"a\":1},\n{\"a\":2}", "", &[]),
            ("[{\"a\":1},\n 7,\n {\"a\":2}]", "", &[]),
            ("x\n{\"a\":1}", "no object", &["2: {\"a\":1}"]),
            (
                "[7, {\"a\":1}]",
                "objects in the list, found a number (line 1, column 2)",
                &["1: {\"a\":1}"],
            ),
            ("[[{}], {\"a\":1}]", "found a list (line 1, column 2)", &["1: {\"a\":1}"]),
            (
                "[\"x\", null, true]",
                "found a string",
                &[
                    "reading JSON: expected objects in the list, found null (line 1, column 7)",
                    "reading JSON: expected objects in the list, found a boolean (line 1, column 13)",
                ],
            ),
            (
                "[\n{\"a\" 1},\n{\"a\":2}\n]",
                "':' after a key, found '1' (line 2, column 6)",
                &["3: {\"a\":2}"],
            ),
            ("[\n{\"a\":1},\n{\"a\":", "", &[]),
            (
                "[",
                "']' at the end of the list that begins here, found the end of the input in line 1 (line 1)",
                &[],
            ),
        ] {
            let found = all(text);
            let at = match text {
                // Objects come first.
                "{\"a\":1},\n{\"a\":2}" => {
                    assert_eq!(found[0], "1: {\"a\":1}");
                    assert!(
                        found[1].contains("an object, found ',' (line 1, column 8)"),
                        "{found:?}"
                    );
                    assert_eq!(found[2..], ["2: {\"a\":2}"]);
                    continue;
                }
                "[{\"a\":1},\n 7,\n {\"a\":2}]" => {
                    assert!(found[1].contains("found a number (line 2, column 2)"), "{found:?}");
                    assert_eq!(found[2..], ["3: {\"a\":2}"]);
                    continue;
                }
                "[\n{\"a\":1},\n{\"a\":" => {
                    assert!(
                        found[1].contains("the end of the object, found the end of the input"),
                        "{found:?}"
                    );
                    assert!(
                        found[2].contains("']' at the end of the list") && found.len() == 3,
                        "{found:?}"
                    );
                    continue;
                }
                _ => 0,
            };
            assert!(found[at].contains(message), "{text:?}: {found:?}");
            assert_eq!(&found[at + 1..], after, "{text:?}");
        }
        for (text, words) in [
            ("[{\"a\":1},]", "an object after ',', found ']' (line 1, column 10)"),
            ("[{\"a\":1} {\"a\":2}]", "',' or ']' after an object, found '{' (line 1, column 10)"),
            ("[{\"a\":1},\n\n", "found the end of the input in line 3 (line 1)"),
        ] {
            let found = all(text);
            assert!(found[1].contains(words), "{found:?}");
        }
        assert_eq!(all("[{\"a\":1} {\"a\":2}]")[2], "1: {\"a\":2}");
    }

    #[test]
    fn a_long_object_is_passed_over_without_being_held() {
        let long = "x".repeat(3 * READ_BYTES);
        for text in [
            format!("{{\"a\":\"{long}\"}}\n{{\"b\":1}}\n"),
            format!("[{{\"a\":\"{long}\"}},{{\"b\":1}}]"),
            format!("{{\n\"a\":\"{long}\"\n}}\n{{\"b\":1}}\n"),
        ] {
            let mut objects = Objects::new(text.as_bytes(), 1_000);
            let mut read = |text: &[u8], place: Place| match text.ends_with(b"}") {
                true => Ok(text.len()),
                false => Err(bad("x", place.line)),
            };
            let (line, found) = objects.next(&mut read).unwrap().unwrap();
            assert!(line == 1 && found.unwrap_err().to_string().contains("found a longer one"));
            let (_, found) = objects.next(&mut read).unwrap().unwrap();
            assert_eq!(found.unwrap(), "{\"b\":1}".len());
            assert!(objects.next(&mut read).unwrap().is_none());
            assert!(objects.buffer.capacity() < 4 * READ_BYTES);
        }
    }
}
