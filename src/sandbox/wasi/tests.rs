//! The calls as a guest makes them, with good and bad arguments, over a memory that stands for the guest's.

use std::path::PathBuf;
use std::sync::Arc;

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

use super::abi::Memory;
use super::{Call, Done, Failure, fd, host, path, poll, process};
use crate::sandbox::budget::{Budget, MemoryCap};
use crate::sandbox::clock::Clock;
use crate::sandbox::entropy::Entropy;
use crate::sandbox::files::errno::Errno;
use crate::sandbox::files::tree::Quota;
use crate::sandbox::files::{Files, Mounts};
use crate::sandbox::guest::{Guest, Stop, World};
use crate::{Cancel, Capacity, Limits};

const WORK: u32 = 5;
const ROOT: u32 = 7;

/// Keeps 100 bytes of each stream.
fn guest(world: World) -> Guest {
    let budget = Budget::new(&Capacity::default());
    Guest::new(world, MemoryCap::new(1 << 20, budget.charge()), &Limits::default().output(100))
}

const MEMORY: usize = 64 << 10;
/// An address that the tests write results to.
const OUT: u32 = 60_000;
/// Where the first byte is that is not memory.
const END: u32 = 64 << 10;

struct Machine {
    memory: Vec<u8>,
    guest: Guest,
    /// Of the last call, in fuel.
    cost: u64,
}

impl Machine {
    fn new() -> Self {
        let mounts = Arc::new(Mounts::new(PathBuf::from("absent"), PathBuf::from("absent")));
        let quota = Quota { bytes: 100_000, entries: 20, depth: 4 };
        let files = Files::new(mounts, quota, 8, 0);
        let world =
            World { files, clock: Clock::counted(crate::Metering::Wasmtime, 0), entropy: Entropy::seeded(7, 0) };
        Self { memory: vec![0; MEMORY], guest: guest(world), cost: 0 }
    }

