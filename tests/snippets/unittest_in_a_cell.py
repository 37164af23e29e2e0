import io
import unittest

def add(a, b):
    return a + b

class TestAdd(unittest.TestCase):
    def setUp(self):
        self.numbers = [1, 2]

    def test_numbers(self):
        self.assertEqual(add(*self.numbers), 3)

    def test_texts(self):
        self.assertEqual(add("a", "b"), "ab")

    def test_mismatch(self):
        with self.assertRaises(TypeError):
            add(1, "b")

    @unittest.skip("not today")
    def test_later(self):
        self.fail()

suite = unittest.defaultTestLoader.loadTestsFromTestCase(TestAdd)
report = io.StringIO()
result = unittest.TextTestRunner(stream=report, verbosity=2).run(suite)
print(report.getvalue().splitlines()[0])
print(result.testsRun, len(result.failures), len(result.skipped))
program = unittest.main(argv=["first-arg-is-ignored"], exit=False, verbosity=0)
print(program.result.wasSuccessful())
