// Array programs as values: an immutable tree of combinators, each of which maps an array of 2^n elements to
// an array of 2^n elements.
//
//     identity(n)      the array as it is
//     bmmc(A)          out[A(x)] = in[x], an affine permutation
//     pairs(op, n)     adjacent elements 2p and 2p + 1 meet in op
//     each(f, n)       an elementwise function on every element
//     two(f)           f on each half
//     parm(mask, f)    f on each of two sub-arrays: x goes to sub-array parity(x & mask)
//     f * g            g first, then f; also compose(f, g)
//
// Programs of every size are functions in the host language, so that a network reads like its recurrence:
//
//     Program vcolumn(int n) { return n == 1 ? pairs(min_max(), 1) : parm(3, vcolumn(n - 1)); }
//     Program merge(int n)   { return n == 1 ? vcolumn(1) : parm(unit(n - 1), merge(n - 1)) * vcolumn(n); }
//     Program sort(int n)    { return n == 0 ? identity(0) : merge(n) * parm(1, sort(n - 1)); }
//
// On 8 elements the mask of vcolumn splits them by the parity of their two lowest bits, twice:
//
//     parm 3     0 . . 3 4 . . 7  |  . 1 2 . . 5 6 .       then parm 3 of 0 3 4 7:   0 7 | 3 4
//
// so that 0 meets 7, 1 meets 6, 2 meets 5 and 3 meets 4: each x its mirror image 7 - x.
//
// A tree is at most as deep as its size has bits, twice over: parm and two lose a bit on the way down, and a
// composition never stands directly inside another (they are one list). Nodes are shared, never copied.
// Source: Bouverot-Dupuis and Sheeran, sections 3 and 7.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "faro/network/operator.hpp"
#include "faro/permutation/affine.hpp"

namespace faro::network {

enum class ProgramKind { identity, bmmc, pairs, each, two, parm, compose };

/// "id", "bmmc", "pairs", "each", "two", "parm" or "compose".
const char* name(ProgramKind kind) noexcept;

/// Largest n of a program.
inline constexpr int kMaxProgramBits = 64;

/// Most leaves of a program, shared ones counted wherever they stand: a recurrence that calls itself twice on
/// one array doubles them with every bit.
inline constexpr std::uint64_t kMaxProgramLeaves = 1 << 20;

class Program {
 public:
  ProgramKind kind() const;

  /// n: the program takes arrays of 2^n elements.
  int bits() const;

  /// Operators, permutations and identities in the tree, shared ones counted wherever they stand.
  std::uint64_t leaves() const;

  // Each accessor belongs to the kinds that are named beside it (checked: ErrorCode::internal).

  const Affine& map() const;                  // bmmc
  const std::string& map_text() const;        // bmmc: the name that it was given, empty for none
  const Operator& op() const;                 // pairs, each
  f2::Word mask() const;                      // parm; two: 2^(n-1), the mask of equal meaning
  const Program& part() const;                // parm, two: what is done to each sub-array, of n - 1 bits
  const std::vector<Program>& parts() const;  // compose: as written, two or more; the last runs first

  /// Equal trees, whatever names their maps were given. Programs of equal effect may differ.
  friend bool operator==(const Program& f, const Program& g);

