#include "faro/rows.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "api/array_checks.hpp"
#include "capi/plans.hpp"
#include "capi/row_entries.hpp"
#include "capi/status.hpp"
#include "widths.hpp"

struct faro_row_plan {
  faro::ExecutableRows rows;
};

const faro::ExecutableRows& faro::capi::rows_of(const faro_row_plan& plan) { return plan.rows; }

struct faro_routing {
  faro::Route route;
  std::vector<std::int64_t> rows;
};

namespace faro::capi {

std::uint64_t bytes_of_rows(std::uint64_t outer, std::uint64_t rows, std::uint64_t row_bytes) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
  std::uint64_t bytes = 0;
  const bool overflows =
      __builtin_mul_overflow(outer, rows, &bytes) || __builtin_mul_overflow(bytes, row_bytes, &bytes);
  if (!overflows && bytes <= kMost) return bytes;
  fail(ErrorCode::value, "plan rows", "arrays past 2^62 bytes", "at most 2^62");
}

namespace {

bool is_big_endian(int is_signed) {
  return is_signed == FARO_BIG_ENDIAN || is_signed == (FARO_BIG_ENDIAN | 1);
}

}  // namespace

RowNumbers numbers_of(const void* entries, std::uint64_t count, int entry_bytes, int is_signed) {
  if (entry_bytes != 1 && entry_bytes != 2 && entry_bytes != 4 && entry_bytes != 8) {
    fail(ErrorCode::value, "read entries", "entries of " + std::to_string(entry_bytes) + " bytes",
         "entries of 1, 2, 4 or 8 bytes");
  }
  if (count > 0) require_argument(entries, "read entries", "entries");
  return {entries,
          count,
          {.bytes = entry_bytes, .is_signed = is_signed != 0 && is_signed != FARO_BIG_ENDIAN},
          is_big_endian(is_signed) ? ByteOrder::big : ByteOrder::little};
}

RouteOptions route_options(const faro_route_options& options) {
  require_zeros(options.reserved, "route keys");
  RouteOptions routed{.buckets = options.buckets, .threads = options.threads};
  if (options.keys_per_row > 0) routed.keys_per_row = options.keys_per_row;
  if (options.multiple > 0) routed.multiple = options.multiple;
  if (options.capacity >= 0) routed.capacity = static_cast<std::uint64_t>(options.capacity);
  return routed;
}

RowNumbers entries_in(const faro_rows& rows) {
  return numbers_of(rows.entries, rows.count, rows.entry_bytes, rows.is_signed);
}

Take take_of(const faro_rows& rows, const void* fill, std::uint64_t fill_bytes, std::uint64_t out_row_bytes) {
  Take take{.from = entries_in(rows), .rows = rows.rows};
  if (fill != nullptr && fill_bytes > out_row_bytes)  // before it is read
    fail(ErrorCode::value, "take", "a fill of " + std::to_string(fill_bytes) + " bytes",
         "one that divides a row of " + std::to_string(out_row_bytes) + " bytes");
  if (fill != nullptr && fill_bytes == 0) {
    take.fill = Fill::kept();
  } else if (fill != nullptr) {
    const auto* const bytes = static_cast<const std::byte*>(fill);
    take.fill = Fill::of({bytes, bytes + fill_bytes});
  }
  return take;
}

Sums sums_of(faro_sums sums) {
  if (sums < FARO_SUMS_USUAL || sums > FARO_SUMS_COMPENSATED)
    fail(ErrorCode::value, "read a type of sums", std::to_string(static_cast<int>(sums)), "a faro_sums");
  return static_cast<Sums>(sums);
}
static_assert(static_cast<int>(Sums::compensated) == FARO_SUMS_COMPENSATED &&
              static_cast<int>(Sums::fp32) == FARO_SUMS_F32);

Number number_of(faro_number number) {
  if (number < FARO_I8 || number > FARO_F64)
    fail(ErrorCode::value, "read a type of numbers", std::to_string(static_cast<int>(number)),
         "FARO_I8 to FARO_F64");
  return static_cast<Number>(number);
}

