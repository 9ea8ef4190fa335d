// Emitted kernels on a device: the text of faro/emit/emit.hpp, compiled while the program runs and launched
// as its first lines say.
//
//     const emit::Source source = emit::emit(maps::bit_reversal(20), {.rung = emit::Rung::banks});
//     const cuda::EmittedExecutor kernel(source);
//     kernel.run(in, out, nullptr, stream);                           // out[pi(x)] = in[x]
//
// MappedExecutor is the one that faro::ExecutablePlan::with_map uses: a whole problem, batch and all, moved
// and computed on the way, out[b][pi(x)] = f(in[b][x]), in one sweep.
//
// Compiling takes NVRTC, which is looked for when it is first needed; the last 64 modules are kept, so the
// same text is compiled once. In a build without CUDA every constructor refuses with ErrorCode::device,
// "cuda: not built".
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "faro/emit/emit.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/plan/plan.hpp"
#include "faro/stream.hpp"

namespace faro::cuda {

/// A source's kernels, loaded. Running allocates nothing and waits for nothing. Work that is queued or
/// captured into a graph needs its executor until it is done.
class EmittedExecutor {
 public:
  /// Requires: a source of Language::cuda (checked). Errors: ErrorCode::device without that device or NVRTC;
  /// ErrorCode::value where the text does not compile, which its map may be the reason of.
  explicit EmittedExecutor(emit::Source source, int device = kCurrentDevice);
  EmittedExecutor(EmittedExecutor&&) noexcept;
  EmittedExecutor& operator=(EmittedExecutor&&) noexcept;
  ~EmittedExecutor();

  /// Queues the kernels on `stream`. `workspace`: source().workspace_bytes of the device, null where that is
  /// 0. Requires: arrays of the device, each aligned to source().vector_bytes (checked) and of the map's size
  /// (unchecked), without overlap (unchecked). Errors: ErrorCode::value for a misaligned array or no
  /// workspace; ErrorCode::device for a failed launch.
  void run(const void* in, void* out, void* workspace, Stream stream = {}) const;

  const emit::Source& source() const;

  /// One entry for each of source().kernels.
  std::vector<KernelResources> resources() const;

 private:
  friend std::vector<EmittedExecutor> make_emitted_executors(std::vector<emit::Source> sources, int device);
  struct State;
  explicit EmittedExecutor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// An executor for each source, compiled several to a text and by several threads, in a fraction of the time.
/// Requires: sources of different names (unchecked: the compiler refuses them). Errors: as EmittedExecutor.
std::vector<EmittedExecutor> make_emitted_executors(std::vector<emit::Source> sources,
                                                    int device = kCurrentDevice);

/// A function of each element, applied while it is moved.
struct ElementMap {
  /// CUDA C++ over v, the element, and the indices x and y within its array: out[b][y] = EXPR, v = in[b][x],
  /// y = pi(x).
  std::string expression;
  std::string element = {};  // type of v, one of emit::element_types(); empty: the unsigned one of that width
};

/// A problem with a map, made ready to run on a device: the one-pass kernel, or for arrays too small for it
/// the naive one. Up to 16 launches a run, whatever the batch.
class MappedExecutor {
 public:
  /// Errors: ErrorCode::unsupported for elements wider than 16 bytes; ErrorCode::value for an element type of
  /// another width, and for an expression that does not compile, with the compiler's message;
  /// ErrorCode::device without that device or NVRTC.   Cost: 0.1 to 0.5 s, most of it NVRTC's, the first
  /// time.
  MappedExecutor(const Problem& problem, const ElementMap& map, int device = kCurrentDevice);
  MappedExecutor(MappedExecutor&&) noexcept;
  MappedExecutor& operator=(MappedExecutor&&) noexcept;
  ~MappedExecutor();

  /// As Executor::run, but arrays have to be aligned to alignment() bytes: there is no kernel for others.
  void run(const void* in, void* out, Stream stream = {}) const;

  std::uint64_t alignment() const;     // 16 or less
  const ElementMap& map() const;       // with its element type
  const emit::Source& source() const;  // of a launch: 2^k arrays of the batch
  std::uint64_t launches() const;      // a run; 0 of an empty batch
  KernelResources resources() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace faro::cuda
