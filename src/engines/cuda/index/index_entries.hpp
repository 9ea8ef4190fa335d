// Entries of an index array on a device, of any of the four types, and the small kernels that read or write
// them one by one.
//
//     Mark          is it a permutation?          one bit an index
//     Invert        out[P[i]] = i                 the other direction's array
//     Chain         a[b[x]] and its kin           composition
//     Draw          out[x] = pi(x)                of a FeistelPermutation
//     ReadAt        entries here and there        for probes
//     FindEntry, …  the first position with …     to name what is wrong
//     ShiftsOf      window schedules              gather form, 16 bits an entry
//     CountHeads, WriteHeads                      where runs begin
//
// A thread takes entry after entry, a grid apart. No address depends on an entry that has not been found
// below the count.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/cuda/index/index_fault.hpp"
#include "engines/cuda/index/index_random.hpp"
#include "engines/cuda/kernels/device_block.hpp"

namespace faro::cuda {

inline constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

struct EntryView {
  const void* data = nullptr;
  std::uint64_t count = 0;
  std::int32_t bytes = 4;
  std::int32_t is_signed = 0;

  /// Negative ones are past any count.
  constexpr std::uint64_t operator[](std::uint64_t i) const {
    if (bytes == 8) return static_cast<const std::uint64_t*>(data)[i];
    const std::uint32_t word = static_cast<const std::uint32_t*>(data)[i];
    if (is_signed == 0) return word;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(word)));
  }

  /// Entries first, first + step, … as far as there are any: all on their way at once.
  template <std::uint32_t kNumber>
  constexpr void load(std::uint64_t first, std::uint64_t step, std::uint64_t (&to)[kNumber]) const {
    if (bytes == 8) {
      const auto* const from = static_cast<const std::uint64_t*>(data);
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kNumber; ++k)
        to[k] = first + k * step < count ? from[first + k * step] : 0;
      return;
    }
    const auto* const from = static_cast<const std::uint32_t*>(data);
    std::uint32_t words[kNumber] = {};
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kNumber; ++k) {
      if (first + k * step < count) words[k] = from[first + k * step];
    }
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kNumber; ++k) {
      to[k] =
          is_signed == 0
              ? words[k]
              : static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(words[k])));
    }
  }
};

/// The shape of a launch whose threads go through `count` items, a grid at a time.
template <std::uint64_t kItems = 1>
struct GridSweep : PlainKernel<> {
  static constexpr std::uint64_t kMostBlocks = 2112;  // 16 for each of 132 multiprocessors

  static constexpr std::uint64_t blocks_for(std::uint64_t count) {
    const std::uint64_t blocks = (count + kThreads * kItems - 1) / (kThreads * kItems);
    return blocks < kMostBlocks ? blocks : kMostBlocks;
  }
  template <Block B>
  static constexpr std::uint64_t first(B& block) {
    return thread_of(block);
  }
  template <Block B>
  static constexpr std::uint64_t step(B& block) {
    return block.blocks() * kThreads;
  }
};

/// Marks entries 0 .. end - 1 that are in range; the least position of one that is not; whether any index was
/// marked twice.
struct Mark : GridSweep<> {
  EntryView entries;
  std::uint64_t end = 0;
  std::uint32_t* marks = nullptr;  // a bit an index, zeros at first
  std::uint64_t* out_of_range = nullptr;
  std::uint32_t* twice = nullptr;

  constexpr std::uint64_t blocks() const { return blocks_for(end); }

  template <Block B>
  constexpr void operator()(B& block) const {
    bool repeated = false;
    for (std::uint64_t i = first(block); i < end; i += step(block)) {
      const std::uint64_t entry = entries[i];
      if (entry >= entries.count) {
        if (i < block.read(out_of_range)) block.atomic_min(out_of_range, i);
        continue;
      }
      const std::uint32_t bit = std::uint32_t{1} << entry % 32;
      repeated = (block.atomic_or(marks + entry / 32, bit) & bit) != 0 || repeated;
    }
    if (repeated) block.write(twice, 1);
  }
};

/// The least position below `end` whose entry is `value`.
struct FindEntry : GridSweep<> {
  EntryView entries;
  std::uint64_t end = 0;
  std::uint64_t value = 0;
  std::uint64_t* found = nullptr;

  constexpr std::uint64_t blocks() const { return blocks_for(end); }

