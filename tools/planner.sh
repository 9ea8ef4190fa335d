#!/usr/bin/env bash
# tools/planner.sh [BUILD]   builds the planner of the site's page, BUILD/faro_planner.js (by default in build-page), and prints its path.
#
# Two minutes of a processor once, seconds after. Exits with 77 where Debian's emscripten is not installed.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build-page}
toolchain=/usr/share/emscripten/cmake/Modules/Platform/Emscripten.cmake
if ! command -v em++ >/dev/null || [[ ! -e $toolchain ]]; then
  echo "no planner: emscripten is not installed" >&2
  exit 77
fi
# A compiler cache or flags that the surroundings name are not for this compiler.
unset CMAKE_CXX_COMPILER_LAUNCHER CXXFLAGS CFLAGS LDFLAGS
mkdir -p "$build"
exec 9>"$build/.lock" # tests may ask for it at once
flock 9
[[ -e $build/build.ninja ]] || cmake --preset page -B "$build" --log-level=WARNING >&2
cmake --build "$build" --target faro_planner -- --quiet >&2
echo "$build/faro_planner.js"
