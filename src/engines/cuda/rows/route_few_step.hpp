// Few keys routed, and their rows sent, by one launch: tokens of a step to experts.
//
//     every block     counts all keys, and sums up where buckets begin       redundant: some KiB of keys
//                     ranks the keys of its own rows                         as far as those before them go
//                     writes its rows to their places, and its share of what no item has
//
// Three launches and a fourth for the rows take longer than what they do, for up to a few hundred rows. Here
// each block finds out all of it for itself, while the vectors that it has to send are on their way; a block
// has vectors of rows side by side, so rarely more than two or three rows.
//
//     rows of 4 vectors, 3 blocks     block   0 0 0 0 | 0 1 1 1 | 1 1 2 2 | 2 2 2 .
//                                     lists   by 0      by 0      by 1      by 2       whose first vector a block has
//
// A warp has a stretch of the keys, in registers, 32 apart: keys are matched within a warp, and counts of the
// warps before are added, so that items of a bucket stay in their order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/cuda/kernels/device_block.hpp"
#include "engines/cuda/rows/route_many_steps.hpp"
#include "faro/device/memory.hpp"
#include "faro/permutation/route.hpp"
#include "kernels/row_entries.hpp"

namespace faro::cuda {

inline constexpr std::uint64_t kMostFewKeys = 4096;
inline constexpr std::uint64_t kMostFewBuckets = 1024;

/// Vectors of kBytes, of which a row and both addresses are multiples; 0: rows are not sent.
template <int kBytes>
struct RouteFew {
  static constexpr bool kSends = kBytes > 0;
  using Vector = device::Packet<kBytes + (kSends ? 0 : 1)>;
  static constexpr std::uint32_t kThreads = 512;
  static constexpr int kMinBlocks = 2;
  static constexpr std::uint32_t kWarps = kThreads / kWarpLanes;
  static constexpr std::uint32_t kKeys = kMostFewKeys / kThreads;  // of a thread
  static constexpr std::uint32_t kAhead = 4;                       // vectors of a thread on their way
  static constexpr int kDigitBits = 10;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::uint16_t kNoDigit = 0xffff;
  /// What a block sends at least, and writes before there is another one, in vectors; and two blocks for each
  /// of 132 multiprocessors.
  static constexpr std::uint64_t kLeastSent = 128;
  static constexpr std::uint64_t kMostWritten = 2048;
  static constexpr std::uint64_t kMostBlocks = 264;
  static_assert(kMostFewBuckets == std::uint64_t{1} << kDigitBits);

  kernels::RowEntries keys;  // at most kMostFewKeys, of at most kMostFewBuckets
  kernels::RowFaults* faults = nullptr;
  std::uint32_t keys_per_row = 1;
  BucketRule rule;
  std::uint64_t most_places = 0;  // below 2^31
  DeviceRoute to;
  device::Division64 vectors;  // of a row
  std::uint64_t share = 0;     // of all vectors, of a block: shared_out()
  const std::byte* in = nullptr;
  std::byte* out = nullptr;

  constexpr std::uint64_t rows() const { return keys.count / keys_per_row; }
  constexpr std::uint64_t blocks() const {
    const std::uint64_t sending = (rows() * vectors.divisor() + kLeastSent - 1) / kLeastSent;
    const std::uint64_t writing = (most_places * vectors.divisor() + kMostWritten - 1) / kMostWritten;
    const std::uint64_t wanted = sending > writing ? sending : writing;
    return wanted > kMostBlocks ? kMostBlocks : wanted > 1 ? wanted : 1;
  }
  constexpr std::uint64_t shared_out() const {
    return (rows() * vectors.divisor() + blocks() - 1) / blocks();
  }
  /// Keys of the rows that a block has at least a vector of.
  constexpr std::uint32_t own_keys() const {
    const std::uint64_t most = (share + vectors.divisor() - 1) / vectors.divisor() + 1;
    return static_cast<std::uint32_t>(most < rows() ? most : rows()) * keys_per_row;
  }
  constexpr std::uint32_t buckets() const { return static_cast<std::uint32_t>(keys.rows); }
  constexpr std::uint32_t shared_bytes() const {
    const std::uint32_t words = kWarps * buckets() + 2 * buckets() + 1 + kScanScratchWords + own_keys();
    return 4 * words + 2 * kWarps * stretch();
  }

  template <Block B>
  constexpr void operator()(B& block) const {
    Shared shared(*this, block.shared());
    const Own own(*this, block.index());
    Vector ahead[kAhead] = {};
    if constexpr (kSends) load(own, own.first + block.thread(), ahead);
    count(block, shared);
    rank(block, shared, own);
    block.barrier();
    list(block, shared, own);
    if constexpr (kSends) send(block, shared, own, ahead);
    fill(block, shared);
  }

