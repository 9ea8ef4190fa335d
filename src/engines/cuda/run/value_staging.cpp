// Arrays of the host whose numbers are changed by a device, in pieces (plan/value_pieces.hpp). While a piece
// travels and is changed, the next is gathered and the one before scattered.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "engines/cpu.hpp"
#include "engines/cpu/values/value_sweep.hpp"
#include "engines/cuda/host/availability.hpp"
#include "engines/cuda/run/staging_memory.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "engines/cuda_values.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/threads.hpp"
#include "plan/value_pieces.hpp"
#include "rounding.hpp"

namespace faro::cuda {
namespace {

using faro::detail::ValuePiece;
using faro::detail::ValuePieces;
using faro::detail::ValuePlan;

constexpr std::uint64_t kLeastPiece = 8 << 20;
constexpr std::uint64_t kMostPiece = 192 << 20;  // of three arrays together
constexpr std::uint64_t kMostValueSlots = 3;
constexpr std::uint64_t kValuePiecesWanted = 8;

// One array of a piece on its way.
struct StagedArray {
  DeviceMemory device;
  PinnedMemory host;

  explicit StagedArray(std::uint64_t bytes)
      : device(device_memory(std::max<std::uint64_t>(bytes, 1))),
        host(pinned_memory(std::max<std::uint64_t>(bytes, 1))) {}
};

// Declared so that the stream is drained before the buffers go.
struct ValueSlot {
  StagedArray in;
  StagedArray addend;
  StagedArray out;
  OwnStream stream;

  explicit ValueSlot(const ValuePieces& pieces)
      : in(pieces.in_bytes()), addend(pieces.addend_bytes()), out(pieces.out_bytes()) {}
};

std::uint64_t bytes_together(const ValuePieces& pieces) {
  return pieces.in_bytes() + pieces.addend_bytes() + pieces.out_bytes();
}

// Pieces, so many at a time as fit.
ValuePieces fitting_pieces(const ValuePlan& plan, const StagingOptions& options, const Target& host) {
  const std::uint64_t granted = options.device_bytes != 0 ? options.device_bytes : free_device_bytes() / 2;
  const std::uint64_t all = plan.read_bytes() + plan.written_bytes();
  const std::uint64_t wanted = options.piece_bytes != 0
                                   ? options.piece_bytes
                                   : std::clamp(all / kValuePiecesWanted, kLeastPiece, kMostPiece);
  ValuePieces pieces(plan, std::min(wanted, granted / kMostValueSlots), host);
  if (bytes_together(pieces) > granted) {
    fail(ErrorCode::unsupported, kPrepare, std::to_string(granted) + " bytes of device memory",
         std::to_string(bytes_together(pieces)) + ", for a piece of this view",
         "grant more by StagingOptions::device_bytes");
  }
  return pieces;
}

class StagedValues {
 public:
  StagedValues(const ValuePlan& plan, const StagingOptions& options, int device)
      : host_(cpu::target(options.threads)), device_(device), pieces_(fitting_pieces(plan, options, host_)) {
    const std::uint64_t slots = std::min(pieces_.count(), kMostValueSlots);
    for (std::uint64_t i = 0; i < slots; ++i) slots_.emplace_back(pieces_);
  }

  void run(const std::byte* in, const std::byte* addend, std::byte* out) {
    run_in_slots(
        slots_, pieces_.count(), [&](std::uint64_t k, const ValueSlot& slot) { queue(k, slot, in, addend); },
        [&](std::uint64_t k, const ValueSlot& slot) {
          sweep(pieces_.piece(k).scattered, slot.out.host.get(), out);
        });
  }

 private:
  void sweep(const ValuePlan& plan, const std::byte* from, std::byte* to) const {
    cpu::ValueSweep(plan, cpu::target(1)).run(from, nullptr, to);
  }

  void upload(const ValuePlan& gathered, Number number, const std::byte* from, const StagedArray& to,
              cudaStream_t stream) const {
    sweep(gathered, from, to.host.get());
    check(cudaMemcpyAsync(to.device.get(), to.host.get(), gathered.count * bytes_of(number),
                          cudaMemcpyHostToDevice, stream),
          "cudaMemcpyAsync to the device", kStage);
  }

  void queue(std::uint64_t k, const ValueSlot& slot, const std::byte* in, const std::byte* addend) {
    const cudaStream_t stream = slot.stream.get();
    const ValuePiece piece = pieces_.piece(k);
    const Arithmetic& of = piece.changed.arithmetic;
    upload(piece.gathered, of.from, in, slot.in, stream);
    if (of.addend) upload(*piece.gathered_addend, of.addend->number, addend, slot.addend, stream);
    auto found = kinds_.find(pieces_.kind(k));
    if (found == kinds_.end()) {
      ValuePlan first = piece.changed;
      first.first = {};
      found = kinds_.emplace(pieces_.kind(k), ValueExecutor(first, device_)).first;
    }
    found->second.run(slot.in.device.get(), of.addend ? slot.addend.device.get() : nullptr,
                      slot.out.device.get(), Stream(stream),
                      {.scale = piece.changed.first.scale, .offset = piece.changed.first.offset});
    check(cudaMemcpyAsync(slot.out.host.get(), slot.out.device.get(), piece.scattered.count * bytes_of(of.to),
                          cudaMemcpyDeviceToHost, stream),
          "cudaMemcpyAsync to the host", kStage);
  }

  Target host_;
  int device_;
  ValuePieces pieces_;
  std::vector<ValueSlot> slots_;
  std::map<std::uint64_t, ValueExecutor> kinds_;
};

}  // namespace

void run_staged_values(const ValuePlan& plan, const HostValues& arrays, const StagingOptions& options,
                       int device) {
  if (plan.count == 0) return;
  require_available();
  const int ordinal = ordinal_of(device);
  const DeviceGuard guard(ordinal);
  StagedValues(plan, options, ordinal).run(arrays.in, arrays.addend, arrays.out);
}

}  // namespace faro::cuda
