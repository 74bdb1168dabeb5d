"""`python -m typelattice`."""
from __future__ import annotations

import sys

from typelattice.show.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
