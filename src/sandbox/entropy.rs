//! Where a session's random bytes come from: the system, or a seed.

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};

#[derive(Clone, Debug)]
pub(super) enum Entropy {
    /// The operating system's, fresh each time.
    System,
    /// The same bytes for the same seed, on every machine.
    Seeded(Box<ChaCha20Rng>),
}

impl Entropy {
    /// The bytes of this seed, from the word of 32 bits on that `drawn` counts.
    pub(super) fn seeded(seed: u64, drawn: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut generator = ChaCha20Rng::from_seed(key);
        generator.set_word_pos(drawn.into());
        Self::Seeded(Box::new(generator))
    }

    /// The seed, and how many words of 32 bits were drawn. `None` for the system's.
    #[cfg_attr(not(test), expect(dead_code, reason = "for saved sessions"))]
    pub(super) fn position(&self) -> Option<(u64, u64)> {
        let Self::Seeded(generator) = self else { return None };
        let key = generator.get_seed();
        let seed = u64::from_le_bytes(std::array::from_fn(|i| key[i]));
        // No session draws 64 GiB of words.
        Some((seed, u64::try_from(generator.get_word_pos()).unwrap_or(u64::MAX)))
    }

    /// Fills `bytes`.
    ///
    /// # Errors
    /// The system has no random bytes to give.
    pub(super) fn fill(&mut self, bytes: &mut [u8]) -> Result<(), getrandom::Error> {
        match self {
            Self::System => getrandom::fill(bytes),
            Self::Seeded(generator) => {
                generator.fill_bytes(bytes);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(entropy: &mut Entropy, bytes: usize) -> Vec<u8> {
        let mut drawn = vec![0; bytes];
        entropy.fill(&mut drawn).unwrap();
        drawn
    }

    #[test]
    fn a_seed_gives_the_same_bytes_and_another_seed_others() {
        let first = draw(&mut Entropy::seeded(7, 0), 40);
        assert_eq!(first, draw(&mut Entropy::seeded(7, 0), 40));
        assert_ne!(first, draw(&mut Entropy::seeded(8, 0), 40));
        // ChaCha20's own test vector for the key of zeros, so that it is the same on every machine and version.
        assert_eq!(draw(&mut Entropy::seeded(0, 0), 4), [0x76, 0xb8, 0xe0, 0xad]);
    }

    #[test]
    fn a_generator_goes_on_where_it_was_saved() {
        for drawn in [0, 1, 4, 63, 64, 65, 1000] {
            let mut entropy = Entropy::seeded(7, 0);
            draw(&mut entropy, drawn);
            let (seed, word) = entropy.position().unwrap();
            assert_eq!(draw(&mut Entropy::seeded(seed, word), 33), draw(&mut entropy, 33), "after {drawn} bytes");
        }
    }

    #[test]
    fn the_systems_bytes_are_fresh() {
        assert_ne!(draw(&mut Entropy::System, 32), draw(&mut Entropy::System, 32));
        assert!(Entropy::System.position().is_none());
    }
}
