import io
import unittest
from unittest import mock


def divide(a, b):
    return a / b


class DivideTest(unittest.TestCase):
    def setUp(self):
        self.pairs = [(6, 3, 2), (1, 4, 0.25)]

    def test_values(self):
        for a, b, expected in self.pairs:
            with self.subTest(a=a, b=b):
                self.assertEqual(divide(a, b), expected)

    def test_zero(self):
        with self.assertRaises(ZeroDivisionError):
            divide(1, 0)
        with self.assertRaisesRegex(TypeError, "unsupported"):
            divide("a", 1)

    def test_fails(self):
        self.assertEqual([1, 2, 3], [1, 2, 4])

    def test_errors(self):
        raise KeyError("oops")

    @unittest.skip("not today")
    def test_skipped(self):
        pass

    @unittest.expectedFailure
    def test_expected(self):
        self.assertTrue(False)


stream = io.StringIO()
suite = unittest.defaultTestLoader.loadTestsFromTestCase(DivideTest)
result = unittest.TextTestRunner(stream=stream, verbosity=1).run(suite)
print(result.testsRun, len(result.failures), len(result.errors), len(result.skipped), len(result.expectedFailures), result.wasSuccessful())
print(stream.getvalue().splitlines()[0], result.failures[0][1].splitlines()[-6:])
print(result.errors[0][0].id().split(".")[-1], result.skipped[0][1])
fake = mock.Mock(return_value=3)
fake.attribute.method.side_effect = [1, ValueError("second")]
print(fake(1, x=2), fake.call_args, fake.call_count, fake.attribute.method())
try:
    fake.attribute.method()
except ValueError as error:
    print(error)
with mock.patch("__main__.divide", return_value="patched") as patched:
    print(divide(1, 1), patched.called, patched.mock_calls)
fake.assert_called_once_with(1, x=2)
try:
    fake.assert_called_with(5)
except AssertionError as error:
    print(str(error).splitlines())
with mock.patch.dict("os.environ", {"K": "v"}):
    import os
    print(os.environ["K"])
with mock.patch("builtins.open", mock.mock_open(read_data="fake file")):
    print(open("anything").read())
