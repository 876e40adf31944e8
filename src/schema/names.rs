//! Fields by their names, and messages that name the one probably meant.

use super::{Field, Schema};
use crate::error::Error;
use crate::ids::FieldId;
use unicode_normalization::UnicodeNormalization;

/// Names of fields listed in a message at the most.
const NAMES_SHOWN: usize = 20;

impl Schema {
    /// Field of this name. Of a name with other characters than those of ASCII, it is else the first that is the same
    /// by [NFC](https://www.unicode.org/reports/tr15/), as macOS writes `ö` as `o` and a mark.
    ///
    /// ```
    /// let schema = treepie::Schema::builder().text("gro\u{308}\u{df}e").build()?;
    /// assert!(schema.field("größe").is_some());
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn field(&self, name: &str) -> Option<&Field> {
        position(self.fields(), name).map(|at| &self.fields()[at])
    }

    pub(crate) fn field_id(&self, name: &str) -> Option<FieldId> {
        position(self.fields(), name).map(|at| FieldId(at as u16))
    }

    /// Whether a name, as in a document, is that of this field.
    pub(crate) fn is_named(&self, id: FieldId, name: &str) -> bool {
        self.get(id).name == name || !name.is_ascii() && self.field_id(name) == Some(id)
    }

    /// Returns the closest field name by edits, if few enough for a slip.
    ///
    /// ```
    /// let schema = treepie::Schema::builder().text("title").keyword("kind").build()?;
    /// assert_eq!(schema.closest_field("Titel"), Some("title"));
    /// assert_eq!(schema.closest_field("weight"), None);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn closest_field(&self, name: &str) -> Option<&str> {
        closest(name, self.fields())
    }

    /// The fields that there are, for a message.
    pub(crate) fn names_shown(&self) -> String {
        let fields = self.fields();
        let names: Vec<_> = fields.iter().take(NAMES_SHOWN).map(|field| &*field.name).collect();
        match fields.len().saturating_sub(NAMES_SHOWN) {
            0 => names.join(", "),
            more => format!("{} and {more} more", names.join(", ")),
        }
    }

    /// Completes an error about a field that there is not: those that there are, and the one that was probably meant.
    pub(crate) fn no_field(&self, error: Error, name: &str) -> Error {
        let error = error.expected(format!("one of {}", self.names_shown()));
        self.did_you_mean(error.found(format!("'{name}'")), name)
    }

    /// Adds the field that was probably meant, if there is one, in place of another hint.
    pub(crate) fn did_you_mean(&self, error: Error, name: &str) -> Error {
        match self.closest_field(name) {
            Some(known) => error.hint(format!("did you mean '{known}'?")),
            None => error,
        }
    }

    /// The first field whose name has several words, of which this is the last.
    pub(crate) fn field_ending_in(&self, name: &str) -> Option<&str> {
        let name = name.to_lowercase();
        let mut names = self.fields().iter().map(|field| &*field.name);
        names.find(|known| {
            let known = known.to_lowercase();
            let before = known.strip_suffix(&name).filter(|_| !name.is_empty());
            before.is_some_and(|it| it.ends_with(char::is_whitespace))
        })
    }
}

/// Place of the field of this name, as [`position_of`].
pub(super) fn position(fields: &[Field], name: &str) -> Option<usize> {
    position_of(fields.iter().map(|field| &*field.name), name)
}

/// Place of this name among those of fields: exactly this one, or, of names beyond ASCII, one that is the same by NFC.
pub(crate) fn position_of<'n>(
    mut names: impl Iterator<Item = &'n str> + Clone,
    name: &str,
) -> Option<usize> {
    let exact = names.clone().position(|known| known == name);
    if exact.is_some() || name.is_ascii() {
        return exact;
    }
    names.position(|known| !known.is_ascii() && known.nfc().eq(name.nfc()))
}

/// The field of a schema, or of one that is being built, that was probably meant.
pub(super) fn closest<'f>(name: &str, fields: &'f [Field]) -> Option<&'f str> {
    let name: Vec<char> = name.chars().flat_map(char::to_lowercase).collect();
    let edits_max = name.len().div_ceil(3).min(3);
    let candidates = fields.iter().filter_map(|field| {
        let known: Vec<char> = field.name.chars().flat_map(char::to_lowercase).collect();
        let far = known.len().abs_diff(name.len()) > edits_max;
        (!far).then(|| (edits(&name, &known), &*field.name))
    });
    let (edits, known) = candidates.min_by_key(|(edits, _)| *edits)?;
    (edits <= edits_max).then_some(known)
}

/// Characters to insert, delete or replace to make one word the other.
fn edits(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
