// NCCL in a build without CUDA. A file of its own, for tests put others in its place.
#include "engines/cuda/host/availability.hpp"
#include "engines/cuda_nccl.hpp"

namespace faro::cuda {

std::string nccl_unique_id() {
  require_available();
  return {};
}

NcclLink::NcclLink(ncclComm* comm) : comm_(comm) { require_available(); }
NcclLink::NcclLink(int device, const std::string& /*unique_id*/, const Ranks& ranks)
    : ranks_(ranks), device_(device) {
  require_available();
}
NcclLink::~NcclLink() = default;
void NcclLink::begin() const { require_available(); }
void NcclLink::send(const std::byte* /*from*/, std::uint64_t /*bytes*/, int /*peer*/,
                    Stream /*stream*/) const {
  require_available();
}
void NcclLink::receive(std::byte* /*to*/, std::uint64_t /*bytes*/, int /*peer*/, Stream /*stream*/) const {
  require_available();
}
void NcclLink::keep(const std::byte* /*from*/, std::byte* /*to*/, std::uint64_t /*bytes*/,
                    Stream /*stream*/) const {
  require_available();
}
NcclLink::Memory::Memory(const NcclLink& link, std::uint64_t /*bytes*/) : link_(link) { require_available(); }
NcclLink::Memory::~Memory() { static_cast<void>(link_); }
void NcclLink::look() const { require_available(); }
void NcclLink::end() const { require_available(); }
void NcclLink::abort() noexcept { owned_ = false; }

}  // namespace faro::cuda