namespace {

// Takes that are over before a plan would be made. Nothing is done where the plan has to say what is wrong.
constexpr std::uint64_t kFewBytes = std::uint64_t{1} << 20;  // of the output: no work for two threads

// Bytes of the input up to which no lines are fetched ahead: of rows of several lines the processor does so.
std::uint64_t near_bytes(std::uint64_t row_bytes) {
  constexpr std::uint64_t kLineBytes = 64;
  return row_bytes > kLineBytes ? std::uint64_t{4} << 20 : std::uint64_t{512} << 10;
}

template <typename Entry, typename Width>
void take_rows_now(Width width, const faro_rows& rows, const std::byte* in, std::byte* out) {
  const auto* const entries = static_cast<const Entry*>(rows.entries);
  for (std::uint64_t array = 0; array < rows.outer; ++array) {
    const std::byte* const from = in + array * rows.rows * width;
    std::byte* const to = out + array * rows.count * width;
    for (std::uint64_t i = 0; i < rows.count; ++i)
      std::memcpy(to + i * width, from + static_cast<std::uint64_t>(entries[i]) * width, width);
  }
}

template <typename Entry>
bool took(const faro_rows& rows, const std::byte* in, std::byte* out) {
  const auto* const entries = static_cast<const Entry*>(rows.entries);
  // What is none of 0 .. rows - 1, -1 too, shows in a top bit.
  constexpr int kTopBit = 63;
  const std::uint64_t last = rows.rows - 1;
  std::uint64_t outside = 0;
  for (std::uint64_t i = 0; i < rows.count; ++i) {
    const auto row = static_cast<std::uint64_t>(entries[i]);
    outside |= (last - row) | row;
  }
  if (outside >> kTopBit != 0) return false;
  detail::with_width(rows.row_bytes, [&](auto width) { take_rows_now<Entry>(width, rows, in, out); });
  return true;
}

bool took_few(const faro_rows& rows, const void* in, void* out) {
  const std::uint64_t near = near_bytes(rows.row_bytes);
  const bool few = rows.row_bytes > 0 && rows.row_bytes <= kFewBytes && rows.count > 0 &&
                   rows.count <= kFewBytes && rows.outer > 0 && rows.outer <= kFewBytes && rows.rows > 0 &&
                   rows.rows <= near && rows.rows * rows.outer * rows.row_bytes <= near &&
                   rows.count * rows.outer * rows.row_bytes <= kFewBytes;
  if (!few || is_big_endian(rows.is_signed) || rows.entries == nullptr || in == nullptr || out == nullptr)
    return false;
  const std::uint64_t in_bytes = bytes_of_rows(rows.outer, rows.rows, rows.row_bytes);
  const std::uint64_t out_bytes = rows.count * rows.outer * rows.row_bytes;
  const auto first = reinterpret_cast<std::uintptr_t>(in);
  const auto begin = reinterpret_cast<std::uintptr_t>(out);
  const auto list = reinterpret_cast<std::uintptr_t>(rows.entries);
  const std::uint64_t list_bytes = rows.count * static_cast<std::uint64_t>(rows.entry_bytes);
  const auto width = static_cast<std::uintptr_t>(rows.entry_bytes);
  const bool apart = (begin + out_bytes <= first || first + in_bytes <= begin) &&
                     (begin + out_bytes <= list || list + list_bytes <= begin);
  if (!apart || (width != 4 && width != 8) || list % width != 0) return false;
  detail::check_on_host(rows.entries, rows.entries, "plan for engine cuda");
  detail::check_on_host(in, out, "plan for engine cuda, with the entries on the device");
  const auto* const from = static_cast<const std::byte*>(in);
  auto* const to = static_cast<std::byte*>(out);
  if (width == 4)
    return rows.is_signed != 0 ? took<std::int32_t>(rows, from, to) : took<std::uint32_t>(rows, from, to);
  return rows.is_signed != 0 ? took<std::int64_t>(rows, from, to) : took<std::uint64_t>(rows, from, to);
}

RowOptions row_options(const faro_rows& rows, const faro_options* options) {
  const PlanOptions given = plan_options(options);
  return {.threads = rows.threads != 0 ? rows.threads : given.threads,
          .engine = given.engine,
          .device = given.device,
          .reused = options != nullptr && options->repeats > 1};
}

faro_row_plan* new_row_plan(const faro_rows& rows, const RowMove& move, const faro_options* options) {
  static_cast<void>(bytes_of_rows(rows.outer, rows.rows, rows.row_bytes));
  static_cast<void>(bytes_of_rows(rows.outer, rows.count, rows.row_bytes));
  return new faro_row_plan{
      plan_rows(move, {.outer = rows.outer, .row_bytes = rows.row_bytes}, row_options(rows, options))};
}

void run_rows(const faro_rows& rows, const RowMove& move, bool taken, const void* in, void* out,
              EntryCheck check = EntryCheck::before) {
  const std::uint64_t in_rows = taken ? rows.rows : rows.count;
  const std::uint64_t out_rows = taken ? rows.count : rows.rows;
  const std::span from(static_cast<const std::byte*>(in), bytes_of_rows(rows.outer, in_rows, rows.row_bytes));
  const std::span to(static_cast<std::byte*>(out), bytes_of_rows(rows.outer, out_rows, rows.row_bytes));
  const Endable endable(std::max(from.size(), to.size()));
  plan_rows(move, {.outer = rows.outer, .row_bytes = rows.row_bytes},
            {.threads = rows.threads, .check = check})
      .run(from, to);
}

// Arrays of the sizes that a plan's numbers of rows give them.
std::vector<RowColumn> columns_of(const RowPlan& plan, std::span<const faro_row_column> columns) {
  const bool takes = std::holds_alternative<Take>(plan.move());
  const std::uint64_t named = row_numbers(plan.move()).count;
  const std::uint64_t numbered = numbered_rows(plan.move());
  const std::uint64_t outer = plan.layout().outer;
  std::vector<RowColumn> made;
  made.reserve(columns.size());
  for (const faro_row_column& column : columns) {
    made.push_back({.in = {static_cast<const std::byte*>(column.in),
                           bytes_of_rows(outer, takes ? numbered : named, column.row_bytes)},
                    .out = {static_cast<std::byte*>(column.out),
                            bytes_of_rows(outer, takes ? named : numbered, column.row_bytes)},
                    .row_bytes = column.row_bytes});
  }
  return made;
}

static_assert(static_cast<int>(Number::f64) == FARO_F64 && static_cast<int>(Number::f16) == FARO_F16 &&
              static_cast<int>(Number::f8_e5m2fnuz) == FARO_F8_E5M2FNUZ);

Add add_of(const faro_rows& rows, faro_number number, faro_sums sums) {
  return {.to = entries_in(rows), .rows = rows.rows, .number = number_of(number), .sums = sums_of(sums)};
}

}  // namespace

