// index_bench: permutations given by an index array on the CPU: the planner's choice, partitions of other
// shapes, gather and scatter by the array, and a copy, all in turns.
//
//     index_bench [--sizes 20,24,27] [--widths 1,4,16] [--gather] [--shapes 14:7:6,15:6:6] [--budget-ms 3000]
//
// Sizes are powers of two, of elements; a shape is the bits of a chunk and of each level. Every contestant is
// verified before it is timed.
#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/arguments.hpp"
#include "faro/engines/cpu.hpp"
#include "faro/engines/cpu_index.hpp"
#include "faro/error.hpp"
#include "faro/io/buffer.hpp"
#include "faro/measure.hpp"
#include "faro/oracle.hpp"
#include "faro/plan/index_plan.hpp"
#include "faro_build_info.hpp"

namespace faro::bench {
namespace {

struct Options {
  std::vector<std::uint64_t> size_bits{20, 24, 27};
  std::vector<std::uint64_t> widths{1, 4, 16};
  std::vector<std::vector<int>> shapes;
  Direction direction = Direction::scatter;
  double budget_ms = 3000;
};

std::vector<std::uint64_t> numbers(const std::string& option, std::string_view text) {
  std::vector<std::uint64_t> list;
  for (const std::string_view part : split(text)) list.push_back(parse_count(option, part));
  return list;
}

std::vector<int> shape_of(const std::string& option, std::string_view text) {
  std::vector<int> bits;
  for (;;) {
    const std::size_t colon = text.find(':');
    bits.push_back(static_cast<int>(parse_count(option, text.substr(0, colon))));
    if (colon == std::string_view::npos) return bits;
    text.remove_prefix(colon + 1);
  }
}

Options parse(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string option = words[i];
    if (option == "--gather") {
      options.direction = Direction::gather;
      continue;
    }
    if (i + 1 == count) refuse_option(option, "nothing", "a value");
    const std::string_view value = words[++i];
    if (option == "--sizes") {
      options.size_bits = numbers(option, value);
    } else if (option == "--widths") {
      options.widths = numbers(option, value);
    } else if (option == "--shapes") {
      for (const std::string_view part : split(value)) options.shapes.push_back(shape_of(option, part));
    } else if (option == "--budget-ms") {
      options.budget_ms = static_cast<double>(parse_count(option, value));
    } else {
      refuse_option(option, value, "--sizes, --widths, --gather, --shapes or --budget-ms");
    }
  }
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

void measure(const Options& options, std::uint64_t bits, std::uint64_t width) {
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
    const IndexPlan plan(problem, cpu::target(), recognition, choice);
    const auto executor = std::make_shared<const cpu::IndexExecutor>(plan);
    const std::uint64_t wanted = executor->workspace_bytes();
    if (wanted != 0 && (!*workspace || (*workspace)->size() < wanted))
      *workspace = std::make_unique<io::Buffer>(wanted);
    const auto run = [executor, workspace, &in, &out] {
      executor->run(in.data(), out.data(), *workspace ? (*workspace)->data() : nullptr);
    };
    std::memset(out.data(), 0, bytes);
    run();
    if (const auto wrong = find_mismatch(problem, in.data(), out.data())) {
      throw Error({.code = ErrorCode::verification,
                   .operation = fmt::format("verify {} of 2^{} elements", text_of(plan.chosen()), bits),
                   .got = to_text(*wrong),
                   .wanted = "out[pi(x)] = in[x]",
                   .remedy = "this is a bug; please report it with the command"});
    }
    contestants.push_back({prefix + text_of(plan.chosen()), run});
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

int run(int count, char** words) {
  const Options options = parse(count, words);
  fmt::print("{}, {}\n", cpu::target().name, FARO_COMMIT);
  fmt::print("{:<5} {:>3}  {:<28} {:>10} {:>8} {:>9} {:>8} {:>8}\n", "count", "B", name(options.direction),
             "ms", "+-", "ns/elem", "copies", "direct/");
  for (const std::uint64_t width : options.widths) {
    for (const std::uint64_t bits : options.size_bits) measure(options, bits, width);
  }
  return 0;
}

}  // namespace
}  // namespace faro::bench

int main(int count, char** words) {
  try {
    return faro::bench::run(count, words);
  } catch (const faro::Error& error) {
    std::fprintf(stderr, "index_bench: %s\n", error.what());
    return 1;
  }
}
