use super::*;

fn sampler(temperature: f32, top_k: usize, top_p: f32, seed: u64) -> Sampler {
    Sampler::new(&Sampling { temperature, top_p, top_k, seed, ..Sampling::default() }, usize::MAX)
}

/// Draws from everything, at temperature 1.
fn open(seed: u64) -> Sampling {
    Sampling { temperature: 1.0, top_p: 1.0, top_k: 0, seed, ..Sampling::default() }
}

fn any_seed() -> u64 {
    getrandom::u64().unwrap()
}

/// How often each of the logits is drawn in `n` draws.
fn counts(sampler: &mut Sampler, logits: &[f32], n: usize) -> Vec<usize> {
    let mut counts = vec![0; logits.len()];
    for _ in 0..n {
        counts[sampler.draw(logits, None).unwrap().id as usize] += 1;
    }
    counts
}

/// Logits of the probabilities 0.1, 0.4, 0.3, 0.2.
fn logits() -> Vec<f32> {
    [0.1_f32, 0.4, 0.3, 0.2].map(f32::ln).to_vec()
}

/// Fails unless draws follow `weights`, which need not sum to 1; what has weight 0 must never come.
///
/// The bound on chi-square is far beyond its mean (the degrees of freedom): right draws miss it once in a million.
fn follows(sampling: Sampling, logits: &[f32], weights: &[f64]) {
    let (seed, n) = (sampling.seed, 20_000);
    let counts = counts(&mut Sampler::new(&sampling, usize::MAX), logits, n);
    let sum: f64 = weights.iter().sum();
    let (mut chi_square, mut freedom) = (0.0, -1.0);
    for (&count, weight) in counts.iter().zip(weights) {
        let expected = weight / sum * n as f64;
        if expected == 0.0 {
            assert_eq!(count, 0, "{counts:?} for {weights:?} (seed {seed})");
            continue;
        }
        chi_square += (count as f64 - expected).powi(2) / expected;
        freedom += 1.0;
    }
    let bound = freedom + 7.0 * (2.0_f64 * freedom).sqrt() + 20.0;
    assert!(chi_square < bound, "chi-square {chi_square} of {counts:?} for {weights:?} (seed {seed})");
}

#[test]
fn temperature_zero_is_greedy() {
    assert_eq!(counts(&mut sampler(0.0, 1, 0.1, 1), &logits(), 50), [0, 50, 0, 0]);
    assert_eq!(sampler(f32::NAN, 0, 1.0, 1).draw(&logits(), None).unwrap().id, 1);
}

#[test]
fn each_step_alone() {
    let seed = any_seed();
    follows(open(seed), &logits(), &[1.0, 4.0, 3.0, 2.0]);
    // At half the temperature probabilities are squared, at twice it is their roots.
    follows(Sampling { temperature: 0.5, ..open(seed) }, &logits(), &[1.0, 16.0, 9.0, 4.0]);
    let roots = [1.0_f64, 4.0, 3.0, 2.0].map(f64::sqrt);
    follows(Sampling { temperature: 2.0, ..open(seed) }, &logits(), &roots);
    follows(Sampling { top_k: 2, ..open(seed) }, &logits(), &[0.0, 4.0, 3.0, 0.0]);
    follows(Sampling { top_k: 1, ..open(seed) }, &logits(), &[0.0, 1.0, 0.0, 0.0]);
    // More than there are is all.
    follows(Sampling { top_k: 99, ..open(seed) }, &logits(), &[1.0, 4.0, 3.0, 2.0]);
    follows(Sampling { top_p: 0.65, ..open(seed) }, &logits(), &[0.0, 4.0, 3.0, 0.0]);
    follows(Sampling { top_p: 0.75, ..open(seed) }, &logits(), &[0.0, 4.0, 3.0, 2.0]);
    follows(Sampling { top_p: 0.0, ..open(seed) }, &logits(), &[0.0, 1.0, 0.0, 0.0]);
    follows(Sampling { min_p: 0.49, ..open(seed) }, &logits(), &[0.0, 4.0, 3.0, 2.0]);
    follows(Sampling { min_p: 0.6, ..open(seed) }, &logits(), &[0.0, 4.0, 3.0, 0.0]);
    follows(Sampling { min_p: 1.0, ..open(seed) }, &logits(), &[0.0, 1.0, 0.0, 0.0]);
    let biased = vec![(0, 4.0_f32.ln()), (2, f32::NEG_INFINITY), (77, 5.0)];
    follows(Sampling { logit_bias: biased, ..open(seed) }, &logits(), &[4.0, 4.0, 0.0, 2.0]);
}

