// A permutation of an array's indices, in whatever form the user has it, and its one text form.
//
// Destination-designated: out[pi(x)] = in[x]. The text grammar is the same in the command line, tests,
// benchmarks, errors and bug reports; docs/guide/maps.md describes it, `faro maps` prints it:
//
//     bit_reversal(20)         affine(4; 0x1 0x2 0x4 0x8; 0x0)
//     transpose(4096, 1024)    compose(gray(8), xor(8, 0x80))
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "faro/permutation/affine.hpp"
#include "faro/permutation/axes.hpp"
#include "faro/permutation/computed.hpp"
#include "faro/permutation/indexed.hpp"
#include "faro/permutation/modular.hpp"

namespace faro {

/// The first that fits is the best: affine maps over F2 have the most to offer.
using Permutation = std::variant<Affine, Cyclic, Modular, Axes, CyclicAxes, Computed, Indexed>;

/// The affine map. Errors: ErrorCode::unsupported for any other permutation, saying that `operation` takes
/// affine maps only.
const Affine& affine(const Permutation& permutation, const char* operation);
/// The same of a temporary, such as normal_form() returns.
Affine affine(Permutation&& permutation, const char* operation);

/// The affine map that a permutation is, whatever its form: axes of powers of two, rolls and flips by
/// quarters of 2^n elements. Nothing for the others and for index arrays, whose entries are not read (see
/// normal_form()).
std::optional<Affine> affine_form(const Permutation& permutation);

/// The form with the most to offer: the permutation as an Affine where it is affine, else as a Cyclic where
/// it is a roll or a flip, else as a Modular where it is a multiplication, else as Axes, else as CyclicAxes,
/// else as a Computed, else as an Indexed:
///
///     axes(4 4; 1 0), indices(0 2 1 3), flip(8)    bits(4; 2 3 0 1), bits(2; 1 0), reverse(3)
///     axes(3 4; 0 1), indices(2 0 1)               roll(12, 0), roll(3, 2)
///     multiply(7, 6), indices(0 2 4 1 3)           compose(roll(7, 1), flip(7)), multiply(5, 2)
///
/// An index array of the host is recognised for it, by `threads` threads (0: as many as OpenMP would use);
/// one in a device's memory stays as it is, for its entries are not read.
/// Law:    apply(normal_form(p), x) == apply(p, x), and two p that are the same permutation have the same
/// form,
///         but for index arrays that nothing is recognised in.
/// Cost:   that of recognise() for an index array, else of n images.
Permutation normal_form(const Permutation& permutation, int threads = 0);

/// pi(x). Requires: x < element_count (unchecked). Errors: ErrorCode::value for an array on a device.
/// Cost: that of the form; of a gather's index array a sweep, see Indexed::redirected.
std::uint64_t apply(const Permutation& permutation, std::uint64_t x);

/// The same for a call without namespace, which also finds std::apply: of two that fit as well as each other
/// the constrained one is taken.
template <typename P, typename X>
requires std::is_same_v<std::remove_cvref_t<P>, Permutation> && std::is_integral_v<std::remove_cvref_t<X>>
    std::uint64_t apply(P&& permutation, X&& x) {
  return apply(static_cast<const Permutation&>(permutation), static_cast<std::uint64_t>(x));
}

/// a o b: out[a(b(x))] = in[x]. Affine where both are, cyclic where both are, modular where both are modular
/// or cyclic; where one is the identity, the other; of a computed map and its inverse the identity; else an
/// index array. Errors: ErrorCode::value for
/// different counts, an array on a device, or too little memory for the array.
Permutation compose(const Permutation& a, const Permutation& b);

/// The k-fold composition; k < 0 composes inverses. Errors: as compose.   Cost: of an index array, and of
/// axes, O(log |k|) compositions.
Permutation power(const Permutation& permutation, std::int64_t k);

/// Number of elements permuted. Errors: ErrorCode::value at 2^64, which no count holds.
std::uint64_t element_count(const Permutation& permutation);

/// out[pi(x)] = in[x] undone.
Permutation inverse(const Permutation& permutation);

struct ParseOptions {
  /// The n of a map that is given without it ("bit_reversal", "swap_bits(3, 20)"), where the array at hand
  /// fixes it.
  std::optional<int> bare_bits;
  /// What a bare `@index.npy` is; `scatter(@index.npy)` and `gather(@index.npy)` say it themselves.
  Direction direction = Direction::scatter;
  /// The entries of all index arrays that a text makes or reads, together: for texts from untrusted sources.
  std::uint64_t most_index_elements = Indexed::kMaxCount;
  /// The shape of the array at hand, where there is one: the extents of `transpose` and `axes(2 0 1)`, and by
  /// its product the count of `flip` and `roll(5)`.
  std::optional<std::vector<std::uint64_t>> shape = std::nullopt;
};

/// Reads one permutation, `@file.qasm`, `@file.json` and `@index.npy` included, or a pattern of axes as
/// einops writes them: 'b s h d -> b h s d', 'b (h d) s -> b h s d, h=8'.
/// Law:    parse(to_text(p)) == p, but for an index array whose text is only a description.
/// Errors: ErrorCode::spec with the place in the text and, for a misspelt name, the nearest one;
///         ErrorCode::value for a singular matrix; ErrorCode::file where a named file cannot be read;
///         ErrorCode::unsupported for what is understood but not possible yet.
Permutation parse_permutation(std::string_view text, const ParseOptions& options = {});

/// A pattern such as 'b (h d) s -> b h s d' has the array's shape and the result's. Its axes are finer where
/// brackets join them.
struct RegroupedShape {
  std::vector<std::uint64_t> before;
  std::vector<std::uint64_t> after;
};

struct ParsedPermutation {
  Permutation permutation;
  /// What the words say of axes: of `transpose`, `axes`, `aos_to_soa`, `soa_to_aos`, and of their inverses
  /// and compositions. Nothing for maps of indices alone.
  std::optional<NamedAxes> axes = std::nullopt;
  /// What a pattern says.
  std::optional<RegroupedShape> regrouped = std::nullopt;
};

/// The same, with the axes that the text names.
ParsedPermutation parse_with_axes(std::string_view text, const ParseOptions& options = {});

/// The canonical text. An affine map has the first that fits of `identity(n)`, `bit_reversal(n)`,
/// `reverse(n)`, `gray(n)`, `shuffle(n)`, `sequency(n)`, `xor(n, mask)`, `bits(n; positions)` and `affine(n;
/// columns; complement)` in lower-case hexadecimal. Others have `roll(count, shift)`, `flip(count)`,
/// `compose(roll(…), flip(…))`, `multiply(count, factor)`, `affine_mod(count, factor, shift)`,
/// `transpose(rows, columns)`, `axes(extents; order)` and `axes(extents; order; rolls; flipped axes)`,
/// `hilbert(d, b)`, `healpix(k)` and `inverse(…)` of these two. An index array has its label; else, to 64
/// elements, `indices(entries of the scatter)`; else `indices(of 1000 elements)`, which no parser reads.
std::string to_text(const Permutation& permutation);

}  // namespace faro

