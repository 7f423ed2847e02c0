"""Owns: the proof of the model by cases whose answer is known, and of reading what callgrind counted.
Must never: run valgrind or a benchmark."""
import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import forecast  # noqa: E402
import model  # noqa: E402


def work(parallel, *serial, background=0):
    sections = [model.Section(f"section {place}", "lock", instructions) for place, instructions in enumerate(serial)]
    if background:
        sections.append(model.Section("flush", "thread", background, 1, True))
    return model.Work("work", parallel + sum(serial) + background, sections)


def simulated(parallel, serial, clients, operations=30_000, seed=1):
    """Rate of clients that draw exponential times and queue for one section, by simulation."""
    draw = random.Random(seed).expovariate
    arrivals = [draw(1 / parallel) for _ in range(clients)]
    free = 0.0
    for _ in range(operations):
        client = min(range(clients), key=arrivals.__getitem__)
        free = max(free, arrivals[client]) + draw(1 / serial)
        arrivals[client] = free + draw(1 / parallel)
    return operations / free


class ModelTest(unittest.TestCase):
    def test_work_without_sections_grows_with_the_processors(self):
        for cores in (1, 2, 16, 64):
            self.assertAlmostEqual(model.forecast(work(1000), cores).speedup, cores)

    def test_work_that_is_one_section_does_not_grow(self):
        told = model.forecast(work(0, 1000), 16)
        self.assertAlmostEqual(told.speedup, 1)
        self.assertEqual(told.bound.name, "section 0")

    def test_the_longest_section_bounds_the_rate(self):
        told = model.forecast(work(9000, 1000, 300), 64)
        self.assertLessEqual(told.speedup, 10.3)
        self.assertGreater(told.speedup, 10)
        self.assertEqual(told.bound.name, "section 0")
        self.assertIsNone(model.forecast(work(9000, 1000, 300), 2).bound)

    def test_clients_wait_before_the_bound_is_reached(self):
        told = model.forecast(work(9000, 1000), 10).speedup
        self.assertLess(told, 9)
        self.assertGreater(told, 7)

    def test_it_agrees_with_a_simulation(self):
        for parallel, serial, clients in ((9000, 1000, 2), (9000, 1000, 8), (9000, 1000, 16), (5000, 5000, 4)):
            rate, _ = model.rate(work(parallel, serial), clients)
            self.assertAlmostEqual(rate / simulated(parallel, serial, clients), 1, delta=0.03)

    def test_several_may_be_inside_a_section(self):
        one = model.Work("work", 2000, [model.Section("merge", "thread", 1000, 1, True)])
        four = model.Work("work", 2000, [model.Section("merge", "thread", 1000, 4, True)])
        self.assertAlmostEqual(model.forecast(one, 64).speedup, 2)
        self.assertAlmostEqual(model.forecast(four, 64).speedup, 8)

    def test_background_work_takes_processors(self):
        self.assertAlmostEqual(model.forecast(work(1000, background=10), 4).speedup, 4)
        self.assertAlmostEqual(model.rate(work(1000, background=1000), 1)[0], 1 / 2000)

    def test_rates_never_fall_with_processors_or_rise_with_sections(self):
        for serial in (0, 10, 100, 1000):
            rates = [model.rate(work(5000, serial), cores)[0] for cores in range(1, 65)]
            self.assertEqual(rates, sorted(rates))
        for cores in (1, 4, 64):
            rates = [model.rate(work(5000, serial), cores)[0] for serial in (0, 10, 100, 1000)]
            self.assertEqual(rates, sorted(rates, reverse=True))

    def test_more_inside_than_in_all_is_refused(self):
        with self.assertRaises(ValueError):
            model.check(model.Work("work", 100, [model.Section("lock", "lock", 200)]))


ANNOTATED = """
--------------------------------------------------------------------------------
Ir
--------------------------------------------------------------------------------
3,000,000 (100.0%)  PROGRAM TOTALS

--------------------------------------------------------------------------------
Ir                  file:function
--------------------------------------------------------------------------------
2,000,000 (66.67%)  engine/commit/commit_queue.cc:varve::engine::CommitQueue::run_turn(varve::engine::CommitGroup&) [/x/varve]
  900,000 (30.00%)  ???:varve::engine::CommitQueue::insert(varve::engine::CommitGroup&)'2 [/x/varve]
  100,000 ( 3.33%)  engine/commit/commit_queue.cc:varve::engine::CommitQueue::join(varve::engine::Member&) [/x/varve]
   50,000 ( 1.67%)  engine/commit/commit_queue.cc:varve::engine::CommitQueue::publish(varve::engine::CommitGroup&)
"""


class ForecastTest(unittest.TestCase):
    def test_sections_are_read_from_callgrind(self):
        found = forecast.inclusive(ANNOTATED)
        lead = forecast.section_of(forecast.LEAD, found, 100)
        self.assertEqual((lead.by, lead.instructions), ("leader", 10_500))
        self.assertEqual(forecast.section_of(forecast.LISTS, found, 100).instructions, 1500)

    def test_a_function_that_is_gone_is_an_error(self):
        with self.assertRaises(ValueError):
            forecast.section_of(forecast.LEAD, forecast.inclusive(ANNOTATED.replace("run_turn", "turn")), 100)

    def test_the_page_has_forecasts_beside_what_was_measured(self):
        lead = model.Section("lead", "leader", 1000)._asdict()
        recorded = {"buffered put": {"instructions": 10_000, "sections": [lead], "measured": {"1": 100, "2": 150}},
                    "cached get": {"instructions": 8000, "sections": []}}
        lines = [line for line in forecast.page(recorded).splitlines() if line.startswith("| ")]
        cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[1:]]
        self.assertEqual(cells[0], ["cached get", "8000", "none counted", "2.00", "16.00", "64.00", "13", "-"])
        self.assertEqual(cells[1][:3], ["buffered put", "10000", "lead (leader): 1000"])
        self.assertIn("(bound)", cells[1][5])
        self.assertEqual(cells[1][6:], ["4", "1.50"])

    def test_rows_have_names_of_their_own(self):
        self.assertEqual(len({row.name for row in forecast.ROWS}), len(forecast.ROWS))


if __name__ == "__main__":
    unittest.main()
