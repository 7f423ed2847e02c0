"""Owns: the tables of a race as Markdown.
Must never: leave out a row that was lost, or a figure that was measured."""
import figures

CONTENDERS = ["varve", "rocksdb", "leveldb", "lmdb", "azurite", "sqlite", "rabbitmq", "redis", "files"]
COLUMNS = ["p50 us", "p99 us", "p99.9 us", "p99.99 us", "max us", "stalled s", "CPU s/M", "background CPU s/M",
           "written/user", "read/user", "reads/op", "disk MB", "RSS MB", "memory limit MB"]
# The cost of a million operations: processor seconds, and megabytes to and from the device.
COSTS = {"CPU s/M": "CPU s", "written MB/M": "written MB", "read MB/M": "read MB"}


def number(value):
    """Three digits that count."""
    if value is None:
        return "-"
    size = abs(value)
    for bound, divisor, suffix in ((1e6, 1e6, " M"), (1e4, 1e3, " k")):
        if size >= bound:
            return number(value / divisor) + suffix
    return f"{value:.{0 if size >= 100 or size == 0 else 1 if size >= 10 else 2 if size >= 1 else 3}f}"


def span(values):
    known = [value for value in values if value is not None]
    if not known:
        return "-"
    middle = number(figures.median(known))
    return middle if len(known) == 1 else f"{middle} ({number(min(known))}-{number(max(known))})"


def table(head, lines):
    """Aligned, so that it reads as text too."""
    cells = [head, *lines]
    widths = [max(3, *(len(line[column]) for line in cells)) for column in range(len(head))]
    text = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in cells]
    text.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(text) + "\n"


def goal_table(lines):
    head = ["goal", "of", "wanted", "measured (range)", "", "ours", "theirs", "limit", "rounds"]
    return table(head, [_goal_cells(*line) for line in lines])


def _goal_cells(goal, met, measured):
    cells = [goal.name, goal.text, f"{'>=' if goal.at_least else '<='} {goal.bound:g}"]
    if measured is None:
        return [*cells, "-", "not measured yet", "-", "-", "-", "0"]
    theirs = f"{number(measured.theirs)} ({measured.rival})" if measured.rival else "-"
    return [*cells, span(measured.values), "met" if met else "missed", number(measured.ours), theirs,
            number(measured.limit), str(len(measured.values))]


def contenders_of(rows):
    found = {contender for row in rows for contender in row.contenders()}
    return [name for name in CONTENDERS if name in found]


def race_table(rows):
    contenders = contenders_of(rows)
    head = ["median (range)", "unit", *contenders, "ratio to the best", "by CPU", "device", "ratio to it", "rounds"]
    lines = []
    for row in rows:
        best = row.best_opponent()
        ratio = f"{number(row.ratio(best))} ({best})" if best and row.ratio(best) else "-"
        by_cpu = number(row.ratio(best, "CPU s/M")) if best else "-"
        name = row.name + (" (busy machine)" if row.busy else "")
        lines.append([name, row.unit, *(span(row.values(contender)) for contender in contenders), ratio, by_cpu,
                      span(row.device()), number(row.ratio_to_device()), str(len(row.lines))])
    return table(head, lines)


def others(row, contender):
    names = sorted({name for line in row.lines for name in line["contenders"].get(contender, {}).get("figures", {})})
    return "; ".join(f"{name} {number(row.median(contender, name))}" for name in names if name not in COLUMNS and name not in COSTS)


def cost_table(rows):
    lines = [[row.name, contender, *(number(row.median(contender, column)) for column in COLUMNS),
              others(row, contender)] for row in rows for contender in row.contenders()]
    return table(["medians", "contender", *COLUMNS, "others"], lines)


def costs_of_a_million(rows):
    contenders = contenders_of(rows)
    head = ["of a million", *(f"{name}, {contender}" for name in COSTS.values() for contender in contenders)]
    lines = [[row.name, *(number(row.median(contender, figure)) for figure in COSTS for contender in contenders)]
             for row in rows if any(row.median(figures.OURS, figure) is not None for figure in COSTS)]
    return table(head, lines)


def parts_of(rows):
    parts = {}
    for row in rows:
        parts.setdefault(row.part, []).append(row)
    return parts


def about(rows):
    """What a part's figures were measured with."""
    row = rows[-1]
    words = f"`{' '.join(row.lines[-1]['words'])}`" if row.lines[-1]["words"] else "its own defaults"
    loads = [line["load_average"] for each in rows for line in each.lines]
    foreign = max(line["foreign"] for each in rows for line in each.lines)
    back_ends = {name: outcome["back_end"] for line in row.lines for name, outcome in line["contenders"].items()
                 if "back_end" in outcome}
    told = "; ".join(f"{name}: {back_end}" for name, back_end in sorted(back_ends.items()))
    return (f"Commit {row.commit}, {row.date[:10]}; `varve-bench` had {words}. Load average at most {max(loads):.1f}, others "
            f"used at most {foreign:.2f} processors. {told or 'Measured by another program'}.")
