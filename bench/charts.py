#!/usr/bin/env python3
"""Draws the charts of the documentation from bench/results: `make charts`.

    bench/charts.py RESULTS PICTURES

RESULTS is bench/results, PICTURES the folder that gets CHART-light.svg and CHART-dark.svg for every chart below. Figures are read from the
.json files, and from the tables of the .md pages where a run left only those; a figure that is not found is an error, so a chart never
shows less than it says. The same results give the same bytes. Colours are those of `faro explain --svg`.
"""

import json
import pathlib
import re
import statistics
import sys
from dataclasses import dataclass

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402  (the back end comes first)

LIGHT = {"paper": "#ffffff", "ink": "#24292f", "note": "#57606a", "rule": "#d0d7de",
         "faro": "#2f6fb0", "peer": "#d97b0d", "obvious": "#8c959f", "loss": "#cf222e"}
DARK = {"paper": "#0d1117", "ink": "#e6edf3", "note": "#9aa4af", "rule": "#30363d",
        "faro": "#6ea8e5", "peer": "#f5a04a", "obvious": "#8b949e", "loss": "#ff7b72"}


def table_rows(page, section=""):
    """The rows of a page's tables as dicts by column, those below the heading `section` alone where it is given."""
    rows, columns, inside = [], None, not section
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            inside = not section or line.lstrip("# ") == section
        if not line.startswith("|") or not inside:
            columns = None
            continue
        cells = [cell.strip().strip("*") for cell in line.strip("|").split("|")]
        if columns is None:
            columns = cells
        elif not set("".join(cells)) <= set("-: "):
            rows.append(dict(zip(columns, cells)))
    if not rows:
        raise SystemExit(f"{page}: no table below `{section}`")
    return rows


def number(cell):
    return float(re.match(r"[-+0-9.]+", cell).group())


def one(rows, **wanted):
    """The one row that has these cells; `_` in a name stands for a blank."""
    found = [row for row in rows if all(str(row.get(k.replace("_", " "))) == str(v) for k, v in wanted.items())]
    if len(found) != 1:
        raise SystemExit(f"{len(found)} rows with {wanted}, wanted one")
    return found[0]


@dataclass
class Bars:
    """One kind of work: shares of a copy in per cent; None where a run had no such contestant."""
    name: str
    faro: float
    peer: float | None
    peer_name: str
    obvious: float | None


def front_bars(results):
    ladder = table_rows(results / "h200-2026-11-21-ladder.md", "Arrays of 4 GiB")

    def rung(family, kernel):
        return number(one(ladder, element_bytes=4, family=family, kernel=kernel)["share of cudaMemcpy, median map"])

    index = one(table_rows(results / "h200-2026-11-23-index.md"), elements="2^30 x 4")
    copy_ms = number(index["copy, ms"])
    networks = table_rows(results / "h200-2026-11-21-networks.md")

    def fourier(contestant):
        return number(one(networks, work="FFT 2^24 c64", contestant=contestant)["ms"])

    gpu = [
        Bars("bit reversal", rung("bit_reversal", "faro"), rung("bit_reversal", "iters"), "published kernel",
             rung("bit_reversal", "naive")),
        Bars("random bit matrix", rung("random_bmmc", "faro"), rung("random_bmmc", "two-pass"), "published, two passes",
             rung("random_bmmc", "naive")),
        Bars("random index array", 100 * copy_ms / number(index["plan, ms"]),
             100 * copy_ms / number(index["gather, ms"]), "a gather", 100 * copy_ms / number(index["scatter, ms"])),
        Bars("Fourier, 2^24", 100 * fourier("cudaMemcpy") / fourier("fft"),
             100 * fourier("cudaMemcpy") / fourier("cuFFT"), "cuFFT", None),
    ]
    measured = json.loads((results / "cpu-epyc-zen4-2026-11-21.json").read_text(encoding="utf-8"))["rows"]

    def share(spec, kernel):
        found = [row["share_of_copy"] for row in measured if row["spec"] == spec and row["kernel"] == kernel
                 and row["element_bytes"] == 4 and row["pages"] == "huge"]
        return 100 * max(found) if found else None

    cpu = [Bars(name, share(spec, "faro"), share(spec, "gather tile"), "tile in cache by gathers", share(spec, "naive"))
           for name, spec in (("bit reversal", "bit_reversal(28)"), ("transpose", "transpose(16384, 16384)"),
                              ("random bit matrix", "random_bmmc(28, 1)"))]
    return gpu, cpu


