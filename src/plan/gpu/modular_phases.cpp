// Blocks of multiplications modulo a count.
#include <bit>
#include <cstddef>

#include "kernels/modular_launch.hpp"
#include "plan/gpu/block_phases.hpp"

namespace faro::detail {
namespace {

using machine::CountingMemory;

// What a multiplication's threads have in place of arrays' addresses: as ModularArray of the kernel.
template <typename T>
struct CountedElements {
  CountingMemory& memory;
  int buffer = device::kInput;
  std::uint64_t first = 0;  // of its array

  T get(std::uint64_t i) const { return memory.load_global<sizeof(T)>(buffer, (first + i) * sizeof(T)); }
  void put(std::uint64_t i, const T& value) const {
    memory.store_global<sizeof(T)>(buffer, (first + i) * sizeof(T), value);
  }
  void skip() const { memory.idle(); }
};

// In shared memory; what has several words is moved word by word.
template <typename T>
struct CountedShares {
  static constexpr std::size_t kWord = alignof(T);
  static constexpr std::size_t kWords = sizeof(T) / kWord;
  using Word = device::Packet<static_cast<int>(kWord)>;
  struct Words {
    Word word[kWords];
  };

  CountingMemory& memory;
  std::uint32_t begin = 0;  // bytes

  T get(std::uint64_t i) const {
    Words words{};
    for (std::size_t w = 0; w < kWords; ++w) words.word[w] = memory.load_shared<kWord>(address(i, w));
    return std::bit_cast<T>(words);
  }
  void put(std::uint64_t i, const T& value) const {
    const auto words = std::bit_cast<Words>(value);
    for (std::size_t w = 0; w < kWords; ++w) memory.store_shared<kWord>(address(i, w), words.word[w]);
  }
  void skip() const {
    for (std::size_t w = 0; w < kWords; ++w) memory.idle();
  }
  std::uint32_t address(std::uint64_t i, std::size_t word) const {
    return begin + static_cast<std::uint32_t>(i * sizeof(T) + word * kWord);
  }
};

// A queue that runs one block of what is given to it.
struct CountedBlock {
  CountingMemory& memory;
  std::uint64_t block;

  template <typename Kernel>
  void run(const Kernel& kernel) const {
    using Element = typename Kernel::Element;
    using Column = typename Kernel::Column;
    using Place = typename Kernel::PlaceWord;
    const typename Kernel::Work work = kernel.work_of(block);
    const CountedShares<Column> columns{memory};
    const CountedShares<Place> rows{memory, Kernel::rows_begin(*work.tiles)};
    const CountedShares<Element> stage{memory, Kernel::lines_bytes(*work.tiles)};
    const std::uint64_t first = work.array * kernel.count;
    const CountedElements<Element> from{memory, device::kInput, first};
    const CountedElements<Element> to{memory, device::kOutput, first};
    memory.run(
        {.blocks = 1, .threads = Kernel::kThreads, .first_block = block},
        [&](CountingMemory& /*the same*/, std::uint64_t /*the same*/, std::uint32_t thread) {
          kernel.list(work, thread, rows, columns);
        },
        [&](CountingMemory& /*the same*/, std::uint64_t /*the same*/, std::uint32_t thread) {
          kernel.read(work, thread, rows, stage, from);
        },
        [&](CountingMemory& /*the same*/, std::uint64_t /*the same*/, std::uint32_t thread) {
          kernel.write(work, thread, rows, columns, stage, to);
        });
  }
};

}  // namespace

bool run_modular_phases(const GpuKernel& kernel, CountingMemory& memory, std::uint64_t block) {
  const auto* const of = std::get_if<ModularKernel>(&kernel.id);
  if (of == nullptr) return false;
  CountedBlock queue{memory, block};
  kernels::multiply(queue, {.map = of->map, .element_bytes = of->element_bytes, .batch = of->batch});
  return true;
}

}  // namespace faro::detail
