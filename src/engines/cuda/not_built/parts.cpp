// Passes over parts in a build without CUDA.
#include "engines/cuda/host/availability.hpp"
#include "engines/cuda_parts.hpp"

namespace faro::cuda {

struct PartExecutor::State {
  faro::detail::PartPass pass;
};
PartExecutor::PartExecutor(const faro::detail::PartPass& /*pass*/, int /*device*/, int /*multiprocessors*/) {
  require_available();
}
PartExecutor::PartExecutor(PartExecutor&&) noexcept = default;
PartExecutor& PartExecutor::operator=(PartExecutor&&) noexcept = default;
PartExecutor::~PartExecutor() = default;
const faro::detail::PartPass& PartExecutor::pass() const { return state_->pass; }
void PartExecutor::run(const void* /*in*/, std::span<std::byte* const> /*arrays*/, const Slices& /*slices*/,
                       Stream /*stream*/) const {
  require_available();
}

struct PeerView::State {};
PeerView::PeerView(const StridedPlan& /*plan*/, ViewShare /*share*/) { require_available(); }
PeerView::PeerView(PeerView&&) noexcept = default;
PeerView& PeerView::operator=(PeerView&&) noexcept = default;
PeerView::~PeerView() = default;
void PeerView::run(const void* /*in*/, void* /*out*/, Stream /*stream*/) const { require_available(); }

struct SideStream::State {};
SideStream::SideStream(int /*device*/) { require_available(); }
SideStream::SideStream(SideStream&&) noexcept = default;
SideStream& SideStream::operator=(SideStream&&) noexcept = default;
SideStream::~SideStream() = default;
Stream SideStream::stream() const { return {}; }
void SideStream::follow(Stream /*other*/) { require_available(); }
void SideStream::mark(std::size_t /*k*/) { require_available(); }
void SideStream::lead(Stream /*other*/, std::size_t /*k*/) { require_available(); }

void copy_between(const void* /*from*/, void* /*to*/, std::uint64_t /*bytes*/, int /*device*/,
                  Stream /*stream*/) {
  require_available();
}
void copy_rows_between(const void* /*from*/, void* /*to*/, const CopiedRows& /*rows*/, int /*device*/,
                       Stream /*stream*/) {
  require_available();
}
PinnedArray::~PinnedArray() = default;
std::byte* PinnedArray::of_bytes(std::uint64_t /*bytes*/) {
  require_available();
  return data_;
}
void finish(int /*device*/, Stream /*stream*/) { require_available(); }
bool is_done(int /*device*/, Stream /*stream*/) {
  require_available();
  return true;
}

}  // namespace faro::cuda
