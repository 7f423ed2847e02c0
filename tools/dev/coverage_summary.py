#!/usr/bin/env python3
"""Owns: what of the core's lines and branches no test reaches, and the figures per layer.
Must never: leave out more than assertions and what a comment in the code gives a reason for.

Usage: tools/dev/coverage_summary.py EXPORT UNREACHED
EXPORT is what `llvm-cov export` writes (JSON). Writes the list of all that is unreached to UNREACHED, the figures to
standard output.

A line counts if it holds code. A branch is one outcome, true or false, of one condition, as llvm-cov counts it, with
the instances of a template taken together. Not counted are the outcomes of constant conditions, and that no case of a
switch without default is taken: such a switch names every value, which the compiler checks.

Left out are assertions: every line of an assert(...), and lines that call std::abort(). So is a line that ends in the
comment `// Unreachable: REASON`, and where this comment stands alone, the line behind it, with the whole block if that
line opens one.
"""
import bisect
import json
import pathlib
import re
import sys

CORE = ["io", "format", "engine", "api"]
BESIDE = "security"  # api/security and api/encryption, libraries beside the core
ROOT = pathlib.Path(__file__).resolve().parents[2]
MARK = re.compile(r"//\s*Unreachable:(.*)$")
NO_CODE = re.compile(r"\s*(//.*)?$")


def layer_of(path):
    """Whose a source file is, or None for what is neither the core's nor beside it."""
    if path.parts[:2] in (("api", "rest"), ("api", "testing")):
        return None
    if path.parts[0] == "api" and ("security" in path.parts or "encryption" in path.parts):
        return BESIDE
    return path.parts[0] if path.parts[0] in CORE else None


def assertion_lines(lines):
    """The numbers of the lines that an assert(...) covers, and of those that abort."""
    found = set()
    depth = 0
    for number, line in enumerate(lines, 1):
        code = line.split("//")[0]
        if depth == 0:
            if "std::abort()" in code:
                found.add(number)
            start = re.search(r"\bassert\(", code)
            if not start:
                continue
            code = code[start.start():]
        found.add(number)
        depth += code.count("(") - code.count(")")
    return found


def marked_lines(path, lines):
    """The numbers of the lines that a comment calls unreachable."""
    found = set()
    for number, line in enumerate(lines, 1):
        mark = MARK.search(line)
        if not mark:
            continue
        if not mark.group(1).strip():
            sys.exit(f"{path}:{number}: the mark needs a reason after it")
        if not line.lstrip().startswith("//"):
            found.add(number)
            continue
        end = number  # an index, so that this is the line behind
        if lines[end].endswith("{"):
            closing = re.match(r"\s*", lines[end]).group() + "}"
            while not lines[end].startswith(closing):
                end += 1
        found.update(range(number + 1, end + 2))
    return found


def line_counts(segments, lines):
    """How often each line with code was executed: the most of the regions that have code on it.

    Behind a call that never returns, as the one in an assert, llvm-cov puts a gap of zero executions that lasts into the
    next line. What it says of that line is not taken: gaps have no code.
    """
    counts = {}
    for begin, end in zip(segments, segments[1:] + [None]):
        line_begin, column_begin, count, has_count, _, is_gap = begin
        line_end, column_end = end[:2] if end else (line_begin, column_begin)
        if not has_count or is_gap:
            continue
        for line in range(line_begin, min(line_end, len(lines)) + 1):
            first = column_begin - 1 if line == line_begin else 0
            last = column_end - 1 if line == line_end else None
            if not NO_CODE.match(lines[line - 1][first:last]):
                counts[line] = max(counts.get(line, 0), count)
    return counts


def branch_counts(branches):
    """The counts of true and false by place, all instances taken together."""
    counts = {}
    for line, column, line_end, column_end, taken, not_taken, *_ in branches:
        before = counts.get((line, column, line_end, column_end), (0, 0))
        counts[(line, column, line_end, column_end)] = (before[0] + taken, before[1] + not_taken)
    return counts


def is_constant(place, outcome, segments):
    """A condition that was reached and had neither outcome is one that the compiler decided."""
    if outcome != (0, 0):
        return False
    at = bisect.bisect_right([(s[0], s[1]) for s in segments], place[:2]) - 1
    return at >= 0 and segments[at][3] and segments[at][2] > 0


def is_switch(place, lines):
    """The condition of a switch without default, which llvm-cov counts as true where no case is taken."""
    return lines[place[0] - 1][:place[1] - 1].endswith("switch (")


class Figures:
    def __init__(self):
        self.lines = self.lines_reached = self.branches = self.branches_reached = self.marked = 0

    def add(self, other):
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def row(self, name):
        def percent(reached, all_):
            return f"{100 * reached / all_:6.2f} %" if all_ else "     -  "

        return (f"{name:8} {percent(self.lines_reached, self.lines)} {self.lines_reached:6} of {self.lines:6}"
                f"   {percent(self.branches_reached, self.branches)} {self.branches_reached:6} of {self.branches:6}"
                f"   {self.marked:4}")


def read_file(path, file, unreached):
    """The figures of one file; what is unreached goes to the list."""
    source = (ROOT / path).read_text().splitlines()
    marked = marked_lines(path, source)
    left_out = marked | assertion_lines(source)
    figures = Figures()
    figures.marked = len(marked)
    for line, count in line_counts(file["segments"], source).items():
        if line in left_out:
            continue
        figures.lines += 1
        figures.lines_reached += count > 0
        if count == 0:
            unreached.append((path, line, "line", source[line - 1]))
    for place, outcome in sorted(branch_counts(file["branches"]).items()):
        if place[0] in left_out or is_constant(place, outcome, file["segments"]):
            continue
        if is_switch(place, source):
            continue
        for count, name in zip(outcome, ("true", "false")):
            figures.branches += 1
            figures.branches_reached += count > 0
            if count == 0:
                unreached.append((path, place[0], f"never {name}, column {place[1]}", source[place[0] - 1]))
    return figures


def main():
    export = json.loads(pathlib.Path(sys.argv[1]).read_text())
    layers = {name: Figures() for name in [*CORE, BESIDE]}
    unreached = []
    for file in sorted(export["data"][0]["files"], key=lambda f: f["filename"]):
        path = pathlib.Path(file["filename"])
        if not path.is_relative_to(ROOT):
            continue
        path = path.relative_to(ROOT)
        if layer_of(path):
            layers[layer_of(path)].add(read_file(path, file, unreached))

    unreached.sort(key=lambda u: (str(u[0]), u[1]))
    pathlib.Path(sys.argv[2]).write_text("".join(f"{p}:{n}: {what}: {text.strip()}\n" for p, n, what, text in unreached))
    print("core     lines                         branches                      marked")
    core = Figures()
    for name in CORE:
        core.add(layers[name])
        print(layers[name].row(name))
    print(core.row("all"))
    print(layers[BESIDE].row(BESIDE) + "   (beside the core)")


if __name__ == "__main__":
    main()
