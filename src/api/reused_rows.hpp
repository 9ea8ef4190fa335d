// Elements that are taken, put or added again and again by the same entries, on a device: a permutation
// between two streams.
//
//     take   in, in the order of the entries, repeats and all    -->  permuted to where they go; the first pass
//                                                                     of that takes, too, where it can
//     put    permuted into the order of the entries              -->  written in that order
//     add    permuted into the order of the entries              -->  each sum's elements side by side
//
// The entries in their own order are made once (engines/cuda_rows.hpp: sorted_rows); which position each came
// from is a permutation, planned as any other (faro/faro.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engines/cuda_rows.hpp"
#include "faro/faro.hpp"

namespace faro::detail {

class ReusedRows {
 public:
  /// Nothing where elements go as fast without: others than of 4 or 8 bytes, several arrays, few elements,
  /// entries that name no row. Waits. Errors: those of sorted_rows and of planning an index array.
  static std::shared_ptr<const ReusedRows> of(const RowPlan& plan);

  /// Queues. `workspace`: of workspace_bytes(), aligned to 16.
  void run(const void* in, void* out, void* workspace, Stream stream) const;
  std::uint64_t workspace_bytes() const;
  std::string explain() const;

 private:
  ReusedRows(const RowPlan& plan, cuda::SortedRows sorted, ExecutablePlan permutation);
  ReusedRows(const RowPlan& plan, Plan permutation, std::unique_ptr<const cuda::TakePasses> passes);
  std::uint64_t stream_bytes() const;
  bool takes() const { return std::holds_alternative<Take>(plan_.move()); }

  RowPlan plan_;
  std::unique_ptr<const cuda::TakePasses> passes_;  // with the plan that they are of, or
  std::optional<Plan> planned_;
  cuda::SortedRows sorted_;  // these two
  std::optional<ExecutablePlan> permutation_;
};

}  // namespace faro::detail
