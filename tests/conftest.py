"""What every test run needs."""
import os
import signal

from hypothesis import settings

# A machine that does other work besides is slow, and not wrong.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# A shell that starts a run in the background has it ignore Ctrl-C, and so every process that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Options for this run alone: processes that a test starts are tested for what they print without them.
os.environ.pop("PYTEST_ADDOPTS", None)
