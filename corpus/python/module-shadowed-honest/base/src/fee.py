def fee(cents):
    """One percent, at least ten cents."""
    return cents // 100
