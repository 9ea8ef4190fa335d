#include "engines/cpu/line_gather.hpp"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/cpu/line_gather.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "engines/cpu/element_width.hpp"
#include "engines/cpu/gathered_segment.hpp"
#include "engines/cpu/reversed_lanes-inl.hpp"
#include "engines/cpu/streamed_lines-inl.hpp"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace faro::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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

HWY_INLINE void CopyAny(const std::byte* from, std::byte* to, std::uint64_t bytes) {
  if (bytes >= kLineBytes) return CopyWide(from, to, bytes);
  std::memcpy(to, from, bytes);
}

// A run that was put together in a stage, as far past a line as it is wanted.
HWY_INLINE void StreamRun(const std::byte* run, std::byte* to, std::uint64_t bytes) {
  const std::uint64_t past = reinterpret_cast<std::uintptr_t>(to) % kLineBytes;
  const std::uint64_t head = std::min(bytes, (kLineBytes - past) % kLineBytes);
  const std::uint64_t whole = (bytes - head) / kLineBytes * kLineBytes;
  const std::uint64_t done = head + whole;
  StreamWholeLines(run + head, to + head, whole);
  if (head != 0) std::memcpy(to, run, head);  // by now it is in the caches
  if (done != bytes) std::memcpy(to + done, run + done, bytes - done);
}

// Lines in which a run begins and ends go through the caches.
HWY_INLINE void FetchEnds(const std::byte* to, std::uint64_t bytes) {
  const std::byte* const end = to + bytes;
  if (reinterpret_cast<std::uintptr_t>(to) % kLineBytes != 0) __builtin_prefetch(to, 1, 3);
  if (reinterpret_cast<std::uintptr_t>(end) % kLineBytes != 0) __builtin_prefetch(end - 1, 1, 3);
}

// --- elements of less than a line

#if HWY_TARGET == HWY_SCALAR
template <typename Lane>
std::uint64_t MoveInVectors(const GatheredSegment& /*segment*/) {
  return 0;
}
std::uint64_t TurnBlocks(const std::byte* /*from*/, std::uint64_t /*step*/, const std::uint8_t* /*turned*/,
                         std::uint64_t /*bytes*/, std::byte* /*to*/) {
  return 0;
}
std::uint64_t StreamBackwards(const GatheredSegment& /*segment*/, std::uint64_t /*width*/,
                              RowTraffic& /*rows*/) {
  return 0;
}
std::uint64_t StreamAgainAndAgain(const GatheredSegment& /*segment*/, std::uint64_t /*width*/,
                                  RowTraffic& /*rows*/) {
  return 0;
}
#else

// Calls move(first) for vectors that cover 0..count, the last of which may overlap the one before. Requires:
// count of at least a vector.
template <typename Move>
HWY_INLINE void CoverByVectors(std::uint64_t lanes, std::uint64_t count, const Move& move) {
  std::uint64_t i = 0;
  for (; i + lanes <= count; i += lanes) move(i);
  if (i < count) move(count - lanes);
}

// Elements side by side, the last one first.
template <class D>
HWY_INLINE void MoveBackwards(D d, const GatheredSegment& segment) {
  using Lane = hn::TFromD<D>;
  const std::uint64_t lanes = hn::Lanes(d);
  const std::byte* const lowest = segment.element(segment.count - 1);
  CoverByVectors(lanes, segment.count, [&](std::uint64_t i) {
    const std::byte* const from = lowest + (segment.count - i - lanes) * sizeof(Lane);
    hn::StoreU(ReversedLanes(d, hn::LoadU(d, reinterpret_cast<const Lane*>(from))), d,
               reinterpret_cast<Lane*>(segment.to + i * sizeof(Lane)));
  });
}

// A vector of every kStep-th of those that lie side by side.
template <std::size_t kStep, class D>
HWY_INLINE hn::Vec<D> LoadEvery(D d, const hn::TFromD<D>* from) {
  if constexpr (kStep == 1) {
    return hn::LoadU(d, from);
  } else {
    constexpr std::size_t kHalf = kStep / 2;
    return hn::ConcatEven(d, LoadEvery<kHalf>(d, from + kHalf * hn::Lanes(d)), LoadEvery<kHalf>(d, from));
  }
}

// The same of a segment. The last is left: a vector would read past it.
template <std::size_t kStep, class D>
HWY_INLINE void MoveEvery(D d, const GatheredSegment& segment) {
  using Lane = hn::TFromD<D>;
  CoverByVectors(hn::Lanes(d), segment.count - 1, [&](std::uint64_t i) {
    hn::StoreU(LoadEvery<kStep>(d, reinterpret_cast<const Lane*>(segment.element(i))), d,
               reinterpret_cast<Lane*>(segment.to + i * sizeof(Lane)));
  });
}

