#!/usr/bin/env python3
"""check_layers.py [--shrink] [ROOT]   holds the sources (of ROOT) to the table of layers in docs/architecture.md.

A layer includes only layers above it in the table, and modules do not include each other in a circle; a module is a header with its
source, or a file of the Python package, of which imports inside functions count too. Projects of extras/ include what is installed and
what docs/architecture.md names beside it, the command's headers for their verbs and the C interface's for functions of faro.h, but nothing
else of src. Whatever breaks this stands in
tools/layer_exceptions.txt, a line `MODULE -> MODULE` each. An entry that is no longer needed is an error as well, so that the list only
gets shorter; --shrink takes such entries out.
"""

import ast
import collections
import pathlib
import re
import sys

ARGUMENTS = [word for word in sys.argv[1:] if word != "--shrink"]
ROOT = pathlib.Path(ARGUMENTS[0] if ARGUMENTS else pathlib.Path(__file__).parent.parent).resolve()
EXCEPTIONS = ROOT / "tools" / "layer_exceptions.txt"
FOLDERS = ("include/faro", "src", "cli", "extras", "page")
SUFFIXES = {".hpp", ".h", ".cuh", ".cpp", ".cu"}


def read_table() -> dict[str, int]:
    """The row of each name in the first column: of a folder, of a header of include/faro, or `src` for the files of src itself."""
    page = (ROOT / "docs" / "architecture.md").read_text()
    table = page.split("## The layers", 1)[1].split("\n\n", 2)[2].split("\n\n", 1)[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return {name: row for row, cell in enumerate(rows) for name in re.findall(r"`([^`]+)`", cell)}


def read_named() -> set[str]:
    """The headers of src that projects of extras/ may include beside what is installed."""
    section = (ROOT / "docs" / "architecture.md").read_text().partition("### Named interfaces")[2].partition("\n#")[0]
    return {module(name) for line in section.splitlines() if line.startswith("| `") for name in re.findall(r"`([^`]+)`", line.split("|")[1])}


class Sources:
    """What includes what, by the paths that #include names: those of src and include/faro without their folder."""

    def __init__(self, rows: dict[str, int]):
        self.rows = rows
        found = [file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*"))
                 if file.suffix in SUFFIXES and not {"tests", "bench", "examples"} & set(file.relative_to(ROOT).parts)]
        self.files = {self.short(file): file for file in found}
        self.extras = sorted({project(name) for name in self.files} - {""})

    @staticmethod
    def short(file: pathlib.Path) -> str:
        name = file.relative_to(ROOT).as_posix()
        return re.sub(r"^(include/faro|src)/", "", re.sub(r"^(extras/\w+)/include/faro/", r"\1/", name))

    def row(self, name: str) -> int:
        """Errors: KeyError for a file that the table does not name."""
        parts = name.split("/")
        for length in range(len(parts), 0, -1):
            if (row := self.rows.get("/".join(parts[:length]))) is not None:
                return row
        if len(parts) == 1:
            return self.rows["src"]
        raise KeyError(f"docs/architecture.md names no layer of {name}")

    def includes(self):
        """(including, included, where) of files of ours; what is generated or another library's is left out."""
        for name, file in self.files.items():
            for number, line in enumerate(file.read_text().splitlines(), 1):
                if not (found := re.match(r'\s*#\s*include\s+"(?:faro/)?([^"]+)"', line)):
                    continue
                own = f"{project(name)}/{found[1]}"
                public = [f"{extra}/{found[1]}" for extra in self.extras if "faro/" in line]
                for target in (own, found[1], self.short(file.parent / found[1]), *public):
                    if target in self.files:
                        yield name, target, f"{file.relative_to(ROOT)}:{number}"
                        break

    def is_private(self, name: str) -> bool:
        """Whether it is a header of src, other than what functions of faro.h are written with."""
        file = self.files[name]
        return (ROOT / "src") in file.parents and file.parent != ROOT / "src" / "capi"


def project(name: str) -> str:
    """extras/papers of a file of that; else nothing."""
    return "/".join(name.split("/")[:2]) if name.startswith("extras/") else ""


def module(name: str) -> str:
    return re.sub(r"\.[^./]+$", "", name)


def python_imports():
    """(importing, imported, where) of the package's modules; its root `faro` is what `from . import _faro` names, and counts only by itself."""
    folder = ROOT / "python"
    files = {".".join(file.relative_to(folder).with_suffix("").parts).removesuffix(".__init__"): file
             for file in sorted((folder / "faro").rglob("*.py"))}
    for name, file in files.items():
        package = name if file.stem == "__init__" else name.rpartition(".")[0]
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                targets = [alias.name for alias in node.names if alias.name != "faro"]
            elif isinstance(node, ast.ImportFrom):
                above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
                base = ".".join(above + ([node.module] if node.module else []))
                inner = [f"{base}.{alias.name}" for alias in node.names]
                targets = inner if base == "faro" else [base]
            else:
                continue
            for target in targets:
                if target in files and target != name:
                    yield name, target, f"{file.relative_to(ROOT)}:{node.lineno}"


def reaches(edges: dict[str, set[str]], start: str, goal: str) -> list[str] | None:
    """The shortest way from one module to another."""
    before: dict[str, str] = {start: start}
    queue = collections.deque([start])
    while queue:
        at = queue.popleft()
        if at == goal:
            way = [at]
            while way[-1] != start:
                way.append(before[way[-1]])
            return way[::-1]
        for next_module in sorted(edges.get(at, ())):
            if next_module not in before:
                before[next_module] = at
                queue.append(next_module)
    return None


def main() -> int:
    sources = Sources(read_table())
    where: dict[tuple[str, str], str] = {}
    upward: dict[tuple[str, str], str] = {}
    private: dict[tuple[str, str], str] = {}
    named = read_named()
    used: set[str] = set()
    for name, target, line in sources.includes():
        edge = (module(name), module(target))
        if edge[0] != edge[1]:
            where.setdefault(edge, line)
        if sources.row(name) < sources.row(target):
            upward.setdefault(edge, line)
        if project(name) and sources.is_private(target):
            where.setdefault((project(name), edge[1]), line)
            used.add(edge[1])
            if edge[1] not in named:
                private.setdefault((project(name), edge[1]), line)
    for name, target, line in python_imports():
        where.setdefault((name, target), line)

    listed = [line for line in EXCEPTIONS.read_text().splitlines() if line and not line.startswith("#")]
    exceptions = [tuple(line.split("  #")[0].strip().split(" -> ")) for line in listed]
    edges: dict[str, set[str]] = collections.defaultdict(set)
    for a, b in where:
        if (a, b) not in exceptions:
            edges[a].add(b)

    faults = [f"{line}: {a} is above {b} in the table of docs/architecture.md and must not include it"
              for (a, b), line in upward.items() if (a, b) not in exceptions]
    faults += [f"{line}: {a} includes {b}, which is neither installed nor named in docs/architecture.md" for (a, b), line in private.items() if (a, b) not in exceptions]
    faults += [f"docs/architecture.md: no project of extras/ includes {name}, which is named for them" for name in sorted(named - used)]
    told: set[str] = set()
    for (a, b), line in where.items():
        if b in edges[a] and a not in told and (way := reaches(edges, b, a)):
            faults.append(f"{line}: modules in a circle: {' -> '.join([a, *way])}")
            told.update(way)
    needless = [text for text, edge in zip(listed, exceptions)
                if edge not in where or (edge not in upward and edge not in private and not reaches(edges, edge[1], edge[0]))]
    if needless and "--shrink" in sys.argv[1:]:
        kept = [line for line in EXCEPTIONS.read_text().splitlines() if line not in needless]
        EXCEPTIONS.write_text("\n".join(kept) + "\n")
        needless = []
    faults += [f"tools/layer_exceptions.txt: `{text}` is no longer needed: tools/check_layers.py --shrink" for text in needless]
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{len(sources.files)} files, {len(where)} includes between modules, {len(listed)} exceptions, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
