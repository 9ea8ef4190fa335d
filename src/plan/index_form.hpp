// The form in which a permutation that is not affine is carried out, as the solvers of both engines are given
// it, and what their passes have in common: tables of a schedule, and the time that curves predict.
//
//     form              passes                                          schedule
//     Axes, Cyclic      1                                               none
//     Modular           1                                               none
//     Computed          1                                               none
//     CyclicAxes        1, in as many parts as views                    none
//     DirectForm        1                                               the index array
//     WindowForm        1                                               shifts
//     RunsForm          1                                               begins and ends of runs
//     PartitionShape    a level each, and a last one                    places, starts, offsets
//     MatrixForm        rows, columns, rows; as published, five         places
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "faro/permutation/axes.hpp"
#include "faro/permutation/computed.hpp"
#include "faro/permutation/modular.hpp"
#include "faro/plan/index_plan.hpp"
#include "faro/problem/pass.hpp"
#include "faro/schedule/index_schedule.hpp"

namespace faro::detail {

struct IndexWork;

/// A table of a schedule, by what it is: an engine knows where it keeps it.
enum class TableKind {
  entries,
  shifts,
  run_begins,
  run_froms,
  run_firsts,
  run_sources,
  run_targets,
  places,
  starts,
  offsets,
  last,
  first,
  middle
};
struct TableId {
  TableKind kind = TableKind::entries;
  int level = 0;  // of places, starts and offsets
};

/// The index array itself, of entries so wide.
struct DirectForm {
  int index_bytes = 4;
  bool aligned = true;  // entries begin at 16 bytes
};
struct WindowForm {
  std::uint32_t window = 0;
};
struct RunsForm {
  std::uint64_t runs = 0;
};
struct MatrixForm {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  bool as_published = false;  // by five passes
};

using IndexForm = std::variant<Axes, Cyclic, Modular, CyclicAxes, Computed, DirectForm, WindowForm, RunsForm,
                               schedule::PartitionShape, MatrixForm>;

/// For `has_form` of a solver.
template <typename Wanted>
bool has_form(const IndexForm& form) {
  return std::holds_alternative<Wanted>(form);
}

/// That of a candidate.   Cost: of row_column and row_column_5, at most 2^16 divisions.
IndexForm form_of(const IndexWork& work, const IndexCandidate& candidate);

/// The table's name and its bytes.   Requires: a form that has it.
PassTable table_of(const IndexForm& form, std::uint64_t count, const TableId& id);

/// Whether the arrays of a batch go through all passes together or one after another.
enum class BatchOrder { together, in_turns };

/// Microseconds of a pass over all arrays, by the curves of its family. `level`: of a partition's passes.
std::optional<double> pass_us(const IndexWork& work, const IndexCandidate& chosen, const IndexForm& form,
                              PassKind kind, int level, BatchOrder order);

}  // namespace faro::detail
