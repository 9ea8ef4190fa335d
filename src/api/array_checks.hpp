// What may be wrong with the arrays of a run: found before anything is written. Errors, all:
// ErrorCode::value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "disjoint.hpp"
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
/// Two disjoint arrays that a view's strides stay within. Requires: a plan of a view.
void check_view(const Plan& plan, const CountedArray<const void*>& in, const CountedArray<void*>& out);

/// The elements of a view on both sides, by the addresses of the arrays that it is of.
class SidesOfView {
 public:
  SidesOfView(const Strided& view, std::uint64_t element_bytes, const void* in, const void* out);
  LaidArray in() const { return {in_, element_bytes_, extents_, in_stride_bytes_}; }
  LaidArray out() const { return {out_, element_bytes_, extents_, out_stride_bytes_}; }

 private:
  std::uint64_t element_bytes_;
  std::vector<std::uint64_t> extents_;
  std::vector<std::int64_t> in_stride_bytes_;
  std::vector<std::int64_t> out_stride_bytes_;
  const std::byte* in_;
  const std::byte* out_;
};

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
