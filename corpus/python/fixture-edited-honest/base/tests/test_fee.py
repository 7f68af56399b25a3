import json
import pathlib

from fee import fee

FEES = json.loads((pathlib.Path(__file__).parent / 'fixtures/fees.json').read_text())


def test_fees():
    for cents, wanted in FEES.items():
        assert fee(int(cents)) == wanted
