# SPDX-License-Identifier: Apache-2.0
"""Reads and writes the JUnit files that tests, the summary and the test plan share."""
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from xml.sax.saxutils import quoteattr

ROOT = Path(__file__).resolve().parent.parent
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


def out_dir() -> Path:
    """Where runs leave their reports; common.sh decides."""
    asked = subprocess.run(["bash", "-c", '. "$0/scripts/common.sh" && echo "$BDY_OUT"', str(ROOT)],
                           check=True, capture_output=True, text=True)
    return Path(asked.stdout.strip())


def _state(case) -> str:
    if case.find("failure") is not None or case.find("error") is not None:
        return FAILED
    if case.find("skipped") is not None or case.get("status") == "notrun" or case.get("result") == "skipped":
        return SKIPPED
    return PASSED


def read(path: Path) -> dict:
    """{"Suite.Case": state} of one file. Raises ValueError when it is no JUnit file."""
    try:
        root = ElementTree.parse(path).getroot()
    except (ElementTree.ParseError, OSError) as error:
        raise ValueError(f"{path}: {error}") from error
    return {f"{case.get('classname')}.{case.get('name')}": _state(case) for case in root.iter("testcase")}


def write(path: Path, suite: str, case: str, seconds: float, failure: str = "", skipped: bool = False) -> None:
    """One file with one case; a failure text makes it fail."""
    inner = f"<failure message={quoteattr(failure)}/>" if failure else "<skipped/>" if skipped else ""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites tests="1" failures="{int(bool(failure))}">\n'
        f'<testsuite name={quoteattr(suite)} tests="1">\n'
        f'<testcase classname={quoteattr(suite)} name={quoteattr(case)} time="{seconds:.3f}">{inner}</testcase>\n'
        "</testsuite>\n</testsuites>\n", encoding="utf-8")
