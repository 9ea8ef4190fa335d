// Blocks of computed maps.

#include "kernels/computed_launch.hpp"
#include "tell/counts/block_phases.hpp"
#include "tell/counts/counted_arrays.hpp"

namespace faro::detail {
namespace {

// A queue that runs one block of what is given to it.
struct CountedPart {
  machine::CountingMemory& memory;
  std::uint64_t block;

  template <typename Kernel>
  void run(const Kernel& kernel) const {
    using Element = typename Kernel::Element;
    using Runs = CountedShares<typename Kernel::Run>;
    using Leaves = CountedShares<typename Kernel::Leaf>;
    using Orders = CountedShares<std::uint8_t>;
    const kernels::ComputedRoom at = kernel.room();
    const typename Kernel::template Lists<Runs, Leaves, Orders> lists{
        {memory}, {memory, at.leaves}, {memory, at.orders}};
    const CountedShares<Element> stage{memory, at.stage};
    const CountedElements<Element> from{memory, device::kInput};
    const CountedElements<Element> to{memory, device::kOutput};
    const typename Kernel::Work work = kernel.work_of(block);
    memory.run(
        {.blocks = 1, .threads = Kernel::kThreads, .first_block = block},
        [&](machine::CountingMemory& /*the same*/, std::uint64_t /*the same*/, std::uint32_t thread) {
          kernel.list(work, thread, lists);
        },
        [&](machine::CountingMemory& /*the same*/, std::uint64_t /*the same*/, std::uint32_t thread) {
          kernel.read(work, thread, lists, stage, from);
        },
        [&](machine::CountingMemory& /*the same*/, std::uint64_t /*the same*/, std::uint32_t thread) {
          kernel.write(work, thread, lists, stage, to);
        });
  }
};

}  // namespace

bool run_computed_phases(const GpuKernel& kernel, machine::CountingMemory& memory, std::uint64_t block) {
  const auto* const of = std::get_if<ComputedKernel>(&kernel.id);
  if (of == nullptr) return false;
  CountedPart queue{memory, block};
  kernels::move_computed(queue, {.map = of->map, .element_bytes = of->element_bytes, .batch = of->batch});
  return true;
}

}  // namespace faro::detail
