// The text form of a cut, and what axes of a text it counts.
#include <fmt/format.h>

#include <sstream>

#include "faro/error.hpp"
#include "faro/shards.hpp"
#include "shard/methods.hpp"

namespace faro {

ShardCut parse_cut(const std::string& text, const std::string& operation) {
  const auto fail_cut = [&] {
    fail(ErrorCode::value, operation, "`" + text + "`",
         "a cut: `axis(0)`, `axis(1; 3 1 2)` with an extent for each rank, `bits(28 29)`, or a distribution, "
         "`mesh 2x3; axis 0 over 0; axis 1 over 1`");
  };
  if (text.empty()) return ShardAxis{};
  if (text.starts_with("mesh") || text.starts_with("{")) return parse_distribution(text, operation);
  const bool is_bits = text.starts_with("bits(");
  if ((!is_bits && !text.starts_with("axis(")) || !text.ends_with(')')) fail_cut();
  std::string inside = text.substr(5, text.size() - 6);
  std::vector<std::uint64_t> numbers;
  const auto read = [&](const std::string& words) {
    numbers.clear();
    std::istringstream stream(words);
    for (std::string word; stream >> word;) {
      if (word.find_first_not_of("0123456789") != std::string::npos || word.size() > 18) fail_cut();
      numbers.push_back(std::stoull(word));
    }
  };
  constexpr std::uint64_t kMostAxesAndBits = 64;
  if (is_bits) {
    read(inside);
    ShardBits bits;
    for (const std::uint64_t number : numbers) {
      if (number >= kMostAxesAndBits) fail_cut();
      bits.bits.push_back(static_cast<int>(number));
    }
    return bits;
  }
  const std::size_t semicolon = inside.find(';');
  read(inside.substr(0, semicolon));
  if (numbers.size() != 1 || numbers[0] >= kMostAxesAndBits) fail_cut();
  ShardAxis axis{.axis = static_cast<int>(numbers[0]), .extents = {}};
  if (semicolon == std::string::npos) return axis;
  read(inside.substr(semicolon + 1));
  if (numbers.empty()) fail_cut();
  axis.extents = numbers;
  return axis;
}

namespace detail {

void count_axes(ShardProblem& problem, const NotedPermutation& read) {
  problem.axes = read.parsed.axes;
  problem.shapes = read.parsed.regrouped ? read.parsed.regrouped : read.shapes;
  const bool is_of_axes = problem.axes && problem.shapes && problem.shapes->before == problem.axes->shape &&
                          problem.shapes->after == problem.axes->target_shape();
  if (is_of_axes) problem.shapes.reset();
}

}  // namespace detail
}  // namespace faro
