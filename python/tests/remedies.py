"""The remedies that Python code of faro names, found in its source, and the table of their trials."""

import ast
import functools
import pathlib
import re

import numpy as np
import pytest

import faro

FOLDER = pathlib.Path(faro.__file__).parent

# What comes from elsewhere: an error of the library in C++ or of another rank is raised again with its own remedy.
FORWARDED = {("_circuits.py", "remedy")}

TRIALS = {}  # (file, text of the source): what asks for the error, does what it says, and checks what comes of it


def trial(file, *texts):
    def keep(function):
        for text in texts:
            assert (file, text) not in TRIALS, text
            TRIALS[file, text] = function
        return function

    return keep


class Told:
    """Asserts that a call is refused with the remedy that is tried, and gives the remedy as the user sees it."""

    def __init__(self, text):
        self.pattern = re.sub(r"\\\{.*?\\\}", ".+", re.escape(text))
        self.count = 0

    def __call__(self, call, *arguments, **named):
        with pytest.raises(faro.FaroError) as caught:
            call(*arguments, **named)
        assert re.search(self.pattern, caught.value.remedy), f"{caught.value} names another remedy than {self.pattern}"
        self.count += 1
        return caught.value.remedy


def same(got, wanted):
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    np.testing.assert_array_equal(got, wanted)


def torch_on_gpu():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available() or not faro.cuda_status()[0]:
        pytest.skip("there is no GPU")
    return torch


# --- the collection


@functools.cache
def _trees():
    return {path.name: _with_parents(ast.parse(path.read_text(encoding="utf-8"))) for path in sorted(FOLDER.glob("*.py"))}


def _with_parents(tree):
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            child.parent = node
    return tree


@functools.cache
def _nodes(kind):
    return [(file, node) for file, tree in _trees().items() for node in ast.walk(tree) if isinstance(node, kind)]


def _called(call):
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _functions_around(node):
    while hasattr(node, "parent"):
        node = node.parent
        if isinstance(node, ast.FunctionDef):
            yield node


def _argument(call, place, name):
    given = {word.arg: word.value for word in call.keywords}
    return call.args[place] if len(call.args) > place else given.get(name)


def _definitions(call, file):
    """The functions that a call may be of: of the module that it names, else of its own file, else of any."""
    found = [each for each in _nodes(ast.FunctionDef) if each[1].name == _called(call)]
    if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
        file = f"{call.func.value.id}.py"
    return [each for each in found if each[0] == file] or found


def collect():
    """(file, text) of every remedy: the literal texts that reach the fourth argument of ``refuse``."""
    found, seen = set(), set()

    def follow(file, node):
        if node is None or (file, node) in seen:
            return
        seen.add((file, node))
        if isinstance(node, ast.Constant):
            if node.value:
                found.add((file, node.value))
        elif isinstance(node, ast.JoinedStr):
            found.add((file, "".join(part.value if isinstance(part, ast.Constant) else f"{{{ast.unparse(part.value)}}}"
                                     for part in node.values)))
        elif isinstance(node, ast.IfExp):
            follow(file, node.body)
            follow(file, node.orelse)
        elif isinstance(node, ast.Call):
            for where, function in _definitions(node, file):
                for back in ast.walk(function):
                    if isinstance(back, ast.Return):
                        follow(where, back.value)
        elif not (isinstance(node, (ast.Name, ast.Attribute)) and _follow_name(file, node)):
            found.add((file, ast.unparse(node)))

    def _follow_name(file, node):
        name = node.id if isinstance(node, ast.Name) else node.attr
        for function in _functions_around(node) if isinstance(node, ast.Name) else ():
            names = [argument.arg for argument in function.args.args]
            if name in names:
                return _follow_parameter(file, function, names.index(name), name)
            if _follow_assignments(file, function, name):
                return True
        files = [file] if isinstance(node, ast.Name) else list(_trees())
        return any([_follow_assignments(each, _trees()[each], name) for each in files])

    def _follow_parameter(file, function, place, name):
        defaults = function.args.defaults
        before = place - (len(function.args.args) - len(defaults))
        if before >= 0:
            follow(file, defaults[before])
        for where, call in _nodes(ast.Call):
            if _called(call) == function.name and any(node is function for _, node in _definitions(call, where)):
                follow(where, _argument(call, place, name))
        return True

    def _follow_assignments(file, within, name):
        is_known = False
        for node in ast.walk(within):
            for target in node.targets if isinstance(node, ast.Assign) else ():
                if isinstance(target, ast.Name) and target.id == name:
                    follow(file, node.value)
                    is_known = True
                elif isinstance(target, ast.Tuple) and any(getattr(each, "id", "") == name for each in target.elts):
                    is_known = _follow_pairs(file) or is_known
        return is_known

    def _follow_pairs(file):
        """Of ``got, remedy = pair``: the pairs of texts of that file."""
        pairs = [node for node in ast.walk(_trees()[file]) if isinstance(node, ast.Tuple) and len(node.elts) == 2
                 and isinstance(node.parent, (ast.Assign, ast.Return))
                 and (isinstance(node.elts[0], ast.JoinedStr) or isinstance(getattr(node.elts[0], "value", None), str))]
        for pair in pairs:
            follow(file, pair.elts[1])
        return bool(pairs)

    for file, call in _nodes(ast.Call):
        if _called(call) == "refuse":
            follow(file, _argument(call, 3, "remedy"))
    for path in sorted((pathlib.Path(__file__).parents[1] / "src").glob("*.cpp")):
        found |= {(path.name, remedy) for remedy in of_extension(path.read_text(encoding="utf-8"))}
    return found


def of_extension(text):
    """The remedies of calls of ``refuse`` in C++, as they are written there: a fourth argument."""
    for call in re.finditer(r"(?<![\w:.>])refuse\(", text):
        depth, quoted, words, at = 1, False, [""], call.end()
        while depth:
            each = text[at]
            at += 1
            if each == "\\" and quoted:
                each += text[at]
                at += 1
            elif each == '"':
                quoted = not quoted
            elif not quoted:
                depth += (each in "([{") - (each in ")]}")
            if each == "," and depth == 1 and not quoted:
                words.append("")
            elif depth:
                words[-1] += each
        definition = text[at:].lstrip().startswith("{")
        if len(words) > 3 and not definition and words[3].strip() != "{}":
            yield " ".join(re.findall(r'"((?:[^"\\]|\\.)*)"', words[3])) or words[3].strip()
