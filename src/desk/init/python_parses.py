"""An example property: Python itself can read every Python file of the product.

It draws files by a seed, so that a run can be repeated, and it never imports the product, so that the product cannot lie to it.
Replace it with something that your product must always do; docs/properties.md of evidence-gate says how.
"""

import json
import os
import random
import sys
import warnings

NOT_PRODUCT = {"test", "tests", "testing", "fixtures", "testdata", "node_modules", "vendor"}


def files(root, names):
    """Every Python file below some names at the root, sorted, so that a seed draws the same on every machine."""
    found = []
    for name in names:
        top = os.path.join(root, name)
        if name.endswith(".py") and os.path.isfile(top):
            found.append(name)
        for folder, folders, inside in os.walk(top):
            folders[:] = [name for name in folders if name not in NOT_PRODUCT and not name.startswith(".")]
            paths = (os.path.join(folder, file) for file in inside if file.endswith(".py"))
            found.extend(os.path.relpath(path, root) for path in paths)
    return sorted(found)


def fault(source):
    """What is wrong with a source; None for one that can be read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, "product", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return error
    return None


def trials(root, names):
    seed, asked = int(os.environ["PROPERTY_SEED"]), int(os.environ["PROPERTY_TRIALS"])
    draws = random.Random(seed)
    line = {"seed": seed, "trials": asked, "counterexample": None, "exc_type": None, "message": None}
    found = files(root, names)
    for done in range(1, asked + 1 if found else 1):
        path = draws.choice(found)
        with open(os.path.join(root, path), "rb") as file:
            wrong = fault(file.read())
        if wrong:
            failed = {"counterexample": path, "exc_type": type(wrong).__name__, "message": str(wrong)}
            return line | failed | {"trials": done, "hits": done}
    return line | {"hits": asked if found else 0}


def known_bad(root):
    with open(os.path.join(root, "known_bad", "python_parses.json")) as file:
        inputs = json.load(file)
    return {"judged": len(inputs), "accepted": [number for number, text in enumerate(inputs, 1) if not fault(text)]}


if os.environ["PROPERTY_MODE"] == "trials":
    answer = trials(os.environ["REPO_ROOT"], sys.argv[1:])
elif os.environ["PROPERTY_MODE"] == "known_bad":
    answer = known_bad(os.environ["ORACLE_ROOT"])
else:
    sys.exit("this property keeps no samples")
with open(os.environ["TRIAL_LOG"], "w") as log:
    log.write(json.dumps({"property_id": os.environ["PROPERTY_ID"]} | answer) + "\n")
