// NCCL in a build without CUDA. A file of its own, for tests put others in its place.
#include "engines/cuda/not_built/refusal.hpp"
#include "engines/cuda_nccl.hpp"

namespace faro::cuda {

std::string nccl_unique_id() { refuse(); }

NcclLink::NcclLink(ncclComm* comm) : comm_(comm) { refuse(); }
NcclLink::NcclLink(int device, const std::string& /*unique_id*/, const Ranks& ranks)
    : ranks_(ranks), device_(device) {
  refuse();
}
NcclLink::~NcclLink() = default;
void NcclLink::begin() const { refuse(); }
void NcclLink::send(const std::byte* /*from*/, std::uint64_t /*bytes*/, int /*peer*/,
                    Stream /*stream*/) const {
  refuse();
}
void NcclLink::receive(std::byte* /*to*/, std::uint64_t /*bytes*/, int /*peer*/, Stream /*stream*/) const {
  refuse();
}
void NcclLink::keep(const std::byte* /*from*/, std::byte* /*to*/, std::uint64_t /*bytes*/,
                    Stream /*stream*/) const {
  refuse();
}
NcclLink::Memory::Memory(const NcclLink& link, std::uint64_t /*bytes*/) : link_(link) { refuse(); }
NcclLink::Memory::~Memory() { static_cast<void>(link_); }
void NcclLink::look() const { refuse(); }
void NcclLink::end() const { refuse(); }
void NcclLink::abort() noexcept { owned_ = false; }

}  // namespace faro::cuda
