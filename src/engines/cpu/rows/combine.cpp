// Rows that come back from their buckets, each the weighted sum of its items in the order of its keys.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "engines/cpu/team.hpp"
#include "faro/engines/cpu_routes.hpp"
#include "faro/error.hpp"
#include "faro/threads.hpp"
#include "kernels/row_numbers.hpp"
#include "permutation/index_rows.hpp"
#include "permutation/route_checks.hpp"

namespace faro {
namespace {

struct CombineWork {
  const Combine& of;
  std::uint64_t row_bytes;
  const std::byte* in;
  std::byte* out;
  std::uint64_t out_rows;
  int threads;
};

template <typename Stored, typename Real>
void combine_rows(const CombineWork& work) {
  const Combine& of = work.of;
  const detail::RowReader reader{RowMove(Add{.to = of.places, .rows = of.rows})};
  const std::uint64_t elements = work.row_bytes / sizeof(Stored);
  cpu::share_out(work.out_rows, work.threads, [&](std::uint64_t begin, std::uint64_t end) {
    std::vector<Real> sums(elements);
    std::vector<std::uint64_t> places(of.keys_per_row);
    for (std::uint64_t row = begin; row < end; ++row) {
      std::fill(sums.begin(), sums.end(), Real{0});
      reader.read(row * of.keys_per_row, of.keys_per_row, places.data());
      for (std::uint64_t j = 0; j < of.keys_per_row; ++j) {
        if (places[j] == detail::kNoRow) continue;
        const std::byte* const from = work.in + places[j] * work.row_bytes;
        const Real weight =
            of.weights.empty() ? Real{1} : static_cast<Real>(of.weights[row * of.keys_per_row + j]);
        for (std::uint64_t i = 0; i < elements; ++i) {
          Stored x;
          std::memcpy(&x, from + i * sizeof(Stored), sizeof(Stored));
          sums[i] += kernels::rounded_product(weight, static_cast<Real>(kernels::widened(x)));
        }
      }
      std::byte* const to = work.out + row * work.row_bytes;
      for (std::uint64_t i = 0; i < elements; ++i) {
        Stored x;
        kernels::round_to(sums[i], x);
        std::memcpy(to + i * sizeof(Stored), &x, sizeof(Stored));
      }
    }
  });
}

template <typename Stored>
void combine_of(const CombineWork& work) {
  if (work.of.sums == Sums::fp64) return combine_rows<Stored, double>(work);
  combine_rows<Stored, float>(work);
}

void require_combined_arrays(const Combine& of, std::uint64_t row_bytes, std::span<const std::byte> in,
                             std::span<const std::byte> out) {
  static_cast<void>(check_rows(Add{.to = of.places, .rows = of.rows}));
  const std::uint64_t out_rows = of.places.count / of.keys_per_row;
  for (const auto& [array, rows] : {std::pair(in, of.rows), std::pair(out, out_rows)}) {
    std::uint64_t bytes = 0;
    const bool fits = !__builtin_mul_overflow(rows, row_bytes, &bytes) && bytes == array.size();
    if (!fits || (bytes > 0 && array.data() == nullptr)) {
      fail(ErrorCode::value, "combine", "an array of " + std::to_string(array.size()) + " bytes",
           std::to_string(rows) + " rows of " + std::to_string(row_bytes) + " bytes");
    }
  }
  detail::check_disjoint(of, in, out);
}

}  // namespace

void combine(const Combine& of, std::uint64_t row_bytes, std::span<const std::byte> in,
             std::span<std::byte> out, int threads) {
  detail::require_combine(of, row_bytes);
  require_combined_arrays(of, row_bytes, in, out);
  const std::uint64_t out_rows = of.places.count / of.keys_per_row;
  const CombineWork work{.of = of,
                         .row_bytes = row_bytes,
                         .in = in.data(),
                         .out = out.data(),
                         .out_rows = out_rows,
                         .threads = out.size() < 65536 ? 1 : detail::thread_count(threads)};
  switch (of.number) {
    case Number::f16:
      return combine_of<kernels::Half>(work);
    case Number::bf16:
      return combine_of<kernels::BrainHalf>(work);
    case Number::f32:
      return combine_of<float>(work);
    default:
      return combine_rows<double, double>(work);
  }
}

}  // namespace faro
