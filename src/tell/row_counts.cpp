#include "tell/row_counts.hpp"

#include <algorithm>
#include <numeric>
#include <variant>

#include "rounding.hpp"

namespace faro::detail {
namespace {

constexpr std::uint64_t kRowSector = 32;
constexpr std::uint64_t kRowLanes = 32;
constexpr std::uint64_t kRequestBytes = 512;

}  // namespace

RowCounts count_rows(const RowPlan& plan, const RowPass& pass) {
  const bool takes = std::holds_alternative<Take>(plan.move());
  const bool moves = pass.kernel == RowKernel::move_vectors || pass.kernel == RowKernel::move_bytes ||
                     pass.kernel == RowKernel::move_elements || pass.kernel == RowKernel::take_vectors;
  if (!moves) {
    return {.load_requests = ceil_div(pass.read_bytes, kRequestBytes),
            .load_sectors = ceil_div(pass.read_bytes, kRowSector),
            .store_requests = ceil_div(pass.written_bytes, kRequestBytes),
            .store_sectors = ceil_div(pass.written_bytes, kRowSector),
            .at_most = false};
  }
  const RowLayout& layout = plan.layout();
  const std::uint64_t row = layout.row_bytes;
  const std::uint64_t rows = row_numbers(plan.move()).count * layout.outer;
  const auto vector = static_cast<std::uint64_t>(pass.vector_bytes);
  // Vectors that two rows straddle are read in two parts; those of a row's end are written in two.
  const bool whole = row % vector == 0;
  const std::uint64_t vectors = whole ? rows * (row / vector) : rows * (ceil_div(row, vector) + 1);
  const std::uint64_t requests = ceil_div(vectors, kRowLanes);
  const std::uint64_t parts = whole ? 1 : 2;
  const std::uint64_t of_row = ceil_div(kRowSector - std::gcd(row, kRowSector) + row, kRowSector);
  const std::uint64_t elsewhere = rows * of_row + (row % kRowSector == 0 ? 0 : requests) * parts;
  const std::uint64_t in_order = ceil_div(rows * row, kRowSector) + (whole ? 0 : rows);
  const auto entry = static_cast<std::uint64_t>(row_numbers(plan.move()).type.bytes);
  const std::uint64_t rows_of_request = std::min(kRowLanes, ceil_div(kRowLanes * vector, row) + 1);
  const std::uint64_t entries = requests * (1 + ceil_div(rows_of_request * entry, kRowSector));
  return {.load_requests = requests * (1 + parts),
          .load_sectors = entries + (takes ? elsewhere : in_order),
          .store_requests = requests * parts,
          .store_sectors = takes ? in_order : elsewhere,
          .at_most = true};
}

std::optional<double> predict_us(const RowPlan& plan) {
  const std::uint64_t rows = row_numbers(plan.move()).count * plan.layout().outer;
  if (rows == 0) return 0;
  const IndexCalibration& curves = curves_of(plan.target());
  if (std::holds_alternative<Add>(plan.move())) {
    constexpr std::uint64_t kWidth = 16;
    std::uint64_t bytes = plan.in_bytes() + plan.out_bytes();
    const auto passes = plan.passes();
    if (!passes.empty()) bytes = 0;
    for (const RowPass& pass : passes) bytes += pass.read_bytes + pass.written_bytes;
    return curves.predict_us(IndexKernel::copy, kWidth, ceil_div(bytes, 2 * kWidth));
  }
  const bool takes = std::holds_alternative<Take>(plan.move());
  return curves.predict_us(takes ? IndexKernel::gather : IndexKernel::scatter, plan.layout().row_bytes, rows);
}

std::string rates_of(const RowPlan& plan) { return curves_of(plan.target()).source; }

}  // namespace faro::detail
