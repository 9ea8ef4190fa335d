// Many small matrices that follow one another in memory, each transposed alike: one problem with a batch.
#include <cstddef>
#include <cstdio>
#include <faro/faro.hpp>
#include <numeric>
#include <vector>

int main() {
  constexpr std::size_t kMatrices = 100;  // any count
  constexpr std::size_t kRows = 128;      // powers of two
  constexpr std::size_t kColumns = 32;
  constexpr std::size_t kElements = kRows * kColumns;

  std::vector<double> in(kMatrices * kElements);
  std::vector<double> out(in.size());
  std::iota(in.begin(), in.end(), 0.0);

  // Row-major kRows x kColumns becomes row-major kColumns x kRows.
  const auto plan = faro::plan({.permutation = faro::maps::transpose(kRows, kColumns),
                                .element_bytes = sizeof(double),
                                .batch = kMatrices});
  plan.run<double>(in, out);

  for (std::size_t matrix = 0; matrix < kMatrices; ++matrix) {
    const double* const before = in.data() + matrix * kElements;
    const double* const after = out.data() + matrix * kElements;
    for (std::size_t row = 0; row < kRows; ++row) {
      for (std::size_t column = 0; column < kColumns; ++column) {
        if (after[column * kRows + row] != before[row * kColumns + column]) {
          std::fprintf(stderr, "matrix %zu, row %zu, column %zu is in the wrong place\n", matrix, row,
                       column);
          return 1;
        }
      }
    }
  }
  std::printf("%zu matrices of %zu x %zu transposed\n", kMatrices, kRows, kColumns);
  return 0;
}
