#!/usr/bin/env python3
"""page_test.py SITE [SHOTS]   the planner's page in headless Chromium: SITE is the folder of the site's HTML.

By keys alone; at 400 to 1600 pixels, by day and by night; what it says of maps, layouts and memory machines, and of what cannot be read.
Screenshots go to the folder SHOTS. Exits with 77 where there is no Chromium, or where the site was built without its planner.
"""

import pathlib
import sys
import unittest

from browser import Browser, find_browser

SITE = SHOTS = None
WIDTHS = (400, 640, 800, 1200, 1600)

# Relative luminance and contrast as WCAG 2 has them; the background is the nearest that is painted.
CONTRAST = """
(() => {
  const rgb = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = (c) => { const [r, g, b] = c.map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = (element) => { for (; element; element = element.parentElement) { const c = rgb(getComputedStyle(element).backgroundColor); if (c.length === 3 || c[3] > 0.9) return c.slice(0, 3); } return [255, 255, 255]; };
  const poor = [];
  for (const element of document.querySelectorAll('#faro-planner :is(label, legend, button, input, select, p, td, th, pre, code, output)')) {
    if (!element.offsetParent || !(element.textContent || element.value || '').trim()) continue;
    const [a, b] = [light(rgb(getComputedStyle(element).color).slice(0, 3)), light(behind(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) poor.push(`${element.tagName} ${element.id} ${contrast.toFixed(2)}`);
  }
  return poor;
})()
"""


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser(find_browser())
        cls.browser.size(1200, 900)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def tearDown(self):
        self.assertEqual(self.browser.faults, [], "the page logs no error")

    def open(self, state=""):
        self.browser.faults.clear()
        self.browser.open((SITE / "docs/planner.html").as_uri() + ("#" + state if state else ""))
        self.browser.wait("(document.getElementById('faro-planner') || {dataset: {}}).dataset.updates > 0")

    def text(self, name):
        return self.browser.value(f"document.getElementById('faro-{name}').textContent")

    def drawing(self, expression):
        return self.browser.value(f"(() => {{ const root = document.getElementById('faro-picture').shadowRoot; return {expression}; }})()")

    def focused(self):
        return self.browser.value("(() => { const e = document.activeElement; return (e.form ? e.form.id + '.' : '') + (e.name || e.id); })()")

    def tab_to(self, wanted):
        for _ in range(400):
            if self.focused() == wanted:
                return
            self.browser.key("Tab")
        self.fail(f"the key Tab does not lead to {wanted}")

    def update_after(self, act):
        before = int(self.browser.value("document.getElementById('faro-planner').dataset.updates"))
        act()
        self.browser.wait(f"document.getElementById('faro-planner').dataset.updates > {before}")

    def test_three_maps(self):
        for spec, summary, word in (("bit_reversal(24)", "16,777,216 elements, 1 sweep", "an involution"),
                                    ("random_bmmc(20, 1)", "1,048,576 elements, 1 sweep", "class BMMC"),
                                    ("gray(16)", "65,536 elements, 1 sweep", "gray(16)")):
            self.open("tab=plan&kind=map&element=1&element_bytes=4&capability=9.0&batch=1&spec=" + spec)
            self.assertIn(summary, self.text("summary"))
            self.assertIn(word, self.text("text"))
            self.assertIn(f"faro explain '{spec}' --engine cuda", self.text("command"))
            self.assertEqual(self.drawing("root.querySelector('.title').textContent"), spec)
            self.browser.screenshot(SHOTS / f"map-{spec.split('(')[0]}.png")

    def test_axes_and_circuits(self):
        self.open("tab=plan&kind=axes&shape=300,400,500&order=2,0,1&element_bytes=4&capability=9.0&batch=1&element=7")
        self.assertIn("60,000,000 elements", self.text("summary"))
        self.assertIn("axes(300 400 500; 2 0 1)", self.text("command"))
        # Element 7 of the last axis comes first: row 7 of 500 rows of 120000.
        self.assertIn("to 840000;", self.browser.value("document.forms['panel-plan'].elements.where.textContent"))
        # The tile is drawn, and a cell tells its bank and where it goes: unit 1 of row 0 to the second line of 120000.
        self.assertEqual(self.drawing("root.querySelectorAll('.bank').length"), 192)
        self.browser.value("document.getElementById('faro-picture').focus({focusVisible: true})")
        self.browser.key("ArrowRight")
        self.assertEqual(self.text("cell"), "row 0, unit 1: bank 1; goes to place 120000 of the output from place 1 of the input")
        self.assertEqual(self.drawing("root.querySelectorAll('.here').length"), 3)
        self.browser.screenshot(SHOTS / "axes.png")
        self.open("tab=plan&kind=circuit&qasm=OPENQASM 2.0;qreg q[12];x q[3];swap q[0],q[11];&element=0&element_bytes=8&capability=9.0&batch=1")
        self.assertIn("4,096 elements", self.text("summary"))
        self.assertIn("to 8;", self.browser.value("document.forms['panel-plan'].elements.where.textContent"))
        self.open("tab=plan&kind=circuit&qasm=qreg q[2]; h q[0];&element=0&element_bytes=8&capability=9.0&batch=1")
        self.assertIn("wanted", self.text("alert"))

    def test_what_cannot_be_read_is_told(self):
        for state, words in (("tab=plan&kind=map&spec=bit_reversl(20)", "did you mean `bit_reversal`?"), ("tab=plan&kind=map&spec=", "got no permutation"),
                             ("tab=plan&kind=map&spec=random(2^34,1)", "256 MiB"), ("tab=plan&kind=map&spec=gray(4)&batch=many", "a whole number"),
                             ("tab=layout&rows=32&columns=32&accesses=rwo", "row"), ("tab=layout&rows=100000&columns=4000", "wanted"),
                             ("tab=machine&width=0", "wanted"), ("tab=machine&n=1000000000000", "wanted")):
            self.open(state)
            self.assertIn(words, self.text("alert"), state)
            self.assertEqual(self.drawing("root.querySelector('svg')"), None, state)
            self.assertEqual(self.text("text"), "", state)
        self.open("tab=plan&kind=map&spec=<img src=x onerror=alert(1)>")
        self.assertIn("<img", self.text("alert"), "as text")

    def test_layout(self):
        self.open("tab=layout&rows=64&columns=64&element_bytes=2&accesses=row(8), column(8)")
        self.assertIn("Swizzle<3,3,3>", self.text("summary"))
        self.assertIn("shared_index", self.text("table"))
        self.assertEqual(self.browser.value("document.querySelector('#faro-table tr.chosen').textContent"), "Swizzle<3,3,3>11")
        self.assertEqual(self.drawing("root.querySelectorAll('.bank').length > 4096"), True)
        self.browser.screenshot(SHOTS / "layout.png")

    def test_machine(self):
        self.open("tab=machine&program=transpose-diagonal&machine=dmm&width=4&latency=3&n=16")
        self.assertIn("12 time units; the formula gives 12", self.text("summary"))
        self.assertIn("transpose-diagonal: 12 time units", self.drawing("root.querySelector('.title').textContent"))
        self.browser.screenshot(SHOTS / "machine.png")

    def test_by_keys_alone(self):
        browser = self.browser
        self.open()
        browser.value("document.body.focus()")
        self.tab_to("tab-plan")
        self.tab_to("panel-plan.spec")
        self.update_after(lambda: (browser.type("transpose(64, 32)"), browser.key("Enter")))
        self.assertIn("2,048 elements", self.text("summary"))
        self.tab_to("panel-plan.in_place")
        self.update_after(lambda: browser.key(" "))
        self.assertIn("--in-place", self.text("command"))
        # Every control and the drawing, in their order.
        reached = []
        for _ in range(12):
            browser.key("Tab")
            reached.append(self.focused())
        self.assertEqual([name for name in reached if name in ("panel-plan.element", "faro-picture", "faro-text")], ["panel-plan.element", "faro-picture", "faro-text"])
        browser.key("Tab", shift=True)
        browser.value("document.getElementById('faro-picture').focus({focusVisible: true})")
        cells = []
        for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"):
            browser.key(key)
            cells.append(self.text("cell"))
        self.assertEqual(len(set(cells)), 5 if cells[4] != cells[0] else 4, cells)
        self.assertRegex(cells[2], r"^row 1, column 2: bank \d; goes to row \d, column \d")
        self.assertRegex(cells[2], r"After: bank \d$")
        self.assertEqual(self.drawing("root.querySelectorAll('.here').length"), 2)
        # Tabs take the arrows.
        browser.value("document.getElementById('tab-plan').focus()")
        for name, word in (("ArrowRight", "Swizzle"), ("ArrowRight", "time units"), ("ArrowRight", "elements")):
            self.update_after(lambda name=name: browser.key(name))
            self.assertIn(word, self.text("summary"))
        self.assertEqual(self.focused(), "tab-plan")

    def test_hovering_tells_of_a_cell(self):
        self.open("tab=plan&kind=map&spec=bit_reversal(12)&element_bytes=4&capability=9.0&batch=1&element=1")
        self.browser.value("document.getElementById('faro-picture').scrollIntoView({behavior: 'instant'})")
        # The second cell of the second row, before.
        x, y = self.drawing("(() => { const cell = [...root.querySelectorAll('rect')].find((r) => r.textContent.startsWith('row 1, column 1:')); const at = cell.getBoundingClientRect(); return [at.x + at.width / 2, at.y + at.height / 2]; })()")
        self.browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        self.browser.wait("document.getElementById('faro-cell').textContent !== ''", 10)
        self.assertRegex(self.text("cell"), r"^row 1, column 1: bank 1; goes to row 4, column 4. After: bank 0$")

    def test_widths_and_schemes(self):
        states = {"plan": "tab=plan&kind=map&spec=random_bmmc(14, 2)&element_bytes=4&capability=9.0&batch=1&element=1",
                  "layout": "tab=layout&rows=32&columns=32&element_bytes=4&accesses=row, column",
                  "machine": "tab=machine&program=copy&machine=umm&width=8&latency=5&n=64"}
        papers = {}
        for scheme in ("light", "dark"):
            self.browser.scheme(scheme)
            for name, state in states.items():
                self.browser.size(WIDTHS[0], 900)
                self.open(state)
                papers[scheme] = self.drawing("getComputedStyle(root.querySelector('.paper')).fill")
                self.assertEqual(self.browser.value(CONTRAST), [], f"{scheme} {name}: text that is hard to read")
                for width in WIDTHS:
                    self.browser.size(width, 900)
                    wide = self.browser.value("document.documentElement.scrollWidth - window.innerWidth")
                    self.assertLessEqual(wide, 0, f"{scheme} {name} at {width} pixels: the page scrolls sideways")
                    cut = self.browser.value("[...document.querySelectorAll('#faro-planner :is(input, select, textarea, button, label)')].filter((e) => e.offsetParent && "
                                             "(e.getBoundingClientRect().right > window.innerWidth + 0.5 || e.getBoundingClientRect().left < -0.5)).map((e) => e.outerHTML.slice(0, 80))")
                    self.assertEqual(cut, [], f"{scheme} {name} at {width} pixels: controls that are cut off")
                    if width in (400, 800, 1600):
                        self.browser.screenshot(SHOTS / f"{name}-{scheme}-{width}.png")
        self.assertNotEqual(papers["light"], papers["dark"], "drawings follow the scheme")
        self.browser.scheme("light")
        self.browser.size(1200, 900)

    def test_the_sites_own_switch_of_scheme(self):
        self.open()
        paper = "getComputedStyle(root.querySelector('.paper')).fill"
        self.browser.value("document.body.dataset.theme = 'dark'")
        self.browser.wait("(() => { const root = document.getElementById('faro-picture').shadowRoot; return " + paper + " === 'rgb(13, 17, 23)'; })()", 10)
        self.browser.value("document.body.dataset.theme = 'light'")
        self.browser.wait("(() => { const root = document.getElementById('faro-picture').shadowRoot; return " + paper + " === 'rgb(255, 255, 255)'; })()", 10)

    def test_search_from_a_disk(self):
        self.browser.faults.clear()
        self.browser.open((SITE / "search.html").as_uri() + "?q=qubits")
        self.browser.wait("document.querySelectorAll('#search-results li a').length > 3")
        self.assertEqual(self.browser.value("document.querySelector('#search-results li a').getAttribute('href')").split("#")[0], "docs/recipes/reorder-qubits.html")
        self.browser.screenshot(SHOTS / "search.png")

    def test_other_pages(self):
        for page in ("index.html", "docs/recipes/reorder-qubits.html", "docs/guide/python.html"):
            for scheme in ("light", "dark"):
                self.browser.scheme(scheme)
                for width in (400, 1600):
                    self.browser.size(width, 900)
                    self.browser.faults.clear()
                    self.browser.open((SITE / page).as_uri())
                    self.browser.wait("document.readyState === 'complete' && document.querySelector('article h1') !== null")
                    self.assertLessEqual(self.browser.value("document.documentElement.scrollWidth - window.innerWidth"), 0, f"{page} at {width} pixels")
                    self.browser.screenshot(SHOTS / f"{pathlib.Path(page).stem}-{scheme}-{width}.png")
        self.browser.scheme("light")
        self.browser.size(1200, 900)


def main():
    global SITE, SHOTS
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    SITE = pathlib.Path(sys.argv[1]).resolve()
    SHOTS = pathlib.Path(sys.argv[2] if len(sys.argv) == 3 else "shots").resolve()
    if find_browser() is None:
        print("skipped: there is no Chromium")
        sys.exit(77)
    if not (SITE / "_planner/faro_planner.js").is_file():
        print("skipped: the site was built without its planner, or not at all")
        sys.exit(77)
    SHOTS.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=[sys.argv[0], "-v"])


if __name__ == "__main__":
    main()
