// The host's part of the permutations in shared memory: lists, sizes and launches.
#include "engines/cuda/kernels/shared_permutation.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <vector>

#include "engines/cuda/host/array_addresses.hpp"
#include "engines/cuda/host/availability.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "engines/cuda/runtime/kernel_launch.hpp"
#include "engines/cuda_measure.hpp"
#include "faro/device/conflict_free.hpp"

namespace faro::cuda {
namespace {

using kernels::PermuteWay;

constexpr const char* kPermutingShared = "permute in shared memory";

DeviceArray uploaded(const std::vector<std::uint32_t>& words, int device) {
  DeviceArray array(4 * words.size(), device);
  if (!words.empty()) array.upload(words.data());
  return array;
}

int attribute_of(cudaDeviceAttr which, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute", kPermutingShared);
  return value;
}

}  // namespace

// --- the published kernel

struct SharedPermutationBench::State {
  int device;
  KernelEntry kernel;
  DeviceArray lists;
};

SharedPermutationBench::SharedPermutationBench(std::span<const std::uint32_t> permutation, PermuteWay way,
                                               int device) {
  require_available();
  if (permutation.size() != kPermutedElements) {
    fail(ErrorCode::value, kPermutingShared, std::to_string(permutation.size()) + " elements",
         std::to_string(kPermutedElements));
  }
  const int ordinal = ordinal_of(device);
  const std::vector<std::uint32_t> lists = kernels::permutation_lists(permutation, way);
  FARO_CHECK(lists.size() == bench_shape(way).list_words);
  state_ = std::make_unique<State>(State{ordinal, permutation_bench_kernel(way), uploaded(lists, ordinal)});
}

SharedPermutationBench::SharedPermutationBench(SharedPermutationBench&&) noexcept = default;
SharedPermutationBench& SharedPermutationBench::operator=(SharedPermutationBench&&) noexcept = default;
SharedPermutationBench::~SharedPermutationBench() = default;

void SharedPermutationBench::run(const void* in, void* out, std::uint32_t blocks, std::uint32_t repeats,
                                 Stream stream) const {
  if (blocks == 0) return;
  const DeviceGuard guard(state_->device);
  const void* lists = state_->lists.data();
  void* arguments[] = {&repeats, &in, &out, &lists};
  launch(state_->kernel, blocks, arguments, stream, {.operation = kPermutingShared});
}

BlockRoom permutation_block_room(int device) {
  require_available();
  const int ordinal = ordinal_of(device);
  const DeviceGuard guard(ordinal);
  const KernelEntry kernel = permutation_bench_kernel(PermuteWay::conflict_free);
  return {.multiprocessors = attribute_of(cudaDevAttrMultiProcessorCount, ordinal),
          .blocks_each = resources_of(kernel).blocks_per_multiprocessor};
}

// --- arrays of any length

struct SharedPermuter::State {
  int device;
  KernelEntry kernel;
  kernels::TeamParams params;
  std::uint64_t array_bytes;
  std::uint64_t alignment;  // of the arrays' begin, at least
  std::uint64_t most_blocks;
  DeviceArray lists;
};

SharedPermuter::SharedPermuter(std::span<const std::uint32_t> permutation, int element_bytes, int device) {
  require_available();
  if (permutation.empty()) fail(ErrorCode::value, kPermutingShared, "no elements", "1 or more");
  const int ordinal = ordinal_of(device);
  const DeviceGuard guard(ordinal);
  const auto shared_bytes =
      static_cast<std::uint64_t>(attribute_of(cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal));
  const std::uint64_t array_bytes = permutation.size() * static_cast<std::uint64_t>(element_bytes);
  const std::string size =
      std::to_string(permutation.size()) + " elements of " + std::to_string(element_bytes) + " bytes";
  const std::string room =
      "an array that fits " + std::to_string(shared_bytes) + " bytes of shared memory twice, with its lists";
  const std::string remedy = "make a plan: faro::plan() takes arrays of any length";
  // Before the schedule of an array that is much too long is made.
  if (element_bytes > 0 && 2 * array_bytes > shared_bytes) {
    fail(ErrorCode::unsupported, kPermutingShared, size, room, remedy);
  }
  const schedule::PackedSchedule packed =
      schedule::pack(schedule::shared_schedule(permutation, element_bytes));
  const std::optional<kernels::TeamParams> params =
      kernels::make_team_params(packed, element_bytes, shared_bytes, kMostTeamThreads);
  if (!params) fail(ErrorCode::unsupported, kPermutingShared, size, room, remedy);
  KernelEntry kernel =
      permute_teams_kernel(element_bytes, packed.index_bits);  // indices of 32 bits do not fit
  kernel.threads = static_cast<int>(params->teams * params->team_threads);
  kernel.shared_bytes = static_cast<int>(kernels::team_shared_bytes(*params));
  kernel = loaded(kernel, Carveout::driver);
  const int resident = resources_of(kernel).blocks_per_multiprocessor;
  const int multiprocessors = attribute_of(cudaDevAttrMultiProcessorCount, ordinal);
  state_ = std::make_unique<State>(
      State{.device = ordinal,
            .kernel = kernel,
            .params = *params,
            .array_bytes = array_bytes,
            .alignment = static_cast<std::uint64_t>(device::shared_access_bytes(element_bytes)),
            .most_blocks = static_cast<std::uint64_t>(std::max(1, resident * multiprocessors)),
            .lists = uploaded(packed.words, ordinal)});
}

SharedPermuter::SharedPermuter(SharedPermuter&&) noexcept = default;
SharedPermuter& SharedPermuter::operator=(SharedPermuter&&) noexcept = default;
SharedPermuter::~SharedPermuter() = default;

std::uint32_t SharedPermuter::teams() const { return state_->params.teams; }

void SharedPermuter::run(const void* in, void* out, std::uint64_t arrays, Stream stream) const {
  if (arrays == 0) return;
  const DeviceGuard guard(state_->device);
  require_accessible(in, "input", state_->device);
  require_accessible(out, "output", state_->device);
  require_aligned(addresses(in, out), state_->alignment, {.operation = kPermutingShared});
  kernels::TeamParams params = state_->params;
  params.arrays = arrays;
  params.wide = (addresses(in, out) | state_->array_bytes) % kVector == 0;
  const std::uint64_t blocks = std::min((arrays + params.teams - 1) / params.teams, state_->most_blocks);
  const void* lists = state_->lists.data();
  void* arguments[] = {&params, &in, &out, &lists};
  launch(state_->kernel, blocks, arguments, stream, {.operation = kPermutingShared});
}

}  // namespace faro::cuda
