// A plan in a CUDA graph: queueing a plan allocates nothing and waits for nothing, so a capture records it
// like any kernel, and the graph replays it on whatever its arrays hold by then.
//
// Here a signal arrives in order, is put into bit-reversed order on the device, and comes back, ten times
// over.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <faro/faro.hpp>
#include <numeric>
#include <stdexcept>
#include <string>

namespace {

constexpr int kBits = 20;
constexpr std::size_t kElements = std::size_t{1} << kBits;
constexpr std::size_t kBytes = kElements * sizeof(std::uint32_t);

void check(cudaError_t result, const char* call) {
  if (result != cudaSuccess) throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(result));
}

std::uint32_t reversed(std::uint32_t index) {
  std::uint32_t result = 0;
  for (int bit = 0; bit < kBits; ++bit) result |= (index >> bit & 1) << (kBits - 1 - bit);
  return result;
}

// Whether every signal came back in its order.
bool replay_graph() {
  // A plan is for one device and any arrays on it.
  const auto plan =
      faro::plan({.permutation = faro::maps::bit_reversal(kBits), .element_bytes = sizeof(std::uint32_t)},
                 {.engine = faro::Engine::cuda});

  // Pinned, so that the copies run on the stream and not in the calling thread.
  void* pinned = nullptr;
  void* in = nullptr;
  void* out = nullptr;
  cudaStream_t stream = nullptr;
  check(cudaMallocHost(&pinned, kBytes), "cudaMallocHost");
  auto* const host = static_cast<std::uint32_t*>(pinned);
  check(cudaMalloc(&in, kBytes), "cudaMalloc");
  check(cudaMalloc(&out, kBytes), "cudaMalloc");
  check(cudaStreamCreate(&stream), "cudaStreamCreate");

  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  check(cudaMemcpyAsync(in, host, kBytes, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
  plan.run(in, out, kBytes, stream);  // out[pi(x)] = in[x], recorded
  check(cudaMemcpyAsync(host, out, kBytes, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
  check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");

  bool right = true;
  for (std::uint32_t round = 0; round < 10; ++round) {
    std::iota(host, host + kElements, round);
    check(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    for (std::uint32_t x = 0; x < kElements; ++x) right = right && host[reversed(x)] == x + round;
  }

  check(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy");
  check(cudaGraphDestroy(graph), "cudaGraphDestroy");
  check(cudaStreamDestroy(stream), "cudaStreamDestroy");
  check(cudaFree(out), "cudaFree");
  check(cudaFree(in), "cudaFree");
  check(cudaFreeHost(host), "cudaFreeHost");
  return right;
}

}  // namespace

int main() {
  const faro::cuda::Status cuda = faro::cuda::status();
  if (!cuda.available) {
    std::printf("nothing to show without a GPU: %s\n", cuda.reason.c_str());
    return 0;
  }
  try {
    if (!replay_graph()) {
      std::fprintf(stderr, "an element is in the wrong place\n");
      return 1;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  std::printf("one graph, ten signals in bit-reversed order\n");
  return 0;
}