template <class D>
HWY_INLINE void MoveAgainAndAgain(D d, const GatheredSegment& segment) {
  using Lane = hn::TFromD<D>;
  Lane one;
  std::memcpy(&one, segment.from, sizeof(Lane));
  const auto all = hn::Set(d, one);
  CoverByVectors(hn::Lanes(d), segment.count, [&](std::uint64_t i) {
    hn::StoreU(all, d, reinterpret_cast<Lane*>(segment.to + i * sizeof(Lane)));
  });
}

// How many elements were moved, all or none or all but one.
template <class D>
HWY_INLINE std::uint64_t MoveByStep(D d, const GatheredSegment& segment) {
  constexpr auto kWidth = static_cast<std::int64_t>(sizeof(hn::TFromD<D>));
  if (segment.count <= hn::Lanes(d)) return 0;
  switch (segment.step) {
    case -kWidth:
      MoveBackwards(d, segment);
      return segment.count;
    case 2 * kWidth:
      MoveEvery<2>(d, segment);
      return segment.count - 1;
    case 4 * kWidth:
      MoveEvery<4>(d, segment);
      return segment.count - 1;
    case 0:
      MoveAgainAndAgain(d, segment);
      return segment.count;
    default:
      return 0;
  }
}

template <typename Lane>
std::uint64_t MoveInVectors(const GatheredSegment& segment) {
  const std::uint64_t done = MoveByStep(hn::CappedTag<Lane, kLineBytes / sizeof(Lane)>(), segment);
  return done != 0 ? done : MoveByStep(hn::CappedTag<Lane, 16 / sizeof(Lane)>(), segment);
}

// Blocks side by side, `step` bytes of them in a vector of 16; what it holds besides is overwritten by the
// next one's. How many bytes were moved.
std::uint64_t TurnBlocks(const std::byte* from, std::uint64_t step, const std::uint8_t* turned,
                         std::uint64_t bytes, std::byte* to) {
  constexpr std::uint64_t kVector = kMostBlockBytes;
  const hn::CappedTag<std::uint8_t, kVector> d;
  if (hn::Lanes(d) < kVector) return 0;
  const auto table = hn::LoadU(d, turned);
  std::uint64_t at = 0;
  for (; at + kVector <= bytes; at += step) {
    hn::StoreU(hn::TableLookupBytes(hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(from + at)), table), d,
               reinterpret_cast<std::uint8_t*>(to + at));
  }
  return at;
}

// Whole lines of the output, from its first on, streamed from registers: the last part first. How many
// elements.
template <typename Lane>
std::uint64_t StreamLinesBackwards(const GatheredSegment& segment, RowTraffic& rows) {
  const hn::CappedTag<Lane, kLineBytes / sizeof(Lane)> d;
  const std::uint64_t bytes = segment.count * sizeof(Lane) / kLineBytes * kLineBytes;
  const std::uint64_t count = bytes / sizeof(Lane);
  if (count == 0) return 0;
  const std::byte* from = segment.element(count - 1);
  for (std::uint64_t end = bytes; end > 0;) {
    const std::uint64_t part = std::min(end, kPartBytes);
    end -= part;
    StreamTurned(d, from, segment.to + end, part);
    from += part;
    rows.fetch(part / kLineBytes);
  }
  return count;
}

// Requires: the output at a line's beginning.
std::uint64_t StreamBackwards(const GatheredSegment& segment, std::uint64_t width, RowTraffic& rows) {
  return WithLane(width, [&](auto lane) { return StreamLinesBackwards<decltype(lane)>(segment, rows); });
}

// The same of one element.
std::uint64_t StreamAgainAndAgain(const GatheredSegment& segment, std::uint64_t width, RowTraffic& rows) {
  return WithLane(width, [&](auto lane) -> std::uint64_t {
    using Lane = decltype(lane);
    const hn::CappedTag<Lane, kLineBytes / sizeof(Lane)> d;
    const std::uint64_t count = segment.count * sizeof(Lane) / kLineBytes * kLineBytes / sizeof(Lane);
    std::memcpy(&lane, segment.from, sizeof(Lane));
    const auto all = hn::Set(d, lane);
    for (std::uint64_t i = 0; i < count; i += hn::Lanes(d))
      hn::Stream(all, d, reinterpret_cast<Lane*>(segment.to) + i);
    rows.fetch(count * sizeof(Lane) / kLineBytes);
    return count;
  });
}
#endif

