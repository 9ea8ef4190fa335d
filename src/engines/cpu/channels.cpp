#include "engines/cpu/channels.hpp"

#include <algorithm>

#include "engines/cpu/copy_kernel.hpp"
#include "engines/cpu/element_width.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/cpu/channels.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/cache_control.h"
#include "hwy/highway.h"

#ifndef FARO_CHANNEL_LINES
#define FARO_CHANNEL_LINES
namespace faro::cpu {

// So many lines of every plane. `lookups`: 32 bytes for each register that is written and each that is read.
struct ChannelLines {
  const std::uint8_t* from = nullptr;
  std::uint8_t* to = nullptr;
  const std::int64_t* planes = nullptr;
  const std::uint8_t* lookups = nullptr;
  std::uint64_t lines = 0;
  std::uint64_t channels = 2;
  bool parts = false;
  bool streamed = false;
};

constexpr std::uint64_t kBlockBytes = 16;

// Where an element of a block that is written is looked up in a block that is read: 16 bytes, and those of
// the block that is beside it in a register of two.
constexpr std::uint64_t kLookupBytes = 2 * kBlockBytes;
constexpr std::uint64_t lookup_place(std::uint64_t written, std::uint64_t read, std::uint64_t channels) {
  return (written * channels + read) * kLookupBytes;
}

}  // namespace faro::cpu
#if defined(__clang__)
#define FARO_UNROLL_CHANNELS _Pragma("unroll")
#else
#define FARO_UNROLL_CHANNELS _Pragma("GCC unroll 16")
#endif
#endif  // FARO_CHANNEL_LINES

HWY_BEFORE_NAMESPACE();
namespace faro::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE
bool MoveChannelLines(const ChannelLines& /*lines*/) { return false; }
#else

// Registers of one block of 16 bytes, or of two: a line is two such, and wider ones store no more of it.
#if HWY_TARGET <= HWY_AVX2
constexpr std::size_t kChannelBlocks = 2;
#else
constexpr std::size_t kChannelBlocks = 1;
#endif
using ChannelTag = hn::FixedTag<std::uint8_t, kChannelBlocks * kBlockBytes>;
using ChannelBytes = hn::Vec<ChannelTag>;

// A block and, where registers have two, another.
HWY_INLINE ChannelBytes LoadTwo(const std::uint8_t* first, const std::uint8_t* second) {
  const hn::FixedTag<std::uint8_t, kBlockBytes> block;
#if HWY_TARGET <= HWY_AVX2
  return hn::Combine(ChannelTag(), hn::LoadU(block, second), hn::LoadU(block, first));
#else
  static_cast<void>(second);
  return hn::LoadU(block, first);
#endif
}

template <bool kStreamed>
HWY_INLINE void StoreChannels(const ChannelBytes& bytes, std::uint8_t* to) {
  if constexpr (kStreamed) {
    hn::Stream(bytes, ChannelTag(), to);
  } else {
    hn::StoreU(bytes, ChannelTag(), to);
  }
}

// Places as locals, which no stored byte may change.
template <std::size_t kCount>
struct ChannelTables {
  explicit ChannelTables(const ChannelLines& move) {
    for (std::size_t written = 0; written < kCount; ++written) {
      planes[written] = move.planes[written];
      const std::size_t block = move.parts ? written : written * kChannelBlocks % kCount;
      for (std::size_t read = 0; read < kCount; ++read) {
        lookups[written][read] = hn::LoadU(ChannelTag(), move.lookups + lookup_place(block, read, kCount));
      }
    }
  }

  // A register that is written: what is found in each that is read.
  template <typename Read>
  HWY_INLINE ChannelBytes Find(std::size_t written, const Read& read) const {
    ChannelBytes all = hn::TableLookupBytesOr0(read(0), lookups[written][0]);
    FARO_UNROLL_CHANNELS
    for (std::size_t i = 1; i < kCount; ++i)
      all = hn::Or(all, hn::TableLookupBytesOr0(read(i), lookups[written][i]));
    return all;
  }

