"""Figures of the experiments (Altair, as SVG)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.active.savings import COLLECTIONS, VARIANTS, Row, name_of
from surefoot.extras import require

VARIANT_COLOURS = ("#1f6f8b", "#d98324", "#9b5094", "#444444")


def draw_curves(
    data: list[Row],
    path: Path,
    titles: tuple[str, str],
    *,
    ticks: Sequence[float] | None = None,
    zero: bool = True,
) -> None:
    """A row of panels for each collection, a line for each variant; a logarithmic axis of ticks."""
    altair = require("altair", purpose="drawing figures")
    colour = altair.Scale(domain=list(VARIANTS), range=list(VARIANT_COLOURS))
    across = altair.X("budget:Q", title=titles[0], scale=altair.Scale(zero=False, nice=False))
    if ticks is not None:
        across = altair.X(
            "budget:Q",
            title=titles[0],
            scale=altair.Scale(type="log", nice=False),
            axis=altair.Axis(values=list(ticks)),
        )
    charts = []
    for collection in COLLECTIONS:
        mine = [d for d in data if d["collection"] == collection]
        if not mine:
            continue
        base = altair.Chart(altair.Data(values=mine)).encode(
            x=across,
            color=altair.Color("variant:N", title=None, scale=colour, sort=list(VARIANTS)),
        )
        line = base.mark_line(point=altair.OverlayMarkDef(size=14), strokeWidth=1.4).encode(
            y=altair.Y("error:Q", title=titles[1], scale=altair.Scale(zero=zero))
        )
        bars = base.mark_rule(strokeWidth=1).encode(y="low:Q", y2="high:Q")
        panels = list(dict.fromkeys(d["panel"] for d in mine))
        layer = altair.layer(bars, line).properties(width=165, height=120)
        if len(panels) > 1:
            facet = altair.Facet("panel:N", title=None, sort=panels)
            layer = layer.facet(facet, columns=4).resolve_scale(y="independent")
        charts.append(layer.properties(title=collection))
    alone = all(isinstance(c, altair.LayerChart) for c in charts)
    chart = (
        (altair.hconcat if alone else altair.vconcat)(*charts, spacing=12)
        .configure_axis(grid=False, titleFontWeight="normal")
        .configure_view(strokeOpacity=0.2)
        .configure_title(anchor="start", fontSize=12)
    )
    chart.save(str(path))


def draw_saved(found: list[Row], path: Path) -> None:
    """A point for each collection and experiment, the paper's range behind them."""
    altair = require("altair", purpose="drawing figures")
    points, bands = [], []
    for r in found:
        share, se = r["active"]
        name = name_of(r)
        if not np.isnan(share):
            points.append(
                {
                    "experiment": name,
                    "collection": r["collection"],
                    "saved": share,
                    "low": share - 2 * se,
                    "high": share + 2 * se,
                }
            )
        if r["printed"] is not None:
            low, high = r["printed"]
            bands.append({"experiment": name, "from": low / 100 - 0.008, "to": high / 100 + 0.008})
    order = list(dict.fromkeys(p["experiment"] for p in points))
    charts = []
    for collection, colour in zip(COLLECTIONS, VARIANT_COLOURS, strict=False):
        mine = [p for p in points if p["collection"] == collection]
        if not mine:
            continue
        axis = altair.Axis(labelLimit=320) if not charts else None
        y = altair.Y("experiment:N", title=None, axis=axis, scale=altair.Scale(domain=order))
        across = altair.X(
            "low:Q",
            title="share of the labels saved",
            axis=altair.Axis(format="%"),
            scale=altair.Scale(domain=[-0.5, 1], clamp=True),
        )
        band = altair.Chart(altair.Data(values=bands)).mark_bar(color="#d6d6d6", height=12)
        base = altair.Chart(altair.Data(values=mine)).encode(y=y)
        zero = altair.Chart(altair.Data(values=[{"at": 0}]))
        charts.append(
            altair.layer(
                band.encode(x="from:Q", x2="to:Q", y=y),
                zero.mark_rule(color="#444444", strokeDash=[3, 3]).encode(x="at:Q"),
                base.mark_rule(strokeWidth=1.4, color=colour).encode(x=across, x2="high:Q"),
                base.mark_point(filled=True, size=34, opacity=1, color=colour).encode(x="saved:Q"),
            ).properties(width=190, height=altair.Step(20), title=collection)
        )
    chart = (
        altair.hconcat(*charts, spacing=10)
        .configure_axis(grid=False, titleFontWeight="normal")
        .configure_view(strokeOpacity=0.2)
    )
    chart.save(str(path))
