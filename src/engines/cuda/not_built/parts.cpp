// Passes over parts in a build without CUDA.
#include "engines/cuda/not_built/refusal.hpp"
#include "engines/cuda_parts.hpp"
#include "faro/engines/cuda_measure.hpp"

namespace faro::cuda {

struct PartExecutor::State {
  faro::detail::PartPass pass;
};
PartExecutor::PartExecutor(const faro::detail::PartPass& /*pass*/, int /*device*/, int /*multiprocessors*/) {
  refuse();
}
PartExecutor::PartExecutor(PartExecutor&&) noexcept = default;
PartExecutor& PartExecutor::operator=(PartExecutor&&) noexcept = default;
PartExecutor::~PartExecutor() = default;
const faro::detail::PartPass& PartExecutor::pass() const { return state_->pass; }
void PartExecutor::run(const void* /*in*/, std::span<std::byte* const> /*arrays*/, const Slices& /*slices*/,
                       Stream /*stream*/) const {
  refuse();
}

FARO_NOT_BUILT(PeerView);
PeerView::PeerView(const Plan& /*plan*/, ViewShare /*share*/) { refuse(); }
void PeerView::run(const void* /*in*/, void* /*out*/, Stream /*stream*/) const { refuse(); }

FARO_NOT_BUILT(SideStream);
SideStream::SideStream(int /*device*/) { refuse(); }
SideStream::SideStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
std::optional<SideStream> SideStream::on_few(int /*device*/, int /*multiprocessors*/) { return std::nullopt; }
Stream SideStream::stream() const { return {}; }
void SideStream::follow(Stream /*other*/) { refuse(); }
void SideStream::mark(std::size_t /*k*/) { refuse(); }
void SideStream::lead(Stream /*other*/, std::size_t /*k*/) { refuse(); }

void copy_between(const void* /*from*/, void* /*to*/, std::uint64_t /*bytes*/, int /*device*/,
                  Stream /*stream*/) {
  refuse();
}
void copy_rows_between(const void* /*from*/, void* /*to*/, const CopiedRows& /*rows*/, int /*device*/,
                       Stream /*stream*/) {
  refuse();
}
PinnedArray::~PinnedArray() { static_cast<void>(data_); }
std::byte* PinnedArray::of_bytes(std::uint64_t /*bytes*/) { refuse(); }
void finish(int /*device*/, Stream /*stream*/) { refuse(); }
bool is_done(int /*device*/, Stream /*stream*/) { refuse(); }

}  // namespace faro::cuda
