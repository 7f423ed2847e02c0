"""Owns: the model that turns instructions of an operation into a forecast of its rate on more processors.
Must never: measure, or read a file.

An operation has a parallel part, which any processor does, and sections. Of each section only `at_once` operations can
be inside at a time: the holder of a lock, the leader of a queue, the one thread of a flush. The model is a closed
queueing network: one client a processor, a station for each section, exact mean value analysis (Reiser and Lavenberg,
1980). A section that a background thread does for the operation takes processor time and bounds the rate, but no client
waits in it."""
import collections

# instructions: of one operation inside the section. by: "leader", "lock" or "thread". background: a background thread does it.
Section = collections.namedtuple("Section", ["name", "by", "instructions", "at_once", "background"], defaults=[1, False])
# instructions: of one operation in all threads, sections included.
Work = collections.namedtuple("Work", ["name", "instructions", "sections"])
# speedup: the rate as a multiple of the rate on one processor. bound: the section that bounds it, or None.
Forecast = collections.namedtuple("Forecast", ["cores", "speedup", "bound"])


def check(work):
    """Raises ValueError if the sections have more instructions than the operation."""
    inside = sum(section.instructions for section in work.sections)
    if work.instructions <= 0 or inside > work.instructions:
        raise ValueError(f"{work.name}: {inside} instructions in sections, {work.instructions} in all")
    return work


def _rate_with_queues(parallel, demands, clients):
    """Operations an instruction time, by mean value analysis; `demands`: of the stations."""
    queues = [0.0] * len(demands)
    rate = 0.0
    for client in range(1, clients + 1):
        stays = [demand * (1 + queue) for demand, queue in zip(demands, queues)]
        rate = client / (parallel + sum(stays))
        queues = [rate * stay for stay in stays]
    return rate


def rate(work, cores):
    """Operations an instruction time of one processor, and the section that bounds them (None: the processors do)."""
    check(work)
    ahead = [section for section in work.sections if not section.background]
    parallel = work.instructions - sum(section.instructions for section in work.sections)
    queued = _rate_with_queues(parallel, [section.instructions / section.at_once for section in ahead], cores)
    bounds = [(queued, None), (cores / work.instructions, None)]
    bounds += [(section.at_once / section.instructions, section) for section in work.sections if section.instructions]
    least = min(bounds, key=lambda bound: bound[0])[0]
    longest = max(work.sections, key=lambda section: section.instructions / section.at_once, default=None)
    is_held = longest is not None and longest.instructions and least > 0.8 * longest.at_once / longest.instructions
    return least, longest if is_held else None


def forecast(work, cores):
    """A section is said to bound the rate from four fifths of its own limit on."""
    alone, _ = rate(work, 1)
    reached, bound = rate(work, cores)
    return Forecast(cores, reached / alone, bound)


def longest_serial(work):
    """The section that bounds the rate on any number of processors; None without one."""
    return max((section for section in work.sections if section.instructions),
               key=lambda section: section.instructions / section.at_once, default=None)
