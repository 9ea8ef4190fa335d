// Ragged rows by a plan, of either engine.
#include "engines/cpu/rows/segments.hpp"

#include <algorithm>
#include <string>

#include "api/array_checks.hpp"
#include "engines/cuda/host/device_pointer.hpp"
#include "engines/cuda_rows.hpp"
#include "faro/error.hpp"
#include "faro/rows.hpp"
#include "permutation/route_checks.hpp"

namespace faro {
namespace {

constexpr const char* kTakingSegments = "take segments";

// Whether the engine is cuda. Offsets and numbers lie in one memory.
bool segments_on_device(const Segments& segments, const RowNumbers& from, Engine engine) {
  const bool offsets_there = segments.offsets.count > 0 && cuda::is_device_memory(segments.offsets.data);
  const bool numbers_there = from.count > 0 && cuda::is_device_memory(from.data);
  if (engine == Engine::cuda || (engine == Engine::automatic && offsets_there)) return true;
  if (offsets_there || numbers_there) {
    fail(ErrorCode::value, kTakingSegments,
         std::string(offsets_there ? "offsets" : "segments") + " in the memory of a device",
         "memory of the host", "engine cuda takes segments there, with all lists on the device");
  }
  return false;
}

void require_segment_bytes(std::uint64_t bytes, std::uint64_t element_bytes) {
  if (bytes % element_bytes == 0) return;
  fail(ErrorCode::value, kTakingSegments, "an array of " + std::to_string(bytes) + " bytes",
       "a multiple of " + std::to_string(element_bytes) + " bytes");
}

void require_least_bytes(const char* which, std::uint64_t bytes, std::uint64_t least) {
  if (bytes >= least) return;
  fail(ErrorCode::value, kTakingSegments,
       std::string("an ") + which + " of " + std::to_string(bytes) + " bytes",
       "at least " + std::to_string(least) + " bytes");
}

}  // namespace

ExecutableSegments::ExecutableSegments(const Segments& segments, const RowNumbers& from,
                                       const SegmentOptions& options)
    : element_bytes_(segments.element_bytes),
      threads_(options.threads),
      offsets_(segments.offsets),
      from_(from) {
  if (segments_on_device(segments, from, options.engine)) {
    on_device_ = std::make_shared<const cuda::SegmentsExecutor>(segments, from, options.device);
  } else {
    on_host_ = std::make_shared<const cpu::SegmentMoves>(segments, from);
  }
}

std::uint64_t ExecutableSegments::workspace_bytes() const {
  return on_device_ == nullptr ? 0 : on_device_->workspace_bytes();
}

std::uint64_t ExecutableSegments::elements() const {
  if (on_host_ != nullptr) return on_host_->begins().back();
  fail(ErrorCode::unsupported, kTakingSegments, "a question for the number of elements on a device",
       "offsets(), which writes it there", "the host does not read what lies on the device");
}

void ExecutableSegments::require(std::span<const std::byte> in, std::span<const std::byte> out,
                                 const std::int64_t* offsets, Stream stream) const {
  detail::check_stream(on_gpu() ? Engine::cuda : Engine::cpu, stream);
  require_segment_bytes(in.size(), element_bytes_);
  require_segment_bytes(out.size(), element_bytes_);
  for (const auto& array : {in, out}) {
    if (!array.empty() && array.data() == nullptr)
      fail(ErrorCode::value, kTakingSegments, "a null pointer", "an array");
  }
  const std::uint64_t taken = from_.count + 1;
  const detail::RunArray outputs[] = {
      {"output", detail::laid(out)},
      {"its offsets", {offsets, offsets == nullptr ? 0 : taken * sizeof(std::int64_t)}}};
  const detail::RunArray inputs[] = {{"input", detail::laid(in)},
                                     {"offsets", on_gpu() ? detail::laid(offsets_) : detail::LaidArray{}},
                                     {"segments", on_gpu() ? detail::laid(from_) : detail::LaidArray{}}};
  detail::check_disjoint(kTakingSegments, outputs, inputs);
  if (on_gpu()) return;
  detail::check_on_host(in.data(), out.data(), "plan with the lists on the device");
  require_least_bytes("input", in.size(), on_host_->least_elements() * element_bytes_);
  require_least_bytes("output", out.size(), elements() * element_bytes_);
}

void ExecutableSegments::offsets(std::uint64_t in_bytes, std::int64_t* to, Stream stream) const {
  detail::check_stream(on_gpu() ? Engine::cuda : Engine::cpu, stream);
  require_segment_bytes(in_bytes, element_bytes_);
  if (to == nullptr) fail(ErrorCode::value, kTakingSegments, "a null pointer", "an array of offsets");
  if (on_gpu()) return on_device_->offsets(in_bytes / element_bytes_, to, stream);
  require_least_bytes("input", in_bytes, on_host_->least_elements() * element_bytes_);
  std::copy(on_host_->begins().begin(), on_host_->begins().end(), to);
}

void ExecutableSegments::run(std::span<const std::byte> in, std::span<std::byte> out, std::int64_t* offsets,
                             Stream stream) const {
  require(in, out, offsets, stream);
  if (on_gpu()) return on_device_->run(in, out, offsets, stream, nullptr);
  on_host_->run(in.data(), out.data(), threads_);
  if (offsets != nullptr) this->offsets(in.size(), offsets);
}

void ExecutableSegments::run(std::span<const std::byte> in, std::span<std::byte> out, std::int64_t* offsets,
                             Workspace workspace, Stream stream) const {
  if (!on_gpu()) fail(ErrorCode::value, kTakingSegments, "a workspace for engine cpu", "none");
  require(in, out, offsets, stream);
  detail::check_workspace(workspace, {.bytes = workspace_bytes(), .on_gpu = true}, in.data(), out.data(), 0);
  on_device_->run(in, out, offsets, stream, workspace.data);
}

void ExecutableSegments::check(Stream stream) const {
  detail::check_stream(on_gpu() ? Engine::cuda : Engine::cpu, stream);
  if (on_gpu()) on_device_->check(stream);
}

ExecutableSegments plan_segments(const Segments& segments, const RowNumbers& from,
                                 const SegmentOptions& options) {
  return {segments, from, options};
}

}  // namespace faro
