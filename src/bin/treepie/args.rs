//! Command line → command and its arguments.
//!
//! Each command keeps its own arguments beside its code. Here is what commands share: their list, how an argument is
//! refused, and the parts of the interface that are announced but not built, which are refused by name.

use std::{ffi::OsString, time::Duration};

use clap::{
    Arg, ArgAction, Args, FromArgMatches, Subcommand, ValueEnum, error::ErrorKind as ClapErrorKind,
};
use treepie::Error;
use treepie::explain::EstimateFrom;

use crate::{
    commands,
    failure::{Failure, not_yet, usage, warn},
    output::{Color, Output},
};

/// A command line, read.
#[derive(Debug)]
pub(crate) struct Cli {
    pub(crate) global: Global,
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Global {
    /// No progress and no remarks on standard error, errors only.
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub(crate) quiet: bool,
    /// Colour: auto (on a terminal), always or never.
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        hide_possible_values = true,
        hide_default_value = true,
        value_name = "WHEN",
        help_heading = "Everywhere"
    )]
    pub(crate) color: Color,
    /// Do not start a pager.
    ///
    /// On a terminal, results that are longer than it go through $TREEPIE_PAGER, $PAGER or less; an empty name or cat
    /// is none.
    #[arg(long, global = true, hide_short_help = true, help_heading = "Everywhere")]
    pub(crate) no_pager: bool,
}

impl Global {
    /// Standard output for results, which a pager shows if they are long.
    pub(crate) fn output(self) -> Output {
        match self.no_pager {
            true => Output::new(self.color),
            false => Output::paged(self.color),
        }
    }
}

/// Commands with their arguments: the enum that they are parsed into, and each alone.
macro_rules! commands {
    ($($name:literal: $variant:ident($module:ident),)*) => {
        // In the order that `--help` lists them; a doc comment would be its first line.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $(#[command(name = $name)] $variant(commands::$module::Args),)*
        }

        /// Definition of the one command, `None` for another word.
        fn command_alone(name: &str) -> Option<clap::Command> {
            match name {
                $($name => Some(commands::$module::Args::augment_args(clap::Command::new($name))),)*
                _ => None,
            }
        }
    };
}

commands! {
    "index": Index(index),
    "search": Search(search),
    "explain": Explain(explain),
    "inspect": Inspect(inspect),
    "stats": Stats(stats),
    "verify": Verify(verify),
    "recover": Recover(recover),
    "salvage": Salvage(salvage),
    "upgrade": Upgrade(upgrade),
    "merge": Merge(merge),
    "copy": Copy(copy),
    "delete": Delete(delete),
    "export": Export(export),
    "analyze": Analyze(analyze),
    "eval": Eval(eval),
    "plan": Plan(plan),
    "bench": Bench(bench),
    "bench-disk": BenchDisk(bench_disk),
    "calibrate": Calibrate(calibrate),
    "schema": Schema(schema),
    "demo": Demo(demo),
    "help": Help(help),
    "completions": Completions(completions),
    "man": Man(man),
}

/// Commands as parsed from the command line.
pub(crate) enum Parsed {
    /// `--help` or `--version`: this text.
    Help(String),
    Command(Box<Cli>),
}

/// Reads the command line; `typed` begins with the name of the program.
pub(crate) fn parse(typed: &[OsString]) -> Result<Parsed, Failure> {
    match parse_valid(typed)? {
        Ok(parsed) => Ok(parsed),
        Err(error) => {
            let lossy = match error.kind() {
                ClapErrorKind::InvalidUtf8 => with_lossy_query(typed),
                _ => None,
            };
            let parsed = lossy.map(|typed| parse_valid(&typed)).transpose()?.and_then(Result::ok);
            let parsed = parsed.ok_or_else(|| one_line(&error))?;
            if let Parsed::Command(cli) = &parsed
                && !cli.global.quiet
            {
                warn(NOT_UTF8);
            }
            Ok(parsed)
        }
    }
}

/// Remark on a query that is read as far as it is text.
pub(crate) const NOT_UTF8: &str =
    "not all of the query is UTF-8: \u{FFFD} stands in the place of what is not";