// Arrays of structures, structures of arrays, and tiles of them: permutations of the structs' words.
//
//     structs (x y z)              x0 y0 z0 x1 y1 z1 x2 y2 z2 x3 y3 z3
//     aos_to_soa(4, 3)             x0 x1 x2 x3 y0 y1 y2 y3 z0 z1 z2 z3
//     aosoa(4, 3, 2)               x0 x1 y0 y1 z0 z1 x2 x3 y2 y3 z2 z3
//     aosoa(4, 3, 3)               x0 x1 x2 y0 y1 y2 z0 z1 z2 x3 y3 z3      the last tile has what is left
//
// An element is a word, of any width. Within a kernel device/aos.hpp does the same in registers.

namespace faro::maps {

/// Word w of struct i, at i * words + w, goes to w * count + i: transpose(count, words), affine where both
/// are powers of two. Errors (of all): ErrorCode::value for 0 words and for more than 2^40 elements, affine
/// maps apart.
Permutation aos_to_soa(std::uint64_t count, std::uint64_t words);

/// Its inverse.
Permutation soa_to_aos(std::uint64_t count, std::uint64_t words);

/// aos_to_soa of every `tile` structs by themselves, and of the fewer ones that are left. Axes, or affine,
/// where `tile` divides `count` or is at least `count`; else an index array. Errors: also for a tile of 0
/// structs, and where there is not enough memory for the array. Cost: of an index array 4 bytes an element, 8
/// beyond 2^32.
Permutation aosoa(std::uint64_t count, std::uint64_t words, std::uint64_t tile);

/// A d-dimensional array of 2^b elements a side, row-major with axis 0 slowest, becomes Hilbert's order:
/// pi(x) is the number of an element along the curve, as Skilling's algorithm has it. Computed, or affine
/// where b is 0 or 1 or d is 1. Errors: ErrorCode::value for d below 1, b below 0 and d b above 62.
Permutation hilbert(int d, int b);

/// The 12 4^k pixels of a HEALPix map, nested, become rings from north to south; nside is 2^k. Computed.
/// Errors: ErrorCode::value for k outside 0..29.
Permutation healpix(int k);

}  // namespace faro::maps

