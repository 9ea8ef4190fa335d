// One of the layouts that the adviser weighs, as a value: what layout/shared.hpp has for each kind at compile
// time, for sizes known at run time, and the code that a kernel's author pastes.
//
// An element (i, j) has the natural place x = i columns + j. A layout is one of
//
//     raw       x
//     padded    x + i pad
//     cute      x ^ ((x >> S) & ((2^B - 1) << M))                        CuTe's Swizzle<B,M,S>
//     xor       x ^ X high(x)                                            layout::Xor
//     rap       the place within its bank row of 128 bytes turned by a sum of random permutations, one for
//               every digit of the row's number:
//
//         units of `unit_elements`, w = 128 bytes / unit; x = (bank row, position, element of the unit)
//         row number = d_0 + d_1 w + d_2 w^2 …        position' = (position + p0[d_0] + p1[d_1] + …) mod w
//
// With one digit that is Rap, with up to three Rap3P. A unit is the widest vector that must stay whole, and
// at least one 4-byte word. The row's number is i where rows are whole bank rows, else that of the bank row.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "faro/layout/access_set.hpp"
#include "faro/layout/shared.hpp"

namespace faro::layout {

/// CuTe's Swizzle<B,M,S>, in elements: bits M .. M+B-1 change by bits M+S .. M+S+B-1.
struct CuteSwizzle {
  int bits = 0;   // B
  int base = 0;   // M
  int shift = 0;  // S >= B

  constexpr Index operator()(Index x) const {
    const Index field = ((Index{1} << bits) - 1) << base;
    return x ^ ((x >> shift) & field);
  }
  friend constexpr bool operator==(const CuteSwizzle&, const CuteSwizzle&) = default;
};

/// The random turns of one seed.
struct RapTurns {
  std::uint64_t seed = 0;
  Index unit_elements = 1;
  Index width = 1;                                    // units of a bank row
  bool by_row = true;                                 // the row's number is i; else the bank row's
  std::vector<std::vector<Index>> permutations = {};  // [digit, lowest first][value]

  /// The turn of a row.
  Index turn(Index row) const;
};

enum class PlacementKind { raw, cute, exclusive_or, padded, rap };

struct Placement {
  PlacementKind kind = PlacementKind::raw;
  SharedArray array = {};
  Index pad = 0;          // of `padded`, in elements
  CuteSwizzle cute = {};  // of `cute`
  Xor exclusive_or = {};  // of `exclusive_or`
  RapTurns turns = {};    // of `rap`

  /// Address of element (i, j) in elements. Law: one to one, below size().
  Index operator()(Index i, Index j) const;

  /// Elements of shared memory that are needed.
  Index size() const;

  /// "RAW", "Swizzle<3,3,3>", "XOR", "pad 1", "RAP", "3P".
  std::string name() const;

  /// A C++17 function for host and device with every number in it, `shared_index(i, j)`, and the constant
  /// `shared_elements`. Law: the function equals operator(). It needs no header; nvcc compiles it as it is,
  /// other compilers with `__host__` and `__device__` defined empty.
  std::string device_code() const;
};

/// The turns for vectors of `vector_elements`, drawn by `seed`, the highest digit first.
/// Law: for 4-byte elements and 32 columns, up to 32 rows make Rap<32>::random(seed), and more than 1024 make
/// Rap3P<32>::random(seed).
RapTurns random_turns(const SharedArray& array, Index vector_elements, std::uint64_t seed);

}  // namespace faro::layout
