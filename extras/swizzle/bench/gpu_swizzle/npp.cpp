#include "bench/gpu_swizzle/npp.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdlib>
#include <vector>

#include "bench/gpu/runtime.hpp"
#include "faro/engines/cuda_measure.hpp"

namespace faro::bench::gpu {
namespace {

// What the call of NPP's interface takes.
struct NppiSize {
  int width, height;
};
struct NppiPoint {
  int x, y;
};
struct NppStreamContext {
  cudaStream_t stream = nullptr;
  int device = 0;
  int multiprocessors = 0;
  int threads_per_multiprocessor = 0;
  int threads_per_block = 0;
  std::size_t shared_bytes_per_block = 0;
  int major = 0;
  int minor = 0;
  unsigned stream_flags = 0;
  int reserved = 0;
};
using Filter = int (*)(const float* in, int in_step, float* out, int out_step, NppiSize region,
                       const float* kernel, NppiSize kernel_size, NppiPoint anchor, NppStreamContext);

std::vector<std::string> library_names() {
  if (const char* const named = std::getenv("FARO_NPP")) return {named};
  std::vector<std::string> names;
  for (const char* const folder : {"", "/usr/local/cuda/lib64/"})
    for (const char* const version : {".13", ".12", ".11", ""})
      names.push_back(std::string(folder) + "libnppif.so" + version);
  return names;
}

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check_cuda(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
  return value;
}

NppStreamContext context_of_device() {
  NppStreamContext context;
  check_cuda(cudaGetDevice(&context.device), "cudaGetDevice");
  const auto of = [&](cudaDeviceAttr which) { return attribute(which, context.device); };
  context.multiprocessors = of(cudaDevAttrMultiProcessorCount);
  context.threads_per_multiprocessor = of(cudaDevAttrMaxThreadsPerMultiProcessor);
  context.threads_per_block = of(cudaDevAttrMaxThreadsPerBlock);
  context.shared_bytes_per_block = static_cast<std::size_t>(of(cudaDevAttrMaxSharedMemoryPerBlock));
  context.major = of(cudaDevAttrComputeCapabilityMajor);
  context.minor = of(cudaDevAttrComputeCapabilityMinor);
  return context;
}

}  // namespace

// The library stays loaded: what it has on the device ends with the program.
struct NppFilter::State {
  int taps = 0;
  std::string reason;
  Filter filter = nullptr;
  NppStreamContext context;
  std::unique_ptr<cuda::DeviceArray> weights;
};

NppFilter::NppFilter(int taps) : state_(std::make_unique<State>()) {
  state_->taps = taps;
  state_->reason = "not installed";
  void* library = nullptr;
  for (const std::string& name : library_names()) {
    library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    state_->reason = name;
    break;
  }
  if (library == nullptr) return;
  state_->filter = reinterpret_cast<Filter>(dlsym(library, "nppiFilter_32f_C1R_Ctx"));
  if (state_->filter == nullptr) {
    state_->reason += " has no nppiFilter_32f_C1R_Ctx";
    return;
  }
  state_->context = context_of_device();
  // Its weights are of a convolution: the last is for the first pixel.
  std::vector<float> reversed;
  for (int ky = taps - 1; ky >= 0; --ky)
    for (int kx = taps - 1; kx >= 0; --kx) reversed.push_back(weight_of(ky, kx));
  state_->weights = std::make_unique<cuda::DeviceArray>(reversed.size() * sizeof(float));
  state_->weights->upload(reversed.data());
}

NppFilter::NppFilter(NppFilter&&) noexcept = default;
NppFilter& NppFilter::operator=(NppFilter&&) noexcept = default;
NppFilter::~NppFilter() = default;

bool NppFilter::available() const { return state_->filter != nullptr; }
const std::string& NppFilter::reason() const { return state_->reason; }

void NppFilter::queue(const Image& image, const void* in, void* out, Stream stream) const {
  NppStreamContext context = state_->context;
  context.stream = static_cast<cudaStream_t>(stream.handle());
  check_cuda(cudaStreamGetFlags(context.stream, &context.stream_flags), "cudaStreamGetFlags");
  const int taps = state_->taps;
  const int middle = taps / 2;
  const int step = image.pitch * static_cast<int>(sizeof(float));
  const float* const first = static_cast<const float*>(in) + middle * image.pitch + middle;
  const int status = state_->filter(
      first, step, static_cast<float*>(out), step, {image.width - taps + 1, image.height - taps + 1},
      reinterpret_cast<const float*>(state_->weights->data()), {taps, taps}, {middle, middle}, context);
  if (status != 0)
    fail(ErrorCode::device, "gpu_swizzle_bench", "NPP's status " + std::to_string(status), "0");
}

}  // namespace faro::bench::gpu
