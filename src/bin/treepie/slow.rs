//! `--slow-ms N --log FILE`: slow searches as JSON Lines. `treepie plan view FILE` shows them.

use std::{path::PathBuf, time::Duration};

use treepie::events::What;
use treepie::search::SlowLog;
use treepie::{Error, IndexOptions};

use crate::failure::warn;

/// The options of every command that searches.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct SlowArgs {
    /// Add searches of N milliseconds and more to --log.
    #[arg(help_heading = "Record", hide_short_help = true)]
    #[arg(long, value_name = "N", requires = "log", value_parser = milliseconds)]
    slow_ms: Option<Duration>,
    /// Add slow searches to FILE, as JSON Lines.
    ///
    /// Each is there with how it was answered; `plan view FILE` shows them.
    #[arg(help_heading = "Record", hide_short_help = true)]
    #[arg(long, value_name = "FILE", requires = "slow_ms")]
    log: Option<PathBuf>,
}

fn milliseconds(text: &str) -> Result<Duration, String> {
    let number: f64 =
        text.parse().map_err(|_| "expected milliseconds, as in 50 or 0.5".to_owned())?;
    Duration::try_from_secs_f64(number / 1e3).map_err(|error| error.to_string())
}

impl SlowArgs {
    /// Whether slow searches are wanted.
    pub(crate) fn is_given(&self) -> bool {
        self.slow_ms.is_some()
    }

    /// Adds to the options that slow searches are written down. A search that could not be written down is a warning.
    pub(crate) fn listen(&self, options: IndexOptions) -> Result<IndexOptions, Error> {
        let Some((threshold, path)) = self.slow_ms.zip(self.log.as_deref()) else {
            return Ok(options);
        };
        let options = options.slow_log(SlowLog::to_file(path, threshold)?);
        Ok(options.on_event(|event| {
            if let (What::SlowSearch { .. }, Some(failure)) = (&event.what, &event.failure) {
                warn(format!("a slow search is missing in the log: {}", failure.message));
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_may_have_a_fraction() {
        assert_eq!(milliseconds("50"), Ok(Duration::from_millis(50)));
        assert_eq!(milliseconds("0.5"), Ok(Duration::from_micros(500)));
        assert_eq!(milliseconds("0"), Ok(Duration::ZERO));
        for typed in ["", "-1", "50ms", "NaN", "1e300"] {
            assert!(milliseconds(typed).is_err(), "{typed}");
        }
    }
}
