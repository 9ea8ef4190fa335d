#include "faro/rows.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "capi/status.hpp"
#include "faro/routing.hpp"

struct faro_routing {
  faro::Route route;
  std::vector<std::int64_t> rows;
};

namespace faro::capi {
namespace {

// The bytes of `rows` rows in each of `outer` arrays. Errors: ErrorCode::value past 2^62.
std::uint64_t bytes_of_rows(std::uint64_t outer, std::uint64_t rows, std::uint64_t row_bytes) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
  std::uint64_t bytes = 0;
  const bool overflows =
      __builtin_mul_overflow(outer, rows, &bytes) || __builtin_mul_overflow(bytes, row_bytes, &bytes);
  if (!overflows && bytes <= kMost) return bytes;
  fail(ErrorCode::value, "plan rows", "arrays past 2^62 bytes", "at most 2^62");
}

RowNumbers numbers_of(const void* entries, std::uint64_t count, int entry_bytes, int is_signed) {
  if (entry_bytes != 4 && entry_bytes != 8) {
    fail(ErrorCode::value, "read entries", "entries of " + std::to_string(entry_bytes) + " bytes",
         "entries of 4 or 8 bytes");
  }
  if (count > 0) require_argument(entries, "read entries", "entries");
  return {entries, count, {.bytes = entry_bytes, .is_signed = is_signed != 0}};
}

RowNumbers numbers_of(const faro_rows& rows) {
  return numbers_of(rows.entries, rows.count, rows.entry_bytes, rows.is_signed);
}

void run_rows(const faro_rows& rows, const RowMove& move, bool taken, const void* in, void* out) {
  const std::uint64_t in_rows = taken ? rows.rows : rows.count;
  const std::uint64_t out_rows = taken ? rows.count : rows.rows;
  const std::span from(static_cast<const std::byte*>(in), bytes_of_rows(rows.outer, in_rows, rows.row_bytes));
  const std::span to(static_cast<std::byte*>(out), bytes_of_rows(rows.outer, out_rows, rows.row_bytes));
  plan_rows(move, {.outer = rows.outer, .row_bytes = rows.row_bytes}, {.threads = rows.threads})
      .run(from, to);
}

Number number_of(faro_number number) {
  if (number < FARO_I8 || number > FARO_F64)
    fail(ErrorCode::value, "read a type of numbers", std::to_string(static_cast<int>(number)),
         "FARO_I8 to FARO_F64");
  return static_cast<Number>(number);
}
static_assert(static_cast<int>(Number::f64) == FARO_F64 && static_cast<int>(Number::f16) == FARO_F16);

Sums sums_of(faro_sums sums) {
  if (sums < FARO_SUMS_USUAL || sums > FARO_SUMS_COMPENSATED)
    fail(ErrorCode::value, "read a type of sums", std::to_string(static_cast<int>(sums)), "a faro_sums");
  return static_cast<Sums>(sums);
}
static_assert(static_cast<int>(Sums::compensated) == FARO_SUMS_COMPENSATED &&
              static_cast<int>(Sums::fp32) == FARO_SUMS_F32);

}  // namespace
}  // namespace faro::capi

using faro::capi::guarded;
using faro::capi::numbers_of;
using faro::capi::require_argument;

faro_status faro_take(const faro_rows* rows, const void* fill, uint64_t fill_bytes, const void* in,
                      void* out) {
  return guarded([&] {
    require_argument(rows, "take rows", "rows");
    faro::Take take{.from = numbers_of(*rows), .rows = rows->rows};
    if (fill != nullptr) {
      const auto* const bytes = static_cast<const std::byte*>(fill);
      take.fill = faro::Fill::of({bytes, bytes + fill_bytes});
    }
    faro::capi::run_rows(*rows, take, true, in, out);
  });
}

faro_status faro_put(const faro_rows* rows, const void* in, void* out) {
  return guarded([&] {
    require_argument(rows, "put rows", "rows");
    faro::capi::run_rows(*rows, faro::Put{.to = numbers_of(*rows), .rows = rows->rows}, false, in, out);
  });
}

