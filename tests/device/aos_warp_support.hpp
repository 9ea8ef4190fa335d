// A warp of any number of lanes on the CPU, for the exchanges of faro/device/aos_registers.hpp: a value in
// every lane is an array, and every access of memory is checked and its sectors are counted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <set>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "faro/device/aos_registers.hpp"

namespace faro::testing {

template <typename V, int W>
struct Lanes {
  std::array<V, W> of = {};

  Lanes() = default;
  Lanes(const V& everywhere) { of.fill(everywhere); }  // NOLINT(google-explicit-constructor)
  V& operator[](std::size_t lane) { return of[lane]; }
  const V& operator[](std::size_t lane) const { return of[lane]; }
};

template <typename Op, typename A, typename B, int W>
auto each(const Lanes<A, W>& a, const Lanes<B, W>& b) {
  Lanes<std::decay_t<decltype(Op{}(a[0], b[0]))>, W> result;
  for (std::size_t t = 0; t < W; ++t) result[t] = Op{}(a[t], b[t]);
  return result;
}

struct ShiftRight {
  template <typename A>
  A operator()(A a, std::uint32_t b) const {
    return a >> b;
  }
};

#define FARO_LANES_OPERATOR(symbol, Op)                                                   \
  template <typename A, typename B, int W>                                                \
  auto operator symbol(const Lanes<A, W>& a, const Lanes<B, W>& b) {                      \
    return each<Op>(a, b);                                                                \
  }                                                                                       \
  template <typename A, typename B, int W>                                                \
  requires std::is_arithmetic_v<B>                                                        \
  auto operator symbol(const Lanes<A, W>& a, B b) { return each<Op>(a, Lanes<B, W>(b)); } \
  template <typename A, typename B, int W>                                                \
  requires std::is_arithmetic_v<A>                                                        \
  auto operator symbol(A a, const Lanes<B, W>& b) { return each<Op>(Lanes<A, W>(a), b); }
FARO_LANES_OPERATOR(+, std::plus<>)
FARO_LANES_OPERATOR(-, std::minus<>)
FARO_LANES_OPERATOR(*, std::multiplies<>)
FARO_LANES_OPERATOR(/, std::divides<>)
FARO_LANES_OPERATOR(%, std::modulus<>)
FARO_LANES_OPERATOR(&, std::bit_and<>)
FARO_LANES_OPERATOR(|, std::bit_or<>)
FARO_LANES_OPERATOR(>>, ShiftRight)
FARO_LANES_OPERATOR(<, std::less<>)
FARO_LANES_OPERATOR(!=, std::not_equal_to<>)
#undef FARO_LANES_OPERATOR

/// What a warp did to memory.
struct WarpCounts {
  std::vector<int> load_sectors = {};  // distinct sectors of 32 bytes of each access
  std::vector<int> store_sectors = {};
  int shuffles = 0;  // of a word
  int selects = 0;   // of a word
};

template <int W>
class EmulatedWarp {
 public:
  static constexpr int kLanes = W;
  template <typename V>
  using Each = Lanes<V, W>;

  /// Only these bytes may be read or written.
  void allow(const std::byte* begin, std::size_t size) { allowed_.push_back({begin, begin + size}); }
  WarpCounts& counts() const { return counts_; }

  Lanes<std::uint32_t, W> lane() const {
    Lanes<std::uint32_t, W> lanes;
    for (std::uint32_t t = 0; t < W; ++t) lanes[t] = t;
    return lanes;
  }

  template <typename V>
  Lanes<V, W> select(const Lanes<bool, W>& condition, const Lanes<V, W>& a, const Lanes<V, W>& b) const {
    counts_.selects += static_cast<int>(sizeof(V) / 4);
    Lanes<V, W> result;
    for (std::size_t t = 0; t < W; ++t) result[t] = condition[t] ? a[t] : b[t];
    return result;
  }

  template <typename V>
  Lanes<V, W> shuffle(const Lanes<V, W>& value, const Lanes<std::uint32_t, W>& lane) const {
    counts_.shuffles += static_cast<int>(sizeof(V) / 4);
    Lanes<V, W> result;
    for (std::size_t t = 0; t < W; ++t) result[t] = value[lane[t] % W];
    return result;
  }

