# T19: widths and precisions that ask for gigabytes
# expect: ok
# prints: HELD: 0
tries = (lambda: f"{1:>9999999999}", lambda: "%2000000000d" % 1, lambda: "{:.2147483646f}".format(1.0), lambda: "x".ljust(10 ** 10),
         lambda: "{:{w}}".format(1, w=10 ** 18), lambda: "%.*f" % (10 ** 9 * 2, 1.0), lambda: b"%2000000000d" % 1, lambda: "a\t".expandtabs(2 ** 31 - 2),
         lambda: "".join(["x" * 10 ** 6]) * 10 ** 6, lambda: (10 ** 6).to_bytes(2 ** 31 - 1, "big"), lambda: "x".zfill(2 ** 31 - 1))
for i, f in enumerate(tries):
    try:
        print("FAIL: got", i, len(f()))
    except (MemoryError, ValueError, OverflowError) as e:
        print("HELD:", i, type(e).__name__)
