// Where the elements of a part of a tensor go: a map's text, or heads for rotary embeddings, as a permutation
// or as views, and the same where the part lies in a larger tensor.
//
//     dense numbers of a part     0 1 2 3 4 5                a split or joined axis is not the slowest:
//     within its tensor           . . 0 1 . . 2 3 . . 4 5    block 2, pitch 4, first 2
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "faro/permutation/strided.hpp"
#include "store/box.hpp"
#include "store/checkpoint_rules.hpp"

namespace faro::store {

/// Blocks of a part that lie together in its tensor, in elements.
struct Lodging {
  std::uint64_t block = 1;
  std::uint64_t pitch = 1;  // from one to the next; the block: the part is dense
  std::uint64_t first = 0;

  bool is_dense() const { return block == pitch; }
};

/// Of the part begin .. begin + extent - 1 along an axis.
Lodging lodging_of(const Shape& whole, std::size_t axis, std::uint64_t begin, std::uint64_t extent);

/// What is done to a part, by dense numbers on both sides.
struct PartMove {
  std::optional<Permutation> permutation = {};  // or views, which together give each element of the result
  std::vector<Strided> views = {};
  Shape shape = {};  // of the result
  std::string text = {};
};

/// Errors: ErrorCode::value with `operation`, and those of parse_permutation() and parse_strided().
PartMove part_move(const std::optional<Layout>& layout, const Shape& shape, const std::string& operation);

/// Views that do the same where the part lies so on both sides. Errors: ErrorCode::unsupported with
/// `operation` for maps that are not of axes.
std::vector<Strided> lodged(const PartMove& move, const Lodging& in, const Lodging& out,
                            const std::string& operation);

}  // namespace faro::store
