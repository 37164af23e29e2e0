//! Notices that a model says the same thing over and over, which small ones do until something stops them.

/// Longest cycle that is looked for, in tokens.
const MOST_PERIOD: usize = 64;
/// Up to this a cycle is short.
const SHORT_PERIOD: usize = 16;
/// Tokens that must be one cycle repeated, for short and for longer cycles: a quarter more than any short one in CPython's
/// own library and tests (200), and more than any longer one there (300).
const SHORT: usize = 256;
const LONG: usize = 320;

/// The ids of one reply as they come.
pub struct Repetition {
    ids: Vec<u32>,
    /// How many of the last ids equal the one `period` before them, for each period from 1 on.
    same: [usize; MOST_PERIOD],
}

impl Repetition {
    pub fn new() -> Self {
        Self { ids: Vec::new(), same: [0; MOST_PERIOD] }
    }

    /// Takes note of the next id; whether the reply has become a cycle.
    pub fn push(&mut self, id: u32) -> bool {
        self.ids.push(id);
        let before = self.ids[..self.ids.len() - 1].iter().rev();
        let mut endless = false;
        for ((period, same), &earlier) in (1..).zip(&mut self.same).zip(before) {
            *same = if earlier == id { *same + 1 } else { 0 };
            endless |= *same + period >= if period <= SHORT_PERIOD { SHORT } else { LONG };
        }
        endless
    }
}

impl Default for Repetition {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many ids it takes of those given.
    fn noticed(ids: impl Iterator<Item = u32>) -> Option<usize> {
        let mut repetition = Repetition::new();
        ids.take(10_000).position(|id| repetition.push(id)).map(|at| at + 1)
    }

    #[test]
    fn cycles_of_every_length_are_noticed_once_they_are_long_enough() {
        for period in 1..=64_u32 {
            let tokens = if period <= 16 { 256 } else { 320 };
            assert_eq!(noticed((0..period).cycle()), Some(tokens), "{period}");
            // Whatever came before.
            assert_eq!(noticed((1000..1300).chain((0..period).cycle())), Some(300 + tokens), "{period}");
        }
        assert_eq!(noticed((0..65).cycle()), None);
    }

    #[test]
    fn what_changes_is_not_endless() {
        // A table whose lines differ in one number, and cycles that are broken in time.
        assert_eq!(noticed((0..).map(|n| if n % 8 == 3 { n } else { n % 8 })), None);
        assert_eq!(noticed((0..).map(|n| if n % 250 == 0 { 7 } else { 1 })), None);
        assert_eq!(noticed((0..).map(|n| if n % 300 == 0 { 777 } else { n % 20 })), None);
    }
}
