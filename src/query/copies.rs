//! Words in keyword fields that have text copies.

use super::bind::check_size;
use super::{Boost, Query};
use crate::error::Result;
use crate::schema::{FieldKind, Schema};

/// Fields that a leaf means, each with its weight.
type Scope<'q> = Option<&'q [(String, Boost)]>;

impl Query {
    /// Looks for words in keyword fields in the text [copies](crate::Field::copy_of) of these, too.
    ///
    /// So `country:kingdom` finds "United Kingdom", which facets count as a whole. The copies are searched for words, prefixes,
    /// wildcards and fuzzy words; if fields are scored as one, the copy takes the place of the keyword. Text in quotes
    /// stays the whole value of a keyword, as do values of lists and ranges.
    /// [`Searcher::parse`](crate::Searcher::parse) does it to what it reads.
    ///
    /// ```
    /// use treepie::query::{ParseOptions, parse};
    /// use treepie::{Field, FieldKind, Schema};
    ///
    /// let words = Field::new("country.text", FieldKind::Text).copy_of("country");
    /// let country = Field::new("country", FieldKind::Keyword);
    /// let schema = Schema::builder().field(country).field(words).build()?;
    /// let query = parse("country:kingdom", &ParseOptions::default())?.in_copies(&schema)?;
    /// assert_eq!(query.to_string(), "{country country.text}:kingdom");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::LimitExceeded`](crate::ErrorKind::LimitExceeded) for a tree that is too large or too deep to be asked.
    pub fn in_copies(self, schema: &Schema) -> Result<Query> {
        if schema.copies().is_empty() {
            return Ok(self);
        }
        check_size(&self)?;
        Ok(self.with_copies(schema, None))
    }

    /// Recursive, as a tree that can be asked is not deep.
    fn with_copies(&self, schema: &Schema, scope: Scope<'_>) -> Query {
        if let Query::Fields { fields, combined: true, query } = self {
            let fields = fields.iter().map(|it| (text_of(&it.0, schema), it.1)).collect();
            let query = Box::new(query.with_copies(schema, None));
            return Query::Fields { fields, combined: true, query };
        }
        if !self.is_leaf() {
            let scope = match self {
                Query::Fields { fields, .. } => Some(&fields[..]),
                _ => scope,
            };
            return self.with_children(self.children().map(|it| it.with_copies(schema, scope)));
        }
        let is_of_words = matches!(
            self,
            Query::Word { .. }
                | Query::Prefix { .. }
                | Query::Wildcard { .. }
                | Query::Fuzzy { .. }
        );
        let fields = match (self.field_of_terms(), scope) {
            (Some(Some(name)), _) => vec![(name.clone(), Boost::ONE)],
            (Some(None), Some(scope)) => scope.to_vec(),
            _ => return self.clone(),
        };
        let wider = wider(&fields, schema);
        if !is_of_words || wider.len() == fields.len() {
            return self.clone();
        }
        let mut leaf = self.clone();
        if let Some((field, _)) = leaf.field_of_terms_mut() {
            *field = None;
        }
        leaf.in_fields(wider)
    }
}

/// The text copy of a keyword, as fields that are scored as one are texts; the name of any other field.
fn text_of(name: &str, schema: &Schema) -> String {
    let name = known(name, schema);
    let copies = schema.copies().iter().map(|(a, b)| (schema.get(*a), schema.get(*b)));
    let mut texts = copies.filter(|(source, copy)| {
        source.name == name && source.kind == FieldKind::Keyword && copy.kind == FieldKind::Text
    });
    texts.next().map_or(name, |(_, copy)| &copy.name).to_owned()
}

/// The name as the schema has it, if it has the field.
fn known<'n>(name: &'n str, schema: &'n Schema) -> &'n str {
    schema.field(name).map_or(name, |field| &field.name)
}

/// Fields with the text copies of keywords behind them, each once.
fn wider(fields: &[(String, Boost)], schema: &Schema) -> Vec<(String, Boost)> {
    let mut wider = vec![];
    for (name, boost) in fields {
        wider.push((name.clone(), *boost));
        let name = known(name, schema);
        for (source, copy) in schema.copies().iter().map(|(a, b)| (schema.get(*a), schema.get(*b)))
        {
            let is_of_words = source.kind == FieldKind::Keyword && copy.kind == FieldKind::Text;
            let is_there = fields.iter().any(|(other, _)| *other == copy.name);
            if source.name == name && is_of_words && !is_there {
                wider.push((copy.name.clone(), *boost));
            }
        }
    }
    wider
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::{ParseOptions, parse};
    use crate::schema::Field;

    #[test]
    fn words_of_keywords_are_looked_for_in_their_text_copies() {
        let schema = Schema::builder()
            .field(Field::new("k", FieldKind::Keyword))
            .field(Field::new("k.text", FieldKind::Text).copy_of("k"))
            .text("t")
            .field(Field::new("t.keyword", FieldKind::Keyword).copy_of("t"))
            .field(Field::new("n", FieldKind::I64))
            .build()
            .unwrap();
        for (text, expected) in [
            ("k:word", "{k k.text}:word"),
            ("k:wo*", "{k k.text}:wo*"),
            ("k:w?rd", "{k k.text}:w?rd"),
            ("k:word~1", "{k k.text}:word~1"),
            ("k:\"the word\"", "k:\"the word\""),
            ("k:/wo.*/", "k:/wo.*/"),
            ("k:IN [a b]", "k:IN [a b]"),
            ("k:[a TO b]", "k:[a TO b]"),
            ("k:*", "k:*"),
            ("t:word n:7 word", "t:word n:7 word"),
            ("-k:a (t:b AND k:c^2)", "t:b AND {k k.text}:c^2 -{k k.text}:a"),
            ("{k k.text}:word", "{k k.text}:word"),
            ("{k^3 + t}:word", "{k.text^3 + t}:word"),
        ] {
            let query = |text: &str| parse(text, &ParseOptions::default()).unwrap();
            let wider = query(text).in_copies(&schema).unwrap();
            assert_eq!(wider.to_string(), expected, "{text}");
            assert_eq!(query(expected).to_string(), expected);
            let same = query(text).in_copies(&Schema::builder().text("t").build().unwrap());
            assert_eq!(same.unwrap().to_string(), query(text).to_string());
        }
        // Within a list of fields, and within a field.
        let wider = |text: &str| {
            let query = parse(text, &ParseOptions::default()).unwrap().in_copies(&schema).unwrap();
            query.to_string()
        };
        assert!(
            wider("{k^2 t}:(a \"b c\")").contains("{k^2 k.text^2 t}:a"),
            "{}",
            wider("{k^2 t}:(a \"b c\")")
        );
        assert!(wider("k:(a OR b)").matches("{k k.text}:").count() >= 1, "{}", wider("k:(a OR b)"));
    }
}
