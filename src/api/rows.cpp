#include "faro/rows.hpp"

#include <string>
#include <vector>

#include "engines/cpu.hpp"
#include "engines/cpu/rows.hpp"
#include "faro/error.hpp"

namespace faro {
namespace {

void require_rows_array(const RowPlan& plan, const char* which, const void* data, std::uint64_t bytes,
                        std::uint64_t wanted) {
  const std::string operation = std::string("run ") + name(plan.move());
  if (bytes != wanted) {
    fail(ErrorCode::value, operation, std::string(which) + " of " + std::to_string(bytes) + " bytes",
         std::to_string(wanted) + " bytes");
  }
  if (bytes > 0 && data == nullptr)
    fail(ErrorCode::value, operation, std::string("a null pointer as ") + which, "an array");
}

bool rows_overlap(std::span<const std::byte> a, std::span<const std::byte> b) {
  const auto begin_a = reinterpret_cast<std::uintptr_t>(a.data());
  const auto begin_b = reinterpret_cast<std::uintptr_t>(b.data());
  return !a.empty() && !b.empty() && begin_a < begin_b + b.size() && begin_b < begin_a + a.size();
}

void require_row_arrays(const RowPlan& plan, std::span<const std::byte> in, std::span<std::byte> out) {
  require_rows_array(plan, "an input", in.data(), in.size(), plan.in_bytes());
  require_rows_array(plan, "an output", out.data(), out.size(), plan.out_bytes());
  const RowNumbers& numbers = row_numbers(plan.move());
  const std::span entries(static_cast<const std::byte*>(numbers.data),
                          numbers.count * static_cast<std::uint64_t>(numbers.type.bytes));
  if (rows_overlap(in, out) || rows_overlap(entries, out)) {
    fail(ErrorCode::value, std::string("run ") + name(plan.move()),
         rows_overlap(in, out) ? "an output that overlaps the input" : "an output that overlaps the entries",
         "arrays that lie apart");
  }
}

}  // namespace

void ExecutableRows::run(std::span<const std::byte> in, std::span<std::byte> out) const {
  require_row_arrays(plan_, in, out);
  cpu::run_rows(plan_, in.data(), out.data());
}

void ExecutableRows::run(std::span<const RowColumn> columns) const {
  std::vector<RowPlan> plans;
  plans.reserve(columns.size());
  for (const RowColumn& column : columns) {
    plans.push_back(plan_.with_rows_of(column.row_bytes));
    require_row_arrays(plans.back(), column.in, column.out);
  }
  for (std::size_t i = 0; i < columns.size(); ++i)
    cpu::run_rows(plans[i], columns[i].in.data(), columns[i].out.data());
}

ExecutableRows plan_rows(const RowMove& move, const RowLayout& layout, const RowOptions& options) {
  return ExecutableRows(RowPlan(move, layout, cpu::target(options.threads)));
}

}  // namespace faro
