"""The C++ reference from the headers' own comments: a page of Markdown for each installed header.

A header is its essay (the comment that it opens with), then its declarations in their order, each with the `///` comment above it; comments
between empty lines are essays, too. What has no such comment stands in the same block as its neighbours, so that nothing of the interface is left
out: the page is the header, set for reading. Bodies of functions are cut.
"""

import re


def essay_of(lines):
    """The comment at the top, without its slashes, and the number of the first line after it."""
    end = 0
    while end < len(lines) and lines[end].startswith("//"):
        end += 1
    return [re.sub(r"^// ?", "", line) for line in lines[:end]], end


def prose(lines):
    """Comment lines as Markdown: blocks that are indented stay as they are, and markup characters are kept from acting."""
    text, block = [], []

    def flush():
        if block:
            text.extend(["", "```text", *block, "```", ""])
            block.clear()

    for line in lines:
        if line.startswith("    ") or (block and not line.strip()):
            block.append(line[4:])
        else:
            while block and not block[-1].strip():
                block.pop()
            flush()
            parts = re.split(r"(`[^`]*`)", line)
            text.append("".join(re.sub(r"([*_<>\[\]|#$\\])", r"\\\1", part) if k % 2 == 0 else part for k, part in enumerate(parts)))
    while block and not block[-1].strip():
        block.pop()
    flush()
    return text


def without_bodies(lines):
    """Declarations only: what stands between the braces of a function goes, those of types and namespaces stay."""
    kept, depth_cut, depth = [], None, 0
    for line in lines:
        code = re.sub(r"//.*", "", line)
        opens, closes = code.count("{"), code.count("}")
        if depth_cut is None:
            body = re.search(r"\)\s*(const)?\s*(noexcept)?\s*(->[^{;]*)?(:\s[^{;]*(\{[^}]*\}[^{;]*)*)?\s*\{", code)
            if body and not re.match(r"\s*(class|struct|enum|union|namespace)\b", code):
                if opens == closes:
                    kept.append(re.sub(r"\s*\{.*\}\s*$", ";", code.rstrip()))
                    depth += opens - closes
                    continue
                kept.append(code[: body.end() - 1].rstrip() + ";")
                depth_cut = depth
            else:
                kept.append(line)
        depth += opens - closes
        if depth_cut is not None and depth <= depth_cut:
            depth_cut = None
    return kept


def line_comments(source):
    """C's comments that stand on lines of their own as C++'s: `//` for the one at the top, `///` for those above declarations."""

    def turned(found):
        slashes = "//" if found.start() == 0 else "///"
        text = re.sub(r"^ \* ?", "", found.group(1), flags=re.M).strip("\n ")
        return "\n".join(f"{slashes} {line}".rstrip() for line in text.split("\n"))

    return re.sub(r"^/\*\*?\s?(.*?)\*/[ \t]*$", turned, source, flags=re.M | re.S)


def page(name, source):
    """The Markdown of the header `name`, whose text is `source`."""
    lines = (line_comments(source) if name.endswith(".h") else source).splitlines()
    essay, start = essay_of(lines)
    out = [f"# {name}", "", *prose(essay), "", f"`#include <{name}>`", ""]
    body = [line for line in without_bodies(lines[start:]) if not line.startswith(("#pragma", "#include", "#if", "#endif", "#else", "#elif"))]
    body = re.sub(r"(?m)(?<=\n\n)(?:^//(?!/).*\n)+(?=\n)", lambda found: re.sub(r"(?m)^//", "///", found.group()), "\n".join(body)).split("\n")
    comment, code = [], []

    def flush():
        while code and not code[0].strip():
            code.pop(0)
        while code and not code[-1].strip():
            code.pop()
        if code:
            indent = min(len(line) - len(line.lstrip()) for line in code if line.strip())
            out.extend(["```cpp", *(line[indent:] for line in code), "```", ""])
        code.clear()

    for line in body:
        found = re.match(r"\s*/// ?(.*)", line)
        if found:
            if not comment:
                flush()
            comment.append(found.group(1))
            continue
        if comment:
            said = prose(comment)
            comment = []
            out.extend([*said, ""])
        code.append(line)
    flush()
    return "\n".join(re.sub(r"\s+$", "", line) for line in out) + "\n"
