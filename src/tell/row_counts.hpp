// What a launch that moves rows does to a GPU's memories, and how long moves of rows take.
//
// Its kernels are no phases over the counting memory, and what they touch is what entries say that lie on the
// device; so these are bounds, and said to be.
//
//     take, put     a warp's 32 vectors are a request, an entry's load before it, and the side that is moved
//                   in order has its least sectors; a row elsewhere at most
//
//                       ceil((32 - gcd(row, 32) + row) / 32)     sectors, one more where a request cuts it
//
//     add           no fewer than the bytes of its steps need, in requests of 512 bytes
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "faro/plan/row_plan.hpp"

namespace faro::detail {

struct RowCounts {
  std::uint64_t load_requests = 0;
  std::uint64_t load_sectors = 0;
  std::uint64_t store_requests = 0;
  std::uint64_t store_sectors = 0;
  bool at_most = true;  // else at least
};

/// Counts one of plan.passes().
RowCounts count_rows(const RowPlan& plan, const RowPass& pass);

/// Microseconds of the whole plan, on either engine: rows that are taken or put as elements of an index array
/// are that go one by one, by the measured curves; sums on a GPU at a copy's rate, which is the least.
/// Nothing where no curve is known.
std::optional<double> predict_us(const RowPlan& plan);

/// Whose curves or rates, in words.
std::string rates_of(const RowPlan& plan);

}  // namespace faro::detail
