// CUDA's runtime as the benchmark uses it: checked calls, and graphs.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "faro/error.hpp"
#include "faro/stream.hpp"

namespace faro::bench::gpu {

/// Errors: ErrorCode::device, naming the call.
inline void check_cuda(cudaError_t result, const char* call) {
  if (result == cudaSuccess) return;
  fail(ErrorCode::device, "gpu_bench", std::string(call) + ": " + cudaGetErrorString(result), "cudaSuccess");
}

/// What was queued on a stream while it was captured.
class Graph {
 public:
  /// Calls queue(stream).
  template <typename Queue>
  explicit Graph(const Queue& queue) {
    cudaStream_t stream = nullptr;
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
    queue(Stream(stream));
    check_cuda(cudaStreamEndCapture(stream, &graph_), "cudaStreamEndCapture");
    check_cuda(cudaStreamDestroy(stream), "cudaStreamDestroy");
    check_cuda(cudaGraphInstantiate(&executable_, graph_, 0), "cudaGraphInstantiate");
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() {
    static_cast<void>(cudaGraphExecDestroy(executable_));
    static_cast<void>(cudaGraphDestroy(graph_));
  }

  void launch(Stream stream) const {
    check_cuda(cudaGraphLaunch(executable_, stream.handle()), "cudaGraphLaunch");
  }

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace faro::bench::gpu
