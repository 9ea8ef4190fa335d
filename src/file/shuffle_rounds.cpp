// The rounds of a shuffle, by vectors of halves of 32 bits (record_shuffle.hpp).
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "file/record_shuffle.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "file/shuffle_rounds.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace faro::file {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

// Returns whether any is not below the count.
bool ShuffleBlock(const ShuffleRounds& rounds, std::uint64_t first, bool inverse,
                  std::span<std::uint64_t> to) {
  bool any = false;
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] = inverse ? rounds.backward(first + i) : rounds.forward(first + i);
    any = any || to[i] >= rounds.count;
  }
  return any;
}

#else

using Halves = hn::ScalableTag<std::uint32_t>;
using Wholes = hn::RepartitionToWide<Halves>;
using Half = hn::Vec<Halves>;

// ShuffleRounds::below() of each lane.
HWY_INLINE Half Below(Half half, ShuffleRounds::Keys keys, Half limit) {
  const Halves d;
  const Wholes wide;
  Half h = hn::Add(half, hn::Set(d, keys.first));
  h = hn::Mul(hn::Xor(h, hn::ShiftRight<16>(h)), hn::Set(d, 0x7feb352d));
  h = hn::Mul(hn::Xor(hn::Xor(h, hn::ShiftRight<15>(h)), hn::Set(d, keys.second)), hn::Set(d, 0x846ca68b));
  const auto even = hn::ShiftRight<32>(hn::MulEven(h, limit));
  const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, h))), limit);
  return hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, even));
}

struct Pair {
  Half left;
  Half right;
};

// All rounds of several vectors side by side, so that multiplications wait for no other.
template <std::size_t kVectors>
HWY_INLINE void Forward(const ShuffleRounds& rounds, std::array<Pair, kVectors>& pairs) {
  const Halves d;
  const Half lefts = hn::Set(d, rounds.lefts);
  const Half rights = hn::Set(d, rounds.rights);
  for (std::size_t round = 0; round < ShuffleRounds::kRounds; round += 2) {
    for (Pair& pair : pairs) {
      pair.left = hn::Add(pair.left, Below(pair.right, rounds.keys[round], lefts));
      pair.left = hn::Min(pair.left, hn::Sub(pair.left, lefts));
    }
    for (Pair& pair : pairs) {
      pair.right = hn::Add(pair.right, Below(pair.left, rounds.keys[round + 1], rights));
      pair.right = hn::Min(pair.right, hn::Sub(pair.right, rights));
    }
  }
}

template <std::size_t kVectors>
HWY_INLINE void Backward(const ShuffleRounds& rounds, std::array<Pair, kVectors>& pairs) {
  const Halves d;
  const Half lefts = hn::Set(d, rounds.lefts);
  const Half rights = hn::Set(d, rounds.rights);
  for (std::size_t round = ShuffleRounds::kRounds; round > 0; round -= 2) {
    for (Pair& pair : pairs) {
      pair.right = hn::Sub(pair.right, Below(pair.left, rounds.keys[round - 1], rights));
      pair.right = hn::Min(pair.right, hn::Add(pair.right, rights));
    }
    for (Pair& pair : pairs) {
      pair.left = hn::Sub(pair.left, Below(pair.right, rounds.keys[round - 2], lefts));
      pair.left = hn::Min(pair.left, hn::Add(pair.left, lefts));
    }
  }
}

// The pairs that follow (left, right), which is brought behind them.
template <std::size_t kVectors>
HWY_INLINE void Load(const ShuffleRounds& rounds, std::uint32_t& left, std::uint32_t& right,
                     std::array<Pair, kVectors>& pairs) {
  const Halves d;
  const std::size_t lanes = hn::Lanes(d);
  if (rounds.rights - right > kVectors * lanes) {
    for (std::size_t i = 0; i < kVectors; ++i)
      pairs[i] = {hn::Set(d, left), hn::Iota(d, right + static_cast<std::uint32_t>(i * lanes))};
    right += static_cast<std::uint32_t>(kVectors * lanes);
    return;
  }
  HWY_ALIGN std::array<std::uint32_t, hn::MaxLanes(Halves())> lefts;
  HWY_ALIGN std::array<std::uint32_t, hn::MaxLanes(Halves())> rights;
  for (Pair& pair : pairs) {
    for (std::size_t i = 0; i < lanes; ++i) {
      lefts[i] = left;
      rights[i] = right;
      if (++right == rounds.rights) {
        right = 0;
        ++left;
      }
    }
    pair = {hn::Load(d, lefts.data()), hn::Load(d, rights.data())};
  }
}

// Returns whether any is not below the count.
bool ShuffleBlock(const ShuffleRounds& rounds, std::uint64_t first, bool inverse,
                  std::span<std::uint64_t> to) {
  constexpr std::size_t kVectors = 4;
  const Halves d;
  const Wholes wide;
  const hn::Rebind<std::uint32_t, Wholes> narrow;
  constexpr std::size_t kMostLanes = hn::MaxLanes(Halves());
  const std::size_t lanes = hn::Lanes(d);
  const Half b = hn::Set(d, rounds.rights);
  const auto last = hn::Set(wide, rounds.count - 1);
  auto largest = hn::Zero(wide);
  HWY_ALIGN std::array<std::uint64_t, kVectors * kMostLanes> rest;
  auto left = static_cast<std::uint32_t>(first / rounds.rights);
  auto right = static_cast<std::uint32_t>(first % rounds.rights);
  for (std::size_t begin = 0; begin < to.size(); begin += kVectors * lanes) {
    std::array<Pair, kVectors> pairs;
    Load(rounds, left, right, pairs);
    if (inverse) {
      Backward(rounds, pairs);
    } else {
      Forward(rounds, pairs);
    }
    const bool is_whole = to.size() - begin >= kVectors * lanes;
    std::uint64_t* out = is_whole ? &to[begin] : rest.data();
    for (const Pair& pair : pairs) {
      const auto whole = [&](auto lefts, auto rights) {
        const auto product = hn::MulEven(hn::BitCast(d, hn::PromoteTo(wide, lefts)), b);
        const auto y = hn::Add(product, hn::PromoteTo(wide, rights));
        largest = hn::Max(largest, y);
        hn::StoreU(y, wide, out);
        out += lanes / 2;
      };
      whole(hn::LowerHalf(narrow, pair.left), hn::LowerHalf(narrow, pair.right));
      whole(hn::UpperHalf(narrow, pair.left), hn::UpperHalf(narrow, pair.right));
    }
    if (!is_whole) std::copy_n(rest.begin(), to.size() - begin, &to[begin]);
  }
  return !hn::AllFalse(wide, hn::Gt(largest, last));
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace faro::file
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace faro::file {

HWY_EXPORT(ShuffleBlock);

bool shuffle_in_rounds(const ShuffleRounds& rounds, std::uint64_t first, bool inverse,
                       std::span<std::uint64_t> to) {
  return HWY_DYNAMIC_DISPATCH(ShuffleBlock)(rounds, first, inverse, to);
}

}  // namespace faro::file
#endif  // HWY_ONCE
