//! How the next token is drawn, as it is asked for.

use crate::{Error, Result};

/// How the next token is drawn. `temperature` 0 takes the likeliest; then the steps after it do not matter.
///
/// The steps are those of Hugging Face's transformers, in its order: `logit_bias`, the penalties, `temperature`, `top_k`,
/// `top_p`, `min_p`, and one random number. Penalties look at the reply alone, not at the prompt: there stand examples
/// and data whose words a good answer must use.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct Sampling {
    /// 0 to [`MOST_TEMPERATURE`](Self::MOST_TEMPERATURE).
    pub temperature: f32,
    /// Keep the most likely tokens whose probabilities sum to this (1.0: all).
    pub top_p: f32,
    /// Keep so many of the most likely tokens (0: all).
    pub top_k: usize,
    /// Keep the tokens that have at least this share of the likeliest one's probability (0.0: all).
    pub min_p: f32,
    /// What the logit of a token of the window is divided by, or multiplied with where it is negative (1.0: no penalty).
    pub repeat_penalty: f32,
    /// The window: so many of the reply's last tokens are penalised (0: none).
    pub repeat_last_n: usize,
    /// Taken from the logit of each token in the window (0.0: nothing), -2 to 2.
    pub presence_penalty: f32,
    /// Taken from the logit of a token for each time it stands in the window (0.0: nothing), -2 to 2.
    pub frequency_penalty: f32,
    /// Added to the logits of these tokens; negative infinity means never.
    pub logit_bias: Vec<(u32, f32)>,
    /// Report the probability of each token, and of so many of the likeliest in its place, at most
    /// [`MOST_LOGPROBS`](Self::MOST_LOGPROBS).
    pub logprobs: Option<usize>,
    pub seed: u64,
}

impl Sampling {
    pub const MOST_TEMPERATURE: f32 = 10.0;
    pub const MOST_REPEAT_PENALTY: f32 = 10.0;
    pub const MOST_LOGPROBS: usize = 20;
    /// Entries of `logit_bias`.
    pub const MOST_BIASES: usize = 1024;

    /// # Errors
    /// Usage: a value outside its range; the message says which.
    pub fn check(&self) -> Result<()> {
        within("temperature", self.temperature, 0.0, Self::MOST_TEMPERATURE)?;
        within("top_p", self.top_p, 0.0, 1.0)?;
        within("min_p", self.min_p, 0.0, 1.0)?;
        within("repeat_penalty", self.repeat_penalty, f32::MIN_POSITIVE, Self::MOST_REPEAT_PENALTY)
            .map_err(|error| error.advise("1 is no penalty, and above 1 repetition gets rarer"))?;
        within("presence_penalty", self.presence_penalty, -2.0, 2.0)?;
        within("frequency_penalty", self.frequency_penalty, -2.0, 2.0)?;
        if self.logprobs.is_some_and(|top| top > Self::MOST_LOGPROBS) {
            return Err(Error::usage(format!("logprobs must be at most {}", Self::MOST_LOGPROBS)));
        }
        if self.logit_bias.len() > Self::MOST_BIASES {
            return Err(Error::usage(format!("logit_bias must have at most {} entries", Self::MOST_BIASES)));
        }
        match self.logit_bias.iter().find(|(_, bias)| bias.is_nan() || *bias > 100.0) {
            Some((id, bias)) => {
                Err(Error::usage(format!("logit_bias of token {id} is {bias}, but must be a number of at most 100")))
            }
            None => Ok(()),
        }
    }
}

impl Default for Sampling {
    fn default() -> Self {
        Self {
            temperature: 0.0,
            top_p: 0.95,
            top_k: 40,
            min_p: 0.0,
            repeat_penalty: 1.0,
            repeat_last_n: 64,
            presence_penalty: 0.0,
            frequency_penalty: 0.0,
            logit_bias: Vec::new(),
            logprobs: None,
            seed: 0,
        }
    }
}

fn within(name: &str, value: f32, least: f32, most: f32) -> Result<()> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    let range = if least == f32::MIN_POSITIVE { "above 0 and at most".into() } else { format!("from {least} to") };
    Err(Error::usage(format!("{name} is {value}, but must be {range} {most}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_out_of_range_is_named() {
        Sampling::default().check().unwrap();
        let never = Sampling { logit_bias: vec![(1, f32::NEG_INFINITY)], ..Sampling::default() };
        never.check().unwrap();
        let usual = Sampling::default;
        let wrong = [
            (Sampling { temperature: -0.1, ..usual() }, "temperature is -0.1, but must be from 0 to 10"),
            (Sampling { temperature: f32::NAN, ..usual() }, "temperature is NaN"),
            (Sampling { top_p: 1.1, ..usual() }, "top_p is 1.1, but must be from 0 to 1"),
            (Sampling { min_p: -1.0, ..usual() }, "min_p is -1"),
            (Sampling { repeat_penalty: 0.0, ..usual() }, "repeat_penalty is 0, but must be above 0 and at most 10"),
            (Sampling { repeat_penalty: f32::INFINITY, ..usual() }, "repeat_penalty is inf"),
            (Sampling { presence_penalty: 2.5, ..usual() }, "presence_penalty is 2.5"),
            (Sampling { frequency_penalty: -2.5, ..usual() }, "frequency_penalty is -2.5"),
            (Sampling { logprobs: Some(21), ..usual() }, "logprobs must be at most 20"),
            (Sampling { logit_bias: vec![(3, f32::NAN)], ..usual() }, "logit_bias of token 3 is NaN"),
            (Sampling { logit_bias: vec![(3, f32::INFINITY)], ..usual() }, "logit_bias of token 3 is inf"),
            (Sampling { logit_bias: vec![(3, 0.0); 1025], ..usual() }, "at most 1024 entries"),
        ];
        for (sampling, said) in wrong {
            let error = sampling.check().expect_err(said);
            assert!(error.is_usage() && error.to_string().contains(said), "{error}, not {said}");
        }
    }
}
