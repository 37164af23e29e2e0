# Number formatting in all the ways that people reach for.
for value in (0, 1, -1, 255, 1_000_000, -123_456_789):
    print(f"{value:d} {value:5d} {value:<12d}| {value:^12d}| {value:+,d} {value:#x} {value:#o} {value:#b} {value:012_b}"[:120])
for value in (0.0, 1.5, -2.25, 1e-7, 123456.789, 1e22, float("inf"), float("-inf"), float("nan")):
    print(f"{value!r} {value:.3f} {value:e} {value:g} {value:%} {value:,.2f} {value:10.1f}| {value:+.2e} {value:n}")
print("%5d|%-5d|%05d|%+d|%x|%o|%e|%g|%.3s|%r|%%" % (42, 42, 42, 42, 255, 8, 12345.678, 0.0001, "abcdef", "q"))
print("{0} {1} {0} {name!r:>10} {items[1]} {z.real}".format(1, 2, name="x", items=[3, 4], z=5 + 6j))
print(f"{3.14159:{8}.{3}} {'centred':*^15} {True:d} {1 + 2j:.1f} {'ab':>{5}}")
print(f"{10 ** 30:,} {0.1 + 0.2} {1 / 3:.20f} {2 ** 0.5!r}")
for spec in ("d", "q", ".2d", ",x"):
    try:
        print(format(12, spec))
    except ValueError as error:
        print(spec, type(error).__name__, error)
x = 7
print(f"{x=} {x * 2 = } {x!r:>4} {{literal}} {x:>{x}}")
