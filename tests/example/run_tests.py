"""Runs every function of tests/test_*.py, and writes JUnit XML."""

import importlib
import pathlib
import sys
from xml.sax.saxutils import quoteattr

ROOT = pathlib.Path(__file__).parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

cases = []
for file in sorted((ROOT / "tests").glob("test_*.py")):
    module = importlib.import_module(file.stem)
    for name, test in sorted(vars(module).items()):
        if not name.startswith("test_"):
            continue
        failure = ""
        try:
            test()
        except Exception as error:
            failure = f"<failure type={quoteattr(type(error).__name__)} message={quoteattr(str(error))}/>"
        cases.append(f'<testcase classname="tests.{file.stem}" name={quoteattr(name)}>{failure}</testcase>')

(ROOT / "junit.xml").write_text(f"<testsuites><testsuite name='tests'>{''.join(cases)}</testsuite></testsuites>")
