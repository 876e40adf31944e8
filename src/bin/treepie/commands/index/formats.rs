//! Formats of the inputs of one run. All are lines of text, or none is.

use std::path::PathBuf;

use treepie::{Error, ErrorKind};

use crate::input::{Input, format::InputFormat};

/// Formats of the inputs so far.
#[derive(Debug, Default)]
pub(super) struct Formats {
    /// Recognised formats of inputs for which none was typed, to be reported.
    pub(super) recognised: Vec<String>,
    /// The first input, and whether it has lines of text.
    first: Option<(PathBuf, bool)>,
}

impl Formats {
    /// Notes the format of an input. Lines of text beside documents with fields are one input too many, mostly.
    pub(super) fn meet(&mut self, input: &Input, format: InputFormat) -> Result<(), Error> {
        let is_lines = format == InputFormat::Lines;
        let Some(recognised) = &input.recognised else { return Ok(()) };
        match &self.first {
            Some((first, of_lines)) if *of_lines != is_lines => {
                let (lines, documents) = match is_lines {
                    true => (&input.name, first),
                    false => (first, &input.name),
                };
                return Err(Error::new(ErrorKind::Usage, "recognising the format")
                    .expected("inputs that are all lines of text, or none of them")
                    .found(format!(
                        "plain text in {}, and documents with fields in {}",
                        lines.display(),
                        documents.display()
                    ))
                    .in_file(&input.name)
                    .hint("--input-format says what all of them are"));
            }
            Some(_) => {}
            None => self.first = Some((input.name.clone(), is_lines)),
        }
        self.recognised.push(format!("{}: {recognised}", input.name.display()));
        Ok(())
    }
}
