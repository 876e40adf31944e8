//! Fields that a clause means: its own, or the default fields around it.

use super::Clause;
use super::binder::{Binder, Scope, located};
use super::clause::joined;
use crate::error::{Error, ErrorKind, Result};
use crate::ids::FieldId;
use crate::query::normal::nothing;
use crate::query::{Boost, Normal, Place, Query};
use crate::schema::FieldKind;

/// The least weight of a field among [combined](crate::query::Query::in_combined_fields) ones.
pub const COMBINED_WEIGHT_MIN: f32 = 0.001;
/// Maximum weight of such a field, so that frequencies and lengths add in `f32`.
pub const COMBINED_WEIGHT_MAX: f32 = 1_000.0;
/// Fields that a message names at the most.
const FIELDS_SHOWN: usize = 8;

impl Binder<'_> {
    /// Makes these the default fields until [`pop_fields`](Self::pop_fields).
    pub(in crate::query) fn push_fields(
        &mut self,
        fields: &[(String, Boost)],
        combined: bool,
    ) -> Result<()> {
        let ids = fields.iter().map(|(name, _)| self.field(name, &Place::default()));
        let ids: Vec<_> = ids.collect::<Result<_>>()?;
        if combined {
            self.check_combined(&ids, fields)?;
        }
        let weights = fields.iter().map(|(_, boost)| boost.get()).collect();
        self.scopes.push(Scope { fields: ids, weights, combined });
        Ok(())
    }

    /// Refuses fields that cannot be scored as one.
    fn check_combined(&self, ids: &[FieldId], fields: &[(String, Boost)]) -> Result<()> {
        let refuse = |expected: String, found: String| {
            Err(Error::new(ErrorKind::Query, "combining fields").expected(expected).found(found))
        };
        for (nth, (id, (name, weight))) in ids.iter().zip(fields).enumerate() {
            if ids[..nth].contains(id) {
                return refuse("each field once".into(), format!("'{name}' twice"));
            }
            let field = self.schema.get(*id);
            if field.kind != FieldKind::Text || !field.detail.has_frequencies() {
                let expected = "text fields that keep frequencies";
                return refuse(expected.into(), format!("'{name}'"));
            }
            if !(COMBINED_WEIGHT_MIN..=COMBINED_WEIGHT_MAX).contains(&weight.get()) {
                let expected = format!("weights of {COMBINED_WEIGHT_MIN} to {COMBINED_WEIGHT_MAX}");
                return refuse(expected, format!("{weight} for '{name}'"));
            }
        }
        Ok(())
    }

    /// The fields of words that name none.
    pub(super) fn default_fields(&self) -> &[FieldId] {
        self.scopes.last().map_or(self.schema.default_field_ids(), |scope| &scope.fields)
    }

    pub(in crate::query) fn pop_fields(&mut self) {
        self.scopes.pop();
    }

    /// Binds `meaning` in one field, or in all default fields as alternatives: in part, if some of them have nothing of
    /// it. A typed field that no such value can be in is no alternative, as long as there is another.
    pub(in crate::query) fn in_each_field(
        &mut self,
        field: Option<&str>,
        text: &str,
        place: &Place,
        mut meaning: impl FnMut(&mut Self, FieldId) -> Result<Clause<Normal>>,
    ) -> Result<Clause<Normal>> {
        let mut meaning = |this: &mut Self, field| {
            this.check_has_terms(field, place)?;
            meaning(this, field)
        };
        if let Some(name) = field {
            let field = self.field(name, place)?;
            return meaning(self, field);
        }
        let own = self.scopes.last().map(|scope| scope.fields.clone());
        let fields = own.as_deref().unwrap_or(self.schema.default_field_ids());
        if let [field] = fields {
            return meaning(self, *field);
        }
        if fields.is_empty() {
            return Err(located(&place.text, Error::new(ErrorKind::Query, "looking up a word"))
                .expected("a field: the schema has no default fields")
                .found(format!("'{text}' alone"))
                .hint(format!("name one of {}", self.schema.names_shown())));
        }
        let (mut any, mut missing) = (Vec::with_capacity(fields.len()), vec![]);
        let (mut refused, mut impossible, mut notes) = (vec![], vec![], vec![]);
        for field in fields {
            if !self.keeps(*field) {
                continue;
            }
            let is_typed = self.schema.get(*field).kind.is_typed();
            let n_notes = self.notes.len();
            let clause = match meaning(self, *field) {
                Err(error) if is_typed && error.kind() == ErrorKind::Query => {
                    refused.push(error);
                    continue;
                }
                clause => clause?,
            };
            match clause {
                Clause::Whole(Normal::Nothing { reason }) if is_typed => {
                    notes.extend(self.notes.drain(n_notes..));
                    impossible.push(reason);
                }
                Clause::Whole(normal) => any.push(normal),
                Clause::Partial(normal, why) => {
                    any.push(normal);
                    missing.push(why);
                }
                Clause::Dropped(why) => missing.push(why),
            }
        }
        if any.is_empty() && missing.is_empty() {
            // No field is left that would say what the others do not.
            if !impossible.is_empty() {
                notes.into_iter().for_each(|note| self.note(note));
                return Ok(nothing(joined(impossible)).into());
            }
            let n_others = refused.len().saturating_sub(1);
            if let Some(first) = refused.into_iter().next() {
                return Err(self.in_none_of(first, fields, n_others));
            }
        }
        if any.is_empty() {
            return Ok(Clause::Dropped(joined(missing)));
        }
        let normal = self.or(any);
        Ok(match missing.is_empty() {
            true => Clause::Whole(normal),
            false => Clause::Partial(normal, joined(missing)),
        })
    }

    /// Refuses to look for words and values among vectors and points.
    fn check_has_terms(&self, id: FieldId, place: &Place) -> Result<()> {
        let field = self.schema.get(id);
        if field.kind.has_terms() {
            return Ok(());
        }
        let (name, kind) = (&field.name, field.kind.name());
        let error = Error::new(ErrorKind::Query, format!("looking in the {kind} field '{name}'"));
        let expected = match field.kind.is_point() {
            true => format!("an area, as {name}:WITHIN [10km OF 48.8566,2.3522], or {name}:*"),
            false => format!("neighbours of a vector, as {name}:nearest($v, 10), or {name}:*"),
        };
        let error = error.expected(expected).found("words or values");
        Err(located(&place.text, error))
    }

    /// The error of the first field of several that all refuse a text.
    fn in_none_of(&self, first: Error, fields: &[FieldId], n_others: usize) -> Error {
        if n_others == 0 {
            return first;
        }
        let names = fields.iter().map(|id| &*self.schema.get(*id).name).take(FIELDS_SHOWN);
        let names: Vec<_> = names.collect();
        let more = match fields.len().saturating_sub(FIELDS_SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        first.hint(format!(
            "none of the fields that are looked in takes it: {}{more}",
            names.join(", ")
        ))
    }

    pub(in crate::query) fn field(&self, name: &str, place: &Place) -> Result<FieldId> {
        if let Some(id) = self.schema.field_id(name) {
            return Ok(id);
        }
        let error = Error::new(ErrorKind::Query, "looking up a field of the query")
            .expected(format!("one of the fields {}", self.schema.names_shown()))
            .found(format!("'{name}'"));
        let error = located(&place.field, error);
        // A blank ends a name, and what was before it became a word.
        if let Some(known) = self.schema.field_ending_in(name) {
            let exists = Query::exists(known).to_string();
            let written = exists.trim_end_matches('*');
            return Err(error.hint(format!("did you mean '{known}'? write {written}…")));
        }
        let error = error.hint("write \\: where the colon is part of a word");
        Err(self.schema.did_you_mean(error, name))
    }
}
