//! Neighbours of a vector: `nearest($v, 10)`, `within([0.5, -1], 0.8)`.

use super::{Lexer, Token};
use crate::error::Result;
use crate::ids::DocId;
use crate::query::{Effort, Neighbors, Place, Query, QueryVector};

impl Lexer<'_> {
    /// Whether a vector in brackets follows, so that the word before is none.
    pub(super) fn opens_vector(&self) -> bool {
        let inside = self.rest().strip_prefix('(').map(str::trim_start);
        inside.is_some_and(|inside| inside.starts_with(['$', '[']) || inside.starts_with("doc:"))
    }

    /// `nearest(vector, 10)` or `within(vector, 0.8)`; the position is at the bracket.
    pub(super) fn near(&mut self, word: &str, start: usize) -> Result<Token> {
        self.at += 1;
        let vector = self.vector()?;
        self.sign(',', "a ',' behind the vector")?;
        let wanted = match word {
            "nearest" => {
                let k = self.item("how many documents, 1 or more", |text| {
                    text.parse().ok().filter(|k| *k > 0)
                })?;
                Neighbors::Nearest(k, self.effort()?)
            }
            _ => Neighbors::Within(self.item("a finite similarity", finite)?),
        };
        self.sign(')', &format!("a ')' behind '{}'", self.query[start..self.at].trim_end()))?;
        self.end_of_atom()?;
        let place = Place::default();
        Ok(Token::Leaf(Query::Nearest { field: None, vector, wanted, place }))
    }

    /// Effort behind the number of documents: `, recall=0.99`, `, ef=200`, `, exact`.
    fn effort(&mut self) -> Result<Effort> {
        self.skip_blanks();
        if !self.eat(',') {
            return Ok(Effort::default());
        }
        let expected =
            "exact, recall= with a number above 0 and up to 1, or ef= with one from 1 on";
        self.item(expected, Effort::read)
    }

    fn vector(&mut self) -> Result<QueryVector> {
        self.skip_blanks();
        if self.eat('$') {
            let is_name = |text: &str| text.chars().all(|c| c.is_alphanumeric() || c == '_');
            let name = self.item("the name of a parameter behind '$'", |text| {
                is_name(text).then(|| text.to_owned())
            })?;
            return Ok(QueryVector::Parameter(name));
        }
        if self.eat('[') {
            let mut numbers = vec![];
            loop {
                numbers.push(self.item("a finite number of the vector", finite)?);
                self.skip_blanks();
                if self.eat(']') {
                    return Ok(numbers.into());
                }
                self.sign(',', "',' or ']' behind a number")?;
            }
        }
        self.at += "doc:".len();
        let number = self.item("the number of a document behind 'doc:'", |text| text.parse().ok());
        number.map(|number| QueryVector::Document(DocId(number)))
    }

    /// Reads up to the next sign or blank.
    fn item<T>(&mut self, expected: &str, read: impl Fn(&str) -> Option<T>) -> Result<T> {
        self.skip_blanks();
        let rest = self.rest();
        let ends = |c: char| c.is_whitespace() || matches!(c, ',' | ')' | ']' | '(' | '[');
        let text = &rest[..rest.find(ends).unwrap_or(rest.len())];
        let found = if text.is_empty() { None } else { read(text) };
        let span = self.at..self.at + text.len();
        let item = found.ok_or_else(|| {
            let found = if text.is_empty() { "nothing".into() } else { format!("'{text}'") };
            self.refuse(span.clone()).expected(expected).found(found)
        })?;
        self.at = span.end;
        Ok(item)
    }

    /// Reads a sign behind blanks.
    fn sign(&mut self, sign: char, expected: &str) -> Result<()> {
        self.skip_blanks();
        if self.eat(sign) {
            return Ok(());
        }
        let next = self.rest().chars().next();
        let found = next.map_or("the end of the query".into(), |c| format!("'{c}'"));
        let end = self.at + next.map_or(0, char::len_utf8);
        Err(self.refuse(self.at..end).expected(expected).found(found))
    }
}

fn finite(text: &str) -> Option<f32> {
    text.parse().ok().filter(|number: &f32| number.is_finite())
}

