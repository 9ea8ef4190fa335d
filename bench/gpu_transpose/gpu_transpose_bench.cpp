// gpu_transpose_bench: transpositions of any shape on a GPU, in place and out of place, beside a plain copy
// of the same bytes in the same rounds. `gpu_transpose_bench --help` lists the options.
//
// Every result is verified on the device before it is timed. Figures are shares of the copy: bytes of the
// array once read and once written, over the time, however often the method sweeps over it. All shapes are
// first transposed in place, then out of place: after a kernel that accesses what it must not, a device
// answers nothing any more, and what was measured before is kept.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/gpu/page.hpp"
#include "bench/gpu/setting.hpp"
#include "bench/gpu_transpose/options.hpp"
#include "bench/gpu_transpose/transposition_clock.hpp"
#include "faro/measure.hpp"

namespace faro::bench::gpu {
namespace {

constexpr const char* kMethod =
    "\nEvery result was verified before it was timed. Medians of alternating rounds; shares of the "
    "cudaMemcpy "
    "of the\nsame bytes in the same rounds.\n";

struct Group {
  ShapeGroup shapes;
  std::vector<double> in_place = {};  // shares of those that worked
  std::vector<double> out_of_place = {};
};

std::string median_and_least(const std::vector<double>& shares) {
  if (shares.empty()) return "| ";
  return fmt::format("{:.1f}% | {:.1f}% ", median(shares), *std::min_element(shares.begin(), shares.end()));
}

class Bench {
 public:
  explicit Bench(const TransposeOptions& options)
      : options_(options), clock_(options.shapes.bytes, options.rounds) {
    for (ShapeGroup& group : shape_groups(options.shapes)) {
      const auto& wanted = options.groups;
      const bool is_wanted =
          wanted.empty() || std::find(wanted.begin(), wanted.end(), group.name) != wanted.end();
      if (is_wanted && !group.shapes.empty()) groups_.push_back({.shapes = std::move(group)});
    }
  }

  /// Whether every shape worked.
  bool run() {
    page_.add("# Transpositions of any shape on a GPU\n\n" + setting_table(make_setting(options_.command)) +
              kMethod);
    if (options_.in_place) in_place();
    if (options_.out_of_place) out_of_place();
    summarise();
    return failures_ == 0;
  }

 private:
  void in_place() {
    page_.add("\n| in place | share | ms | sweeps | workspace, MiB |\n|---|---|---|---|---|\n");
    constexpr double mib = 1 << 20;
    for (Group& group : groups_) {
      for (const Rectangle& shape : group.shapes.shapes) {
        measure(shape, "in place", [&] {
          const TimedTransposition timed = clock_.in_place(shape);
          group.in_place.push_back(timed.share());
          return fmt::format("{:.1f}% | {:.2f} | {} | {:.1f}", timed.share(), timed.milliseconds,
                             timed.sweeps, static_cast<double>(timed.workspace_bytes) / mib);
        });
      }
    }
  }

  void out_of_place() {
    page_.add("\n| out of place | share | ms |\n|---|---|---|\n");
    for (Group& group : groups_) {
      for (const Rectangle& shape : group.shapes.shapes) {
        measure(shape, "out of place", [&] {
          const TimedTransposition timed = clock_.out_of_place(shape);
          group.out_of_place.push_back(timed.share());
          return fmt::format("{:.1f}% | {:.2f}", timed.share(), timed.milliseconds);
        });
      }
    }
  }

  // A row, of a figure or of an error.
  template <typename Row>
  void measure(const Rectangle& shape, const char* how, const Row& row) {
    const std::string text = text_of(shape);
    std::fprintf(stderr, "%s, %s\n", text.c_str(), how);
    std::string result;
    try {
      result = row();
    } catch (const std::exception& error) {
      ++failures_;
      result = std::string("failed: ") + error.what();
      std::fprintf(stderr, "%s, %s: %s\n", text.c_str(), how, error.what());
    }
    page_.add("| " + text + " | " + result + " |\n");
  }

  void summarise() {
    page_.add(
        "\n| group | shapes | in place: median | least | out of place: median | least |\n"
        "|---|---|---|---|---|---|\n");
    for (const Group& group : groups_) {
      page_.add(fmt::format("| {} | {} | {}| {}|\n", group.shapes.name, group.shapes.shapes.size(),
                            median_and_least(group.in_place), median_and_least(group.out_of_place)));
    }
    if (failures_ > 0) page_.add(fmt::format("\n{} failed.\n", failures_));
  }

  TransposeOptions options_;
  TranspositionClock clock_;
  std::vector<Group> groups_;
  std::uint64_t failures_ = 0;
  Page page_{options_.out};
};

}  // namespace
}  // namespace faro::bench::gpu

int main(int count, char** words) {
  using namespace faro::bench;
  return run_bench<gpu::Bench>(count, words, gpu::kTransposeUsage, gpu::parse_transpose_options);
}