def plain(axes, colours):
    axes.set_facecolor(colours["paper"])
    for side in ("top", "right", "left", "bottom"):
        axes.spines[side].set_visible(False)
    axes.tick_params(colors=colours["ink"], length=0)


def figure(colours, size, panels=1, **options):
    plt.rcParams["text.color"] = plt.rcParams["axes.titlecolor"] = colours["ink"]
    drawn, axes = plt.subplots(panels, 1, figsize=size, facecolor=colours["paper"], layout="constrained", squeeze=False, **options)
    drawn.get_layout_engine().set(w_pad=0.12, h_pad=0.12)
    for one_axes in axes[:, 0]:
        plain(one_axes, colours)
    return drawn, list(axes[:, 0])


def draw_front(results, colours):
    gpu, cpu = front_bars(results)
    drawn, panels = figure(colours, (8.4, 5.6), 2, height_ratios=[len(gpu), len(cpu)])
    titles = ("One NVIDIA H200, arrays of 4 GiB (Fourier: 128 MiB)", "Two cores of an AMD EPYC (Zen 4, AVX-512), arrays of 1 GiB")
    for axes, bars, title in zip(panels, (gpu, cpu), titles):
        ticks = []
        for place, work in enumerate(bars):
            shown = [("faro", work.faro, "faro"), ("peer", work.peer, work.peer_name),
                     ("obvious", work.obvious, "an element at a time")]
            for line, (kind, share, name) in enumerate(one for one in shown if one[1] is not None):
                y = -place - 0.27 * (line - 1)
                axes.barh(y, share, 0.24, color=colours[kind])
                lost = kind == "faro" and work.peer is not None and work.peer > work.faro
                words = f"{name} {share:.0f}%" if share >= 10 else f"{name} {share:.1f}%"
                if lost:
                    words += "  (slower here)"
                inside = share > 60
                axes.text(share - 1 if inside else share + 1, y, words, va="center", ha="right" if inside else "left",
                          color=colours["paper"] if inside else colours["loss"] if lost else colours["note"], fontsize=8.5)
            ticks.append(-place)
        axes.axvline(100, color=colours["ink"], linewidth=1.2, linestyle=(0, (5, 3)))
        axes.text(100.6, 0.5, "a copy", color=colours["ink"], fontsize=8.5, va="center")
        axes.set_yticks(ticks, [work.name for work in bars], color=colours["ink"])
        axes.set_xlim(0, 109)
        axes.set_ylim(-len(bars) + 0.45, 0.65)
        axes.set_xticks([])
        axes.set_title(title, loc="left", fontsize=10.5, fontweight="bold", color=colours["ink"])
    return drawn, "Speed as a share of a plain copy of the same bytes, each beside the best other way and the obvious one"


