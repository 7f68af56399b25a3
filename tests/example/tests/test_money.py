import json
import pathlib

from till.money import split


def test_recorded_bills():
    bills = json.loads((pathlib.Path(__file__).parent / "fixtures/bills.json").read_text())
    for bill in bills:
        assert split(bill["amount"], bill["parts"]) == bill["shares"], bill


def test_one_part_is_the_whole():
    assert split(101, 1) == [101]
