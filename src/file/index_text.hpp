// Texts with index arrays that are files of any size: `@index.npy`, and what is composed of it.
//
//     compose(f, g), inverse(f), power(f, k), scatter(@index.npy), gather(@index.npy), @index.npy
//
// stand above the index files; whatever has no index file inside is a permutation that is computed. Such a
// text becomes one index file and a map behind it, x -> after(entry x), by files beside the output:
//
//     f o g, f computed      g's entries, f behind them                           nothing is moved
//     f o g, f of a file     f's entries, gathered by g                           a sweep, or a distribution
//     inverse                0, 1, …, moved to where the entries say              a distribution
//     power                  by squares and products
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "faro/permutation/permutation.hpp"

namespace faro::file {

struct IndexNode {
  enum class Kind : std::uint8_t { file, computed, compose, inverse, power };
  Kind kind = Kind::computed;
  std::string text{};                    // of a computed one; a file's path
  std::optional<Direction> direction{};  // of a file; nothing: that of a bare `@index.npy`
  std::int64_t exponent = 1;
  std::vector<IndexNode> parts{};
};

/// Nothing for texts without an index file, and for what the grammar does not have: the parser tells what is
/// wrong with it.
std::optional<IndexNode> index_node(std::string_view text);

/// What stands between the parentheses of `random(count, seed)`; nothing for other texts.
std::optional<std::string> random_arguments(std::string_view text);

/// The paths of its index files, in their order.
std::vector<std::string> files_of(const IndexNode& node);

}  // namespace faro::file
