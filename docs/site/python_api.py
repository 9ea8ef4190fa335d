"""The Python reference from the package's own docstrings: a page for `faro`, one for each of its public modules.

The sources are read, not imported, so that no compiled extension is needed. What `__all__` names is what a page has, in that order, each with
its signature and docstring, classes with their fields, properties and methods; a public name without a docstring is an error.
"""

import ast
import re

import api


def public_names(tree, path):
    """The list of strings that `__all__` is assigned."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            return ast.literal_eval(node.value)
    raise SystemExit(f"{path}: no __all__")


def signature(node, name):
    """`name(x: Any, *, out: Any = None) -> Any`, a parameter a line where that is long."""
    returns = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    whole = f"{name}({ast.unparse(node.args)}){returns}"
    if len(whole) <= 100:
        return whole
    arguments, depth, part = [], 0, ""
    for c in ast.unparse(node.args):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            arguments.append(part.strip())
            part = ""
        else:
            part += c
    arguments.append(part.strip())
    return f"{name}(\n" + "".join(f"    {argument},\n" for argument in arguments) + f"){returns}"


def prose(docstring):
    """A docstring as Markdown: doctests as blocks, double backquotes as single ones, pages of the guide as links."""
    out, block, words = [], [], []

    def flush():
        if words:
            text = "\n".join(api.prose(re.sub(r"``([^`]*)``", r"`\1`", "\n".join(words)).splitlines()))
            out.append(re.sub(r"docs/guide/([\w-]+)\.md", r"[\1](../guide/\1.md)", text))
            words.clear()
        if block:
            out.extend(["", "```python", *block, "```", ""])
            block.clear()

    for line in (docstring or "").splitlines():
        is_test = line.startswith(">>> ") or (block and line.strip() and not words)
        if is_test != bool(block) and (block or words):
            flush()
        (block if is_test else words).append(line)
    flush()
    return "\n".join(out).strip() + "\n"


def docstring_of(node, name, path):
    text = ast.get_docstring(node)
    if not text:
        raise SystemExit(f"{path}: `{name}` is public and has no docstring")
    return prose(text)


def is_property(node):
    return any(isinstance(d, ast.Name) and d.id in ("property", "cached_property") for d in node.decorator_list)


def class_text(node, path):
    fields = [ast.unparse(item) for item in node.body if isinstance(item, ast.AnnAssign) and not ast.unparse(item).startswith("_")]
    bases = f"({', '.join(ast.unparse(base) for base in node.bases)})" if node.bases else ""
    out = ["", "```python", f"class {node.name}{bases}", *(f"    {field}" for field in fields), "```", "", docstring_of(node, node.name, path)]
    for item in node.body:
        if not isinstance(item, ast.FunctionDef) or any(isinstance(d, ast.Attribute) and d.attr == "setter" for d in item.decorator_list):
            continue
        said = ast.get_docstring(item)
        if item.name.startswith("_") and not (item.name.startswith("__") and said and item.name != "__init__"):
            continue
        item.args.args = item.args.args[1:] if item.args.args and item.args.args[0].arg in ("self", "cls") else item.args.args
        if is_property(item):
            shown = f"{node.name}.{item.name}" + (f": {ast.unparse(item.returns)}" if item.returns is not None else "")
        else:
            shown = signature(item, f"{node.name}.{item.name}")
        out += ["```python", shown, "```", "", docstring_of(item, f"{node.name}.{item.name}", path)]
    return "\n".join(out)


def definitions(path):
    """{name: node} of the file's functions and classes, and of those that it takes from the package's own private files."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    made = {}
    for node in tree.body:
        source = path.parent / f"{getattr(node, 'module', None)}.py"
        if isinstance(node, ast.ImportFrom) and node.level == 1 and source.name.startswith("_") and source.exists():
            theirs = definitions(source)
            made.update({alias.asname or alias.name: theirs[alias.name] for alias in node.names if alias.name in theirs})
    made.update({node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))})
    return made


def module_text(path, level, module):
    """A section for each public name of the file: `module` is what it is imported from."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    made = definitions(path)
    out = []
    for name in public_names(tree, path):
        node = made.get(name)
        out.append(f"{'#' * level} {module}.{name}\n")
        if isinstance(node, ast.ClassDef):
            out.append(class_text(node, path))
        elif node is not None:
            out += ["```python", signature(node, name), "```", "", docstring_of(node, name, path)]
        else:  # another name of something above
            values = [n.value for n in tree.body if isinstance(n, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in n.targets)]
            if not values:
                raise SystemExit(f"{path}: `{name}` is in __all__ and nowhere else")
            out.append(f"`{ast.unparse(values[0])}` by another name.\n")
    return "\n".join(out)


def own_functions(path):
    """What __init__.py defines itself."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]


def pages(package):
    """{file name: Markdown} of the reference of the package in the folder `package`."""
    init = package / "__init__.py"
    tree = ast.parse(init.read_text(encoding="utf-8"))
    modules = sorted(path for path in package.glob("[!_]*.py"))
    out = ["# Python: faro\n", prose(ast.get_docstring(tree)), "Modules of their own: " + ", ".join(f"[faro.{path.stem}](python-{path.stem}.md)" for path in modules) + ".\n"]
    starred = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module and any(alias.name == "*" for alias in node.names)]
    for module in sorted(starred, key=lambda name: (name != "_functions", name)):
        path = package / f"{module}.py"
        said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        out += [f"## {said.splitlines()[0].rstrip('.:') if said else module.strip('_')}\n", prose("\n".join(said.splitlines()[1:])), module_text(path, 3, "faro")]
    out.append("## Errors, and what there is\n")
    for node in own_functions(init):
        out += [f"### faro.{node.name}\n", "```python", signature(node, node.name), "```", "", docstring_of(node, node.name, init)]
    errors = ast.parse((package / "_errors.py").read_text(encoding="utf-8"))
    for node in errors.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            out += [f"### faro.{node.name}\n", class_text(node, package / "_errors.py")]
    made = {"python.md": "\n".join(out)}
    for path in modules:
        said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        made[f"python-{path.stem}.md"] = f"# Python: faro.{path.stem}\n\n" + prose(said) + "\n" + module_text(path, 2, path.stem)
    return made
