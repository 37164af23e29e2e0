# T22: a flood for unicode normalisation, whose output is 18 times its input
# expect: timeout | error | memory
import unicodedata
while True:
    unicodedata.normalize("NFKD", "\ufdfa" * 3_000_000)