  std::int64_t planes[kCount];
  ChannelBytes lookups[kCount][kCount];
};

// A register of every plane: blocks of the interleaved side are kCount apart.
template <std::size_t kCount, bool kStreamed>
HWY_INLINE void PartRegisters(const ChannelTables<kCount>& tables, const std::uint8_t* from,
                              std::uint8_t* to) {
  ChannelBytes read[kCount];
  FARO_UNROLL_CHANNELS
  for (std::size_t i = 0; i < kCount; ++i)
    read[i] = LoadTwo(from + i * kBlockBytes, from + (kCount + i) * kBlockBytes);
  FARO_UNROLL_CHANNELS
  for (std::size_t channel = 0; channel < kCount; ++channel) {
    StoreChannels<kStreamed>(tables.Find(channel, [&](std::size_t i) { return read[i]; }),
                             to + tables.planes[channel]);
  }
}

// The same back: each register that is written has its blocks from one block of every plane, or from two that
// follow one another.
template <std::size_t kCount, bool kStreamed>
HWY_INLINE void JoinRegisters(const ChannelTables<kCount>& tables, const std::uint8_t* from,
                              std::uint8_t* to) {
  FARO_UNROLL_CHANNELS
  for (std::size_t k = 0; k < kCount; ++k) {
    const std::size_t first = kChannelBlocks * k / kCount;
    const std::size_t last = (kChannelBlocks * (k + 1) - 1) / kCount;
    const auto read = [&](std::size_t channel) {
      const std::uint8_t* const block = from + tables.planes[channel] + first * kBlockBytes;
      return first == last ? hn::LoadDup128(ChannelTag(), block) : hn::LoadU(ChannelTag(), block);
    };
    StoreChannels<kStreamed>(tables.Find(k, read), to + k * kChannelBlocks * kBlockBytes);
  }
}

template <std::size_t kCount, bool kParts, bool kStreamed>
void MoveLines(const ChannelLines& move) {
  constexpr std::size_t kBytes = kChannelBlocks * kBlockBytes;
  constexpr std::size_t kFromStep = kParts ? kCount : 1;
  constexpr std::size_t kToStep = kParts ? 1 : kCount;
  constexpr std::size_t kAhead = 1024;  // bytes of a plane
  const ChannelTables<kCount> tables(move);
  const std::uint8_t* from = move.from;
  std::uint8_t* to = move.to;
  for (std::uint64_t line = 0; line < move.lines; ++line) {
    FARO_UNROLL_CHANNELS
    for (std::size_t channel = 0; channel < kCount; ++channel) {
      const std::uint8_t* const ahead = from + kFromStep * kAhead;
      __builtin_prefetch(kParts ? ahead + channel * kLineBytes : ahead + tables.planes[channel]);
    }
    FARO_UNROLL_CHANNELS
    for (std::size_t at = 0; at < kLineBytes; at += kBytes) {
      if constexpr (kParts) {
        PartRegisters<kCount, kStreamed>(tables, from, to);
      } else {
        JoinRegisters<kCount, kStreamed>(tables, from, to);
      }
      from += kFromStep * kBytes;
      to += kToStep * kBytes;
    }
  }
}

template <std::size_t kCount>
bool MoveLinesOf(const ChannelLines& move) {
  if (move.channels != kCount) {
    if constexpr (kCount > 2) return MoveLinesOf<kCount - 1>(move);
    return false;
  }
  if (move.parts) {
    move.streamed ? MoveLines<kCount, true, true>(move) : MoveLines<kCount, true, false>(move);
  } else {
    move.streamed ? MoveLines<kCount, false, true>(move) : MoveLines<kCount, false, false>(move);
  }
  return true;
}

bool MoveChannelLines(const ChannelLines& lines) { return MoveLinesOf<detail::kMostChannels>(lines); }
#endif

}  // namespace HWY_NAMESPACE
}  // namespace faro::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace faro::cpu {

HWY_EXPORT(MoveChannelLines);

