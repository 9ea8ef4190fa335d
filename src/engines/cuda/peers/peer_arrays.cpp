// An array's address says where it lies: on which machine, in which process, and how others open it.
//
//     MACHINE PROCESS DEVICE POINTER ALLOCATION NUMBER HANDLE         all but the handle as numbers
//
// A rank of the same process takes the pointer. One of another process opens the allocation by its handle,
// which the driver gives out for memory of cudaMalloc, and adds the pointer's place in it.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <utility>

#include "engines/cuda/host/availability.hpp"
#include "engines/cuda/host/device_pointer.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda_parts.hpp"

namespace faro::cuda {
namespace {

constexpr const char* kReachPeers = "reach the memory of peers";
constexpr const char* kNoHandle = "-";

// Another one after each start of the machine, and for each machine.
std::string machine_token() {
  std::string token;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> token;
  return token.empty() ? "unknown" : token;
}

// Process numbers are not enough: containers count their own.
const std::string& process_token() {
  static const std::string token = [] {
    std::random_device device;
    return fmt::format("{:08x}{:08x}{:08x}{:08x}", device(), device(), device(), device());
  }();
  return token;
}

struct PeerAddress {
  std::string machine;
  std::string process;
  int device = 0;
  std::uintptr_t pointer = 0;
  std::uintptr_t allocation = 0;
  std::uint64_t number = 0;
  std::string handle;
};

PeerAddress read_address(const std::string& text) {
  PeerAddress made;
  std::istringstream words(text);
  words >> made.machine >> made.process >> made.device >> made.pointer >> made.allocation >> made.number >>
      made.handle;
  if (!words)
    fail(ErrorCode::value, kReachPeers, "`" + text + "` as the address of an array", "that of a device's");
  return made;
}

std::string ipc_handle_text(const cudaIpcMemHandle_t& handle) {
  std::string text;
  for (const char byte : handle.reserved) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

cudaIpcMemHandle_t ipc_handle_from(const std::string& text) {
  cudaIpcMemHandle_t handle{};
  bool is_read = text.size() == 2 * sizeof handle.reserved;
  for (std::size_t i = 0; is_read && i < sizeof handle.reserved; ++i) {
    unsigned char byte = 0;
    const char* const digits = text.data() + 2 * i;
    is_read = std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
    handle.reserved[i] = static_cast<char>(byte);
  }
  if (!is_read)
    fail(ErrorCode::value, kReachPeers, "memory of another process that cannot be shared",
         "memory of cudaMalloc", "ShardWays::stores = false sends messages instead");
  return handle;
}

}  // namespace

struct PeerArrays::State {
  struct Opened {
    std::uint64_t number = 0;
    void* data = nullptr;
  };

  int device = 0;
  std::string machine = machine_token();
  std::set<int> reached;
  std::map<std::pair<std::string, std::uintptr_t>, Opened> opened;          // by process and allocation
  std::map<std::uintptr_t, std::pair<std::uint64_t, std::string>> handles;  // of own allocations

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { close_all(); }

  void close_all() {
    for (const auto& [key, each] : opened) {
      if (cudaIpcCloseMemHandle(each.data) != cudaSuccess) static_cast<void>(cudaGetLastError());
    }
    opened.clear();
  }

  // Once, for it may not be asked for while a stream is captured.
  void reach(int other) {
    if (other == device || reached.contains(other)) return;
    int can = 0;
    check(cudaDeviceCanAccessPeer(&can, device, other), "cudaDeviceCanAccessPeer", kReachPeers);
    if (can == 0) {
      fail(ErrorCode::value, kReachPeers,
           fmt::format("devices {} and {}, which have no way to each other", device, other),
           "devices that can access each other's memory");
    }
    const cudaError_t result = cudaDeviceEnablePeerAccess(other, 0);
    if (result == cudaErrorPeerAccessAlreadyEnabled) {
      static_cast<void>(cudaGetLastError());
    } else {
      check(result, "cudaDeviceEnablePeerAccess", kReachPeers);
    }
    reached.insert(other);
  }

  static void finish_what_uses_them() {
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize", kReachPeers);
  }

  // Small allocations share a block of the driver's, which is opened once: then whoever else has it is
  // closed.
  void* opened_by(const std::string& text) {
    const cudaIpcMemHandle_t handle = ipc_handle_from(text);
    void* data = nullptr;
    cudaError_t result = cudaIpcOpenMemHandle(&data, handle, cudaIpcMemLazyEnablePeerAccess);
    if (result == cudaErrorAlreadyMapped) {
      static_cast<void>(cudaGetLastError());
      finish_what_uses_them();
      close_all();
      result = cudaIpcOpenMemHandle(&data, handle, cudaIpcMemLazyEnablePeerAccess);
    }
    check(result, "cudaIpcOpenMemHandle", kReachPeers, "ShardWays::stores = false sends messages instead");
    return data;
  }

  std::byte* open(const PeerAddress& address) {
    if (address.pointer == 0) return nullptr;
    if (address.machine != machine)
      fail(ErrorCode::value, kReachPeers, "memory of another machine", "ranks of one machine");
    if (address.process == process_token()) {
      reach(address.device);
      return reinterpret_cast<std::byte*>(address.pointer);  // NOLINT(performance-no-int-to-ptr)
    }
    const std::pair key{address.process, address.allocation};
    auto known = opened.find(key);
    if (known != opened.end() && known->second.number != address.number) {
      finish_what_uses_them();
      check(cudaIpcCloseMemHandle(known->second.data), "cudaIpcCloseMemHandle", kReachPeers);
      opened.erase(known);
      known = opened.end();
    }
    if (known == opened.end()) {
      void* const data = opened_by(address.handle);
      known = opened.emplace(key, Opened{.number = address.number, .data = data}).first;
    }
    return static_cast<std::byte*>(known->second.data) + (address.pointer - address.allocation);
  }
};

PeerArrays::PeerArrays(int device) : state_(std::make_unique<State>()) {
  require_available();
  state_->device = device;
}

PeerArrays::~PeerArrays() = default;

std::string PeerArrays::address_of(void* array) {
  const auto pointer = reinterpret_cast<std::uintptr_t>(array);
  DeviceAllocation allocation{.begin = pointer};
  std::string handle = kNoHandle;
  if (const auto found = array == nullptr ? std::nullopt : allocation_of(array)) {
    allocation = *found;
    auto& [number, known] = state_->handles[allocation.begin];
    if (known.empty() || number != allocation.number) {
      known = kNoHandle;
      if (allocation.is_shareable) {
        const DeviceGuard guard(state_->device);
        cudaIpcMemHandle_t made{};
        // NOLINTNEXTLINE(performance-no-int-to-ptr)
        check(cudaIpcGetMemHandle(&made, reinterpret_cast<void*>(allocation.begin)), "cudaIpcGetMemHandle",
              kReachPeers);
        known = ipc_handle_text(made);
      }
      number = allocation.number;
    }
    handle = known;
  }
  return fmt::format("{} {} {} {} {} {} {}", state_->machine, process_token(), state_->device, pointer,
                     allocation.begin, allocation.number, handle);
}

void PeerArrays::close() {
  const DeviceGuard guard(state_->device);
  state_->close_all();
}

std::vector<std::byte*> PeerArrays::open(std::span<const std::string> addresses) {
  const DeviceGuard guard(state_->device);
  std::vector<std::byte*> arrays;
  for (const std::string& each : addresses) arrays.push_back(state_->open(read_address(each)));
  return arrays;
}

}  // namespace faro::cuda
