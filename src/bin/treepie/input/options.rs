//! Options that say how inputs are read, as all commands have them that read any.

use treepie::{Error, Schema};

use super::{
    Input,
    format::{self, InputFormat, KnownFields, Recognised},
    infer::{Inferred, infer},
    null_words::NullWords,
    settings::{self, InputSettings},
};
use crate::failure::usage;

/// Options of reading inputs.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ReadingArgs {
    /// Format of the input [default: by its name and content].
    ///
    /// Fields that are known count, too.
    #[arg(help_heading = "Input")]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) input_format: Option<InputFormat>,
    /// Character between cells of CSV, or tab [default: ,].
    #[arg(help_heading = "Input")]
    #[arg(long, value_parser = settings::delimiter, value_name = "CHARACTER", allow_hyphen_values = true)]
    delimiter: Option<u8>,
    /// Encoding, as windows-1252 [default: UTF-8].
    ///
    /// By default also UTF-16 where a byte order mark says so.
    #[arg(help_heading = "Input")]
    #[arg(long, value_parser = settings::encoding, value_name = "NAME")]
    encoding: Option<&'static encoding_rs::Encoding>,
    /// Leave out columns and keys that no field has.
    ///
    /// Their names are told. With =false they are refused, whatever the schema file or the index says.
    #[arg(help_heading = "Input", hide_short_help = true)]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "true|false", hide_possible_values = true)]
    ignore_unknown: Option<bool>,
}

impl ReadingArgs {
    /// Settings of a schema file or an index, with those from the command line put over them.
    pub(crate) fn settings(&self, mut settings: InputSettings) -> Result<InputSettings, Error> {
        settings.delimiter = self.delimiter.or(settings.delimiter);
        settings.encoding = self.encoding.or(settings.encoding);
        settings.ignore_unknown = self.ignore_unknown.unwrap_or(settings.ignore_unknown);
        match self.input_format {
            Some(format) if self.delimiter.is_some() && format != InputFormat::Csv => {
                Err(usage("reading --delimiter")
                    .expected("--input-format csv beside it, or none")
                    .found("another format"))
            }
            _ => Ok(settings),
        }
    }

    /// Removes from settings those that the command line replaces.
    pub(crate) fn left_of(&self, mut settings: InputSettings) -> InputSettings {
        settings.delimiter = settings.delimiter.filter(|_| self.delimiter.is_none());
        settings.encoding = settings.encoding.filter(|_| self.encoding.is_none());
        settings.ignore_unknown &= self.ignore_unknown.is_none();
        settings.preset = settings.preset.filter(|_| self.input_format.is_none());
        settings
    }

    /// The format of an input: that which was typed, or else what it is recognised as, which is noted there.
    pub(crate) fn format_of(
        &self,
        input: &mut Input,
        schema: Option<&Schema>,
        settings: &InputSettings,
    ) -> Result<InputFormat, Error> {
        if let Some(format) = self.input_format {
            return Ok(format);
        }
        if input.recognised.is_none() {
            let known = schema.map(|schema| KnownFields::of(schema, settings));
            input.recognised = Some(format::recognise(input, known.as_ref(), settings)?);
        }
        Ok(input.recognised.as_ref().map_or(InputFormat::Lines, |it| it.format))
    }

    /// The schema that an input seems to have, and what it was recognised as, if that was not typed.
    pub(crate) fn infer(
        &self,
        input: &mut Input,
        settings: &InputSettings,
        nulls: &NullWords,
        lossy: bool,
    ) -> Result<(Inferred, Option<String>), Error> {
        let format = self.format_of(input, None, settings)?;
        let inferred = infer(input, format, settings, nulls, lossy)?;
        if format == InputFormat::Jsonl
            && self.input_format.is_none()
            && input.peeked_at_all()
            && let Some(key) = format::wrapped_list(input.peeked())
        {
            return Err(format::in_wrapper(&key).in_file(&input.name));
        }
        Ok((inferred, input.recognised.as_ref().map(Recognised::to_string)))
    }
}
