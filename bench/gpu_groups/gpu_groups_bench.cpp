// gpu_groups_bench: many arrays by one group on a GPU, beside a plan each in a loop, the same loop as a
// graph, and a plain copy of as many bytes in the same rounds. `gpu_groups_bench --help` lists the options.
//
// Every array is held against the obvious loop on the host before anything is timed.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bench/gpu/page.hpp"
#include "bench/gpu/runtime.hpp"
#include "bench/gpu/setting.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "faro/group.hpp"
#include "faro/measure.hpp"
#include "oracle.hpp"

namespace faro::bench::gpu {
namespace {

using cuda::DeviceArray;

constexpr std::uint64_t kMostLoops = 1000;
constexpr std::uint64_t kArrayAlignment = 256;

constexpr const char* kUsage =
    R"(gpu_groups_bench: many arrays by one group on a GPU, beside a loop of plans and a copy of all

  --rounds COUNT   turns of every way                                          (default 9)
  --loops COUNT    runs of each turn                                           (default 10)
  --only TEXT      rows whose first column has it
  --out FILE       the table, in Markdown
  --help
)";

struct Options : RowOptions {
  std::uint64_t loops = 10;
};

Options parse(const CommandLine& line) {
  Options options;
  options.read(line,
               {{"--loops", [&](const Argument& a) { options.loops = parse_count(a, 1, kMostLoops); }}});
  return options;
}

struct GroupWork {
  std::string text;
  std::vector<Problem> problems;
};

std::vector<Problem> repeated(const Problem& problem, std::size_t times) {
  return std::vector<Problem>(times, problem);
}

// Draws ranks, orders and widths, and sizes even in their logarithms.
std::vector<Problem> drawn(std::size_t count, double least_bytes, double most_bytes) {
  std::mt19937_64 random(1);
  std::vector<Problem> problems;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t width = std::uint64_t{1} << (1 + random() % 3);
    std::uniform_real_distribution<double> size(std::log2(least_bytes), std::log2(most_bytes));
    const double elements = std::exp2(size(random)) / static_cast<double>(width);
    const std::size_t rank = 2 + random() % 3;
    std::vector<std::uint64_t> shape(rank);
    double left = elements;
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const double wanted = axis + 1 == rank ? left
                                             : std::pow(left, 1.0 / static_cast<double>(rank - axis)) *
                                                   std::exp2(static_cast<double>(random() % 3) - 1);
      shape[axis] = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(wanted));
      left /= static_cast<double>(shape[axis]);
    }
    std::vector<int> order(rank);
    for (std::size_t axis = 0; axis < rank; ++axis) order[axis] = static_cast<int>(axis);
    std::shuffle(order.begin(), order.end(), random);
    problems.push_back({.permutation = Axes(shape, order), .element_bytes = width});
  }
  return problems;
}

