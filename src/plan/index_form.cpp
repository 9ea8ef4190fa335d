#include "plan/index_form.hpp"

#include <algorithm>

#include "kernels/runs.hpp"
#include "plan/index_candidates.hpp"

namespace faro::detail {

PassTable table_of(const IndexForm& form, std::uint64_t count, const TableId& id) {
  const std::uint64_t places = 2 * count;
  const auto* const direct = std::get_if<DirectForm>(&form);
  const auto* const shape = std::get_if<schedule::PartitionShape>(&form);
  const auto* const runs = std::get_if<RunsForm>(&form);
  const std::uint64_t of_runs = 8 * (runs == nullptr ? 0 : runs->runs);
  const std::uint64_t buckets = shape == nullptr || shape->levels() == 0 ? 0 : shape->buckets(id.level);
  switch (id.kind) {
    case TableKind::entries: {
      // For another form they are worked out from its schedule, as narrow as they can be.
      const int narrowest = count <= std::uint64_t{1} << 32 ? 4 : 8;
      return {"entries",
              count * static_cast<std::uint64_t>(direct == nullptr ? narrowest : direct->index_bytes)};
    }
    case TableKind::shifts:
      return {"shifts", places};
    case TableKind::run_begins:
      return {"begins", of_runs};
    case TableKind::run_froms:
      return {"froms", of_runs};
    case TableKind::run_firsts:
      return {"firsts", 8 * (kernels::run_stretches(count) + 1)};
    case TableKind::run_sources:
      return {"sources", of_runs + 8};
    case TableKind::run_targets:
      return {"targets", of_runs};
    case TableKind::starts:
      return {"starts", 2 * shape->chunks() * buckets};
    case TableKind::offsets:
      return {"offsets", 4 * shape->chunks() * buckets};
    case TableKind::places:
    case TableKind::last:
    case TableKind::first:
    case TableKind::middle:
      break;
  }
  return {"places", places};
}

std::optional<double> pass_us(const IndexWork& work, const IndexCandidate& chosen, const IndexForm& form,
                              PassKind kind, int level, BatchOrder order) {
  const std::uint64_t batch = work.problem.batch;
  const std::uint64_t together = order == BatchOrder::in_turns ? 1 : batch;
  const auto curve = [&](IndexKernel kernel, int chunk_bits = 0, int run_bits = 0) {
    auto us =
        work.calibration.predict_us(kernel, work.width(), work.count() * together, chunk_bits, run_bits);
    const std::uint64_t rounds = batch / together;
    if (us) *us *= static_cast<double>(rounds);
    return us;
  };
  const auto* const shape = std::get_if<schedule::PartitionShape>(&form);
  switch (kind) {
    case PassKind::place:
    case PassKind::columns:
      return curve(IndexKernel::place, shape == nullptr ? 0 : shape->chunk_bits);
    case PassKind::pick:
      return curve(IndexKernel::pick, shape == nullptr ? 0 : shape->chunk_bits);
    case PassKind::spread:
    case PassKind::collect: {
      const int bits = shape->level_bits[static_cast<std::size_t>(level)];
      return curve(kind == PassKind::spread ? IndexKernel::spread : IndexKernel::collect, shape->chunk_bits,
                   std::max(0, shape->chunk_bits - bits));
    }
    default:
      break;
  }
  const bool turns = kind == PassKind::axes || kind == PassKind::copy;  // between passes along rows
  if (!turns || !std::holds_alternative<MatrixForm>(form)) return chosen.curve_us;
  constexpr double over_copy = 1.1;  // tiles reach about nine tenths of a copy
  auto us = curve(IndexKernel::copy);
  if (us) *us *= over_copy;
  return us;
}

}  // namespace faro::detail
