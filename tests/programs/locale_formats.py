import locale

print(locale.setlocale(locale.LC_ALL, "C"), locale.getlocale(), locale.localeconv()["decimal_point"], repr(locale.localeconv()["thousands_sep"]))
print(locale.format_string("%d %.2f", (1234567, 1234.5), grouping=True), locale.str(3.5), locale.atof("1.25"), locale.atoi("42"), locale.strcoll("a", "b") < 0, locale.strxfrm("abc"))
print(f"{1234567:n} {1234.5:n}", sorted(["b", "A", "a"], key=locale.strxfrm), locale.normalize("en_US"), locale.getpreferredencoding())
try:
    locale.currency(5)
except ValueError as error:
    print(error)
