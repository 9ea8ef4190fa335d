// The published kernels of a build without CUDA: it says so.
#include <cstdlib>

#include "cuda/shared_permutation.hpp"
#include "cuda/shared_transpose.hpp"

namespace faro::cuda {
namespace {

// Errors: ErrorCode::device.
[[noreturn]] void refuse() {
  static_cast<void>(target());
  std::abort();  // which is not reached
}

}  // namespace

void run(const SharedTranspose& /*transpose*/, const void* /*in*/, void* /*out*/, std::uint32_t /*blocks*/,
         std::uint32_t /*repeats*/, Stream /*stream*/) {
  refuse();
}

double time_ns(const SharedTranspose& /*transpose*/, int /*device*/) { refuse(); }

struct SharedPermutationBench::State {};

SharedPermutationBench::SharedPermutationBench(std::span<const std::uint32_t> /*permutation*/,
                                               kernels::PermuteWay /*way*/, int /*device*/) {
  refuse();
}
SharedPermutationBench::SharedPermutationBench(SharedPermutationBench&&) noexcept = default;
SharedPermutationBench& SharedPermutationBench::operator=(SharedPermutationBench&&) noexcept = default;
SharedPermutationBench::~SharedPermutationBench() = default;

void SharedPermutationBench::run(const void* /*in*/, void* /*out*/, std::uint32_t /*blocks*/,
                                 std::uint32_t /*repeats*/, Stream /*stream*/) const {
  refuse();
}

BlockRoom permutation_block_room(int /*device*/) { refuse(); }

struct SharedPermuter::State {};

SharedPermuter::SharedPermuter(std::span<const std::uint32_t> /*permutation*/, int /*element_bytes*/,
                               int /*device*/) {
  refuse();
}
SharedPermuter::SharedPermuter(SharedPermuter&&) noexcept = default;
SharedPermuter& SharedPermuter::operator=(SharedPermuter&&) noexcept = default;
SharedPermuter::~SharedPermuter() = default;

void SharedPermuter::run(const void* /*in*/, void* /*out*/, std::uint64_t /*arrays*/,
                         Stream /*stream*/) const {
  refuse();
}

std::uint32_t SharedPermuter::teams() const { return 0; }

}  // namespace faro::cuda
