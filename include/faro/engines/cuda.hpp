// The CUDA engine: plans run on a GPU, one tile of shared memory a block.
//
// Host-only C++: no CUDA header is needed to use it, and it is here even in a build without CUDA, where every
// function but status() refuses with ErrorCode::device, "cuda: not built".
//
//     auto plan = faro::plan(problem, {.engine = faro::Engine::cuda});
//     plan.run(device_in, device_out, bytes, stream);          // queues kernels, returns at once
//     plan.run_staged(host_in, host_out, bytes);               // host arrays: copies and kernels overlapped
//
// docs/guide/cuda-engine.md tells what it costs and what was measured.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "faro/plan/plan.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "faro/stream.hpp"

namespace faro::cuda {

/// Whether plans can run here.
struct Status {
  bool available = false;
  std::string reason;  // one line: "2 devices; built: …", "not built: …", "no driver: …"
};

/// Never throws. Cost: the first call starts the driver, up to a second.
Status status();

struct Device {
  int ordinal = 0;
  std::string name;  // "NVIDIA H200"
  int major = 0;     // compute capability
  int minor = 0;
  int multiprocessors = 0;
  double clock_mhz = 0;  // of the multiprocessors, at most
  std::uint64_t memory_bytes = 0;
  std::uint64_t free_memory_bytes = 0;
  std::uint64_t l2_bytes = 0;
  std::uint64_t shared_bytes_per_block = 0;  // with opt-in
  std::uint64_t shared_bytes_per_multiprocessor = 0;
};

/// The devices of this machine, by ordinal; empty where status() says unavailable. free_memory_bytes is 0
/// where another process has the device to itself.   Cost: the first call starts every device.
std::vector<Device> devices();

inline constexpr int kCurrentDevice = -1;  // the calling thread's, as cudaSetDevice left it

/// A device as a plan's target. Errors: ErrorCode::device without CUDA, driver or that device.
Target target(int device = kCurrentDevice);

/// The target that a plan would see on a device of this compute capability, with no such device at hand: for
/// `explain`. Never refuses: an unknown capability takes the entry of the nearest known one.
Target target_of_capability(int major, int minor);

/// What the compiler and the driver made of the kernel of a pass.
struct KernelResources {
  int registers = 0;  // a thread
  int blocks_per_multiprocessor = 0;
  std::uint64_t local_bytes = 0;  // a thread: stack and spills, 0 if all is well
};

/// A plan made ready to run on its target's device, whatever its permutation and placement: kernels loaded,
/// parameters made, and of an index array its schedule. Running waits for nothing.
class Executor {
 public:
  /// Requires: a plan whose target is this engine (checked). An index array may be on the host, then it is
  /// sent; where it is no permutation, that is found here.
  /// Errors: ErrorCode::value for that and for another device's array; ErrorCode::device for a device that is
  /// not there, too little memory for a schedule, saying what it needs, or a failed call.
  /// Cost: of an index array of 2^30 elements 20 ms, and what it takes to send it.
  explicit Executor(const Plan& plan);
  /// With a schedule that was made before. Errors: also ErrorCode::value for one of another count, method or
  /// direction than the plan's.
  Executor(const Plan& plan, const schedule::IndexSchedule& made);
  Executor(Executor&&) noexcept;
  Executor& operator=(Executor&&) noexcept;
  ~Executor();

  /// Queues the plan on `stream` and returns. May be called from many threads and for many streams at once,
  /// each with a workspace of its own, and while the stream is captured into a graph. The calling thread's
  /// current device is left as it was. `workspace`: workspace_bytes() of the device, aligned to 16; null:
  /// taken from the device's pool and returned to it in the stream's order.
  /// Requires: the arrays hold plan.in_bytes() and plan.out_bytes(), in memory that the plan's device can
  /// access, aligned to the element's widest power of two up to 16 bytes (checked); no overlap (unchecked
  /// here, checked by faro::ExecutablePlan). Where either array is not aligned to 16 bytes, slower kernels
  /// may move an element at a time. Uses the device's primary context, as the CUDA runtime does. Errors:
  /// ErrorCode::value for a host or foreign pointer or a misaligned one, ErrorCode::unsupported for more
  /// blocks than a launch may have (2^31 - 1), before anything is queued; ErrorCode::device for a failed
  /// launch, saying what had been queued.
  void run(const void* in, void* out, Stream stream = {}, void* workspace = nullptr) const;

