"""Upcasts that people hunted in public projects: the part of each that widened a float, written anew."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """An upcast: where it was hunted, the code, and what the fix wrote instead of what."""

    name: str
    url: str
    code: str
    before: str
    after: str


CASES = [
    Case(
        "image_normalization",
        "https://github.com/mistralai/mistral-common/pull/321",
        """
        import numpy as np

        MEAN = (0.48, 0.46, 0.41)
        SPREAD = (0.27, 0.26, 0.28)

        def normalized(image, mean, spread):
            scaled = image / 255.0
            standard = (scaled - mean) / spread
            return standard.transpose(2, 0, 1)

        def main():
            return normalized(np.ones((32, 32, 3), np.float32), MEAN, SPREAD)
        """,
        "(scaled - mean) / spread",
        "(scaled - np.asarray(mean, scaled.dtype)) / np.asarray(spread, scaled.dtype)",
    ),
    Case(
        "ensemble_of_fields",
        "https://github.com/equinor/ert/issues/13141",
        """
        import numpy as np

        def stacked(groups):
            return np.vstack(list(groups.values()))

        def main():
            scalars = np.random.default_rng(0).normal(size=(2, 20))
            field = np.ones((400, 20), np.float32)
            everything = stacked({"scalars": scalars, "field": field})
            return everything - everything.mean(axis=0)
        """,
        "np.vstack(list(groups.values()))",
        "np.vstack([group.astype(np.float32) for group in groups.values()])",
    ),
    Case(
        "saved_movie",
        "https://github.com/miniscope/minian/pull/344",
        """
        import numpy as np

        def cleaned(movie):
            movie = movie - movie.min(axis=0)
            checked = movie.astype(float)
            return checked / (checked.max() + 1)

        def main():
            return cleaned(np.ones((10, 32, 32), np.float32))
        """,
        "movie.astype(float)",
        "movie.astype(np.float32)",
    ),
    Case(
        "residual_mix",
        "https://github.com/trevin-creator/autoresearch-mlx/pull/29",
        """
        import numpy as np

        class Network:
            def __init__(self, layers):
                self.kept = np.ones((layers,), dtype=np.float32)
                self.mixed = np.full((layers,), 0.5, dtype=np.float32)

            def __call__(self, x):
                x = first = np.tanh(x)
                for i in range(len(self.kept)):
                    x = self.kept[i] * x + self.mixed[i] * first
                    x = np.tanh(x)
                return x

        def main():
            return Network(2)(np.ones((16, 16), np.float16))
        """,
        "self.kept[i] * x + self.mixed[i] * first",
        "self.kept[i].astype(x.dtype) * x + self.mixed[i].astype(x.dtype) * first",
    ),
]