void MoveSegment(std::uint64_t bytes, const GatheredSegment& segment) {
  if (segment.count == 0) return;
  std::uint64_t done = 0;
  switch (bytes) {
    case 1:
      done = MoveInVectors<std::uint8_t>(segment);
      break;
    case 2:
      done = MoveInVectors<std::uint16_t>(segment);
      break;
    case 4:
      done = MoveInVectors<std::uint32_t>(segment);
      break;
    case 8:
      done = MoveInVectors<std::uint64_t>(segment);
      break;
    default:
      break;
  }
  if (done == segment.count) return;
  move_plainly(bytes, segment, done);
}

// `count` elements of blocks, the first at the far end of its block.
void MoveBlocks(const LineGather& gather, const std::byte* first, std::uint64_t count, std::byte* to) {
  const std::uint64_t width = gather.bytes;
  const std::byte* const from = first - (gather.block - 1) * width;
  const std::uint64_t step = kMostBlockBytes / (gather.block * width) * (gather.block * width);
  const std::uint64_t done = TurnBlocks(from, step, gather.turned, count * width, to) / width;
  with_width(width, [&](auto each) {
    for (std::uint64_t i = done; i < count; ++i) {
      const std::uint64_t begin = i / gather.block * gather.block;
      each.move(from + (begin + gather.block - 1 - (i - begin)) * width, to + i * width);
    }
  });
}

// One long segment that is read backwards, or is one element again and again: its lines need no stage, but
// for the elements before the first and behind the last. Whether it is such.
bool GatherFromRegisters(const LineGather& gather, RowTraffic& rows) {
  constexpr std::uint64_t kLeastLines = 8;
  const std::uint64_t width = gather.bytes;
  const std::uint64_t past = (0 - reinterpret_cast<std::uintptr_t>(gather.to)) % kLineBytes;
  const bool is_such = gather.stage != nullptr && gather.block == 0 && gather.segment >= gather.count &&
                       (gather.step == -static_cast<std::int64_t>(width) || gather.step == 0) &&
                       transposes_in_registers(width) && past % width == 0 &&
                       gather.count * width >= kLeastLines * kLineBytes;
  if (!is_such) return false;
  const std::uint64_t head = past / width;
  FetchEnds(gather.to, gather.count * width);
  GatheredSegment segment{
      .from = gather.from + gather.places[0], .step = gather.step, .count = gather.count, .to = gather.to};
  const auto drop = [&](std::uint64_t elements) {
    segment = {.from = segment.element(elements),
               .step = segment.step,
               .count = segment.count - elements,
               .to = segment.to + elements * width};
  };
  const GatheredSegment before{.from = segment.from, .step = segment.step, .count = head, .to = segment.to};
  drop(head);
  drop(gather.step == 0 ? StreamAgainAndAgain(segment, width, rows) : StreamBackwards(segment, width, rows));
  MoveSegment(width, before);  // whose line is in the caches by now
  MoveSegment(width, segment);
  return true;
}

void GatherShort(const LineGather& gather, RowTraffic& rows) {
  if (GatherFromRegisters(gather, rows)) return;
  constexpr std::uint64_t kShortPart = 512;     // moved at a time, and as much is fetched
  constexpr std::uint64_t kBlocksBytes = 4096;  // of short blocks, whose last ones are moved one by one
  const std::uint64_t bytes = gather.count * gather.bytes;
  const bool staged = gather.stage != nullptr;
  if (staged) FetchEnds(gather.to, bytes);
  std::byte* const to =
      staged ? gather.stage + reinterpret_cast<std::uintptr_t>(gather.to) % kLineBytes : gather.to;
  const std::uint64_t whole = std::max<std::uint64_t>(gather.block, 1);
  const std::uint64_t part = gather.block == 0 ? kShortPart : kBlocksBytes;
  const std::uint64_t most = std::max(part / gather.bytes / whole, std::uint64_t{1}) * whole;
  std::uint64_t fetched = 0;
  std::uint64_t in_segment = 0;
  for (std::uint64_t done = 0; done < gather.count;) {
    const std::uint64_t left = gather.count - done;
    std::byte* const place = to + done * gather.bytes;
    std::uint64_t moved = std::min(most, left);
    if (gather.segment == 1) {
      with_width(gather.bytes, [&](auto width) {
        const std::int64_t* const places = gather.places + done;
        for (std::uint64_t i = 0; i < moved; ++i)
          width.move(gather.from + places[i], place + i * width.bytes());
      });
    } else {
      const std::byte* const from = gather.from + gather.places[done];
      moved = std::min(moved, gather.segment - in_segment);
      in_segment = in_segment + moved == gather.segment ? 0 : in_segment + moved;
      if (gather.block != 0) {
        MoveBlocks(gather, from, moved, place);
      } else {
        MoveSegment(gather.bytes, {.from = from, .step = gather.step, .count = moved, .to = place});
      }
    }
    done += moved;
    const std::uint64_t lines = done * gather.bytes / kLineBytes;
    rows.fetch(lines - fetched);
    fetched = lines;
  }
  if (staged) StreamRun(to, gather.to, bytes);
}