/// The words with the query read as far as it is UTF-8, where a search is asked to be lenient and the query is none.
fn with_lossy_query(typed: &[OsString]) -> Option<Vec<OsString>> {
    if !typed.iter().take_while(|word| *word != "--").any(|word| word == "--lenient") {
        return None;
    }
    let lossy = |word: &OsString| word.to_string_lossy().into_owned();
    let all: Vec<OsString> = typed.iter().map(|word| lossy(word).into()).collect();
    let Ok(Ok(Parsed::Command(cli))) = parse_valid(&all) else { return None };
    let query = match &cli.command {
        Command::Search(args) => args.query.as_deref()?,
        Command::Explain(args) => args.query.as_deref()?,
        _ => return None,
    };
    let is_query = |word: &OsString| word.to_str().is_none() && lossy(word) == query;
    let at = typed.iter().position(is_query)?;
    let mut typed = typed.to_vec();
    typed[at] = query.into();
    Some(typed)
}

/// The command line, or what clap says of it.
fn parse_valid(typed: &[OsString]) -> Result<Result<Parsed, clap::Error>, Failure> {
    refuse_what_is_not_built(typed)?;
    let mut definition = definition_for(typed);
    let matches = definition.try_get_matches_from_mut(typed);
    match matches.and_then(|matches| Cli::read(matches).map_err(|it| it.format(&mut definition))) {
        Ok(cli) => {
            refuse_mistyped_options(&cli, typed)?;
            Ok(Ok(Parsed::Command(Box::new(cli))))
        }
        Err(error) => match error.kind() {
            ClapErrorKind::DisplayHelp
            | ClapErrorKind::DisplayVersion
            | ClapErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                Ok(Ok(Parsed::Help(error.render().to_string())))
            }
            _ => Ok(Err(error)),
        },
    }
}

impl Cli {
    fn read(mut matches: clap::ArgMatches) -> Result<Cli, clap::Error> {
        Ok(Cli {
            global: Global::from_arg_matches_mut(&mut matches)?,
            command: Command::from_arg_matches_mut(&mut matches)?,
        })
    }
}

/// The command line as clap knows it, for completions and the man page.
pub(crate) fn definition() -> clap::Command {
    Command::augment_subcommands(program())
}

/// Definition without its commands.
fn program() -> clap::Command {
    // The comment of these options, which become the text of the program, comes first.
    Global::augment_args(clap::Command::new("treepie"))
        .about("An embeddable full-text index: titles in, explained answers out")
        .version(env!("CARGO_PKG_VERSION"))
        .max_term_width(100)
        .disable_help_flag(true)
        .disable_help_subcommand(true)
        .arg(
            Arg::new("help")
                .short('h')
                .long("help")
                .action(ArgAction::Help)
                .global(true)
                .help("Print help; --help has all of it, with examples")
                .help_heading("Everywhere"),
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .after_help(
            "`treepie help COMMAND` has all options and examples; `treepie help query`,
`help schema`, `help facets` and `help analyzers` are pages on what is read.",
        )
        .after_long_help(
            "Examples:
  treepie demo
  treepie index titles.tp enwiki-latest-all-titles-in-ns0.gz --preset wikipedia-titles
  treepie search titles.tp 'history AND (france OR spain) -war' --facet qualifier
  treepie explain titles.tp 'history AND (france OR spain) -war' --analyze
  treepie inspect titles.tp storage

Exit status: 0 done (search: found), 1 searched and found nothing, 2 error.",
        )
}

/// The part of the definition that this command line needs. The arguments of twenty other commands
/// are half of what a search of a small index executes, and a third of the memory that it touches.
fn definition_for(typed: &[OsString]) -> clap::Command {
    let words: Vec<&str> = typed.iter().skip(1).map_while(|word| word.to_str()).collect();
    let definition = match command_at(&words).and_then(|at| command_alone(words[at])) {
        Some(command) => program().subcommand(command),
        None => definition(),
    };
    match words.contains(&"-h") {
        true => definition.max_term_width(SHORT_HELP_COLUMNS),
        false => definition,
    }
}

/// Columns of what `-h` prints, which is for a screen of any size.
const SHORT_HELP_COLUMNS: usize = 80;

/// Index of the word that names the command; `--color WHEN` is the one global option with a value of
/// its own.
fn command_at(words: &[&str]) -> Option<usize> {
    (0..words.len())
        .find(|&at| !(words[at].starts_with('-') || at > 0 && words[at - 1] == "--color"))
}

/// clap's message without its colours, its usage block and its line breaks.
fn one_line(error: &clap::Error) -> Error {
    let text = error.render().to_string();
    let lines = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let lines: Vec<&str> =
        lines.filter(|line| !line.is_empty() && !line.starts_with("For more")).collect();
    let message = lines.join("; ").replace(":; ", ": ").replace("error: ", "");
    usage(message).hint("see --help")
}

/// A query may begin with a minus, so the parser takes any unknown word there; two are a typing
/// error unless `--` stands before them.
fn refuse_mistyped_options(cli: &Cli, typed: &[OsString]) -> Result<(), Error> {
    let text = match &cli.command {
        Command::Search(args) => args.query.as_deref().unwrap_or_default(),
        Command::Explain(args) => args.query.as_deref().unwrap_or_default(),
        Command::Analyze(args) => args.text.as_deref().unwrap_or_default(),
        _ => return Ok(()),
    };
    if text.starts_with("--") && !typed.iter().any(|word| word == "--") {
        return Err(usage(format!("unexpected argument '{text}'"))
            .hint("for a text that begins with two minus signs write `--` before it"));
    }
    Ok(())
}

/// Options, or values of options, that are announced and not built: command, option, values (none
/// means the option as a whole).
const OPTIONS_NOT_YET: &[(&str, &str, &[&str])] = &[("*", "--verbose", &[])];

/// Says "not built yet" before the parser says "unknown".
fn refuse_what_is_not_built(typed: &[OsString]) -> Result<(), Error> {
    let words: Vec<&str> = typed
        .iter()
        .skip(1)
        .map(|word| word.to_str().unwrap_or(""))
        .take_while(|word| *word != "--")
        .collect();
    let Some(command) = command_at(&words).map(|at| words[at]) else { return Ok(()) };
    for (at, word) in words.iter().enumerate().filter(|(_, word)| word.starts_with("--")) {
        let (option, value) = match word.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (*word, words.get(at + 1).copied()),
        };
        let announced = OPTIONS_NOT_YET
            .iter()
            .find(|(of, name, _)| (*of == "*" || *of == command) && *name == option);
        match announced {
            Some((_, _, [])) => return Err(not_yet(format!("the option {option}"))),
            Some((_, _, values)) => {
                let given = value.unwrap_or("").split(',').find(|given| values.contains(given));
                if let Some(given) = given {
                    return Err(not_yet(format!("{option} {given}")));
                }
            }
            None => {}
        }
    }
    Ok(())
}

