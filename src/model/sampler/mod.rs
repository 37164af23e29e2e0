//! Draws the next token from a row of logits. The same seed, tokens and logits draw the same tokens, with one random
//! number for each (none when it is greedy).
//!
//! The order of the steps is told at [`Sampling`]; what a guide forbids is taken out with the bias.

mod greatest;
mod window;

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

pub(crate) use self::greatest::argmax;
use self::greatest::{Candidate, descending, greatest};
use self::window::Window;
use super::Sampling;

/// Tokens whose logits lie this much below the highest, in units of the temperature, are never drawn: all of a large
/// vocabulary together would have less than a ten-millionth of the probability.
const SPAN: f32 = 30.0;

/// The candidates that [`Sampler::nucleus`] sorts at first.
const FIRST_SORTED: usize = 64;

/// What was drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    pub id: u32,
    /// When the sampling asks for it.
    pub likelihood: Option<Likelihood>,
}

/// Natural logarithms of probabilities as the model gives them, before bias, penalties and temperature.
#[derive(Clone, Debug, PartialEq)]
pub struct Likelihood {
    /// Of the token that was drawn.
    pub logprob: f32,
    /// The likeliest tokens in its place, likeliest first.
    pub top: Vec<(u32, f32)>,
}

pub struct Sampler {
    sampling: Sampling,
    /// Tokens of the tokenizer; logits beyond them are padding.
    vocabulary: usize,
    rng: ChaCha8Rng,
    window: Window,
    // Kept between draws, so that a draw allocates nothing.
    row: Vec<f32>,
    candidates: Vec<Candidate>,
}

impl Sampler {
    /// Draws ids below `vocabulary`.
    pub fn new(sampling: &Sampling, vocabulary: usize) -> Self {
        Self {
            sampling: sampling.clone(),
            vocabulary,
            rng: ChaCha8Rng::seed_from_u64(sampling.seed),
            window: Window::new(sampling),
            row: Vec::new(),
            candidates: Vec::new(),
        }
    }

    /// The next token, of those whose bits are set in `allowed` (token `i` is bit `i % 32` of word `i / 32`). `None` when
    /// no token is left: the logits are no numbers, or everything is forbidden.
    ///
    /// Nothing is remembered of it but the random number: say [`accept`](Self::accept) when the token becomes part of the reply.
    pub fn draw(&mut self, logits: &[f32], allowed: Option<&[u32]>) -> Option<Drawn> {
        let logits = &logits[..logits.len().min(self.vocabulary)];
        let id = if allowed.is_none() && self.sampling.logit_bias.is_empty() && self.window.is_empty() {
            self.pick(logits)?
        } else {
            let mut row = std::mem::take(&mut self.row);
            row.clear();
            row.extend_from_slice(logits);
            self.edit(&mut row, allowed);
            let id = self.pick(&row);
            self.row = row;
            id?
        };
        Some(Drawn { id, likelihood: self.sampling.logprobs.map(|top| likelihood(logits, id, top)) })
    }

    /// Takes note of a token of the reply.
    pub fn accept(&mut self, id: u32) {
        self.window.push(id);
    }

    fn edit(&self, row: &mut [f32], allowed: Option<&[u32]>) {
        for &(id, bias) in &self.sampling.logit_bias {
            if let Some(logit) = row.get_mut(id as usize) {
                *logit += bias;
            }
        }
        if let Some(allowed) = allowed {
            forbid(row, allowed);
        }
        self.window.penalise(row);
    }

    fn pick(&mut self, row: &[f32]) -> Option<u32> {
        let Sampling { temperature, top_k, top_p, min_p, .. } = self.sampling;
        // Also a NaN temperature is greedy.
        if temperature.is_nan() || temperature <= 0.0 {
            return argmax(row);
        }
        let highest = if top_k > 0 && top_k < row.len() {
            greatest(row, top_k, &mut self.candidates);
            self.candidates.first()?.1
        } else {
            let highest = row[argmax(row)? as usize];
            let near = highest - SPAN * temperature;
            let numbers = (0_u32..).zip(row.iter().copied());
            self.candidates.clear();
            self.candidates.extend(numbers.filter(|(_, logit)| logit.is_finite() && *logit >= near));
            highest
        };
        let mut sum = 0.0;
        for (_, value) in &mut self.candidates {
            *value = ((*value - highest) / temperature).exp();
            sum += f64::from(*value);
        }
        if top_p < 1.0 {
            sum = self.nucleus(f64::from(top_p) * sum);
        }
        if min_p > 0.0 {
            // The weight of the likeliest is 1.
            self.candidates.retain(|&(_, weight)| weight >= min_p.min(1.0));
            sum = self.candidates.iter().map(|&(_, weight)| f64::from(weight)).sum();
        }
        let mut point = unit(&mut self.rng) * sum;
        for &(id, weight) in &self.candidates {
            point -= f64::from(weight);
            if point < 0.0 {
                return Some(id);
            }
        }
        self.candidates.last().map(|&(id, _)| id)
    }

    /// Cuts the candidates to the fewest whose weights reach `enough`; at least one. Gives their sum.
    ///
    /// Few are needed as a rule, so the most likely are sorted out first, and more only if these do not reach.
    fn nucleus(&mut self, enough: f64) -> f64 {
        let (mut reached, mut sorted, mut next) = (0.0, 0, FIRST_SORTED);
        while sorted < self.candidates.len() {
            let rest = &mut self.candidates[sorted..];
            if next < rest.len() {
                rest.select_nth_unstable_by(next - 1, descending);
            }
            let taken = next.min(rest.len());
            rest[..taken].sort_unstable_by(descending);
            for (at, &(_, weight)) in rest[..taken].iter().enumerate() {
                reached += f64::from(weight);
                if reached >= enough {
                    self.candidates.truncate(sorted + at + 1);
                    return reached;
                }
            }
            sorted += taken;
            next *= 4;
        }
        reached
    }
}

/// Makes the tokens impossible whose bits are not set, and those that have none.
fn forbid(row: &mut [f32], allowed: &[u32]) {
    let mut words = allowed.iter().copied();
    for chunk in row.chunks_mut(32) {
        match words.next().unwrap_or(0) {
            u32::MAX => {}
            0 => chunk.fill(f32::NEG_INFINITY),
            word => {
                for (bit, logit) in chunk.iter_mut().enumerate() {
                    *logit = if word >> bit & 1 == 1 { *logit } else { f32::NEG_INFINITY };
                }
            }
        }
    }
}

fn likelihood(logits: &[f32], id: u32, top: usize) -> Likelihood {
    let highest = argmax(logits).map_or(0.0, |id| logits[id as usize]);
    let weights = logits.iter().filter(|logit| logit.is_finite()).map(|logit| f64::from(logit - highest).exp());
    let all = f64::from(highest) + weights.sum::<f64>().ln();
    let logprob = |logit: f32| (f64::from(logit) - all) as f32;
    let mut likeliest = Vec::new();
    greatest(logits, top, &mut likeliest);
    for (_, logit) in &mut likeliest {
        *logit = logprob(*logit);
    }
    Likelihood { logprob: logits.get(id as usize).map_or(f32::NEG_INFINITY, |&logit| logprob(logit)), top: likeliest }
}

/// Uniform in [0, 1).
fn unit(rng: &mut ChaCha8Rng) -> f64 {
    f64::from(rng.next_u32() >> 8) / f64::from(1_u32 << 24)
}

#[cfg(test)]
mod tests;
