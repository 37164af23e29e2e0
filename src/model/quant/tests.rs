//! Every type against the reference's own decoding, and what 8 bits make of it against the plain decoding.

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

use super::*;

/// Random blocks and what the Python package `gguf` says they are; `dequantized.py` beside it wrote it.
fn references() -> Vec<(TensorType, Vec<u8>, Vec<f32>)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/dequantized.json");
    let cases: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let bytes = |hex: &str| -> Vec<u8> {
        hex.as_bytes().chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
    };
    let read = |case: &serde_json::Value| {
        let kind = TYPES.iter().find(|facts| facts.name == case["type"]).unwrap().kind;
        let weights = bytes(case["weights"].as_str().unwrap());
        let weights = weights.chunks(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect();
        (kind, bytes(case["raw"].as_str().unwrap()), weights)
    };
    cases.as_array().unwrap().iter().map(read).collect()
}

#[test]
fn every_type_decodes_as_the_reference_does() {
    let references = references();
    for kind in TensorType::all() {
        let (_, raw, expected) = references.iter().find(|(of, ..)| *of == kind).expect("a reference of every type");
        let mut weights = vec![0.0; expected.len()];
        assert_eq!(kind.bytes(weights.len()), Some(raw.len()), "{kind:?}");
        kind.decode(raw, &mut weights);
        // `scale × q + least` may be rounded once or twice, by the compiler's choice on either side.
        let largest = expected.iter().fold(0.0_f32, |largest, weight| largest.max(weight.abs()));
        for (i, (ours, theirs)) in weights.iter().zip(expected).enumerate() {
            assert!((ours - theirs).abs() <= largest * 1e-6, "{kind:?} weight {i}: {ours}, not {theirs}");
        }
    }
}

#[test]
fn the_table_is_in_the_enums_order() {
    for (i, facts) in TYPES.iter().enumerate() {
        assert_eq!(facts.kind as usize, i);
    }
}

/// One unit with sane scales and random weights.
fn unit(kind: TensorType, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let random = |rng: &mut ChaCha8Rng| rng.next_u32() as f32 / u32::MAX as f32;
    let mut bytes = vec![0; kind.unit_bytes()];
    rng.fill_bytes(&mut bytes);
    let scale = 0.01 + random(rng) * 0.05;
    let mut put = |at: usize, value: f32| bytes[at..at + 2].copy_from_slice(&f16::from_f32(value).to_le_bytes());
    match kind {
        TensorType::F32 => bytes = (0..BLOCK).flat_map(|_| (random(rng) - 0.5).to_le_bytes()).collect(),
        TensorType::F16 => bytes = (0..BLOCK).flat_map(|_| f16::from_f32(random(rng) - 0.5).to_le_bytes()).collect(),
        TensorType::Bf16 => bytes = (0..BLOCK).flat_map(|_| bf16::from_f32(random(rng) - 0.5).to_le_bytes()).collect(),
        TensorType::Q4_1 | TensorType::Q5_1 => {
            let levels = if kind == TensorType::Q4_1 { 15.0 } else { 31.0 };
            put(0, scale);
            // Now and then all weights are on one side of zero.
            put(2, -scale * levels * (random(rng) * 1.4 - 0.2));
        }
        TensorType::Q4K | TensorType::Q5K => {
            put(0, scale);
            put(2, scale * 8.0 * random(rng));
        }
        TensorType::Q2K => {
            put(80, scale);
            put(82, scale * 2.0 * random(rng));
        }
        TensorType::Q3K => put(108, scale),
        TensorType::Q6K => put(208, scale),
        TensorType::Q4_0 | TensorType::Q5_0 | TensorType::Q8_0 | TensorType::Iq4Nl | TensorType::Iq4Xs => put(0, scale),
    }
    bytes
}

/// The most that a weight may move when 32 of them, `exact`, are packed; `step` is their type's own.
fn allowed(kind: TensorType, exact: &[f32], step: f32, packed: f32) -> f32 {
    let (low, high) = exact.iter().fold((0.0_f32, 0.0_f32), |(low, high), &w| (low.min(w), high.max(w)));
    let holds_zero = exact.iter().any(|&w| w <= 0.0) && exact.iter().any(|&w| w >= 0.0);
    match kind {
        TensorType::Q8_0
        | TensorType::Q4_0
        | TensorType::Q5_0
        | TensorType::Q3K
        | TensorType::Iq4Nl
        | TensorType::Iq4Xs => 0.0,
        TensorType::Q4_1 | TensorType::Q4K if holds_zero => step / 34.0,
        TensorType::Q5_1 | TensorType::Q5K if holds_zero => step / 16.0,
        TensorType::Q4_1 | TensorType::Q4K | TensorType::Q5_1 | TensorType::Q5K => packed / 2.0,
        TensorType::Q2K => (high - low) / 510.0,
        TensorType::Q6K | TensorType::F32 | TensorType::F16 | TensorType::Bf16 => high.max(-low) / 254.0,
    }
}

