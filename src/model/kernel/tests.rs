//! Every kind of blocks on every level of instructions, against plain arithmetic.

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

use super::*;

/// Another one at each run.
fn seed() -> u64 {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).unwrap();
    u64::from_le_bytes(bytes)
}

/// A number from -1 to 1.
fn random(rng: &mut ChaCha8Rng) -> f32 {
    rng.next_u32() as f32 / (1 << 31) as f32 - 1.0
}

const KINDS: [TensorType; 8] = [
    TensorType::Q4_0,
    TensorType::Q4_1,
    TensorType::Q5_0,
    TensorType::Q5_1,
    TensorType::Q8_0,
    TensorType::Q4K,
    TensorType::Q5K,
    TensorType::Q6K,
];

/// Where a block has floats of 16 bits.
fn floats(kind: TensorType) -> &'static [usize] {
    match kind {
        TensorType::Q4_1 | TensorType::Q5_1 | TensorType::Q4K | TensorType::Q5K => &[0, 2],
        TensorType::Q6K => &[208],
        _ => &[0],
    }
}

/// Rows of blocks, random but for their floats, which are of a size that weights have.
fn weights(kind: TensorType, rows: usize, row_len: usize, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = vec![0; kind.bytes(rows * row_len).unwrap()];
    rng.fill_bytes(&mut bytes);
    for block in bytes.chunks_exact_mut(kind.unit_bytes()) {
        for &at in floats(kind) {
            block[at..at + 2].copy_from_slice(&half::f16::from_f32(random(rng) * 0.1).to_le_bytes());
        }
    }
    bytes
}

