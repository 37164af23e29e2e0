# R: eryx GHSA-8h84-8vq7-j6cv: what a guest prints, shows and raises is kept by the host without a bound
# expect: error
# dropped: stdout
# dropped: stderr
import sys
big = "x" * (30 << 20)
for _ in range(5):
    print(big)
    print(big, file=sys.stderr)
    try:
        display(big)
    except RuntimeError:
        pass
raise ValueError(big)
