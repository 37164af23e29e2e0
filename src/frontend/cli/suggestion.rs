//! Which model is fetched when none is named and none is here: on a terminal a person may choose, elsewhere the one that
//! suits the machine is taken, and that is told.

use clap::Args;

use super::console::Console;
use super::stdin;
use crate::frontend::progress::size;
use crate::model::Known;
use crate::model::default::{self, Suggestion};
use crate::{Cancel, Config, Error, Result};

#[derive(Clone, Debug, Default, Args)]
pub struct Consent {
    /// Do not ask which model to fetch, when none is named and none is here: take the one that suits this machine
    #[arg(short, long, help_heading = "Model")]
    yes: bool,
}

impl Consent {
    /// Names a model in `config` if none is named and one must be fetched. `better`: SmolLM2 alone is not enough.
    pub fn settle(&self, better: bool, console: &Console, config: &mut Config, cancel: &Cancel) -> Result<()> {
        let Some(suggestion) = default::to_fetch(config, better)? else { return Ok(()) };
        let known = match !self.yes && console.can_ask() {
            true => ask(&suggestion, console, cancel)?,
            false => {
                console.say(&suggestion.line());
                suggestion.known
            }
        };
        config.model = Some(known.name.into());
        Ok(())
    }
}

fn ask(suggestion: &Suggestion, console: &Console, cancel: &Cancel) -> Result<&'static Known> {
    let Suggestion { known, why } = suggestion;
    let others: Vec<_> = Known::ALL.into_iter().filter(|other| other != known).map(told).collect();
    console.say(&format!("a model must be fetched; {} suits ({why})", told(known)));
    loop {
        console.ask(&format!("Enter takes it; or type another name: {}:", others.join(", ")));
        // The end of the input is no answer: whoever typed Ctrl-D wants nothing fetched.
        let answer = stdin::line(cancel)?.ok_or_else(Error::cancelled)?;
        match chosen(&answer, known) {
            Some(known) => return Ok(known),
            None => console.say(&format!("`{answer}` is none of these models")),
        }
    }
}

fn told(known: &Known) -> String {
    format!("{} ({})", known.name, size(known.download()))
}

/// What an answer means: nothing is the default, and a part of a name will do where it is a part of one only.
fn chosen(answer: &str, default: &'static Known) -> Option<&'static Known> {
    let answer = answer.to_ascii_lowercase();
    if answer.is_empty() || ["y", "yes"].contains(&answer.as_str()) {
        return Some(default);
    }
    let mut meant = Known::ALL.into_iter().filter(|known| known.name.contains(&answer));
    let first = meant.next();
    first.filter(|_| meant.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_name_or_enough_of_one() {
        for (answer, meant) in [
            ("", Some(Known::LARGE)),
            ("Yes", Some(Known::LARGE)),
            ("qwen2.5-coder-0.5b", Some(Known::MIDDLE)),
            ("0.5B", Some(Known::MIDDLE)),
            ("smol", Some(Known::SMALL)),
            ("qwen", None),
            ("no", None),
        ] {
            assert_eq!(chosen(answer, Known::LARGE), meant, "{answer}");
        }
    }
}
