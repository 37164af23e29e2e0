//! The reply's last tokens, and what their repetition costs them.

use std::collections::VecDeque;

use super::Sampling;

/// Room made at once; a longer window grows as the reply does.
const ROOM: usize = 256;

pub(super) struct Window {
    length: usize,
    repeat: f32,
    presence: f32,
    frequency: f32,
    last: VecDeque<u32>,
    /// Each token of the window, and how often it is in it.
    counts: Vec<(u32, u32)>,
}

impl Window {
    pub(super) fn new(sampling: &Sampling) -> Self {
        let Sampling { repeat_penalty: repeat, presence_penalty: presence, frequency_penalty: frequency, .. } =
            *sampling;
        let penalised = repeat != 1.0 || presence != 0.0 || frequency != 0.0;
        let length = if penalised { sampling.repeat_last_n } else { 0 };
        let room = length.min(ROOM);
        let (last, counts) = (VecDeque::with_capacity(room), Vec::with_capacity(room));
        Self { length, repeat, presence, frequency, last, counts }
    }

    /// Nothing in it, or nothing to do about it.
    pub(super) fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    pub(super) fn push(&mut self, id: u32) {
        if self.length == 0 {
            return;
        }
        if self.last.len() == self.length
            && let Some(gone) = self.last.pop_front()
            && let Some(at) = self.counts.iter().position(|&(id, _)| id == gone)
        {
            self.counts[at].1 -= 1;
            if self.counts[at].1 == 0 {
                self.counts.swap_remove(at);
            }
        }
        self.last.push_back(id);
        match self.counts.iter_mut().find(|(known, _)| *known == id) {
            Some((_, count)) => *count += 1,
            None => self.counts.push((id, 1)),
        }
    }

    pub(super) fn penalise(&self, row: &mut [f32]) {
        for &(id, count) in &self.counts {
            let Some(logit) = row.get_mut(id as usize) else { continue };
            *logit = if *logit > 0.0 { *logit / self.repeat } else { *logit * self.repeat };
            *logit -= self.presence + self.frequency * count as f32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn penalised(sampling: &Sampling, ids: &[u32], row: &[f32]) -> Vec<f32> {
        let mut window = Window::new(sampling);
        for &id in ids {
            window.push(id);
        }
        let mut row = row.to_vec();
        window.penalise(&mut row);
        row
    }

    #[test]
    fn positive_logits_are_divided_and_negative_ones_multiplied_once() {
        let sampling = Sampling { repeat_penalty: 2.0, ..Sampling::default() };
        assert_eq!(penalised(&sampling, &[0, 1, 1, 9], &[4.0, -3.0, 5.0]), [2.0, -6.0, 5.0]);
        let never = [f32::NEG_INFINITY, 1.0];
        assert_eq!(penalised(&sampling, &[0], &never), never);
    }

    #[test]
    fn presence_counts_once_and_frequency_each_time() {
        let sampling = Sampling { presence_penalty: 0.5, frequency_penalty: 0.25, ..Sampling::default() };
        assert_eq!(penalised(&sampling, &[1, 2, 1], &[1.0, 1.0, 1.0]), [1.0, 0.0, 0.25]);
        let wanted = Sampling { presence_penalty: -1.0, ..Sampling::default() };
        assert_eq!(penalised(&wanted, &[1], &[1.0, 1.0]), [1.0, 2.0]);
    }

    #[test]
    fn the_window_holds_the_last_tokens() {
        let sampling = Sampling { frequency_penalty: 1.0, repeat_last_n: 3, ..Sampling::default() };
        assert_eq!(penalised(&sampling, &[0, 0, 1, 1], &[0.0; 3]), [-1.0, -2.0, 0.0]);
        assert_eq!(penalised(&sampling, &[0, 0, 1, 1, 2], &[0.0; 3]), [0.0, -2.0, -1.0]);
        let none = Sampling { repeat_last_n: 0, ..sampling };
        assert_eq!(penalised(&none, &[0, 1], &[0.0; 3]), [0.0; 3]);
        assert!(Window::new(&Sampling::default()).is_empty());
    }
}
