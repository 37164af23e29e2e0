//! Whether the recommended model is to be fetched, when none is named: asked once in a life, or said with `--yes`.

use clap::Args;

use super::console::Console;
use super::stdin;
use crate::model::recommended;
use crate::{Cancel, Config, Result};

#[derive(Clone, Debug, Default, Args)]
pub struct Consent {
    /// Fetch the recommended model from the hub without asking, when no model is named
    #[arg(short, long, help_heading = "Model")]
    yes: bool,
}

/// What is known before anybody is asked.
#[derive(Clone, Copy, Debug)]
struct Facts {
    /// Said on the command line.
    yes: bool,
    at_hand: bool,
    offline: bool,
    can_ask: bool,
    declined: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// As it is.
    Leave,
    Ask,
    Fetch,
}

fn step(facts: Facts) -> Step {
    match facts {
        Facts { at_hand: true, .. } | Facts { offline: true, .. } => Step::Leave,
        Facts { yes: true, .. } => Step::Fetch,
        Facts { can_ask: true, declined: false, .. } => Step::Ask,
        _ => Step::Leave,
    }
}

impl Consent {
    /// Names the recommended model in `config` if that is wanted and can be. False: it was wanted and is not to be had.
    pub fn settle(&self, console: &Console, config: &mut Config, cancel: &Cancel) -> Result<bool> {
        if config.model.is_some() || config.base_url.is_some() {
            return Ok(true);
        }
        let facts = Facts {
            yes: self.yes,
            at_hand: recommended::is_at_hand(config),
            offline: recommended::is_offline(config),
            can_ask: console.can_ask(),
            declined: recommended::was_declined(config),
        };
        let wanted = match step(facts) {
            Step::Leave => return Ok(facts.at_hand || !facts.yes),
            Step::Fetch => true,
            Step::Ask => ask(console, config, cancel)?,
        };
        if !wanted {
            return Ok(true);
        }
        match recommended::can_be_fetched(config, cancel) {
            Ok(()) => {
                config.model = Some(recommended::NAME.into());
                Ok(true)
            }
            Err(error) if error.is_cancelled() || cancel.is_cancelled() => Err(error),
            Err(error) => {
                console.say(&format!("going on with the small model: {error}"));
                Ok(false)
            }
        }
    }
}

/// An answer that is no answer (the end of the input) is asked for again the next time.
fn ask(console: &Console, config: &Config, cancel: &Cancel) -> Result<bool> {
    console
        .ask(&format!("Download the recommended model {} from the hub? It is asked once. [y/N]", recommended::ABOUT));
    let Some(answer) = stdin::line(cancel)? else { return Ok(false) };
    let yes = ["y", "yes"].iter().any(|yes| answer.eq_ignore_ascii_case(yes));
    if !yes {
        recommended::decline(config)?;
    }
    Ok(yes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_surprised() {
        let facts = Facts { yes: false, at_hand: false, offline: false, can_ask: true, declined: false };
        assert_eq!(step(facts), Step::Ask);
        assert_eq!(step(Facts { can_ask: false, ..facts }), Step::Leave);
        assert_eq!(step(Facts { declined: true, ..facts }), Step::Leave);
        assert_eq!(step(Facts { offline: true, ..facts }), Step::Leave);
        assert_eq!(step(Facts { at_hand: true, ..facts }), Step::Leave);
        let yes = Facts { yes: true, ..facts };
        assert_eq!(step(yes), Step::Fetch);
        assert_eq!(step(Facts { can_ask: false, declined: true, ..yes }), Step::Fetch);
        assert_eq!(step(Facts { offline: true, ..yes }), Step::Leave);
        assert_eq!(step(Facts { at_hand: true, ..yes }), Step::Leave);
    }
}
