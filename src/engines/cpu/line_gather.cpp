#include "engines/cpu/line_gather.hpp"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/cpu/line_gather.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace faro::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Whole lines. Requires: `to` aligned to one.
HWY_INLINE void StreamWholeLines(const std::byte* from, std::byte* to, std::uint64_t bytes) {
  const hn::CappedTag<std::uint8_t, kLineBytes> d;
  for (std::uint64_t at = 0; at < bytes; at += hn::Lanes(d)) {
    hn::Stream(hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(from + at)), d,
               reinterpret_cast<std::uint8_t*>(to + at));
  }
}

// At least a line: whole vectors, and a last one that may overlap them.
HWY_INLINE void CopyWide(const std::byte* from, std::byte* to, std::uint64_t bytes) {
  const hn::CappedTag<std::uint8_t, kLineBytes> d;
  const std::uint64_t step = hn::Lanes(d);
  const auto move = [&](std::uint64_t at) {
    hn::StoreU(hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(from + at)), d,
               reinterpret_cast<std::uint8_t*>(to + at));
  };
  for (std::uint64_t at = 0; at + step <= bytes; at += step) move(at);
  move(bytes - step);
}

void GatherLines(const LineGather& gather, RowTraffic& rows) {
  const std::uint64_t past = reinterpret_cast<std::uintptr_t>(gather.to) % kLineBytes;
  const std::uint64_t lines = (gather.bytes + kLineBytes - 1) / kLineBytes;
  if (past == 0 && gather.bytes % kLineBytes == 0) {
    for (std::uint64_t i = 0; i < gather.count; ++i) {
      StreamWholeLines(gather.from + gather.places[i], gather.to + i * gather.bytes, gather.bytes);
      rows.fetch(lines);
    }
    return;
  }
  const std::uint64_t bytes = gather.count * gather.bytes;
  __builtin_prefetch(gather.to, 1, 3);
  __builtin_prefetch(gather.to + bytes - 1, 1, 3);
  std::byte* const stage = gather.stage + past;
  for (std::uint64_t i = 0; i < gather.count; ++i) {
    CopyWide(gather.from + gather.places[i], stage + i * gather.bytes, gather.bytes);
    rows.fetch(lines);
  }
  const std::uint64_t head = std::min(bytes, (kLineBytes - past) % kLineBytes);
  const std::uint64_t whole = (bytes - head) / kLineBytes * kLineBytes;
  const std::uint64_t done = head + whole;
  if (head != 0) std::memcpy(gather.to, stage, head);
  StreamWholeLines(stage + head, gather.to + head, whole);
  if (done != bytes) std::memcpy(gather.to + done, stage + done, bytes - done);
}

}  // namespace HWY_NAMESPACE
}  // namespace faro::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace faro::cpu {

HWY_EXPORT(GatherLines);

void gather_lines(const LineGather& gather, RowTraffic& rows) {
  HWY_DYNAMIC_DISPATCH(GatherLines)(gather, rows);
}

}  // namespace faro::cpu
#endif  // HWY_ONCE
