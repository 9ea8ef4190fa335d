// A CUDA stream, without CUDA's headers.
//
//     cudaStream_t stream = ...;
//     plan.run(in, out, bytes, stream);        // a cudaStream_t becomes a faro::Stream
#pragma once

// CUDA's own name; cudaStream_t and CUstream point to it.
struct CUstream_st;

namespace faro {

/// The stream that work is put on. Made from a cudaStream_t or CUstream; empty: CUDA's default stream.
class Stream {
 public:
  constexpr Stream() = default;
  constexpr Stream(CUstream_st* handle) : handle_(handle) {}  // NOLINT(google-explicit-constructor)

  constexpr CUstream_st* handle() const { return handle_; }

 private:
  CUstream_st* handle_ = nullptr;
};

}  // namespace faro
