#include "api/array_checks.hpp"

#include "api/planning.hpp"
#include "engines/cuda/host/device_pointer.hpp"

namespace faro::detail {
namespace {

// No array goes past the last address, which a pointer that is none would have it do.
void check_ends(const void* array, std::uint64_t bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(array);
  if (bytes > 0 && first + (bytes - 1) < first)
    fail(ErrorCode::value, "run", "an array that ends past the last address", "memory of this process");
}

constexpr const char* kOtherPlacement = "Problem::placement says which a plan takes";

void check_size(const Plan& plan, std::uint64_t bytes) {
  if (plan.given().view)
    fail(ErrorCode::value, "run", "one size for a plan of a strided view",
         "the elements of each of its arrays");
  const std::uint64_t wanted = plan.array_bytes();
  if (bytes == wanted) return;
  fail(ErrorCode::value, "run", std::to_string(bytes) + " bytes",
       std::to_string(wanted) + " bytes, batch x elements x element width");
}

// An array's part in a run: in place there is one.
std::string role(const void* array, const void* in, const void* out) {
  if (in == out) return "array";
  return array == in ? "input" : "output";
}

}  // namespace

SidesOfView::SidesOfView(const Strided& view, std::uint64_t element_bytes, const void* in, const void* out)
    : element_bytes_(element_bytes),
      extents_(view.extents),
      in_stride_bytes_(view.in_strides),
      out_stride_bytes_(view.out_strides),
      in_(static_cast<const std::byte*>(in) + view.in_offset * element_bytes),
      out_(static_cast<const std::byte*>(out) + view.out_offset * element_bytes) {
  for (auto* const strides : {&in_stride_bytes_, &out_stride_bytes_}) {
    for (std::int64_t& stride : *strides) stride *= static_cast<std::int64_t>(element_bytes);
  }
}

void check_arrays(const Plan& plan, const void* in, const void* out, std::uint64_t bytes) {
  if (plan.problem().placement == Placement::in_place)
    fail(ErrorCode::value, "run", "two arrays for a plan in place", "one array, run(data, bytes)",
         kOtherPlacement);
  check_size(plan, bytes);
  if (bytes == 0) return;
  if (in == nullptr || out == nullptr)
    fail(ErrorCode::value, "run", in == nullptr ? "a null input" : "a null output", "an array");
  check_ends(in, bytes);
  check_ends(out, bytes);
  check_disjoint("run", RunArray{"output", {out, bytes}}, {{"input", {in, bytes}}},
                 "in place: a plan with Placement::in_place takes one");
}

void check_view(const Plan& plan, const CountedArray<const void*>& in, const CountedArray<void*>& out) {
  const Problem& problem = plan.given();
  const auto require = [&](const char* side, std::uint64_t got, std::uint64_t wanted_bytes) {
    const std::uint64_t wanted = wanted_bytes / problem.element_bytes;
    if (got >= wanted) return;
    fail(ErrorCode::value, "run", std::string("an ") + side + " of " + std::to_string(got) + " elements",
         "at least " + std::to_string(wanted) + ", which the strides reach");
  };
  require("input", in.elements, plan.in_bytes());
  require("output", out.elements, plan.out_bytes());
  if (plan.array_bytes() == 0) return;
  if (in.data == nullptr || out.data == nullptr)
    fail(ErrorCode::value, "run", in.data == nullptr ? "a null input" : "a null output", "an array");
  // What the strides reach: the rest of the arrays is not touched.
  check_ends(in.data, plan.in_bytes());
  check_ends(out.data, plan.out_bytes());
  if (!share_bytes({in.data, plan.in_bytes()}, {out.data, plan.out_bytes()})) return;
  const SidesOfView sides(*problem.view, problem.element_bytes, in.data, out.data);
  check_disjoint("run", RunArray{"output", sides.out()}, {{"input", sides.in()}},
                 "a view is copied out of place");
}

void check_array(const ExecutablePlan& plan, const void* data, std::uint64_t bytes, Stream stream) {
  if (plan.plan().problem().placement != Placement::in_place)
    fail(ErrorCode::value, "run", "one array for a plan out of place", "two arrays, run(in, out, bytes)",
         kOtherPlacement);
  check_size(plan.plan(), bytes);
  check_stream(plan.engine(), stream);
  if (bytes == 0) return;
  if (data == nullptr) fail(ErrorCode::value, "run", "a null array", "an array");
  check_ends(data, bytes);
  if (plan.engine() != Engine::cuda) check_on_host(data, data, "plan for engine cuda");
}

void check_staged_array(const Plan& plan, const void* in, const void* out, std::uint64_t bytes) {
  check_size(plan, bytes);
  if (in != out)
    fail(ErrorCode::value, "run", "two arrays for a plan in place", "one array as input and output",
         kOtherPlacement);
  if (bytes > 0 && in == nullptr) fail(ErrorCode::value, "run", "a null array", "an array");
  check_ends(in, bytes);
}

void check_stream(Engine engine, Stream stream) {
  if (engine == Engine::cuda || stream.handle() == nullptr) return;
  fail(ErrorCode::value, "run", "a stream for engine cpu", "no stream: it returns when the result is there");
}

void check_on_host(const void* in, const void* out, const char* remedy) {
  for (const void* const array : {in, out}) {
    if (cuda::is_device_memory(array)) {
      fail(ErrorCode::value, "run", "a device pointer as the " + role(array, in, out), "memory of the host",
           remedy);
    }
  }
}

void check_workspace_on_host(const void* workspace) {
  if (cuda::is_device_memory(workspace))
    fail(ErrorCode::value, "run", "a device pointer as the workspace", "memory of the host");
}

void check_workspace(const Workspace& workspace, const WorkspaceNeeds& needs, const void* in, const void* out,
                     std::uint64_t bytes) {
  const std::uint64_t needed = needs.bytes;
  if (needed == 0) return;
  if (workspace.bytes < needed || workspace.data == nullptr) {
    fail(ErrorCode::value, "run",
         workspace.data == nullptr ? "a null workspace"
                                   : "a workspace of " + std::to_string(workspace.bytes) + " bytes",
         "workspace_bytes() of them, " + std::to_string(needed));
  }
  check_ends(workspace.data, needed);
  for (const void* const array : {in, out}) {
    if (share_bytes({array, bytes}, {workspace.data, needed})) {
      fail(ErrorCode::value, "run", "a workspace that overlaps the " + role(array, in, out),
           "memory of its own");
    }
  }
  constexpr std::uintptr_t kAlignment = 16;
  if (needs.on_gpu && reinterpret_cast<std::uintptr_t>(workspace.data) % kAlignment != 0) {
    fail(ErrorCode::value, "run", "a workspace that is not aligned to 16 bytes", "one that is");
  }
}

}  // namespace faro::detail
