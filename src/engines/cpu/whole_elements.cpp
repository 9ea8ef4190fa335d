#include "engines/cpu/whole_elements.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/cpu/whole_elements.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "engines/cpu/gathered_segment.hpp"
#include "engines/cpu/streamed_lines-inl.hpp"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

#ifndef FARO_WHOLE_ELEMENTS
#define FARO_WHOLE_ELEMENTS
// Loops over registers are unrolled, or the registers are memory; loads keep the order in which they stand.
#if defined(__clang__)
#define FARO_UNROLL_LINES _Pragma("unroll")
#else
#define FARO_UNROLL_LINES _Pragma("GCC unroll 8")
#endif
#define FARO_KEEP_ORDER() __asm__ __volatile__("" ::: "memory")
#endif  // FARO_WHOLE_ELEMENTS

HWY_BEFORE_NAMESPACE();
namespace faro::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::uint64_t kBlockBytes = 512;  // of elements, the last one of which is read first

// Calls move(from, to, fetched) for each, once what lies before the fetched one is fetched: in blocks of
// `block` elements, the last of a block first.
template <typename Move>
HWY_INLINE void EachWholeElement(const WholeElements& elements, std::uint64_t block, const Move& move) {
  const std::byte* fetched = elements.fetched;
  std::uint64_t gap = elements.gap;
  for (std::uint64_t done = 0; done < elements.count; done += block) {
    const std::uint64_t end = std::min(elements.count, done + block);
    const std::byte* from = elements.from + static_cast<std::int64_t>(end) * elements.from_step;
    std::byte* to = elements.to + static_cast<std::int64_t>(end) * elements.to_step;
    for (std::uint64_t i = done; i < end; ++i) {
      for (std::uint64_t at = 0; at < gap; at += kLineBytes) __builtin_prefetch(fetched - gap + at);
      from -= elements.from_step;
      to -= elements.to_step;
      move(from, to, fetched);
      __builtin_prefetch(fetched + elements.bytes - 1);  // one line more where it begins between two
      fetched += elements.from_step;
      gap = elements.gaps;
    }
  }
}

// So many vectors, whole lines: read from the last one on, written from the first one on, and as much is
// fetched.
template <std::size_t kVectors>
HWY_INLINE void MoveDownwards(const std::byte* from, std::byte* to, const std::byte* fetched) {
  const hn::CappedTag<std::uint8_t, kLineBytes> d;
  const std::uint64_t step = hn::Lanes(d);
  hn::Vec<decltype(d)> lines[kVectors];
  FARO_UNROLL_LINES
  for (std::size_t i = 0; i < kVectors; ++i) {
    const std::size_t k = kVectors - 1 - i;
    lines[k] = hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(from + k * step));
    FARO_KEEP_ORDER();
  }
  FARO_UNROLL_LINES
  for (std::size_t k = 0; k < kVectors; ++k) {
    if (k * step % kLineBytes == 0) __builtin_prefetch(fetched + k * step);
    hn::Stream(lines[k], d, reinterpret_cast<std::uint8_t*>(to + k * step));
  }
}

// A processor that sees lines read upwards fetches what follows them, wanted or not, and what is fetched here
// has to wait: so parts of some lines are read downwards.
HWY_INLINE void StreamDownwards(const std::byte* from, std::byte* to, const std::byte* fetched,
                                std::uint64_t bytes) {
  constexpr std::size_t kVectors = 8;
  const hn::CappedTag<std::uint8_t, kLineBytes> d;
  const std::uint64_t most = kVectors * hn::Lanes(d);
  std::uint64_t left = bytes;
  std::uint64_t done = 0;
  for (; left >= most; left -= most, done += most)
    MoveDownwards<kVectors>(from + left - most, to + left - most, fetched + done);
  if (left >= most / 2) {
    left -= most / 2;
    MoveDownwards<kVectors / 2>(from + left, to + left, fetched + done);
    done += most / 2;
  }
  for (; left > 0; done += kLineBytes) {
    left -= kLineBytes;
    __builtin_prefetch(fetched + done);
    StreamWholeLines(from + left, to + left, kLineBytes);
  }
}

#if HWY_TARGET == HWY_SCALAR
bool StreamTurnedElements(const WholeElements& /*elements*/) { return false; }
#else
bool StreamTurnedElements(const WholeElements& elements) {
  const std::uint64_t block = std::max<std::uint64_t>(1, kBlockBytes / elements.bytes);
  return WithLane(elements.turned_bytes, [&](auto lane) -> std::uint64_t {
           using Lane = decltype(lane);
           const hn::CappedTag<Lane, kLineBytes / sizeof(Lane)> d;
           EachWholeElement(elements, block,
                            [&](const std::byte* from, std::byte* to, const std::byte* fetched) {
                              for (std::uint64_t done = 0; done < elements.bytes; done += kPartBytes) {
                                const std::uint64_t part = std::min(elements.bytes - done, kPartBytes);
                                for (std::uint64_t at = 0; at < part; at += kLineBytes)
                                  __builtin_prefetch(fetched + done + at);
                                StreamTurned(d, from + done, to + elements.bytes - done - part, part);
                              }
                            });
           return 1;
         }) != 0;
}
#endif

void StreamWholeElements(const WholeElements& elements) {
  if (elements.turned_bytes != 0) {
    if (StreamTurnedElements(elements)) return;
    EachWholeElement(elements, 1, [&](const std::byte* from, std::byte* to, const std::byte* /*fetched*/) {
      const std::uint64_t width = elements.turned_bytes;
      move_plainly(width,
                   {.from = from + elements.bytes - width,
                    .step = -static_cast<std::int64_t>(width),
                    .count = elements.bytes / width,
                    .to = to},
                   0);
    });
  } else if (elements.broken) {
    EachWholeElement(elements, 1, [&](const std::byte* from, std::byte* to, const std::byte* fetched) {
      for (std::uint64_t at = 0; at < elements.bytes; at += kLineBytes) {
        __builtin_prefetch(fetched + at);
        StreamWholeLines(from + at, to + at, kLineBytes);
      }
    });
  } else {
    const std::uint64_t block = std::max<std::uint64_t>(1, kBlockBytes / elements.bytes);
    EachWholeElement(elements, block, [&](const std::byte* from, std::byte* to, const std::byte* fetched) {
      for (std::uint64_t done = 0; done < elements.bytes; done += kPartBytes) {
        const std::uint64_t part = std::min(elements.bytes - done, kPartBytes);
        StreamDownwards(from + done, to + done, fetched + done, part);
      }
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace faro::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace faro::cpu {

HWY_EXPORT(StreamWholeElements);

void stream_elements(const WholeElements& elements) { HWY_DYNAMIC_DISPATCH(StreamWholeElements)(elements); }

}  // namespace faro::cpu
#endif  // HWY_ONCE
