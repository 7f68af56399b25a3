"""The driver: it draws, asks the subject, and judges. It never sees the product."""

import json
import os
import random

asks = os.fdopen(int(os.environ["TO_SUBJECT_FD"]), "w")
answers = os.fdopen(int(os.environ["FROM_SUBJECT_FD"]))


def ask(amount, parts):
    asks.write(json.dumps([amount, parts]) + "\n")
    asks.flush()
    line = answers.readline()
    if not line:
        raise ConnectionError("the subject ended before it answered")
    return json.loads(line)


def fault(amount, parts, shares):
    if len(shares) != parts:
        return f"{parts} parts were asked for, and {len(shares)} came"
    if sum(shares) != amount:
        return f"{amount} cents were split into {sum(shares)}"
    if max(shares) - min(shares) > 1:
        return f"parts differ by {max(shares) - min(shares)} cents"
    return None


def held(folder):
    with open(f"{os.environ['ORACLE_ROOT']}/{folder}/split.json") as file:
        return json.load(file)


def trials():
    seed, asked = int(os.environ["PROPERTY_SEED"]), int(os.environ["PROPERTY_TRIALS"])
    draws = random.Random(seed)
    line = {"property_id": "split", "seed": seed, "counterexample": None, "exc_type": None, "message": None}
    for done in range(1, asked + 1):
        amount, parts = draws.randrange(10_000), draws.randrange(1, 12)
        wrong = fault(amount, parts, ask(amount, parts))
        if wrong:
            # The smallest amount that is wrong for as many parts.
            amount = next(small for small in range(amount + 1) if fault(small, parts, ask(small, parts)))
            wrong = fault(amount, parts, ask(amount, parts))
            failed = {"counterexample": [amount, parts], "exc_type": "AssertionError", "message": wrong}
            return line | failed | {"trials": done, "hits": done}
    return line | {"trials": asked, "hits": asked}


mode = os.environ["PROPERTY_MODE"]
if mode == "trials":
    line = trials()
elif mode == "sample":
    line = {"sample": [{"in": one["in"], "out": ask(*one["in"])} for one in held("samples")]}
else:
    inputs = held("known_bad")
    accepted = [number for number, one in enumerate(inputs, 1) if fault(*one["in"], one["out"]) is None]
    line = {"judged": len(inputs), "accepted": accepted}
with open(os.environ["TRIAL_LOG"], "w") as log:
    log.write(json.dumps({"property_id": "split"} | line) + "\n")
