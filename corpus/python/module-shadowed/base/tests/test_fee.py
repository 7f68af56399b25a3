import unittest

from fee import fee


class FeeTest(unittest.TestCase):
    def test_small(self):
        self.assertEqual(fee(500), 10)
