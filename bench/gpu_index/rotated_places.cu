#include "bench/gpu/runtime.hpp"
#include "bench/gpu_index/rotated_places.hpp"
#include "engines/cuda/kernels/index_memory.cuh"
#include "kernels/partition.hpp"
#include "kernels/partition_runs.hpp"

namespace faro::bench::gpu {
namespace {

constexpr int kThreads = 512;
constexpr int kLaneBits = 5;
constexpr std::uint32_t kRowBytes = 128;

extern __shared__ __align__(16) std::byte rotated_chunk[];

/// Words of the chunk turn within their row; what lies behind the chunk, the runs' descriptors, stays.
struct Rotated : cuda::Streamed {
  RowShifts shifts;
  std::uint32_t chunk_bytes;

  __device__ std::uint32_t turned(std::uint32_t address) const {
    if (address >= chunk_bytes) return address;
    const std::uint32_t row = address / kRowBytes;
    return row * kRowBytes + (address + 4 * shifts[row % 32]) % kRowBytes;
  }
  template <int bytes>
  __device__ device::Packet<bytes> load_shared(std::uint32_t address) const {
    return cuda::Streamed::load_shared<bytes>(turned(address));
  }
  template <int bytes>
  __device__ void store_shared(std::uint32_t address, const device::Packet<bytes>& packet) const {
    cuda::Streamed::store_shared<bytes>(turned(address), packet);
  }
};

// A template for the reason that src/engines/cuda/kernels/kernels.cu gives.
template <int lane_bits>
__global__ void __launch_bounds__(kThreads, 3)
    spread_rotated(const __grid_constant__ kernels::PartitionParams params,
                   const __grid_constant__ RowShifts shifts, const std::byte* in, std::byte* out,
                   cuda::IndexTables tables) {
  Rotated memory{{in, out, rotated_chunk, tables}, shifts, params.starts_at};
  kernels::load_descriptors(memory, params, blockIdx.x, threadIdx.x, kThreads);
  kernels::load_placed<4, true>(memory, params, blockIdx.x, threadIdx.x, kThreads);
  memory.wait();
  __syncthreads();
  kernels::store_runs<4, true, lane_bits>(memory, params, blockIdx.x, threadIdx.x, kThreads);
}

}  // namespace

void queue_rotated_level(const kernels::PartitionParams& params, const LevelTables& tables,
                         const RowShifts& shifts, const void* in, void* out, Stream stream) {
  const auto bytes = static_cast<unsigned>(kernels::chunk_shared_bytes(params, 4));
  check_cuda(cudaFuncSetAttribute(spread_rotated<kLaneBits>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(bytes)),
             "cudaFuncSetAttribute");
  const cuda::IndexTables of_level{static_cast<const std::byte*>(tables.places),
                                   static_cast<const std::byte*>(tables.starts),
                                   static_cast<const std::byte*>(tables.offsets)};
  spread_rotated<kLaneBits><<<static_cast<unsigned>(params.chunks), kThreads, bytes, stream.handle()>>>(
      params, shifts, static_cast<const std::byte*>(in), static_cast<std::byte*>(out), of_level);
  check_cuda(cudaGetLastError(), "cudaLaunchKernel");
}

}  // namespace faro::bench::gpu
