// What may be wrong with the arrays of a run: found before anything is written. Errors, all:
// ErrorCode::value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "faro/faro.hpp"

namespace faro::detail {

/// Two disjoint arrays of the plan's size, wherever they are, for a plan that takes two.
void check_arrays(const Plan& plan, const void* in, const void* out, std::uint64_t bytes);

/// One array of the plan's size, and a stream, for a plan in place; with engine cpu, an array of the host.
void check_array(const ExecutablePlan& plan, const void* data, std::uint64_t bytes, Stream stream);

/// The array of a plan in place, which run_staged takes as input and output.
void check_staged_array(const Plan& plan, const void* in, const void* out, std::uint64_t bytes);

/// An array and how many elements it has.
template <typename Pointer>
struct CountedArray {
  Pointer data = nullptr;
  std::uint64_t elements = 0;
};
/// Two disjoint arrays that a view's strides stay within.
void check_view(const StridedPlan& plan, const CountedArray<const void*>& in, const CountedArray<void*>& out);

/// Values of the plan's width.
void check_width(std::uint64_t bytes, std::uint64_t wanted);

/// Whether two arrays have a byte in common.
bool are_overlapping(std::span<const std::byte> a, std::span<const std::byte> b);

void check_stream(Engine engine, Stream stream);

void check_on_host(const void* in, const void* out, const char* remedy);
void check_workspace_on_host(const void* workspace);

struct WorkspaceNeeds {
  std::uint64_t bytes = 0;
  bool on_gpu = false;
};

/// Enough memory beside the arrays of `bytes` each; any where none is needed.
void check_workspace(const Workspace& workspace, const WorkspaceNeeds& needs, const void* in, const void* out,
                     std::uint64_t bytes);

}  // namespace faro::detail
