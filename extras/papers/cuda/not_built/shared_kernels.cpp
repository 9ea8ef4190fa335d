// The published kernels of a build without CUDA: it says so.
#include "cuda/shared_permutation.hpp"
#include "cuda/shared_transpose.hpp"
#include "engines/cuda/absent.hpp"

namespace faro::cuda {

FARO_ABSENT(void run(const SharedTranspose&, const void*, void*, std::uint32_t, std::uint32_t, Stream));
FARO_ABSENT(double time_ns(const SharedTranspose&, int));

FARO_ABSENT_MOVABLE(SharedPermutationBench);
FARO_ABSENT(SharedPermutationBench::SharedPermutationBench(std::span<const std::uint32_t>,
                                                           kernels::PermuteWay, int));
FARO_ABSENT(void SharedPermutationBench::run(const void*, void*, std::uint32_t, std::uint32_t, Stream) const);
FARO_ABSENT(BlockRoom permutation_block_room(int));

FARO_ABSENT_MOVABLE(SharedPermuter);
FARO_ABSENT(SharedPermuter::SharedPermuter(std::span<const std::uint32_t>, int, int));
FARO_ABSENT(void SharedPermuter::run(const void*, void*, std::uint64_t, Stream) const);
FARO_ABSENT(std::uint32_t SharedPermuter::teams() const);

}  // namespace faro::cuda