/// Data that estimates may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EstimatesFrom {
    /// Number of documents that each term has.
    Dictionary,
    /// Also how many it has in each 65,536 of a segment.
    Headers,
    /// Also some postings, for some 20 µs.
    Samples,
}

impl EstimatesFrom {
    pub(crate) fn into_library(self) -> EstimateFrom {
        match self {
            EstimatesFrom::Dictionary => EstimateFrom::Dictionary,
            EstimatesFrom::Headers => EstimateFrom::Headers,
            EstimatesFrom::Samples => EstimateFrom::Samples,
        }
    }
}

/// `245870`, `245,870`, `245_870`: a whole number, also as it is printed; groups have three digits.
pub(crate) fn whole_number<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let expected = || "expected a whole number from 0 on, as 1000 or 1,000".to_owned();
    let separator = text.chars().find(|c| matches!(c, ',' | '_')).unwrap_or(',');
    let groups: Vec<&str> = text.split(separator).collect();
    let is_digits = |group: &&str| !group.is_empty() && group.bytes().all(|it| it.is_ascii_digit());
    let is_grouped = groups.len() == 1
        || groups[0].len() <= 3 && groups[1..].iter().all(|group| group.len() == 3);
    if !groups.iter().all(is_digits) || !is_grouped {
        return Err(expected());
    }
    let number: Option<u64> = groups.concat().parse().ok();
    number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| "too large a number".into())
}

/// `256MiB`, `1.5GB`, `4096`: bytes; the decimal and the binary units differ as they should.
pub(crate) fn byte_size(text: &str) -> Result<u64, String> {
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let factor: f64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kib" => 1_024.0,
        "m" | "mib" => 1_048_576.0,
        "g" | "gib" => 1_073_741_824.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        _ => return Err(format!("no unit '{unit}'; bytes, KiB, MiB, GiB, kB, MB or GB")),
    };
    let number: f64 = number.parse().map_err(|_| "expected a number, as in 256MiB".to_owned())?;
    Ok((number * factor) as u64)
}

