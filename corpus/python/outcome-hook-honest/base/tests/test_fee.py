from fee import fee


def test_a_large_amount_costs_one_percent():
    assert fee(5000) == 50


def test_a_small_amount_costs_ten_cents():
    assert fee(500) == 10