// Recognises what an index array is: finds the cheapest form of the same permutation by a few probes and
// proves it by a sweep.
//
//     identity                     P[i] = i
//     affine over F2               n + 1 probes fix the only candidate
//     cyclic shift, reversal       one probe each
//     multiplication modulo count  one probe
//     permutation of axes          strides probed at the divisors of the count: the shape is found, not given
//     axes flipped and rolled      the same by differences, and where each axis goes round
//     blocks that repeat           equal blocks of a smaller permutation, whose elements may be several: I x
//     P x I structure with exceptions    most of 32 samples agree on an affine, cyclic or modular map; few
//     entries differ contiguous runs              counted: few runs are moved as runs small displacement
//     measured: what moves less than a window, and less than a quarter of the
//                                  array, stays in a tile
//
// in that order. Each candidate is held against every entry, by all threads, until the first that differs; so
// one changed entry is enough to be refused, and a refusal is usually cheap. Runs and displacement come from
// one sweep, which stops when both are hopeless.
//
// The search is written over an IndexReader, so that an array in a device's memory is recognised there
// (engines/cuda_index.hpp) by the same rules.

namespace faro {

enum class Family {
  identity,
  affine,
  cyclic,
  modular,
  axes,
  cyclic_axes,
  computed,
  blocks,
  exceptions,
  runs,
  window,
  general
};
/// "identity", "affine", …, "cyclic axes", ….
const char* name(Family family) noexcept;

/// What was tried, for explain().
struct Finding {
  Family family = Family::general;
  bool holds = false;
  std::string why;  // "P[5] = 9, not 7 as strides 3 1 would have it"
};

struct Locality {
  std::uint64_t runs = 0;          // maximal runs P[i + 1] = P[i] + 1; more than asked for: not counted on
  std::uint64_t displacement = 0;  // largest |P[i] - i|; likewise
};

/// An element that goes elsewhere than a map has it.
struct Exception {
  std::uint64_t source = 0;
  std::uint64_t target = 0;

  friend bool operator==(const Exception&, const Exception&) = default;
};

/// P[b m + k w + j] = b m + p[k] w + j: blocks of m = w count(p) elements, of which w stay together.
struct Blocks {
  std::uint64_t repeats = 1;   // b
  std::uint64_t together = 1;  // w

  friend bool operator==(const Blocks&, const Blocks&) = default;
};

struct Recognition {
  Family family = Family::general;
  /// What says the same: an Affine (family affine, and an identity of 2^n elements), a Cyclic (cyclic, and
  /// any other identity), a Modular, an Axes or CyclicAxes, with the direction worked in; or the Indexed that
  /// was given. Family blocks: the permutation of a block, in its own simplest form. Family exceptions: the
  /// map that the others follow.
  Permutation permutation;
  /// For family blocks.
  Blocks blocks = {};
  /// For family exceptions, ascending by source.
  std::vector<Exception> exceptions = {};
  /// Where they were counted (families runs, window, general) and are within RecogniseLimits.
  std::optional<std::uint64_t> runs;
  std::optional<std::uint64_t> displacement;
  std::vector<Finding> findings;  // in the order tried; only the last one holds
};

/// An index array, wherever it is.
class IndexReader {
 public:
  virtual ~IndexReader() = default;
  virtual std::uint64_t count() const = 0;
  /// Entries at these positions, each below count().
  virtual std::vector<std::uint64_t> at(std::span<const std::uint64_t> positions) = 0;
  /// The first position whose entry is not candidate(position), or nothing; any position that differs will do
  /// if it is cheaper. `candidate` is no Indexed, on count() elements, and one that it takes.
  virtual std::optional<std::uint64_t> mismatch(const Permutation& candidate) = 0;
  /// Whether mismatch() takes such candidates, and what follows can be asked; an Affine, a Cyclic and Axes
  /// always.
  virtual bool takes_all() const { return false; }
  /// Positions whose entries are not candidate(position), ascending; nothing where they are more than `most`.
  virtual std::optional<std::vector<std::uint64_t>> mismatches(const Permutation& candidate,
                                                               std::uint64_t most);
  /// The first position i >= block whose entry is not that of i - block, and `block` more.
  virtual std::optional<std::uint64_t> repeat_mismatch(std::uint64_t block);
  /// The largest w that divides the count, and of which all runs P[i + 1] = P[i] + 1 and their targets begin
  /// at multiples.
  virtual std::uint64_t together();
  /// Stops early, with whatever it has, once runs and displacement are both past these.
  virtual Locality locality(std::uint64_t max_runs, std::uint64_t max_displacement) = 0;
};

struct RecogniseLimits {
  std::uint64_t run_elements = 16;       // family runs: at least so many elements a run, on the mean
  std::uint64_t displacement = 1 << 13;  // family window: everything moves less, and less than count / 4
  std::uint64_t exceptions = 1 << 12;    // family exceptions: at most so many, and one element of 64
};

/// Errors: none for a permutation; entries that are none give family general.   Cost: a sweep of the array
/// for each family that survives its probes, at most two or three as a rule.
Recognition recognise(IndexReader& reader, const Indexed& indexed, const RecogniseLimits& limits = {});

/// Recognises an array of the host. `threads` 0: what OpenMP would use. Errors: ErrorCode::value for an array
/// on a device.
Recognition recognise(const Indexed& indexed, int threads = 0, const RecogniseLimits& limits = {});

}  // namespace faro
