//! Scanner of one JSON value to its end, by brackets and texts. The text may be cut anywhere.

use memchr::memchr3;

/// Brackets within each other that are followed; no value of a field has nearly as many.
const LEVELS_MAX: usize = 1_024;

/// State of following one value to its end; `at` counts from its beginning.
#[derive(Debug)]
pub(super) struct Scan {
    /// Position up to which the text was followed.
    pub(super) at: usize,
    state: State,
    /// Brackets that are open.
    open: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Value,
    FirstValue,
    FirstKey,
    Key,
    Colon,
    AfterValue,
    /// In a key, or in a value.
    Text {
        is_key: bool,
    },
    /// A number, or true, false or null, which others read.
    Scalar,
}

pub(super) enum Step {
    /// The value has this length.
    Whole(usize),
    More,
    /// Expectation at the place that was reached.
    Wrong(&'static str),
}

impl Scan {
    pub(super) fn new() -> Self {
        Scan { at: 0, state: State::Value, open: vec![] }
    }

    /// Goes on as far as the text goes.
    pub(super) fn step(&mut self, text: &[u8]) -> Step {
        loop {
            if self.open.is_empty() && self.state == State::AfterValue {
                return Step::Whole(self.at);
            }
            let Some(&byte) = text.get(self.at) else { return Step::More };
            match self.state {
                State::Text { is_key } => {
                    let Some(found) = memchr3(b'"', b'\\', b'\n', &text[self.at..]) else {
                        self.at = text.len();
                        return Step::More;
                    };
                    self.at += found;
                    match text[self.at] {
                        b'"' => {
                            self.at += 1;
                            self.state = if is_key { State::Colon } else { State::AfterValue };
                        }
                        b'\\' if self.at + 1 == text.len() => return Step::More,
                        b'\\' => self.at += 2,
                        _ => return Step::Wrong("a closing quote"),
                    }
                    continue;
                }
                State::Scalar if !ends_scalar(byte) => {}
                State::Scalar => {
                    self.state = State::AfterValue;
                    continue;
                }
                _ if byte.is_ascii_whitespace() => {}
                State::Value | State::FirstValue => match byte {
                    b'{' | b'[' => {
                        if self.open.len() == LEVELS_MAX {
                            return Step::Wrong("at most 1,024 brackets within each other");
                        }
                        self.open.push(byte);
                        self.state = if byte == b'{' { State::FirstKey } else { State::FirstValue };
                    }
                    b'"' => self.state = State::Text { is_key: false },
                    b']' if self.state == State::FirstValue => self.close(),
                    _ if ends_scalar(byte) => return Step::Wrong("a value"),
                    _ => self.state = State::Scalar,
                },
                State::FirstKey | State::Key => match byte {
                    b'"' => self.state = State::Text { is_key: true },
                    b'}' if self.state == State::FirstKey => self.close(),
                    _ => return Step::Wrong("a key in quotes"),
                },
                State::Colon if byte == b':' => self.state = State::Value,
                State::Colon => return Step::Wrong("':' after a key"),
                State::AfterValue => match (byte, self.open.last()) {
                    (b',', Some(b'{')) => self.state = State::Key,
                    (b',', _) => self.state = State::Value,
                    (b'}', Some(b'{')) | (b']', Some(b'[')) => self.close(),
                    (_, Some(b'{')) => return Step::Wrong("',' or '}' after a value"),
                    _ => return Step::Wrong("',' or ']' after a value"),
                },
            }
            self.at += 1;
        }
    }

    fn close(&mut self) {
        self.open.pop();
        self.state = State::AfterValue;
    }
}

fn ends_scalar(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b',' | b':' | b'{' | b'}' | b'[' | b']' | b'"')
}