Combine combine_of(const faro_rows& rows, std::uint64_t keys_per_row, const float* weights,
                   faro_number number, faro_sums sums) {
  if (keys_per_row == 0 || rows.count % keys_per_row != 0) {
    fail(ErrorCode::value, "combine rows",
         std::to_string(rows.count) + " places, " + std::to_string(keys_per_row) + " of a row",
         "a whole number of rows");
  }
  return {.places = entries_in(rows),
          .rows = rows.rows,
          .keys_per_row = keys_per_row,
          .weights = {weights, weights == nullptr ? 0 : rows.count},
          .number = number_of(number),
          .sums = sums_of(sums)};
}

}  // namespace faro::capi

using faro::capi::guarded;
using faro::capi::numbers_of;
using faro::capi::require_argument;

faro_status faro_take(const faro_rows* rows, const void* fill, uint64_t fill_bytes, const void* in,
                      void* out) {
  return guarded([&] {
    require_argument(rows, "take rows", "rows");
    if (fill == nullptr && faro::capi::took_few(*rows, in, out)) return;
    faro::capi::run_rows(*rows, faro::capi::take_of(*rows, fill, fill_bytes, rows->row_bytes), true, in, out);
  });
}

faro_status faro_take_new(const faro_rows* rows, const void* fill, uint64_t fill_bytes, const void* in,
                          void* out) {
  return guarded([&] {
    require_argument(rows, "take rows", "rows");
    if (fill == nullptr && faro::capi::took_few(*rows, in, out)) return;
    faro::capi::run_rows(*rows, faro::capi::take_of(*rows, fill, fill_bytes, rows->row_bytes), true, in, out,
                         faro::EntryCheck::meanwhile);
  });
}