 private:
  struct Shared {
    std::uint32_t* next;     // [kWarps][buckets]: ranks that the next items of a warp's stretch get
    std::uint32_t* begins;   // [buckets + 1]: places
    std::uint32_t* kept;     // [buckets]: items
    std::uint32_t* scratch;  // [kScanScratchWords]
    std::uint32_t* places;   // [own_keys()], kNone of what goes nowhere
    std::uint16_t* digits;   // of all stretches, kNoDigit likewise

    constexpr Shared(const RouteFew& of, std::byte* memory)
        : next(reinterpret_cast<std::uint32_t*>(memory)),
          begins(next + kWarps * of.buckets()),
          kept(begins + of.buckets() + 1),
          scratch(kept + of.buckets()),
          places(scratch + kScanScratchWords),
          digits(reinterpret_cast<std::uint16_t*>(places + of.own_keys())) {}
  };

  // What a block sends: vectors first .. end - 1 of all rows, of rows row .. end_row - 1.
  struct Own {
    std::uint64_t first;
    std::uint64_t end;
    std::uint32_t row = 0;
    std::uint32_t end_row = 0;

    constexpr Own(const RouteFew& of, std::uint64_t block) {
      const std::uint64_t all = of.rows() * of.vectors.divisor();
      const std::uint64_t begin = block * of.share;
      first = begin < all ? begin : all;
      end = first + of.share < all ? first + of.share : all;
      if (first == end) return;
      row = static_cast<std::uint32_t>(of.vectors.quotient(first));
      end_row = static_cast<std::uint32_t>(of.vectors.quotient(end - 1) + 1);
    }
  };

  // Keys of a warp's stretch: those of its threads together.
  constexpr std::uint32_t stretch() const {
    const auto all = static_cast<std::uint32_t>(keys.count);
    return (all + kThreads - 1) / kThreads * kWarpLanes;
  }

  // Where buckets begin, and how many items each warp's stretch finds before it.
  template <Block B>
  constexpr void count(B& block, const Shared& shared) const {
    const std::uint32_t first = block.thread() / kWarpLanes * stretch() + lane_of(block);
    const std::uint64_t behind = std::uint64_t{first} - lane_of(block) + stretch();
    std::uint64_t row[kKeys] = {};
    keys.load_rows(first, kWarpLanes, behind < keys.count ? behind : keys.count, row);
    for (std::uint32_t i = block.thread(); i < kWarps * buckets(); i += kThreads) shared.next[i] = 0;
    block.barrier();
    std::uint32_t* const own = shared.next + block.thread() / kWarpLanes * buckets();
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kKeys; ++k) {
      const std::uint32_t item = first + k * kWarpLanes;
      if (k * kWarpLanes >= stretch()) continue;
      const bool there = kernels::is_row(row[k]);
      shared.digits[item] = there ? static_cast<std::uint16_t>(row[k]) : kNoDigit;
      if (there) block.atomic_add(own + row[k], 1U);
      if (row[k] == kernels::kWrongRow && block.index() == 0)
        kernels::note_fault(block, &faults->out_of_range, item);
    }
    block.barrier();
    for (std::uint32_t b = block.thread(); b <= buckets(); b += kThreads) {
      std::uint32_t sum = 0;
      for (std::uint32_t w = 0; b < buckets() && w < kWarps; ++w) {
        const std::uint32_t items = shared.next[w * buckets() + b];
        shared.next[w * buckets() + b] = sum;
        sum += items;
      }
      shared.begins[b] = static_cast<std::uint32_t>(rule.places(sum));
      if (b < buckets()) shared.kept[b] = static_cast<std::uint32_t>(rule.kept(sum));
    }
    exclusive_sums<kThreads>(block, shared.begins, buckets() + 1, shared.scratch);
  }

  // Places of the block's own keys. A warp goes over its stretch as far as they go.
  template <Block B>
  constexpr void rank(B& block, const Shared& shared, const Own& own) const {
    const std::uint32_t own_first = own.row * keys_per_row;
    const std::uint32_t own_end = own.end_row * keys_per_row;
    const std::uint32_t warp = block.thread() / kWarpLanes;
    const std::uint32_t begin = warp * stretch();
    if (begin + stretch() <= own_first) return;
    const std::uint32_t end = begin + stretch() < own_end ? begin + stretch() : own_end;
    std::uint32_t* const next = shared.next + warp * buckets();
    for (std::uint32_t first = begin; first < end; first += kWarpLanes) {
      const std::uint32_t item = first + lane_of(block);
      // The digit is its own lane's: without the shuffle ptxas 13.0 runs out of predicates (C7600) and gives
      // up.
      const std::uint32_t digit = block.shuffle_up(shared.digits[item], 0);
      const bool there = digit != kNoDigit;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000  // where another is needed
      const std::uint32_t low = lanes_with<kDigitBits / 2>(block, digit, block.ballot(there));
      const std::uint32_t high = block.shuffle_up(digit >> kDigitBits / 2, 0);
      const std::uint32_t lanes = lanes_with<kDigitBits - kDigitBits / 2>(block, high, low);
#else
      const std::uint32_t lanes = lanes_with<kDigitBits>(block, digit, block.ballot(there));
#endif
      const std::uint32_t below = (std::uint32_t{1} << lane_of(block)) - 1;
      const std::uint32_t before = there ? next[digit] : 0;
      block.warp_barrier();
      const std::uint32_t of_rank = before + block.count_ones(lanes & below);
      if (there && (lanes & below) == 0) next[digit] = before + block.count_ones(lanes);
      block.warp_barrier();
      if (item < own_first || item >= own_end) continue;
      const bool placed = there && of_rank < rule.capacity;
      shared.places[item - own_first] = placed ? shared.begins[digit] + of_rank : kNone;
    }
  }

