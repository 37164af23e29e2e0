//! Draws the next token from a row of logits. The same seed and logits draw the same tokens.

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

use super::Sampling;

pub(crate) struct Sampler {
    temperature: f32,
    top_p: f32,
    top_k: usize,
    rng: ChaCha8Rng,
    /// Kept between draws: the candidates' ids and, later, their probabilities.
    candidates: Vec<(u32, f32)>,
}

impl Sampler {
    pub fn new(sampling: &Sampling) -> Self {
        Self {
            temperature: sampling.temperature,
            top_p: sampling.top_p,
            top_k: sampling.top_k,
            rng: ChaCha8Rng::seed_from_u64(sampling.seed),
            candidates: Vec::new(),
        }
    }

    /// The next token, or `None` when no logit is a number: the model has broken down.
    pub fn draw(&mut self, logits: &[f32]) -> Option<u32> {
        // Also a NaN temperature is greedy.
        if self.temperature.is_nan() || self.temperature <= 0.0 {
            return argmax(logits);
        }
        self.collect(logits);
        let (_, highest) = *self.candidates.first()?;
        let mut sum = 0.0;
        for (_, value) in &mut self.candidates {
            *value = ((*value - highest) / self.temperature).exp();
            sum += *value;
        }
        let kept = self.nucleus(sum);
        let mut point = unit(&mut self.rng) * kept;
        for &(id, weight) in &self.candidates {
            point -= weight;
            if point < 0.0 {
                return Some(id);
            }
        }
        self.candidates.last().map(|&(id, _)| id)
    }

    /// The `top_k` most likely tokens, most likely first; equals in the order of their ids.
    fn collect(&mut self, logits: &[f32]) {
        self.candidates.clear();
        let numbers = logits.iter().enumerate().filter(|(_, logit)| logit.is_finite());
        self.candidates.extend(numbers.map(|(id, &logit)| (id as u32, logit)));
        let descending = |a: &(u32, f32), b: &(u32, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        if self.top_k > 0 && self.top_k < self.candidates.len() {
            self.candidates.select_nth_unstable_by(self.top_k - 1, descending);
            self.candidates.truncate(self.top_k);
        }
        self.candidates.sort_unstable_by(descending);
    }

    /// Cuts the candidates to the fewest whose weights reach `top_p` of the sum; at least one. Gives their sum.
    fn nucleus(&mut self, sum: f32) -> f32 {
        if self.top_p.is_nan() || self.top_p >= 1.0 {
            return sum;
        }
        let enough = self.top_p * sum;
        let (mut reached, mut count) = (0.0, 0);
        for &(_, weight) in &self.candidates {
            reached += weight;
            count += 1;
            if reached >= enough {
                break;
            }
        }
        self.candidates.truncate(count);
        reached
    }
}

/// The first of the largest numbers.
pub(crate) fn argmax(logits: &[f32]) -> Option<u32> {
    let mut best: Option<(usize, f32)> = None;
    for (id, &logit) in logits.iter().enumerate() {
        if logit.is_finite() && best.is_none_or(|(_, most)| logit > most) {
            best = Some((id, logit));
        }
    }
    best.map(|(id, _)| id as u32)
}

/// Uniform in [0, 1).
fn unit(rng: &mut ChaCha8Rng) -> f32 {
    (rng.next_u32() >> 8) as f32 / (1_u32 << 24) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampler(temperature: f32, top_k: usize, top_p: f32, seed: u64) -> Sampler {
        Sampler::new(&Sampling { temperature, top_p, top_k, seed })
    }

    /// How often each of the logits is drawn in `n` draws.
    fn counts(sampler: &mut Sampler, logits: &[f32], n: usize) -> Vec<usize> {
        let mut counts = vec![0; logits.len()];
        for _ in 0..n {
            counts[sampler.draw(logits).unwrap() as usize] += 1;
        }
        counts
    }

    /// Logits of the probabilities 0.1, 0.4, 0.3, 0.2.
    fn logits() -> Vec<f32> {
        [0.1_f32, 0.4, 0.3, 0.2].map(f32::ln).to_vec()
    }

    #[test]
    fn temperature_zero_is_greedy() {
        assert_eq!(counts(&mut sampler(0.0, 1, 0.1, 1), &logits(), 50), [0, 50, 0, 0]);
        assert_eq!(sampler(f32::NAN, 0, 1.0, 1).draw(&logits()), Some(1));
        assert_eq!(argmax(&[1.0, 3.0, 3.0, f32::NAN]), Some(1));
    }

    #[test]
    fn draws_follow_the_distribution() {
        let n = 20_000;
        for (index, count) in counts(&mut sampler(1.0, 0, 1.0, 42), &logits(), n).into_iter().enumerate() {
            let share = count as f32 / n as f32;
            let expected = [0.1, 0.4, 0.3, 0.2][index];
            assert!((share - expected).abs() < 0.015, "token {index}: {share} instead of {expected} (seed 42)");
        }
        // At half the temperature probabilities are squared: 1, 16, 9, 4 of 30.
        let cold = counts(&mut sampler(0.5, 0, 1.0, 42), &logits(), n);
        assert!((cold[1] as f32 / n as f32 - 16.0 / 30.0).abs() < 0.015, "{cold:?} (seed 42)");
    }

    #[test]
    fn top_k_keeps_the_most_likely() {
        let drawn = counts(&mut sampler(1.0, 2, 1.0, 3), &logits(), 2_000);
        assert!(drawn[0] == 0 && drawn[3] == 0 && drawn[1] > 0 && drawn[2] > 0, "{drawn:?} (seed 3)");
        assert_eq!(counts(&mut sampler(1.0, 1, 1.0, 3), &logits(), 100), [0, 100, 0, 0]);
        // More than there are is all.
        assert!(counts(&mut sampler(1.0, 99, 1.0, 3), &logits(), 2_000).iter().all(|&count| count > 0));
    }

    #[test]
    fn top_p_keeps_the_fewest_that_reach_it() {
        let drawn = counts(&mut sampler(1.0, 0, 0.65, 3), &logits(), 2_000);
        assert!(drawn[0] == 0 && drawn[3] == 0 && drawn[1] > 0 && drawn[2] > 0, "{drawn:?} (seed 3)");
        assert_eq!(counts(&mut sampler(1.0, 0, 0.0, 3), &logits(), 100), [0, 100, 0, 0]);
        assert_eq!(counts(&mut sampler(1.0, 0, 0.4, 3), &logits(), 100), [0, 100, 0, 0]);
    }

    #[test]
    fn a_seed_draws_the_same_again_and_another_seed_not() {
        let draw = |seed| {
            let mut sampler = sampler(1.0, 3, 0.95, seed);
            (0..64).map(|_| sampler.draw(&logits()).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(draw(11), draw(11));
        assert_ne!(draw(11), draw(12));
    }

    #[test]
    fn logits_that_are_no_numbers_are_never_drawn() {
        let broken = [f32::NAN, f32::INFINITY, 0.5, f32::NEG_INFINITY];
        assert_eq!(counts(&mut sampler(1.0, 0, 1.0, 5), &broken, 100), [0, 0, 100, 0]);
        assert_eq!(sampler(1.0, 0, 1.0, 5).draw(&[f32::NAN; 3]), None);
        assert_eq!(sampler(0.0, 0, 1.0, 5).draw(&[f32::NAN; 3]), None);
    }
}
