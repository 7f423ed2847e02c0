"""Goal: what perf tells is folded, summed and drawn as it is.
Method: a text in the form of `perf script`, made up, with threads, kernels and templates in it."""
import unittest
import xml.etree.ElementTree

import stacks

SCRIPT = """varve-bench  4242  1000.000001:     cpu-clock:
\t    55d0 varve::engine::Lookup::advance(unsigned long)+0x10 (/b/varve-bench)
\t    55d1 varve::Table::get(std::basic_string_view<char, std::char_traits<char> >) const (/b/varve-bench)
\t    55d2 varve::bench::(anonymous namespace)::drive_thread(Course&, int) (/b/varve-bench)
\t    7f00 start_thread (/lib/libc.so.6)

varve-bench  4242  1000.000002:     cpu-clock:
\tffffffff clear_page_erms ([kernel.kallsyms])
\t    55d1 varve::Table::get(std::basic_string_view<char, std::char_traits<char> >) const (/b/varve-bench)
\t    55d2 varve::bench::(anonymous namespace)::drive_thread(Course&, int) (/b/varve-bench)

varve-flush  4243  1000.000003:     cpu-clock:
\t    7f01 [unknown] (/lib/libzstd.so.1)
\t    55d5 void varve::engine::Flusher::flush<std::vector<int, std::allocator<int> > >(int) (/b/varve-bench)

""".splitlines(keepends=True)


class FoldTest(unittest.TestCase):
    def test_stacks_begin_outermost_and_names_are_short(self):
        folded = stacks.fold(SCRIPT)
        self.assertIn(("start_thread", "bench::drive_thread", "Table::get", "engine::Lookup::advance"), folded)
        self.assertIn(("engine::Flusher::flush", "[libzstd.so.1]"), folded)
        self.assertEqual(sum(folded.values()), 3)

    def test_threads_and_frames_can_be_chosen(self):
        self.assertEqual(list(stacks.fold(SCRIPT, "^varve-flush")), [("engine::Flusher::flush", "[libzstd.so.1]")])
        within = stacks.fold(SCRIPT, None, "bench::drive_thread")
        self.assertEqual(within, {("Table::get", "engine::Lookup::advance"): 1, ("Table::get", "clear_page_erms"): 1})

    def test_nothing_is_folded_from_nothing(self):
        self.assertEqual(stacks.fold([]), {})
        self.assertEqual(stacks.own_shares({}), [])


class SharesTest(unittest.TestCase):
    def test_own_and_whole(self):
        folded = {("a", "b"): 3, ("a",): 1, ("c", "a", "a"): 4}
        self.assertEqual(stacks.own_shares(folded), [("a", 5 / 8), ("b", 3 / 8)])
        self.assertEqual(dict(stacks.whole_shares(folded)), {"a": 1.0, "b": 3 / 8, "c": 0.5})


class FlameGraphTest(unittest.TestCase):
    def test_is_a_picture_with_a_box_for_each_call(self):
        picture = stacks.flame_graph({("a<b", "c"): 3, ("a<b",): 1}, "what & why")
        root = xml.etree.ElementTree.fromstring(picture)
        boxes = root.findall(".//{http://www.w3.org/2000/svg}rect")
        told = [each.text for each in root.findall(".//{http://www.w3.org/2000/svg}title")]
        self.assertEqual(told, ["a<b: 100.0 %", "c: 75.0 %"])
        self.assertAlmostEqual(float(boxes[0].get("width")) * 0.75, float(boxes[1].get("width")), places=1)
        self.assertLess(float(boxes[1].get("y")), float(boxes[0].get("y")))


if __name__ == "__main__":
    unittest.main()
