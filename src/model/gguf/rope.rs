//! Rotary positions: by which angle each pair of a query or key is turned, as llama.cpp computes it.

use std::f64::consts::TAU;

use super::architecture::Keys;
use crate::{Error, Result};

#[derive(Clone, Debug)]
pub(super) struct Rope {
    base: f64,
    /// How many times more positions there are than the model was first trained for.
    factor: f64,
    yarn: Option<Yarn>,
    /// Divisors of each pair's frequency.
    factors: Option<Vec<f32>>,
}

/// YaRN: pairs that turn often in the original context keep their frequency, those that turn seldom are slowed down.
#[derive(Clone, Copy, Debug)]
struct Yarn {
    original_context: f64,
    /// Turns within it, from which on nothing is slowed, and up to which everything is.
    beta_fast: f64,
    beta_slow: f64,
}

impl Rope {
    pub fn read(keys: &Keys<'_>, factors: Option<Vec<f32>>) -> Result<Self> {
        let base = keys.positive("rope.freq_base")?.unwrap_or(10_000.0);
        let factor = match keys.positive("rope.scaling.factor")? {
            None => keys.positive("rope.scale_linear")?.unwrap_or(1.0),
            Some(factor) => factor,
        };
        let (factor, yarn) = match keys.text("rope.scaling.type")? {
            Some("none") => (1.0, None),
            None | Some("linear") => (factor, None),
            Some("yarn") => (factor, Some(Yarn::read(keys)?)),
            Some(kind) => {
                return Err(Error::model(format!("its positions are scaled by `{kind}`, which is not supported")));
            }
        };
        if base <= 1.0 && yarn.is_some() {
            return Err(Error::model(format!("its rotary base is {base}, which cannot be scaled by `yarn`")));
        }
        Ok(Self { base, factor, yarn, factors })
    }

    /// The rotation with another base and nothing scaled.
    pub fn unscaled(base: f64) -> Self {
        Self { base, factor: 1.0, yarn: None, factors: None }
    }

    /// Sines and cosines of `context` positions × `head_dim` / 2 pairs.
    pub fn tables(&self, context: usize, head_dim: usize) -> (Vec<f32>, Vec<f32>) {
        let turns: Vec<f64> = (0..head_dim / 2).map(|pair| self.frequency(pair, head_dim)).collect();
        let magnitude = if self.yarn.is_some() { 1.0 + 0.1 * self.factor.ln() } else { 1.0 };
        let angles = (0..context).flat_map(|position| turns.iter().map(move |turn| position as f64 * turn));
        angles.map(|angle| ((magnitude * angle.sin()) as f32, (magnitude * angle.cos()) as f32)).unzip()
    }

    /// Radians a position for one pair.
    fn frequency(&self, pair: usize, head_dim: usize) -> f64 {
        let mut frequency = self.base.powf(-((2 * pair) as f64) / head_dim as f64);
        if let Some(&divisor) = self.factors.as_ref().and_then(|factors| factors.get(pair)) {
            frequency /= f64::from(divisor);
        }
        let kept = self.yarn.map_or(0.0, |yarn| yarn.kept(pair, head_dim, self.base));
        frequency * (kept + (1.0 - kept) / self.factor)
    }
}

impl Yarn {
    fn read(keys: &Keys<'_>) -> Result<Self> {
        let original = match keys.positive("rope.scaling.original_context_length")? {
            None => keys.positive("context_length")?,
            original => original,
        };
        let (fast, slow) = ("rope.scaling.yarn_beta_fast", "rope.scaling.yarn_beta_slow");
        Ok(Self {
            original_context: original.unwrap_or(1.0),
            beta_fast: keys.positive(fast)?.unwrap_or(32.0),
            beta_slow: keys.positive(slow)?.unwrap_or(1.0),
        })
    }

    /// How much of its own frequency a pair keeps, from 0 to 1.
    fn kept(self, pair: usize, head_dim: usize, base: f64) -> f64 {
        let pair_that_turns =
            |times: f64| head_dim as f64 * (self.original_context / (times * TAU)).ln() / (2.0 * base.ln());
        let first = pair_that_turns(self.beta_fast).floor().max(0.0);
        let last = pair_that_turns(self.beta_slow).ceil().min(head_dim as f64 - 1.0);
        1.0 - ((pair as f64 - first) / (last - first).max(0.001)).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaling_slows_the_rotation() {
        let plain = Rope::unscaled(100.0);
        assert!((plain.frequency(2, 8) - 0.1).abs() < 1e-12);
        let linear = Rope { factor: 4.0, ..plain.clone() };
        assert!((linear.frequency(2, 8) - 0.025).abs() < 1e-12);
        let divided = Rope { factors: Some(vec![1.0, 1.0, 8.0, 8.0]), ..plain };
        assert!((divided.frequency(2, 8) - 0.0125).abs() < 1e-12 && divided.frequency(0, 8) == 1.0);
        let (sines, cosines) = divided.tables(3, 8);
        assert_eq!((sines.len(), cosines.len(), sines[0], cosines[0]), (12, 12, 0.0, 1.0));
        assert!((f64::from(sines[2 * 4]) - 2.0_f64.sin()).abs() < 1e-7);
    }

    #[test]
    fn yarn_keeps_what_turns_fast_and_slows_what_turns_slowly() {
        let yarn = Yarn { original_context: 1000.0, beta_fast: 32.0, beta_slow: 1.0 };
        let rope = Rope { base: 10_000.0, factor: 4.0, yarn: Some(yarn), factors: None };
        let plain = Rope::unscaled(10_000.0);
        assert_eq!(rope.frequency(0, 64), plain.frequency(0, 64));
        assert!((rope.frequency(31, 64) * 4.0 - plain.frequency(31, 64)).abs() < 1e-12);
        let between = rope.frequency(12, 64) / plain.frequency(12, 64);
        assert!(between > 0.26 && between < 0.99, "{between}");
        let (_, cosines) = rope.tables(1, 64);
        assert!((f64::from(cosines[0]) - (1.0 + 0.1 * 4.0_f64.ln())).abs() < 1e-6);
    }
}
