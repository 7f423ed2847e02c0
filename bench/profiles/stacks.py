"""Owns: call stacks as `perf script` tells them: their folding, their sums, their flame graph.
Must never: guess at a name that perf did not find."""
import collections
import html
import re

FRAME = re.compile(r"^\s+[0-9a-f]+ (.+) \((\S+)\)$")
WIDTH, STEP, LETTER = 1200, 16, 6.6
STYLE = ("<style>text{font:11px monospace;fill:#111;pointer-events:none}.title{font:15px sans-serif;font-weight:bold}"
         "rect{stroke:#fff;stroke-width:.4}@media(prefers-color-scheme:dark){.title{fill:#ddd}}</style>")


def short(name):
    """Without arguments, templates' words and our own namespace."""
    while True:
        shorter = re.sub(r"<[^<>]*>", "", name)
        if shorter == name:
            break
        name = shorter
    name = name.replace("(anonymous namespace)::", "").replace("[abi:cxx11]", "")
    name = re.sub(r"\(.*$", "", re.sub(r"\+0x[0-9a-f]+$", "", name)).replace("varve::", "")
    return name.split(" ")[-1] or "?"


def fold(lines, thread=None, within=None):
    """Samples by stack, a tuple from the outermost frame on. `thread`: of threads whose name matches alone; `within`: of
    what this frame called alone, from there on."""
    stacks = collections.Counter()
    frames, taken = [], False
    for line in [*lines, ""]:
        line = line.rstrip("\n")
        if not line.strip():
            stack = tuple(reversed(frames)) if taken else ()
            if within is not None:
                stack = stack[stack.index(within) + 1:] if within in stack else ()
            if stack:
                stacks[stack] += 1
            frames, taken = [], False
        elif line[0].isspace():
            found = FRAME.match(line)
            if found:
                name, module = found.groups()
                unknown = name == "[unknown]"
                frames.append(f"[{module.rsplit('/', 1)[-1].strip('[]')}]" if unknown else short(name))
        else:
            taken = thread is None or re.search(thread, line.split()[0]) is not None
    return stacks


def own_shares(stacks):
    """Of all samples, by the function that was running, largest first."""
    own = collections.Counter()
    for stack, count in stacks.items():
        own[stack[-1]] += count
    return shares(own, stacks)


def whole_shares(stacks):
    """The same with what it called."""
    whole = collections.Counter()
    for stack, count in stacks.items():
        for name in set(stack):
            whole[name] += count
    return shares(whole, stacks)


def shares(counts, stacks):
    total = sum(stacks.values()) or 1
    return [(name, count / total) for name, count in counts.most_common()]


class Node:
    def __init__(self):
        self.count = 0
        self.calls = {}


def tree_of(stacks):
    root = Node()
    for stack, count in stacks.items():
        root.count += count
        node = root
        for name in stack:
            node = node.calls.setdefault(name, Node())
            node.count += count
    return root


def colour(name):
    """Ours in greens, the kernel's and libraries' in greys and browns: one name, one colour."""
    number = sum(ord(letter) * (place + 1) for place, letter in enumerate(name))
    if "::" in name:
        return f"hsl({100 + number % 60},{45 + number % 20}%,{66 + number % 12}%)"
    return f"hsl({25 + number % 25},{30 + number % 30}%,{74 + number % 10}%)"


def flame_graph(stacks, title):
    """SVG: a box's width is its share of all samples; callers stand below those they call."""
    root = tree_of(stacks)
    boxes, deepest = [], 0

    def place(node, left, depth):
        nonlocal deepest
        for name, call in sorted(node.calls.items()):
            width = call.count / root.count * (WIDTH - 20)
            if width >= 0.5:
                boxes.append((name, call.count, left, width, depth))
                deepest = max(deepest, depth)
                place(call, left, depth + 1)
            left += width

    place(root, 10, 0)
    height = 50 + STEP * (deepest + 1)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">',
             STYLE, f'<text class="title" x="10" y="22">{html.escape(title)}</text>']
    for name, count, left, width, depth in boxes:
        y = height - 10 - STEP * (depth + 1)
        told = html.escape(f"{name}: {100 * count / root.count:.1f} %")
        fits = int(width / LETTER) - 1
        label = name if len(name) <= fits else name[:fits - 1] + "…" if fits > 3 else ""
        parts.append(f'<g><title>{told}</title><rect x="{left:.1f}" y="{y}" width="{width:.1f}" height="{STEP}" '
                     f'fill="{colour(name)}"/>')
        if label:
            parts.append(f'<text x="{left + 3:.1f}" y="{y + 12}">{html.escape(label)}</text>')
        parts.append("</g>")
    return "\n".join([*parts, "</svg>", ""])
