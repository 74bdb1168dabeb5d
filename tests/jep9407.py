"""The dtypes of which JEP 9407 speaks."""
from __future__ import annotations

import typelattice as tl

DOCUMENT = [n for n in tl.system("jep9407-3-bf16").order.nodes if isinstance(n, tl.DType)]
