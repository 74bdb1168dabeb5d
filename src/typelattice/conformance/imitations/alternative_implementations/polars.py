"""Polars' lazy frames: the schema that they announce, and what the streaming engine computes."""

from __future__ import annotations

import polars as pl

from typelattice.conformance.recording.libraries.polars import Polars


class LazyPolars(Polars):
    """Expressions over a lazy frame that is never collected."""

    name = "polars-schema"
    how = "LazyFrame.collect_schema of operators and functions of expressions"

    def read(self, result: object) -> str:
        if isinstance(result, pl.Expr):
            return super().read(self.result_dtype(result))
        return super().read(result)

    def result_dtype(self, result: pl.Expr) -> object:
        return self.frame.lazy().select(result.alias("result")).collect_schema()["result"]

    def result_type(self, *columns: pl.Expr) -> object:
        frames = [self.frame.lazy().select(column.alias("result")) for column in columns]
        return pl.concat(frames, how="vertical_relaxed").collect_schema()["result"]


class StreamingPolars(LazyPolars):
    """The same collected by the streaming engine."""

    name = "polars-streaming"
    how = "LazyFrame.collect(engine='streaming') of operators and functions of expressions"

    def result_dtype(self, result: pl.Expr) -> object:
        return self.frame.lazy().select(result.alias("result")).collect(engine="streaming")["result"]

    def result_type(self, *columns: pl.Expr) -> object:
        frames = [self.frame.lazy().select(column.alias("result")) for column in columns]
        return pl.concat(frames, how="vertical_relaxed").collect(engine="streaming")["result"]


IMPLEMENTATIONS = {each.name: each for each in (LazyPolars, StreamingPolars)}