  // What is known of the items of rows that begin in the block; of the first block also of buckets.
  template <Block B>
  constexpr void list(B& block, const Shared& shared, const Own& own) const {
    const std::uint32_t first_row = own.row * vectors.divisor() == own.first ? own.row : own.row + 1;
    const std::uint32_t end = own.end_row * keys_per_row;
    for (std::uint32_t item = first_row * keys_per_row + block.thread(); item < end; item += kThreads) {
      const std::uint32_t place = shared.places[item - own.row * keys_per_row];
      if (to.places != nullptr) to.places[item] = place == kNone ? -1 : std::int64_t{place};
      if (place == kNone) continue;
      if (to.inverse != nullptr) to.inverse[place] = item;
      if (to.rows != nullptr) to.rows[place] = item / keys_per_row;
    }
    if (block.index() > 0) return;
    for (std::uint32_t b = block.thread(); b <= buckets(); b += kThreads) {
      if (to.offsets != nullptr) to.offsets[b] = shared.begins[b];
      if (to.counts != nullptr && b < buckets()) to.counts[b] = shared.kept[b];
    }
  }

  constexpr void load(const Own& own, std::uint64_t from, Vector (&vector)[kAhead]) const {
    FARO_UNROLL
    for (std::uint32_t a = 0; a < kAhead; ++a) {
      const std::uint64_t at = from + std::uint64_t{a} * kThreads;
      if (at < own.end) vector[a] = reinterpret_cast<const Vector*>(in)[at];
    }
  }

  template <Block B>
  constexpr void send(B& block, const Shared& shared, const Own& own, Vector (&vector)[kAhead]) const {
    auto* const written = reinterpret_cast<Vector*>(out);
    for (std::uint64_t from = own.first + block.thread(); from < own.end;) {
      FARO_UNROLL
      for (std::uint32_t a = 0; a < kAhead; ++a) {
        const std::uint64_t at = from + std::uint64_t{a} * kThreads;
        if (at >= own.end) continue;
        std::uint64_t of_row = at;
        const std::uint64_t row = vectors.divide(of_row);
        const std::uint32_t* const places =
            shared.places + (static_cast<std::uint32_t>(row) - own.row) * keys_per_row;
        for (std::uint32_t key = 0; key < keys_per_row; ++key) {
          if (places[key] != kNone) written[places[key] * vectors.divisor() + of_row] = vector[a];
        }
      }
      from += std::uint64_t{kAhead} * kThreads;
      load(own, from, vector);
    }
  }

  // The block's share of all places, those that no item has: a thread looks at each, and a warp clears a row.
  template <Block B>
  constexpr void fill(B& block, const Shared& shared) const {
    const std::uint64_t each = (most_places + block.blocks() - 1) / block.blocks();
    const std::uint64_t first = block.index() * each;
    const std::uint64_t end = first + each < most_places ? first + each : most_places;
    for (std::uint64_t place = first + block.thread(); place < end; place += kThreads) {
      if (is_taken(shared, place)) continue;
      if (to.inverse != nullptr) to.inverse[place] = -1;
      if (to.rows != nullptr) to.rows[place] = -1;
    }
    if constexpr (kSends) {
      for (std::uint64_t place = first + block.thread() / kWarpLanes; place < end; place += kWarps) {
        if (is_taken(shared, place)) continue;
        for (std::uint64_t v = lane_of(block); v < vectors.divisor(); v += kWarpLanes)
          reinterpret_cast<Vector*>(out)[place * vectors.divisor() + v] = Vector{};
      }
    }
  }

  constexpr bool is_taken(const Shared& shared, std::uint64_t place) const {
    if (place >= shared.begins[buckets()]) return false;
    std::uint32_t low = 0;  // the last bucket that begins at most there
    std::uint32_t high = buckets();
    while (high - low > 1) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (shared.begins[middle] <= place) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return place - shared.begins[low] < shared.kept[low];
  }
};

}  // namespace faro::cuda