  template <Block B>
  constexpr void operator()(B& block) const {
    for (std::uint64_t i = first(block); i < end; i += step(block)) {
      if (entries[i] == value && i < block.read(found)) block.atomic_min(found, i);
    }
  }
};

/// The least position whose entry is more than `window` away from it.
struct FindFar : GridSweep<> {
  EntryView entries;
  std::uint64_t window = 0;
  std::uint64_t* found = nullptr;

  constexpr std::uint64_t blocks() const { return blocks_for(entries.count); }

  template <Block B>
  constexpr void operator()(B& block) const {
    for (std::uint64_t i = first(block); i < entries.count; i += step(block)) {
      const std::uint64_t entry = entries[i];
      const bool far = (entry < i ? i - entry : entry - i) > window;
      if (far && i < block.read(found)) block.atomic_min(found, i);
    }
  }
};

/// The least index that is not marked.
struct FindUnmarked : GridSweep<> {
  std::uint64_t count = 0;
  const std::uint32_t* marks = nullptr;
  std::uint64_t* found = nullptr;

  constexpr std::uint64_t blocks() const { return blocks_for((count + 31) / 32); }

  template <Block B>
  constexpr void operator()(B& block) const {
    for (std::uint64_t w = first(block); w < (count + 31) / 32; w += step(block)) {
      if (marks[w] == kAllLanes || w * 32 >= block.read(found)) continue;
      std::uint64_t index = w * 32;
      while ((marks[w] >> index % 32 & 1) != 0) ++index;
      if (index < count) block.atomic_min(found, index);
    }
  }
};

/// out[P[i]] = i.
template <typename Word>
struct Invert : GridSweep<> {
  EntryView entries;
  Word* out = nullptr;

  constexpr std::uint64_t blocks() const { return blocks_for(entries.count); }

  template <Block B>
  constexpr void operator()(B& block) const {
    for (std::uint64_t i = first(block); i < entries.count; i += step(block)) {
      const std::uint64_t entry = entries[i];
      if (entry < entries.count) out[entry] = static_cast<Word>(i);
    }
  }
};

enum class ChainForm : std::int32_t {
  load,   // out[x] = a[b[x]]      both scatter
  store,  // out[b[y]] = a[y]      a scatter, b gather
  both,   // out[b[a[z]]] = z      both gather
};

/// The scatter array of a o b. Requires: permutations of one count.
template <typename Word>
struct Chain : GridSweep<> {
  EntryView a;
  EntryView b;
  ChainForm form = ChainForm::load;
  Word* out = nullptr;

  constexpr std::uint64_t blocks() const { return blocks_for(a.count); }

  template <Block B>
  constexpr void operator()(B& block) const {
    for (std::uint64_t i = first(block); i < a.count; i += step(block)) {
      const std::uint64_t inner = form == ChainForm::both ? a[i] : b[i];
      if (inner >= a.count) continue;
      if (form == ChainForm::load) {
        out[i] = static_cast<Word>(a[inner]);
      } else if (form == ChainForm::store) {
        out[inner] = static_cast<Word>(a[i]);
      } else if (const std::uint64_t outer = b[inner]; outer < a.count) {
        out[outer] = static_cast<Word>(i);
      }
    }
  }
};

template <typename Word>
struct Draw : GridSweep<> {
  FeistelPermutation permutation;
  Word* out = nullptr;

  constexpr std::uint64_t blocks() const { return blocks_for(permutation.count); }

  template <Block B>
  constexpr void operator()(B& block) const {
    for (std::uint64_t i = first(block); i < permutation.count; i += step(block)) {
      out[i] = static_cast<Word>(permutation(i));
    }
  }
};

/// Requires: positions below the count.
struct ReadAt : GridSweep<> {
  EntryView entries;
  const std::uint64_t* positions = nullptr;
  std::uint64_t number = 0;
  std::uint64_t* values = nullptr;

  constexpr std::uint64_t blocks() const { return blocks_for(number); }

  template <Block B>
  constexpr void operator()(B& block) const {
    for (std::uint64_t i = first(block); i < number; i += step(block)) values[i] = entries[positions[i]];
  }
};

/// shift[P[i]] = i - P[i] + window: the gather form of a scatter that moves nothing further than `window`.
struct ShiftsOf : GridSweep<> {
  EntryView entries;
  std::uint64_t window = 0;
  std::uint16_t* shift = nullptr;  // all ones at first, which none is
  Fault fault;

