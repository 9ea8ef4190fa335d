// Affine passes on a CPU, which the planners have made: who shares them out, and how they are written.
#include <fmt/format.h>

#include <limits>

#include "plan/cpu/affine_cost.hpp"
#include "plan/cpu/cpu_solver.hpp"

namespace faro::detail {
namespace {

std::string affine_loop(const CpuPass& pass) {
  const auto& affine = std::get<CpuAffine>(pass.kernel);
  const char* const ahead = affine.fetches_ahead ? ", fetched ahead" : "";
  switch (pass.kind) {
    case PassKind::copy:
      return "lines in order";
    case PassKind::segments:
      return std::string("whole segments") + ahead;
    case PassKind::tile:
      return fmt::format("tiles in registers of up to {} bytes{}", affine.vector_bytes, ahead);
    default:
      return "element by element";
  }
}

// By the curves where they know both; by the size beyond what the caches hold, or where it was asked for.
bool goes_past_caches(const Pass& pass, std::uint64_t unit_bytes, const Target& target) {
  const bool by_size = pass.bytes_read > target.streaming_bytes;
  const bool is_asked_for =
      target.streaming_bytes == 0 || target.streaming_bytes == std::numeric_limits<std::uint64_t>::max();
  const bool has_curves = pass.kind == PassKind::tile || pass.kind == PassKind::segments;
  const bool has_no_choice = by_size || is_asked_for || !has_curves || pass.orbits.has_value();
  if (has_no_choice || target.index_calibration == nullptr) return by_size;
  const auto us = [&](bool streamed) {
    return affine_thread_us(*target.index_calibration,
                            {.pass = pass, .unit_bytes = unit_bytes, .streamed = streamed});
  };
  const auto cached = us(false);
  const auto streamed = us(true);
  return cached && streamed ? *streamed < *cached : by_size;
}

}  // namespace

// In place every line has just been read, so it is written through the caches, and fetched ahead instead.
CpuPass cpu_affine_pass(const Pass& pass, std::uint64_t unit_bytes, const Target& target) {
  const bool beyond_caches = goes_past_caches(pass, unit_bytes, target);
  const bool in_place = pass.orbits.has_value();
  const bool one_by_one = pass.kind == PassKind::direct;  // small arrays, or the few that are left over
  return {.kind = pass.kind,
          .kernel = CpuAffine{.unit_bytes = unit_bytes,
                              .vector_bytes = target.vector_bytes,
                              .fetches_ahead = in_place && beyond_caches && !one_by_one,
                              .in_runs = beyond_caches && core_caches(target).has_large_second_level()},
          .source = in_place ? PassBuffer::data : PassBuffer::input,
          .target = in_place ? PassBuffer::data : PassBuffer::output,
          .arrays = pass.arrays,
          .threads = one_by_one
                         ? 1
                         : useful_threads(std::max(1, target.threads), pass.bytes_read, core_caches(target)),
          .streamed = beyond_caches && !in_place && !one_by_one};
}

// Of nearly all maps that were measured (bench/results).
const CpuSolver kCpuAffineSolver{
    .makes = is_kernel<CpuAffine>, .loop = affine_loop, .over_copy = [](const CpuPass& pass) {
      return pass.kind == PassKind::tile ? 1.25 : 1.0;
    }};

}  // namespace faro::detail
