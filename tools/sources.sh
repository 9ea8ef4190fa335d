# To be sourced, with $build, a configured tree: $as_cpp, how our sources are read as plain C++, and which they are.

nvcc=$(sed -n 's/^CMAKE_CUDA_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
cuda_include=$(dirname "$(dirname "$nvcc")")/include
[[ -e $cuda_include/cuda_runtime_api.h ]] || cuda_include=""
# Where MPI's headers are, if it is built.
mpi_include=$(sed -n 's/^MPI_CXX_COMPILER_INCLUDE_DIRS:[A-Z]*=//p; s/^MPI_CXX_HEADER_DIR:[A-Z]*=//p' "$build/CMakeCache.txt" | tr ';' '\n' | sed '/^$/d; s/^/-isystem /' | sort -u)
extra_folders=(extras/*)
extra_includes=(extras/*/include)
# shellcheck disable=SC2206  # a flag and its value are two words
mpi_flags=($mpi_include)
as_cpp=(-std=c++20 -fopenmp -x c++ -Iinclude -Isrc "${extra_folders[@]/#/-I}" "${extra_includes[@]/#/-I}" -I. -I"$build/generated" -I"$build/generated/embed" -I"$build/generated/layouts"
  ${cuda_include:+-isystem "$cuda_include"} -DOMPI_SKIP_MPICXX "${mpi_flags[@]}")

# Of src and cli: "FOLDER FILE" a line.
list_files() {
  find src cli extras -not -path "*/bench/*" -not -path "*/examples/*.cu" -not -path "*/tests/*" \( -name '*.cpp' -o -name '*.cu' \) | sort | while read -r file; do
    if [[ -z $cuda_include ]]; then
      [[ $file != *.cu ]] && ! grep -q '#include <cuda_runtime' "$file" || continue
    fi
    [[ $file == *.cu ]] && grep -q '#include <cub/' "$file" && continue
    [[ $file == src/mpi/* && -z $mpi_include ]] && continue
    # Highway's files include themselves for each instruction set.
    local kind=${file##*.}
    grep -q 'foreach_target' "$file" && kind=$file
    echo "$(dirname "$file")/$kind $file"
  done
}

# Sources that differ from the merge base, and those whose own headers do: a line each. Status 1 where there is no merge base.
changed_files() {
  local base changed
  base=$(git merge-base HEAD "${FARO_BASE:-origin/main}" 2>/dev/null) || return 1
  changed=$(git diff --name-only --diff-filter=d "$base" -- src cli extras include; git ls-files --others --exclude-standard -- src cli extras include)
  [[ -z $changed ]] && return 0
  local headers
  headers=$(grep -E '\.(hpp|cuh)$' <<<"$changed" | sed -E 's,^(src|include|extras/[a-z]+/include|extras/[a-z]+)/,,; s,[.],\\.,g' | paste -sd '|' || true)
  {
    grep -E '\.(cpp|cu)$' <<<"$changed" || true
    [[ -z $headers ]] || grep -rlE "#include \"($headers)\"" src cli extras --include='*.cpp' --include='*.cu' || true
  } | sort -u
}
