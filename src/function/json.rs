//! Functions as JSON: all but closures, which are no data.

use super::decay::DecayCurve;
use super::{Combine, Decay, DistanceFrom, FieldValue, Function, Kind, Modifier, ScoreFunction};
use crate::error::{Error, ErrorKind, Result};
use crate::json::{Json, Reader};
use crate::value::Value;

const COMBINED: [(&str, Combine); 3] =
    [("multiply", Combine::Multiply), ("sum", Combine::Sum), ("replace", Combine::Replace)];
const KINDS: &str = "\"expression\", \"field_value\", \"decay\" or \"distance\"";

impl ScoreFunction {
    /// # Errors
    ///
    /// Fails like [`Function::write_json`].
    pub(crate) fn write_json(&self, json: &mut Json) -> Result<()> {
        let combine = COMBINED.iter().find(|(_, combine)| *combine == self.combine);
        let mut written = Ok(());
        json.object(|json| {
            json.field("combine").string(combine.map_or("", |(name, _)| name));
            json.field("function");
            written = self.function.write_json(json);
        });
        written
    }

    pub(crate) fn read_json(reader: &mut Reader<'_>) -> Result<Self> {
        let (mut combine, mut function) = (None, None);
        reader.object(&["combine", "function"], |reader, name| {
            match name {
                "combine" => combine = Some(reader.one_of(&COMBINED)?),
                "function" => function = Some(Function::read_json(reader)?),
                _ => return Err(reader.error("\"combine\" or \"function\"", &format!("{name:?}"))),
            }
            Ok(true)
        })?;
        match (combine, function) {
            (Some(combine), Some(function)) => Ok(ScoreFunction { function, combine }),
            _ => Err(reader.error("\"combine\" and \"function\"", "one of them")),
        }
    }
}

impl Function {
    /// # Errors
    ///
    /// [`ErrorKind::Usage`] for a closure.
    pub(crate) fn write_json(&self, json: &mut Json) -> Result<()> {
        match &self.0 {
            Kind::Expression(expression, given) => json.object(|json| {
                json.field("expression").string(expression.text());
                if !given.is_empty() {
                    json.field("with").object(|json| {
                        for (name, bits) in given {
                            json.field(name).float(f64::from_bits(*bits));
                        }
                    });
                }
            }),
            Kind::FieldValue(value) => json.object(|json| {
                json.field("field_value").object(|json| {
                    json.field("field").string(&value.field);
                    json.field("factor").float(value.factor);
                    json.field("modifier").string(value.modifier.name());
                    if let Some(missing) = value.missing {
                        json.field("missing").float(missing);
                    }
                });
            }),
            Kind::Decay(decay) => json.object(|json| {
                json.field("decay").object(|json| {
                    json.field("field").string(&decay.field);
                    json.field("shape").string(decay.shape.name());
                    decay.origin.write_json(json.field("origin"));
                    json.field("scale").float(decay.scale);
                    json.field("offset").float(decay.offset);
                    json.field("decay").float(decay.decay);
                    if let Some(missing) = decay.missing {
                        json.field("missing").float(missing);
                    }
                });
            }),
            Kind::Distance(distance) => json.object(|json| {
                json.field("distance").object(|json| {
                    json.field("field").string(&distance.field);
                    json.field("from").string(&distance.point.to_string());
                    if let Some(step) = distance.step {
                        json.field("step").string(&step.to_string());
                    }
                });
            }),
            Kind::Closure(_) => {
                return Err(Error::new(ErrorKind::Usage, "writing a function down")
                    .expected("an expression, the value of a field, or a decay")
                    .found(format!("the closure {self}"))
                    .hint("code of the host cannot be written down"));
            }
        }
        Ok(())
    }

    pub(crate) fn read_json(reader: &mut Reader<'_>) -> Result<Self> {
        let (mut function, mut given) = (None, vec![]);
        reader.object(&[], |reader, name| {
            let read = match name {
                "with" => {
                    reader.object(&[], |reader, name| {
                        given.push((name.to_owned(), reader.double::<f64>()?));
                        Ok(true)
                    })?;
                    return Ok(true);
                }
                _ if function.is_some() => {
                    return Err(reader.error("one function", &format!("{name:?}, too")));
                }
                "expression" => {
                    let mut refused = None;
                    let read = reader.parsed("an expression", |text| {
                        Function::expression(text).map_err(|error| refused = Some(error)).ok()
                    });
                    read.map_err(|error| refused.unwrap_or(error))?
                }
                "field_value" => read_field_value(reader)?.into(),
                "decay" => read_decay(reader)?.into(),
                "distance" => Function::distance(read_distance(reader)?),
                _ => return Err(reader.error(KINDS, &format!("{name:?}"))),
            };
            function = Some(read);
            Ok(true)
        })?;
        let function = function.ok_or_else(|| reader.error(KINDS, "none of them"))?;
        match (&function.0, given.is_empty()) {
            (Kind::Expression(..), _) | (_, true) => {
                Ok(given.into_iter().fold(function, |it, (name, number)| it.with(name, number)))
            }
            _ => Err(reader.error("numbers for the names of an expression", "another function")),
        }
    }
}

fn read_field_value(reader: &mut Reader<'_>) -> Result<FieldValue> {
    let mut value = FieldValue::new("");
    reader.object(&["field"], |reader, name| {
        match name {
            "field" => value.field = reader.string()?,
            "factor" => value.factor = reader.double()?,
            "modifier" => {
                let names = Modifier::ALL.map(|modifier| (modifier.name(), modifier));
                value.modifier = reader.one_of(&names)?;
            }
            "missing" => value.missing = Some(reader.double()?),
            _ => {
                let known = "\"field\", \"factor\", \"modifier\" or \"missing\"";
                return Err(reader.error(known, &format!("{name:?}")));
            }
        }
        Ok(true)
    })?;
    Ok(value)
}

fn read_distance(reader: &mut Reader<'_>) -> Result<DistanceFrom> {
    let (mut field, mut point, mut step) = (None, None, None);
    reader.object(&["field", "from"], |reader, name| {
        match name {
            "field" => field = Some(reader.string()?),
            "from" => point = Some(reader.parsed("a point", |text| text.parse().ok())?),
            "step" => step = Some(reader.parsed("a distance", |text| text.parse().ok())?),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    match (field, point) {
        (Some(field), Some(point)) => Ok(DistanceFrom { field, point, step }),
        _ => Err(reader.error("\"field\" and \"from\"", "one of them")),
    }
}

fn read_decay(reader: &mut Reader<'_>) -> Result<Decay> {
    let mut decay = Decay::gauss("", Value::Null, 0.0);
    reader.object(&["field", "shape", "origin", "scale"], |reader, name| {
        match name {
            "field" => decay.field = reader.string()?,
            "shape" => decay.shape = reader.one_of(&DecayCurve::NAMES)?,
            "origin" => decay.origin = Value::read_json(reader)?,
            "scale" => decay.scale = reader.double()?,
            "offset" => decay.offset = reader.double()?,
            "decay" => decay.decay = reader.double()?,
            "missing" => decay.missing = Some(reader.double()?),
            _ => {
                let known = "\"field\", \"shape\", \"origin\", \"scale\", \"offset\", \"decay\" or \"missing\"";
                return Err(reader.error(known, &format!("{name:?}")));
            }
        }
        Ok(true)
    })?;
    Ok(decay)
}
