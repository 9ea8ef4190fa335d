#!/usr/bin/env bash
# tools/docs.sh site [BUILD]     builds the site: BUILD/docs/html, by default in build
# tools/docs.sh charts [BUILD]   draws docs/pictures/chart-*.svg from bench/results
# tools/docs.sh check-charts [BUILD]   draws them elsewhere, and holds the words and figures of those that are kept against them
#
# Both run in BUILD/docs-venv, a Python environment with docs/site/requirements.txt, made when it is missing; nothing else needs the
# network. Exits with 77 where there is no such environment and none can be made.
set -euo pipefail
cd "$(dirname "$0")/.."
task=${1:-site}
build=${2:-build}
venv=$build/docs-venv
wanted=docs/site/requirements.txt

mkdir -p "$build"
if ! cmp -s "$wanted" "$venv/installed.txt"; then
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  echo "installing: $(grep -c . "$wanted") Python packages, to $venv"
  rm -rf "$venv"
  if ! { python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$wanted"; } </dev/null >"$log" 2>&1; then
    tail -n 3 "$log" >&2
    echo "no Sphinx, so no site: python3-venv and a package index are needed once" >&2
    rm -rf "$venv"
    exit 77
  fi
  cp "$wanted" "$venv/installed.txt"
fi

case "$task" in
  site)
    planner=$(tools/planner.sh) || [[ $? -eq 77 ]]
    "$venv/bin/python" docs/site/build.py . "$build/docs" ${planner:+"$planner"}
    ;;
  charts) "$venv/bin/python" bench/charts.py bench/results docs/pictures ;;
  check-charts)
    drawn=$build/docs/charts
    rm -rf "$drawn"
    "$venv/bin/python" bench/charts.py bench/results "$drawn"
    words() { grep -o '<text[^>]*>[^<]*' "$1" | sed 's/<text[^>]*>//'; }
    for kept in docs/pictures/chart-*.svg; do
      if [[ ! -e $drawn/$(basename "$kept") ]] || ! diff <(words "$kept") <(words "$drawn/$(basename "$kept")"); then
        echo "$kept: \`make charts\` draws something else" >&2
        exit 1
      fi
    done
    [[ $(ls "$drawn") == "$(cd docs/pictures && ls chart-*.svg)" ]] || { echo "\`make charts\` draws other charts than docs/pictures has" >&2; exit 1; }
    ;;
  *)
    echo "usage: tools/docs.sh [site|charts|check-charts] [BUILD]" >&2
    exit 2
    ;;
esac
