#include "bench/gpu_network/cufft.hpp"

#include <dlfcn.h>

#include "faro/error.hpp"

namespace faro::bench::gpu {
namespace {

// cuFFT's interface, as its documentation gives it.
using Handle = int;
using Plan1d = int (*)(Handle*, int, int, int);
using SetStream = int (*)(Handle, CUstream_st*);
using Execute = int (*)(Handle, void*, void*, int);
using Destroy = int (*)(Handle);
constexpr int kComplexToComplex = 0x29;
constexpr int kDoubleComplex = 0x69;
constexpr int kForward = -1;

template <typename Function>
Function find(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

struct CuFft::State {
  std::string reason;
  bool planned = false;
  Handle handle = 0;
  SetStream set_stream = nullptr;
  Execute execute = nullptr;
  Destroy destroy = nullptr;
};

CuFft::CuFft(int bits, bool is_double) : state_(std::make_unique<State>()) {
  void* library = nullptr;
  for (const char* name : {"libcufft.so.12", "libcufft.so.11", "libcufft.so"}) {
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
  }
  if (library == nullptr) {
    state_->reason = "no libcufft on the loader's path";
    return;
  }
  const auto plan = find<Plan1d>(library, "cufftPlan1d");
  state_->set_stream = find<SetStream>(library, "cufftSetStream");
  state_->execute = find<Execute>(library, is_double ? "cufftExecZ2Z" : "cufftExecC2C");
  state_->destroy = find<Destroy>(library, "cufftDestroy");
  if (plan == nullptr || state_->set_stream == nullptr || state_->execute == nullptr ||
      state_->destroy == nullptr) {
    state_->reason = "a libcufft without the expected functions";
    return;
  }
  const int result = plan(&state_->handle, 1 << bits, is_double ? kDoubleComplex : kComplexToComplex, 1);
  state_->planned = result == 0;
  if (!state_->planned) state_->reason = "cufftPlan1d: " + std::to_string(result);
}

CuFft::~CuFft() {
  if (state_->planned) static_cast<void>(state_->destroy(state_->handle));
}

bool CuFft::available() const { return state_->planned; }
const std::string& CuFft::reason() const { return state_->reason; }

void CuFft::run(const void* in, void* out, Stream stream) const {
  static_cast<void>(state_->set_stream(state_->handle, stream.handle()));
  const int result = state_->execute(state_->handle, const_cast<void*>(in), out, kForward);
  if (result == 0) return;
  fail(ErrorCode::device, "gpu_network_bench", "cuFFT's result " + std::to_string(result), "0");
}

}  // namespace faro::bench::gpu