  /// The same in place, of a plan that is (checked): data[b][pi(x)] = data[b][x] as it was. Allocates
  /// nothing: a workspace has to be lent where one is needed (checked).
  void run(void* data, Stream stream = {}, void* workspace = nullptr) const;

  /// As plan.workspace_bytes().
  std::uint64_t workspace_bytes() const;

  /// The schedule, fetched to the host: for saving. Errors: ErrorCode::unsupported for a plan without one.
  schedule::IndexSchedule schedule() const;
  std::uint64_t schedule_bytes() const;  // on the device; 0 without one

  /// One entry for each of plan.passes(): of a sweep of several kernels the worst; zeros for a copy, which is
  /// the driver's.
  std::vector<KernelResources> resources() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// How host arrays go through a device. Zeros leave the choice to the engine.
struct StagingOptions {
  std::uint64_t device_bytes = 0;  // most device memory to use; 0: half of what is free
  std::uint64_t piece_bytes = 0;   // most bytes of a piece; 0: enough pieces that they overlap, 8 to 64 MiB
  int threads = 0;                 // that gather and scatter, up to 4096; 0: what OpenMP would use
};

/// A plan made ready to run on arrays of the host, pageable or pinned, of any size: pieces travel to the
/// device, are permuted and travel back, and copies, kernels and the host's threads work at the same time.
/// docs/guide/staging.md tells what a piece is. Holds up to three pieces of pinned memory and of device
/// memory, each twice; making it pins them, which takes longer than permuting them.
class StagedExecutor {
 public:
  /// Requires: a plan whose target is this engine (checked).
  /// Errors: ErrorCode::unsupported where an array does not fit the device memory and the map's segments are
  /// too short for pieces, naming what it needs; ErrorCode::device for a device that is not there, too little
  /// device or pinned memory, or any other failed call.
  explicit StagedExecutor(const Plan& plan, const StagingOptions& options = {});
  StagedExecutor(StagedExecutor&&) noexcept;
  StagedExecutor& operator=(StagedExecutor&&) noexcept;
  ~StagedExecutor();

  /// Runs the plan once; returns when `out` is complete. Any alignment. May be called from many threads,
  /// which then take turns. Requires: both arrays hold plan.array_bytes() and are the host's or managed,
  /// without overlap (checked). Errors: ErrorCode::value for a null pointer, device memory or overlapping
  /// arrays, before anything is written; ErrorCode::device for a failed call, saying whether part of `out`
  /// has been written.
  void run(const void* in, void* out) const;

  std::uint64_t pieces() const;
  std::uint64_t piece_bytes() const;    // of the largest
  std::uint64_t segment_bytes() const;  // contiguous bytes of the host arrays
  int pieces_in_flight() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// StagedExecutor(plan, options).run(in, out): for arrays that are permuted once.
void run_staged(const Plan& plan, const void* in, void* out, const StagingOptions& options = {});

// --- index arrays in a device's memory

/// Index array `indices` of a device's memory as a permutation; nothing is copied, so it must live as long as
/// any copy of the result, and plan only while no work on it is pending. Checked for being a permutation when
/// it is planned or composed. Errors: ErrorCode::value for memory that is not the device's (naming
/// where it is) or misaligned entries.
Indexed indexed_on_device(const void* indices, std::uint64_t count, IndexType type, Direction direction,
                          int device = kCurrentDevice);
/// A checked copy on the device of entries that work on `stream` may still be writing: waits for that.
/// Errors: ErrorCode::value as indexed_on_device(), and where it is no permutation, in the words of Indexed's
/// constructors.
Indexed copied_on_device(const void* indices, std::uint64_t count, IndexType type, Direction direction,
                         int device = kCurrentDevice, Stream stream = {});
/// a o b, out[a(b(x))] = in[x], where one of the two or both are index arrays of a device; the other may be
/// any map, or an index array of the host. What is made lies on the device, and one plan of it moves by both
/// at once. An array and a map give one of the array's direction, two arrays a scatter. Errors:
/// ErrorCode::value for other counts, two devices, no array of a device, or one that is no permutation;
/// ErrorCode::device, saying how much is needed, for too little memory.   Cost: one sweep; its loads are at
/// random where a map comes before a scatter, or after a gather.
Indexed compose(const Permutation& a, const Permutation& b);

}  // namespace faro::cuda
