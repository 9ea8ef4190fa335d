// Which element every register of every lane holds: fragments of tensor cores, blocked tiles, and any other
// layout whose index bits are XORs of the bits of register, lane and warp.
//
//     mma.m16n8k16.C, an accumulator of 16 x 8 elements: registers c0 .. c3 of lane 4 g + t
//
//                     columns 2t      2t + 1            the element's index is its row, then its column:
//            row g        [ c0          c1 ]                row 3 2 1 0 column 2 1 0
//            row g + 8    [ c2          c3 ]                    r1 l4 l3 l2       l1 l0 r0
//
// So a layout is a matrix over F2, and it is kept by its columns: the element that each single bit of the
// register, the lane and the warp stands for. Any other place is the XOR of its bits' elements. A column of
// zero means that places which differ in this bit hold the same element.
//
// Texts. Each is read by parse_layout(), and to_text() writes the last but one of them.
//
//     mma.m16n8k16.A                   a name: `layout_names()`, the files in extras/swizzle/layouts
//     mma.m16n8k16.C[32x16]            the same over a larger tile; further registers continue along the last
//                                      axis first
//     trans(mma.m16n8k16.C)            its first two axes exchanged
//     strided(8), contiguous(8)        8 registers, element 32 register + lane, or 8 lane + register
//     blocked(1x4, 8x4, 1x1)           elements a lane, lanes, warps along each axis; optionally [shape]
//     ((4,8),(2,2)):((32,1),(16,8))    CuTe's Layout of (thread, value); `@ (16,8)` gives its numbers their
//                                      coordinates, the first fastest. `Swizzle<2,0,3> o ` before it is applied
//     #ttg.linear<{register = [[0, 1], [8, 0]], lane = [[0, 2], …], warp = [], block = []}>   Triton's
//     matrix(2, 5, 0: 0100000 1000000 …)   rows of bits, element bit 0 first; columns are 2 bits of the
//                                      register, 5 of the lane and none of the warp, each from bit 0
//     @FILE                            the one layout of a file like those that have the names
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "faro/f2/matrix.hpp"

namespace faro::exchange {

/// One axis of the array that is held: 2^bits elements.
struct Axis {
  std::string name;
  int bits = 0;
  friend bool operator==(const Axis&, const Axis&) = default;
};

/// Law: the element at (register, lane, warp) is the XOR of the columns of their set bits.
struct Layout {
  std::string name;        // as it was asked for
  std::vector<Axis> axes;  // the slowest first: an element's index is row-major
  std::vector<f2::Word>
      registers;  // element of register 2^i, counted in elements and not in 4-byte registers
  std::vector<f2::Word> lanes;
  std::vector<f2::Word> warps;

  int element_bits() const;
  f2::Word element(f2::Word reg, f2::Word lane, f2::Word warp = 0) const;
  /// Columns of registers, then lanes, then warps.
  f2::Matrix matrix() const;
};

/// "16 x 8"
std::string shape_text(const Layout& layout);

/// Bits of an element for which a name is looked up where the text has none of its own: 8, 16, 32 or 64.
/// Errors: ErrorCode::spec for a text that is none of those above, or a layout that is not linear over F2,
/// with the part that is wrong; ErrorCode::value for a name that has no layout of this width;
/// ErrorCode::file.
Layout parse_layout(std::string_view text, int element);

/// Triton's text of it. Law: parse_layout(to_text(x), any) has the same columns and axes as x, but for names.
std::string to_text(const Layout& layout);

/// CuTe's text, (thread, value) to the number of the element, the first axis fastest, with `@ (shape)`; empty
/// where a column has more than one bit, for which CuTe's Layout has no form.
std::string to_cute(const Layout& layout);

/// A layout that has a name, or a family of them whose `*` stands for a number.
struct LayoutName {
  std::string name;
  int element = 0;     // bits
  std::string source;  // where it is published
};
std::vector<LayoutName> layout_names();

}  // namespace faro::exchange
