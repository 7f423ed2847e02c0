"""Owns: the file of results: a line of JSON for each row of each round, the newest last.
Must never: change a line, or lose one that holds, except a last one that was cut short."""
import json
import os


def read(path):
    """All lines that are whole. Only the last one can be cut: each is added behind the others in one piece."""
    try:
        with open(path, "rb") as file:
            lines = file.read().split(b"\n")
    except FileNotFoundError:
        return []
    found = []
    for line in lines[:-1]:  # text after the last line break is incomplete
        try:
            found.append(json.loads(line))
        except ValueError:
            raise ValueError(f"{path} has a line that is not JSON: {line[:80]!r}") from None
    return found


def append(path, lines):
    """Adds objects behind what is whole, durably: a line that was cut before is taken away first."""
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    text = "".join(json.dumps(line, sort_keys=True) + "\n" for line in lines).encode()
    with open(path, "ab+") as file:
        file.truncate(_whole_bytes(file))
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _whole_bytes(file):
    file.seek(0)
    return file.read().rfind(b"\n") + 1


def keep(path, holds):
    """Moves the lines for which `holds` is false to a file of the same name and `.old`, and returns their number. The
    file changes in one step: a reader sees all lines or only those that hold."""
    lines = read(path)
    kept = [line for line in lines if holds(line)]
    if len(kept) == len(lines):
        return 0
    new = f"{path}.new"
    if os.path.exists(new):
        os.unlink(new)  # of a call that was killed
    append(f"{path}.old", [line for line in lines if not holds(line)])
    append(new, kept)
    os.replace(new, path)
    return len(lines) - len(kept)


def rounds_of(lines, part, row, about, words):
    """Numbers of the rounds that are there already, of this machine and these sources, with these words."""
    return {line["round"] for line in lines
            if line["kind"] == "round" and line["part"] == part and line["row"] == row and line["words"] == words
            and line["sources"] == about["sources"] and line["machine"] == about["machine"]}