 private:
  struct Node;
  explicit Program(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  friend Program identity(int n);
  friend Program bmmc(const Affine& map, std::string text);
  friend Program pairs(const Operator& op, int n);
  friend Program each(const Operator& function, int n);
  friend Program two(const Program& f);
  friend Program parm(f2::Word mask, const Program& f);
  friend Program compose(const Program& f, const Program& g);
  friend Program composition(const std::vector<Program>& parts, int n);

  std::shared_ptr<const Node> node_;
};

/// Errors: ErrorCode::value for n outside 0..64.
Program identity(int n);

/// out[map(x)] = in[x]. `text` is what the map is called where the program is printed, in the maps' own
/// grammar; without one it is printed in a normal form, which for a general matrix is all of its columns.
/// Requires: parse_permutation(text, ...) is the map (unchecked).
Program bmmc(const Affine& map, std::string text = {});

/// For p = 0 .. 2^(n-1) - 1: (a, b) = (in[2p], in[2p+1]); op(a, b, p, n); out[2p] = a; out[2p+1] = b.
/// Errors: ErrorCode::value for n outside 1..64, and for an elementwise function.
Program pairs(const Operator& op, int n);

/// out[x] = function(in[x]).   Law: parm(mask, each(f, n)) does what each(f, n + 1) does.
/// Errors: ErrorCode::value for n outside 0..64, and for an operator on pairs.
Program each(const Operator& function, int n);

/// f on both halves, an array of twice f's size. Law: two(f) = parm(2^n, f), n f's bits.
/// Errors: ErrorCode::value past 64 bits.
Program two(const Program& f);

/// Splits the array by parity(x & mask), each part in order; f on both; puts them back where they came from.
/// Errors: ErrorCode::value for a mask of zero, a mask with bits past the array's, and past 64 bits; each
/// names the sub-expression.
Program parm(f2::Word mask, const Program& f);

/// f after g. Errors: ErrorCode::value where the sizes differ, naming both, and past kMaxProgramLeaves.
Program compose(const Program& f, const Program& g);
inline Program operator*(const Program& f, const Program& g) { return compose(f, g); }

/// The parts of a composition as written, or the program alone.
std::vector<Program> factors(const Program& program);

/// The composition of `parts` as written, the identity on n bits where there are none.
/// Errors: those of compose.
Program composition(const std::vector<Program>& parts, int n);

/// Errors: those of check_fits for the first operator that does not fit `element`, naming its
/// sub-expression.
void check_element(const Program& program, const ElementType& element);

// The programs that have a name, each a function of its size and, where it sorts, of its comparator.
//
//     sort(n)     merge after sorting the elements at even and at odd places
//     merge(n)    a column of mirror images, then the same on each half: the balanced merger
//     vcolumn(n)  x meets 2^n - 1 - x
//
// The bodies, in network/library.cpp, read like the recurrences of the literature. All of them work for
// n = 0, where they do nothing.

/// Compares x with 2^n - 1 - x; the smaller comes first. Source: Bouverot-Dupuis and Sheeran, section 7.1.
Program vcolumn(int n, const Operator& comparator = operators::min_max());

/// Sorts an array whose elements at even places are sorted, and those at odd places.
/// Source: Dowd, Perl, Saks and Rudolph 1983 (balanced merger); Bouverot-Dupuis and Sheeran, section 7.1.
Program merge(int n, const Operator& comparator = operators::min_max());

/// Sorts: n (n + 1) / 2 layers.
Program sort(int n, const Operator& comparator = operators::min_max());

/// x meets x ^ 2^(n-1), on n bits: the first layer of a butterfly.
Program butterfly(int n, const Operator& op);

/// Sorts an array whose halves are sorted: mirror images first, then butterflies on ever smaller halves.
/// Source: Batcher 1968, every comparator the same way up.
Program bitonic_merge(int n, const Operator& comparator = operators::min_max());

/// Sorts: n (n + 1) / 2 layers.
Program bitonic_sort(int n, const Operator& comparator = operators::min_max());

/// The Walsh-Hadamard transform in natural order: out[y] = sum over x of (-1)^parity(x & y) in[x], unscaled.
Program wht(int n);

/// The discrete Fourier transform: out[y] = sum over x of in[x] exp(-2 pi i x y / 2^n). Radix 2, decimation
/// in frequency, natural order on both sides. Source: Gentleman and Sande 1966.
Program fft(int n);

/// The same without its last step: out[reversed bits of y].
Program fft_reversed(int n);

/// out[y] = sum over x of in[x] exp(+2 pi i x y / 2^n), unscaled: after fft, 2^n times the input.
Program inverse_fft(int n);

/// The same without its last step.
Program inverse_fft_reversed(int n);

/// A program of the library, as text knows it.
struct LibraryEntry {
  std::string_view name;
  std::string_view meaning;
  Program (*make)(int n);
};

/// Every named program, in the order of this page.
std::span<const LibraryEntry> library();

/// Nothing where the name is unknown.
const LibraryEntry* find_program(std::string_view name);

// What a program does by its definition: the reference for rewriting, planning and engines.
//
// It does what each combinator says and nothing else: parm takes the array apart element by element, runs its
// part on both sub-arrays and puts them back. One core, no care for caches.

/// Replaces `data`, 2^n elements of `element`, by the program's result. Memory: as much again.
/// Errors: those of check_element; ErrorCode::value where the bytes are not 2^n elements'; ErrorCode::
/// unsupported for a user's operator without host function whose text a CPU does not read.
void interpret(const Program& program, const ElementType& element, std::span<std::byte> data);

/// The same on values whose bytes are elements of `element`.
template <typename Value>
std::vector<Value> interpret(const Program& program, const ElementType& element, std::vector<Value> values) {
  interpret(program, element, std::as_writable_bytes(std::span(values)));
  return values;
}

}  // namespace faro::network
