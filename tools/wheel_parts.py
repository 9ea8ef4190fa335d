#!/usr/bin/env python3
"""tools/wheel_parts.py WHEEL TOOLS TOOLKIT LIBRARY…   puts the licences of what is in the wheel beside faro into it: of the shared libraries that
will be packed, of what is linked, and of what these licences refer to. tools/make_sbom.py lists the same parts.

Debian's packages have theirs in /usr/share/doc; the machine has those of another's processors, too, by the same names. TOOLS is the Python
environment that has nanobind, TOOLKIT the folder of CUDA's toolkit, or empty. auditwheel writes the wheel's RECORD again.
"""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

# What is inside the extension, by files of the packages that it comes from.
LINKED = ("libstdc++.a", "/usr/include/hwy/highway.h", "/usr/include/fmt/core.h", "/usr/include/xxhash.h", "/usr/include/nlohmann/json.hpp",
          "/usr/include/toml++/toml.h")


def package_of(file):
    """The Debian package of a file, by its place or by the name that the compiler finds."""
    path = Path(file)
    if not path.is_absolute():
        path = Path(subprocess.run(["g++", f"-print-file-name={file}"], capture_output=True, text=True, check=True).stdout.strip())
    for each in (str(path.resolve()), str(path)):
        for place in (each, each.removeprefix("/usr")):
            found = subprocess.run(["dpkg-query", "-S", place], capture_output=True, text=True)
            if found.returncode == 0:
                return found.stdout.split(":")[0]
    sys.exit(f"{file} belongs to no Debian package")


def licences(tools, toolkit, libraries):
    """The files of the folder licenses/, by names: a package's, with the version where it is of PyPI, and Debian's texts that are meant in it.
    One text of several has their names with _ between."""
    texts = {}
    for package in {package_of(each) for each in (*libraries, *LINKED)}:
        texts[package] = Path(f"/usr/share/doc/{package}/copyright").read_bytes()
    for name in re.findall(rb"/usr/share/common-licenses/([\w.+-]*\w)", b" ".join(texts.values())):
        text = Path("/usr/share/common-licenses", name.decode()).resolve()
        texts[text.name] = text.read_bytes()
    # Of a toolkit that is not PyPI's nobody knows where that is.
    of_pypi = list(Path(tools).glob("lib/python*/site-packages/nanobind-*.dist-info/licenses/LICENSE"))
    of_pypi += [file for folder in ("", "dist-info/", "../../runtime/") if toolkit
                for file in Path(toolkit).glob(f"{folder}nvidia_cuda_runtime-*.dist-info/licenses/License.txt")]
    for file in of_pypi:
        texts[file.parents[1].name.removesuffix(".dist-info").replace("_", "-")] = file.read_bytes()
    names = {}
    for name, text in sorted(texts.items()):
        names.setdefault(text, []).append(name)
    return {"_".join(each) + ".txt": text for text, each in names.items()}


def main(wheel, tools, toolkit, *libraries):
    texts = licences(tools, toolkit, [Path(each).name for each in libraries])
    with zipfile.ZipFile(wheel) as archive:
        entries = {each: archive.read(each) for each in archive.infolist()}
    own = set(entries.values())  # faro's licence is others', too
    texts = {name: text for name, text in texts.items() if text not in own}
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, data in entries.items():
            if entry.filename.endswith(".dist-info/METADATA"):
                listed = "".join(f"License-File: {name}\n" for name in texts).encode()
                data = data.replace(b"License-File: LICENSE\n", b"License-File: LICENSE\n" + listed)
                for name, text in texts.items():
                    archive.writestr(zipfile.ZipInfo(f"{Path(entry.filename).parent}/licenses/{name}", entry.date_time), text)
            archive.writestr(entry, data)


if __name__ == "__main__":
    main(*sys.argv[1:])
