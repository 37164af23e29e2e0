"""Writes dequantized.json: random blocks of every supported tensor type, and what ggml's own Python package decodes.

    pip install gguf numpy && python dequantized.py > dequantized.json
"""

import json

import numpy as np
from gguf import GGMLQuantizationType as Type
from gguf import GGML_QUANT_SIZES, quants

# Where the half-precision scales lie in a block of the type, by offset.
SCALES = {
    Type.Q4_0: [0], Type.Q4_1: [0, 2], Type.Q5_0: [0], Type.Q5_1: [0, 2], Type.Q8_0: [0], Type.Q2_K: [80, 82], Type.Q3_K: [108],
    Type.Q4_K: [0, 2], Type.Q5_K: [0, 2], Type.Q6_K: [208], Type.IQ4_NL: [0], Type.IQ4_XS: [0],
}

rng = np.random.default_rng(1)
cases = []
for kind in [Type.F32, Type.F16, Type.BF16, *SCALES]:
    weights_in_block, block_bytes = GGML_QUANT_SIZES[kind]
    if kind in SCALES:
        raw = rng.integers(0, 256, (512 // weights_in_block, block_bytes), dtype=np.uint8)
        for at in SCALES[kind]:
            scales = rng.uniform(-0.1, 0.1, len(raw)).astype(np.float16)
            raw[:, at : at + 2] = scales.view(np.uint8).reshape(-1, 2)
        raw = raw.reshape(-1)
    else:
        raw = quants.quantize(rng.standard_normal(64).astype(np.float32), kind).view(np.uint8)
    weights = quants.dequantize(raw, kind).astype("<f4")
    cases.append({"type": kind.name, "raw": raw.tobytes().hex(), "weights": weights.tobytes().hex()})
print("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]")
