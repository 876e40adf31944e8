//! Documents of an input, made on a thread of their own.

use std::{
    io::Read,
    path::PathBuf,
    sync::{Arc, mpsc::SyncSender},
};

use treepie::{Document, Error, Schema, Value};

use crate::input::{
    FailureSlot, Record,
    csv::Csv,
    format::InputFormat,
    json::JsonLines,
    null_words::NullFilter,
    points::PointTexts,
    remarks::{NumberWatch, Remarks},
    settings::InputSettings,
    vectors::VectorTexts,
};

/// Batches of documents that wait for the writer at the most.
pub(super) const BATCHES_AHEAD: usize = 4;

/// A batch ends with whichever of these comes first.
const BATCH_RECORDS: usize = 1_000;

const BATCH_BYTES: usize = 512 << 10;

/// Makes documents of an input.
pub(super) struct Parser {
    pub(super) schema: Arc<Schema>,
    pub(super) name: PathBuf,
    pub(super) settings: InputSettings,
    pub(super) lossy: bool,
    pub(super) nulls: NullFilter,
    pub(super) remarks: Remarks,
    pub(super) watches_numbers: bool,
}

impl Parser {
    /// Sends batches until the input ends, which an empty one says, or an error does, or nobody listens any more.
    pub(super) fn run(
        self,
        reader: impl Read,
        failure: FailureSlot,
        format: InputFormat,
        send: SyncSender<Result<Vec<Record>, Error>>,
    ) {
        let Parser { schema, name, settings, lossy, nulls, .. } = &self;
        let mut watch = self.watches_numbers.then(|| NumberWatch::new(self.remarks.clone()));
        let (vectors, points) = (VectorTexts::of(schema), PointTexts::of(schema));
        let mut look = |record: &mut Record| {
            nulls.apply(record);
            vectors.apply(record, name);
            points.apply(record, name);
            if let Some(watch) = &mut watch {
                watch.look(record, schema, name);
            }
        };
        let sent = match format {
            InputFormat::Lines | InputFormat::Jsonl => {
                let objects = JsonLines::new(reader, failure, *lossy);
                let mut objects = objects.with_settings(settings.clone());
                send_batches(&send, &mut look, || match objects.next(schema, name)? {
                    None => objects.check(schema).map(|()| None),
                    record => Ok(record),
                })
            }
            InputFormat::Csv | InputFormat::Tsv => {
                Csv::new(reader, format.dialect(settings), failure, *lossy)
                    .and_then(|mut csv| csv.check(schema, settings).map(|()| csv))
                    .map(|csv| csv.with_remarks(self.remarks.clone()))
                    .and_then(|mut csv| send_batches(&send, &mut look, || csv.next(name)))
            }
        };
        if let Err(error) = sent {
            // If nobody listens there is another error already.
            let _ = send.send(Err(error.in_file(&self.name)));
        }
    }
}

fn send_batches(
    send: &SyncSender<Result<Vec<Record>, Error>>,
    look: &mut impl FnMut(&mut Record),
    mut next: impl FnMut() -> Result<Option<Record>, Error>,
) -> Result<(), Error> {
    loop {
        let mut batch = vec![];
        let mut n_bytes = 0;
        while batch.len() < BATCH_RECORDS && n_bytes < BATCH_BYTES {
            let Some(mut record) = next()? else { break };
            look(&mut record);
            if let Record::Document { document, .. } = &record {
                n_bytes += text_bytes(document);
            }
            batch.push(record);
        }
        let is_last = batch.is_empty();
        if send.send(Ok(batch)).is_err() || is_last {
            return Ok(());
        }
    }
}

fn text_bytes(document: &Document) -> usize {
    let len = |value: &Value| match value.as_vector() {
        Some(numbers) => size_of_val(numbers),
        None => value.as_str().map_or(size_of::<Value>(), str::len),
    };
    document.iter().map(|(name, value)| name.len() + len(value)).sum()
}
