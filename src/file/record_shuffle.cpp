#include "file/record_shuffle.hpp"

#include <cmath>
#include <numeric>
#include <utility>

#include "faro/error.hpp"
#include "rounding.hpp"

namespace faro::file {
namespace {

constexpr std::uint64_t kFewRecords = 4096;
constexpr std::uint64_t kMostRecords = std::uint64_t{1} << 62;  // halves and their sums have 32 bits

// SplitMix64.
std::uint64_t next_key(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

std::uint64_t root_up(std::uint64_t count) {
  auto root = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(count)));
  while (root * root < count) ++root;
  while ((root - 1) * (root - 1) >= count) --root;
  return root;
}

}  // namespace

RecordShuffle::RecordShuffle(std::uint64_t count, std::uint64_t seed) : seed_(seed) {
  FARO_CHECK(count <= kMostRecords);
  rounds_.count = count;
  std::uint64_t state = seed;
  if (count == 0) return;
  if (count > kFewRecords) {
    for (ShuffleRounds::Keys& keys : rounds_.keys) {
      const std::uint64_t key = next_key(state);
      keys = {.first = static_cast<std::uint32_t>(key), .second = static_cast<std::uint32_t>(key >> 32)};
    }
    const std::uint64_t lefts = root_up(count);
    rounds_.lefts = static_cast<std::uint32_t>(lefts);
    rounds_.rights = static_cast<std::uint32_t>(detail::ceil_div(count, lefts));
    return;
  }
  to_.resize(count);
  std::iota(to_.begin(), to_.end(), 0U);
  for (std::uint64_t i = count; i-- > 1;) {
    // Below i + 1, without the bias of a remainder.
    const std::uint64_t limit = ~std::uint64_t{0} - ~std::uint64_t{0} % (i + 1);
    std::uint64_t drawn = next_key(state);
    while (drawn >= limit) drawn = next_key(state);
    std::swap(to_[i], to_[drawn % (i + 1)]);
  }
  from_.resize(count);
  for (std::uint32_t x = 0; x < count; ++x) from_[to_[x]] = x;
}

void RecordShuffle::fill(std::uint64_t first, bool inverse, std::span<std::uint64_t> to) const {
  if (!to_.empty()) {
    const std::vector<std::uint32_t>& table = inverse ? from_ : to_;
    std::copy_n(table.begin() + static_cast<std::ptrdiff_t>(first), to.size(), to.begin());
    return;
  }
  constexpr std::size_t kTogether = 1024;  // that are looked through where one has to go again
  for (std::size_t begin = 0; begin < to.size(); begin += kTogether) {
    const std::span<std::uint64_t> part = to.subspan(begin, std::min(kTogether, to.size() - begin));
    if (!shuffle_in_rounds(rounds_, first + begin, inverse, part)) continue;
    for (std::uint64_t& each : part) {
      while (each >= count()) each = inverse ? rounds_.backward(each) : rounds_.forward(each);
    }
  }
}

}  // namespace faro::file
