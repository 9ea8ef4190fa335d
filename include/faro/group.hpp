// Many arrays at once: a list of permutations, each of an array of its own, carried out as one.
//
//     std::vector<faro::GroupMember> layers;                       // a cache from NHD to HND, K and V of each layer
//     for (const auto& [from, to] : arrays)
//       layers.push_back({.problem = {.permutation = faro::Axes({2048, 8, 128}, {1, 0, 2}), .element_bytes = 2},
//                         .in = from, .out = to});
//     const auto group = faro::plan_group(layers, {.engine = faro::Engine::cuda});
//     group.run(stream);                                           // one launch, no copy; may be captured
//
// Members differ in everything: shape, strides, map, width, and whether numbers are changed on the way. Equal
// problems are planned once, however many arrays they are of.
//
//     on a CPU    large arrays    by all threads, one after another
//                 the others      each by one thread, the heaviest first, small ones some at a time
//     on a GPU    one launch for each family of kernels: a block looks up which array it is of, heavy ones first
//
//     block     0    1    2    3    4    5         a table on the device, made with the group
//     member    2    2    2    0    0    1
//     its block 0    1    2    0    1    0
//     pointers  in  [ a0 a1 a2 ]  out [ b0 b1 b2 ] read when the launch runs: kept, of a call, or of the device
//
// So a captured graph is replayed with other arrays where whoever captured it writes other addresses to the
// table that run_table() was given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "faro/arithmetic.hpp"
#include "faro/faro.hpp"
#include "faro/rows.hpp"

namespace faro {

class Group;
struct GroupOptions;
namespace detail {
struct GroupPart;
Group plan_group(std::span<const GroupPart> parts, std::size_t members, const GroupOptions& options);
}  // namespace detail

/// What is done to one array, and where it lies. Of problem, plan and rows one is given.
struct GroupMember {
  /// A map or a view, with width, batch and placement. What is an index array that is carried out by a
  /// schedule, and what is in place, is planned by itself.
  Problem problem = {};
  /// A plan that is kept, such as an index array's with its schedule. The group uses it as long as it lives.
  const ExecutablePlan* plan = nullptr;
  /// Rows by a table: of engine cuda members of one plan go by the launches of ExecutableRows::run(columns).
  /// The group uses it as long as it lives.
  const ExecutableRows* rows = nullptr;
  /// Of a problem out of place: its numbers are changed while they are moved; then problem.element_bytes is
  /// not read. Without an addend. Members may share it.
  std::shared_ptr<const Arithmetic> arithmetic = nullptr;

  /// Null where pointers come with each run. In place `in` is null or `out`.
  const void* in = nullptr;
  void* out = nullptr;
  /// From these pointers, and those of each run, to where the arrays begin: may be negative.
  std::int64_t in_offset_bytes = 0;
  std::int64_t out_offset_bytes = 0;
};

struct GroupOptions {
  /// `automatic`: that of the first kept plan or rows, else the CPU's.
  Engine engine = Engine::automatic;
  int threads = 0;                    // of engine cpu; 0: what OpenMP would use
  int device = cuda::kCurrentDevice;  // of engine cuda
};

/// Arrays that are permuted together. Cheap to move; every const member may be called from many threads at
/// once.
class Group {
 public:
  Group(Group&&) noexcept;
  Group& operator=(Group&&) noexcept;
  ~Group();

  /// All members, by the pointers that they were made with: nothing is checked again, and of engine cuda
  /// nothing is copied or allocated but workspace_bytes(). Engine cpu returns when the results are there;
  /// engine cuda queues them, as a graph that it keeps, so that runs on several streams are one after another
  /// there. What one member writes no other reads, so they have no order. Errors: ErrorCode::value for a
  /// group with null pointers, and for a stream for engine cpu; ErrorCode::device.
  void run(Stream stream = {}) const;

  /// The same of other arrays, as many of each as there are members; of empty members any pointer. Engine
  /// cuda brings the addresses to the device in the stream's order. Errors, before anything is written:
  /// ErrorCode::value for other numbers of arrays, null pointers, memory that is not the engine's, and
  /// overlaps (plan_group() tells which are found); of engine cuda also for arrays that lie otherwise past
  /// an address that is a multiple of 32 than those that the group was made with, or that do not begin there
  /// where it was made without.
  void run(std::span<const void* const> ins, std::span<void* const> outs, Stream stream = {}) const;

  /// The same in memory that is lent, so that nothing is allocated: workspace_bytes() of where the arrays
  /// lie, aligned to 256 bytes. Empty spans: the pointers that it was made with. Errors: also
  /// ErrorCode::value for another workspace.
  void run(std::span<const void* const> ins, std::span<void* const> outs, Workspace workspace,
           Stream stream) const;

  /// The same by addresses that lie on the device, 2 size() of them: inputs, then outputs. They are read when
  /// the launches run, so that a graph may be replayed with others. Requires: arrays as run() checks them
  /// (unchecked: the host does not see them). Errors: ErrorCode::unsupported for engine cpu, and naming a
  /// member that has launches of its own; ErrorCode::value for a table that is not the device's.
  void run_table(const void* const* device_pointers, Stream stream = {}) const;

  std::size_t size() const;  // members
  Engine engine() const;
  /// What each run allocates where nothing is lent: of engine cuda the addresses that run(ins, outs) brings
  /// and what members with launches of their own need.
  std::uint64_t workspace_bytes() const;
  /// Of engine cuda; of engine cpu how often the team is woken.
  std::uint64_t launches() const;
  /// Read and written, of all members.
  std::uint64_t moved_bytes() const;
  /// Microseconds, of memory's rate and what launches take; nothing where the rate is not known.
  std::optional<double> predicted_us() const;
  /// Launches, blocks, bytes and predicted time, several lines.
  std::string explain() const;

  struct State;

 private:
  explicit Group(std::unique_ptr<const State> state);
  friend Group detail::plan_group(std::span<const detail::GroupPart> parts, std::size_t members,
                                  const GroupOptions& options);
  const State& state() const;
  std::unique_ptr<const State> state_;
};

/// Plans a group of any number of members, arrays of 0 elements among them.
///
/// Of members with pointers no output may share a byte with another output or an input: dense arrays are
/// told apart exactly, and so are strided ones, element by element, but for strides that would take some ten
/// thousand steps, which count as overlapping. Members without pointers are checked by run().
///
/// Errors: those of faro::plan, naming the member by its number; ErrorCode::value for overlaps, a plan of
/// another engine, and of engine cuda memory that is not the device's; ErrorCode::unsupported for an addend;
/// ErrorCode::device. Cost: a plan for each problem that differs from the others, some hundred nanoseconds a
/// member, and of engine cuda a table of 32 bytes a block, which is brought to the device.
Group plan_group(std::span<const GroupMember> members, const GroupOptions& options = {});

}  // namespace faro
