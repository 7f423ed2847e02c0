"""Owns: medians, ranges and ratios of the recorded rounds that still hold.
Must never: mix rounds of different sources, machines or parameters."""
import statistics

OURS = "varve"


class Row:
    """All rounds of one row that belong together."""

    def __init__(self, lines):
        self.lines = sorted(lines, key=lambda line: line["round"])
        last = self.lines[-1]
        self.part, self.name, self.parameters = last["part"], last["row"], last["parameters"]
        self.commit, self.date, self.machine = last["commit"], last["date"], last["machine"]
        self.busy = any(line["busy"] for line in self.lines)
        self.limited_figure = last.get("device_limits")
        outcomes = [outcome for line in self.lines for outcome in line["contenders"].values()]
        self.unit = outcomes[0]["unit"] if outcomes else ""
        self.more_is_better = outcomes[0]["more_is_better"] if outcomes else True

    def contenders(self):
        found = {name for line in self.lines for name in line["contenders"]}
        return sorted(found, key=lambda name: (name != OURS, name))

    def opponents(self):
        return [name for name in self.contenders() if name != OURS]

    def values(self, contender, figure=None):
        """By round; None where the round has none."""
        found = [line["contenders"].get(contender) for line in self.lines]
        if figure is None:
            return [outcome and outcome["value"] for outcome in found]
        return [outcome and outcome["figures"].get(figure) for outcome in found]

    def median(self, contender, figure=None):
        return median(self.values(contender, figure))

    def series(self, contender, name):
        """Of the last round that has it."""
        for line in reversed(self.lines):
            values = line["contenders"].get(contender, {}).get("series", {}).get(name)
            if values:
                return values
        return []

    def device(self, limit="device"):
        """The limit of each round; None where the round has none. `limit`: "device" or "device_unwritten"."""
        return [line.get(limit) for line in self.lines]

    def best_opponent(self):
        """Whoever has the best median; None without one."""
        rivals = self.opponents()
        pick = max if self.more_is_better else min
        return pick(rivals, key=self.median) if rivals else None

    def ratio(self, opponent, figure=None):
        """How many times better we are, the median of the rounds, since a round saw one machine."""
        return median(self.ratios(opponent, figure))

    def ratios(self, opponent, figure=None):
        more_is_better = self.more_is_better and figure is None
        return ratios(self.values(OURS, figure), self.values(opponent, figure), more_is_better)

    def ratio_to_device(self):
        return median(self.ratios_to_device())

    def ratios_to_device(self, limit="device"):
        return ratios(self.values(OURS, self.limited_figure), self.device(limit), True)


def median(values):
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def ratios(ours, theirs, more_is_better):
    """By round, where both are known."""
    quotients = []
    for first, second in zip(ours, theirs):
        if more_is_better:
            first, second = second, first
        if first and second is not None:
            quotients.append(second / first)
    return quotients


def holding(lines, listing=None):
    """Rounds of the newest sources and of the machine that measured them. With a listing, rows by part, only its rows."""
    measured = [line for line in lines if line["kind"] == "round" and line["contenders"]
                and (listing is None or line["row"] in listing.get(line["part"], []))]
    if not measured:
        return []
    newest = max(measured, key=lambda line: line["date"])
    return [line for line in measured if all(line[name] == newest[name] for name in ("sources", "machine"))]


def rows_of(lines):
    """Rows of the rounds that hold, in the order in which the parts were first measured."""
    together = {}
    for line in holding(lines):
        together.setdefault((line["part"], line["row"]), []).append(line)
    rows = []
    for group in together.values():
        newest = max(group, key=lambda line: line["date"])
        rows.append(Row([line for line in group if line["words"] == newest["words"]]))
    return rows


def find(rows, part, name):
    return next((row for row in rows if row.part == part and row.name == name), None)
