// Emitted kernels on the counting memory: a whole launch on real arrays, or one block of arrays of any size.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "emitted/emitted_kernel.hpp"
#include "faro/machine/counting_memory.hpp"
#include "faro/machine/memory_machine.hpp"

namespace faro::testing {

/// Runs all of a kernel, from `in` to `out`, and counts.
inline machine::AccessCounts run_counted(const EmittedLibrary& library, const emit::Kernel& kernel,
                                         std::span<const std::byte> in, std::span<std::byte> out,
                                         std::vector<TracedAccess>* trace = nullptr,
                                         const void* addend = nullptr) {
  using machine::CountingMemory;
  EmittedKernel<CountingMemory> emitted(library, kernel, std::max(in.size(), out.size()), 0, addend);
  emitted.trace = trace;
  CountingMemory memory({.shared_bytes = kernel.shared_bytes});
  memory.add_input(in);
  memory.add_output(out);
  memory.run_each({.blocks = kernel.blocks, .threads = emitted.threads()}, emitted.shape().phases,
                  [&](CountingMemory& m, std::uint64_t phase, std::uint64_t block, std::uint32_t thread) {
                    emitted.run_phase(m, phase, block, thread);
                  });
  if (!memory.output_complete())
    throw std::runtime_error(kernel.name + ": bytes of the output are not stored");
  return memory.counts();
}

/// One block of a kernel whose arrays may be larger than any memory; the counts are that block's.
inline machine::AccessCounts run_one_block(const EmittedLibrary& library, const emit::Kernel& kernel,
                                           std::uint64_t array_bytes, std::uint64_t block,
                                           std::vector<TracedAccess>* trace) {
  using machine::CountingMemory;
  EmittedKernel<CountingMemory> emitted(library, kernel, array_bytes, block);
  emitted.trace = trace;
  CountingMemory memory({.shared_bytes = kernel.shared_bytes});
  memory.add_virtual_input(array_bytes);
  memory.add_virtual_output(array_bytes);
  memory.run_each({.blocks = 1, .threads = emitted.threads(), .first_block = block}, emitted.shape().phases,
                  [&](CountingMemory& m, std::uint64_t phase, std::uint64_t at, std::uint32_t thread) {
                    emitted.run_phase(m, phase, at, thread);
                  });
  return memory.counts();
}

}  // namespace faro::testing
