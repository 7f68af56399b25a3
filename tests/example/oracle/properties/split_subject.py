"""The subject: the product behind lines of JSON. It knows neither mode nor log."""

import json
import os
import sys

answers = os.fdopen(os.dup(1), "w")
sys.path.insert(0, os.environ["REPO_ROOT"] + "/src")
from till.money import split  # noqa: E402

for line in sys.stdin:
    answers.write(json.dumps(split(*json.loads(line))) + "\n")
    answers.flush()
