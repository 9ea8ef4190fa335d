#!/usr/bin/env python3
"""check_layers_test.py   what tools/check_layers.py refuses, on trees of three files."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parent.parent.parent / "tools" / "check_layers.py"
TABLE = "## The layers\n\nWords.\n\n| layer | what |\n|---|---|\n| `src` itself | a |\n| `low` | b |\n| `high`, `faro.hpp` | c |\n| `extras` | d |\n\nRules.\n"


class Layers(unittest.TestCase):
    def check(self, files: dict[str, str], exceptions: str = "", *words: str) -> tuple[int, str]:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {"docs/architecture.md": TABLE, "tools/layer_exceptions.txt": exceptions, **files}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            done = subprocess.run([sys.executable, "-B", CHECK, *words, root], capture_output=True, text=True)
            self.exceptions = (root / "tools/layer_exceptions.txt").read_text()
            return done.returncode, done.stderr

    def test_downward_passes(self):
        files = {"src/low/a.hpp": "", "src/high/b.hpp": "", "src/high/b.cpp": '#include "high/b.hpp"\n#include "low/a.hpp"\n'}
        self.assertEqual(self.check(files), (0, ""))

    def test_upward(self):
        status, text = self.check({"src/low/a.cpp": '#include "high/b.hpp"\n', "src/high/b.hpp": ""})
        self.assertEqual(status, 1)
        self.assertIn("src/low/a.cpp:1: low/a is above high/b", text)

    def test_upward_to_a_public_header(self):
        self.assertIn("low/a is above faro", self.check({"src/low/a.hpp": '#include "faro/faro.hpp"\n', "include/faro/faro.hpp": ""})[1])

    def test_circle_through_a_source(self):
        files = {"src/low/a.hpp": "", "src/low/a.cpp": '#include "low/b.hpp"\n', "src/low/b.hpp": '#include "low/a.hpp"\n'}
        status, text = self.check(files)
        self.assertEqual(status, 1)
        self.assertIn("modules in a circle: low/a -> low/b -> low/a", text)
        self.assertEqual(self.check(files, "low/a -> low/b\n"), (0, ""))

    def test_circle_of_python_within_a_function(self):
        files = {"python/faro/__init__.py": "from . import _faro\n", "python/faro/one.py": "from . import two\n",
                 "python/faro/two.py": "def f():\n    from .one import g\n    return g\n"}
        self.assertIn("modules in a circle: faro.one -> faro.two -> faro.one", self.check(files)[1])

    def test_needless_exception(self):
        files = {"src/low/a.hpp": "", "src/high/b.hpp": '#include "low/a.hpp"\n'}
        listed = "# Words.\nhigh/b -> low/a\nlow/c -> low/d\n"
        status, text = self.check(files, listed)
        self.assertEqual((status, text.count("no longer needed")), (1, 2))
        self.assertEqual(self.check(files, listed, "--shrink"), (0, ""))
        self.assertEqual(self.exceptions, "# Words.\n")

    def test_extras_take_what_is_installed(self):
        files = {"extras/p/a.cpp": '#include "p/b.hpp"\n#include "faro/faro.hpp"\n', "extras/p/p/b.hpp": "", "include/faro/faro.hpp": ""}
        self.assertEqual(self.check(files), (0, ""))
        files |= {"extras/p/c.cpp": '#include "low/a.hpp"\n', "src/low/a.hpp": ""}
        self.assertIn("extras/p/c.cpp:1: extras/p includes low/a, which is neither installed nor named", self.check(files)[1])
        self.assertEqual(self.check(files, "extras/p -> low/a\n"), (0, ""))
        named = TABLE + "\n### Named interfaces\n\n| header | what for |\n|---|---|\n| `low/a.hpp` | e |\n"
        self.assertEqual(self.check(files | {"docs/architecture.md": named}), (0, ""))
        self.assertIn("no project of extras/ includes low/b, which is named",
                      self.check(files | {"docs/architecture.md": named + "| `low/b.hpp` | f |\n"})[1])

    def test_extras_take_headers_of_one_another(self):
        files = {"extras/p/include/faro/p/a.hpp": "", "extras/q/b.cpp": '#include "faro/p/a.hpp"\n'}
        self.assertEqual(self.check(files), (0, ""))

    def test_folder_without_a_layer(self):
        self.assertIn("names no layer of other/a.hpp", self.check({"src/other/a.hpp": "", "src/low/b.cpp": '#include "other/a.hpp"\n'})[1])


if __name__ == "__main__":
    unittest.main()
