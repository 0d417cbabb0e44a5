"""Cells of several workloads, made from the sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from tests.reports.sample_study import GIB, sample

Cells = tuple[pl.DataFrame, dict[str, Any]]


def several(
    rates: Mapping[str, Sequence[float]],
    placers: Sequence[str] = ("last", "branch", "sqrt"),
    capacities: Sequence[int | None] = (2 * GIB, 8 * GIB),
    spread: float = 0.001,
) -> Cells:
    """Return cells whose token hit rate is the rate of the placer in that workload.

    Replications differ by `spread`, each placer in its own way, and TTFT falls with the rate.
    """
    cells, manifest = sample(placers, capacities, replications=5, baseline=placers[0])
    tables = []
    for workload, levels in rates.items():
        level = pl.col("placer").replace_strict(dict(zip(placers, levels, strict=True)))
        order = pl.col("placer").replace_strict({name: n for n, name in enumerate(placers)})
        noise = spread * ((pl.col("replication") * (order + 2)) % 5 - 2)
        rate = (level + noise).cast(pl.Float64)
        tables.append(
            cells.with_columns(
                pl.lit(workload).alias("workload"),
                rate.alias("token_hit_rate"),
                (1 - rate).alias("ttft_mean_seconds"),
            )
        )
    return pl.concat(tables), manifest | {"grid": {"workload": list(rates)}}


def with_foresight(cells: pl.DataFrame, gain: float) -> pl.DataFrame:
    """Return the cells, and each placer again with an eviction policy that looks ahead."""
    ahead = cells.with_columns(
        pl.lit("clairvoyant").alias("eviction"), pl.col("token_hit_rate") + gain
    )
    return pl.concat([cells, ahead])
