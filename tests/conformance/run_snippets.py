"""Runs short programs, given as JSON, and prints what each printed and the exception that ended it."""
from __future__ import annotations

import io
import json
import sys
import warnings
from contextlib import redirect_stdout


def main() -> None:
    """Run each program in a module of its own."""
    warnings.simplefilter("ignore")
    results = []
    for code in json.load(sys.stdin):
        printed, error = io.StringIO(), list[str]()
        try:
            with redirect_stdout(printed):
                exec(compile(code, "snippet", "exec"), {"__name__": "snippet"})
        except Exception as raised:
            error = [cls.__name__ for cls in type(raised).__mro__]
        results.append([printed.getvalue().splitlines(), error])
    print(json.dumps(results))


if __name__ == "__main__":
    main()
