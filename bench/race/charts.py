"""Owns: charts of the race as SVG: ratios by row, latency over time, gets through a merge, growth with size.
Must never: need anything but the figures, or hide a row that was lost."""
import html
import math

import tables

COLOURS = {"varve": "#2f6f4f", "rocksdb": "#b5651d", "leveldb": "#4a6fa5", "lmdb": "#8a5a9e", "device": "#777777"}
STYLE = ("<style>text{font:12px sans-serif;fill:#222}.title{font-size:15px;font-weight:bold}.axis{stroke:#999}"
         ".grid{stroke:#ddd}@media(prefers-color-scheme:dark){text{fill:#ddd}.grid{stroke:#444}}</style>")
WIDTH = 900
# The series of a workload for each contender, with their labels on the chart.
OVER_TIME = {"p99.9 ms": "p99.9, ms", "worst ms": "worst, ms"}


def _text(x, y, words, anchor="start", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{html.escape(str(words))}</text>'


def _svg(height, parts, title):
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">'
    return "\n".join([head, STYLE, _text(10, 22, title, more=' class="title"'), *parts, "</svg>", ""])


def _ticks(low, high):
    """1, 2 and 5 of each power of ten between the bounds, or the powers alone where these are many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    digits = (1, 2, 5) if len(powers) <= 4 else (1,)
    return [digit * 10.0 ** power for power in powers for digit in digits if low <= digit * 10.0 ** power <= high]


def _brief(value):
    for bound, suffix in ((1e6, "M"), (1e3, "k")):
        if value >= bound:
            return f"{value / bound:g}{suffix}"
    return f"{value:g}"


def _label(words, letters=52):
    """Long names lose their middle, so that the end tells two forms of a row apart."""
    words = words.replace(" (opponents copy)", " (copy)")
    return words if len(words) <= letters else f"{words[:letters - 12]}...{words[-9:]}"


def ratios(rows):
    """A bar for each row that has an opponent: to the right of the line it is won, to the left lost."""
    bars = [(row, row.best_opponent(), row.ratio(row.best_opponent())) for row in rows if row.best_opponent()]
    bars = [bar for bar in bars if bar[2]]
    if not bars:
        return None
    left, right, step, top = 340, WIDTH - 110, 22, 60
    low = min(0.5, *(ratio for _, _, ratio in bars)) / 1.2
    high = max(2, *(ratio for _, _, ratio in bars)) * 1.2
    height = top + step * len(bars) + 20

    def x(value):
        return left + (right - left) * math.log(value / low) / math.log(high / low)

    drawn = []
    for tick in _ticks(low, high):
        drawn.append(f'<line class="grid" x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{top - 8}" y2="{height - 20}"/>')
        drawn.append(_text(x(tick), top - 14, f"{tick:g}", "middle"))
    for number, (row, opponent, ratio) in enumerate(bars):
        y = top + step * number
        begin, end = sorted((x(1), x(ratio)))
        colour = COLOURS["varve"] if ratio >= 1 else "#b03030"
        drawn.append(f'<rect x="{begin:.1f}" y="{y}" width="{max(end - begin, 1):.1f}" height="{step - 6}" '
                     f'fill="{colour}"/>')
        drawn.append(_text(left - 8, y + 12, _label(f"{row.part}: {row.name}"), "end"))
        drawn.append(_text(max(x(ratio), x(1)) + 5, y + 12, f"{tables.number(ratio)} {opponent}"))
    drawn.append(f'<line class="axis" x1="{x(1):.1f}" x2="{x(1):.1f}" y1="{top - 8}" y2="{height - 20}"/>')
    return _svg(height, drawn, "Varve to the best opponent of each row: right of 1 it is better, left it is worse")


def _lines(curves, title, x_name, y_name, logarithmic_x, marks=None):
    """`curves`: points by contender. The upright axis is logarithmic, so that one stall is seen beside the rest. `marks`:
    places by contender that dashed lines show."""
    points = [point for curve in curves.values() for point in curve]
    left, right, top, bottom = 80, WIDTH - 130, 50, 380
    x_low, x_high = min(x for x, _ in points), max(x for x, _ in points)
    y_low, y_high = min(y for _, y in points) / 1.3, max(y for _, y in points) * 1.3

    def x(value):
        if x_high == x_low:
            return (left + right) / 2
        share = (math.log(value / x_low) / math.log(x_high / x_low) if logarithmic_x
                 else (value - x_low) / (x_high - x_low))
        return left + (right - left) * share

    def y(value):
        return bottom - (bottom - top) * math.log(value / y_low) / math.log(y_high / y_low)

    drawn = []
    for tick in _ticks(y_low, y_high):
        drawn.append(f'<line class="grid" x1="{left}" x2="{right}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>')
        drawn.append(_text(left - 6, y(tick) + 4, _brief(tick), "end"))
    for value in sorted({place for place, _ in points}) if logarithmic_x else [x_low, (x_low + x_high) / 2, x_high]:
        drawn.append(_text(x(value), bottom + 18, _brief(value), "middle"))
    for name, places in (marks or {}).items():
        drawn += [f'<line x1="{x(place):.1f}" x2="{x(place):.1f}" y1="{top}" y2="{bottom}" stroke-dasharray="4 4" '
                  f'stroke="{COLOURS.get(name, "#777777")}"/>' for place in places]
    for number, (name, curve) in enumerate(curves.items()):
        path = " ".join(f"{x(place):.1f},{y(value):.1f}" for place, value in curve)
        colour = COLOURS.get(name, "#777777")
        drawn.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.8"/>')
        drawn += [f'<circle cx="{x(place):.1f}" cy="{y(value):.1f}" r="2" fill="{colour}"/>' for place, value in curve]
        drawn.append(_text(right + 10, top + 18 * number, name, more=f' style="fill:{colour}"'))
    drawn.append(_text((left + right) / 2, bottom + 36, x_name, "middle"))
    drawn.append(_text(left, top - 12, y_name))
    return _svg(bottom + 50, drawn, title)


def over_time(row, series, seconds_of_slot):
    curves = {}
    for name in row.contenders():
        points = [(slot * seconds_of_slot, value) for slot, value in enumerate(row.series(name, series)) if value > 0]
        if points:
            curves[name] = points
    if not curves:
        return None
    return _lines(curves, f"{row.part}: {row.name}: {OVER_TIME[series]}", "seconds", OVER_TIME[series], False)


def through_merge(row):
    """Gets a second around a merge of everything, which begins at zero for every contender. Dashed lines show its end."""
    curves, marks = {}, {}
    seconds = row.parameters["slot_seconds"]
    for name in row.contenders():
        begun, ended = (_of_series(row, name, figure) for figure in ("merge from s", "merge to s"))
        points = [((slot + 0.5) * seconds - (begun or 0), value)
                  for slot, value in enumerate(row.series(name, "gets /s")) if value > 0]
        if points and begun is not None and ended is not None:
            curves[name], marks[name] = points, [0, ended - begun]
    if not curves:
        return None
    return _lines(curves, f"{row.part}: gets a second before, during and after a merge of everything",
                  "seconds since the merge began", "gets a second", False, marks)


def _of_series(row, contender, figure):
    """A figure of the round whose series Row.series() returns."""
    for line in reversed(row.lines):
        outcome = line["contenders"].get(contender, {})
        if outcome.get("series"):
            return outcome["figures"].get(figure)
    return None


def growth(rows, name):
    """One row of the parts `curve-...`, by entities."""
    same = sorted((row for row in rows if row.part.startswith("curve-") and row.name == name),
                  key=lambda row: row.parameters["curve_entities"])
    curves = {}
    for row in same:
        for contender in row.contenders():
            curves.setdefault(contender, []).append((row.parameters["curve_entities"], row.median(contender)))
    if len({row.parameters["curve_entities"] for row in same}) < 2:
        return None
    return _lines(curves, f"{name}, by size", "entities", same[0].unit, True)


def _file_name(words):
    return "".join(letter if letter.isalnum() else "-" for letter in words.lower()).replace("--", "-").strip("-")


def all_of(rows):
    """Charts by the name of their file."""
    charts = {"ratios.svg": ratios(rows)}
    for row in rows:
        for series in OVER_TIME:
            drawn = over_time(row, series, row.parameters["slot_seconds"])
            charts[f"{_file_name(f'{row.part} {row.name} {series}')}.svg"] = drawn
        charts[f"{_file_name(f'{row.part} gets through a merge')}.svg"] = through_merge(row)
    for name in dict.fromkeys(row.name for row in rows if row.part.startswith("curve-")):
        charts[f"{_file_name(f'growth {name}')}.svg"] = growth(rows, name)
    return {name: drawn for name, drawn in charts.items() if drawn}
