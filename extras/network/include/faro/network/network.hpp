// A network made ready to run: the program planned, and an engine for the plan.
//
//     #include <faro/network/network.hpp>
//
//     const auto sorter =
//         network::compile({.program = network::sort(20), .element = {network::Scalar::f32}});
//     sorter.run(std::span<const float>(in), std::span<float>(out));
//
//     const auto on_gpu = network::compile(problem, {.engine = faro::Engine::cuda});
//     on_gpu.run(device_in, device_out, bytes, stream);            // queued; returns at once
//
// Engine cpu takes arrays of the host and returns when the result is there; engine cuda takes arrays of the
// device. `automatic` is cpu, for the same reason as in faro.hpp: a GPU would have to fetch the array first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "faro/engines/cuda.hpp"
#include "faro/network/plan.hpp"
#include "faro/stream.hpp"

namespace faro::network {

struct Options {
  Engine engine = Engine::automatic;
  int threads = 0;                    // engine cpu: 0 is what OpenMP would use (OMP_NUM_THREADS respected)
  int device = cuda::kCurrentDevice;  // engine cuda: ordinal
  int tile_bits = 0;                  // m, of elements; 0: the planner's choice
  int segment_bits = 0;               // s, of elements; 0: the planner's choice
};

/// A plan together with the engine that runs it. Cheap to move; every const member may be called from many
/// threads at once.
class Executable {
 public:
  Executable(Executable&&) noexcept;
  Executable& operator=(Executable&&) noexcept;
  ~Executable();

  /// Runs the program on every array of the batch. `bytes` is the size of each of the two, `in` and `out`,
  /// and must be plan().array_bytes(). One array as both is fine where runs_in_place(). Engine cpu: of any
  /// alignment; returns when the result is there. Engine cuda: queued on `stream`, as CudaExecutor::run says.
  /// Errors: ErrorCode::value for a null pointer, another size, arrays that overlap, a stream for engine cpu
  /// or memory that the engine cannot access; nothing is written then. A user's host function may throw: the
  /// output is then partly written.
  void run(const void* in, void* out, std::uint64_t bytes, Stream stream = {}) const;

  /// The same for spans of trivially copyable values whose total size is plan().array_bytes().
  template <typename T>
  void run(std::span<const T> in, std::span<T> out, Stream stream = {}) const {
    static_assert(std::is_trivially_copyable_v<T>, "elements are bytes to faro");
    require_same_size(in.size_bytes(), out.size_bytes());
    run(in.data(), out.data(), in.size_bytes(), stream);
  }

  const Plan& plan() const;
  Engine engine() const { return plan().engine(); }

  /// plan().explain(), and a line on how the engine runs it.
  std::string explain() const;

  /// How often a run sweeps the arrays: the plan's passes; with engine cuda CudaExecutor::launches(), which
  /// is more where one pass has several operators.
  std::size_t sweeps() const;

  /// Bytes that a run needs besides the two arrays. Engine cpu keeps them from the first run on; engine cuda
  /// takes and returns them in the stream's order.
  std::uint64_t workspace_bytes() const;

  /// Whether `in` and `out` may be one array. Engine cuda: never.
  bool runs_in_place() const;

 private:
  struct State;
  explicit Executable(std::unique_ptr<State> state);
  friend Executable compile(const Problem& problem, const Options& options);
  static void require_same_size(std::uint64_t in_bytes, std::uint64_t out_bytes);

  /// Errors, of all members: ErrorCode::value for one that was moved from.
  const State& state() const;

  std::unique_ptr<State> state_;
};

/// Plans `problem` and makes its engine ready. Errors: those of Plan's constructor; ErrorCode::value for
/// options that the engine has no use for; ErrorCode::unsupported for a user's operator that the engine
/// cannot run; ErrorCode::device for an engine that this build or machine has not.
/// Cost: planning, and some milliseconds for tables (engine cpu) or half a second (engine cuda, compiling).
Executable compile(const Problem& problem, const Options& options = {});

}  // namespace faro::network
