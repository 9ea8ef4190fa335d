// The queue of row work on a device (row_queue.hpp): a stream of the caller's.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "engines/cuda/kernels/value_kernels.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/runtime/kernel_launch.hpp"
#include "faro/stream.hpp"

namespace faro::cuda {

class RowStream {
 public:
  /// `operation`: what errors say was being done.
  RowStream(Stream stream, const char* operation) : stream_(stream), operation_(operation) {}

  void fill(void* to, int byte, std::uint64_t bytes) {
    if (bytes == 0) return;
    check(cudaMemsetAsync(to, byte, bytes, stream_.handle()), "cudaMemsetAsync", operation_);
    begun_ = true;
    follows_ = false;
  }

  /// Kernels that follow one another begin while those before end (value_kernel.cuh).
  template <typename Kernel>
  void run(Kernel kernel) {
    const std::uint64_t blocks = kernel.blocks();
    if (blocks == 0) return;
    require_grid(blocks, operation_, "fewer rows at a time");
    KernelEntry entry{.function = value_kernel<Kernel>(),
                      .threads = static_cast<int>(Kernel::kThreads),
                      .shared_bytes = static_cast<int>(kernel.shared_bytes())};
    entry.early = follows_ && launches_early(entry.function);
    void* arguments[] = {&kernel};
    // What needs no more than any kernel may take is not asked for at every launch.
    constexpr int kDefaultSharedBytes = 48 << 10;
    const bool large = entry.shared_bytes > kDefaultSharedBytes;
    launch(large ? loaded(entry, Carveout::driver) : entry, blocks, arguments, stream_,
           {.operation = operation_, .begun = begun_});
    begun_ = true;
    follows_ = true;
  }

 private:
  Stream stream_;
  const char* operation_;
  bool begun_ = false;
  bool follows_ = false;  // a kernel
};

}  // namespace faro::cuda
