#!/usr/bin/env bash
# bindings/check.sh LANGUAGE LIBDIR SCRATCH   builds the binding of fortran or rust with the libfaro.so of LIBDIR and runs its tests, in
# SCRATCH. Ends with 77, for ctest a skipped test, where there is no compiler.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
language=$1 libraries=$(realpath "$2") scratch=$3
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"

case "$language" in
  fortran)
    command -v gfortran >/dev/null || { echo "no gfortran"; exit 77; }
    # The header of descriptors lies with gfortran's own files, where gcc does not look.
    descriptors=$(dirname "$(gfortran -print-file-name=finclude)")/finclude
    [[ -e $descriptors/ISO_Fortran_binding.h ]] || descriptors=$(dirname "$(gfortran -print-file-name=include)")/include
    gcc -std=c11 -Wall -Wextra -Werror -O1 "-I$here/../include" "-I$descriptors" -c "$here/fortran/faro_descriptors.c"
    gfortran -std=f2018 -Wall -Wextra -Werror -O1 -c "$here/fortran/faro.f90"
    gfortran -std=f2018 -Wall -Wextra -Werror -Wno-compare-reals -O1 "$here/fortran/faro_test.f90" faro.o faro_descriptors.o \
      "-L$libraries" -lfaro "-Wl,-rpath,$libraries" -o faro_test
    ./faro_test
    ;;
  rust)
    command -v cargo >/dev/null || { echo "no cargo"; exit 77; }
    cp -r "$here/rust" crate
    cd crate
    CARGO_TARGET_DIR=$PWD/../target FARO_LIB_DIR=$libraries cargo test --offline --quiet
    ;;
  *)
    echo "usage: bindings/check.sh fortran|rust LIBDIR SCRATCH" >&2
    exit 2
    ;;
esac
