//! The order that the documents of each segment lie in, see [`SchemaBuilder::order_by`](super::SchemaBuilder::order_by).

use super::names::{closest, position};
use super::{Field, FieldKind};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::FieldId;

/// Fields that documents may lie in the order of at the most.
pub const ORDER_FIELDS_MAX: usize = 4;

/// Stands before the name of a field whose greatest value comes first; no name begins so.
const DESCENDING: char = '-';

/// A field that documents lie in the order of: by its codes or its terms, those without a value last, whichever end comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct OrderField {
    pub(crate) field: FieldId,
    pub(crate) descending: bool,
}

impl OrderField {
    /// Returns the text that [`order_by`](super::SchemaBuilder::order_by) reads.
    pub(super) fn text(self, fields: &[Field]) -> String {
        let name = &fields[self.field.index()].name;
        if self.descending { format!("{DESCENDING}{name}") } else { name.clone() }
    }
}

/// Looks the fields of an order up.
pub(super) fn resolve(order: &[String], fields: &[Field]) -> Result<Vec<OrderField>> {
    if order.len() > ORDER_FIELDS_MAX {
        return Err(refused()
            .expected(format!("at most {ORDER_FIELDS_MAX} fields"))
            .found(order.len().to_string())
            .of_limit("ORDER_FIELDS_MAX", ORDER_FIELDS_MAX, order.len()));
    }
    let mut resolved: Vec<OrderField> = vec![];
    for text in order {
        let (name, descending) = read(text);
        let at = position(fields, name).ok_or_else(|| {
            let error = refused().expected(known(fields)).found(format!("'{text}'"));
            match closest(name, fields) {
                Some(known) => error.hint(format!("did you mean '{known}'?")),
                None => error,
            }
        })?;
        check(&fields[at])?;
        let field = FieldId(at as u16);
        if resolved.iter().any(|other| other.field == field) {
            return Err(refused().expected("each field once").found(format!("'{name}' twice")));
        }
        resolved.push(OrderField { field, descending });
    }
    Ok(resolved)
}

/// Reads `since`, `since:asc`, and of the greatest first `-since` or `since:desc`, as [`SortKey`](crate::SortKey) does.
fn read(text: &str) -> (&str, bool) {
    match (text.strip_prefix(DESCENDING), text.rsplit_once(':')) {
        (Some(name), _) => (name, true),
        (None, Some((name, "desc"))) => (name, true),
        (None, Some((name, "asc"))) => (name, false),
        (None, _) => (text, false),
    }
}

/// Refuses a field whose values leave the place of a document open.
fn check(field: &Field) -> Result<()> {
    let (found, hint) = match field.kind {
        FieldKind::Text => (String::new(), "a keyword field beside it can be one"),
        FieldKind::Path { .. } => (String::new(), "a keyword field beside it can be one"),
        FieldKind::Vector(_) => (String::new(), "vectors have no order"),
        FieldKind::Point { .. } => (String::new(), "points have no order"),
        _ if field.many => {
            (", of which a document may have many values".into(), "many = false makes it one")
        }
        _ if !field.column => (", which keeps no column".into(), "column = true makes it one"),
        _ => return Ok(()),
    };
    Err(refused()
        .expected("a field of one number, date, boolean, address or keyword that keeps a column")
        .found(format!("the {} field '{}'{found}", field.kind.name(), field.name))
        .hint(hint))
}

fn known(fields: &[Field]) -> String {
    let able = fields.iter().filter(|field| check(field).is_ok());
    match able.map(|field| &*field.name).collect::<Vec<_>>()[..] {
        [] => "a field of one value that keeps a column, of which there is none".to_owned(),
        ref names => {
            format!("one of {}, or {DESCENDING} before it for the greatest first", names.join(", "))
        }
    }
}

fn refused() -> Error {
    Error::new(ErrorKind::Schema, "ordering the documents of an index")
}

#[cfg(test)]
mod tests {
    use crate::schema::{Field, FieldKind, Schema, SchemaBuilder};

    fn shop() -> SchemaBuilder {
        Schema::builder()
            .text("title")
            .keyword("tags")
            .field(Field::new("brand", FieldKind::Keyword).column(true))
            .field(Field::new("plain", FieldKind::Keyword))
            .field(Field::new("price", FieldKind::Decimal { scale: 2 }))
            .field(Field::new("since", FieldKind::Date))
            .field(Field::new("sizes", FieldKind::I64).many(true))
            .field(Field::new("bare", FieldKind::I64).column(false))
            .field(Field::new("place", FieldKind::Path { separator: '/' }).column(true))
    }

    #[test]
    fn an_order_is_kept_with_its_directions() {
        let schema = shop().order_by(["-since", "price", "brand"]).build().unwrap();
        assert_eq!(schema.order().collect::<Vec<_>>(), ["-since", "price", "brand"]);
        let plain = shop().build().unwrap();
        assert_eq!(plain.order().count(), 0);
        assert_eq!(plain.ordered_by(["-since", "price", "brand"]).unwrap(), schema);
        assert_eq!(schema.ordered_by::<&str>([]).unwrap(), plain);
        assert!(plain.difference(&schema).contains("in another order"));
        let wider = schema.with_fields([Field::new("stock", FieldKind::U64)]).unwrap();
        assert_eq!(wider.order().collect::<Vec<_>>(), ["-since", "price", "brand"]);
        assert!(wider.extends(&schema) && !wider.extends(&plain));
        assert_ne!(schema, shop().order_by(["since", "price", "brand"]).build().unwrap());
        // Keys by which hits are sorted.
        let as_keys = shop().order_by(["since:desc", "price:asc", "brand"]).build().unwrap();
        assert_eq!(schema, as_keys);
    }

    #[test]
    fn what_leaves_the_place_of_a_document_open_is_refused_by_name() {
        let cases: [(&[&str], &str); 11] = [
            (
                &["colour"],
                "one of brand, price, since, or - before it for the greatest first, found 'colour'",
            ),
            (&[""], "found ''"),
            (&["-"], "found '-'"),
            (&["--price"], "found '--price'"),
            (&["title"], "found the text field 'title'; a keyword field beside it"),
            (
                &["price", "-sizes"],
                "the i64 field 'sizes', of which a document may have many values",
            ),
            (&["tags"], "the keyword field 'tags', of which a document may have many values"),
            (&["plain"], "the keyword field 'plain', which keeps no column; column = true"),
            (&["bare"], "the i64 field 'bare', which keeps no column"),
            (&["place"], "the path field 'place'"),
            (&["price", "since", "-price"], "each field once, found 'price' twice"),
        ];
        for (order, words) in cases {
            let error = shop().order_by(order.iter().copied()).build().unwrap_err();
            let text = error.to_string();
            assert!(text.contains(words), "{order:?}: {text}");
        }
        let error = shop().order_by(["price"; 5]).build().unwrap_err().to_string();
        assert!(error.contains("at most 4 fields, found 5"), "{error}");
        let error = Schema::builder().text("t").order_by(["x"]).build().unwrap_err().to_string();
        assert!(error.contains("of which there is none"), "{error}");
    }
}
