#include "permutation/route_checks.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "rounding.hpp"

namespace faro {

std::vector<std::int64_t> Route::taken_rows() const {
  std::vector<std::int64_t> rows(inverse.size());
  const auto keys = static_cast<std::int64_t>(keys_per_row);
  std::transform(inverse.begin(), inverse.end(), rows.begin(),
                 [keys](std::int64_t item) { return item < 0 ? -1 : item / keys; });
  return rows;
}

namespace detail {

void require_route(const RowNumbers& keys, const RouteOptions& options) {
  if (options.buckets == 0 || options.buckets > kMostPlaces)
    fail(ErrorCode::value, "route", std::to_string(options.buckets) + " buckets", "from 1 to 2^40 buckets");
  if (options.multiple == 0 || options.multiple > kMostPlaces)
    fail(ErrorCode::value, "route", "places to a multiple of " + std::to_string(options.multiple),
         "from 1 to 2^40");
  if (keys.count > kMostPlaces)
    fail(ErrorCode::value, "route", std::to_string(keys.count) + " keys", "at most 2^40 keys");
  if (options.keys_per_row == 0 || keys.count % options.keys_per_row != 0) {
    fail(ErrorCode::value, "route",
         std::to_string(keys.count) + " keys, " + std::to_string(options.keys_per_row) + " a row",
         "a whole number of rows");
  }
  const int bytes = keys.type.bytes;
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
    fail(ErrorCode::value, "route", "keys of " + std::to_string(bytes) + " bytes",
         "keys of 1, 2, 4 or 8 bytes");
  if (keys.count > 0 && keys.data == nullptr) fail(ErrorCode::value, "route", "a null pointer", "the keys");
}

std::uint64_t most_places(std::uint64_t keys, const RouteOptions& options) {
  const std::uint64_t busy = std::min(keys, options.buckets);  // buckets that may have items
  const std::uint64_t each = round_up(std::min(keys, options.capacity.value_or(keys)), options.multiple);
  // Every bucket full, or all keys and as much padding as there can be.
  std::uint64_t full = 0;
  if (__builtin_mul_overflow(busy, each, &full)) full = ~std::uint64_t{0};
  std::uint64_t padding = 0;
  if (__builtin_mul_overflow(busy, options.multiple - 1, &padding)) padding = kMostPlaces;
  const std::uint64_t places = std::min(full, keys + std::min(padding, kMostPlaces));
  if (places > kMostPlaces)
    fail(ErrorCode::value, "route", "more than 2^40 places", "a smaller multiple, or fewer buckets");
  return places;
}

void require_combine(const Combine& of, std::uint64_t row_bytes) {
  if (of.number < Number::f16 || !is_summed(of.number))
    fail(ErrorCode::value, "combine", std::string("numbers ") + name(of.number), "f16, bf16, f32 or f64");
  if (of.sums == Sums::compensated || (of.sums == Sums::fp32 && of.number == Number::f64))
    fail(ErrorCode::value, "combine", std::string("sums ") + name(of.sums), "usual or fp64");
  if (row_bytes == 0 || row_bytes % bytes_of(of.number) != 0) {
    fail(ErrorCode::value, "combine", "rows of " + std::to_string(row_bytes) + " bytes",
         std::string("a whole number of ") + name(of.number));
  }
  if (of.keys_per_row == 0 || of.places.count % of.keys_per_row != 0) {
    fail(ErrorCode::value, "combine",
         std::to_string(of.places.count) + " places, " + std::to_string(of.keys_per_row) + " a row",
         "a whole number of rows");
  }
  if (!of.weights.empty() && of.weights.size() != of.places.count)
    fail(ErrorCode::value, "combine", std::to_string(of.weights.size()) + " weights",
         "one for each place, or none");
}

void require_dispatch(const Dispatch& of, std::uint64_t row_bytes) {
  if (row_bytes == 0) fail(ErrorCode::value, "dispatch", "rows of 0 bytes", "rows of at least a byte");
  if (of.keys_per_row == 0 || of.places.count % of.keys_per_row != 0) {
    fail(ErrorCode::value, "dispatch",
         std::to_string(of.places.count) + " places, " + std::to_string(of.keys_per_row) + " a row",
         "a whole number of rows");
  }
  if (of.taken.count != 0 && of.taken.count != of.rows) {
    fail(ErrorCode::value, "dispatch", "numbers of " + std::to_string(of.taken.count) + " rows taken",
         "one for each of the " + std::to_string(of.rows) + " rows of the output, or none");
  }
}

void check_disjoint(const Combine& of, std::span<const std::byte> in, std::span<const std::byte> out) {
  check_disjoint(
      "combine", RunArray{"output", laid(out)},
      {{"input", laid(in)}, {"places", laid(of.places)}, {"weights", laid(std::as_bytes(of.weights))}});
}

void check_disjoint(const Dispatch& of, std::span<const std::byte> in, std::span<const std::byte> out) {
  check_disjoint("dispatch", RunArray{"output", laid(out)},
                 {{"input", laid(in)}, {"places", laid(of.places)}, {"rows", laid(of.taken)}});
}

void check_disjoint(const RowNumbers& keys, const RouteOptions& options, const DeviceRoute& to) {
  const std::uint64_t most = most_places(keys.count, options);
  const auto list = [](const char* name, const std::int64_t* numbers, std::uint64_t count) {
    return RunArray{name, {numbers, numbers == nullptr ? 0 : count * sizeof(std::int64_t)}};
  };
  const RunArray lists[] = {list("places", to.places, keys.count), list("inverse", to.inverse, most),
                            list("rows", to.rows, most), list("offsets", to.offsets, options.buckets + 1),
                            list("counts", to.counts, options.buckets)};
  const RunArray read{"keys", laid(keys)};
  check_disjoint("route", lists, std::span(&read, 1));
}

}  // namespace detail
}  // namespace faro