#[cfg(test)]
mod tests {
    use crate::ids::DocId;
    use crate::query::{ParseOptions, Query, QueryVector, parse};

    #[test]
    fn neighbors_are_read_as_they_are_printed() {
        let numbers = [0.5f32, -1.0, 1e-40, f32::MAX];
        let parameter = || QueryVector::Parameter("v_1".into());
        let document = || QueryVector::Document(DocId(15_212));
        for (text, expected) in [
            ("e:nearest($v_1, 10)", Query::nearest("e", parameter(), 10)),
            ("e:nearest( $v_1 ,10 )", Query::nearest("e", parameter(), 10)),
            ("e:within(doc:15212, -0.25)", Query::within("e", document(), -0.25)),
            ("e:nearest(doc:15212,1)", Query::nearest("e", document(), 1)),
            ("e:nearest($v_1, 10, exact)", Query::nearest("e", parameter(), 10).exact()),
            ("e:nearest($v_1, 10,ef=200 )", Query::nearest("e", parameter(), 10).ef(200)),
            ("e:nearest($v_1, 10, recall=.99)", Query::nearest("e", parameter(), 10).recall(0.99)),
            ("e:nearest($v_1, 10, recall=0.95)", Query::nearest("e", parameter(), 10)),
        ] {
            assert_eq!(parse(text, &ParseOptions::default()).unwrap(), expected, "{text}");
        }
        let query = Query::all_of([
            Query::word("a"),
            Query::not(Query::within("e", numbers, 0.8)),
            Query::nearest("e", numbers, 7).boosted(2.0).unwrap(),
            Query::nearest("e", numbers, 8).boosted(2.0).unwrap().recall(0.5),
            Query::nearest("e", numbers, 9).exact(),
        ]);
        let all = query.clone().ef(3).to_string();
        assert_eq!(all.matches(", ef=3)").count(), 3, "{all}");
        let text = query.to_string();
        assert_eq!(parse(&text, &ParseOptions::default()).unwrap(), query, "{text}");
        // A word of this name stays one.
        let word = parse("title:nearest(park)", &ParseOptions::default()).unwrap();
        assert!(!word.has_neighbors() && word.to_string() == "title:nearest park");
    }

    #[test]
    fn wrong_numbers_are_refused_with_their_place() {
        for (text, expected, span) in [
            ("e:nearest($v, 0)", "how many documents, 1 or more", "0"),
            ("e:nearest($v, 1.5)", "how many documents", "1.5"),
            ("e:nearest($v, 4294967296)", "how many documents", "4294967296"),
            ("e:nearest($v)", "a ',' behind the vector", ")"),
            ("e:nearest($v, 3, recall=0)", "above 0 and up to 1", "recall=0"),
            ("e:nearest($v, 3, recall=1.1)", "above 0 and up to 1", "recall=1.1"),
            ("e:nearest($v, 3, recall=NaN)", "above 0 and up to 1", "recall=NaN"),
            ("e:nearest($v, 3, ef=0)", "ef= with one from 1 on", "ef=0"),
            ("e:nearest($v, 3, fast)", "exact, recall=", "fast"),
            ("e:nearest($v, 3, exact, exact)", "a ')' behind", ","),
            ("e:within($v, 3, exact)", "a ')' behind", ","),
            ("e:nearest($, 3)", "the name of a parameter", ""),
            ("e:nearest([1, x], 3)", "a finite number", "x"),
            ("e:nearest([1, NaN], 3)", "a finite number", "NaN"),
            ("e:nearest([1, 1e39], 3)", "a finite number", "1e39"),
            ("e:nearest([], 3)", "a finite number", ""),
            ("e:nearest([1 2], 3)", "',' or ']'", "2"),
            ("e:nearest(doc:x, 3)", "the number of a document", "x"),
            ("e:within($v, inf)", "a finite similarity", "inf"),
            ("e:nearest($v, 3", "a ')' behind", ""),
            ("e:nearest($v, 3) x:nearest($v, 3)y", "a blank or a bracket", "y"),
        ] {
            let error = parse(text, &ParseOptions::default()).unwrap_err();
            assert!(error.to_string().contains(expected), "{text}: {error}");
            assert_eq!(&text[error.span().unwrap()], span, "{text}");
        }
    }
}
