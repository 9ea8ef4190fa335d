// Routing and combining on a device; on the host they are the CPU engine's.
#include <string>
#include <utility>

#include "api/array_checks.hpp"
#include "engines/cuda_rows.hpp"
#include "faro/error.hpp"
#include "faro/rows.hpp"
#include "permutation/route_checks.hpp"

namespace faro {
namespace {

std::uint64_t routed_bytes(const char* operation, std::uint64_t rows, std::uint64_t row_bytes) {
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(rows, row_bytes, &bytes) || bytes > std::uint64_t{1} << 62) {
    fail(ErrorCode::value, operation,
         std::to_string(rows) + " rows of " + std::to_string(row_bytes) + " bytes",
         "arrays of at most 2^62 bytes");
  }
  return bytes;
}

void require_routed_size(const char* operation, const char* which, std::span<const std::byte> array,
                         std::uint64_t wanted) {
  if (array.size() == wanted && (wanted == 0 || array.data() != nullptr)) return;
  fail(ErrorCode::value, operation,
       array.size() == wanted ? std::string("a null ") + which
                              : std::string("an ") + which + " of " + std::to_string(array.size()) + " bytes",
       std::to_string(wanted) + " bytes");
}

void require_routed_arrays(const char* operation, std::span<const std::byte> in, std::uint64_t in_bytes,
                           std::span<const std::byte> out, std::uint64_t out_bytes) {
  require_routed_size(operation, "input", in, in_bytes);
  require_routed_size(operation, "output", out, out_bytes);
}

}  // namespace

ExecutableRoute::ExecutableRoute(const RowNumbers& keys, const RouteOptions& options,
                                 std::shared_ptr<const cuda::RouteExecutor> executor)
    : keys_(keys), options_(options), executor_(std::move(executor)) {}

std::uint64_t ExecutableRoute::most_places() const { return executor_->most_places(); }
std::uint64_t ExecutableRoute::workspace_bytes() const { return executor_->workspace_bytes(); }

void ExecutableRoute::run(const DeviceRoute& to, Stream stream) const {
  detail::check_disjoint(keys_, options_, to);
  executor_->run(to, {}, stream, nullptr);
}

void ExecutableRoute::run(const DeviceRoute& to, Workspace workspace, Stream stream) const {
  for (const std::int64_t* const array : {to.places, to.inverse, to.rows, to.offsets, to.counts})
    detail::check_workspace(workspace, {.bytes = workspace_bytes(), .on_gpu = true}, array, array, 0);
  detail::check_disjoint(keys_, options_, to);
  executor_->run(to, {}, stream, workspace.data);
}

void ExecutableRoute::run_and_send(const DeviceRoute& to, std::uint64_t row_bytes,
                                   std::span<const std::byte> in, std::span<std::byte> out,
                                   Stream stream) const {
  constexpr const char* kSending = "route and dispatch";
  if (row_bytes == 0) fail(ErrorCode::value, kSending, "rows of 0 bytes", "rows of at least a byte");
  if ((keys_.count > 0 && to.places == nullptr) || (most_places() > 0 && to.rows == nullptr))
    fail(ErrorCode::value, kSending, "a null pointer", "arrays of places and rows");
  const std::uint64_t rows = keys_.count / options_.keys_per_row;
  require_routed_arrays(kSending, in, routed_bytes(kSending, rows, row_bytes), out,
                        routed_bytes(kSending, most_places(), row_bytes));
  detail::check_disjoint(keys_, options_, to);
  const auto list = [](const std::int64_t* data, std::uint64_t count) {
    return RowNumbers(data, data == nullptr ? 0 : count, {.bytes = 8, .is_signed = true});
  };
  detail::check_disjoint(kSending, detail::RunArray{"output", detail::laid(out)},
                         {{"input", detail::laid(in)},
                          {"keys", detail::laid(keys_)},
                          {"places", detail::laid(list(to.places, keys_.count))},
                          {"inverse", detail::laid(list(to.inverse, most_places()))},
                          {"rows", detail::laid(list(to.rows, most_places()))},
                          {"offsets", detail::laid(list(to.offsets, options_.buckets + 1))},
                          {"counts", detail::laid(list(to.counts, options_.buckets))}});
  executor_->run(to, {.row_bytes = row_bytes, .in = in.data(), .out = out.data()}, stream, nullptr);
}

void ExecutableRoute::check(Stream stream) const { executor_->check(stream); }

ExecutableRoute plan_route(const RowNumbers& keys, const RouteOptions& options, int device) {
  return {keys, options, std::make_shared<const cuda::RouteExecutor>(keys, options, device)};
}

ExecutableDispatch::ExecutableDispatch(const Dispatch& of, std::uint64_t row_bytes,
                                       std::shared_ptr<const cuda::DispatchExecutor> executor)
    : of_(of),
      in_bytes_(routed_bytes("dispatch", of.places.count / of.keys_per_row, row_bytes)),
      out_bytes_(routed_bytes("dispatch", of.rows, row_bytes)),
      executor_(std::move(executor)) {}

void ExecutableDispatch::run(std::span<const std::byte> in, std::span<std::byte> out, Stream stream) const {
  require_routed_arrays("dispatch", in, in_bytes_, out, out_bytes_);
  detail::check_disjoint(of_, in, out);
  executor_->run(in.data(), out.data(), stream);
}

void ExecutableDispatch::check(Stream stream) const { executor_->check(stream); }

ExecutableDispatch plan_dispatch(const Dispatch& of, std::uint64_t row_bytes, int device) {
  return {of, row_bytes, std::make_shared<const cuda::DispatchExecutor>(of, row_bytes, device)};
}

ExecutableCombine::ExecutableCombine(const Combine& of, std::uint64_t row_bytes,
                                     std::shared_ptr<const cuda::CombineExecutor> executor)
    : of_(of),
      in_bytes_(routed_bytes("combine", of.rows, row_bytes)),
      out_bytes_(routed_bytes("combine", of.places.count / of.keys_per_row, row_bytes)),
      executor_(std::move(executor)) {}

void ExecutableCombine::run(std::span<const std::byte> in, std::span<std::byte> out, Stream stream) const {
  require_routed_arrays("combine", in, in_bytes_, out, out_bytes_);
  detail::check_disjoint(of_, in, out);
  executor_->run(in.data(), out.data(), stream);
}

void ExecutableCombine::check(Stream stream) const { executor_->check(stream); }

ExecutableCombine plan_combine(const Combine& of, std::uint64_t row_bytes, int device) {
  return {of, row_bytes, std::make_shared<const cuda::CombineExecutor>(of, row_bytes, device)};
}

}  // namespace faro
