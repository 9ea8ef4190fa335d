// The permutations in shared memory of a build without CUDA: they say so.
#include "engines/cuda/availability.hpp"
#include "engines/cuda_shared_permutation.hpp"

namespace faro::cuda {

struct SharedPermutationBench::State {};

SharedPermutationBench::SharedPermutationBench(std::span<const std::uint32_t> /*permutation*/,
                                               kernels::PermuteWay /*way*/, int /*device*/) {
  require_available();
}
SharedPermutationBench::SharedPermutationBench(SharedPermutationBench&&) noexcept = default;
SharedPermutationBench& SharedPermutationBench::operator=(SharedPermutationBench&&) noexcept = default;
SharedPermutationBench::~SharedPermutationBench() = default;

void SharedPermutationBench::run(const void* /*in*/, void* /*out*/, std::uint32_t /*blocks*/,
                                 std::uint32_t /*repeats*/, Stream /*stream*/) const {
  require_available();
}

BlockRoom permutation_block_room(int /*device*/) {
  require_available();
  return {};
}

struct SharedPermuter::State {};

SharedPermuter::SharedPermuter(std::span<const std::uint32_t> /*permutation*/, int /*element_bytes*/,
                               int /*device*/) {
  require_available();
}
SharedPermuter::SharedPermuter(SharedPermuter&&) noexcept = default;
SharedPermuter& SharedPermuter::operator=(SharedPermuter&&) noexcept = default;
SharedPermuter::~SharedPermuter() = default;

void SharedPermuter::run(const void* /*in*/, void* /*out*/, std::uint64_t /*arrays*/,
                         Stream /*stream*/) const {
  require_available();
}

std::uint32_t SharedPermuter::teams() const { return 0; }

}  // namespace faro::cuda
