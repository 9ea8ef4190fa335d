// Arrays of peers in a build without CUDA.
#include "engines/cuda/not_built/refusal.hpp"
#include "engines/cuda_parts.hpp"

namespace faro::cuda {

struct PeerArrays::State {};

PeerArrays::PeerArrays(int /*device*/) { refuse(); }
PeerArrays::~PeerArrays() = default;
std::string PeerArrays::address_of(void* /*array*/) { refuse(); }
std::vector<std::byte*> PeerArrays::open(std::span<const std::string> /*addresses*/) { refuse(); }

void PeerArrays::close() { refuse(); }

}  // namespace faro::cuda
