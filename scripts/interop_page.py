"""Runs the Python examples of docs/simulator.md, word for word, against a simulated App Store.

    interop_page.py DIRECTORY

DIRECTORY is what `switchyard simulate --port` was given as --out; the page calls it `world`.
"""

import contextlib
import io
import os
import re
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "simulator.md"


def main():
    directory = Path(sys.argv[1]).resolve()
    examples = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    if not examples:
        sys.exit("interop: FAILED: docs/simulator.md has no Python example")
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        os.symlink(directory, "world")
        for example in examples:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(example, str(PAGE), "exec"), {})
            if not printed.getvalue().strip():
                sys.exit("interop: FAILED: an example of docs/simulator.md prints nothing")
    print(f"interop: {len(examples)} Python example of docs/simulator.md works as it stands")


main()
