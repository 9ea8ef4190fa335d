#include "reproduce/offline_kernel.hpp"

#include <bit>
#include <numeric>
#include <utility>

#include "faro/error.hpp"
#include "faro/layout/shared.hpp"
#include "faro/machine/counting_memory.hpp"
#include "kernels/shared_permutation_params.hpp"

namespace faro::reproduce {
namespace {

constexpr std::uint32_t kElements = kOfflineElements;
constexpr int kBits = std::countr_zero(kElements);
constexpr std::uint64_t kPermutedBytes = 4;

std::vector<std::uint32_t> listed(std::uint32_t (*target)(std::uint32_t)) {
  std::vector<std::uint32_t> list(kElements);
  for (std::uint32_t i = 0; i < kElements; ++i) list[i] = target(i);
  return list;
}

std::uint32_t transposed(std::uint32_t i) {
  return i % kOfflineWidth * (kElements / kOfflineWidth) + i / kOfflineWidth;
}

std::uint32_t shuffled(std::uint32_t i) { return (i << 1) % kElements + (i >> (kBits - 1)); }

std::uint32_t reversed(std::uint32_t i) {
  std::uint32_t result = 0;
  for (int b = 0; b < kBits; ++b) result |= (i >> b & 1) << (kBits - 1 - b);
  return result;
}

std::vector<std::uint32_t> random_list(std::uint64_t seed) {
  std::vector<std::uint32_t> list(kElements);
  std::iota(list.begin(), list.end(), 0U);
  layout::SplitMix64 random{seed};
  for (std::uint32_t i = kElements; i > 1; --i) std::swap(list[i - 1], list[random.below(i)]);
  return list;
}

// Passes all on to the counting memory, and notes the accesses of shared memory by array.
class Watcher {
 public:
  Watcher(machine::CountingMemory& memory, std::uint32_t array_bytes, OfflineAccesses& accesses)
      : memory_(memory), array_bytes_(array_bytes), accesses_(accesses) {}

  template <int bytes>
  device::Packet<bytes> load_global(int buffer, std::uint64_t offset) {
    return memory_.load_global<bytes>(buffer, offset);
  }
  template <int bytes>
  void store_global(int buffer, std::uint64_t offset, const device::Packet<bytes>& packet) {
    memory_.store_global<bytes>(buffer, offset, packet);
  }
  template <int bytes>
  device::Packet<bytes> load_shared(std::uint32_t address) {
    const bool is_a = address < array_bytes_;
    FARO_CHECK(is_a || address >= 2 * array_bytes_);  // b is never read
    (is_a ? accesses_.reads_a : accesses_.reads_lists).push_back(address / kPermutedBytes);
    return memory_.load_shared<bytes>(address);
  }
  template <int bytes>
  void store_shared(std::uint32_t address, const device::Packet<bytes>& packet) {
    FARO_CHECK(address >= array_bytes_ && address < 2 * array_bytes_);
    accesses_.writes_b.push_back((address - array_bytes_) / kPermutedBytes);
    memory_.store_shared<bytes>(address, packet);
  }
  void idle() { memory_.idle(); }

 private:
  machine::CountingMemory& memory_;
  std::uint32_t array_bytes_;
  OfflineAccesses& accesses_;
};

template <PermuteWay way>
OfflineAccesses accesses_of(std::span<const std::uint32_t> permutation) {
  static constexpr kernels::PermuteShape shape = kernels::permute_shape(way, kElements, kElements);
  const std::vector<std::uint32_t> lists = kernels::permutation_lists(permutation, way);
  std::vector<std::uint32_t> in(kElements);
  std::vector<std::uint32_t> out(kElements);
  std::iota(in.begin(), in.end(), 1U);
  OfflineAccesses accesses;
  machine::CountingMemory memory({.shared_bytes = shape.shared_bytes()});
  memory.add_input(std::as_bytes(std::span(in)));
  memory.add_output(std::as_writable_bytes(std::span(out)));
  memory.add_input(std::as_bytes(std::span(lists)));
  memory.run(
      {.blocks = 1, .threads = shape.threads},
      [](auto& m, std::uint64_t block, std::uint32_t thread) {
        kernels::fill_permutation<shape>(m, block, thread);
      },
      [&](auto& m, std::uint64_t /*block*/, std::uint32_t thread) {
        const auto held = kernels::held_moves<way, shape>(m, thread);
        Watcher watcher(m, shape.array_bytes(), accesses);
        kernels::permute<way, shape>(watcher, held, thread);
      },
      [](auto& m, std::uint64_t block, std::uint32_t thread) {
        kernels::drain_permutation<shape>(m, block, thread);
      });
  for (std::uint32_t i = 0; i < kElements; ++i) {
    accesses.misplaced += out[way == PermuteWay::copy ? i : permutation[i]] != in[i] ? 1 : 0;
  }
  return accesses;
}

}  // namespace

std::string_view name_of(PermuteWay way) {
  constexpr std::array<std::string_view, 6> names{
      "copy", "D", "S", "conflict-free", "conflict-free, 10-bit lists", "conflict-free, lists in registers"};
  return names[static_cast<std::size_t>(way)];
}

std::array<OfflinePermutation, kOfflinePermutations> offline_permutations(std::uint64_t seed) {
  return {{{"identical", listed([](std::uint32_t i) { return i; })},
           {"random", random_list(seed)},
           {"transpose", listed(transposed)},
           {"shuffle", listed(shuffled)},
           {"bit reversal", listed(reversed)}}};
}

OfflineAccesses offline_accesses(PermuteWay way, std::span<const std::uint32_t> permutation) {
  FARO_CHECK(permutation.size() == kElements);
  switch (way) {
    case PermuteWay::copy:
      return accesses_of<PermuteWay::copy>(permutation);
    case PermuteWay::d_designated:
      return accesses_of<PermuteWay::d_designated>(permutation);
    case PermuteWay::s_designated:
      return accesses_of<PermuteWay::s_designated>(permutation);
    case PermuteWay::conflict_free:
      return accesses_of<PermuteWay::conflict_free>(permutation);
    case PermuteWay::packed:
      return accesses_of<PermuteWay::packed>(permutation);
    case PermuteWay::held:
      return accesses_of<PermuteWay::held>(permutation);
  }
  return {};
}

}  // namespace faro::reproduce
