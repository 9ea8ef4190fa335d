// A permutation of an array's indices, in whatever form the user has it, and its one text form.
//
// Destination-designated: out[pi(x)] = in[x]. The text grammar is the same in the command line, tests,
// benchmarks, errors and bug reports; docs/maps.md describes it, `faro maps` prints it:
//
//     bit_reversal(20)    transpose(4096, 1024)    affine(4; 0x1 0x2 0x4 0x8; 0x0)    compose(gray(8), xor(8,
//     0x80))
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "faro/permutation/affine.hpp"

namespace faro {

/// Today affine maps over F2; index arrays and permutations of axes join here.
using Permutation = std::variant<Affine>;

/// Number of elements permuted. Errors: ErrorCode::value at 2^64, which no count holds.
std::uint64_t element_count(const Permutation& permutation);

/// out[pi(x)] = in[x] undone.
Permutation inverse(const Permutation& permutation);

struct ParseOptions {
  /// The n of a map that is given by its bare name ("bit_reversal"), where the array at hand fixes it.
  std::optional<int> bare_bits;
};

/// Reads one permutation, `@file.qasm` and `@file.json` included.
/// Law:    parse(to_text(p)) == p.
/// Errors: ErrorCode::spec with the place in the text and, for a misspelt name, the nearest one;
/// ErrorCode::value for
///         a singular matrix; ErrorCode::file where a named file cannot be read; ErrorCode::unsupported for
///         what is understood but not possible yet.
Permutation parse_permutation(std::string_view text, const ParseOptions& options = {});

/// The canonical text, the first that fits of `identity(n)`, `bit_reversal(n)`, `reverse(n)`, `gray(n)`,
/// `shuffle(n)`, `xor(n, mask)`, `bits(n; positions)` and `affine(n; columns; complement)` in lower-case
/// hexadecimal.
std::string to_text(const Permutation& permutation);

}  // namespace faro