/// `200ms`, `1.5s`, `50us`, `1m`: how long; a number alone has no meaning that all would guess.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let seconds = match unit.trim() {
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" | "min" => 60.0,
        _ => return Err(format!("no unit '{unit}'; us, ms, s or min, as in 200ms")),
    };
    let number: f64 = number.parse().map_err(|_| "expected a number, as in 200ms".to_owned())?;
    Duration::try_from_secs_f64(number * seconds).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(line: &str) -> String {
        let typed: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        match parse(&typed) {
            Err(Failure::Error(error)) => error.to_string(),
            Ok(_) => panic!("{line} was accepted"),
            Err(other) => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn clap_finds_no_contradiction_in_the_definition() {
        definition().debug_assert();
    }

    #[test]
    fn help_begins_with_what_the_program_is() {
        let help = definition().render_help().to_string();
        assert!(help.starts_with("An embeddable full-text index"), "{help}");
        assert!(definition().render_long_help().to_string().starts_with("An embeddable"));
    }

    /// Lines of `-h` at the most.
    const SHORT_HELP_LINES: usize = 40;

    /// Calls a function with each command and each command of one, and with the words that lead to it.
    fn for_each_command(
        of: &clap::Command,
        words: &mut Vec<String>,
        f: &mut impl FnMut(&clap::Command, &[String]),
    ) {
        f(of, words);
        for command in of.get_subcommands() {
            words.push(command.get_name().to_owned());
            for_each_command(command, words, f);
            words.pop();
        }
    }

    #[test]
    fn short_help_of_every_command_fits_a_screen() {
        let mut n = 0;
        for_each_command(&definition(), &mut vec![], &mut |command, words| {
            // The index comes before the part of it that is inspected.
            let index = words.first().is_some_and(|word| word == "inspect") && words.len() > 1;
            let mut typed: Vec<OsString> = vec!["treepie".into()];
            for (nth, word) in words.iter().enumerate() {
                typed.extend((index && nth == 1).then(|| OsString::from("INDEX")));
                typed.push(word.into());
            }
            typed.push("-h".into());
            let Ok(Parsed::Help(text)) = parse(&typed) else { panic!("{typed:?}") };
            let lines = text.lines().count();
            assert!(lines <= SHORT_HELP_LINES, "{lines} lines of {words:?}:\n{text}");
            let widest = text.lines().map(crate::terminal::width).max().unwrap_or(0);
            assert!(widest <= SHORT_HELP_COLUMNS, "{widest} columns of {words:?}:\n{text}");
            assert!(text.contains("\nEverywhere:\n"), "{words:?}:\n{text}");
            let is_group = command.get_subcommands().next().is_some();
            assert!(is_group || text.starts_with(&command.get_about().unwrap().to_string()));
            n += 1;
        });
        assert!(n > 30, "{n} commands");
    }

    #[test]
    fn search_has_its_options_under_headings() {
        let typed = ["treepie", "search", "-h"].map(OsString::from);
        let Ok(Parsed::Help(text)) = parse(&typed) else { panic!("no help") };
        let heads = ["\nFind:", "\nOrder:", "\nCount:", "\nShow:", "\nLimits:", "\nEverywhere:"];
        let at = heads.map(|head| text.find(head).unwrap_or_else(|| panic!("{head} in {text}")));
        assert!(at.is_sorted(), "{text}");
        assert!(text.contains("treepie help query"), "{text}");
    }

    /// Options that mean another thing in another command.
    const HOMONYMS: [&str; 7] = ["index", "knn", "query", "recall", "request", "schema", "terms"];

    #[test]
    fn an_option_has_one_wording_in_all_commands() {
        let mut known: std::collections::BTreeMap<String, (String, String)> = Default::default();
        for_each_command(&definition(), &mut vec![], &mut |command, words| {
            for arg in command.get_arguments() {
                let Some(name) = arg.get_long().filter(|name| !HOMONYMS.contains(name)) else {
                    continue;
                };
                let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
                // Defaults differ.
                let help = help.split(" [default").next().unwrap_or_default().to_owned();
                assert!(!help.is_empty(), "--{name} of {words:?} has no help");
                let here = words.join(" ");
                let (other, there) = known.entry(name.to_owned()).or_insert((help.clone(), here));
                assert_eq!(*other, help, "--{name} of {words:?} and of {there}");
            }
        });
        assert!(known.len() > 60, "{} options", known.len());
    }

    #[test]
    fn a_command_alone_is_the_command_among_all() {
        let mut all = definition();
        all.build();
        for command in definition().get_subcommands() {
            let mut alone = program().subcommand(command_alone(command.get_name()).unwrap());
            alone.build();
            let [alone, among_all] = [&mut alone, &mut all]
                .map(|it| it.find_subcommand_mut(command.get_name()).unwrap());
            let [alone, among_all] = [alone, among_all].map(|it| it.render_long_help().to_string());
            assert_eq!(alone, among_all);
        }
        for line in ["treepie index a.tp b --color", "treepie --color never plan diff", "treepie"] {
            let typed: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let [alone, among_all] = [definition_for(&typed), definition()]
                .map(|it| it.try_get_matches_from(&typed).unwrap_err().to_string());
            assert_eq!(alone, among_all);
        }
        let typed = ["treepie", "--color", "never", "search", "i", "q"].map(OsString::from);
        assert_eq!(definition_for(&typed).get_subcommands().count(), 1);
        assert_eq!(definition_for(&typed[..1]).get_subcommands().count(), 24);
    }

    #[test]
    fn what_is_announced_is_refused_by_name() {
        for (line, name) in [
            ("treepie --quiet --color never index i f --verbose", "the option --verbose"),
            ("treepie index i f --verbose", "the option --verbose"),
        ] {
            let message = refusal(line);
            assert_eq!(message, format!("{name} is not built yet"), "{line}");
        }
    }

    #[test]
    fn nothing_of_the_refused_is_in_the_definition() {
        let definition = definition();
        for (command, option, values) in OPTIONS_NOT_YET {
            let commands = match *command {
                "*" => definition.get_subcommands().collect::<Vec<_>>(),
                name => vec![definition.find_subcommand(name).unwrap()],
            };
            for command in commands {
                let known = command.get_arguments().find(|a| a.get_long() == option.get(2..));
                match known {
                    None => assert!(values.is_empty(), "{option} of {}", command.get_name()),
                    Some(known) => {
                        let possible = known.get_possible_values();
                        let named = |value: &&str| possible.iter().any(|p| p.matches(value, false));
                        assert!(!values.iter().any(named), "{option}: {values:?}");
                        assert!(!values.is_empty(), "{option} of {}", command.get_name());
                    }
                }
            }
        }
    }

    #[test]
    fn a_query_may_begin_with_one_minus() {
        let typed = ["treepie", "search", "i", "-war"].map(OsString::from);
        let Ok(Parsed::Command(cli)) = parse(&typed) else { panic!("refused") };
        let Command::Search(args) = cli.command else { panic!("another command") };
        assert_eq!(args.query.as_deref(), Some("-war"));
        assert!(refusal("treepie search i --limits").contains("unexpected argument '--limits'"));
        assert!(refusal("treepie search i q --limits 3").contains("--limits"));
    }

    #[test]
    fn a_message_stays_on_one_line() {
        for line in ["treepie search", "treepie serach i q", "treepie search i q --limit x"] {
            let message = refusal(line);
            assert!(!message.contains('\n') && !message.contains("Usage"), "{message}");
        }
    }

    #[test]
    fn durations_have_a_unit() {
        assert_eq!(duration("200ms"), Ok(Duration::from_millis(200)));
        assert_eq!(duration("1.5 s"), Ok(Duration::from_millis(1_500)));
        assert_eq!(duration("50us"), Ok(Duration::from_micros(50)));
        assert_eq!(duration("2min"), Ok(Duration::from_secs(120)));
        for typed in ["200", "ms", "1 fortnight", "-1s", ""] {
            assert!(duration(typed).is_err(), "{typed}");
        }
    }

    #[test]
    fn numbers_are_read_as_they_are_printed() {
        for (typed, number) in [
            ("0", 0),
            ("245870", 245_870),
            ("245,870", 245_870),
            ("1_000_000", 1_000_000),
            ("12,345,678", 12_345_678),
            ("007", 7),
        ] {
            assert_eq!(whole_number(typed), Ok(number), "{typed}");
        }
        for typed in
            ["", "-1", "+1", "1,00", "1,0000", "1000,000", ",100", "1,", "1,000_000", "1.5", "x"]
        {
            assert!(whole_number::<u64>(typed).is_err(), "{typed}");
        }
        assert!(whole_number::<u32>("4,294,967,296").is_err());
        assert!(whole_number::<u64>("99,999,999,999,999,999,999").is_err());
    }

    #[test]
    fn sizes_know_their_units() {
        assert_eq!(byte_size("256MiB"), Ok(268_435_456));
        assert_eq!(byte_size("1.5 GB"), Ok(1_500_000_000));
        assert_eq!(byte_size("4096"), Ok(4_096));
        assert_eq!(byte_size("64k"), Ok(65_536));
        assert!(byte_size("MiB").is_err());
        assert!(byte_size("3 parsecs").is_err());
        assert!(byte_size("-1").is_err());
    }
}
