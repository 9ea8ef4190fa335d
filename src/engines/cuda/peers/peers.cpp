#include <cuda_runtime_api.h>

#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda_parts.hpp"
#include "faro/engines/cuda.hpp"

namespace faro::cuda {
namespace {

constexpr const char* kExchangePeers = "exchange between devices";

int peer_ordinal(int device) {
  if (device != kCurrentDevice) return device;
  int current = 0;
  check(cudaGetDevice(&current), "cudaGetDevice", kExchangePeers);
  return current;
}

bool can_reach(int device, int other) {
  if (device == other) return true;
  int can = 0;
  check(cudaDeviceCanAccessPeer(&can, device, other), "cudaDeviceCanAccessPeer", kExchangePeers);
  return can != 0;
}

// That `device` can read and write what lies on `other`, where the machine has a link between them.
void reach(int device, int other) {
  if (device == other || !can_reach(device, other)) return;
  const cudaError_t result = cudaDeviceEnablePeerAccess(other, 0);
  if (result == cudaErrorPeerAccessAlreadyEnabled) {
    static_cast<void>(cudaGetLastError());
    return;
  }
  check(result, "cudaDeviceEnablePeerAccess", kExchangePeers);
}

}  // namespace

struct PeerEnd::State {
  int device = 0;
  bool reaches_all = true;
  cudaEvent_t ready = nullptr;
  cudaEvent_t copied = nullptr;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    for (const cudaEvent_t event : {ready, copied}) {
      if (event != nullptr && cudaEventDestroy(event) != cudaSuccess) static_cast<void>(cudaGetLastError());
    }
  }
};

PeerEnd::PeerEnd(int device, const std::vector<int>& others) : state_(std::make_unique<State>()) {
  state_->device = peer_ordinal(device);
  const DeviceGuard guard(state_->device);
  for (const int other : others) {
    reach(state_->device, peer_ordinal(other));
    for (const int third : others)
      state_->reaches_all = state_->reaches_all && can_reach(peer_ordinal(third), peer_ordinal(other));
  }
  for (cudaEvent_t* const event : {&state_->ready, &state_->copied})
    check(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "cudaEventCreateWithFlags",
          kExchangePeers);
}

PeerEnd::~PeerEnd() = default;

int PeerEnd::device() const { return state_->device; }
bool PeerEnd::reaches_all() const { return state_->reaches_all; }

void PeerEnd::mark_ready(Stream stream) {
  const DeviceGuard guard(state_->device);
  check(cudaEventRecord(state_->ready, stream.handle()), "cudaEventRecord", kExchangePeers);
}

void PeerEnd::mark_copied(Stream stream) {
  const DeviceGuard guard(state_->device);
  check(cudaEventRecord(state_->copied, stream.handle()), "cudaEventRecord", kExchangePeers);
}

void PeerEnd::wait_until_ready(const PeerEnd& other, Stream stream) const {
  const DeviceGuard guard(state_->device);
  check(cudaStreamWaitEvent(stream.handle(), other.state_->ready, 0), "cudaStreamWaitEvent", kExchangePeers);
}

void PeerEnd::wait_until_copied(const PeerEnd& other, Stream stream) const {
  const DeviceGuard guard(state_->device);
  check(cudaStreamWaitEvent(stream.handle(), other.state_->copied, 0), "cudaStreamWaitEvent", kExchangePeers);
}

void PeerEnd::copy(const std::byte* from, int from_device, std::byte* to, std::uint64_t bytes,
                   Stream stream) const {
  if (bytes == 0) return;
  const DeviceGuard guard(state_->device);
  if (from_device == state_->device) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream.handle()), "cudaMemcpyAsync",
          kExchangePeers);
    return;
  }
  check(cudaMemcpyPeerAsync(to, state_->device, from, from_device, bytes, stream.handle()),
        "cudaMemcpyPeerAsync", kExchangePeers);
}

}  // namespace faro::cuda