#[test]
fn the_steps_together_come_in_their_order() {
    let seed = any_seed();
    let weights = [1.0_f64, 4.0, 3.0, 2.0];
    // Temperature comes before top-p: at 0.5 the squares are 16, 9, 4, 1 of 30, and the first two make 0.83.
    let cold = Sampling { temperature: 0.5, top_p: 0.8, ..open(seed) };
    follows(cold, &logits(), &[0.0, 16.0, 9.0, 0.0]);
    // Top-p counts within the top-k: 4 of 7 is 0.57.
    follows(Sampling { top_k: 2, top_p: 0.55, ..open(seed) }, &logits(), &[0.0, 1.0, 0.0, 0.0]);
    // Min-p comes after top-p, which counts what min-p is about to take.
    follows(Sampling { top_p: 0.75, min_p: 0.6, ..open(seed) }, &logits(), &[0.0, 4.0, 3.0, 0.0]);
    // A bias comes before top-k.
    let lifted = Sampling { logit_bias: vec![(0, 100.0)], top_k: 1, ..open(seed) };
    follows(lifted, &logits(), &[1.0, 0.0, 0.0, 0.0]);
    let all = Sampling { top_k: 3, top_p: 0.99, min_p: 0.1, ..open(seed) };
    follows(all, &logits(), &[0.0, weights[1], weights[2], weights[3]]);
}

#[test]
fn a_large_vocabulary_follows_its_distribution_too() {
    // Probabilities of 1/2, 1/4, … spread over 5000 logits whose others are next to impossible.
    let mut row = vec![-60.0_f32; 5_000];
    let mut weights = vec![0.0; 5_000];
    for rank in 0..10 {
        row[rank * 499 + 3] = -(rank as f32) * std::f32::consts::LN_2;
        weights[rank * 499 + 3] = 0.5_f64.powi(rank as i32);
    }
    let seed = any_seed();
    follows(open(seed), &row, &weights);
    follows(Sampling { top_k: 40, ..open(seed) }, &row, &weights);
    let likely: Vec<f64> = weights.iter().map(|&weight| if weight > 0.1 { weight } else { 0.0 }).collect();
    follows(Sampling { top_p: 0.9, ..open(seed) }, &row, &likely);
    // Even: the nucleus needs far more than the first that are sorted.
    let even = vec![0.5_f32; 1_000];
    let mut kept = vec![1.0; 900];
    kept.resize(1_000, 0.0);
    follows(Sampling { top_p: 0.9, ..open(seed) }, &even, &kept);
}

#[test]
fn penalties_see_what_was_accepted() {
    let penalised = Sampling { repeat_penalty: 10.0, ..Sampling::default() };
    let mut sampler = Sampler::new(&penalised, usize::MAX);
    let row = [2.0, 3.0, 1.0, 0.5];
    let mut drawn = Vec::new();
    for _ in 0..4 {
        let id = sampler.draw(&row, None).unwrap().id;
        // What is drawn and not accepted costs nothing.
        assert_eq!(sampler.draw(&row, None).unwrap().id, id);
        sampler.accept(id);
        drawn.push(id);
    }
    assert_eq!(drawn, [1, 0, 2, 3]);
    assert_eq!(sampler.draw(&row, None).unwrap().id, 1);
}

#[test]
fn a_seed_draws_the_same_again_and_another_seed_not() {
    let draw = |seed| {
        let mut sampler = sampler(1.0, 3, 0.95, seed);
        (0..64).map(|_| sampler.draw(&logits(), None).unwrap().id).collect::<Vec<_>>()
    };
    assert_eq!(draw(11), draw(11));
    assert_ne!(draw(11), draw(12));
}

