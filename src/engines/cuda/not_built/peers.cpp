// Peers in a build without CUDA. A file of its own, for tests put others in its place.
#include "engines/cuda/host/availability.hpp"
#include "engines/cuda_parts.hpp"

namespace faro::cuda {

struct PeerEnd::State {};

PeerEnd::PeerEnd(int /*device*/, const std::vector<int>& /*others*/) { require_available(); }
PeerEnd::~PeerEnd() = default;
int PeerEnd::device() const { return 0; }
bool PeerEnd::reaches_all() const { return false; }
void PeerEnd::mark_ready(Stream /*stream*/) { require_available(); }
void PeerEnd::mark_copied(Stream /*stream*/) { require_available(); }
void PeerEnd::wait_until_ready(const PeerEnd& /*other*/, Stream /*stream*/) const { require_available(); }
void PeerEnd::wait_until_copied(const PeerEnd& /*other*/, Stream /*stream*/) const { require_available(); }
void PeerEnd::copy(const std::byte* /*from*/, int /*from_device*/, std::byte* /*to*/, std::uint64_t /*bytes*/,
                   Stream /*stream*/) const {
  require_available();
}

}  // namespace faro::cuda