/// What `kernel` makes of it, in turn and with the tasks in reverse.
fn product(kernel: Kernel, parts: &[Matrix<'_>], values: &[f32], bias: Option<&[f32]>) -> Vec<f32> {
    let row_len = parts[0].row_len;
    let (mut activations, workspace) = (Activations::default(), Workspace::default());
    kernel.round(values, row_len, &mut activations);
    let columns: usize = parts.iter().map(|part| part.rows).sum();
    let mut out = vec![f32::NAN; values.len() / row_len * columns];
    let done = kernel.multiply(parts, &activations, bias, &mut out, &workspace, |tasks, perform| {
        (0..tasks).rev().for_each(perform);
        Ok::<(), ()>(())
    });
    done.unwrap();
    out
}

/// The same of the values as they are rounded, and how large the terms of each sum are together.
fn expected(parts: &[Matrix<'_>], values: &[f32], bias: Option<&[f32]>) -> (Vec<f64>, Vec<f64>) {
    let row_len = parts[0].row_len;
    let rounded: Vec<f64> = values
        .as_chunks::<BLOCK>()
        .0
        .iter()
        .flat_map(|block| {
            let largest = block.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
            // By the kernels' formula: another one rounds a value in half a million to the other side.
            let inverse = if largest > 0.0 { 127.0 / largest } else { 0.0 };
            block.map(|value| f64::from((value * inverse).round_ties_even() * (largest / 127.0)))
        })
        .collect();
    let (mut sums, mut sizes) = (Vec::new(), Vec::new());
    for values in rounded.chunks(row_len) {
        let mut column = 0;
        for part in parts {
            for row in 0..part.rows {
                let mut weights = vec![0.0; row_len];
                part.kind.decode(part.weights_of(row).unwrap(), &mut weights);
                let terms = || weights.iter().zip(values).map(|(weight, value)| f64::from(*weight) * value);
                sums.push(terms().sum::<f64>() + bias.map_or(0.0, |bias| f64::from(bias[column])));
                sizes.push(terms().map(f64::abs).sum::<f64>() + 1e-3);
                column += 1;
            }
        }
    }
    (sums, sizes)
}

fn compare(kernel: Kernel, parts: &[Matrix<'_>], values: &[f32], bias: Option<&[f32]>, what: &str) {
    let found = product(kernel, parts, values, bias);
    let (sums, sizes) = expected(parts, values, bias);
    for (i, ((found, sum), size)) in found.iter().zip(&sums).zip(&sizes).enumerate() {
        let error = (f64::from(*found) - sum).abs() / size;
        assert!(error < 1e-5, "{what}, {kernel:?}, product {i}: {found}, not {sum}");
    }
}

#[test]
fn products_are_those_of_plain_arithmetic() {
    let seed = seed();
    println!("seed {seed}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for kernel in Kernel::all() {
        for kind in KINDS {
            // Odd numbers of blocks and rows, one row of activations and several, and more than a tile is deep.
            for (rows, row_len, given) in [(1, 256, 1), (37, 768, 2), (50, 1280, 3), (70, 256, 9), (33, 2304, 6)] {
                let row_len = if kind.granularity() == BLOCK { row_len + BLOCK } else { row_len };
                let weights = weights(kind, rows, row_len, &mut rng);
                let matrix = Matrix { kind, rows, row_len, weights: &weights, order: RowOrder::Stored };
                let values: Vec<f32> = (0..given * row_len).map(|_| random(&mut rng)).collect();
                compare(kernel, &[matrix], &values, None, &format!("{kind:?} of {rows} rows of {row_len}"));
            }
        }
    }
}

#[test]
fn parts_stand_side_by_side_with_their_bias_and_in_their_order() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let row_len = 512;
    let of = |kind, rows, rng: &mut ChaCha8Rng| weights(kind, rows, row_len, rng);
    let (query, value) = (of(TensorType::Q4K, 64, &mut rng), of(TensorType::Q6K, 24, &mut rng));
    let order = RowOrder::RotaryHalves { head_dim: 16 };
    let parts = [
        Matrix { kind: TensorType::Q4K, rows: 64, row_len, weights: &query, order },
        Matrix { kind: TensorType::Q6K, rows: 24, row_len, weights: &value, order: RowOrder::Stored },
    ];
    let bias: Vec<f32> = (0..88).map(|_| random(&mut rng)).collect();
    for kernel in Kernel::all() {
        for given in [1, 5] {
            let values: Vec<f32> = (0..given * row_len).map(|_| random(&mut rng)).collect();
            compare(kernel, &parts, &values, Some(&bias), "two parts");
        }
    }
}

#[test]
fn the_widest_weights_and_activations_do_not_overflow() {
    let row_len = 256;
    for kernel in Kernel::all() {
        for kind in KINDS {
            for byte in [0x00, 0x7f, 0x80, 0xff] {
                let mut weights = vec![byte; kind.bytes(row_len).unwrap()];
                for block in weights.chunks_exact_mut(kind.unit_bytes()) {
                    for &at in floats(kind) {
                        block[at..at + 2].copy_from_slice(&half::f16::ONE.to_le_bytes());
                    }
                }
                let matrix = Matrix { kind, rows: 1, row_len, weights: &weights, order: RowOrder::Stored };
                for sign in [1.0, -1.0] {
                    compare(kernel, &[matrix], &vec![sign; 4 * row_len], None, &format!("{kind:?} of {byte:#x}"));
                    compare(kernel, &[matrix], &vec![sign; row_len], None, &format!("{kind:?} of {byte:#x}"));
                }
            }
        }
    }
}

#[test]
fn infinities_and_nan_show_in_the_products() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let weights = weights(TensorType::Q4K, 4, 256, &mut rng);
    let matrix = Matrix { kind: TensorType::Q4K, rows: 4, row_len: 256, weights: &weights, order: RowOrder::Stored };
    for kernel in Kernel::all() {
        for given in [1, 4] {
            for (at, odd) in (0..64).flat_map(|at| [f32::INFINITY, -f32::NAN, f32::NAN].map(|odd| (at, odd))) {
                let mut values = vec![0.5; given * 256];
                values[at] = odd;
                let found = product(kernel, &[matrix], &values, None);
                assert!(found[..4].iter().all(|product| !product.is_finite()), "{odd} at {at}: {found:?}");
                assert!(found[4..].iter().all(|product| product.is_finite()), "{odd} at {at}: {found:?}");
            }
            let found = product(kernel, &[matrix], &vec![0.0; given * 256], None);
            assert!(found.iter().all(|product| *product == 0.0), "{found:?}");
        }
    }
}
