"""Owns: the plan of kills of the outbox trial, which follows from its seed alone.
Must never: depend on how long anything took. A moment differs from run to run; the plan does not.

A store belongs to one process at a time. So the trial has two kinds of shifts, in turns:

  embedded  a producer that embeds the store commits each entity with its message. It is killed, and started again.
  served    `varve serve` has the store. Workers, and a producer by two requests, are clients of it. The server, the workers
            and the producer are killed independently of each other."""
import collections
import random

WORKERS = 2
VICTIMS = ("server", "worker", "producer")
WEIGHTS = (40, 35, 25)
LIVES = (2, 4)  # of the producer in an embedded shift
KILLS = (6, 10)  # in a served shift, before its end
LIFE_MS = (2, 300)
CALM_MS = (20, 500)

# The life of an embedded producer: the time until its kill, and the durability of its commits.
Life = collections.namedtuple("Life", ["milliseconds", "durability", "seed"])
# A kill in a served shift. `worker`: its number, if the victim is one. `again_ms`: the server is killed a second time this
# long after its new start, or None.
Kill = collections.namedtuple("Kill", ["milliseconds", "victim", "worker", "again_ms"])
# `lives` and `kills` follow each other. `last`: the order in which the processes are killed at the end.
Shift = collections.namedtuple("Shift", ["lives", "kills", "last"])


def even_ratio(chance, bounds):
    """Returns a number between the bounds, small ones as often as large ones."""
    low, high = bounds
    return low * (high / low) ** chance.random()


def life(chance):
    return Life(even_ratio(chance, LIFE_MS), chance.choice(("sync", "buffered")), chance.randrange(1 << 32))


def kill(chance):
    victim = chance.choices(VICTIMS, WEIGHTS)[0]
    again = chance.uniform(0, 80) if victim == "server" and chance.randrange(4) == 0 else None
    return Kill(chance.uniform(*CALM_MS), victim, chance.randrange(WORKERS), again)


def shifts(seed):
    """Yields shifts for ever."""
    chance = random.Random(seed)
    while True:
        lives = [life(chance) for _ in range(chance.randint(*LIVES))]
        kills = [kill(chance) for _ in range(chance.randint(*KILLS))]
        last = ["server", "producer", *("worker" for _ in range(WORKERS))]
        chance.shuffle(last)
        yield Shift(lives, kills, last)
