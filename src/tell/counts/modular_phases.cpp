// Blocks of multiplications modulo a count.

#include "kernels/modular_launch.hpp"
#include "tell/counts/block_phases.hpp"
#include "tell/counts/counted_arrays.hpp"

namespace faro::detail {
namespace {

using machine::CountingMemory;

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
          if constexpr (!Kernel::kCopied) return kernel.read(work, thread, rows, stage, from);
          kernel.copy(work, thread, rows, [&](std::uint32_t slot, std::uint64_t at) {
            memory.copy_past_registers<sizeof(Element)>(device::kInput, (first + at) * sizeof(Element),
                                                        stage.address(slot, 0));
          });
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
