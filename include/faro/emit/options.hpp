// What a permutation is emitted as (faro/emit/emit.hpp): language, element type, which of the ladder's
// kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "faro/arithmetic.hpp"

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
  /// For iters: false leaves the rows as they are, as in the publication's appendix.
  bool turned_rows = true;
  /// For tile, banks and iters: the published pair for any map, A = (U R)(R L P), a kernel for each factor.
  bool both_factors = false;
  bool launcher = false;  // of Language::cuda: NAME_launch and NAME_workspace_bytes as well
  /// C++ over v, the element, and the indices x and y: out[y] = EXPR for v = in[x], y = pi(x). Empty: v.
  std::string map = {};
  /// What is done to each number instead: out[y] = to(scale f(in[x]) + offset + beta addend[y]). `element` is
  /// not looked at then; `in` has numbers of arithmetic.from, `out` of arithmetic.to, and an addend is the
  /// third array of the last kernel, of the function and of the launcher. Factors along axes count those of
  /// arithmetic.shape.
  std::optional<Arithmetic> arithmetic = {};
};

}  // namespace faro::emit
