// The host's part of the permutations in shared memory: lists, sizes and launches.
#include "cuda/shared_permutation.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "cuda/device.hpp"
#include "cuda/shared_permutation_kernels.hpp"
#include "faro/device/conflict_free.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"

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
  return papers::attribute(which, device, kPermutingShared);
}

constexpr std::uint64_t kVectorBytes = 16;  // the widest access

std::uintptr_t addresses(const void* in, const void* out) {
  return reinterpret_cast<std::uintptr_t>(in) | reinterpret_cast<std::uintptr_t>(out);
}

void require_alignment(std::uintptr_t all, std::uint64_t bytes) {
  if (all % bytes == 0) return;
  fail(ErrorCode::value, kPermutingShared, "arrays aligned to " + std::to_string(all & (~all + 1)) + " bytes",
       "arrays aligned to " + std::to_string(bytes) + " bytes");
}

}  // namespace

// --- the published kernel

struct SharedPermutationBench::State {
  int device;
  papers::BlockKernel kernel;
  DeviceArray lists;
};

SharedPermutationBench::SharedPermutationBench(std::span<const std::uint32_t> permutation, PermuteWay way,
                                               int device) {
  papers::require_cuda();
  if (permutation.size() != kPermutedElements) {
    fail(ErrorCode::value, kPermutingShared, std::to_string(permutation.size()) + " elements",
         std::to_string(kPermutedElements));
  }
  const int ordinal = papers::ordinal(device);
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
  const papers::CurrentDevice guard(state_->device);
  const void* lists = state_->lists.data();
  void* arguments[] = {&repeats, &in, &out, &lists};
  papers::queue(state_->kernel, blocks, arguments, stream, kPermutingShared);
}

BlockRoom permutation_block_room(int device) {
  papers::require_cuda();
  const int ordinal = papers::ordinal(device);
  const papers::CurrentDevice guard(ordinal);
  const papers::BlockKernel kernel = permutation_bench_kernel(PermuteWay::conflict_free);
  return {.multiprocessors = attribute_of(cudaDevAttrMultiProcessorCount, ordinal),
          .blocks_each = papers::blocks_of_multiprocessor(kernel, kPermutingShared)};
}

// --- arrays of any length

struct SharedPermuter::State {
  int device;
  papers::BlockKernel kernel;
  kernels::TeamParams params;
  std::uint64_t array_bytes;
  std::uint64_t alignment;  // of the arrays' begin, at least
  std::uint64_t most_blocks;
  DeviceArray lists;
};

SharedPermuter::SharedPermuter(std::span<const std::uint32_t> permutation, int element_bytes, int device) {
  papers::require_cuda();
  if (permutation.empty()) fail(ErrorCode::value, kPermutingShared, "no elements", "1 or more");
  const int ordinal = papers::ordinal(device);
  const papers::CurrentDevice guard(ordinal);
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
  papers::BlockKernel kernel =
      permute_teams_kernel(element_bytes, packed.index_bits);  // indices of 32 bits do not fit
  kernel.threads = static_cast<int>(params->teams * params->team_threads);
  kernel.shared_bytes = static_cast<int>(kernels::team_shared_bytes(*params));
  papers::allow_shared_bytes(kernel, kPermutingShared);
  const int resident = papers::blocks_of_multiprocessor(kernel, kPermutingShared);
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
  const papers::CurrentDevice guard(state_->device);
  papers::require_on_device(in, "input", state_->device, kPermutingShared);
  papers::require_on_device(out, "output", state_->device, kPermutingShared);
  require_alignment(addresses(in, out), state_->alignment);
  kernels::TeamParams params = state_->params;
  params.arrays = arrays;
  params.wide = (addresses(in, out) | state_->array_bytes) % kVectorBytes == 0;
  const std::uint64_t blocks = std::min((arrays + params.teams - 1) / params.teams, state_->most_blocks);
  const void* lists = state_->lists.data();
  void* arguments[] = {&params, &in, &out, &lists};
  papers::queue(state_->kernel, blocks, arguments, stream, kPermutingShared);
}

}  // namespace faro::cuda