#[test]
fn logits_that_are_no_numbers_are_never_drawn() {
    let broken = [f32::NAN, f32::INFINITY, 0.5, f32::NEG_INFINITY];
    assert_eq!(counts(&mut sampler(1.0, 0, 1.0, 5), &broken, 100), [0, 0, 100, 0]);
    assert_eq!(counts(&mut sampler(1.0, 2, 1.0, 5), &broken, 100), [0, 0, 100, 0]);
    for temperature in [0.0, 1.0] {
        assert_eq!(sampler(temperature, 0, 1.0, 5).draw(&[f32::NAN; 3], None), None);
        assert_eq!(sampler(temperature, 2, 1.0, 5).draw(&[f32::NAN; 3], None), None);
        assert_eq!(sampler(temperature, 2, 1.0, 5).draw(&[], None), None);
    }
}

#[test]
fn what_is_forbidden_is_never_drawn() {
    let seed = any_seed();
    let row: Vec<f32> = (0..100).map(|id| id as f32 / 10.0).collect();
    let mut allowed = [0_u32; 3];
    for id in [0, 31, 32, 70] {
        allowed[id / 32] |= 1 << (id % 32);
    }
    for temperature in [0.0, 5.0] {
        let mut sampler = sampler(temperature, 0, 1.0, seed);
        let drawn: Vec<u32> = (0..200).map(|_| sampler.draw(&row, Some(&allowed)).unwrap().id).collect();
        assert!(drawn.iter().all(|id| [0, 31, 32, 70].contains(id)), "{drawn:?} (seed {seed})");
        // Beyond the mask's end nothing is allowed, though 99 is likeliest.
        assert_eq!(sampler.draw(&row, Some(&[])), None);
        assert_eq!(sampler.draw(&row, Some(&[0; 4])), None);
        assert_eq!(sampler.draw(&row, Some(&[u32::MAX, 0, 0, 1 << 3])).unwrap().id / 32 % 3, 0);
    }
    let never = Sampling { logit_bias: vec![(0, f32::NEG_INFINITY), (1, f32::NEG_INFINITY)], ..open(seed) };
    assert_eq!(Sampler::new(&never, 2).draw(&logits(), None), None);
}

#[test]
fn padding_is_never_drawn() {
    let padded = [0.0, 1.0, 50.0];
    for temperature in [0.0, 1.0, 10.0] {
        let mut sampler = Sampler::new(&Sampling { temperature, logprobs: Some(3), ..open(any_seed()) }, 2);
        for _ in 0..200 {
            let drawn = sampler.draw(&padded, None).unwrap();
            assert!(drawn.id < 2 && drawn.likelihood.unwrap().top.len() == 2);
        }
    }
}

#[test]
fn probabilities_are_the_models_own() {
    let asked = Sampling {
        logprobs: Some(2),
        temperature: 0.1,
        logit_bias: vec![(0, 100.0)],
        repeat_penalty: 2.0,
        ..Sampling::default()
    };
    let drawn = Sampler::new(&asked, usize::MAX).draw(&logits(), None).unwrap();
    let Drawn { id, likelihood: Some(likelihood) } = drawn else { panic!("no likelihood") };
    let near = |logprob: f32, probability: f32| (logprob.exp() - probability).abs() < 1e-6;
    assert!(id == 0 && near(likelihood.logprob, 0.1), "{likelihood:?}");
    assert!(matches!(likelihood.top[..], [(1, a), (2, b)] if near(a, 0.4) && near(b, 0.3)), "{likelihood:?}");
    let none = Sampler::new(&Sampling { logprobs: Some(0), ..asked }, usize::MAX).draw(&logits(), None).unwrap();
    assert_eq!(none.likelihood.unwrap().top, []);
}

#[test]
fn draws_allocate_nothing_after_the_first() {
    let seed = any_seed();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let rows: Vec<Vec<f32>> =
        (0..20).map(|_| (0..10_000).map(|_| (rng.next_u32() % 1_000) as f32 / 50.0).collect()).collect();
    let asked = Sampling { temperature: 0.8, repeat_penalty: 1.1, seed, ..Sampling::default() };
    let mut sampler = Sampler::new(&asked, usize::MAX);
    let allowed = vec![u32::MAX; 313];
    let mut held = None;
    for row in rows.iter().cycle().take(100) {
        let id = sampler.draw(row, Some(&allowed)).unwrap().id;
        sampler.accept(id);
        let now = (sampler.row.as_ptr(), sampler.row.capacity(), sampler.candidates.capacity());
        assert_eq!(*held.get_or_insert(now), now, "seed {seed}");
    }
}