Channels::Channels(const ChannelShape& shape)
    : shape_(shape), lookups_(shape.channels * shape.channels * kLookupBytes, std::uint8_t{0x80}) {
  const std::uint64_t width = shape.width;
  const std::uint64_t channels = shape.channels;
  for (std::uint64_t written = 0; written < channels; ++written) {
    for (std::uint64_t place = 0; place < kLookupBytes; ++place) {
      // Both blocks of planes are alike; of the interleaved side the second is the one that follows.
      std::uint64_t read = 0;
      std::uint64_t byte = 0;
      if (shape.parts) {
        const std::uint64_t in_block = place % kBlockBytes;
        const std::uint64_t at = (in_block / width * channels + written) * width + in_block % width;
        read = at / kBlockBytes;
        byte = at % kBlockBytes;
      } else {
        const std::uint64_t at = (written * kBlockBytes + place) % (channels * kBlockBytes);
        read = at / width % channels;
        byte = at / width / channels * width + at % width;
      }
      lookups_[lookup_place(written, read, channels) + place] = static_cast<std::uint8_t>(byte);
    }
  }
}

Channels::Move Channels::rest_of(const Move& move, std::uint64_t done) const {
  return {.from = move.from + done * read_step(),
          .to = move.to + done * written_step(),
          .planes = move.planes,
          .count = move.count - done};
}

void Channels::move_plainly(const Move& move) const {
  with_width(shape_.width, [&](auto width) {
    for (std::uint64_t i = 0; i < move.count; ++i) {
      for (std::uint64_t channel = 0; channel < shape_.channels; ++channel) {
        const std::int64_t plane = move.planes[channel];
        const auto beside = static_cast<std::int64_t>(channel * width.bytes());
        width.move(move.from + i * read_step() + (shape_.parts ? beside : plane),
                   move.to + i * written_step() + (shape_.parts ? plane : beside));
      }
    }
  });
}

// As many as are whole lines of a plane; false where no registers do it.
bool Channels::move_lines(const Move& move, bool streamed) const {
  return HWY_DYNAMIC_DISPATCH(MoveChannelLines)({.from = reinterpret_cast<const std::uint8_t*>(move.from),
                                                 .to = reinterpret_cast<std::uint8_t*>(move.to),
                                                 .planes = move.planes,
                                                 .lookups = lookups_.data(),
                                                 .lines = move.count * shape_.width / kLineBytes,
                                                 .channels = shape_.channels,
                                                 .parts = shape_.parts,
                                                 .streamed = streamed});
}

void Channels::move(const Move& move) const {
  const std::uint64_t a_line = kLineBytes / shape_.width;
  if (move.count < a_line || !move_lines(move, false)) return move_plainly(move);
  // The last line begins among elements of the one before.
  if (move.count % a_line != 0) move_lines(rest_of(move, move.count - a_line), false);
}

// Elements of a plane before all that is written meets lines; all of them where it never does.
std::uint64_t Channels::before_lines(const Move& move) const {
  const auto past = [](const std::byte* to) { return reinterpret_cast<std::uintptr_t>(to) % kLineBytes; };
  for (std::uint64_t channel = 1; shape_.parts && channel < shape_.channels; ++channel)
    if (past(move.to + move.planes[channel]) != past(move.to + move.planes[0])) return move.count;
  const std::byte* const to = move.to + (shape_.parts ? move.planes[0] : 0);
  for (std::uint64_t before = 0; before < std::min(move.count, kLineBytes); ++before)
    if (past(to + before * written_step()) == 0) return before;
  return move.count;
}

void Channels::stream(const Move& move, std::byte* stage) const {
  const std::uint64_t a_line = kLineBytes / shape_.width;
  const std::uint64_t before = before_lines(move);
  if (move.count - before < a_line) return by_stage(move, stage, copy_streamed);
  const Move whole = rest_of(move, before);
  if (!move_lines(whole, true)) return move_plainly(move);
  move_plainly({.from = move.from, .to = move.to, .planes = move.planes, .count = before});
  move_plainly(rest_of(whole, whole.count / a_line * a_line));
}

}  // namespace faro::cpu
#endif  // HWY_ONCE
