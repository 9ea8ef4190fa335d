// rows_bench: rows taken, put and added on the CPU beside the obvious loop and a plain copy of the rows that
// are moved, by turns; and multiplication modulo a count. `rows_bench --help` lists the options.
//
// Every result is held against the obvious loop's before anything is timed. Shares are of the copy's speed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "engines/cpu.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "faro/measure.hpp"
#include "faro/rows.hpp"
#include "faro_build_info.hpp"
#include "io/buffer.hpp"

namespace faro::bench {
namespace {

constexpr const char* kUsage =
    R"(rows_bench: rows taken, put and added on the CPU beside the obvious loop and a copy

  --bytes SIZE         bytes of the rows that are moved                           (default 256MiB)
  --widths LIST        bytes of a row                                             (default 4,16,64,256,1024,4096)
  --budget-ms NUMBER   of measuring a row of the table                            (default 2000)
  --help
)";

struct Options {
  std::uint64_t bytes = std::uint64_t{256} << 20;
  std::vector<std::uint64_t> widths{4, 16, 64, 256, 1024, 4096};
  double budget_ms = 2000;
};

Options parse(const CommandLine& line) {
  Options options;
  line.read({{"--bytes", [&](const Argument& a) { options.bytes = parse_bytes(a, 1 << 16); }},
             {"--widths", [&](const Argument& a) { options.widths = parse_counts(a, 4); }},
             {"--budget-ms", [&](const Argument& a) { options.budget_ms = parse_int(a, 1); }}});
  return options;
}

// The obvious loop, by all threads where they cannot meet.
void move_plainly(const RowMove& move, const std::vector<std::uint32_t>& rows, std::uint64_t width,
                  const std::byte* in, std::byte* out) {
  const auto count = static_cast<std::int64_t>(rows.size());
  if (std::holds_alternative<Add>(move)) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint64_t to = rows[static_cast<std::uint64_t>(i)] * width;
      for (std::uint64_t at = 0; at < width; at += sizeof(float)) {
        float sum = 0;
        float x = 0;
        std::memcpy(&sum, out + to + at, sizeof(float));
        std::memcpy(&x, in + static_cast<std::uint64_t>(i) * width + at, sizeof(float));
        sum += x;
        std::memcpy(out + to + at, &sum, sizeof(float));
      }
    }
    return;
  }
  const bool takes = std::holds_alternative<Take>(move);
#pragma omp parallel for
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t here = static_cast<std::uint64_t>(i) * width;
    const std::uint64_t there = rows[static_cast<std::uint64_t>(i)] * width;
    std::memcpy(out + (takes ? here : there), in + (takes ? there : here), width);
  }
}

void report_move(const std::string& name, std::uint64_t width, const std::string& way,
                 const std::vector<Timing>& timings) {
  const double copy = timings[2].median_ms;
  fmt::print("{:<28} {:>6} {:>9.2f} +-{:<6.2f} {:>9.2f} {:>9.2f} {:>7.1f}% {:>7.1f}%  {}\n", name, width,
             timings[0].median_ms, timings[0].mad_ms, timings[1].median_ms, copy,
             100 * copy / timings[0].median_ms, 100 * copy / timings[1].median_ms, way);
  std::fflush(stdout);
}

