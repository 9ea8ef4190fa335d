#include "engines/cpu/copy_kernel.hpp"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/cpu/copy_kernel.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace faro::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Requires: `to` aligned to a line, `bytes` a multiple of one.
void CopyLines(const std::byte* from, std::byte* to, std::uint64_t bytes) {
  const hn::CappedTag<std::uint8_t, kLineBytes> d;
  const std::uint64_t step = hn::Lanes(d);
  for (std::uint64_t line = 0; line < bytes; line += kLineBytes) {
    for (std::uint64_t at = line; at < line + kLineBytes; at += step) {
      hn::Stream(hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(from + at)), d,
                 reinterpret_cast<std::uint8_t*>(to + at));
    }
  }
}

// Whole vectors; how many bytes were copied.
std::uint64_t CopyVectors(const std::byte* from, std::byte* to, std::uint64_t bytes) {
  const hn::CappedTag<std::uint8_t, kLineBytes> d;
  const std::uint64_t step = hn::Lanes(d);
  std::uint64_t at = 0;
  for (; at + step <= bytes; at += step) {
    hn::StoreU(hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(from + at)), d,
               reinterpret_cast<std::uint8_t*>(to + at));
  }
  return at;
}

void MoveSegments(SegmentMove move, const std::byte* from, std::byte* to) {
  for (std::uint64_t i = 0; i < move.count; ++i) {
    if (i < move.count_ahead) {
      const std::byte* const fetch = from + move.ahead.array() + move.ahead.value();
      for (std::uint64_t at = 0; at < move.segment_bytes; at += kLineBytes)
        __builtin_prefetch(fetch + at, 0, 2);
      move.ahead.advance();
    }
    CopyLines(from + move.source.array() + move.source.value(),
              to + move.target.array() + move.target.value(), move.segment_bytes);
    move.source.advance();
    move.target.advance();
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace faro::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace faro::cpu {

HWY_EXPORT(CopyLines);
HWY_EXPORT(CopyVectors);
HWY_EXPORT(MoveSegments);

void copy_streamed(const std::byte* from, std::byte* to, std::uint64_t bytes) {
  const std::uint64_t head =
      std::min<std::uint64_t>(bytes, (0 - reinterpret_cast<std::uintptr_t>(to)) % kLineBytes);
  const std::uint64_t body = (bytes - head) / kLineBytes * kLineBytes;
  const std::uint64_t done = head + body;
  // What is no whole line is written last: its lines come meanwhile, and no streamed store waits for them.
  if (head != 0) __builtin_prefetch(to, 1, 3);
  if (done != bytes) __builtin_prefetch(to + done, 1, 3);
  if (body != 0) HWY_DYNAMIC_DISPATCH(CopyLines)(from + head, to + head, body);
  if (head != 0) std::memcpy(to, from, head);
  if (done != bytes) std::memcpy(to + done, from + done, bytes - done);
}

void copy_cached(const std::byte* from, std::byte* to, std::uint64_t bytes) {
  constexpr std::uint64_t kLongBytes = 1024;  // below, std::memcpy has loops of its own
  // By the bits below, a load is taken for one of what a store before it has not written yet.
  constexpr std::uintptr_t kComparedBytes = 4096;
  const std::uintptr_t ahead =
      (reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from)) % kComparedBytes;
  const bool meets = bytes >= kLongBytes && ahead > 0 && ahead < kLineBytes;
  const std::uint64_t done = meets ? HWY_DYNAMIC_DISPATCH(CopyVectors)(from, to, bytes) : 0;
  if (done != bytes) std::memcpy(to + done, from + done, bytes - done);
}

void move_segments(SegmentMove move, const std::byte* from, std::byte* to) {
  HWY_DYNAMIC_DISPATCH(MoveSegments)(move, from, to);
}

void finish_streams() { hwy::FlushStream(); }

}  // namespace faro::cpu
#endif  // HWY_ONCE
