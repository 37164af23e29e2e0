import locale

print(locale.setlocale(locale.LC_ALL, "C"))
print(locale.getlocale(locale.LC_NUMERIC))
for name in ("xx_YY.UTF-8", "nowhere"):
    try:
        print(name, locale.setlocale(locale.LC_ALL, name))
    except locale.Error as error:
        print(name, error)
