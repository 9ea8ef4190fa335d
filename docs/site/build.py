#!/usr/bin/env python3
"""Builds the site: docs/site/build.py REPOSITORY BUILD [PLANNER]; the pages go to BUILD/html.

The sources are the repository's Markdown as it stands, so that every page reads the same on a code host. They are staged under BUILD/source
in the repository's own tree, with these additions: a page for each installed header (api.py), the Python reference (python_api.py), an index of the kept results, `<picture>` as
two images that follow the site's light and dark, and the navigation. A link to a file that is no page becomes a download; a link to
nothing is an error, as is every warning of Sphinx. PLANNER is faro_planner.js, the planner in WebAssembly (page/); without it
the planner's page says so. Beside each page lies its Markdown, and llms.txt lists all of them. No network is used.
"""

import pathlib
import re
import shutil
import subprocess
import sys

import api
import python_api

SECTIONS = {
    "Try it": "docs/planner.md",
    "Recipes": "docs/recipes/*.md",
    "Guide": "docs/guide/*.md",
    "Theory": "docs/theory/*.md",
    "Benchmarks": "docs/benchmarks.md bench/results/index.md",
    "Reference": "docs/api/index.md",
    "Notes of experiments": "docs/notes/*.md",
    "Project": "docs/README.md docs/glossary.md docs/architecture.md CONTRIBUTING.md SECURITY.md CHANGELOG.md",
}
LONGEST = {"README.md": 120, "docs/recipes/*.md": 60}  # lines, for readers in a hurry
FIRST = ["docs/guide/concepts.md", "docs/guide/command.md", "docs/guide/library.md", "docs/guide/maps.md", "docs/theory/plain-words.md"]
PICTURE = re.compile(r'<picture>\s*<source[^>]*srcset="([^"]+)">\s*<img alt="([^"]*)" src="([^"]+)"(?: width="(\d+)")?>\s*</picture>')
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")


def title_of(text):
    return next((line.lstrip("# ").strip() for line in text.splitlines() if line.startswith("# ")), "")


def summary_of(text):
    """The first paragraph of prose, in one line."""
    for paragraph in re.split(r"\n\s*\n", re.sub(r"```.*?```", "", text, flags=re.S)):
        if paragraph.strip() and not re.match(r"\s*([#|<`{!]|- )|    ", paragraph):
            return " ".join(paragraph.split())
    return ""


def picture(found):
    dark, alt, light, width = found.groups()
    return "\n".join(f"```{{image}} {path}\n:alt: {alt}\n:width: {width or 720}px\n:class: only-{scheme}\n```\n"
                     for path, scheme in ((light, "light"), (dark, "dark")))


def write_if_new(place, text):
    """Sphinx reads again only what was written again."""
    place.parent.mkdir(parents=True, exist_ok=True)
    if not place.is_file() or place.read_text(encoding="utf-8") != text:
        place.write_text(text, encoding="utf-8")


def reference_page(name):
    """The page of the header `name`: faro/rows.hpp is on faro-rows.md, faro/faro.h on faro-faro-h.md."""
    return name.removesuffix(".hpp").replace("/", "-").replace(".", "-") + ".md"


