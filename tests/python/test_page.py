"""Goal: the examples in docs/python.md work, in their order.

Method: all of them run as one program, in an empty directory.
"""
import contextlib
import io
import os
import re
import tempfile
import unittest

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "python.md")


class Page(unittest.TestCase):
    def test_the_examples_run(self):
        with open(PAGE, encoding="utf-8") as file:
            examples = re.findall(r"```python\n(.*?)```", file.read(), re.DOTALL)
        self.assertGreaterEqual(len(examples), 5)
        printed = io.StringIO()
        with tempfile.TemporaryDirectory() as directory, contextlib.chdir(directory), contextlib.redirect_stdout(printed):
            exec(compile("\n".join(examples), PAGE, "exec"), {})
        self.assertEqual(printed.getvalue(), "0001 Ann\n('eu',) (Int64(1), 12.5)\n")


if __name__ == "__main__":
    unittest.main()
