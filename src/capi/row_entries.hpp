// What faro.h's structs of rows are in C++, for moves on the host and on GPUs.
#pragma once

#include <cstdint>

#include "faro/faro.h"
#include "faro/rows.hpp"

namespace faro::capi {

/// The bytes of `rows` rows in each of `outer` arrays. Errors: ErrorCode::value past 2^62.
std::uint64_t bytes_of_rows(std::uint64_t outer, std::uint64_t rows, std::uint64_t row_bytes);

/// `is_signed`: as in faro_rows. Errors: ErrorCode::value for entries of other widths than 1, 2, 4 and 8, and
/// null ones.
RowNumbers numbers_of(const void* entries, std::uint64_t count, int entry_bytes, int is_signed);

/// Those of a faro_rows. Errors: as numbers_of.
RowNumbers entries_in(const faro_rows& rows);

/// `fill`: as faro_take's. Errors: ErrorCode::value for one longer than a row of the output, which is not
/// read.
Take take_of(const faro_rows& rows, const void* fill, std::uint64_t fill_bytes, std::uint64_t out_row_bytes);

/// Errors: ErrorCode::value for no type of sums.
Sums sums_of(faro_sums sums);

/// Errors: ErrorCode::value for no type of numbers.
Number number_of(faro_number number);

RouteOptions route_options(const faro_route_options& options);

/// Errors: ErrorCode::value for places that are no whole rows, and for no such number or sums.
Combine combine_of(const faro_rows& rows, std::uint64_t keys_per_row, const float* weights,
                   faro_number number, faro_sums sums);

}  // namespace faro::capi