class Stage:
    """The pages by their path in the repository, and what they link to."""

    def __init__(self, repository, source):
        self.repository, self.source, self.pages = repository, source, {}
        self.raw = {}  # what stands below a page on the site alone

    def add(self, path, text):
        self.pages[path] = text

    def add_repository(self):
        patterns = ("*.md", "docs/*.md", "docs/*/*.md", "bench/results/*.md")
        for path in sorted(p for pattern in patterns for p in self.repository.glob(pattern)):
            name, text = path.relative_to(self.repository).as_posix(), path.read_text(encoding="utf-8")
            for pattern, most in LONGEST.items():
                if pathlib.PurePosixPath("/" + name).match("/" + pattern) and text.count("\n") > most:
                    raise SystemExit(f"{name} has {text.count(chr(10))} lines, wanted at most {most}")
            self.add(name, text)

    def add_reference(self):
        headers = {path.relative_to(include).as_posix(): path
                   for include in (self.repository / "include", *sorted(self.repository.glob("extras/*/include")))
                   for path in include.rglob("*.h*")}
        rows = []
        for name, path in sorted(headers.items()):
            text = api.page(name, path.read_text(encoding="utf-8"))
            target = reference_page(name)
            self.add(f"docs/api/{target}", text)
            rows.append((name, target, summary_of(text)))
        python = python_api.pages(self.repository / "python/faro")
        for target, text in python.items():
            self.add(f"docs/api/{target}", text)
        first = ("# Reference\n\nPython: [faro](python.md) and its modules, from the docstrings. C++ begins with "
                 "[faro/faro.hpp](faro-faro.md), C is [faro/faro.h](faro-faro-h.md): every installed header, from its own comments.\n\n"
                 "| header | |\n|---|---|\n")
        cut = (lambda words: words.split(". ")[0].split(":")[0].replace("|", "\\|"))
        self.add("docs/api/index.md", first + "".join(f"| [{name}]({target}) | {cut(words)} |\n" for name, target, words in rows)
                 + self.toctree([f"docs/api/{target}" for target in (*python, *(target for _, target, _ in rows))], "docs/api"))

    def add_planner(self, has_core):
        """The page's fields are HTML, which a code host would show as text: they are added when it is staged."""
        text = ("# The planner\n\nType a permutation, and this page shows how a GPU would run it, what that costs, and why. It also shows layouts of "
                "shared memory and the timelines of memory machines. The planner is faro's own code, compiled to WebAssembly, so it prints what "
                "`faro explain`, `faro layout` and `faro simulate` print. It sends nothing anywhere. More about [maps](guide/maps.md), "
                "[layouts](guide/layouts.md) and [memory machines](guide/machine.md).\n")
        self.add("docs/planner.md", text)
        if not has_core:
            self.raw["docs/planner.md"] = "\n```{note}\nThis site was built without emscripten, so the planner is not in it.\n```\n"
            return
        fields = (self.repository / "docs/site/planner/planner.html").read_text(encoding="utf-8")
        self.raw["docs/planner.md"] = f"\n````{{raw}} html\n{fields}\n````\n"

    def add_results(self):
        names = sorted(path for path in self.pages if path.startswith("bench/results/"))
        rows = "".join(f"| [{pathlib.Path(n).stem}]({pathlib.Path(n).name}) | {title_of(self.pages[n])} |\n" for n in names)
        self.add("bench/results/index.md", "# Kept results\n\nMachine, commit, command and every row of the runs that the documentation quotes.\n\n"
                 f"| page | |\n|---|---|\n{rows}" + self.toctree(names, "bench/results"))

    @staticmethod
    def toctree(paths, folder, caption=""):
        relative = [str(pathlib.PurePosixPath(path).relative_to(folder)) if folder else path for path in paths]
        return "\n```{toctree}\n:hidden:\n" + (f":caption: {caption}\n" if caption else "") + "\n" + "\n".join(relative) + "\n```\n"

    def add_navigation(self):
        for caption, patterns in SECTIONS.items():
            paths = [path for pattern in patterns.split() for path in sorted(self.pages) if pathlib.PurePosixPath(path).match(pattern)
                     and path.count("/") == pattern.count("/")]
            paths.sort(key=lambda path: (FIRST.index(path) if path in FIRST else len(FIRST)))
            if not paths:
                raise SystemExit(f"no page matches {patterns}")
            self.pages["README.md"] += self.toctree(paths, "", caption)

    def link(self, page, found):
        words, target = found.groups()
        if re.match(r"[a-z]+:|#", target):
            return found.group(0)
        path, _, anchor = target.partition("#")
        place = (self.repository / page).parent / path
        name = place.resolve().relative_to(self.repository).as_posix()
        if place.is_dir():
            if f"{name}/index.md" not in self.pages:
                return words
            return f"[{words}]({path.rstrip('/')}/index.md)"
        if name in self.pages:
            return found.group(0)
        if not place.is_file():
            raise SystemExit(f"{page}: a link to `{target}`, where there is nothing")
        if header := re.match(r"(?:extras/\w+/)?include/(.+)", name):
            up = "../" * page.count("/")
            return f"[{words}]({up}docs/api/{reference_page(header[1])})"
        copied = self.source / name
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(place, copied)
        return found.group(0)

    def write(self):
        for page, text in self.pages.items():
            parts = re.split(r"(^ *```.*?^ *```$)", text, flags=re.M | re.S)
            for k in range(0, len(parts), 2):  # outside fences
                parts[k] = LINK.sub(lambda found, page=page: self.link(page, found), parts[k])
                parts[k] = PICTURE.sub(picture, parts[k])
            front = "---\nhide-toc: true\n---\n" if page in self.raw else ""
            write_if_new(self.source / page, front + "".join(parts) + self.raw.get(page, ""))
        shutil.copytree(self.repository / "docs/pictures", self.source / "docs/pictures", dirs_exist_ok=True)
        for old in self.source.rglob("*.md"):
            if old.relative_to(self.source).as_posix() not in self.pages:
                old.unlink()


def main():
    if len(sys.argv) not in (3, 4):
        raise SystemExit("usage: docs/site/build.py REPOSITORY BUILD [PLANNER]")
    repository, build = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    core = pathlib.Path(sys.argv[3]) if len(sys.argv) == 4 else None
    source, html = build / "source", build / "html"
    stage = Stage(repository, source)
    stage.add_repository()
    stage.add_reference()
    stage.add_results()
    stage.add_planner(core is not None)
    markdown = dict(stage.pages)
    stage.add_navigation()
    stage.write()
    # Each page's sidebar names all pages: where a name has changed, every page is written again.
    titles, kept = "".join(f"{page}\t{title_of(text)}\n" for page, text in stage.pages.items()), build / "titles.txt"
    every = [] if kept.is_file() and kept.read_text(encoding="utf-8") == titles else ["-a"]
    done = subprocess.run([sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", *every, "-j", "auto", "-b", "html", "-c",
                           str(repository / "docs/site"), "-d", str(build / "doctrees"), str(source), str(html)])
    if done.returncode != 0:
        raise SystemExit(done.returncode)
    kept.write_text(titles, encoding="utf-8")
    shutil.copyfile(html / "README.html", html / "index.html")
    if core is not None:
        (html / "_planner").mkdir(exist_ok=True)
        for part in (core, repository / "docs/site/planner/planner.js", repository / "docs/site/planner/planner.css"):
            shutil.copyfile(part, html / "_planner" / part.name)
    lines = ["# faro", "", "> " + summary_of(markdown["README.md"]), ""]
    for page, text in markdown.items():
        write_if_new(html / page, text)
        lines.append(f"- [{title_of(text)}]({page}): {summary_of(text)[:200]}")
    (html / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(markdown)} pages: {html}/index.html")


if __name__ == "__main__":
    main()
