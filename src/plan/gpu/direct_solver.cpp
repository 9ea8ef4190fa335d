// Gather and scatter by the index array itself: one pass, vectors of entries where arrays allow them.
#include <algorithm>
#include <bit>

#include "plan/gpu/gpu_solver.hpp"

namespace faro::detail {
namespace {

// Every array is random within itself only: of many small ones each is as fast, an element, as one array of
// the best size up to theirs that fills the machine, and no faster than the copy.
std::optional<double> direct_us(const IndexWork& work) {
  const bool gathers = work.direction() == Direction::gather || work.turns_scatter();
  const IndexKernel kernel = gathers ? IndexKernel::gather : IndexKernel::scatter;
  const std::uint64_t total = work.count() * work.problem.batch;
  const auto whole = work.calibration.predict_us(kernel, work.width(), total);
  if (!whole || work.problem.batch <= 1) return whole;
  constexpr std::uint64_t kFills = std::uint64_t{1} << 20;
  const std::uint64_t size = std::min(total, std::max(work.count(), kFills));
  const double rate = *work.calibration.predict_us(kernel, work.width(), size) / static_cast<double>(size);
  const double least = work.calibration.predict_us(IndexKernel::copy, work.width(), total).value_or(0);
  return std::min(*whole, std::max(least, rate * static_cast<double>(total)));
}

// Entries of a device's memory are checked; a GPU may turn them round.
double direct_schedule_us(const IndexWork& work) {
  const double check = work.is_checked() ? 0 : index_pass_us(work, IndexKernel::check).value_or(0);
  return check + (work.turns_scatter() ? index_pass_us(work, IndexKernel::scatter).value_or(0) : 0);
}

IndexCandidate direct_candidate(const IndexWork& work) {
  const std::uint64_t indices = work.count() * static_cast<std::uint64_t>(work.index_bytes());
  return {.method = IndexMethod::direct,
          .bytes_moved = 2 * work.array_bytes() + indices,
          .schedule_bytes = indices,
          .curve_us = direct_us(work),
          .schedule_us = direct_schedule_us(work)};
}

// The array as it is given, on a device wherever it begins there; or as a GPU turns it round, into one of its
// own.
IndexForm direct_form(const IndexWork& work, const IndexCandidate& /*candidate*/) {
  constexpr std::uint64_t narrow_entries = std::uint64_t{1} << 32;
  if (work.turns_scatter()) return DirectForm{.index_bytes = work.count() > narrow_entries ? 8 : 4};
  const auto* const indexed = std::get_if<Indexed>(&work.problem.permutation);
  const bool elsewhere = indexed != nullptr && !indexed->on_host();
  const auto begin = elsewhere ? reinterpret_cast<std::uintptr_t>(indexed->device_entries()) : 0;
  return DirectForm{.index_bytes = work.index_bytes(), .aligned = begin % kernels::kMovedBytes == 0};
}

std::string direct_words(const GpuPass& /*pass*/, const PassWork& work) {
  return work.way == Way::forwards ? "each element is sent to the place that its index says"
                                   : "each element is fetched from the place that its index says";
}

// What a random sector costs depends on what the caches hold of the array and on its pages, which no count
// tells: by the measured curves (Pass::curve_us).
std::optional<double> direct_cost(const CountedPass& of) { return of.pass.curve_us; }

}  // namespace

std::vector<GpuPass> direct_passes(const PassWork& work) {
  const auto& form = std::get<DirectForm>(work.form);
  const kernels::ElementUnits units = work.units();
  const int unit = static_cast<int>(units.unit_bytes);
  const kernels::DirectParams params{
      .count = work.count,
      .arrays = work.batch,
      .units = units.units,
      .unit_bits = std::has_single_bit(units.units) ? std::countr_zero(units.units) : -1};
  const auto kernel = [&](DirectKind kind, std::uint64_t blocks, std::uint64_t alignment) {
    return GpuKernel{.id = DirectKernel{unit, form.index_bytes, work.way, kind},
                     .params = params,
                     .blocks = blocks,
                     .threads = kernels::kDirectThreads,
                     .in_alignment = alignment,
                     .out_alignment = alignment};
  };
  GpuPass pass{.kind = PassKind::indexed, .kernels = {}, .tables = {{TableKind::entries}}};
  const bool small = params.elements() * params.units < kernels::kSmallDirectUnits;
  if (small) {
    const bool one = work.batch == 1 && units.units == 1;
    pass.kernels = {kernel(one ? DirectKind::one : DirectKind::small, kernels::direct_blocks(params, 1, 1),
                           units.unit_bytes)};
    return {std::move(pass)};
  }
  if (form.aligned && kernels::direct_vectors_fit(params, unit)) {
    pass.kernels.push_back(
        kernel(DirectKind::vectors,
               kernels::direct_blocks(params, kernels::direct_vector(unit), kernels::kDirectVectorBatch),
               kernels::kMovedBytes));
  }
  pass.kernels.push_back(kernel(
      DirectKind::units, kernels::direct_blocks(params, 1, kernels::kDirectUnitBatch), units.unit_bytes));
  return {std::move(pass)};
}

const GpuSolver kDirectSolver{
    .makes = [](PassKind kind) { return kind == PassKind::indexed; },
    .is_method = [](IndexMethod method) { return method == IndexMethod::direct; },
    .candidates = [](const IndexWork& work) { return of_arrays(work, direct_candidate); },
    .asked = [](const IndexWork& work,
                const IndexChoice& choice) { return required(direct_candidate(work), choice); },
    .form = direct_form,
    .has_form = has_form<DirectForm>,
    .passes = direct_passes,
    .words = direct_words,
    .cost = direct_cost};

}  // namespace faro::detail
