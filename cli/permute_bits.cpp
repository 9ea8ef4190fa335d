#include <fmt/format.h>

#include <bit>
#include <chrono>
#include <filesystem>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/file_options.hpp"
#include "cli/host_run.hpp"
#include "cli/permute_ways.hpp"
#include "cli/report.hpp"
#include "faro/packed.hpp"
#include "io/npy.hpp"

namespace faro::cli {
namespace {

std::string bits_operation(const PermuteOptions& options) { return "permute `" + options.in + "` by bits"; }

void require_bits_alone(const PermuteOptions& options) {
  const std::string numbers = options.numbers.first();
  const std::string given = first_given(
      {{"a strided view", options.view.has_value()},
       {"--in-place", options.in_place},
       {"--shards", options.shards},
       {"--devices", options.devices.is_given()},
       {"--map", !options.map.empty()},
       {"--plan-cache", !options.plan_cache.empty()},
       {"--axis", !options.axis.empty()},
       {"--rows", options.rows},
       {"--raw", !options.raw.empty()},
       {"--order F", options.order == "F"},
       {"--resume", options.resume},
       {"--checkpoint", !options.checkpoint.empty()},
       {"--io", options.io != "auto"},
       {"--element-bytes", !options.common.element_bytes.empty()},
       {"--measure", options.common.measure},
       {"--tile", !options.common.tile.empty()},
       {"--piece-bytes or --device-bytes", !options.piece_bytes.empty() || !options.device_bytes.empty()},
       {"--method, --chunk-bits or --levels", options.index.has_choice()},
       {"--mesh, --from or --to", options.cuts.is_given()},
       {"--chunks, --shard-chunks, --codec, --format or --explain", options.store.is_given()},
       {numbers.c_str(), !numbers.empty()},
       {"standard input or output", options.in == kStream || options.out == kStream}});
  if (!given.empty()) {
    fail(ErrorCode::unsupported, bits_operation(options), given + " with --element-bits",
         "a permutation from one file to another");
  }
  if (!options.has_out) fail(ErrorCode::usage, bits_operation(options), "no OUT", "SPEC IN OUT");
  if (io::same_file(options.in, options.out)) {
    fail(ErrorCode::value, bits_operation(options), "the same file as OUT", "two files");
  }
}

bool is_npy(const std::string& path) { return std::filesystem::path(path).extension() == ".npy"; }

struct BitsInput {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

BitsInput input_of(const PermuteOptions& options) {
  if (is_npy(options.in)) {
    const io::NpyHeader header = io::read_npy_header(options.in);
    return {.offset = header.data_offset, .bytes = header.data_bytes()};
  }
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(options.in, error);
  if (error) fail(ErrorCode::file, "read `" + options.in + "`", error.message(), "a file that can be read");
  return {.offset = 0, .bytes = bytes};
}

// A pitch of --in-pitch or --out-pitch, in bits, for rows of so many elements.
PackedLayout layout_of(const PermuteOptions& options, const std::string& option, const std::string& pitch,
                       const std::optional<std::vector<std::uint64_t>>& shape) {
  PackedLayout layout{.order = options.bits.order == "high" ? BitOrder::high_first : BitOrder::low_first};
  if (pitch.empty()) return layout;
  if (!shape || shape->empty()) {
    fail(ErrorCode::value, bits_operation(options), option + " with " + options.label(),
         "axes, whose last makes a row");
  }
  layout.row_elements = shape->back();
  layout.pitch_bits = parse_number(option, pitch, 1, std::uint64_t{1} << 56);
  return layout;
}

// n of 2^n elements that fill the file, for maps that are given by their bare names.
std::optional<int> bare_bits(std::uint64_t bytes, std::uint64_t element_bits) {
  const std::uint64_t elements = bytes * 8 / element_bits;
  if (!std::has_single_bit(elements) || elements * element_bits != bytes * 8) return std::nullopt;
  return std::countr_zero(elements);
}

PackedProblem bits_problem(const PermuteOptions& options, const BitsInput& in) {
  if (options.bits.order != "low" && options.bits.order != "high") {
    fail(ErrorCode::value, bits_operation(options), "--bit-order " + options.bits.order, "low or high");
  }
  constexpr std::uint64_t kMost = 32768;
  const auto element_bits =
      static_cast<std::uint32_t>(parse_number("--element-bits", options.bits.element, 1, kMost));
  ParseOptions reading{.bare_bits = bare_bits(in.bytes, element_bits),
                       .direction = options.index.direction(options.spec)};
  if (!options.shape.empty()) reading.shape = parse_shape(options.shape);
  const ParsedPermutation parsed = parse_with_axes(options.spec, reading);
  const std::uint64_t count = element_count(parsed.permutation);
  if (reading.shape && std::accumulate(reading.shape->begin(), reading.shape->end(), std::uint64_t{1},
                                       std::multiplies<>()) != count) {
    fail(ErrorCode::value, bits_operation(options), "--shape " + options.shape,
         fmt::format("a shape of {} elements, as {} has", count, options.label()));
  }
  std::optional<std::vector<std::uint64_t>> before;
  std::optional<std::vector<std::uint64_t>> after;
  if (parsed.axes) {
    before = parsed.axes->shape;
    after = parsed.axes->target_shape();
  }
  if (options.inverse) std::swap(before, after);
  PackedProblem problem{.permutation = options.inverse ? inverse(parsed.permutation) : parsed.permutation,
                        .element_bits = element_bits,
                        .in = layout_of(options, "--in-pitch", options.bits.in_pitch, before),
                        .out = layout_of(options, "--out-pitch", options.bits.out_pitch, after),
                        .pads = PadBits::zero};
  problem.batch = options.common.batch_count();
  return problem;
}

}  // namespace

bool is_of_bits(const PermuteOptions& options) {
  const std::string first = first_given({{"--bit-order", options.bits.order != "low"},
                                         {"--in-pitch", !options.bits.in_pitch.empty()},
                                         {"--out-pitch", !options.bits.out_pitch.empty()}});
  if (options.bits.element.empty() && !first.empty()) {
    fail(ErrorCode::value, "permute `" + options.in + "`", first + " without --element-bits", "both");
  }
  return !options.bits.element.empty();
}

void permute_bits(const PermuteOptions& options) {
  require_bits_alone(options);
  const auto start = std::chrono::steady_clock::now();
  const BitsInput in = input_of(options);
  const PackedProblem problem = bits_problem(options, in);
  const PlanOptions chosen = options.common.plan_options(1);
  const PackedPlan plan(problem, {.threads = 1, .engine = chosen.engine, .device = chosen.device});
  std::vector<std::byte> header;
  if (is_npy(options.out)) {
    const std::uint64_t bytes = plan.out_bytes();
    header = io::npy_header_bytes("'|u1'", std::span(&bytes, 1));
  }
  const PackedFileOptions file_options{.memory_bytes = memory_budget(options.memory),
                                       .threads = chosen.threads,
                                       .verify = options.verify,
                                       .engine = chosen.engine,
                                       .device = chosen.device};
  permute_packed_file(problem, {.path = options.in, .offset = in.offset}, options.out, header, file_options);
  const double ms = milliseconds_since(start);
  const std::uint64_t elements = element_count(problem.permutation) * problem.batch;
  if (options.common.json) {
    Json json = new_json();
    json["spec"] = to_text(problem.permutation);
    json["in"] = options.in;
    json["out"] = options.out;
    json["elements"] = elements;
    json["element_bits"] = problem.element_bits;
    json["batch"] = problem.batch;
    json["in_bytes"] = plan.in_bytes();
    json["out_bytes"] = plan.out_bytes();
    json["plan"] = plan.explain();
    json["ms"] = ms;
    json["verified"] = options.verify;
    return print(json);
  }
  if (options.quiet) return;
  const std::string done =
      fmt::format("{} elements of {} bits in {} with its files{}", elements, problem.element_bits,
                  time_text(ms), options.verify ? ", verified" : "");
  note(fitted_line({options.label() + ": " + done, done}, {}));
}

}  // namespace faro::cli