faro_status faro_add(const faro_rows* rows, faro_number number, faro_sums sums, const void* in, void* out) {
  return guarded([&] {
    require_argument(rows, "add rows", "rows");
    const faro::Add add{.to = numbers_of(*rows),
                        .rows = rows->rows,
                        .number = faro::capi::number_of(number),
                        .sums = faro::capi::sums_of(sums)};
    faro::capi::run_rows(*rows, add, false, in, out);
  });
}

faro_status faro_route(const void* keys, uint64_t count, int key_bytes, int is_signed,
                       const faro_route_options* options, faro_routing** routing) {
  return guarded([&] {
    require_argument(options, "route keys", "options");
    require_argument(routing, "route keys", "routing");
    faro::RouteOptions routed{.buckets = options->buckets, .threads = options->threads};
    if (options->keys_per_row > 0) routed.keys_per_row = options->keys_per_row;
    if (options->multiple > 0) routed.multiple = options->multiple;
    if (options->capacity >= 0) routed.capacity = static_cast<uint64_t>(options->capacity);
    auto made = std::make_unique<faro_routing>();
    made->route = faro::route(numbers_of(keys, count, key_bytes, is_signed), routed);
    made->rows = made->route.taken_rows();
    *routing = made.release();
  });
}

void faro_route_destroy(faro_routing* routing) { delete routing; }

faro_status faro_route_get(const faro_routing* routing, faro_route_list list, const int64_t** entries,
                           uint64_t* count) {
  return guarded([&] {
    constexpr const char* kDoing = "tell of a routing";
    require_argument(routing, kDoing, "routing");
    require_argument(entries, kDoing, "entries");
    require_argument(count, kDoing, "count");
    const faro::Route& route = routing->route;
    const std::vector<std::int64_t>* const lists[] = {&route.places, &route.inverse, &route.offsets,
                                                      &route.counts, &routing->rows};
    if (list < FARO_ROUTE_PLACES || list > FARO_ROUTE_ROWS)
      faro::fail(faro::ErrorCode::value, kDoing, "list " + std::to_string(static_cast<int>(list)),
                 "a faro_route_list");
    *entries = lists[list]->data();
    *count = lists[list]->size();
  });
}

faro_status faro_route_lost(const faro_routing* routing, uint64_t* dropped, uint64_t* absent) {
  return guarded([&] {
    require_argument(routing, "tell of a routing", "routing");
    require_argument(dropped, "tell of a routing", "dropped");
    require_argument(absent, "tell of a routing", "absent");
    *dropped = routing->route.dropped;
    *absent = routing->route.absent;
  });
}

faro_status faro_combine(const faro_rows* rows, uint64_t keys_per_row, const float* weights,
                         faro_number number, faro_sums sums, const void* in, void* out) {
  return guarded([&] {
    require_argument(rows, "combine rows", "rows");
    if (keys_per_row == 0 || rows->count % keys_per_row != 0) {
      faro::fail(faro::ErrorCode::value, "combine rows",
                 std::to_string(rows->count) + " places, " + std::to_string(keys_per_row) + " of a row",
                 "a whole number of rows");
    }
    const faro::Combine combine{.places = numbers_of(*rows),
                                .rows = rows->rows,
                                .keys_per_row = keys_per_row,
                                .weights = {weights, weights == nullptr ? 0 : rows->count},
                                .number = faro::capi::number_of(number),
                                .sums = faro::capi::sums_of(sums)};
    const std::span from(static_cast<const std::byte*>(in),
                         faro::capi::bytes_of_rows(1, rows->rows, rows->row_bytes));
    const std::span to(static_cast<std::byte*>(out),
                       faro::capi::bytes_of_rows(1, rows->count / keys_per_row, rows->row_bytes));
    faro::combine(combine, rows->row_bytes, from, to, rows->threads);
  });
}
