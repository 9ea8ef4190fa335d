// Rolls and flips: two pieces, each copied or reversed; in place, reversed.
#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/cpu/index/cyclic.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "engines/cpu/reversed_lanes-inl.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace faro::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// to[i] = from[count - 1 - i], by whole vectors; how many elements were moved.
template <typename Lane>
std::size_t ReverseLanes(const std::byte* from, std::byte* to, std::size_t count) {
  const hn::CappedTag<Lane, 64 / sizeof(Lane)> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto* const source = reinterpret_cast<const Lane*>(from + (count - i - lanes) * sizeof(Lane));
    auto* const target = reinterpret_cast<Lane*>(to + i * sizeof(Lane));
    hn::StoreU(ReversedLanes(d, hn::LoadU(d, source)), d, target);
  }
  return i;
}

std::size_t ReverseVectors(std::size_t element_bytes, const std::byte* from, std::byte* to,
                           std::size_t count) {
  switch (element_bytes) {
    case 1:
      return ReverseLanes<std::uint8_t>(from, to, count);
    case 2:
      return ReverseLanes<std::uint16_t>(from, to, count);
    case 4:
      return ReverseLanes<std::uint32_t>(from, to, count);
    case 8:
      return ReverseLanes<std::uint64_t>(from, to, count);
    default:
      return 0;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace faro::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "engines/cpu/index/chunk_moves.hpp"
#include "engines/cpu/pass_program.hpp"
#include "engines/cpu/team.hpp"

namespace faro::cpu {

HWY_EXPORT(ReverseVectors);

namespace {

void reverse(std::uint64_t element_bytes, const std::byte* from, std::byte* to, std::uint64_t count) {
  const std::uint64_t done = HWY_DYNAMIC_DISPATCH(ReverseVectors)(element_bytes, from, to, count);
  if (done == count) return;
  with_width(element_bytes, [&](auto width) {
    for (std::uint64_t i = done; i < count; ++i)
      width.move(from + (count - 1 - i) * width.bytes(), to + i * width.bytes());
  });
}

class CyclicProgram final : public ElementProgram {
 public:
  CyclicProgram(const CpuPass& pass, const Cyclic& cyclic) : ElementProgram(pass), cyclic_(cyclic) {}

  void run(const Step& step) const override {
    // Places of the output before `cut` come from one piece of the input, the others from the other.
    const std::uint64_t cut = cyclic_.reversed ? cyclic_.shift + 1 : cyclic_.shift;
    share_out_by_rank(step.arrays * count(), threads(), [&](Share share) {
      std::byte* const stage = cyclic_.reversed ? part(step, share.rank) : nullptr;
      for_each_array(share.begin, share.end, count(),
                     [&](std::uint64_t array, std::uint64_t first, std::uint64_t last) {
                       const std::uint64_t at = array * array_bytes();
                       write(first, std::min(last, cut), step.in + at, step.out + at, stage);
                       write(std::max(first, cut), last, step.in + at, step.out + at, stage);
                     });
      finish_streams();
    });
  }

 private:
  // Places [first, last) of the output, which come from one piece.
  void write(std::uint64_t first, std::uint64_t last, const std::byte* in, std::byte* out,
             std::byte* stage) const {
    if (first >= last) return;
    const std::uint64_t width = element_bytes();
    const std::uint64_t source = cyclic_.inverse()(cyclic_.reversed ? last - 1 : first);
    const std::byte* const from = in + source * width;
    std::byte* const to = out + first * width;
    const std::uint64_t elements = last - first;
    if (cyclic_.reversed) {
      write_in_order(elements, width, streamed(), stage, to,
                     [&](std::uint64_t begin, std::uint64_t end, std::byte* place) {
                       reverse(width, from + (elements - end) * width, place, end - begin);
                     });
    } else {
      copy_bytes(from, to, elements * width, streamed());
    }
  }

  Cyclic cyclic_;
};

// In one array: both pieces change places end for end. What is read at both ends of a piece is written at the
// other's, a block at a time.
class ReversalProgram final : public ElementProgram {
 public:
  ReversalProgram(const CpuPass& pass, std::uint64_t shift) : ElementProgram(pass), cut_(shift + 1) {}

  void run(const Step& step) const override {
    const std::uint64_t lower = cut_ / 2;  // pairs of the piece before the cut
    const std::uint64_t pairs = lower + (count() - cut_) / 2;
    if (pairs == 0) return;
    // A thread's share is of the whole batch, whatever other passes take for an array.
    share_out(pass().arrays * pairs, threads(), [&](std::uint64_t begin, std::uint64_t end) {
      for_each_array(begin, end, pairs, [&](std::uint64_t array, std::uint64_t first, std::uint64_t last) {
        std::byte* const data = step.out + array * array_bytes();
        exchange(data, cut_, first, std::min(last, lower));
        exchange(data + cut_ * element_bytes(), count() - cut_, std::max(first, lower) - lower,
                 last - std::min(last, lower));
      });
    });
  }

 private:
  static constexpr std::uint64_t kBlockBytes = 4096;

  // Pairs first .. last - 1 of a piece of `length` elements, counted from its ends.
  void exchange(std::byte* piece, std::uint64_t length, std::uint64_t first, std::uint64_t last) const {
    const std::uint64_t width = element_bytes();
    if (width > kBlockBytes) {
      for (; first < last; ++first)
        exchange_long(piece + first * width, piece + (length - 1 - first) * width);
      return;
    }
    alignas(kLineBytes) std::byte kept[kBlockBytes];
    while (first < last) {
      const std::uint64_t some = std::min(last - first, kBlockBytes / width);
      std::byte* const low = piece + first * width;
      std::byte* const high = piece + (length - first - some) * width;
      reverse(width, low, kept, some);
      reverse(width, high, low, some);
      std::memcpy(high, kept, some * width);
      first += some;
    }
  }

  void exchange_long(std::byte* low, std::byte* high) const {
    alignas(kLineBytes) std::byte kept[kBlockBytes];
    for (std::uint64_t at = 0; at < element_bytes(); at += kBlockBytes) {
      const std::uint64_t bytes = std::min(kBlockBytes, element_bytes() - at);
      std::memcpy(kept, low + at, bytes);
      std::memcpy(low + at, high + at, bytes);
      std::memcpy(high + at, kept, bytes);
    }
  }

  std::uint64_t cut_;
};

}  // namespace

Program cyclic_program(const CpuPass& pass) {
  return std::make_unique<CyclicProgram>(pass, std::get<detail::CpuCyclic>(pass.kernel).cyclic);
}

Program reversal_program(const CpuPass& pass) {
  return std::make_unique<ReversalProgram>(pass, std::get<detail::CpuReversal>(pass.kernel).shift);
}

}  // namespace faro::cpu
#endif  // HWY_ONCE
