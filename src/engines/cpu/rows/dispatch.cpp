// Rows sent to their places on the host: each thread reads some rows and writes their copies.
#include <cstring>
#include <string>
#include <vector>

#include "engines/cpu/team.hpp"
#include "faro/engines/cpu_routes.hpp"
#include "faro/error.hpp"
#include "faro/threads.hpp"
#include "permutation/index_rows.hpp"
#include "permutation/route_checks.hpp"

namespace faro {
namespace {

void require_dispatched_array(std::span<const std::byte> array, std::uint64_t rows, std::uint64_t row_bytes) {
  std::uint64_t bytes = 0;
  const bool fits = !__builtin_mul_overflow(rows, row_bytes, &bytes) && bytes == array.size();
  if (fits && (bytes == 0 || array.data() != nullptr)) return;
  fail(ErrorCode::value, "dispatch", "an array of " + std::to_string(array.size()) + " bytes",
       std::to_string(rows) + " rows of " + std::to_string(row_bytes) + " bytes");
}

// What is wrong with places is said as of a dispatch.
void check_dispatched(const RowMove& move) {
  try {
    static_cast<void>(check_rows(move));
  } catch (const Error& error) {
    ErrorReport report = error.report();
    report.operation = "dispatch";
    throw Error(report);
  }
}

}  // namespace

void dispatch(const Dispatch& of, std::uint64_t row_bytes, std::span<const std::byte> in,
              std::span<std::byte> out, int threads) {
  detail::require_dispatch(of, row_bytes);
  const std::uint64_t in_rows = of.places.count / of.keys_per_row;
  const RowMove sent = Put{.to = of.places, .rows = of.rows};
  const RowMove taken = Take{.from = of.taken, .rows = in_rows, .fill = Fill::zero()};
  check_dispatched(sent);
  check_dispatched(taken);
  require_dispatched_array(in, in_rows, row_bytes);
  require_dispatched_array(out, of.rows, row_bytes);
  detail::check_disjoint(of, in, out);

  constexpr std::uint64_t kAloneBytes = 65536;
  const int team = out.size() < kAloneBytes ? 1 : detail::thread_count(threads);
  const detail::RowReader filled(taken);
  cpu::share_out(of.taken.count, team, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t row = begin; row < end; ++row) {
      std::uint64_t from = 0;
      filled.read(row, 1, &from);
      if (from == detail::kNoRow) std::memset(out.data() + row * row_bytes, 0, row_bytes);
    }
  });
  const detail::RowReader reader(sent);
  cpu::share_out(in_rows, team, [&](std::uint64_t begin, std::uint64_t end) {
    std::vector<std::uint64_t> places(of.keys_per_row);
    for (std::uint64_t row = begin; row < end; ++row) {
      reader.read(row * of.keys_per_row, of.keys_per_row, places.data());
      for (const std::uint64_t place : places) {
        if (place != detail::kNoRow)
          std::memcpy(out.data() + place * row_bytes, in.data() + row * row_bytes, row_bytes);
      }
    }
  });
}

}  // namespace faro
