// network_bench: sorting networks and transforms on the CPU, beside a plain copy and std::sort.
// `network_bench --help` lists what it takes.
//
// Every result is verified first. A row's `floor` is the same program with tiles of one direction beside the
// segment, nearly a pass a layer; its `copy` is of the same array in the same rounds; std::sort runs on one
// core. GB/s counts what all passes read and write.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/report.hpp"
#include "engines/cpu.hpp"
#include "faro/error.hpp"
#include "faro/measure.hpp"
#include "faro/network/network.hpp"
#include "faro/network/program.hpp"
#include "faro_build_info.hpp"
#include "io/buffer.hpp"
#include "network/verify.hpp"

namespace faro::bench {
namespace {

using network::ElementType;
using network::Executable;
using network::Scalar;

constexpr const char* kUsage =
    R"(network_bench [BITS] [THREADS]: sorting networks and transforms on the CPU

  BITS      arrays of 2^BITS elements, 1 to 30                                    (default 24)
  THREADS                                                                         (default as OpenMP has them)
  --help
)";

constexpr int kMostBits = 30;
constexpr int kMostFloorBits = 22;  // above, a pass a layer takes minutes

struct Case {
  const char* program;
  ElementType element;
};

constexpr Case kCases[] = {{"sort", {.scalar = Scalar::u32}},
                           {"bitonic_sort", {.scalar = Scalar::u32}},
                           {"bitonic_sort", {.scalar = Scalar::f32}},
                           {"bitonic_sort", {.scalar = Scalar::u64}},
                           {"bitonic_sort", {.scalar = Scalar::u32, .with_value = true}},
                           {"bitonic_sort", {.scalar = Scalar::u64, .with_value = true}},
                           {"wht", {.scalar = Scalar::f32}},
                           {"wht", {.scalar = Scalar::i64}},
                           {"fft", {.scalar = Scalar::c64}},
                           {"fft", {.scalar = Scalar::c128}}};

// Numbers that are no special floats in any type: small fractions.
void fill(const io::Buffer& buffer, const ElementType& element) {
  const bool floats = is_float(element.scalar) || is_complex(element.scalar);
  const bool narrow = element.scalar == Scalar::f32 || element.scalar == Scalar::c64;
  std::uint64_t state = 1;
  for (std::uint64_t at = 0; at < buffer.size(); at += 8) {
    state += 0x9e3779b97f4a7c15;
    std::uint64_t bits = (state ^ state >> 30) * 0xbf58476d1ce4e5b9;
    bits ^= bits >> 29;
    if (floats && narrow) {
      const float values[] = {static_cast<float>(bits >> 40), static_cast<float>(bits << 24 >> 40)};
      std::memcpy(buffer.data() + at, values, 8);
    } else if (floats) {
      const auto value = static_cast<double>(bits >> 11);
      std::memcpy(buffer.data() + at, &value, 8);
    } else {
      std::memcpy(buffer.data() + at, &bits, 8);
    }
  }
}

template <typename Element>
std::function<void()> sorting(const io::Buffer& in, const io::Buffer& scratch) {
  return [&in, &scratch] {
    std::memcpy(scratch.data(), in.data(), in.size());
    auto* const begin = reinterpret_cast<Element*>(scratch.data());
    std::sort(begin, begin + in.size() / sizeof(Element));
  };
}

struct Keyed {
  std::uint64_t key;
  std::uint64_t value;
  friend bool operator<(const Keyed& a, const Keyed& b) {
    return a.key != b.key ? a.key < b.key : a.value < b.value;
  }
};

std::function<void()> standard_sort(const ElementType& element, const io::Buffer& in,
                                    const io::Buffer& scratch) {
  if (element.with_value) {
    return element.bytes() == 8 ? sorting<std::uint64_t>(in, scratch) : sorting<Keyed>(in, scratch);
  }
  if (element.scalar == Scalar::f32) return sorting<float>(in, scratch);
  return element.bytes() == 4 ? sorting<std::uint32_t>(in, scratch) : sorting<std::uint64_t>(in, scratch);
}

std::string milliseconds(const Timing& timing) {
  return fmt::format("{:.3g} ± {:.2g}", timing.median_ms, timing.mad_ms);
}

void run(const Case& c, int bits, int threads) {
  const network::LibraryEntry* const entry = network::find_program(c.program);
  FARO_CHECK(entry != nullptr);
  const network::Problem problem{.program = entry->make(bits), .element = c.element};
  const Executable program = network::compile(problem, {.engine = Engine::cpu, .threads = threads});
  const network::Plan& plan = program.plan();
  const io::Buffer in(plan.array_bytes());
  const io::Buffer out(plan.array_bytes());
  const io::Buffer scratch(plan.array_bytes());
  fill(in, c.element);
  program.run(in.data(), out.data(), in.size());
  network::verify(problem, in.span(), out.span());

  std::vector<std::function<void()>> contestants;
  contestants.emplace_back([&] { program.run(in.data(), out.data(), in.size()); });
  contestants.emplace_back([&] { cpu::copy(in.data(), out.data(), in.size(), threads); });
  const bool sorts = std::string(c.program).find("sort") != std::string::npos;
  if (sorts) contestants.push_back(standard_sort(c.element, in, scratch));
  std::optional<Executable> floor;
  if (bits <= kMostFloorBits) {
    const int s = plan.sizes().segment_bits;
    floor.emplace(network::compile(problem, {.engine = Engine::cpu,
                                             .threads = threads,
                                             .tile_bits = std::min(bits, s + 1),
                                             .segment_bits = std::min(bits, s)}));
    contestants.emplace_back([&] { floor->run(in.data(), out.data(), in.size()); });
  }
  const std::vector<Timing> timings =
      measure_alternating(contestants, {.budget_ms = 6000, .min_samples = 3, .max_samples = 21});
  const double own = timings[0].median_ms;
  const double copy = timings[1].median_ms;
  fmt::print("| {} | {} | {} | {} | {} | {:.3g} | {:.3g} | {:.3g} | {} | {} |\n", c.program,
             network::to_text(c.element), plan.normal_form().layers.size(), plan.passes().size(),
             milliseconds(timings[0]), static_cast<double>(plan.bytes_moved()) / (own * 1e6), own / copy,
             own / copy / static_cast<double>(plan.passes().size()), sorts ? milliseconds(timings[2]) : "",
             floor
                 ? fmt::format("{} ({} passes)", milliseconds(timings.back()), floor->plan().passes().size())
                 : "");
  std::fflush(stdout);
}

int run_all(const CommandLine& line) {
  const std::vector<std::string>& words = line.words();
  if (words.size() > 2) refuse({"read the command line", words[2]}, "no more than BITS and THREADS");
  const int bits = words.empty() ? 24 : parse_int({"BITS", words[0]}, 1, kMostBits);
  const int threads = words.size() < 2 ? omp_get_max_threads() : parse_int({"THREADS", words[1]}, 1);
  fmt::print("`network_bench {} {}`, commit {}, {}; 2^{} elements\n\n", bits, threads, FARO_COMMIT,
             machine_text(), bits);
  fmt::print(
      "| program | element | layers | passes | ms | GB/s moved | times a copy | a pass / a copy | std::sort, "
      "ms "
      "| floor, ms |\n|---|---|---|---|---|---|---|---|---|---|\n");
  for (const Case& c : kCases) run(c, bits, threads);
  return 0;
}

}  // namespace
}  // namespace faro::bench

int main(int count, char** words) {
  return faro::bench::run_program(count, words, faro::bench::kUsage, faro::bench::run_all);
}
