inventory = {"apple": {"qty": 10, "price": 0.5}, "pear": {"qty": 4, "price": 0.75}}


def buy(name, quantity):
    """Takes from the shelf; raises what is wrong."""
    if quantity <= 0:
        raise ValueError(f"quantity must be positive, not {quantity}")
    item = inventory[name]
    if item["qty"] < quantity:
        raise RuntimeError(f"only {item['qty']} of {name}")
    item["qty"] -= quantity
    return round(quantity * item["price"], 2)


for name, quantity in (("apple", 3), ("pear", 5), ("kiwi", 1), ("apple", 0), ("pear", "two")):
    try:
        print(f"{name}: {buy(name, quantity):.2f}")
    except (ValueError, RuntimeError) as error:
        print("refused:", error)
    except KeyError as error:
        print("unknown:", error)
    except TypeError as error:
        print("nonsense:", error)
    finally:
        print("left:", {k: v["qty"] for k, v in inventory.items()})
value = sum(item["qty"] * item["price"] for item in inventory.values())
print(f"{'item':<8}{'qty':>5}{'price':>8}")
for name, item in sorted(inventory.items(), key=lambda pair: -pair[1]["qty"]):
    print(f"{name:<8}{item['qty']:>5}{item['price']:>8.2f}")
print(f"worth {value:.2f}; low: {[n for n, i in inventory.items() if i['qty'] < 5]}")
print(max(inventory, key=lambda n: inventory[n]["price"]), {n: {**i, "total": i["qty"] * i["price"]} for n, i in inventory.items()})
