// Peers in a build without CUDA. A file of its own, for tests put others in its place.
#include "engines/cuda/not_built/refusal.hpp"
#include "engines/cuda_parts.hpp"

namespace faro::cuda {

struct PeerEnd::State {};

PeerEnd::PeerEnd(int /*device*/, const std::vector<int>& /*others*/) { refuse(); }
PeerEnd::~PeerEnd() = default;
int PeerEnd::device() const { return 0; }
bool PeerEnd::reaches_all() const { return false; }
void PeerEnd::mark_ready(Stream /*stream*/) { refuse(); }
void PeerEnd::mark_copied(Stream /*stream*/) { refuse(); }
void PeerEnd::wait_until_ready(const PeerEnd& /*other*/, Stream /*stream*/) const { refuse(); }
void PeerEnd::wait_until_copied(const PeerEnd& /*other*/, Stream /*stream*/) const { refuse(); }
void PeerEnd::copy(const std::byte* /*from*/, int /*from_device*/, std::byte* /*to*/, std::uint64_t /*bytes*/,
                   Stream /*stream*/) const {
  refuse();
}

}  // namespace faro::cuda
