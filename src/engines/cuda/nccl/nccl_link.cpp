// The entry points are declared here as NCCL's public interface has them since version 2.7.
#include <dlfcn.h>

#include <array>
#include <cstring>

#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda_nccl.hpp"

namespace faro::cuda {
namespace {

constexpr const char* kNccl = "exchange by NCCL";
constexpr std::size_t kUniqueIdBytes = 128;
constexpr int kNcclSuccess = 0;
constexpr int kNcclUint8 = 1;

struct UniqueId {
  std::array<char, kUniqueIdBytes> bytes;
};

struct NcclLibrary {
  const char* (*error_text)(int result) = nullptr;
  int (*unique_id)(UniqueId* id) = nullptr;
  int (*init_rank)(ncclComm** comm, int ranks, UniqueId id, int rank) = nullptr;
  int (*destroy)(ncclComm* comm) = nullptr;
  int (*abort)(ncclComm* comm) = nullptr;
  int (*count)(ncclComm* comm, int* ranks) = nullptr;
  int (*user_rank)(ncclComm* comm, int* rank) = nullptr;
  int (*device)(ncclComm* comm, int* device) = nullptr;
  int (*async_error)(ncclComm* comm, int* result) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*send)(const void* from, std::size_t count, int type, int peer, ncclComm* comm,
              CUstream_st* stream) = nullptr;
  int (*receive)(void* to, std::size_t count, int type, int peer, ncclComm* comm,
                 CUstream_st* stream) = nullptr;
  // Since version 2.19; all or none.
  int (*allocate)(void** data, std::size_t bytes) = nullptr;
  int (*release)(void* data) = nullptr;
  int (*enlist)(ncclComm* comm, void* data, std::size_t bytes, void** handle) = nullptr;
  int (*strike)(ncclComm* comm, void* handle) = nullptr;

  bool has_memory() const {
    return allocate != nullptr && release != nullptr && enlist != nullptr && strike != nullptr;
  }
};

template <typename Function>
void find_symbol(void* handle, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, symbol));
  if (function == nullptr)
    fail(ErrorCode::device, kNccl, std::string("a libnccl.so.2 without ") + symbol, "NCCL 2.7 or newer");
}

template <typename Function>
void look_for_symbol(void* handle, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, symbol));
}

NcclLibrary open_nccl() {
  // Kept open for as long as the process lives.
  void* const handle = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const why = dlerror();
    fail(ErrorCode::device, kNccl, why == nullptr ? "no libnccl.so.2" : why,
         "NCCL, where the loader finds it", "LD_LIBRARY_PATH names its folder");
  }
  NcclLibrary made;
  find_symbol(handle, "ncclGetErrorString", made.error_text);
  find_symbol(handle, "ncclGetUniqueId", made.unique_id);
  find_symbol(handle, "ncclCommInitRank", made.init_rank);
  find_symbol(handle, "ncclCommDestroy", made.destroy);
  find_symbol(handle, "ncclCommAbort", made.abort);
  find_symbol(handle, "ncclCommCount", made.count);
  find_symbol(handle, "ncclCommUserRank", made.user_rank);
  find_symbol(handle, "ncclCommCuDevice", made.device);
  find_symbol(handle, "ncclCommGetAsyncError", made.async_error);
  find_symbol(handle, "ncclGroupStart", made.group_start);
  find_symbol(handle, "ncclGroupEnd", made.group_end);
  find_symbol(handle, "ncclSend", made.send);
  find_symbol(handle, "ncclRecv", made.receive);
  look_for_symbol(handle, "ncclMemAlloc", made.allocate);
  look_for_symbol(handle, "ncclMemFree", made.release);
  look_for_symbol(handle, "ncclCommRegister", made.enlist);
  look_for_symbol(handle, "ncclCommDeregister", made.strike);
  return made;
}

const NcclLibrary& nccl() {
  static const NcclLibrary library = open_nccl();
  return library;
}

void check_nccl(int result, const char* call) {
  if (result == kNcclSuccess) return;
  fail(ErrorCode::device, kNccl, std::string(call) + ": " + nccl().error_text(result), "ncclSuccess",
       "NCCL_DEBUG=WARN has NCCL say more");
}

}  // namespace

