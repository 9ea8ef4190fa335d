#!/usr/bin/env python3
"""tools/make_sbom.py WHEEL OUT [VERSIONS]   writes what is in the wheel as a CycloneDX document: faro, the shared libraries that are packed beside
it, and what is linked into it, as tools/wheel_parts.py has it, with the versions of the packages that they are of.

Needs cyclonedx-python-lib, and the machine on which the wheel was made; VERSIONS has the packages' versions, a line each, where they are
another machine's (build-arm64/sysroot/versions). SOURCE_DATE_EPOCH is the document's time, so that the same wheel has the same document.
"""

import datetime
import hashlib
import os
import re
import subprocess
import sys
import uuid
import zipfile
from pathlib import Path

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL
from wheel_parts import LINKED, package_of


def deb(file, versions, digest=None):
    """The component that is the Debian package of a file, in the version that is in the wheel."""
    name = package_of(file)
    if not versions:
        versions = {name: subprocess.run(["dpkg-query", "-W", "-f", "${Version}", name], capture_output=True, text=True, check=True).stdout}
    return component(PackageURL("deb", "debian", name, versions[name]), digest)


def component(url, digest=None):
    hashes = [HashType(alg=HashAlgorithm.SHA_256, content=digest)] if digest else None
    return Component(name=url.name, version=url.version, type=ComponentType.LIBRARY, purl=url, bom_ref=f"{url.name}@{url.version}", hashes=hashes)


def main(wheel, out, versions=None):
    versions = dict(line.split() for line in Path(versions).read_text().splitlines()) if versions else {}
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    version = Path(wheel).name.split("-")[1]
    digest = hashlib.sha256(Path(wheel).read_bytes()).hexdigest()
    parts = []
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.namelist():
            if ".libs/" in entry and ".so" in entry:
                soname = re.sub(r"-[0-9a-f]{8}(\.so.*)", r"\1", Path(entry).name)
                parts.append(deb(soname, versions, hashlib.sha256(archive.read(entry)).hexdigest()))
            elif of_pypi := re.search(r"/licenses/([a-z-]+)-([0-9.]+)\.txt$", entry):
                parts.append(component(PackageURL("pypi", None, *of_pypi.groups())))
        parts += [deb(file, versions) for file in LINKED]
        licensed = {name for entry in archive.namelist() if "/licenses/" in entry for name in Path(entry).stem.split("_")}
        without = [part.name for part in parts if not {part.name, f"{part.name}-{part.version}"} & licensed]
    if without:
        sys.exit(f"{wheel} has no licence of {', '.join(without)}")
    bom = Bom(components=parts, serial_number=uuid.uuid5(uuid.NAMESPACE_OID, digest))
    bom.metadata.timestamp = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc)
    bom.metadata.component = faro = Component(
        name="faro-permute", version=version, type=ComponentType.LIBRARY, licenses=[LicenseExpression("Apache-2.0")],
        purl=PackageURL("pypi", None, "faro-permute", version), bom_ref="faro", hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)])
    bom.register_dependency(faro, parts)
    text = make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_5).output_as_string(indent=1)
    fault = JsonStrictValidator(SchemaVersion.V1_5).validate_str(text)
    if fault:
        sys.exit(f"the document is no CycloneDX: {fault}")
    Path(out).write_text(text + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
