// FFT programs on the CPU against FFTW, to the accuracy that the type allows: the root mean square error of a
// radix-2 transform grows with the square root of its layers, so eps log2(N) bounds it with room.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#if FARO_HAVE_FFTW
#include <fftw3.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

#include "network_engine_support.hpp"

namespace faro::network {
namespace network_fftw_test {

using namespace engine_testing;
using Complex = std::complex<double>;

std::vector<Complex> by_fftw(std::vector<Complex> values, int n, int sign) {
  static_assert(sizeof(Complex) == sizeof(fftw_complex));
  auto* const data = reinterpret_cast<fftw_complex*>(values.data());
  // FFTW_ESTIMATE leaves the data alone.
  const fftw_plan plan = fftw_plan_dft_1d(1 << n, data, data, sign, FFTW_ESTIMATE);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  return values;
}

template <typename Real>
void expect_fftw(int n, bool inverse, const Sizes& sizes, std::uint64_t batch) {
  using Element = std::complex<Real>;
  const ElementType type{.scalar = sizeof(Real) == 4 ? Scalar::c64 : Scalar::c128};
  SplitMix64 random{static_cast<std::uint64_t>(n) * 2 + (inverse ? 1 : 0)};
  const auto number = [&] { return static_cast<Real>(static_cast<std::int64_t>(random())) * Real(0x1p-63); };
  std::vector<Element> in(batch << n);
  for (Element& value : in) value = {number(), number()};
  std::vector<Element> out(in.size());
  const Executable run =
      compile({.program = inverse ? inverse_fft(n) : fft(n), .element = type, .batch = batch},
              {.engine = Engine::cpu, .tile_bits = sizes.tile_bits, .segment_bits = sizes.segment_bits});
  run.run(std::span<const Element>(in), std::span(out));
  for (std::uint64_t b = 0; b < batch; ++b) {
    const auto begin = in.begin() + static_cast<std::ptrdiff_t>(b << n);
    const std::vector<Complex> wanted =
        by_fftw({begin, begin + (std::ptrdiff_t{1} << n)}, n, inverse ? FFTW_BACKWARD : FFTW_FORWARD);
    double error = 0;
    double size = 0;
    for (std::uint64_t i = 0; i < wanted.size(); ++i) {
      error += std::norm(Complex(out[(b << n) + i]) - wanted[i]);
      size += std::norm(wanted[i]);
    }
    const double eps = std::numeric_limits<Real>::epsilon();
    ASSERT_LE(std::sqrt(error / size), 0.6 * eps * n)
        << "faro network run " << (inverse ? "inverse_fft" : "fft") << " on 2^" << n << " " << to_text(type)
        << ", array " << b << " of " << batch << ", tiles of 2^" << run.plan().sizes().tile_bits
        << ", segments of 2^" << run.plan().sizes().segment_bits;
  }
}

TEST(NetworkFftw, EverySize) {
  for (int n = 1; n <= (kInstrumented ? 12 : 19); ++n) {
    for (const bool inverse : {false, true}) {
      expect_fftw<float>(n, inverse, {}, n < 8 ? 19 : 1);
      expect_fftw<double>(n, inverse, {}, n < 8 ? 19 : 1);
      if (HasFailure()) return;
    }
  }
}

TEST(NetworkFftw, EveryTile) {
  for (const int n : {5, 9, 12}) {
    for (int m = 1; m <= n; ++m) {
      for (int s = 0; s < m; s += 2) {
        const Sizes sizes{.tile_bits = m, .segment_bits = s};
        expect_fftw<float>(n, m % 2 == 0, sizes, 1);
        expect_fftw<double>(n, m % 2 == 1, sizes, 3);
        if (HasFailure()) return;
      }
    }
  }
}

}  // namespace network_fftw_test
}  // namespace faro::network

#else

TEST(NetworkFftw, EverySize) {
  GTEST_SKIP() << "built without FFTW: install libfftw3-dev and configure again";
}

#endif
