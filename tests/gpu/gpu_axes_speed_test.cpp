// What transposes reach of a copy's speed: of shapes drawn at random, and the variants of a few.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "engines/cuda/run/index_simple_kernels.hpp"
#include "engines/cuda_measure.hpp"
#include "gpu/gpu_support.hpp"
#include "gpu/share_of_copy.hpp"
#include "measure.hpp"

namespace faro::testing {
namespace {

class GpuAxes : public GpuTest {
 protected:
  std::mt19937_64 random{settings().seed};
};

void print_worst_and_median(const std::string& of, const std::vector<double>& shares) {
  std::cout << of << ": worst " << *std::min_element(shares.begin(), shares.end()) << "%, median "
            << median(shares) << "%\n";
}

// Transposes of any shape, out of place: square, odd, prime, skinny, drawn at random.
TEST_F(GpuAxes, DISABLED_RandomTransposes) {
  constexpr std::uint64_t bytes = std::uint64_t{1} << 32;
  const cuda::DeviceArray in(bytes + 4096, 0);
  const cuda::DeviceArray out(bytes + 4096, 0);
  std::vector<double> all;
  for (const std::uint64_t width : {1U, 2U, 4U, 8U, 16U}) {
    std::vector<double> shares;
    for (int round = 0; round < 30; ++round) {
      const double bits = std::log2(static_cast<double>(bytes / width));
      const double share = std::uniform_real_distribution<double>(0.05, 0.95)(random);
      const auto rows = static_cast<std::uint64_t>(std::exp2(bits * share));
      const std::uint64_t columns = bytes / width / rows;
      shares.push_back(print_share("transpose(" + std::to_string(rows) + ", " + std::to_string(columns) +
                                       "), " + std::to_string(width) + " bytes",
                                   cuda::make_axes_pass(Axes({rows, columns}, {1, 0}), width, 1),
                                   rows * columns * width, in, out));
    }
    all.insert(all.end(), shares.begin(), shares.end());
    print_worst_and_median(std::to_string(width) + " bytes", shares);
  }
  print_worst_and_median("all widths", all);
}

struct Variant {
  const char* name;
  cuda::AxesVariant as;
};

// What is compared before a choice is made: which kernel, shapes of tiles, orders of blocks. A line a shape,
// then a line a width: shares of a copy, in the order of the variants.
TEST_F(GpuAxes, DISABLED_Variants) {
  constexpr std::uint64_t bytes = std::uint64_t{1} << 31;
  constexpr int rounds = 24;
  constexpr int repeats = 3;
  const std::vector<Variant> variants = {{.name = "usual", .as = {}},
                                         {.name = "shape 1", .as = {.plane_shape = 1}},
                                         {.name = "band 64", .as = {.band = 64}},
                                         {.name = "band 512", .as = {.band = 512}},
                                         {.name = "one band", .as = {.band = 1 << 30}},
                                         {.name = "joined", .as = {.skinny = false}},
                                         {.name = "lines only", .as = {.lines_only = true}}};
  const cuda::DeviceArray in(bytes + 4096, 0);
  const cuda::DeviceArray out(bytes + 4096, 0);
  for (const Variant& variant : variants) std::cout << variant.name << "; ";
  std::cout << "best\n" << std::fixed << std::setprecision(1);
  std::vector<std::vector<double>> all(variants.size() + 1);
  for (const std::uint64_t width : {1U, 2U, 4U, 8U, 16U}) {
    std::vector<std::vector<double>> shares(all.size());
    for (int round = 0; round < rounds; ++round) {
      const double bits = std::log2(static_cast<double>(bytes / width));
      const double share = std::uniform_real_distribution<double>(0.05, 0.95)(random);
      const auto rows = static_cast<std::uint64_t>(std::exp2(bits * share));
      const std::uint64_t columns = bytes / width / rows;
      const std::uint64_t moved = rows * columns * width;
      const double copy = median_ms([&](Stream s) { cuda::copy(in.data(), out.data(), moved, s); }, repeats);
      std::cout << rows << " x " << columns << " of " << width << ":";
      double best = 0;
      for (std::size_t v = 0; v < variants.size(); ++v) {
        const cuda::OnePass pass =
            cuda::make_axes_pass(Axes({rows, columns}, {1, 0}), width, 1, variants[v].as);
        const double mine = median_ms([&](Stream s) { pass.launch(in.data(), out.data(), s); }, repeats);
        shares[v].push_back(100 * copy / mine);
        best = std::max(best, shares[v].back());
        std::cout << ' ' << shares[v].back();
      }
      shares.back().push_back(best);
      std::cout << ' ' << best << '\n';
    }
    std::cout << "median of " << width << ":";
    for (std::size_t v = 0; v < shares.size(); ++v) {
      std::cout << ' ' << median(shares[v]);
      all[v].insert(all[v].end(), shares[v].begin(), shares[v].end());
    }
    std::cout << '\n';
  }
  std::cout << "median of all:";
  for (const std::vector<double>& shares : all) std::cout << ' ' << median(shares);
  std::cout << '\n';
}

}  // namespace
}  // namespace faro::testing
