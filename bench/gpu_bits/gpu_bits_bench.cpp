// gpu_bits_bench: elements of 1, 2 and 4 bits permuted on a GPU, beside a plain copy of as many bytes in the
// same rounds. `gpu_bits_bench --help` lists the options.
//
// Every output is held against the CPU's, bit by bit, before its kernel is timed; of larger ones a shorter
// array of the same kind is.
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "bench/gpu/page.hpp"
#include "bench/gpu/setting.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "faro/measure.hpp"
#include "faro/packed.hpp"

namespace faro::bench::gpu {
namespace {

using cuda::DeviceArray;

constexpr std::uint64_t kMostMaps = 1000;
constexpr std::uint64_t kMostFilledBytes = std::uint64_t{1} << 29;

constexpr const char* kUsage =
    R"(gpu_bits_bench: elements smaller than a byte permuted on a GPU, beside a copy of as many bytes

  --rounds COUNT   turns of every work and the copy                            (default 9)
  --maps COUNT     random maps of each size                                    (default 5)
  --verified MIB   larger arrays are not held against the CPU's                (default 512)
  --only TEXT      works whose names have it in them
  --out FILE       the table, in Markdown
  --help
)";

struct Options : PageOptions {
  std::uint64_t maps = 5;
  std::uint64_t verified_mib = 512;
  std::string only = {};
};

Options parse(const CommandLine& line) {
  Options options;
  options.read(line,
               {{"--maps", [&](const Argument& a) { options.maps = parse_count(a, 1, kMostMaps); }},
                {"--verified", [&](const Argument& a) { options.verified_mib = parse_count(a, 0, 1 << 20); }},
                {"--only", [&](const Argument& a) { options.only = a.text; }}});
  return options;
}

// Works of which the median over all maps is told.
struct Work {
  std::string text;
  std::vector<PackedProblem> problems;
  bool in_place = false;
};

std::vector<Work> works(std::uint64_t maps) {
  const auto one = [](std::string text, Permutation permutation, std::uint32_t bits) {
    return Work{std::move(text), {{.permutation = std::move(permutation), .element_bits = bits}}};
  };
  const auto drawn = [&](std::string text, int n, std::uint32_t bits, auto&& make) {
    Work work{std::move(text), {}};
    for (std::uint64_t seed = 1; seed <= maps; ++seed)
      work.problems.push_back({.permutation = make(n, seed), .element_bits = bits});
    return work;
  };
  const auto bmmc = [](int n, std::uint64_t seed) { return maps::random_bmmc(n, seed); };
  const auto bpc = [](int n, std::uint64_t seed) { return maps::random_bpc(n, seed); };
  const auto in_place = [](Work work) {
    work.text += ", in place";
    work.in_place = true;
    return work;
  };
  return {
      in_place(one("nibbles, 32768 x 32768 transposed", maps::transpose(32768, 32768), 4)),
      in_place(drawn("nibbles, random BMMC of 2^31", 31, 4, bmmc)),
      in_place(one("bits, 2^16 x 2^16 transposed", maps::transpose(1 << 16, 1 << 16), 1)),
      in_place(drawn("bits, random BMMC of 2^33", 33, 1, bmmc)),
      one("nibbles, a drawn index array of 2^26", Indexed::random(1 << 26, 1), 4),
      one("nibbles, 16384 x 32768 transposed", maps::transpose(16384, 32768), 4),
      one("nibbles, 65536 x 32768 transposed", maps::transpose(65536, 32768), 4),
      drawn("nibbles, random BMMC of 2^33", 33, 4, bmmc),
      drawn("nibbles, random bit permutations of 2^31", 31, 4, bpc),
      one("nibbles, bit reversal of 2^31", maps::bit_reversal(31), 4),
      one("pairs of bits, 2^16 x 2^16 transposed", maps::transpose(1 << 16, 1 << 16), 2),
      drawn("pairs of bits, random BMMC of 2^33", 33, 2, bmmc),
      one("bits, 4096 x 131072 transposed", maps::transpose(4096, 131072), 1),
      one("bits, 2^18 x 2^16 transposed", maps::transpose(1 << 18, 1 << 16), 1),
      drawn("bits, random BMMC of 2^34", 34, 1, bmmc),
      drawn("bits, random bit permutations of 2^33", 33, 1, bpc),
      one("bits, bit reversal of 2^33", maps::bit_reversal(33), 1),
      one("nibbles, AWQ to Marlin, 32768 x 28672",
          parse_permutation("compose(marlin(32768, 28672), inverse(awq(939524096)))"), 4),
      one("nibbles, 16383 x 32767 transposed", Axes({16383, 32767}, {1, 0}), 4),
      one("bits, 65537 x 65535 transposed", Axes({65537, 65535}, {1, 0}), 1),
      one("genotypes, 500000 x 4000 transposed", Axes({500000, 4000}, {1, 0}), 2),
      one("nibbles, 255 x 1023 x 2047, (2 1 0)", Axes({255, 1023, 2047}, {2, 1, 0}), 4),
      one("bits, 1023 x 1025 x 2047, (1 2 0)", Axes({1023, 1025, 2047}, {1, 2, 0}), 1),
      one("nibbles, 31 x 65 x 515 x 517, (1 3 0 2)", Axes({31, 65, 515, 517}, {1, 3, 0, 2}), 4),
      one("bits, 17 x 33 x 9 x 517 x 1029, (4 2 0 1 3)", Axes({17, 33, 9, 517, 1029}, {4, 2, 0, 1, 3}), 1),
      one("bits, 2^33 rolled by 12345", maps::roll(std::uint64_t{1} << 33, 12345), 1),
      one("bits, 2^33 + 7 flipped", maps::flip((std::uint64_t{1} << 33) + 7), 1),
  };
}

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options) {}

  void run() {
    page_.add("# Elements smaller than a byte on a GPU\n\n" + setting_table(make_setting(options_.command)) +
              fmt::format("\nMedians of {} alternating rounds, of random maps over {} of them, and median "
                          "deviations; shares of\ncudaMemcpy of the same bytes in the same rounds. Arrays up "
                          "to {} MiB had the CPU's bits before they were timed.\n\n| work | MiB | ms | "
                          "deviation | share |\n|---|---|---|---|---|\n",
                          options_.rounds, options_.maps, options_.verified_mib));
    for (const Work& work : works(options_.maps)) {
      if (work.text.find(options_.only) != std::string::npos) row(work);
    }
  }

 private:
  void row(const Work& work) {
    std::vector<double> times;
    std::vector<double> shares;
    double deviation = 0;
    std::uint64_t bytes = 0;
    for (const PackedProblem& problem : work.problems) {
      const PackedPlan plan(problem, {.engine = Engine::cuda});
      bytes = plan.in_bytes();
      DeviceArray in(bytes);
      const DeviceArray out(bytes);
      fill(in);
      const auto copy = [&](Stream s) { cuda::copy(in.data(), out.data(), bytes, s); };
      const auto queue = [&](Stream stream) {
        if (work.in_place) return plan.run(std::span(out.data(), bytes), stream);
        plan.run({in.data(), bytes}, {out.data(), bytes}, stream);
      };
      clock_.milliseconds(1, copy);
      clock_.milliseconds(1, queue);
      if (bytes >> 20 <= options_.verified_mib) verify(work.text, problem, in, out);
      std::vector<double> own;
      std::vector<double> copies;
      for (int round = 0; round < options_.rounds; ++round) {
        copies.push_back(clock_.milliseconds(1, copy));
        own.push_back(clock_.milliseconds(1, queue));
      }
      const Timing timing = summarise(own);
      times.push_back(timing.median_ms);
      deviation = std::max(deviation, timing.mad_ms);
      shares.push_back(median(copies) / timing.median_ms);
    }
    constexpr double kPercent = 100;
    page_.add(fmt::format("| {} | {} | {:.3f} | {:.3f} | {:.1f}% |\n", work.text, bytes >> 20, median(times),
                          deviation, kPercent * median(shares)));
  }

  static void fill(DeviceArray& array) {
    std::vector<std::uint64_t> some(std::min<std::uint64_t>(array.size(), kMostFilledBytes) / 8 + 1);
    std::mt19937_64 random(1);
    for (std::uint64_t& word : some) word = random();
    array.upload(some.data(), std::min<std::uint64_t>(array.size(), kMostFilledBytes));
  }

  static void verify(const std::string& text, const PackedProblem& problem, const DeviceArray& in,
                     const DeviceArray& out) {
    std::vector<std::byte> given(in.size());
    std::vector<std::byte> got(out.size());
    in.download(given.data());
    out.download(got.data());
    std::vector<std::byte> wanted = got;  // pads stay
    PackedPlan(problem).run(given, wanted);
    if (got != wanted) fail(ErrorCode::device, "verify " + text, "other bits", "those of the CPU");
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
