"""Amounts of money, in cents."""


def split(amount, parts):
    """Splits an amount into parts that differ by one cent at most and lose nothing."""
    share, rest = divmod(amount, parts)
    return [share + 1] * rest + [share] * (parts - rest)
