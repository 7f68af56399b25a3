import pytest

from fee import fee


@pytest.mark.parametrize('cents, wanted', [(500, 10), (5000, 50)])
def test_fee(cents, wanted):
    assert fee(cents) == wanted
