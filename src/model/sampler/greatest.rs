//! The greatest of a row of logits, found without sorting it. What is not a finite number is never among them.

use std::cmp::Ordering;

/// Logits looked at together; one comparison then decides for all of them.
const BLOCK: usize = 64;

/// A token and its logit, or what became of it.
pub(super) type Candidate = (u32, f32);

/// Greater first; equals in the order of their ids.
pub(super) fn descending(a: &Candidate, b: &Candidate) -> Ordering {
    b.1.total_cmp(&a.1).then(a.0.cmp(&b.0))
}

/// The first of the largest numbers.
pub(crate) fn argmax(row: &[f32]) -> Option<u32> {
    let (mut best, mut place) = (f32::NEG_INFINITY, None);
    for (block, numbers) in row.chunks(16 * BLOCK).enumerate() {
        let greatest = greatest_of(numbers);
        if greatest > best {
            (best, place) = (greatest, Some(block));
        }
    }
    let first = place? * 16 * BLOCK;
    let within = row[first..].iter().position(|&number| number == best)?;
    u32::try_from(first + within).ok()
}

/// The greatest number, negative infinity where there is none. Written so that it becomes vector instructions.
fn greatest_of(numbers: &[f32]) -> f32 {
    const LANES: usize = 16;
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let mut keep = |lane: usize, number: f32| {
        // Also false for what is not a number.
        let number = if number < f32::INFINITY { number } else { f32::NEG_INFINITY };
        lanes[lane] = if number > lanes[lane] { number } else { lanes[lane] };
    };
    let whole = numbers.chunks_exact(LANES);
    let rest = whole.remainder();
    for chunk in whole {
        for (lane, &number) in chunk.iter().enumerate() {
            keep(lane, number);
        }
    }
    for (lane, &number) in rest.iter().enumerate() {
        keep(lane, number);
    }
    lanes.into_iter().fold(f32::NEG_INFINITY, |most, number| if number > most { number } else { most })
}

/// Fills `kept` with the `k` greatest, greatest first.
pub(super) fn greatest(row: &[f32], k: usize, kept: &mut Vec<Candidate>) {
    kept.clear();
    let k = k.min(row.len());
    if k == 0 {
        return;
    }
    // Those that may be among the greatest are collected, and now and then cut to `k`, which raises the bar for the rest.
    let room = k.saturating_mul(4).max(4 * BLOCK);
    kept.reserve((room + BLOCK).min(row.len()));
    let mut bar = f32::NEG_INFINITY;
    for (block, numbers) in row.chunks(BLOCK).enumerate() {
        if greatest_of(numbers) <= bar {
            continue;
        }
        let ids = (block * BLOCK) as u32..;
        let above = ids.zip(numbers.iter().copied()).filter(|&(_, number)| number > bar && number < f32::INFINITY);
        kept.extend(above);
        if kept.len() >= room {
            cut(kept, k);
            bar = kept.last().map_or(bar, |&(_, least)| least);
        }
    }
    cut(kept, k);
    kept.sort_unstable_by(descending);
}

/// Keeps the `k` greatest, the least of them last.
fn cut(kept: &mut Vec<Candidate>, k: usize) {
    if k < kept.len() {
        kept.select_nth_unstable_by(k - 1, descending);
        kept.truncate(k);
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_core::{RngCore, SeedableRng};

    use super::*;

    /// What sorting the whole row gives.
    fn sorted(row: &[f32], k: usize) -> Vec<Candidate> {
        let numbers = row.iter().enumerate().filter(|(_, number)| number.is_finite());
        let mut all: Vec<Candidate> = numbers.map(|(id, &number)| (id as u32, number)).collect();
        all.sort_by(descending);
        all.truncate(k);
        all
    }

    #[test]
    fn they_are_those_that_sorting_finds() {
        let seed = getrandom::u64().unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut kept = Vec::new();
        for round in 0..300 {
            let length = (rng.next_u32() % 3_000) as usize;
            // Few different values make many equals; some are no numbers.
            let values = [3, 50, 1_000_000][round % 3];
            let row: Vec<f32> = (0..length)
                .map(|_| match rng.next_u32() % 40 {
                    0 => [f32::NAN, f32::INFINITY, f32::NEG_INFINITY][(rng.next_u32() % 3) as usize],
                    _ => (rng.next_u32() % values) as f32 - 20.0,
                })
                .collect();
            for k in [1, 2, 40, 257, 5_000] {
                greatest(&row, k, &mut kept);
                assert_eq!(kept, sorted(&row, k), "{k} of {length} (seed {seed}, round {round})");
            }
            assert_eq!(argmax(&row), sorted(&row, 1).first().map(|&(id, _)| id), "seed {seed}, round {round}");
        }
    }

    #[test]
    fn a_rising_row_is_no_worse_than_any() {
        let row: Vec<f32> = (0..152_000).map(|id| id as f32).collect();
        let mut kept = Vec::new();
        greatest(&row, 3, &mut kept);
        assert_eq!(kept, [(151_999, 151_999.0), (151_998, 151_998.0), (151_997, 151_997.0)]);
        assert!(kept.capacity() < 1_000, "{}", kept.capacity());
    }

    #[test]
    fn nothing_is_the_greatest_of_no_numbers() {
        let mut kept = vec![(1, 1.0)];
        greatest(&[f32::NAN, f32::INFINITY], 5, &mut kept);
        assert!(kept.is_empty());
        greatest(&[1.0], 0, &mut kept);
        assert!(kept.is_empty());
        assert_eq!((argmax(&[]), argmax(&[f32::NAN; 40]), argmax(&[f32::NEG_INFINITY; 3])), (None, None, None));
        assert_eq!(argmax(&[1.0, 3.0, 3.0, f32::NAN]), Some(1));
    }
}