#[test]
fn eight_bits_say_the_same_as_the_plain_decoding() {
    let seed = 7;
    println!("seed {seed}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for kind in TensorType::all() {
        let (mut worst, mut exactly) = (0.0_f32, 0);
        for round in 0..300 {
            let raw = unit(kind, &mut rng);
            let (mut exact, mut bytes) = (vec![0.0; kind.unit()], vec![0; kind.unit()]);
            kind.decode(&raw, &mut exact);
            let mut affines = Vec::new();
            kind.to_8_bits(&raw, &mut bytes, |affine| affines.push(affine));
            assert_eq!(affines.len(), kind.unit() / BLOCK);
            for (i, Affine { scale, zero }) in affines.into_iter().enumerate() {
                assert!(!kind.is_symmetric() || zero == SYMMETRIC);
                let (exact, bytes) = (&exact[i * BLOCK..][..BLOCK], &bytes[i * BLOCK..][..BLOCK]);
                let step = match kind {
                    TensorType::F32 | TensorType::F16 | TensorType::Bf16 => 0.0,
                    _ => Unpacked::of(kind, &raw).grid(i * BLOCK).scale(),
                };
                let largest = exact.iter().fold(0.0_f32, |largest, weight| largest.max(weight.abs()));
                let allowed = allowed(kind, exact, step, scale) + largest * 1e-6;
                let ours = bytes.iter().map(|&q| scale * (f32::from(q) - f32::from(zero)));
                let off = exact.iter().zip(ours).map(|(weight, ours)| (weight - ours).abs()).fold(0.0, f32::max);
                assert!(off <= allowed, "{kind:?} seed {seed} round {round}: off by {off}, allowed {allowed}");
                worst = worst.max(off / largest.max(f32::MIN_POSITIVE));
                exactly += usize::from(off <= largest * 1e-6);
            }
        }
        println!("{kind:?}: at most {worst:.5} of the largest weight of 32, {exactly} blocks exact");
    }
}

#[test]
fn four_bits_are_the_same_numbers_in_another_order() {
    let seed = 11;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for round in 0..100 {
        let raw = unit(TensorType::Q4_0, &mut rng);
        let (mut exact, mut packed) = ([0.0; BLOCK], [0; BLOCK / 2]);
        TensorType::Q4_0.decode(&raw, &mut exact);
        let scale = q4_0_to_4_bits(&raw, &mut packed);
        for (i, weight) in exact.iter().enumerate() {
            let q = packed[i / 2] >> (i % 2 * 4) & 15;
            assert_eq!(*weight, scale * (f32::from(q) - 8.0), "seed {seed} round {round} weight {i}");
        }
    }
}

#[test]
fn a_flat_block_survives() {
    // Scale 0: every weight equals the minimum.
    let mut bytes = f16::from_f32(0.0).to_le_bytes().to_vec();
    bytes.extend(f16::from_f32(-0.5).to_le_bytes());
    bytes.extend([0xff; 16]);
    let mut out = [0; BLOCK];
    let mut affine = Affine { scale: 0.0, zero: 0 };
    TensorType::Q4_1.to_8_bits(&bytes, &mut out, |found| affine = found);
    for q in out {
        let weight = affine.scale * (f32::from(q) - f32::from(affine.zero));
        assert!((weight + 0.5).abs() < 1e-3, "{weight}");
    }
}

/// Scales that are no number make weights that are none; packing them must not fail.
#[test]
fn nonsense_is_packed_to_nonsense() {
    for kind in TensorType::all() {
        for byte in [0xff, 0x7c, 0x80, 0x00] {
            let mut out = vec![0; kind.unit()];
            kind.to_8_bits(&vec![byte; kind.unit_bytes()], &mut out, |_| ());
        }
    }
}

#[test]
fn unknown_types_name_the_supported_ones() {
    let error = TensorType::from_code(16, "blk.0.attn_q.weight").unwrap_err();
    let text = error.to_string();
    assert!(text.contains("ggml type 16 (IQ2_XXS)") && text.contains("Q8_0") && text.contains("IQ4_XS"), "{text}");
    assert!(error.advice().unwrap().contains("Q8_0"));
    assert!(TensorType::from_code(4, "t").unwrap_err().to_string().contains("ggml type 4;"));
}
