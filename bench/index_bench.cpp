// index_bench: permutations given by an index array on the CPU: the planner's choice, partitions of other
// shapes, gather and scatter by the array, and a copy, all in turns. `index_bench --help` lists the options.
// Every contestant is verified before it is timed.
#include <fmt/format.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "engines/cpu.hpp"
#include "faro/error.hpp"
#include "faro/measure.hpp"
#include "faro/plan/plan.hpp"
#include "faro_build_info.hpp"
#include "io/buffer.hpp"
#include "oracle.hpp"

namespace faro::bench {
namespace {

constexpr const char* kUsage =
    R"(index_bench: permutations given by an index array on the CPU beside gather, scatter and a plain copy

  --sizes LIST         powers of two, of elements                                 (default 20,24,27)
  --widths LIST        element widths in bytes                                    (default 1,4,16)
  --gather             arrays say where elements come from, not where they go
  --shapes LIST        partitions of these shapes too: the bits of a chunk and of each level, as 14:7:6,15:6:6
  --budget-ms NUMBER   of measuring a size and width                              (default 3000)
  --help
)";

constexpr int kMostBits = 40;

struct Options {
  std::vector<int> size_bits{20, 24, 27};
  std::vector<std::uint64_t> widths{1, 4, 16};
  std::vector<std::vector<int>> shapes;
  Direction direction = Direction::scatter;
  double budget_ms = 3000;
};

Options parse(const CommandLine& line) {
  Options options;
  if (line.has("--gather")) options.direction = Direction::gather;
  line.read({{"--sizes", [&](const Argument& a) { options.size_bits = parse_ints(a, 0, kMostBits); }},
             {"--widths", [&](const Argument& a) { options.widths = parse_counts(a, 1); }},
             {"--shapes",
              [&](const Argument& a) {
                for (const Argument& shape : split(a)) {
                  options.shapes.emplace_back();
                  for (const Argument& bits : split(shape, ':'))
                    options.shapes.back().push_back(parse_int(bits, 0, kMostBits));
                }
              }},
             {"--budget-ms", [&](const Argument& a) { options.budget_ms = parse_int(a, 1); }}},
            {"--gather"});
  return options;
}

// In words: "partition 14: 7 6".
std::string text_of(const IndexCandidate& candidate) {
  std::string text = name(candidate.method);
  if (!candidate.shape) return text;
  text += fmt::format(" {}:", candidate.shape->chunk_bits);
  for (const int bits : candidate.shape->level_bits) text += fmt::format(" {}", bits);
  return text;
}

struct Contestant {
  std::string name;
  std::function<void()> run;
};

void measure(const Options& options, int bits, std::uint64_t width) {
  const std::uint64_t count = std::uint64_t{1} << bits;
  const Indexed drawn = Indexed::random(count, 1);
  const Indexed indexed = drawn.direction() == options.direction ? drawn : drawn.inverse();
  const Problem problem{.permutation = indexed, .element_bytes = width};
  const std::uint64_t bytes = count * width;
  const io::Buffer in(bytes);
  const io::Buffer out(bytes);
  for (std::uint64_t i = 0; i + 8 <= bytes; i += 8) {
    const std::uint64_t word = (i + 1) * 0x9e3779b97f4a7c15;
    std::memcpy(in.data() + i, &word, sizeof(word));
  }
  const auto workspace = std::make_shared<std::unique_ptr<io::Buffer>>();
  std::vector<Contestant> contestants{{"copy", [&] { cpu::copy(in.data(), out.data(), bytes); }}};
  const auto add = [&](std::string prefix, const IndexChoice& choice) {
    const Recognition recognition{.family = Family::general,
                                  .permutation = indexed,
                                  .runs = std::nullopt,
                                  .displacement = std::nullopt,
                                  .findings = {}};
    const Plan plan(problem, cpu::target(), recognition, choice);
    const IndexCandidate& chosen = *plan.way();
    const auto executor = std::make_shared<const cpu::Executor>(plan);
    const std::uint64_t wanted = executor->workspace_bytes();
    if (wanted != 0 && (!*workspace || (*workspace)->size() < wanted))
      *workspace = std::make_unique<io::Buffer>(wanted);
    const auto run = [executor, workspace, &in, &out] {
      executor->run(in.data(), out.data(), *workspace ? (*workspace)->data() : nullptr);
    };
    std::memset(out.data(), 0, bytes);
    run();
    if (const auto wrong = find_mismatch(problem, in.data(), out.data())) {
      fail(ErrorCode::verification, fmt::format("verify {} of 2^{} elements", text_of(chosen), bits),
           to_text(*wrong), "out[pi(x)] = in[x]", "this is a bug; please report it with the command");
    }
    contestants.push_back({prefix + text_of(chosen), run});
  };
  add("", {.method = IndexMethod::direct, .chunk_bits = {}, .level_bits = {}});
  add("chosen: ", {});
  for (const std::vector<int>& shape : options.shapes) {
    add("", {.method = IndexMethod::partition,
             .chunk_bits = shape.front(),
             .level_bits = {shape.begin() + 1, shape.end()}});
  }
  std::vector<std::function<void()>> runs;
  runs.reserve(contestants.size());
  for (const Contestant& each : contestants) runs.push_back(each.run);
  const std::vector<Timing> times = measure_alternating(runs, {.budget_ms = options.budget_ms});
  for (std::size_t i = 0; i < times.size(); ++i) {
    fmt::print("2^{:<3} {:>3}  {:<28} {:>10.3f} {:>8.3f} {:>9.3f} {:>8.2f} {:>8.2f}\n", bits, width,
               contestants[i].name, times[i].median_ms, times[i].mad_ms,
               times[i].median_ms * 1e6 / static_cast<double>(count), times[i].median_ms / times[0].median_ms,
               times[1].median_ms / times[i].median_ms);
  }
}

int run(const CommandLine& line) {
  const Options options = parse(line);
  fmt::print("{}, {}\n", cpu::target().name, FARO_COMMIT);
  fmt::print("{:<5} {:>3}  {:<28} {:>10} {:>8} {:>9} {:>8} {:>8}\n", "count", "B", name(options.direction),
             "ms", "+-", "ns/elem", "copies", "direct/");
  for (const std::uint64_t width : options.widths) {
    for (const int bits : options.size_bits) measure(options, bits, width);
  }
  return 0;
}

}  // namespace
}  // namespace faro::bench

int main(int count, char** words) {
  return faro::bench::run_program(count, words, faro::bench::kUsage, faro::bench::run);
}
