#include "engines/cpu/index/run_writer.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/cpu/index/run_writer.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace faro::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using LineTag = hn::CappedTag<std::uint8_t, RunWriter::kLine>;

// A line's length of bytes, from anywhere to anywhere.
HWY_INLINE void CopyBytes(const std::byte* from, std::byte* to) {
  const LineTag d;
  for (std::size_t at = 0; at < RunWriter::kLine; at += hn::Lanes(d)) {
    hn::StoreU(hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(from + at)), d,
               reinterpret_cast<std::uint8_t*>(to + at));
  }
}

template <bool kStreamed>
HWY_INLINE void WriteLine(const std::byte* from, std::byte* line) {
  const LineTag d;
  for (std::size_t at = 0; at < RunWriter::kLine; at += hn::Lanes(d)) {
    const auto bytes = hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(from + at));
    auto* const to = reinterpret_cast<std::uint8_t*>(line + at);
    if constexpr (kStreamed) {
      hn::Stream(bytes, d, to);
    } else {
      hn::Store(bytes, d, to);
    }
  }
}

template <bool kStreamed>
HWY_INLINE void WriteRuns(const RunWriter::State& state, const ChunkRuns& chunk) {
  constexpr std::uint64_t kLine = RunWriter::kLine;
  // Lines are put together here; several, so that no two in a row wait for each other.
  constexpr std::uint32_t kJoints = 8;
  alignas(kLine) std::byte joints[kJoints][2 * kLine];
  const std::uint64_t width = state.element_bytes;
  std::uint64_t begin = chunk.starts[0];
  for (std::uint32_t b = 0; b < state.buckets; ++b) {
    const std::uint64_t end = b + 1 < state.buckets ? chunk.starts[b + 1] : chunk.size;
    const std::uintptr_t to = state.region + b * state.stride_bytes + chunk.offsets[b] * width;
    const std::byte* from = chunk.buffer + begin * width;
    std::uint64_t bytes = (end - begin) * width;
    begin = end;
    const std::uint64_t waiting = to % kLine;
    std::byte* const slot = state.slots + b * kLine;
    std::byte* const joint = joints[b % kJoints];
    CopyBytes(slot, joint);
    CopyBytes(from, joint + waiting);
    if (waiting + bytes < kLine) {
      CopyBytes(joint, slot);
      continue;
    }
    auto* line = reinterpret_cast<std::byte*>(to - waiting);  // NOLINT(performance-no-int-to-ptr)
    if (const auto own = static_cast<std::uint64_t>(state.owned[b]); own != 0) {
      std::memcpy(line + own, joint + own, kLine - own);
      state.owned[b] = std::byte{0};
    } else {
      WriteLine<kStreamed>(joint, line);
    }
    from += kLine - waiting;
    bytes -= kLine - waiting;
    for (line += kLine; bytes >= kLine; line += kLine, from += kLine, bytes -= kLine)
      WriteLine<kStreamed>(from, line);
    CopyBytes(from, slot);
  }
}

void WriteRunsCached(const RunWriter::State& state, const ChunkRuns& chunk) {
  WriteRuns<false>(state, chunk);
}
void WriteRunsStreamed(const RunWriter::State& state, const ChunkRuns& chunk) {
  WriteRuns<true>(state, chunk);
}

}  // namespace HWY_NAMESPACE
}  // namespace faro::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace faro::cpu {

HWY_EXPORT(WriteRunsCached);
HWY_EXPORT(WriteRunsStreamed);

void RunWriter::begin(std::byte* region, std::uint64_t stride_bytes, const ChunkRuns& first) {
  region_ = reinterpret_cast<std::uintptr_t>(region);
  stride_bytes_ = stride_bytes;
  for (std::uint32_t b = 0; b < buckets_; ++b) {
    const std::uintptr_t to = region_ + b * stride_bytes_ + first.offsets[b] * element_bytes_;
    owned_[b] = static_cast<std::byte>(to % kLine);
  }
}

void RunWriter::write(const ChunkRuns& chunk) {
  if (stores_ == LineStores::streamed) {
    HWY_DYNAMIC_DISPATCH(WriteRunsStreamed)(state(), chunk);
  } else {
    HWY_DYNAMIC_DISPATCH(WriteRunsCached)(state(), chunk);
  }
}

void RunWriter::finish(const ChunkRuns& last) {
  for (std::uint32_t b = 0; b < buckets_; ++b) {
    const std::uint64_t end = b + 1 < buckets_ ? last.starts[b + 1] : last.size;
    const std::uint64_t length = end - last.starts[b];
    const std::uintptr_t to = region_ + b * stride_bytes_ + (last.offsets[b] + length) * element_bytes_;
    const std::uint64_t waiting = to % kLine;
    const auto own = static_cast<std::uint64_t>(owned_[b]);
    if (own >= waiting) continue;
    auto* const line = reinterpret_cast<std::byte*>(to - waiting);  // NOLINT(performance-no-int-to-ptr)
    std::memcpy(line + own, slots_ + b * kLine + own, waiting - own);
  }
}

}  // namespace faro::cpu
#endif  // HWY_ONCE
