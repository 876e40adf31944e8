//! Sort keys as JSON: objects, or texts as on the command line.

use super::key::{SortBy, SortKey, TextSort};
use crate::error::Result;
use crate::function::Function;
use crate::json::{Json, Reader};

const KINDS: &str = "\"field\", \"score\", \"random\" or \"function\"";

impl SortKey {
    pub(crate) fn write_json(&self, json: &mut Json) -> Result<()> {
        let mut written = Ok(());
        json.object(|json| {
            match &self.by {
                SortBy::Field(name, text) => {
                    json.field("field").string(name);
                    match text {
                        TextSort::Bytes => {}
                        TextSort::Natural => json.field("natural").boolean(true),
                        TextSort::Collated(locale) => json.field("collate").string(locale),
                    }
                }
                SortBy::Score => json.field("score").boolean(true),
                SortBy::Random(seed) => json.field("random").number(seed),
                SortBy::Function(function) => {
                    written = function.write_json(json.field("function"));
                }
            }
            if self.direction.descending {
                json.field("descending").boolean(true);
            }
            if self.direction.missing_first {
                json.field("missing_first").boolean(true);
            }
        });
        written
    }

    pub(crate) fn read_json(reader: &mut Reader<'_>) -> Result<Self> {
        if reader.next_byte() == Some(b'"') {
            let mut refused = None;
            let key = reader.parsed("a key to sort by", |text| {
                text.parse().map_err(|error| refused = Some(error)).ok()
            });
            return key.map_err(|error| refused.unwrap_or(error));
        }
        let (mut by, mut text) = (None, TextSort::Bytes);
        let (mut descending, mut missing_first) = (false, false);
        reader.object(&[], |reader, name| {
            match name {
                "descending" => descending = reader.boolean()?,
                "missing_first" => missing_first = reader.boolean()?,
                "natural" | "collate" if text != TextSort::Bytes => {
                    return Err(reader.error("one order of texts", "\"natural\" and \"collate\""));
                }
                "natural" => {
                    text = if reader.boolean()? { TextSort::Natural } else { TextSort::Bytes }
                }
                "collate" => text = TextSort::Collated(reader.string()?),
                _ if by.is_some() => {
                    return Err(reader.error("one key", &format!("{name:?}, too")));
                }
                "field" => by = Some(SortKey::ascending(reader.string()?)),
                "score" => match reader.boolean()? {
                    true => by = Some(SortKey::score().reversed()),
                    false => return Err(reader.error("true", "false")),
                },
                "random" => by = Some(SortKey::random(reader.whole()?)),
                "function" => by = Some(SortKey::function(Function::read_json(reader)?)),
                _ => return Err(reader.error(KINDS, &format!("{name:?}"))),
            }
            Ok(true)
        })?;
        let mut key = by.ok_or_else(|| reader.error(KINDS, "none of them"))?;
        if text != TextSort::Bytes && key.field().is_none()
            || missing_first && !key.by.may_be_missing()
            || descending && matches!(key.by, SortBy::Random(_))
        {
            return Err(reader.error("what this key can have", "an option of other keys"));
        }
        key.set_text(text);
        (key.direction.descending, key.direction.missing_first) = (descending, missing_first);
        Ok(key)
    }
}