// Long elements, each streamed from where it is: `line` puts together what is left of one and the beginning
// of the next. What is no whole line at the run's ends goes through the caches.
void StreamElements(const LineGather& gather, RowTraffic& rows) {
  constexpr std::uint64_t kPartLines = 8;  // streamed at a time, and as many are fetched
  const std::uint64_t past = reinterpret_cast<std::uintptr_t>(gather.to) % kLineBytes;
  FetchEnds(gather.to, gather.count * gather.bytes - gather.skipped - gather.left_out);
  alignas(kLineBytes) std::byte line[kLineBytes];
  std::byte* to = gather.to - past;  // the line that is put together, or the next whole one
  std::uint64_t filled = past;
  for (std::uint64_t i = 0; i < gather.count; ++i) {
    const std::byte* from = gather.from + gather.places[i] + (i == 0 ? gather.skipped : 0);
    std::uint64_t left =
        gather.bytes - (i == 0 ? gather.skipped : 0) - (i + 1 == gather.count ? gather.left_out : 0);
    if (filled != 0) {
      const std::uint64_t more = std::min(left, kLineBytes - filled);
      std::memcpy(line + filled, from, more);
      from += more;
      left -= more;
      filled += more;
      if (filled < kLineBytes) continue;
      if (to < gather.to) {
        std::memcpy(gather.to, line + past, kLineBytes - past);
      } else {
        StreamWholeLines(line, to, kLineBytes);
      }
      to += kLineBytes;
    }
    filled = left % kLineBytes;
    const std::byte* const end = from + (left - filled);
    while (from < end) {
      const auto lines =
          std::min<std::uint64_t>(kPartLines, static_cast<std::uint64_t>(end - from) / kLineBytes);
      StreamWholeLines(from, to, lines * kLineBytes);
      from += lines * kLineBytes;
      to += lines * kLineBytes;
      rows.fetch(lines);
    }
    if (filled != 0) std::memcpy(line, from, filled);
  }
  const std::uint64_t before = to < gather.to ? past : 0;
  if (filled > before) std::memcpy(to + before, line + before, filled - before);
}

void GatherLines(const LineGather& gather, RowTraffic& rows) {
  constexpr std::uint64_t kLongBytes = 1024;
  if (gather.bytes < kLineBytes || gather.stage == nullptr) return GatherShort(gather, rows);
  if (gather.bytes >= kLongBytes) return StreamElements(gather, rows);
  const std::uint64_t past = reinterpret_cast<std::uintptr_t>(gather.to) % kLineBytes;
  const std::uint64_t lines = (gather.bytes + kLineBytes - 1) / kLineBytes;
  if (past == 0 && gather.bytes % kLineBytes == 0 && gather.skipped == 0 && gather.left_out == 0) {
    for (std::uint64_t i = 0; i < gather.count; ++i) {
      StreamWholeLines(gather.from + gather.places[i], gather.to + i * gather.bytes, gather.bytes);
      rows.fetch(lines);
    }
    return;
  }
  const std::uint64_t bytes = gather.count * gather.bytes - gather.skipped - gather.left_out;
  FetchEnds(gather.to, bytes);
  std::byte* const stage = gather.stage + past;
  std::uint64_t at = 0;
  for (std::uint64_t i = 0; i < gather.count; ++i) {
    const std::uint64_t begin = i == 0 ? gather.skipped : 0;
    const std::uint64_t end = gather.bytes - (i + 1 == gather.count ? gather.left_out : 0);
    CopyAny(gather.from + gather.places[i] + begin, stage + at, end - begin);
    at += end - begin;
    rows.fetch(lines);
  }
  StreamRun(stage, gather.to, bytes);
}

}  // namespace HWY_NAMESPACE
}  // namespace faro::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace faro::cpu {

HWY_EXPORT(GatherLines);

std::array<std::uint8_t, kMostBlockBytes> turned_blocks(std::uint64_t block, std::uint64_t element_bytes) {
  std::array<std::uint8_t, kMostBlockBytes> places{};
  const std::uint64_t bytes = block * element_bytes;
  for (std::uint64_t i = 0; i < kMostBlockBytes / bytes * bytes; ++i) {
    const std::uint64_t begin = i / bytes * bytes;
    const std::uint64_t element = (i - begin) / element_bytes;
    places[i] = static_cast<std::uint8_t>(begin + (block - 1 - element) * element_bytes + i % element_bytes);
  }
  return places;
}

void gather_lines(const LineGather& gather, RowTraffic& rows) {
  HWY_DYNAMIC_DISPATCH(GatherLines)(gather, rows);
}

}  // namespace faro::cpu
#endif  // HWY_ONCE