  template <typename V>
  Lanes<std::uint64_t, W> widen(const Lanes<V, W>& value) const {
    Lanes<std::uint64_t, W> result;
    for (std::size_t t = 0; t < W; ++t) result[t] = value[t];
    return result;
  }

  template <int bytes>
  Lanes<device::Packet<4>, W> word(const Lanes<device::Packet<bytes>, W>& value, std::uint32_t k) const {
    Lanes<device::Packet<4>, W> result;
    for (std::size_t t = 0; t < W; ++t) result[t].unit[0] = value[t].unit[k];
    return result;
  }
  template <int bytes>
  void set_word(Lanes<device::Packet<bytes>, W>& value, std::uint32_t k,
                const Lanes<device::Packet<4>, W>& word) const {
    for (std::size_t t = 0; t < W; ++t) value[t].unit[k] = word[t].unit[0];
  }

  template <int bytes, typename Unit>
  Lanes<device::Packet<bytes>, W> load(const std::byte* base, const Lanes<Unit, W>& unit, std::uint32_t more,
                                       const Lanes<bool, W>& wanted) const {
    Lanes<device::Packet<bytes>, W> result;
    std::set<std::uintptr_t> sectors;
    for (std::size_t t = 0; t < W; ++t) {
      result[t] = device::Packet<bytes>{};
      if (!wanted[t]) continue;
      const std::byte* from = base + (std::uint64_t{unit[t]} + more) * bytes;
      check(from, bytes, sectors);
      std::memcpy(result[t].unit, from, bytes);
    }
    counts_.load_sectors.push_back(static_cast<int>(sectors.size()));
    return result;
  }

  template <int bytes, typename Unit>
  void store(std::byte* base, const Lanes<Unit, W>& unit, std::uint32_t more,
             const Lanes<device::Packet<bytes>, W>& value, const Lanes<bool, W>& wanted) const {
    std::set<std::uintptr_t> sectors;
    for (std::size_t t = 0; t < W; ++t) {
      if (!wanted[t]) continue;
      std::byte* to = base + (std::uint64_t{unit[t]} + more) * bytes;
      check(to, bytes, sectors);
      std::memcpy(to, value[t].unit, bytes);
    }
    counts_.store_sectors.push_back(static_cast<int>(sectors.size()));
  }

 private:
  struct Range {
    const std::byte* begin;
    const std::byte* end;
  };

  void check(const std::byte* at, std::size_t bytes, std::set<std::uintptr_t>& sectors) const {
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    if (address % bytes != 0) throw std::runtime_error("an access that is not aligned");
    bool is_allowed = false;
    for (const Range& range : allowed_)
      is_allowed = is_allowed || (at >= range.begin && at + bytes <= range.end);
    if (!is_allowed) throw std::runtime_error("an access outside the arrays");
    constexpr std::uintptr_t sector_bytes = 32;
    sectors.insert(address / sector_bytes);
  }

  std::vector<Range> allowed_ = {};
  mutable WarpCounts counts_ = {};
};

/// Bytes that begin at a multiple of 128, between guards of 128.
class Zone {
 public:
  explicit Zone(std::size_t bytes, std::byte filling = std::byte{0xa5})
      : bytes_(bytes), all_(bytes + 512, filling) {
    const auto address = reinterpret_cast<std::uintptr_t>(all_.data()) + 128;
    begin_ = 128 + (128 - address % 128) % 128;
  }
  std::byte* data() { return all_.data() + begin_; }
  std::size_t size() const { return bytes_; }
  void draw(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (std::size_t k = 0; k < bytes_; ++k)
      data()[k] = static_cast<std::byte>(random() % 255 + 1);  // no zeros
  }

 private:
  std::size_t bytes_;
  std::vector<std::byte> all_;
  std::size_t begin_ = 0;
};

/// Lane t's struct, as bytes.
template <int W, int bytes, int units>
std::vector<std::byte> struct_of(const device::aos::Registers<EmulatedWarp<W>, bytes, units>& registers,
                                 std::size_t t) {
  std::vector<std::byte> result;
  for (const auto& row : registers.unit) {
    const auto* const first = reinterpret_cast<const std::byte*>(row[t].unit);
    result.insert(result.end(), first, first + bytes);
  }
  return result;
}

}  // namespace faro::testing