faro_status faro_put(const faro_rows* rows, const void* in, void* out) {
  return guarded([&] {
    require_argument(rows, "put rows", "rows");
    faro::capi::run_rows(*rows, faro::Put{.to = faro::capi::entries_in(*rows), .rows = rows->rows}, false, in,
                         out);
  });
}

faro_status faro_add(const faro_rows* rows, faro_number number, faro_sums sums, const void* in, void* out) {
  return guarded([&] {
    require_argument(rows, "add rows", "rows");
    faro::capi::run_rows(*rows, faro::capi::add_of(*rows, number, sums), false, in, out);
  });
}

faro_status faro_row_plan_take(const faro_rows* rows, const void* fill, uint64_t fill_bytes,
                               const faro_options* options, faro_row_plan** plan) {
  return guarded([&] {
    require_argument("take rows", {{rows, "rows"}, {plan, "plan"}});
    *plan = faro::capi::new_row_plan(*rows, faro::capi::take_of(*rows, fill, fill_bytes, rows->row_bytes),
                                     options);
  });
}

faro_status faro_row_plan_put(const faro_rows* rows, const faro_options* options, faro_row_plan** plan) {
  return guarded([&] {
    require_argument("put rows", {{rows, "rows"}, {plan, "plan"}});
    *plan = faro::capi::new_row_plan(
        *rows, faro::Put{.to = faro::capi::entries_in(*rows), .rows = rows->rows}, options);
  });
}

faro_status faro_row_plan_add(const faro_rows* rows, faro_number number, faro_sums sums,
                              const faro_options* options, faro_row_plan** plan) {
  return guarded([&] {
    require_argument("add rows", {{rows, "rows"}, {plan, "plan"}});
    *plan = faro::capi::new_row_plan(*rows, faro::capi::add_of(*rows, number, sums), options);
  });
}

void faro_row_plan_destroy(faro_row_plan* plan) { delete plan; }

faro_status faro_row_plan_run(const faro_row_plan* plan, const void* entries, const void* in, void* out,
                              void* stream) {
  return faro_row_plan_run_in_workspace(plan, entries, in, out, nullptr, 0, stream);
}

faro_status faro_row_plan_run_in_workspace(const faro_row_plan* plan, const void* entries, const void* in,
                                           void* out, void* workspace, uint64_t workspace_bytes,
                                           void* stream) {
  return guarded([&] {
    require_argument(plan, "run a plan of rows", "plan");
    const faro::ExecutableRows& made = plan->rows;
    const bool is_elsewhere = entries != nullptr && entries != faro::row_numbers(made.plan().move()).data;
    const std::span from(static_cast<const std::byte*>(in), made.plan().in_bytes());
    const std::span to(static_cast<std::byte*>(out), made.plan().out_bytes());
    const faro::Stream queue(static_cast<CUstream_st*>(stream));
    const faro::capi::Endable endable(std::max(from.size(), to.size()));
    const auto run = [&](const faro::ExecutableRows& rows) {
      if (workspace == nullptr) return rows.run(from, to, queue);
      const faro::RowColumn column{.in = from, .out = to, .row_bytes = rows.plan().layout().row_bytes};
      rows.run(std::span(&column, 1), {.data = workspace, .bytes = workspace_bytes}, queue);
    };
    if (is_elsewhere) return run(made.with_entries_at(entries));
    run(made);
  });
}

