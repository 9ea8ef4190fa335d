#include "bench/gpu/arena.hpp"

#include <fmt/format.h>

#include "bench/arguments.hpp"
#include "bench/gpu/runtime.hpp"
#include "faro/error.hpp"
#include "gpu/device_oracle.hpp"
#include "gpu/oracle_problem.hpp"

namespace faro::bench::gpu {
namespace {

constexpr std::uint64_t kSeed = 1;

std::uint64_t require_free(std::uint64_t bytes) {
  std::size_t free_bytes = 0;
  std::size_t all_bytes = 0;
  check_cuda(cudaMemGetInfo(&free_bytes, &all_bytes), "cudaMemGetInfo");
  if (2 * bytes < free_bytes) return bytes;
  fail(ErrorCode::value, "gpu_bench --bytes", "two arrays of " + size_text(bytes),
       "at most the " + size_text(free_bytes) + " of device memory that are free",
       "smaller arrays: --bytes 256MiB");
}

}  // namespace

Arena::Arena(std::uint64_t bytes)
    : in_(require_free(bytes)), out_(bytes), findings_(sizeof(testing::Findings)) {
  testing::fill(in_.data(), bytes, kSeed, {});
  check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

void Arena::poison(std::uint64_t bytes) const {
  check_cuda(cudaMemset(out_.data(), static_cast<int>(testing::kDevicePoison), bytes), "cudaMemset");
  check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

void Arena::verify(const Problem& problem) const {
  auto* const findings = reinterpret_cast<testing::Findings*>(findings_.data());
  check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  check_cuda(cudaMemset(findings, 0xff, sizeof(*findings)), "cudaMemset");
  testing::examine(testing::oracle_problem(problem), {.in = in_.data(), .out = out_.data(), .seed = kSeed},
                   findings, {});
  testing::Findings found{};
  check_cuda(cudaMemcpy(&found, findings, sizeof(found), cudaMemcpyDeviceToHost), "cudaMemcpy");
  if (found.misplaced == testing::kNothing && found.input == testing::kNothing) return;
  fail(ErrorCode::verification,
       fmt::format("verify {} of {}-byte elements, {} arrays", to_text(problem.permutation),
                   problem.element_bytes, problem.batch),
       found.misplaced != testing::kNothing
           ? fmt::format("element {} of the input in a wrong place", found.misplaced)
           : "a changed input",
       "out[pi(x)] = in[x]", "this is a bug; please report it with the command");
}

std::string kernel_text(const Plan& plan) {
  if (plan.passes().empty()) return "none";
  const Pass& pass = plan.passes().front();
  if (!pass.launch) return "copy";
  const std::string threads =
      fmt::format("{} bytes a thread, {} threads", pass.launch->vector_bytes, pass.launch->threads);
  if (!pass.launch->tile) return fmt::format("{}, {}", name(pass.kind), threads);
  return fmt::format("tile of {}, segments of {} bytes, {}{}", size_text(pass.launch->shared_bytes),
                     pass.segment_bytes, threads, pass.launch->tile->blocked ? ", blocked" : "");
}

}  // namespace faro::bench::gpu
