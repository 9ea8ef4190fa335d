// Affine permutations as standalone CUDA C++ (or C++): one file, no library, nothing decided at run time.
//
//     pi(x) = A x ^ c   --emit-->   extern "C" __global__ void faro_kernel(const T* in, T* out)
//
// A kernel is a rung of the published ladder (Bouverot-Dupuis and Sheeran, 2023), or ours above it:
//
//     rung       what it adds                                                     maps
//     naive      a thread an element; reads coalesced, writes anywhere            all
//     tile       a tile in shared memory, so that writes are coalesced, too       BP, BPC, tiled BMMC
//     banks      rows of the tile turned, so that no two lanes meet in a bank     the same
//     iters      2^n_iter tiles a block: indices once, accesses many times        the same
//     two-pass   A = (U R)(R L P), each factor a kernel with coordinate tiles     all
//     one-pass   theorem 1: one tile along any subspace                           all
//
// Every one of them is four functions of the thread's numbers, each of them affine over F2: where an element
// is read, where it is put into shared memory, where it is taken from and where it is written. So the text is
// ands, shifts and XORs, and bits that move equally far move in one step:
//
//     bit_reversal(15), tile:   source = thread ^ block << 5 ^ warp << 10      bits 14-10 warp, 9-5 block
//                               target = (thread & 0x1) << 4 ^ (thread & 0x2) << 2 ^ thread & 0x4 ^ ...
//
// The prediction beside a kernel is counted, not modelled: one block of the same four functions is run on
// the counting memory, and multiplied by the number of blocks (plan/prediction.hpp tells why that is exact).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "faro/machine/access_counts.hpp"
#include "faro/permutation/affine.hpp"

namespace faro::emit {

enum class Rung { naive, tile, banks, iters, two_pass, one_pass };

/// "naive", "tile", "banks", "iters", "two-pass" or "one-pass".
const char* name(Rung rung) noexcept;

/// Errors: ErrorCode::value for any other text, naming the rungs.
Rung parse_rung(std::string_view text);

enum class Language { cuda, cpp };

/// "cuda" or "cpp".
const char* name(Language language) noexcept;

/// Errors: ErrorCode::value for any other text.
Language parse_language(std::string_view text);

/// A type that elements may have in the text.
struct ElementType {
  std::string_view name;
  int bytes = 0;                    // a power of two, up to 16
  std::string_view header = {};     // what it needs beyond <cstdint> and CUDA's own, such as cuda_fp16.h
  std::string_view component = {};  // of CUDA's vector types: what their members are
  int components = 1;
};

/// Every type that `Options::element` may name.
std::span<const ElementType> element_types();

/// The emitted kernels take arrays of up to 2^40 elements, and up to 2^10 tiles a block.
inline constexpr int kMaxIndexBits = 40;
inline constexpr int kMaxIterationBits = 10;

struct Options {
  Rung rung = Rung::one_pass;  // of Language::cuda; Language::cpp has one form
  Language language = Language::cuda;
  std::string element = "uint32_t";  // one of element_types()
  std::string name = "faro_kernel";  // of the function, and the prefix of all other names in the text
  /// n_tile of tile, banks and iters; log2 of a segment's elements in two-pass, one-pass and C++.
  /// 0: 5 for elements of up to 4 bytes, 4 for 8 bytes, 3 for 16 (128 bytes a row); the compiled kernels'
  /// segments (kernels/affine_tile_index.hpp) for two-pass and one-pass. A default is cut to the index's
  /// bits.
  int tile_bits = 0;
  int iteration_bits = 3;  // n_iter of iters; cut to the block's bits
  /// Of iters: false leaves the rows as they are, as in the publication's appendix.
  bool turned_rows = true;
  /// Of tile, banks and iters: the published pair for any map, A = (U R)(R L P), a kernel for each factor.
  bool both_factors = false;
  bool launcher = false;  // of Language::cuda: NAME_launch and NAME_workspace_bytes as well
  /// C++ over v, the element, and the indices x and y: out[y] = EXPR for v = in[x], y = pi(x). Empty: v.
  std::string map = {};
};

/// One extern "C" __global__ function of the text: void NAME(const T* in, T* out), on a grid of one
/// dimension.
struct Kernel {
  std::string name;          // Options::name; of two kernels NAME_first (in to workspace) and NAME_second
  Affine map;                // of elements
  std::uint64_t blocks = 0;  // gridDim.x, at most 2^31 - 1
  int threads_x = 0;         // blockDim
  int threads_y = 1;
  std::uint64_t shared_bytes = 0;          // a block, static and dynamic
  std::uint64_t dynamic_shared_bytes = 0;  // to be passed at launch; only above 48 KiB
  machine::AccessCounts predicted;         // of the whole launch, arrays aligned to 128 bytes
};

struct Source {
  std::string text;
  std::vector<Kernel> kernels;  // in the order in which they run; none for Language::cpp
  std::string element;
  std::uint64_t element_bytes = 0;
  std::uint64_t vector_bytes = 0;     // what `in`, `out` and the workspace have to be aligned to
  std::uint64_t workspace_bytes = 0;  // of two kernels: the array's size, else 0
};

/// The text of a kernel, or two, that carries out out[pi(x)] = f(in[x]); `in` and `out` do not overlap.
/// Law:    the map in the text's first lines parses back to `map`.
/// Errors: ErrorCode::unsupported for a rung that cannot do the map or has no room for it, saying why;
///         ErrorCode::value for an element, a name, sizes or an expression that cannot be.
/// Cost:   one block of every kernel on the CPU, some milliseconds.
Source emit(const Affine& map, const Options& options = {});

}  // namespace faro::emit
