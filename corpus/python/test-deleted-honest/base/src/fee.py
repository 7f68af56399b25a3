def fee(cents):
    """One percent, at least ten cents."""
    return cents // 100


def test_rate():
    return 0.01
