// What a rank on a GPU queues: passes over its part whose output lies in several arrays, strided views into
// another device's memory, and streams beside the caller's, on which an exchange goes on meanwhile.
//
// In a build without CUDA every constructor refuses with ErrorCode::device, "cuda: not built".
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "faro/plan/plan.hpp"
#include "faro/stream.hpp"
#include "plan/gpu/part_pass.hpp"

namespace faro::cuda {

/// A range of a pass's slices.
struct Slices {
  std::uint64_t first = 0;
  std::uint64_t count = 1;
};

class PartExecutor {
 public:
  /// Loads the kernel on `device`. `multiprocessors`: it takes so many and leaves the others free, for
  /// kernels that run at the same time; 0: all. Passes without tiles take all. Errors: ErrorCode::device for
  /// a failed call.
  PartExecutor(const faro::detail::PartPass& pass, int device, int multiprocessors = 0);
  PartExecutor(PartExecutor&&) noexcept;
  PartExecutor& operator=(PartExecutor&&) noexcept;
  ~PartExecutor();

  /// Queues it. `arrays`: where each of the arrays begins, those that nothing is written to may be null.
  /// Requires: arrays that the device can write to, aligned to pass().vector_bytes, without overlap
  /// (unchecked). Errors: ErrorCode::device for a failed launch.
  void run(const void* in, std::span<std::byte* const> arrays, const Slices& slices, Stream stream) const;

  const faro::detail::PartPass& pass() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// How much of a device a view's blocks take.
enum class ViewShare {
  all,
  over_links,  // what it writes is another device's: few blocks fill a link, and a view that stays has room
  beside_copies,  // a block on a multiprocessor, which leaves memory's rate to copy engines
};

class PeerView {
 public:
  /// A view on `plan.target().device`. Errors: ErrorCode::device for a failed call.
  PeerView(const Plan& plan, ViewShare share);
  PeerView(PeerView&&) noexcept;
  PeerView& operator=(PeerView&&) noexcept;
  ~PeerView();

  /// Queues it. Requires: arrays that the device can reach, of plan.in_bytes() and plan.out_bytes(),
  /// without overlap (unchecked). Errors: ErrorCode::value for misaligned arrays; ErrorCode::device for a
  /// failed launch.
  void run(const void* in, void* out, Stream stream) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A stream beside the caller's, of high priority.
class SideStream {
 public:
  explicit SideStream(int device);
  /// One of the priority of others whose kernels run on so many multiprocessors alone, of `device`, or a few
  /// less; none where the driver cannot part them.
  static std::optional<SideStream> on_few(int device, int multiprocessors);
  SideStream(SideStream&&) noexcept;
  SideStream& operator=(SideStream&&) noexcept;
  ~SideStream();

  Stream stream() const;
  /// Its later work waits for what is queued on `other` so far.
  void follow(Stream other);
  /// What is queued on it so far is step k, counted from 0.
  void mark(std::size_t k);
  /// Later work of `other` waits for step k, which was marked.
  void lead(Stream other, std::size_t k);

 private:
  struct State;
  explicit SideStream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Queues a copy as copy_between() does, of rows whose starts are apart.
struct CopiedRows {
  std::uint64_t from_pitch_bytes = 0;
  std::uint64_t to_pitch_bytes = 0;
  std::uint64_t row_bytes = 0;
  std::uint64_t rows = 0;
};
void copy_rows_between(const void* from, void* to, const CopiedRows& rows, int device, Stream stream);

/// Memory of the host that devices copy from and to at the links' rate. Grows, and does not shrink.
class PinnedArray {
 public:
  PinnedArray() = default;
  PinnedArray(const PinnedArray&) = delete;
  PinnedArray& operator=(const PinnedArray&) = delete;
  ~PinnedArray();  // NOLINT(performance-trivially-destructible): frees memory where CUDA is built

  /// At least so many bytes; what was in it is lost where it grows. Errors: ErrorCode::device.
  std::byte* of_bytes(std::uint64_t bytes);

 private:
  std::byte* data_ = nullptr;
  [[maybe_unused]] std::uint64_t bytes_ = 0;  // unused where CUDA is not built
};

/// Waits for all work queued on a stream. Errors: ErrorCode::device where it failed.
void finish(int device, Stream stream);

/// Whether all work queued on a stream is done. Errors: ErrorCode::device where it failed.
bool is_done(int device, Stream stream);

// One of several GPUs of a process, as the others see it: when its array is ready, and when it has copied.
//
// Everything is queued; nothing waits but streams for each other's events. In a build without CUDA the
// constructor refuses with ErrorCode::device, "cuda: not built".

class PeerEnd {
 public:
  /// Lets `device` reach the memory of the others where the machine can; where it cannot, copies go through
  /// the host. Errors: ErrorCode::device for a device that is not there, or a failed call.
  PeerEnd(int device, const std::vector<int>& others);
  ~PeerEnd();
  PeerEnd(const PeerEnd&) = delete;
  PeerEnd& operator=(const PeerEnd&) = delete;

  int device() const;
  /// Whether kernels of each device can write into the memory of all others.
  bool reaches_all() const;

  /// What is queued on `stream` so far is what others may read behind wait_until_ready().
  void mark_ready(Stream stream);
  /// Later work of `stream`, of this device, waits for the other's mark. The mark has to have been made: the
  /// caller's threads see to that.
  void wait_until_ready(const PeerEnd& other, Stream stream) const;
  /// Queues a copy from a device to this one.
  void copy(const std::byte* from, int from_device, std::byte* to, std::uint64_t bytes, Stream stream) const;
  /// The same two for the copies themselves.
  void mark_copied(Stream stream);
  void wait_until_copied(const PeerEnd& other, Stream stream) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Arrays on the devices of other ranks of a machine, in this process or in others, as kernels of a device
/// reach them.
class PeerArrays {
 public:
  /// Errors: ErrorCode::device for a device that is not there.
  explicit PeerArrays(int device);
  ~PeerArrays();
  PeerArrays(const PeerArrays&) = delete;
  PeerArrays& operator=(const PeerArrays&) = delete;

  /// By which open() finds an array of this device on other ranks: a line. Errors: ErrorCode::device for a
  /// failed call.
  std::string address_of(void* array);
  /// Where the arrays with these addresses begin; an allocation of another process is opened once, and
  /// closed when another one has come in its place, or with this object. Errors: ErrorCode::value for memory
  /// that cannot be reached, as that of another machine, or of another process and not of cudaMalloc;
  /// ErrorCode::device for a failed call.
  std::vector<std::byte*> open(std::span<const std::string> addresses);
  /// Closes all that were opened. Requires: no kernel uses them any more (unchecked).
  void close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace faro::cuda
