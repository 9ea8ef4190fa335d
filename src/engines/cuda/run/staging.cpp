// Host arrays through the device. Each slot has a piece in flight, with buffers and a stream of its own:
//
//     threads   gather 0 | gather 1 | gather 2, scatter 0 | gather 3, scatter 1 | …
//     upload               0          1          2                     3
//     kernels                  0          1          2
//     download                    0          1          2
//
// The host's threads are the ones that are always busy: they move every byte twice, the device's copies and
// kernels once each and at the same time.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "disjoint.hpp"
#include "engines/cpu/copy_kernel.hpp"
#include "engines/cuda/host/availability.hpp"
#include "engines/cuda/host/pieces.hpp"
#include "engines/cuda/run/loaded_passes.hpp"
#include "engines/cuda/run/staging_memory.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/threads.hpp"

namespace faro::cuda {
namespace {

// Declared so that the stream is drained before the buffers go.
struct Slot {
  explicit Slot(std::uint64_t bytes)
      : device_in(device_memory(bytes)),
        device_out(device_memory(bytes)),
        host_in(pinned_memory(bytes)),
        host_out(pinned_memory(bytes)) {}

  DeviceMemory device_in;  // refused sooner than pinned memory is found
  DeviceMemory device_out;
  PinnedMemory host_in;
  PinnedMemory host_out;
  OwnStream stream;
};

struct LoadedPiece {
  LoadedPasses passes;
  int unit_bits_per_element;
};

void require_host(const void* array, const char* which) {
  if (array == nullptr) fail(ErrorCode::value, kStage, std::string("a null ") + which, "an array");
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, array), "cudaPointerGetAttributes", kStage);
  if (attributes.type == cudaMemoryTypeDevice) {
    fail(ErrorCode::value, kStage,
         std::string("an ") + which + " in the memory of device " + std::to_string(attributes.device),
         "host memory", "Executor::run takes arrays of the device");
  }
}

void require_disjoint(const void* in, const void* out, std::uint64_t bytes) {
  faro::detail::check_disjoint(kStage, faro::detail::RunArray{"output", {out, bytes}},
                               {{"input", {in, bytes}}},
                               "ExecutablePlan::run_staged takes one, of a plan in place");
}

}  // namespace

struct StagedExecutor::State {
  int device = 0;
  std::uint64_t array_bytes = 0;
  int threads = 1;
  Pieces pieces;
  std::vector<LoadedPiece> loaded;  // by kind
  std::vector<Slot> slots;
  std::mutex in_use;  // of the slots

  State(const Plan& plan, const StagingOptions& options, const StagingSizes& sizes)
      : device(plan.target().device),
        array_bytes(plan.array_bytes()),
        threads(faro::detail::thread_count(options.threads)),
        pieces(plan.problem(), {.piece_bytes = sizes.piece_bytes}) {
    for (const Problem& kind : pieces.kinds()) {
      const Plan made(kind, plan.target());
      loaded.push_back({LoadedPasses(made.passes()), made.unit_bits_per_element()});
    }
    if (pieces.count() == 0) return;
    slots.reserve(static_cast<std::size_t>(sizes.in_flight));
    for (int i = 0; i < sizes.in_flight; ++i) slots.emplace_back(pieces.piece_bytes());
  }

  // Calls move(host offset, offset in the piece, bytes) on parts of the rows, shared out among the threads.
  // offset_of_row gives a row's host offset.
  template <typename OffsetOfRow, typename Move>
  void for_each_part(const Piece& piece, const OffsetOfRow& offset_of_row, const Move& move) const {
    constexpr std::uint64_t kPartBytes = std::uint64_t{64} << 10;
    const std::uint64_t parts = (piece.segment_bytes + kPartBytes - 1) / kPartBytes;  // of a row
    const auto all = static_cast<std::int64_t>(piece.rows * parts);
#pragma omp parallel num_threads(threads) if (all > 1)
    {
#pragma omp for schedule(static)
      for (std::int64_t i = 0; i < all; ++i) {
        const std::uint64_t row = static_cast<std::uint64_t>(i) / parts;
        const std::uint64_t begin = static_cast<std::uint64_t>(i) % parts * kPartBytes;
        const std::uint64_t bytes = std::min(kPartBytes, piece.segment_bytes - begin);
        move(offset_of_row(row) + begin, row * piece.segment_bytes + begin, bytes);
      }
      cpu::finish_streams();
    }
  }

