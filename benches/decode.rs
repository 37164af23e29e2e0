//! Tokens a second of the embedded model with two threads: a prompt of 512, then 128 more one by one.
//!
//! `cargo bench --bench decode`

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use slm_code_interpreter::model::parts::{LocalModel, Runtime, Weights, artefacts, build};
use slm_code_interpreter::{Cancel, Config, Overrides, Progress};

const PROMPT: u32 = 512;
const REPLY: u32 = 128;
const THREADS: usize = 2;

fn decode(criterion: &mut Criterion) {
    let (config, cancel) = (Config::resolve(Overrides::default()).unwrap(), Cancel::new());
    let (library, gguf) = artefacts(&config, &Progress::default(), &cancel).unwrap();
    let folder = tempfile::tempdir().unwrap();
    build(&gguf, folder.path(), "smollm2", Weights::EightBits, &Progress::default(), &cancel).unwrap();
    let runtime = Runtime::load(&library).unwrap();
    let mut model = LocalModel::open(folder.path(), &runtime, 2048, THREADS).unwrap();
    let context = model.context();
    let ids: Vec<u32> = (0..PROMPT).map(|i| 20 + i * 7919 % 40_000).collect();

    let mut group = criterion.benchmark_group("smollm2-135m");
    group.sample_size(10);
    group.throughput(Throughput::Elements(PROMPT.into()));
    group.bench_function("prefill", |bencher| {
        bencher.iter(|| {
            context.clear();
            assert!(context.prefill(black_box(&ids), &cancel).unwrap().is_some());
        });
    });
    group.throughput(Throughput::Elements(REPLY.into()));
    group.bench_function("decode", |bencher| {
        bencher.iter_custom(|rounds| {
            let mut spent = Duration::ZERO;
            for _ in 0..rounds {
                context.clear();
                context.prefill(&ids, &cancel).unwrap();
                let start = Instant::now();
                for _ in 0..REPLY {
                    let logits = context.logits(0);
                    let next = (0..logits.len()).max_by(|&a, &b| logits[a].total_cmp(&logits[b])).unwrap();
                    context.append(&[next as u32], 1).unwrap();
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
