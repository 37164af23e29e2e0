//! Tokens a second of the embedded model with two threads: a prompt of 512, then 128 more one by one.
//!
//! `cargo bench --bench decode`

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use slm_code_interpreter::model::parts::{OnnxModel, Runtime, Weights, artefacts, build};
use slm_code_interpreter::{Cancel, Config, Overrides, Progress};

const PROMPT: u32 = 512;
const REPLY: u32 = 128;
const THREADS: usize = 2;

fn decode(criterion: &mut Criterion) {
    let (config, cancel) = (Config::resolve(Overrides::default()).unwrap(), Cancel::new());
    let (library, gguf) = artefacts(&config, &Progress::default(), &cancel).unwrap();
    let folder = tempfile::tempdir().unwrap();
    build(&gguf, folder.path(), "smollm2", Weights::Blocks, &Progress::default(), &cancel).unwrap();
    let runtime = Runtime::load(&library).unwrap();
    let mut model = OnnxModel::open(folder.path(), &runtime, 2048, THREADS).unwrap();
    let decoder = model.decoder();
    let ids: Vec<u32> = (0..PROMPT).map(|i| 20 + i * 7919 % 40_000).collect();

    let mut group = criterion.benchmark_group("smollm2-135m");
    group.sample_size(10);
    group.throughput(Throughput::Elements(PROMPT.into()));
    group.bench_function("prefill", |bencher| {
        bencher.iter(|| {
            decoder.clear();
            assert!(decoder.prefill(black_box(&ids), &cancel).unwrap());
        });
    });
    group.throughput(Throughput::Elements(REPLY.into()));
    group.bench_function("decode", |bencher| {
        bencher.iter_custom(|rounds| {
            let mut spent = Duration::ZERO;
            for _ in 0..rounds {
                decoder.clear();
                decoder.prefill(&ids, &cancel).unwrap();
                let start = Instant::now();
                for _ in 0..REPLY {
                    let logits = decoder.logits();
                    let next = (0..logits.len()).max_by(|&a, &b| logits[a].total_cmp(&logits[b])).unwrap();
                    decoder.advance(next as u32).unwrap();
                }
                spent += start.elapsed();
            }
            spent
        });
    });
    group.finish();
}

criterion_group!(benches, decode);
criterion_main!(benches);
