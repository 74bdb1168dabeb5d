"""A package made up for the survey: each function does one thing, well or badly."""

PACKAGE = '''
"""Functions of one sort each.

>>> import numpy as np
>>> shown_elsewhere(np.ones(3), np.eye(2))
"""
import os
import socket
import subprocess
import sys
import time
import webbrowser

import numpy as np


def keeps(x):
    """Halve.

    >>> keeps(np.array([1.0, 2.0]))
    array([0.5, 1. ])
    """
    return x / 2


def widens(x):
    """Halve by a wide number.

    >>> widens(np.array([1.0, 2.0]))
    array([0.5, 1. ])
    """
    y = x + 1
    return y * np.float64(0.5)


def widens_scalar(x):
    """Give a scalar.

    >>> widens_scalar(np.array([1.0, 2.0]))
    """
    return np.float64(x.sum())


def mixes(x):
    """Give a narrow and a wide result.

    >>> mixes(np.array([1.0, 2.0]))
    """
    return {"narrow": x, "wide": np.zeros(2)}


def hides_its_origin(x):
    """Widen, and pick items in a way that a trace does not follow.

    >>> hides_its_origin(np.array([1.0, 2.0]))
    """
    y = x + np.linspace(0.0, 1.0, 2)
    return y.flat[np.array([1, 0])] * 2


def widens_on_purpose(x):
    """Sum in float64.

    >>> widens_on_purpose(np.array([1.0, 2.0]))
    """
    return x.sum(dtype=np.float64)


def refuses(x):
    """Refuse float32.

    >>> refuses(np.array([1.0, 2.0]))
    """
    if x.dtype != np.float64:
        raise TypeError("doubles only")
    return x


def counts(x):
    """Give no floats.

    >>> counts(np.array([1.0, 2.0]))
    """
    return len(x)


def raises(x):
    """Raise always."""
    raise RuntimeError("never")


def hangs(x):
    """Hang, and not in Python.

    >>> hangs(np.array([1.0, 2.0]))
    """
    import signal
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    time.sleep(60)


def exits(x):
    """End the process.

    >>> exits(np.array([1.0, 2.0]))
    """
    os._exit(3)


def leaves(x):
    """Raise SystemExit.

    >>> leaves(np.array([1.0, 2.0]))
    """
    sys.exit(3)


def crashes_in_its_example(x):
    """Keep, but for an example that kills the process.

    >>> os.kill(os.getpid(), 9) or crashes_in_its_example(x)
    """
    return x * 2


def prints(x):
    """Print, and keep.

    >>> prints(np.array([1.0, 2.0]))
    """
    print("{" * 10_000)
    os.write(1, b"not json" * 100)
    os.write(2, b"not json" * 100)
    return x


def writes(x):
    """Write files here and elsewhere, and keep.

    >>> writes(np.array([1.0, 2.0]))
    """
    with open("here.txt", "w") as file:
        file.write("x")
    try:
        with open(ELSEWHERE, "w") as file:
            file.write("x")
    except PermissionError:
        pass
    return x


def moves(x):
    """Move and link files elsewhere, and keep.

    >>> moves(np.array([1.0, 2.0]))
    """
    with open("here.txt", "w") as file:
        file.write("x")
    for put in (os.rename, os.link, os.symlink):
        try:
            put("here.txt", ELSEWHERE)
        except PermissionError:
            pass
    return x


def reads(x):
    """Ask for input, and keep.

    >>> reads(np.array([1.0, 2.0]))
    """
    try:
        input("? ")
    except EOFError:
        pass
    return x


def reads_lines(x):
    """Read standard input, and keep.

    >>> reads_lines(np.array([1.0, 2.0]))
    """
    assert sys.stdin.readline() == ""
    return x


def connects(x):
    """Open a connection, and keep.

    >>> connects(np.array([1.0, 2.0]))
    """
    try:
        socket.create_connection(("127.0.0.1", 9), timeout=1)
    except OSError:
        pass
    return x


def starts(x):
    """Start a program, and keep.

    >>> starts(np.array([1.0, 2.0]))
    """
    try:
        subprocess.run(["true"])
    except OSError:
        pass
    return x


def opens(x):
    """Open a window, and keep.

    >>> opens(np.array([1.0, 2.0]))
    """
    try:
        webbrowser.open("http://localhost")
    except OSError:
        pass
    return x


def changes_its_argument(x):
    """Keep, and overwrite the argument.

    >>> a = np.array([1.0, 2.0])
    >>> changes_its_argument(a)
    """
    x *= 2
    assert x[0] == 2
    return x


def shown_elsewhere(x, y):
    """Keep; the module has the example."""
    assert y.shape == (2, 2) and x.shape == (3,)
    return x


def by_recipe(sr, image):
    """Keep a picture."""
    assert sr == 22050 and image.shape == (16, 16)
    return image


def in_tests(x, key):
    """Keep what no recipe gives."""
    assert key == "the key" and x.shape == (5,)
    return x


def takes_integers(x, order):
    """Widen nothing by the integers beside it.

    >>> takes_integers(np.array([1.0, 2.0]), np.array([1, 0]))
    """
    return x[order] * order


def takes_lists(b, x):
    """Keep; a list is as good as an array.

    >>> takes_lists([1.0, 2.0], np.array([1.0, 2.0]))
    """
    return np.asarray(b) * x


def takes_callback(f, x):
    """Keep what the callback gives.

    >>> takes_callback(lambda x: x * np.array([1.0, 2.0]), np.array([1.0, 2.0]))
    """
    return f(x)


def asks_for_wide(x, *, dtype):
    """Be told to widen.

    >>> asks_for_wide(np.array([1.0, 2.0]), dtype=np.float64)
    """
    assert isinstance(dtype, type)
    return x.astype(dtype)


def holds(thing, x):
    """Be given an object that holds float64.

    >>> holds(Thing(np.array([1.0, 2.0])), np.array([1.0, 2.0]))
    """
    return thing.held + x


def mixes_integers(x, y):
    """Scale in the common dtype of floats, which is wide for integers, and give a wide result besides.

    >>> mixes_integers(np.array([1.0, 2.0]), [1, 2])
    """
    return x.astype(np.common_type(x, np.asarray(y))), np.zeros(2)


def widens_integers(x, n):
    """Widen integers, and keep floats.

    >>> widens_integers(np.array([1.0, 2.0]), np.array([1, 2]))
    """
    return x * (n if n.dtype.kind == "f" else n.astype(np.float64))


def widens_numbers(x, n):
    """Widen Python's numbers, and keep NumPy's.

    >>> widens_numbers(np.array([1.0, 2.0]), 0.5)
    """
    return x * np.full(2, n)


class Thing:
    def __init__(self, held):
        self.held = held


def _private(x):
    return x * np.float64(2)
'''

TESTS = '''
import pytest
import numpy as np
from planted import in_tests


@pytest.mark.parametrize("key, size", [("the key", 5), ("another", 4)])
def test_it(key, size, rng):
    assert in_tests(rng.random(size), key).shape == (5,)
'''
