//! How long it takes to draw one token from logits of 49,152 and 152,064 tokens: `cargo bench --bench draw`.

#![allow(clippy::print_stdout, reason = "a benchmark says what it measured")]

use std::hint::black_box;
use std::time::Instant;

use slm_code_interpreter::model::Sampling;
use slm_code_interpreter::model::parts::Sampler;

/// Rows drawn from in turn, so that none is in the fastest cache.
const ROWS: usize = 4;
const DRAWS: usize = 400;

/// Numbers as the logits of a model lie: most within a few of the mean, few far above it.
fn row(vocabulary: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let mut unit = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1_u64 << 24) as f32
    };
    (0..vocabulary).map(|_| (0..6).map(|_| unit()).sum::<f32>() * 5.0 - 15.0).collect()
}

/// What it is called, and what it changes.
type Setting = (&'static str, fn(&mut Sampling));

fn main() {
    let settings: [Setting; 6] = [
        ("greedy", |_| {}),
        ("greedy, repeat penalty", |s| s.repeat_penalty = 1.1),
        ("top-k 40, top-p 0.95", |s| s.temperature = 0.7),
        ("top-p 0.95 of all", |s| (s.temperature, s.top_k) = (0.7, 0)),
        ("min-p 0.05 of all", |s| (s.temperature, s.top_k, s.top_p, s.min_p) = (0.7, 0, 1.0, 0.05)),
        ("top-k 40, log-probabilities", |s| (s.temperature, s.logprobs) = (0.7, Some(5))),
    ];
    println!("median microseconds a draw\n{:<30} {:>8} {:>8} {:>14}", "", "49152", "152064", "152064 masked");
    for (name, set) in settings {
        let time = |vocabulary: usize, masked: bool| {
            let rows: Vec<Vec<f32>> = (0..ROWS).map(|seed| row(vocabulary, seed as u64)).collect();
            let mask = masked.then(|| vec![0xffff_fff7; vocabulary.div_ceil(32)]);
            let mut sampling = Sampling::default();
            set(&mut sampling);
            let mut sampler = Sampler::new(&sampling, vocabulary);
            let mut times: Vec<f64> = (0..DRAWS)
                .map(|n| {
                    let began = Instant::now();
                    let drawn = black_box(sampler.draw(black_box(&rows[n % ROWS]), mask.as_deref()));
                    sampler.accept(drawn.map_or(0, |drawn| drawn.id));
                    began.elapsed().as_secs_f64() * 1e6
                })
                .collect();
            times.sort_by(f64::total_cmp);
            times[DRAWS / 2]
        };
        println!("{name:<30} {:>8.1} {:>8.1} {:>14.1}", time(49_152, false), time(152_064, false), time(152_064, true));
    }
}