    fn call(&mut self, work: impl FnOnce(&mut Call<'_>) -> Done) -> Result<(), Errno> {
        let mut call = Call { memory: Memory(&mut self.memory), guest: &mut self.guest, left: 0, cost: 0 };
        let done = work(&mut call);
        self.cost = call.cost;
        match done {
            Ok(()) => Ok(()),
            Err(Failure::Errno(errno)) => Err(errno),
            Err(Failure::Stop(stop)) => panic!("{stop}"),
        }
    }

    fn put(&mut self, at: u32, bytes: &[u8]) {
        self.memory[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
    }

    /// Records of buffers.
    fn put_buffers(&mut self, at: u32, buffers: &[(u32, u32)]) {
        for (index, (place, len)) in buffers.iter().enumerate() {
            self.put(at + 8 * index as u32, &[place.to_le_bytes(), len.to_le_bytes()].concat());
        }
    }

    fn out(&self) -> u32 {
        u32::from_le_bytes(self.memory[OUT as usize..OUT as usize + 4].try_into().unwrap())
    }

    /// Opens a file of `/work` for reading and writing.
    fn open(&mut self, name: &str) -> u32 {
        self.open_in(WORK, name)
    }

    fn open_in(&mut self, folder: u32, name: &str) -> u32 {
        self.put(0, name.as_bytes());
        let len = name.len() as u32;
        self.call(|call| path::open(call, folder, 0, 0, len, 1, u64::MAX, 0, 0, OUT)).unwrap();
        self.out()
    }

    fn text(&self, at: u32, len: u32) -> &str {
        std::str::from_utf8(&self.memory[at as usize..(at + len) as usize]).unwrap()
    }
}

#[test]
fn buffers_are_gathered_and_scattered() {
    let mut machine = Machine::new();
    let file = machine.open("f");
    machine.put(100, b"hello, world");
    machine.put_buffers(200, &[(100, 5), (0, 0), (107, 5)]);
    machine.call(|call| fd::write(call, file, 200, 3, OUT)).unwrap();
    assert_eq!(machine.out(), 10);
    machine.put_buffers(200, &[(300, 3), (310, 20)]);
    machine.call(|call| fd::pread(call, file, 200, 2, 1, OUT)).unwrap();
    assert_eq!((machine.out(), machine.text(300, 3), machine.text(310, 6)), (9, "ell", "oworld"));
    machine.call(|call| fd::read(call, file, 200, 2, OUT)).unwrap();
    assert_eq!(machine.out(), 0, "the position is at the end");
    machine.call(|call| fd::read(call, file, 0, 0, OUT)).unwrap();
    assert_eq!(machine.call(|call| fd::read(call, 99, 0, 0, OUT)), Err(Errno::Badf));
    machine.put_buffers(200, &[(100, 3)]);
    machine.call(|call| fd::pwrite(call, file, 200, 1, 2, OUT)).unwrap();
    machine.call(|call| fd::seek(call, file, 0, 0, OUT)).unwrap();
    machine.put_buffers(200, &[(300, 50)]);
    machine.call(|call| fd::read(call, file, 200, 1, OUT)).unwrap();
    assert_eq!((machine.out(), machine.text(300, 10)), (10, "hehelworld"));
}

#[test]
fn what_moves_bytes_has_its_price() {
    let mut machine = Machine::new();
    let file = machine.open("f");
    assert_eq!(machine.cost, 0);
    machine.put_buffers(200, &[(1000, 8000), (1000, 1600)]);
    machine.call(|call| fd::write(call, file, 200, 2, OUT)).unwrap();
    assert_eq!(machine.cost, 1200);
    machine.call(|call| fd::pwrite(call, file, 200, 1, 0, OUT)).unwrap();
    assert_eq!(machine.cost, 1000);
    machine.call(|call| fd::pread(call, file, 200, 2, 9000, OUT)).unwrap();
    assert_eq!(machine.cost, 75, "what is there, and not what was asked for");
    machine.call(|call| fd::write(call, 1, 200, 1, OUT)).unwrap();
    assert_eq!(machine.cost, 1000, "also of what is not kept");
    machine.call(|call| fd::readdir(call, WORK, 1000, 800, 0, OUT)).unwrap();
    assert_eq!(machine.cost, u64::from(machine.out()) / 8);
    machine.call(|call| process::random_get(call, 1000, 800)).unwrap();
    assert_eq!(machine.cost, 800);
    machine
        .call(|call| {
            host::take(call, 1000, 800, OUT, OUT);
            Ok(())
        })
        .unwrap();
    assert_eq!(machine.cost, 100);
    machine.call(|call| fd::tell(call, file, OUT)).unwrap();
    assert_eq!(machine.cost, 0);
}

#[test]
fn a_read_may_overwrite_its_own_records() {
    let mut machine = Machine::new();
    let file = machine.open("f");
    machine.put(100, &[0xff; 16]);
    machine.put_buffers(200, &[(100, 16)]);
    machine.call(|call| fd::write(call, file, 200, 1, OUT)).unwrap();
    // The first buffer lies over the second record, which then names what is not memory.
    machine.put_buffers(200, &[(208, 8), (300, 8)]);
    machine.call(|call| fd::pread(call, file, 200, 2, 0, OUT)).unwrap();
    assert_eq!(machine.out(), 8, "what was read before");
    machine.put_buffers(200, &[(200, 8), (300, 8)]);
    machine.call(|call| fd::pread(call, file, 200, 2, 0, OUT)).unwrap();
    assert_eq!((machine.out(), &machine.memory[300..308]), (16, &[0xff; 8][..]));
}

#[test]
fn a_write_that_does_not_fit_says_how_much_did() {
    let mut machine = Machine::new();
    let file = machine.open("f");
    machine.put_buffers(200, &[(0, 60_000), (0, 60_000)]);
    machine.call(|call| fd::write(call, file, 200, 2, OUT)).unwrap();
    assert_eq!(machine.out(), 100_000);
    assert_eq!(machine.call(|call| fd::write(call, file, 200, 2, OUT)), Err(Errno::Nospc));
}

#[test]
fn streams_keep_their_limit_and_take_everything() {
    let mut machine = Machine::new();
    machine.put(100, b"out");
    machine.put_buffers(200, &[(100, 3), (0, 50_000)]);
    for fd in [1, 2] {
        machine.call(|call| fd::write(call, fd, 200, 2, OUT)).unwrap();
        assert_eq!(machine.out(), 50_003);
    }
    let printed = machine.guest.stdout.take();
    assert_eq!((printed.kept, printed.dropped, &printed.text[..3]), (100, 49_903, "out"));
    assert_eq!(machine.guest.stderr.take().dropped, 49_903);
    assert_eq!(machine.call(|call| fd::write(call, 0, 200, 1, OUT)), Err(Errno::Badf));
    machine.call(|call| fd::read(call, 0, 200, 1, OUT)).unwrap();
    assert_eq!(machine.out(), 0);
}

#[test]
fn an_address_outside_memory_is_a_fault_before_anything_happens() {
    let mut machine = Machine::new();
    let file = machine.open("f");
    for bad in [END - 3, END, u32::MAX - 3, u32::MAX] {
        machine.put_buffers(200, &[(100, 3)]);
        let calls: [(&str, Result<(), Errno>); 20] = [
            ("buffers", machine.call(|call| fd::write(call, file, bad, 1, OUT))),
            ("read buffers", machine.call(|call| fd::read(call, file, bad, 1, OUT))),
            ("read", machine.call(|call| fd::read(call, file, 200, 1, bad))),
            ("fdstat", machine.call(|call| fd::fdstat_get(call, file, bad))),
            ("filestat", machine.call(|call| fd::filestat_get(call, file, bad))),
            ("prestat", machine.call(|call| fd::prestat_get(call, WORK, bad))),
            ("name", machine.call(|call| fd::prestat_dir_name(call, WORK, bad, 5))),
            ("seek", machine.call(|call| fd::seek(call, file, 0, 1, bad))),
            ("readdir", machine.call(|call| fd::readdir(call, WORK, bad, 100, 0, OUT))),
            ("readdir used", machine.call(|call| fd::readdir(call, WORK, 0, 100, 0, bad))),
            ("path", machine.call(|call| path::create_directory(call, WORK, bad, 4))),
            ("stat path", machine.call(|call| path::filestat_get(call, WORK, 0, bad, 4, OUT))),
            ("rename", machine.call(|call| path::rename(call, WORK, 0, 1, WORK, bad, 4))),
            ("open", machine.call(|call| path::open(call, WORK, 0, 0, 1, 1, 2, 0, 0, bad))),
            ("args", machine.call(|call| process::args_get(call, bad, 0))),
            ("args texts", machine.call(|call| process::args_get(call, 0, bad))),
            ("sizes", machine.call(|call| process::environ_sizes_get(call, 0, bad))),
            ("clock", machine.call(|call| process::clock_time_get(call, 0, 0, bad))),
            ("random", machine.call(|call| process::random_get(call, bad, 100))),
            ("poll", machine.call(|call| poll::poll_oneoff(call, bad, 0, 1, OUT))),
        ];
        for (name, answer) in calls {
            assert_eq!(answer, Err(Errno::Fault), "{name} at {bad}");
        }
        machine.put_buffers(200, &[(bad, 100)]);
        assert_eq!(machine.call(|call| fd::write(call, file, 200, 1, OUT)), Err(Errno::Fault), "{bad}");
        assert_eq!(machine.call(|call| fd::read(call, file, 200, 1, OUT)), Err(Errno::Fault), "{bad}");
    }
    let used = machine.guest.world.files.tree().used();
    assert_eq!((used.bytes, used.entries), (0, 1));
    assert_eq!(machine.open("f"), file + 1, "no descriptor was spent");
}

#[test]
fn arguments_and_environment_are_the_constants() {
    let mut machine = Machine::new();
    machine.call(|call| process::environ_sizes_get(call, OUT, OUT + 4)).unwrap();
    assert_eq!((machine.out(), machine.memory[OUT as usize + 4]), (3, 37));
    machine.call(|call| process::environ_get(call, 100, 200)).unwrap();
    assert_eq!(machine.text(200, 37), "TMPDIR=/tmp\0HOME=/work\0PYTHONTZPATH=\0");
    assert_eq!(machine.memory[100..112], [200, 0, 0, 0, 212, 0, 0, 0, 223, 0, 0, 0]);
    machine.call(|call| process::args_get(call, 100, 200)).unwrap();
    assert_eq!(machine.text(200, 27), "/usr/local/bin/python.wasm\0");
}

#[test]
fn counted_time_and_seeded_bytes_are_the_same_each_time() {
    let run = || {
        let mut machine = Machine::new();
        machine.guest.world.clock.begin(1000);
        let mut call = Call { memory: Memory(&mut machine.memory), guest: &mut machine.guest, left: 400, cost: 0 };
        let done = process::clock_time_get(&mut call, 1, 0, OUT).is_ok();
        (done, machine.out(), machine)
    };
    let (done, time, mut machine) = run();
    assert!(done && time == 600);
    machine.put(0, &[0; 48]);
    machine.put(24, &5_000_u64.to_le_bytes());
    machine.call(|call| poll::poll_oneoff(call, 0, 100, 1, OUT)).unwrap();
    assert_eq!((machine.out(), machine.guest.world.clock.monotonic(1000)), (1, 5_000), "a sleep is over at once");
    machine.call(|call| process::random_get(call, 0, 40)).unwrap();
    let drawn = machine.memory[..40].to_vec();
    let (.., mut again) = run();
    again.call(|call| process::random_get(call, 0, 40)).unwrap();
    assert_eq!(again.memory[..40], drawn);
    for (id, errno) in [(2, Errno::Badf), (3, Errno::Badf), (4, Errno::Inval)] {
        assert_eq!(machine.call(|call| process::clock_time_get(call, id, 0, OUT)), Err(errno));
        assert_eq!(machine.call(|call| process::clock_res_get(call, id, OUT)), Err(errno));
    }
}

#[test]
fn a_file_of_random_bytes_draws_from_the_sessions_own() {
    let mut machine = Machine::new();
    machine.call(|call| process::random_get(call, 0, 40)).unwrap();
    let drawn = machine.memory[..40].to_vec();
    let mut again = Machine::new();
    let file = again.open_in(ROOT, "dev/urandom");
    again.put_buffers(200, &[(100, 12), (112, 8)]);
    again.call(|call| fd::read(call, file, 200, 2, OUT)).unwrap();
    again.put_buffers(200, &[(120, 20)]);
    again.call(|call| fd::pread(call, file, 200, 1, 77, OUT)).unwrap();
    assert_eq!((again.out(), &again.memory[100..140]), (20, &drawn[..]));
    let null = again.open_in(ROOT, "dev/null");
    again.call(|call| fd::read(call, null, 200, 1, OUT)).unwrap();
    assert_eq!(again.out(), 0);
    again.call(|call| fd::write(call, null, 200, 1, OUT)).unwrap();
    assert_eq!(again.out(), 20);
}

#[test]
fn long_work_ends_at_a_cancel() {
    let mut machine = Machine::new();
    machine.memory = vec![0; 8 << 20];
    let cancel = Cancel::new();
    cancel.cancel();
    machine.guest.watch.cancel = cancel;
    let random = machine.open_in(ROOT, "dev/random");
    let mut stopped = |work: &dyn Fn(&mut Call<'_>) -> Done| {
        let mut call = Call { memory: Memory(&mut machine.memory), guest: &mut machine.guest, left: 0, cost: 0 };
        matches!(work(&mut call), Err(Failure::Stop(Stop::Cancelled)))
    };
    assert!(stopped(&|call| process::random_get(call, 0, 8 << 20)));
    assert!(!stopped(&|call| process::random_get(call, 0, 1000)), "what is short just ends");
    assert!(stopped(&|call| {
        call.memory.write(200, &[0, 0, 0, 0, 0, 0, 0x80, 0])?;
        fd::write(call, 1, 200, 1, OUT)
    }));
    assert!(stopped(&|call| {
        call.memory.write(200, &[0, 1, 0, 0, 0, 0, 0x70, 0])?;
        fd::read(call, random, 200, 1, OUT)
    }));
    assert!(stopped(&|call| {
        call.memory.write(0, &[0; 48])?;
        call.memory.write_u64(24, 1000)?;
        poll::poll_oneoff(call, 0, 100, 1, OUT)
    }));
}

/// What the arguments of each call in [`one`] are: `f` a descriptor, `p` a path (two words), `b` buffers (two words),
/// `r` a range (two words), `o` a result's place, `n` a small number.
const SHAPES: [&str; 34] = [
    "oo", "oo", "oo", "oo", "no", "no", "r", "oonoo", "fn", "f", "fo", "fn", "fo", "f", "fn", "fbo", "fr", "fo", "fbo",
    "fbo", "fro", "ff", "fno", "fbo", "fp", "fnpo", "fnpn", "fnpnno", "fpro", "fp", "fpfp", "fp", "fnpfp", "roo",
];

/// Arguments of that shape, some of them anything.
fn arguments(shape: &str, random: &mut ChaCha8Rng) -> [u32; 7] {
    let mut below = |bound| random.next_u32() % bound;
    let mut words = Vec::new();
    for kind in shape.chars() {
        match kind {
            'f' => words.push([5, 6, 8, 8, 9, 10, 11, 1, 7][below(9) as usize]),
            'p' => words.extend([[0, 1], [2, 1], [0, 3], [0, 6], [7, 2], [2, 4]][below(6) as usize]),
            'b' => words.extend([64 + 8 * below(3), below(3)]),
            'r' => words.extend([below(5000), below(3000)]),
            'o' => words.push(OUT + below(100)),
            _ => words.push(below(9)),
        }
    }
    words.resize(7, 0);
    for word in &mut words {
        *word = match below(40) {
            0 => below(END),
            1 => END - below(16),
            2 => u32::MAX - below(16),
            3 => below(16),
            _ => *word,
        };
    }
    std::array::from_fn(|index| words[index])
}

/// Whatever the arguments, a call answers, and stays within memory and quotas.
#[test]
fn any_arguments_are_answered() {
    let rounds = std::env::var("SLM_TEST_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(30_000);
    let mut succeeded = [false; 34];
    for seed in 0..4 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut machine = Machine::new();
        for round in 0..rounds {
            if round % 500 == 0 {
                machine = Machine::new();
            }
            // Names and buffers where the arguments point to; calls write over them.
            machine.put(0, b"a/b/../c..");
            machine.put_buffers(64, &[(5000, 100), (1000, 4000), (30_000, 20_000)]);
            let which = random.next_u32() % 34;
            let words = arguments(SHAPES[which as usize], &mut random);
            let wide = random.next_u64() >> [63, 58, 48, 40, 2, 0][random.next_u32() as usize % 6];
            let answer = machine.call(|call| one(call, which, words, wide, random.next_u64()));
            succeeded[which as usize] |= answer.is_ok();
            let used = machine.guest.world.files.tree().used();
            assert!(used.bytes <= 100_000 && used.entries <= 20, "seed {seed}, round {round}: {used:?}");
        }
        let printed = machine.guest.stdout.take();
        assert!(printed.kept <= 100, "seed {seed}");
    }
    let never: Vec<_> = (0..34).filter(|which| !succeeded[*which]).collect();
    assert_eq!(never, [28, 32, 33], "all but links and frames are reached, and what is behind them");
}

fn one(call: &mut Call<'_>, which: u32, [a, b, c, d, e, f, g]: [u32; 7], wide: u64, other: u64) -> Done {
    match which {
        0 => process::args_get(call, a, b),
        1 => process::args_sizes_get(call, a, b),
        2 => process::environ_get(call, a, b),
        3 => process::environ_sizes_get(call, a, b),
        4 => process::clock_res_get(call, a, b),
        5 => process::clock_time_get(call, a, wide, b),
        6 => process::random_get(call, a, b),
        7 => poll::poll_oneoff(call, a, b, c, d),
        8 => fd::advise(call, a, wide, other, b),
        // The folders stay open.
        9 if a < 8 => Ok(()),
        9 => fd::close(call, a),
        10 => fd::fdstat_get(call, a, b),
        11 => fd::fdstat_set_flags(call, a, b),
        12 => fd::filestat_get(call, a, b),
        13 => fd::filestat_set_size(call, a, wide),
        14 => fd::filestat_set_times(call, a, wide, other, b),
        15 => fd::pread(call, a, b, c, wide, d),
        16 => fd::prestat_dir_name(call, a, b, c),
        17 => fd::prestat_get(call, a, b),
        18 => fd::pwrite(call, a, b, c, wide, d),
        19 => fd::read(call, a, b, c, d),
        20 => fd::readdir(call, a, b, c, wide, d),
        21 if a.min(b) < 8 => Ok(()),
        21 => fd::renumber(call, a, b),
        22 => fd::seek(call, a, wide.cast_signed(), b, c),
        23 => fd::write(call, a, b, c, d),
        24 => path::create_directory(call, a, b, c),
        25 => path::filestat_get(call, a, b, c, d, e),
        26 => path::filestat_set_times(call, a, b, c, d, wide, other, e),
        27 => path::open(call, a, b, c, d, e, wide, other, f, g),
        28 => path::readlink(call, a, b, c, d, e, f),
        29 => path::remove_directory(call, a, b, c),
        30 => path::rename(call, a, b, c, d, e, f),
        31 => path::unlink_file(call, a, b, c),
        32 => path::link(call, a, b, c, d, e, f, g),
        _ => Ok(host::take(call, a, b, c, d).ok_or(Errno::Inval)?),
    }
}
