// gpu_family_bench: families of shapes on a GPU, extents on the host and in the device's memory, beside
// ordinary plans of the same shapes and a cudaMemcpy of the same bytes in the same rounds. `gpu_family_bench
// --help` lists the options.
//
// Every result is verified on the device, element by element, before it is timed.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/family_cases.hpp"
#include "bench/gpu/page.hpp"
#include "bench/gpu/setting.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "faro/measure.hpp"
#include "gpu/axes_oracle.hpp"

namespace faro::bench::gpu {
namespace {

constexpr const char* kUsage =
    R"(gpu_family_bench: families of shapes beside ordinary plans and cudaMemcpy

  --rounds NUMBER  of turns of each case             (default 9)
  --only TEXT      rows whose first column has it
  --out FILE       the table, in Markdown
  --help
)";

RowOptions parse(const CommandLine& line) {
  RowOptions options;
  options.read(line);
  return options;
}

class FamilyBench {
 public:
  explicit FamilyBench(const RowOptions& options) : options_(options) {}

  bool run() {
    page_.add("# Families of shapes on a GPU\n\n" + setting_table(make_setting(options_.command)) +
              "\nEvery result was verified before it was timed. Medians of alternating rounds; shares of the "
              "cudaMemcpy of\n"
              "the same bytes in the same rounds. A call: what the host takes to queue one of a new shape, "
              "beside one "
              "of the plan.\n\n"
              "| family | bytes | plan | family | extents on the device | copy ms | a call us | of the plan "
              "us | moved "
              "by |\n"
              "|---|---|---|---|---|---|---|---|---|\n");
    for (const FamilyCase& each : family_cases()) {
      if (!options_.wants(each.what)) continue;
      try {
        page_.add(row(each));
      } catch (const std::exception& error) {
        ++failures_;
        page_.add(fmt::format("| {} | {} | failed: {} |\n", each.what, each.width, error.what()));
      }
    }
    return failures_ == 0;
  }

 private:
  static void verify(const FamilyCase& of, const cuda::DeviceArray& in, const cuda::DeviceArray& out) {
    const std::uint64_t wrong = testing::misplaced_elements(
        in.data(), out.data(), testing::axes_oracle(of.extents, of.order, of.width), {});
    if (wrong > 0)
      fail(ErrorCode::verification, "gpu_family_bench", fmt::format("{} elements elsewhere", wrong),
           "every element in its place");
  }

  std::string row(const FamilyCase& of) const {
    const PlanOptions by{.engine = Engine::cuda};
    const ShapeFamily family(of.map(), by);
    const ExecutablePlan made = plan(Axes(of.extents, of.order), of.width, by);
    const std::vector<std::uint64_t> extents = of.call();
    const std::uint64_t bytes = family.in_bytes(extents);
    const cuda::DeviceArray in(bytes);
    const cuda::DeviceArray out(bytes);
    cuda::DeviceArray counts(extents.size() * 8);
    const std::vector<std::int64_t> wide(extents.begin(), extents.end());
    counts.upload(wide.data());
    const std::vector<std::function<void(Stream)>> ways{
        [&](Stream s) { cuda::copy(in.data(), out.data(), bytes, s); },
        [&](Stream s) { made.run(in.data(), out.data(), bytes, s); },
        [&](Stream s) { family.run(extents, in.data(), out.data(), s); },
        [&](Stream s) { family.run_on_device({.data = counts.data()}, in.data(), out.data(), s); }};
    const cuda::StreamClock clock;
    const auto draw = [&](const cuda::DeviceArray& array, std::uint64_t seed) {
      static_cast<void>(
          clock.milliseconds(1, [&](Stream s) { testing::draw_bytes(array.data(), bytes, seed, s); }));
    };
    draw(in, 1);
    for (std::size_t i = 1; i < ways.size(); ++i) {
      draw(out, 2);
      static_cast<void>(clock.milliseconds(1, ways[i]));
      verify(of, in, out);
    }
    const int calls = static_cast<int>(std::clamp<std::uint64_t>((std::uint64_t{2} << 30) / bytes, 2, 200));
    std::vector<std::vector<double>> times(ways.size());
    for (int round = 0; round < options_.rounds; ++round) {
      for (std::size_t i = 0; i < ways.size(); ++i) {
        static_cast<void>(clock.milliseconds(1, ways[i]));
        times[i].push_back(clock.milliseconds(calls, ways[i]) / calls);
      }
    }
    // What the host takes, of shapes that differ: one call at a time, lest the queue is full.
    const auto queued_us = [&](const auto& call) {
      std::vector<double> queued;
      for (std::uint64_t n = 0; n < 64; ++n) {
        std::vector<std::uint64_t> fewer = extents;
        fewer.front() -= std::min<std::uint64_t>(fewer.front() - 1, n % 16);
        const auto begin = std::chrono::steady_clock::now();
        call(fewer);
        queued.push_back(
            std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
        static_cast<void>(clock.milliseconds(1, [](Stream) {}));
      }
      return median(queued);
    };
    const double of_family = queued_us([&](const auto& fewer) { family.run(fewer, in.data(), out.data()); });
    const double of_plan = queued_us([&](const auto&) { made.run(in.data(), out.data(), bytes); });
    const auto share = [&](std::size_t i) { return 100 * median(times[0]) / median(times[i]); };
    return fmt::format("| {} | {} | {:.1f}% | {:.1f}% | {:.1f}% | {:.4f} | {:.1f} | {:.1f} | {} |\n", of.what,
                       of.width, share(1), share(2), share(3), median(times[0]), of_family, of_plan,
                       family.explain(extents));
  }

  RowOptions options_;
  int failures_ = 0;
  Page page_{options_.out};
};

}  // namespace
}  // namespace faro::bench::gpu

int main(int count, char** words) {
  using namespace faro::bench;
  return run_bench<gpu::FamilyBench>(count, words, gpu::kUsage, gpu::parse);
}
