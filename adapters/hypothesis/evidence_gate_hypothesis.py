"""Runs one Hypothesis test as a property of evidence-gate.

    python3 evidence_gate_hypothesis.py [--path src]... [--library python]... properties/test_retry.py[::test_name]

The file holds an ordinary test under `@given`; nothing in it knows of this program. Draws follow PROPERTY_SEED, trials are
PROPERTY_TRIALS, and hits are the examples that passed `assume`. Folders named by --path are below REPO_ROOT and come first in
the module search path; those named by --library are below ORACLE_ROOT and come before them: there Hypothesis itself may lie.

For the modes `sample` and `known_bad` the file may hold two plain functions besides: `sample(**input)` returns an answer, and
`known_bad(**input)` raises on an input that is bad. samples/ID.json is a list of {"input": {...}, "output": ...}, known_bad/ID.json a
list of {...}.
"""

import argparse
import importlib.util
import json
import os
import sys
import traceback


def _arguments():
    parser = argparse.ArgumentParser(description="Runs one Hypothesis test as a property of evidence-gate.")
    parser.add_argument("--path", action="append", default=[], help="a folder below REPO_ROOT with modules of the product")
    parser.add_argument("--library", action="append", default=[], help="a folder below ORACLE_ROOT with libraries")
    parser.add_argument("test", help="FILE or FILE::NAME, below the folder in which this runs")
    return parser.parse_args()


def _load(path):
    spec = importlib.util.spec_from_file_location("evidence_gate_property", path)
    if spec is None or spec.loader is None or not os.path.isfile(path):
        raise SystemExit(f"{path} is no Python file here")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _test(module, name):
    tests = {key: value for key, value in vars(module).items() if hasattr(value, "hypothesis")}
    if name:
        tests = {key: value for key, value in tests.items() if key == name}
    if len(tests) != 1:
        found = ", ".join(sorted(tests)) or "none"
        raise SystemExit(f"one test under @given is wanted, and there is: {found}; name it as FILE::NAME")
    return next(iter(tests.values()))


def _plain(value):
    """A value as JSON has it, or as Python writes it."""
    try:
        text = json.dumps(value, allow_nan=False)
        return json.loads(text) if json.loads(text) == value else repr(value)
    except (TypeError, ValueError, RecursionError):
        return repr(value)


class _Ended(Exception):
    """The code under test tried to end the process."""


class _Trials:
    """Counts what the library's own run draws, and keeps the input of the last failure, which is the smallest."""

    def __init__(self, test, unsatisfied):
        self.hits = 0
        self.calls = 0
        self.failing = None
        inner = test.hypothesis.inner_test

        def observed(*args, **kwargs):
            self.calls += 1
            try:
                answer = inner(*args, **kwargs)
            except unsatisfied:
                raise
            except SystemExit as ended:
                self.failing = (args, kwargs)
                raise _Ended(f"the code under test ended the process with {ended.code!r}") from None
            except Exception:
                self.failing = (args, kwargs)
                raise
            self.hits += 1
            return answer

        test.hypothesis.inner_test = observed

    def counterexample(self):
        if self.failing is None:
            return None
        args, kwargs = self.failing
        named = {name: _plain(value) for name, value in kwargs.items()}
        return named if not args else {"args": [_plain(value) for value in args], **named}


def _run_trials(test, property_id, seed, trials):
    import hypothesis
    from hypothesis import HealthCheck, errors

    observed = _Trials(test, errors.UnsatisfiedAssumption)
    own = getattr(test, "_hypothesis_internal_use_settings", hypothesis.settings.default)
    settings = hypothesis.settings(
        parent=own,
        max_examples=trials,
        database=None,
        derandomize=False,
        deadline=None,
        print_blob=False,
        report_multiple_bugs=False,
        # They measure time, and what they say would differ from host to host.
        suppress_health_check=list(HealthCheck),
    )
    test._hypothesis_internal_use_settings = settings
    line = {"property_id": property_id, "seed": seed, "trials": trials, "hits": 0}
    try:
        hypothesis.seed(seed)(test)()
    except errors.Unsatisfiable:
        return line | {"counterexample": None, "exc_type": None, "message": None}
    except BaseException as error:
        made = min(max(observed.calls, 1), trials)
        return line | {
            "trials": made,
            "hits": min(max(observed.hits, 1), made),
            "counterexample": observed.counterexample(),
            "exc_type": type(error).__name__,
            "message": str(error),
        }
    return line | {"hits": min(observed.hits, trials), "counterexample": None, "exc_type": None, "message": None}


def _held(folder, property_id):
    with open(os.path.join(os.environ["ORACLE_ROOT"], folder, f"{property_id}.json"), encoding="utf-8") as file:
        return json.load(file)


def _function(module, name):
    function = getattr(module, name, None)
    if not callable(function):
        raise SystemExit(f"the oracles hold a file for the mode `{name}`, and the property has no function `{name}`")
    return function


def _run_sample(module, property_id):
    answer = _function(module, "sample")
    made = [{"input": one["input"], "output": answer(**one["input"])} for one in _held("samples", property_id)]
    return {"property_id": property_id, "sample": made}


def _run_known_bad(module, property_id):
    judge = _function(module, "known_bad")
    accepted, inputs = [], _held("known_bad", property_id)
    for number, one in enumerate(inputs, 1):
        try:
            judge(**one)
        except Exception:
            continue
        accepted.append(number)
    return {"property_id": property_id, "judged": len(inputs), "accepted": accepted}


def main():
    arguments = _arguments()
    # Taken before anything of the product is imported.
    mode, property_id = os.environ["PROPERTY_MODE"], os.environ["PROPERTY_ID"]
    seed, trials = int(os.environ["PROPERTY_SEED"]), int(os.environ["PROPERTY_TRIALS"])
    log = open(os.environ["TRIAL_LOG"], "w", encoding="utf-8")
    write, leave, dumps = log.write, os._exit, json.dumps
    libraries = [os.path.join(os.environ["ORACLE_ROOT"], path) for path in arguments.library]
    sys.path[:0] = libraries + [os.path.join(os.environ["REPO_ROOT"], path) for path in arguments.path]
    path, _, name = arguments.test.partition("::")
    try:
        module = _load(path)
        if mode == "trials":
            line = _run_trials(_test(module, name), property_id, seed, trials)
        elif mode == "sample":
            line = _run_sample(module, property_id)
        elif mode == "known_bad":
            line = _run_known_bad(module, property_id)
        else:
            raise SystemExit(f"the mode `{mode}` is not known")
    except SystemExit as ended:
        print(f"evidence-gate: {ended}", file=sys.stderr, flush=True)
        leave(1)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        leave(1)
    write(dumps(line) + "\n")
    log.flush()
    # Without handlers that the product may have left for the end.
    leave(0)


if __name__ == "__main__":
    main()
