# As models write tests: unittest.main() at the end, which exits.
import sys
import unittest


def add(a, b):
    return a + b


class TestAdd(unittest.TestCase):
    def test_numbers(self):
        self.assertEqual(add(1, 2), 3)

    def test_strings(self):
        self.assertEqual(add("a", "b"), "ab")

    def test_wrong(self):
        self.assertEqual(add(1, 1), 3, "on purpose")


print("running the tests")
print(len([name for name in dir(TestAdd) if name.startswith("test")]), "tests")
print("as", __name__)
if __name__ == "__main__":
    unittest.main(argv=["first-arg"], verbosity=0)
