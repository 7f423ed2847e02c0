"""Owns: the page of results: tables, goals and charts of all that is on file.
Must never: measure."""
import pathlib

import charts
import figures
import goals
import tables

HEAD = """# The race

Written by `tools/race --report` from `{results}`, which has each round as a line of JSON and is not kept in the repository. No
line here is edited by hand. [README.md](README.md) describes the parts and the contenders' settings. The page has lost rows as
well as won rows.

The machine: {machine}.

Each figure is the median of its rounds, with their range. *Ratio to the best* is how many times better Varve is than the
best opponent of the row, by the median of the rounds' own ratios. Below 1 the row is lost. *Device* is the limit measured in the
same round. *Opponents copy*: an opponent copies the bytes of an entity that it read. In the row of the same name without
these words it decodes the entity, as Varve does in both. {busy}{thrown}
"""

GOALS = """*Measured* is compared with *wanted*: a ratio where the goal names an opponent or the device, otherwise a figure of
ours. It follows from *ours*, *theirs* (the best opponent of the row, or the one that the goal names) and *limit* (of the
device). [GOALS.md](../GOALS.md) explains the missed goals. What needs more processors than the machine has is
forecast, not measured: see [the model](../model/README.md).
"""


def page(lines, rows, drawn, results_name, about_parts):
    thrown = sum(1 for line in lines if line["kind"] == "thrown away")
    busy = "Rows that say so were measured beside other work and mean nothing. " if any(row.busy for row in rows) else ""
    text = [HEAD.format(results=results_name, machine=rows[0].machine, busy=busy,
                        thrown=f"{thrown} rounds of parts were thrown away because of foreign load.")]
    text += [f"![{name.removesuffix('.svg')}](charts/{name})\n" for name in drawn]
    text.append("## Goals\n\n" + GOALS + "\n" + tables.goal_table(goals.lines_of(rows)))
    text.append("## Cost\n\nProcessor seconds of all threads, background work included, and megabytes that went to and came from "
                "the device, a million operations.\n\n" + tables.costs_of_a_million(rows))
    for part, group in tables.parts_of(rows).items():
        text.append(f"## {part}\n\n{about_parts.get(part, '')}\n\n{tables.about(group)}\n\n{tables.race_table(group)}\n"
                    f"{tables.cost_table(group)}")
    return "\n".join(text)


def write(lines, out, results_name, about_parts):
    """The names of the files written, below `out`."""
    rows = figures.rows_of(lines)
    if not rows:
        return []
    drawn = charts.all_of(rows)
    home = pathlib.Path(out)
    (home / "charts").mkdir(parents=True, exist_ok=True)
    for path in (home / "charts").glob("*.svg"):
        path.unlink()  # the rows have another name now
    files = {home / "charts" / name: chart for name, chart in drawn.items()}
    files[home / "RESULTS.md"] = page(lines, rows, drawn, results_name, about_parts)
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
    return list(files)