void measure_move(const Options& options, std::uint64_t width, const RowMove& shape,
                  const std::string& name) {
  const std::uint64_t count = options.bytes / width;
  std::vector<std::uint32_t> rows(count);
  std::mt19937_64 random(1);
  for (std::uint64_t i = 0; i < count; ++i) rows[i] = static_cast<std::uint32_t>(i);
  if (std::holds_alternative<Put>(shape)) {
    std::shuffle(rows.begin(), rows.end(), random);
  } else {
    for (std::uint32_t& row : rows) row = static_cast<std::uint32_t>(random() % numbered_rows(shape));
  }
  RowMove move = shape;
  const RowNumbers numbers{std::span<const std::uint32_t>(rows)};
  if (auto* const take = std::get_if<Take>(&move)) take->from = numbers;
  if (auto* const put = std::get_if<Put>(&move)) put->to = numbers;
  if (auto* const add = std::get_if<Add>(&move)) add->to = numbers;
  const ExecutableRows plan = plan_rows(move, {.outer = 1, .row_bytes = width});
  io::Buffer in(plan.plan().in_bytes());
  io::Buffer out(plan.plan().out_bytes());
  io::Buffer expected(out.size());
  for (std::uint64_t at = 0; at + 4 <= in.size(); at += 4) {
    const float x = static_cast<float>(random() % 1000) / 8;
    std::memcpy(in.data() + at, &x, 4);
  }
  plan.run(in.span(), out.span());
  move_plainly(move, rows, width, in.data(), expected.data());
  if (std::memcmp(out.data(), expected.data(), out.size()) != 0)
    fail(ErrorCode::verification, name, "another result", "that of the obvious loop");
  io::Buffer copied(options.bytes);
  io::Buffer source(options.bytes);
  const std::array<std::function<void()>, 3> contestants{
      [&] { plan.run(in.span(), out.span()); },
      [&] { move_plainly(move, rows, width, in.data(), expected.data()); },
      [&] { cpu::copy(source.data(), copied.data(), copied.size()); }};
  report_move(name, width, faro::name(plan.plan().way()),
              measure_alternating(contestants, {.budget_ms = options.budget_ms}));
}

void measure_modular(const Options& options, std::uint64_t width, std::int64_t factor) {
  const std::uint64_t count = options.bytes / width;
  const Modular map = maps::multiply(count, factor);
  io::Buffer in(count * width);
  io::Buffer out(in.size());
  io::Buffer expected(in.size());
  for (std::uint64_t at = 0; at < in.size(); ++at) in.data()[at] = static_cast<std::byte>(at * 31 >> 3);
  const auto plainly = [&] {
#pragma omp parallel for
    for (std::int64_t x = 0; x < static_cast<std::int64_t>(count); ++x)
      std::memcpy(expected.data() + map(static_cast<std::uint64_t>(x)) * width,
                  in.data() + static_cast<std::uint64_t>(x) * width, width);
  };
  permute(map, width, in.span(), out.span());
  plainly();
  if (std::memcmp(out.data(), expected.data(), out.size()) != 0)
    fail(ErrorCode::verification, "multiply", "another result", "that of the obvious loop");
  const std::array<std::function<void()>, 3> contestants{
      [&] { permute(map, width, in.span(), out.span()); }, plainly,
      [&] { cpu::copy(in.data(), out.data(), in.size()); }};
  report_move(fmt::format("multiply({}, {})", count, factor), width, "two matrices",
              measure_alternating(contestants, {.budget_ms = options.budget_ms}));
}

int run(const CommandLine& line) {
  const Options options = parse(line);
  fmt::print("rows_bench, faro {}, {} each, {}\n\n", FARO_COMMIT, size_text(options.bytes),
             cpu::target().name);
  fmt::print("{:<28} {:>6} {:>18} {:>9} {:>9} {:>8} {:>8}  way\n", "", "bytes", "faro ms", "loop ms",
             "copy ms", "faro", "loop");
  for (const std::uint64_t width : options.widths) {
    const std::uint64_t count = options.bytes / width;
    measure_move(options, width, Take{.rows = count}, "take, random with repeats");
    measure_move(options, width, Take{.rows = std::max<std::uint64_t>(count / 1024, 1)},
                 "take, of a small table");
    measure_move(options, width, Put{.rows = count}, "put, random");
    measure_move(options, width, Add{.rows = count}, "add fp32, random");
    measure_move(options, width, Add{.rows = std::max<std::uint64_t>(count / 1024, 1)},
                 "add fp32, to few rows");
  }
  for (const std::uint64_t width : {4, 8}) {
    for (const std::int64_t factor : {5, 12345, 31415927}) measure_modular(options, width, factor);
  }
  return 0;
}

}  // namespace
}  // namespace faro::bench

int main(int count, char** words) {
  return faro::bench::run_program(count, words, faro::bench::kUsage, faro::bench::run);
}