def draw_affine(results, colours):
    rows = json.loads((results / "h200-2026-11-21.json").read_text(encoding="utf-8"))["rows"]
    drawn, (axes,) = figure(colours, (8.4, 3.6))
    widths = (1, 2, 4, 8, 16)
    for place, width in enumerate(widths):
        for kind, contestant in (("faro", "faro"), ("obvious", "naive")):
            shares = sorted(100 * row["share_of_copy"] for row in rows if row["element_bytes"] == width
                            and row["contestant"] == contestant and row["bytes"] == 2**32)
            spread = [0.5 * (2 * i / max(1, len(shares) - 1) - 1) for i in range(len(shares))]
            axes.scatter([place + 0.6 * one for one in spread], shares, s=14, color=colours[kind],
                         label={"faro": "faro", "naive": "a thread an element"}[contestant] if place == 0 else None)
    axes.axhline(100, color=colours["ink"], linewidth=1.2, linestyle=(0, (5, 3)))
    axes.set_xticks(range(len(widths)), [f"{w} byte{'s' if w > 1 else ''}" for w in widths])
    axes.set_yticks([0, 25, 50, 75, 100], ["0", "25", "50", "75", "a copy"])
    axes.grid(axis="y", color=colours["rule"], linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_title("H200, 4 GiB: every map at every width, a dot a map, % of cudaMemcpy", loc="left", fontsize=10.5, fontweight="bold")
    axes.legend(frameon=False, labelcolor=colours["ink"], loc=(0.02, 0.55), fontsize=9)
    return drawn, "Affine maps on an H200: each of the maps at five element widths, as a share of a copy"


def draw_index(results, colours):
    rows = table_rows(results / "h200-2026-11-23-index.md")
    rows = [row for row in rows if "elements" in row]
    drawn, (axes,) = figure(colours, (8.4, 3.6))
    kinds = (("faro", "plan / copy", "faro, schedule kept"), ("peer", "gather / copy", "gather"), ("obvious", "scatter / copy", "scatter"))
    for line, (kind, column, name) in enumerate(kinds):
        heights = [number(row[column]) for row in rows]
        places = [place + 0.27 * (line - 1) for place in range(len(rows))]
        axes.bar(places, heights, 0.25, color=colours[kind], label=name)
        for x, height in zip(places, heights):
            axes.text(x, height + 0.4, f"{height:.0f}", ha="center", fontsize=7.5, color=colours["note"])
    axes.axhline(1, color=colours["ink"], linewidth=1.2, linestyle=(0, (5, 3)))
    axes.set_xticks(range(len(rows)), [row["elements"].replace(" x ", "\nx ") for row in rows], fontsize=8.5)
    axes.set_yticks([])
    axes.set_title("H200, random index arrays: time in copies (dashed: one copy), elements x bytes", loc="left", fontsize=10.5, fontweight="bold")
    axes.legend(frameon=False, labelcolor=colours["ink"], fontsize=9)
    return drawn, "Random index arrays on an H200: times in copies of the array, beside a gather and a scatter"


def draw_axes(results, colours):
    page = max(results.glob("h200-*-axes.md"))  # the newest
    suites = {}
    heading = ""
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            heading = line[3:]
        found = re.match(r"\| axes\(.*?\| ([0-9.]+)% \|", line)
        if found and heading:
            suites.setdefault(heading, []).append(float(found.group(1)))
    if not suites:
        raise SystemExit(f"{page}: no shares")
    drawn, (axes,) = figure(colours, (8.4, 0.9 + 0.34 * len(suites)))
    for place, shares in enumerate(suites.values()):
        axes.scatter(shares, [-place] * len(shares), s=16, alpha=0.45, linewidths=0, color=colours["faro"])
        median = statistics.median(shares)
        axes.plot([median, median], [-place - 0.3, -place + 0.3], color=colours["peer"], linewidth=2.4,
                  label="median" if place == 0 else None)
    axes.axvline(100, color=colours["ink"], linewidth=1.2, linestyle=(0, (5, 3)))
    axes.set_yticks([-place for place in range(len(suites))], suites.keys(), fontsize=9)
    axes.set_xlim(0, 103)
    axes.set_xticks([0, 25, 50, 75, 100], ["0", "25", "50", "75", "a copy"])
    axes.grid(axis="x", color=colours["rule"], linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_title("H200, permutations of axes: a dot a shape, % of cudaMemcpy", loc="left", fontsize=10.5, fontweight="bold")
    axes.legend(frameon=False, labelcolor=colours["ink"], fontsize=9, loc="center left")
    return drawn, "Permutations of axes on an H200, suite by suite, as a share of a copy"


CHARTS = {"chart-front": draw_front, "chart-affine-h200": draw_affine, "chart-index-h200": draw_index, "chart-axes-h200": draw_axes}


def main():
    if len(sys.argv) != 3:
        raise SystemExit("usage: bench/charts.py RESULTS PICTURES")
    results, pictures = map(pathlib.Path, sys.argv[1:])
    pictures.mkdir(parents=True, exist_ok=True)
    plt.rcParams.update({"svg.hashsalt": "faro", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 10,
                         "font.sans-serif": ["DejaVu Sans", "Helvetica", "Arial"]})
    for name, draw in CHARTS.items():
        for mode, colours in (("light", LIGHT), ("dark", DARK)):
            drawn, title = draw(results, colours)
            drawn.savefig(pictures / f"{name}-{mode}.svg", metadata={"Date": None, "Title": title, "Creator": None},
                          facecolor=colours["paper"])
            plt.close(drawn)
        print(f"{name}: {title}")


if __name__ == "__main__":
    main()