std::string nccl_unique_id() {
  UniqueId id{};
  check_nccl(nccl().unique_id(&id), "ncclGetUniqueId");
  return {id.bytes.begin(), id.bytes.end()};
}

NcclLink::NcclLink(ncclComm* comm) : comm_(comm) {
  if (comm == nullptr) fail(ErrorCode::value, kNccl, "a null communicator", "one of NCCL's");
  look_up();
}

NcclLink::NcclLink(int device, const std::string& unique_id, const Ranks& ranks) : owned_(true) {
  UniqueId id{};
  FARO_CHECK(unique_id.size() == id.bytes.size());
  std::memcpy(id.bytes.data(), unique_id.data(), unique_id.size());
  const DeviceGuard guard(device);
  check_nccl(nccl().init_rank(&comm_, ranks.count, id, ranks.mine), "ncclCommInitRank");
  look_up();
}

NcclLink::~NcclLink() {
  if (owned_ && comm_ != nullptr) static_cast<void>(nccl().destroy(comm_));
}

void NcclLink::look_up() {
  check_nccl(nccl().count(comm_, &ranks_.count), "ncclCommCount");
  check_nccl(nccl().user_rank(comm_, &ranks_.mine), "ncclCommUserRank");
  check_nccl(nccl().device(comm_, &device_), "ncclCommCuDevice");
}

void NcclLink::begin() const {
  if (comm_ == nullptr) fail(ErrorCode::device, kNccl, "a communicator that was aborted", "one in order");
  check_nccl(nccl().group_start(), "ncclGroupStart");
}

void NcclLink::send(const std::byte* from, std::uint64_t bytes, int peer, Stream stream) const {
  check_nccl(nccl().send(from, bytes, kNcclUint8, peer, comm_, stream.handle()), "ncclSend");
}

void NcclLink::receive(std::byte* to, std::uint64_t bytes, int peer, Stream stream) const {
  check_nccl(nccl().receive(to, bytes, kNcclUint8, peer, comm_, stream.handle()), "ncclRecv");
}

void NcclLink::end() const {
  check_nccl(nccl().group_end(), "ncclGroupEnd");
  look();
}

void NcclLink::keep(const std::byte* from, std::byte* to, std::uint64_t bytes, Stream stream) const {
  if (bytes == 0) return;
  const DeviceGuard guard(device_);
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream.handle()), "cudaMemcpyAsync",
        kNccl);
}

NcclLink::Memory::Memory(const NcclLink& link, std::uint64_t bytes) : link_(link) {
  if (!nccl().has_memory()) {
    fail(ErrorCode::device, kNccl, "a libnccl.so.2 without ncclMemAlloc and ncclCommRegister",
         "NCCL 2.19 or newer");
  }
  if (link.comm_ == nullptr)
    fail(ErrorCode::device, kNccl, "a communicator that was aborted", "one in order");
  const DeviceGuard guard(link.device_);
  void* made = nullptr;
  check_nccl(nccl().allocate(&made, bytes), "ncclMemAlloc");
  const int result = nccl().enlist(link.comm_, made, bytes, &handle_);
  if (result != kNcclSuccess) {
    static_cast<void>(nccl().release(made));
    check_nccl(result, "ncclCommRegister");
  }
  data_ = static_cast<std::byte*>(made);
}

NcclLink::Memory::~Memory() {
  try {
    const DeviceGuard guard(link_.device_);
    if (link_.comm_ != nullptr) static_cast<void>(nccl().strike(link_.comm_, handle_));
    static_cast<void>(nccl().release(data_));
  } catch (const Error&) {
    // A device that is lost has no memory to take back.
    static_cast<void>(cudaGetLastError());
  }
}

void NcclLink::look() const {
  if (comm_ == nullptr) fail(ErrorCode::device, kNccl, "a communicator that was aborted", "one in order");
  int result = kNcclSuccess;
  check_nccl(nccl().async_error(comm_, &result), "ncclCommGetAsyncError");
  check_nccl(result, "an earlier exchange");
}

void NcclLink::abort() noexcept {
  if (comm_ == nullptr || !owned_) return;
  static_cast<void>(nccl().abort(comm_));
  comm_ = nullptr;
}

}  // namespace faro::cuda
