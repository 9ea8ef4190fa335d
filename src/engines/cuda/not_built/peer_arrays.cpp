// Arrays of peers in a build without CUDA.
#include "engines/cuda/host/availability.hpp"
#include "engines/cuda_parts.hpp"

namespace faro::cuda {

struct PeerArrays::State {};

PeerArrays::PeerArrays(int /*device*/) { require_available(); }
PeerArrays::~PeerArrays() = default;
std::string PeerArrays::address_of(void* /*array*/) {
  require_available();
  return {};
}
std::vector<std::byte*> PeerArrays::open(std::span<const std::string> /*addresses*/) {
  require_available();
  return {};
}

void PeerArrays::close() { require_available(); }

}  // namespace faro::cuda
