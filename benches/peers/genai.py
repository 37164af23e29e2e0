"""onnxruntime-genai on one model: genai.py FOLDER PROMPT REPLY ROUNDS. Prints JSON."""

import json
import resource
import statistics
import sys
import time

import numpy as np
import onnxruntime_genai as og

path = sys.argv[1]
prompt, reply, rounds = map(int, sys.argv[2:5])
ids = np.array([20 + index * 7919 % 40000 for index in range(prompt)], np.int32)


def round_(reply):
    parameters = og.GeneratorParams(model)
    parameters.set_search_options(max_length=prompt + reply + 2, min_length=prompt + reply + 1, do_sample=False)
    generator = og.Generator(model, parameters)
    start = time.perf_counter()
    generator.append_tokens(ids)
    generator.generate_next_token()
    first = time.perf_counter()
    for _ in range(reply):
        generator.generate_next_token()
    return first - start, time.perf_counter() - first


start = time.perf_counter()
config = og.Config(path)
config.clear_providers()
model = og.Model(config)
load = time.perf_counter() - start
round_(8)
times = [round_(reply) for _ in range(rounds)]
first = statistics.median(first for first, _ in times)
print(json.dumps({
    "load_ms": load * 1e3, "prefill_tokens_s": prompt / first, "first_token_ms": first * 1e3,
    "decode_tokens_s": reply / statistics.median(rest for _, rest in times),
    "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 // 1_000_000,
}))