  void gather(const Piece& piece, const std::byte* in, const Slot& slot) const {
    for_each_part(
        piece, [&](std::uint64_t row) { return pieces.source_of_row(piece, row); },
        [&](std::uint64_t host, std::uint64_t place, std::uint64_t bytes) {
          cpu::copy_streamed(in + host, slot.host_in.get() + place, bytes);
        });
  }

  void scatter(const Piece& piece, std::byte* out, const Slot& slot) const {
    for_each_part(
        piece, [&](std::uint64_t row) { return pieces.target_of_row(piece, row); },
        [&](std::uint64_t host, std::uint64_t place, std::uint64_t bytes) {
          cpu::copy_streamed(slot.host_out.get() + place, out + host, bytes);
        });
  }

  void queue(const Piece& piece, const Slot& slot) const {
    const cudaStream_t stream = slot.stream.get();
    const LoadedPiece& made = loaded[piece.kind];
    check(cudaMemcpyAsync(slot.device_in.get(), slot.host_in.get(), piece.bytes(), cudaMemcpyHostToDevice,
                          stream),
          "cudaMemcpyAsync to the device", kStage);
    made.passes.launch({.in = slot.device_in.get(), .out = slot.device_out.get()}, stream,
                       piece.target_shift << made.unit_bits_per_element);
    check(cudaMemcpyAsync(slot.host_out.get(), slot.device_out.get(), piece.bytes(), cudaMemcpyDeviceToHost,
                          stream),
          "cudaMemcpyAsync to the host", kStage);
  }

  void run(const std::byte* in, std::byte* out) const {
    run_in_slots(
        slots, pieces.count(),
        [&](std::uint64_t k, const Slot& slot) {
          gather(pieces[k], in, slot);
          queue(pieces[k], slot);
        },
        [&](std::uint64_t k, const Slot& slot) { scatter(pieces[k], out, slot); });
  }
};

StagedExecutor::StagedExecutor(const Plan& plan, const StagingOptions& options) {
  FARO_CHECK(plan.target().engine == Engine::cuda);
  if (plan.problem().placement == Placement::in_place) {
    fail(ErrorCode::unsupported, kStage, "a plan in place",
         "a plan out of place, whose arrays can travel in pieces",
         "ExecutablePlan::run_staged takes an array in place whole");
  }
  if (options.threads < 0 || options.threads > kMaxThreads) {
    fail(ErrorCode::value, kStage, std::to_string(options.threads) + " threads",
         "0 (as many as OpenMP would use) to " + std::to_string(kMaxThreads));
  }
  require_available();
  const DeviceGuard guard(plan.target().device);
  const std::uint64_t granted = options.device_bytes != 0 ? options.device_bytes : free_device_bytes() / 2;
  const StagingSizes sizes =
      plan.array_bytes() == 0 ? StagingSizes{} : choose_sizes(plan.problem(), granted, options.piece_bytes);
  state_ = std::make_unique<State>(plan, options, sizes);
}

StagedExecutor::StagedExecutor(StagedExecutor&&) noexcept = default;
StagedExecutor& StagedExecutor::operator=(StagedExecutor&&) noexcept = default;
StagedExecutor::~StagedExecutor() = default;

void StagedExecutor::run(const void* in, void* out) const {
  if (state_->pieces.count() == 0) return;
  const DeviceGuard guard(state_->device);
  require_host(in, "input");
  require_host(out, "output");
  require_disjoint(in, out, state_->array_bytes);
  const std::lock_guard lock(state_->in_use);
  state_->run(static_cast<const std::byte*>(in), static_cast<std::byte*>(out));
}

std::uint64_t StagedExecutor::pieces() const { return state_->pieces.count(); }
std::uint64_t StagedExecutor::piece_bytes() const { return state_->pieces.piece_bytes(); }
std::uint64_t StagedExecutor::segment_bytes() const { return state_->pieces.segment_bytes(); }
int StagedExecutor::pieces_in_flight() const { return static_cast<int>(state_->slots.size()); }

void run_staged(const Plan& plan, const void* in, void* out, const StagingOptions& options) {
  StagedExecutor(plan, options).run(in, out);
}

}  // namespace faro::cuda