std::vector<GroupWork> works() {
  const auto axes = [](std::vector<std::uint64_t> shape, std::vector<int> order, std::uint64_t width) {
    return Problem{.permutation = Axes(std::move(shape), std::move(order)), .element_bytes = width};
  };
  return {
      {"160 of 2048 x 8 x 128 of 2 bytes, NHD to HND", repeated(axes({2048, 8, 128}, {1, 0, 2}, 2), 160)},
      {"the way back", repeated(axes({8, 2048, 128}, {1, 0, 2}, 2), 160)},
      {"1000 of 4 KiB to 4 MiB, drawn", drawn(1000, 4 << 10, 4 << 20)},
      {"1000 of 1 KiB, 16 x 16 of 4 bytes transposed", repeated(axes({16, 16}, {1, 0}, 4), 1000)},
      {"1000 of 1 KiB, copied", repeated(axes({256}, {0}, 4), 1000)},
      {"100 of 64 KiB, 128 x 128 of 4 bytes transposed", repeated(axes({128, 128}, {1, 0}, 4), 100)},
      {"1000 of 64 KiB, the same", repeated(axes({128, 128}, {1, 0}, 4), 1000)},
      {"1000 of 2 KiB, 16 x 32 of 4 bytes transposed", repeated(axes({16, 32}, {1, 0}, 4), 1000)},
      {"1000 of 4 KiB, 32 x 32 of 4 bytes transposed", repeated(axes({32, 32}, {1, 0}, 4), 1000)},
      {"1000 of 8 KiB, 32 x 64 of 4 bytes transposed", repeated(axes({32, 64}, {1, 0}, 4), 1000)},
      {"1000 of 9 KiB, 47 x 49 of 4 bytes transposed", repeated(axes({47, 49}, {1, 0}, 4), 1000)},
      {"1000 of 16 KiB, 64 x 64 of 4 bytes transposed", repeated(axes({64, 64}, {1, 0}, 4), 1000)},
      {"100000 of 1 KiB, 16 x 16 of 4 bytes transposed", repeated(axes({16, 16}, {1, 0}, 4), 100'000)},
      {"64 of 7168 x 2048 of 2 bytes transposed", repeated(axes({7168, 2048}, {1, 0}, 2), 64)},
      {"200 of 2^18 elements of 4 bytes, bits reversed",
       repeated({.permutation = maps::bit_reversal(18), .element_bytes = 4}, 200)},
      {"200 of 1 MiB, rolled",
       repeated({.permutation = maps::roll(1 << 18, 12345), .element_bytes = 4}, 200)},
  };
}

// Arrays one after another in one allocation, each aligned.
struct Arrays {
  std::vector<std::uint64_t> at;
  std::uint64_t bytes = 0;

  explicit Arrays(const std::vector<Problem>& problems) {
    for (const Problem& problem : problems) {
      at.push_back(bytes);
      bytes += (total_bytes(problem) + kArrayAlignment - 1) / kArrayAlignment * kArrayAlignment;
    }
  }
};

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options) {}

  void run() {
    page_.add(
        "# Many arrays at once, on a GPU\n\n" + setting_table(make_setting(options_.command)) +
        fmt::format("\nEvery array was held against the obvious loop before anything was timed. Medians "
                    "of {} alternating rounds of {}\nruns; shares are of a copy of as many bytes in the "
                    "same rounds. Host: what a call takes until it returns.\n\n"
                    "| arrays | MB | launches | group us | share | by addresses us | host us | loop us | "
                    "loop as a graph us | copy us | predicted us |\n"
                    "|---|---|---|---|---|---|---|---|---|---|---|\n",
                    options_.rounds, options_.loops));
    for (const GroupWork& work : works()) {
      if (options_.wants(work.text)) row(work);
    }
  }

 private:
  using Queue = std::function<void(Stream)>;

  double microseconds(const Queue& queue) {
    constexpr double kUsOfMs = 1e3;
    return kUsOfMs * clock_.milliseconds(static_cast<int>(options_.loops), queue) /
           static_cast<double>(options_.loops);
  }

  void row(const GroupWork& work) {
    const Arrays arrays(work.problems);
    DeviceArray in(arrays.bytes);
    DeviceArray out(arrays.bytes);
    std::vector<std::byte> host(arrays.bytes);
    std::mt19937_64 random(2);
    for (std::size_t at = 0; at + 8 <= host.size(); at += 8) {
      const std::uint64_t word = random();
      std::memcpy(host.data() + at, &word, sizeof word);
    }
    in.upload(host.data());
    std::vector<GroupMember> members;
    std::vector<const void*> ins;
    std::vector<void*> outs;
    for (std::size_t i = 0; i < work.problems.size(); ++i) {
      ins.push_back(in.data() + arrays.at[i]);
      outs.push_back(out.data() + arrays.at[i]);
      members.push_back({.problem = work.problems[i], .in = ins.back(), .out = outs.back()});
    }
    const Group group = plan_group(members, {.engine = Engine::cuda});
    std::vector<ExecutablePlan> plans;
    std::vector<std::size_t> plan_of;
    for (std::size_t i = 0; i < work.problems.size(); ++i) {
      const bool again = i > 0 && work.problems[i].permutation == work.problems[i - 1].permutation;
      if (!again) plans.push_back(plan(work.problems[i], {.engine = Engine::cuda}));
      plan_of.push_back(plans.size() - 1);
    }
    const Queue by_group = [&](Stream stream) { group.run(stream); };
    const Queue by_addresses = [&](Stream stream) { group.run(ins, outs, stream); };
    const Queue by_loop = [&](Stream stream) {
      for (std::size_t i = 0; i < work.problems.size(); ++i)
        plans[plan_of[i]].run(ins[i], outs[i], total_bytes(work.problems[i]), stream);
    };
    clock_.milliseconds(1, by_group);
    verify(work, arrays, host, out);
    const Graph graph(by_loop);
    const Queue by_graph = [&](Stream stream) { graph.launch(stream); };
    const std::uint64_t half = group.moved_bytes() / 2;
    const DeviceArray from(half);
    const DeviceArray to(half);
    const Queue by_copy = [&](Stream stream) { cuda::copy(from.data(), to.data(), half, stream); };
    const Queue* const ways[] = {&by_group, &by_addresses, &by_loop, &by_graph, &by_copy};
    std::vector<double> times[std::size(ways)];
    std::vector<double> of_host;
    for (const Queue* const way : ways) microseconds(*way);
    for (int round = 0; round < options_.rounds; ++round) {
      for (std::size_t way = 0; way < std::size(ways); ++way) times[way].push_back(microseconds(*ways[way]));
      of_host.push_back(host_us(by_group));
    }
    constexpr double kPercent = 100;
    constexpr double kMega = 1e6;
    page_.add(fmt::format(
        "| {} | {:.1f} | {} | {:.1f} | {:.1f}% | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {} |\n",
        work.text, static_cast<double>(half) / kMega, group.launches(), median(times[0]),
        kPercent * median(times[4]) / median(times[0]), median(times[1]), median(of_host), median(times[2]),
        median(times[3]), median(times[4]),
        group.predicted_us() ? fmt::format("{:.1f}", *group.predicted_us()) : "?"));
  }

  // The host's time of calls that find room in the queue.
  double host_us(const Queue& queue) {
    clock_.milliseconds(1, queue);  // and waits
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < options_.loops; ++i) queue({});
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    return took.count() / static_cast<double>(options_.loops);
  }

  static void verify(const GroupWork& work, const Arrays& arrays, const std::vector<std::byte>& in,
                     const DeviceArray& out) {
    std::vector<std::byte> got(arrays.bytes);
    out.download(got.data());
    for (std::size_t i = 0; i < work.problems.size(); ++i) {
      const auto mismatch =
          find_mismatch(work.problems[i], in.data() + arrays.at[i], got.data() + arrays.at[i]);
      if (mismatch)
        fail(ErrorCode::verification, "verify " + work.text,
             "member " + std::to_string(i) + ": " + to_text(*mismatch), "what the map says");
    }
  }

  Options options_;
  cuda::StreamClock clock_;
  Page page_{options_.out};
};

}  // namespace
}  // namespace faro::bench::gpu

int main(int count, char** words) {
  using namespace faro::bench;
  return run_bench<gpu::Bench>(count, words, gpu::kUsage, gpu::parse);
}