  constexpr std::uint64_t blocks() const { return blocks_for(entries.count); }

  template <Block B>
  constexpr void operator()(B& block) const {
    for (std::uint64_t i = first(block); i < entries.count; i += step(block)) {
      const std::uint64_t entry = entries[i];
      const std::uint64_t moved = i + window - entry;  // wraps to more than 2 window where it is too far
      if (entry < entries.count && moved <= 2 * window) {
        shift[entry] = static_cast<std::uint16_t>(moved);
      } else {
        fault.raise(block);
      }
    }
  }
};

/// As many stores as shifts, all in range: where none was left out, it was a permutation.
struct CheckShifts : GridSweep<> {
  std::uint64_t count = 0;
  const std::uint16_t* shift = nullptr;
  Fault fault;

  constexpr std::uint64_t blocks() const { return blocks_for(count); }

  template <Block B>
  constexpr void operator()(B& block) const {
    for (std::uint64_t i = first(block); i < count; i += step(block)) {
      if (shift[i] == 0xffff) fault.raise(block);
    }
  }
};

/// Runs begin where an entry is not its predecessor's plus one. A block counts those of its part of the
/// array.
struct CountHeads {
  static constexpr std::uint32_t kThreads = 256;
  static constexpr int kMinBlocks = 1;
  static constexpr std::uint32_t kPart = 4096;

  EntryView entries;
  std::uint64_t* heads = nullptr;  // one a block

  constexpr std::uint64_t blocks() const { return (entries.count + kPart - 1) / kPart; }
  constexpr std::uint32_t shared_bytes() const { return sizeof(std::uint32_t); }

  static constexpr bool is_head(const EntryView& entries, std::uint64_t i) {
    return i < entries.count && (i == 0 || entries[i] != entries[i - 1] + 1);
  }

  template <Block B>
  constexpr void operator()(B& block) const {
    auto* const sum = reinterpret_cast<std::uint32_t*>(block.shared());
    if (block.thread() == 0) *sum = 0;
    block.barrier();
    std::uint32_t own = 0;
    for (std::uint32_t k = block.thread(); k < kPart; k += kThreads) {
      own += is_head(entries, block.index() * kPart + k) ? 1 : 0;
    }
    block.atomic_add(sum, own);
    block.barrier();
    if (block.thread() == 0) heads[block.index()] = *sum;
  }
};

/// Writes each run's first position and entry, in order. `before`: CountHeads' numbers, summed.
struct WriteHeads {
  static constexpr std::uint32_t kThreads = CountHeads::kThreads;
  static constexpr int kMinBlocks = 1;
  static constexpr std::uint32_t kWarps = kThreads / kWarpLanes;

  EntryView entries;
  const std::uint64_t* before = nullptr;
  std::uint64_t runs = 0;
  std::uint64_t* source = nullptr;  // [runs]
  std::uint64_t* target = nullptr;  // [runs]

  constexpr std::uint64_t blocks() const {
    return (entries.count + CountHeads::kPart - 1) / CountHeads::kPart;
  }
  constexpr std::uint32_t shared_bytes() const { return kWarps * sizeof(std::uint32_t); }

  template <Block B>
  constexpr void operator()(B& block) const {
    auto* const of_warp = reinterpret_cast<std::uint32_t*>(block.shared());
    const std::uint32_t warp = block.thread() / kWarpLanes;
    std::uint64_t run = before[block.index()];
    for (std::uint32_t first = 0; first < CountHeads::kPart; first += kThreads) {
      const std::uint64_t i = block.index() * CountHeads::kPart + first + block.thread();
      const bool head = CountHeads::is_head(entries, i);
      const std::uint32_t heads = block.ballot(head);
      if (lane_of(block) == 0) of_warp[warp] = block.count_ones(heads);
      block.barrier();
      std::uint64_t mine = run + block.count_ones(heads & ((std::uint32_t{1} << lane_of(block)) - 1));
      for (std::uint32_t w = 0; w < kWarps; ++w) {
        if (w < warp) mine += of_warp[w];
        run += of_warp[w];
      }
      if (head && mine < runs) {
        source[mine] = i;
        target[mine] = entries[i];
      }
      block.barrier();
    }
  }
};

}  // namespace faro::cuda