faro_status faro_row_plan_run_columns(const faro_row_plan* plan, const void* entries,
                                      const faro_row_column* columns, uint64_t count, void* workspace,
                                      uint64_t workspace_bytes, void* stream) {
  return guarded([&] {
    require_argument(plan, "run a plan of rows", "plan");
    faro::capi::require_structures(columns, count, "run a plan of rows", "columns");
    const faro::ExecutableRows& made = plan->rows;
    const std::vector<faro::RowColumn> moved = faro::capi::columns_of(made.plan(), {columns, count});
    std::uint64_t bytes = 0;
    for (const faro::RowColumn& column : moved) bytes += std::max(column.in.size(), column.out.size());
    const faro::Stream queue(static_cast<CUstream_st*>(stream));
    const faro::capi::Endable endable(bytes);
    const auto run = [&](const faro::ExecutableRows& rows) {
      if (workspace == nullptr) return rows.run(moved, queue);
      rows.run(moved, {.data = workspace, .bytes = workspace_bytes}, queue);
    };
    const bool is_elsewhere = entries != nullptr && entries != faro::row_numbers(made.plan().move()).data;
    if (is_elsewhere) return run(made.with_entries_at(entries));
    run(made);
  });
}

faro_status faro_row_plan_workspace_bytes(const faro_row_plan* plan, uint64_t* bytes) {
  return guarded([&] {
    require_argument("tell of a plan of rows", {{plan, "plan"}, {bytes, "bytes"}});
    const bool on_gpu = plan->rows.plan().target().engine == faro::Engine::cuda;
    *bytes = on_gpu ? plan->rows.workspace_bytes() : 0;
  });
}

faro_status faro_row_plan_check(const faro_row_plan* plan, void* stream) {
  return guarded([&] {
    require_argument(plan, "check a plan of rows", "plan");
    plan->rows.check(faro::Stream(static_cast<CUstream_st*>(stream)));
  });
}

faro_status faro_row_plan_explain(const faro_row_plan* plan, char** text) {
  return guarded([&] {
    require_argument("explain a plan of rows", {{plan, "plan"}, {text, "text"}});
    *text = faro::capi::given_away(plan->rows.explain());
  });
}

faro_status faro_route(const void* keys, uint64_t count, int key_bytes, int is_signed,
                       const faro_route_options* options, faro_routing** routing) {
  return guarded([&] {
    require_argument("route keys", {{options, "options"}, {routing, "routing"}});
    auto made = std::make_unique<faro_routing>();
    made->route =
        faro::route(numbers_of(keys, count, key_bytes, is_signed), faro::capi::route_options(*options));
    made->rows = made->route.taken_rows();
    *routing = made.release();
  });
}

void faro_route_destroy(faro_routing* routing) { delete routing; }

faro_status faro_route_get(const faro_routing* routing, faro_route_list list, const int64_t** entries,
                           uint64_t* count) {
  return guarded([&] {
    constexpr const char* kDoing = "tell of a routing";
    require_argument(kDoing, {{routing, "routing"}, {entries, "entries"}, {count, "count"}});
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
    require_argument("tell of a routing", {{routing, "routing"}, {dropped, "dropped"}, {absent, "absent"}});
    *dropped = routing->route.dropped;
    *absent = routing->route.absent;
  });
}

faro_status faro_combine(const faro_rows* rows, uint64_t keys_per_row, const float* weights,
                         faro_number number, faro_sums sums, const void* in, void* out) {
  return guarded([&] {
    require_argument(rows, "combine rows", "rows");
    const faro::Combine combine = faro::capi::combine_of(*rows, keys_per_row, weights, number, sums);
    const std::span from(static_cast<const std::byte*>(in),
                         faro::capi::bytes_of_rows(1, rows->rows, rows->row_bytes));
    const std::span to(static_cast<std::byte*>(out),
                       faro::capi::bytes_of_rows(1, rows->count / keys_per_row, rows->row_bytes));
    const faro::capi::Endable endable(std::max(from.size(), to.size()));
    faro::combine(combine, rows->row_bytes, from, to, rows->threads);
  });
}
