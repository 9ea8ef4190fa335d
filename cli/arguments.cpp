#include "cli/arguments.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <functional>
#include <numeric>
#include <system_error>

#include "cli/output.hpp"
#include "cli/report.hpp"
#include "faro/suggest.hpp"
#include "permutation/pattern.hpp"
#include "permutation/text.hpp"

namespace faro::cli {
namespace {

std::optional<std::uint64_t> digits(std::string_view text, int base) {
  std::uint64_t value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, failed] = std::from_chars(text.data(), last, value, base);
  if (text.empty() || failed != std::errc{} || end != last) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> read_number(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) return digits(text.substr(2), 16);
  if (!text.starts_with("2^")) return digits(text, 10);
  const auto exponent = digits(text.substr(2), 10);
  if (!exponent || *exponent > 63) return std::nullopt;
  return std::uint64_t{1} << *exponent;
}

// "0.5", finite and not negative, or what read_number knows.
std::optional<double> read_measure(std::string_view text) {
  if (const auto whole = read_number(text)) return static_cast<double>(*whole);
  double value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, failed] = std::from_chars(text.data(), last, value);
  if (text.empty() || failed != std::errc{} || end != last || !(value >= 0) || !std::isfinite(value))
    return std::nullopt;
  return value;
}

constexpr std::uint64_t kMostDevices = 1023;

// "7,7,3,256", and for a kernel that blocks in registers "7,7,2,512,blocked".
std::string tile_text(const kernels::CompiledTile& tile) {
  return fmt::format("{},{},{},{}{}", tile.shape.segment_bits, tile.shape.row_bits, tile.shape.vector_bits,
                     tile.shape.threads(), tile.blocked ? ",blocked" : "");
}

kernels::CompiledTile parse_tile(const std::string& text, std::uint64_t width) {
  const std::uint64_t unit = std::min<std::uint64_t>(width, kernels::kMaxVectorBytes);
  std::string known;
  for (const kernels::CompiledTile& tile : kernels::kCompiledTiles) {
    if (static_cast<std::uint64_t>(tile.shape.element_bytes()) != unit) continue;
    if (tile_text(tile) == text) return tile;
    known += (known.empty() ? "" : " ") + tile_text(tile);
  }
  fail(ErrorCode::value, "read --tile", "`" + text + "`",
       fmt::format("a compiled tile for units of {}: {}", count_text(unit, "byte"), known));
}

// More than a few for each processor only take turns.
int parse_threads(const std::string& text) {
  constexpr std::uint64_t kMostOfOne = 4;
  const auto processors = static_cast<std::uint64_t>(omp_get_num_procs());
  const std::uint64_t most = std::min<std::uint64_t>(kMostOfOne * processors, kMaxThreads);
  const auto given = read_number(text);
  if (given && *given >= 1 && *given <= most) return static_cast<int>(*given);
  fail(ErrorCode::value, "read --threads", "`" + text + "`",
       fmt::format("a number from 1 to {}, {} for each processor", most, kMostOfOne),
       fmt::format("there {} {} here; without --threads all are used", processors == 1 ? "is" : "are",
                   count_text(processors, "processor")));
}

}  // namespace

std::uint64_t parse_number(const std::string& option, const std::string& text, std::uint64_t least,
                           std::uint64_t most) {
  const auto value = read_number(text);
  if (value && *value >= least && *value <= most) return *value;
  const std::string range = most == ~std::uint64_t{0} ? fmt::format("of at least {}", least)
                                                      : fmt::format("from {} to {}", least, most);
  fail(ErrorCode::value, "read " + option, "`" + text + "`", "a number " + range + ": decimal, 0x… or 2^k");
}

double parse_measure(const std::string& option, const std::string& text, double most) {
  const auto value = read_measure(text);
  if (value && *value <= most) return *value;
  fail(ErrorCode::value, "read " + option, "`" + text + "`",
       fmt::format("a number from 0 to {:.0f}, such as 0.5 or 2", most));
}

std::uint64_t parse_axis(const std::string& text, std::uint64_t axes, const std::string& option) {
  const bool from_behind = text.starts_with('-');
  const auto number = read_number(from_behind ? text.substr(1) : text);
  const std::uint64_t least = from_behind ? 1 : 0;
  if (number && *number >= least && *number < axes + least) return from_behind ? axes - *number : *number;
  fail(ErrorCode::value, "read " + option, "`" + text + "`",
       fmt::format("an axis from 0 to {}, or from -{} to -1, which counts from the last", axes - 1, axes));
}

std::uint64_t parse_size(const std::string& option, const std::string& text) {
  struct Unit {
    std::string_view suffix;
    int shift;
  };
  constexpr std::uint64_t kMostSize = std::uint64_t{1} << 62;
  constexpr std::array<Unit, 5> units{{{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}, {"B", 0}}};
  std::optional<std::uint64_t> value = read_number(text);
  for (const Unit& unit : units) {
    if (value || !text.ends_with(unit.suffix)) continue;
    const auto number = std::string_view(text).substr(0, text.size() - unit.suffix.size());
    const auto fraction = unit.shift > 0 ? read_measure(number) : std::nullopt;
    if (const auto count = digits(number, 10); count && *count <= kMostSize >> unit.shift) {
      value = *count << unit.shift;
    } else if (fraction && std::ldexp(*fraction, unit.shift) <= static_cast<double>(kMostSize)) {
      value = static_cast<std::uint64_t>(std::ldexp(*fraction, unit.shift));
    }
    break;
  }
  if (value && *value > 0) return *value;
  fail(ErrorCode::value, "read " + option, "`" + text + "`",
       "a size such as 4096, 2^30, 64MiB, 1.5GiB or 4GiB");
}

std::vector<std::uint64_t> parse_shape(const std::string& text) {
  std::vector<std::uint64_t> shape;
  if (text == "()") return shape;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('x', begin), text.size());
    const auto extent = read_number(std::string_view(text).substr(begin, end - begin));
    if (!extent || *extent > std::uint64_t{1} << 62) {
      fail(ErrorCode::value, "read SHAPE", "`" + text + "`",
           "sizes up to 2^62 joined by x: 1024x1024, 2^20, 4096, or () for a scalar");
    }
    shape.push_back(*extent);
    begin = end + 1;
  }
  return shape;
}

std::vector<std::string> split(const std::string& text, char sign) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size() && !text.empty();) {
    const std::size_t end = std::min(text.find(sign, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

void require_npy_name(const std::string& operation, const std::string& path) {
  std::error_code failed;
  const auto status = std::filesystem::status(path, failed);
  const bool is_file = !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
  // What cannot be written at all is reported by whoever opens it.
  if (path.empty() || !is_file || path.ends_with(".npy") || path.ends_with('/')) return;
  fail(ErrorCode::value, operation, "OUT " + path, "a name that ends in .npy, which is what is written",
       "`" + std::filesystem::path(path).replace_extension(".npy").string() + "` would be one");
}

std::string require_text(const std::string& value) {
  if (value.empty()) return "an empty value";
  return value.starts_with("--") ? "the value `" + value + "`, which is an option" : "";
}

CLI::Option* add_text(CLI::App& command, const std::string& flag, std::string& value, const std::string& type,
                      const std::string& help) {
  return command.add_option(flag, value, help)->type_name(type)->check(require_text);
}

std::string first_given(std::initializer_list<GivenOption> options) {
  const auto* const found =
      std::find_if(options.begin(), options.end(), [](const GivenOption& each) { return each.is_given; });
  return found == options.end() ? "" : found->name;
}

void CommonOptions::add_engine(CLI::App& command) {
  add_text(command, "--engine", engine, "E", "auto (the default), cpu or cuda");
}

void CommonOptions::add_device(CLI::App& command) {
  add_text(command, "--device", device, "K", "The GPU, by its number in `faro info`; the default is CUDA's");
}

void CommonOptions::add_tile(CLI::App& command) {
  add_text(command, "--tile", tile, "TILE",
           "A compiled tile kernel instead of the GPU's own choice: s,r,v,threads, or with ,blocked");
}

void CommonOptions::add_measure(CLI::App& command) {
  command.add_flag("--measure", measure,
                   "Try the few best ways of a CPU on arrays of this size first, and keep the fastest "
                   "(`faro wisdom`)");
}
void CommonOptions::add_threads(CLI::App& command) {
  add_text(command, "--threads", threads, "T",
           "Number of threads; the default is OMP_NUM_THREADS, else one for each core");
}

void CommonOptions::add_element_bytes(CLI::App& command, const std::string& help) {
  add_text(command, "--element-bytes", element_bytes, "B", help);
}

void CommonOptions::add_batch(CLI::App& command, const std::string& what) {
  add_text(command, "--batch", batch, "N", what + "; the default is 1");
}

void CommonOptions::add_json(CLI::App& command) {
  command.add_flag("--json", json, "Print JSON on standard output; docs/guide/json.md describes it");
}

void CommonOptions::add_run(CLI::App& command, bool& quiet) {
  add_threads(command);
  add_no_sync(command);
  command.add_flag("--quiet", quiet, "Print nothing on standard error but errors");
  add_json(command);
}

PlanOptions CommonOptions::plan_options(std::uint64_t width) const {
  PlanOptions options;
  if (engine == "cpu") {
    options.engine = Engine::cpu;
  } else if (engine == "cuda") {
    options.engine = Engine::cuda;
  } else if (engine != "auto") {
    fail(ErrorCode::value, "read --engine", "`" + engine + "`", "auto, cpu or cuda");
  }
  if (!device.empty()) options.device = static_cast<int>(parse_number("--device", device, 0, kMostDevices));
  if (!tile.empty()) options.tile = parse_tile(tile, width);
  if (!threads.empty()) options.threads = parse_threads(threads);
  options.measure = measure;
  return options;
}

std::optional<std::uint64_t> CommonOptions::element_bytes_given() const {
  if (element_bytes.empty()) return std::nullopt;
  return parse_number("--element-bytes", element_bytes, 1, kMaxElementBytes);
}

std::uint64_t CommonOptions::batch_count() const {
  return batch.empty() ? 1 : parse_number("--batch", batch, 0, std::uint64_t{1} << 62);
}

void IndexOptions::add_direction(CLI::App& command) {
  command.add_flag("--scatter", scatter,
                   "@index.npy says where elements go: out[P[i]] = in[i] (the default)");
  command.add_flag("--gather", gather, "@index.npy says where elements come from: out[i] = in[Q[i]]");
}

void IndexOptions::add_choice(CLI::App& command) {
  add_text(command, "--method", method, "M",
           "For an index array: use this method instead of the fastest: direct, window, runs, partition, "
           "row_column or row_column_5");
  add_text(command, "--chunk-bits", chunk_bits, "C", "With --method partition: chunks of 2^C elements");
  add_text(command, "--levels", levels, "B,B",
           "With --method partition: the bits of each level, such as 8,8");
}

void IndexOptions::add_repeats(CLI::App& command) {
  add_text(command, "--repeats", repeats, "N",
           "For an index array: choose the method for a plan that is run N times, the making of its schedule "
           "included; without this, for one that is run very often (`faro permute` plans for one run)");
}

Direction IndexOptions::direction(const std::string& spec) const {
  if (gather && scatter)
    fail(ErrorCode::value, "read `" + spec + "`", "--gather and --scatter", "one of them");
  if ((gather || scatter) && spec.find('@') == std::string::npos) {
    fail(ErrorCode::value, "read `" + spec + "`", gather ? "--gather" : "--scatter",
         "that option with an index array, @index.npy",
         detail::is_pattern(spec) ? "the way back is `" + detail::inverse_pattern(spec) + "`"
                                  : "`inverse(" + spec + ")` inverts another map");
  }
  return gather ? Direction::gather : Direction::scatter;
}

IndexChoice IndexOptions::choice() const {
  IndexChoice made;
  if (!method.empty()) made.method = parse_index_method(method);
  if (!chunk_bits.empty()) {
    made.chunk_bits =
        static_cast<int>(parse_number("--chunk-bits", chunk_bits, 1, schedule::kMaxSoleChunkBits));
  }
  for (const std::string& bits : split(levels, ','))
    made.level_bits.push_back(static_cast<int>(parse_number("--levels", bits, 1, schedule::kMaxLevelBits)));
  if (!repeats.empty()) made.repeats = parse_number("--repeats", repeats, 1, std::uint64_t{1} << 62);
  return made;
}

Permutation parse_spec(const std::string& text, std::optional<std::uint64_t> elements, Direction direction) {
  std::optional<std::vector<std::uint64_t>> shape;
  if (elements) shape.emplace(1, *elements);
  return parse_spec_with_axes(text, shape, direction).parsed.permutation;
}

faro::detail::NotedPermutation parse_spec_with_axes(const std::string& text,
                                                    const std::optional<std::vector<std::uint64_t>>& shape,
                                                    Direction direction) {
  return parse_spec_of_array(text, shape, direction, Verbosity::normal, faro::detail::AtHand::input);
}

faro::detail::NotedPermutation parse_spec_of_array(const std::string& text,
                                                   const std::optional<std::vector<std::uint64_t>>& shape,
                                                   Direction direction, Verbosity verbosity,
                                                   faro::detail::AtHand at_hand) {
  const auto parsed = [&](const ParseOptions& as) {
    faro::detail::NotedPermutation read = faro::detail::parse_with_notes(text, as, at_hand);
    for (const std::string& line : read.notes) {
      if (verbosity == Verbosity::normal) note_afterwards(line);
    }
    remember_name(read.parsed.permutation, text);
    return read;
  };
  ParseOptions options{.bare_bits = {}, .direction = direction};
  options.shape = shape;
  std::uint64_t elements = 1;
  if (shape) elements = std::accumulate(shape->begin(), shape->end(), elements, std::multiplies<>());
  if (!shape || std::has_single_bit(elements)) return parsed(options);
  try {
    return parsed(options);
  } catch (const Error&) {
    if (!faro::detail::lacks_only_bits(text, options)) throw;
  }
  fail(ErrorCode::value, "read `" + text + "`", count_text(elements, "element"),
       "a power of two of them in each array", "--batch and --element-bytes say how the items are divided");
}

std::string suggest_flag(const CLI::App& command, const std::string& misspelt) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& flag : option->get_lnames()) flags.push_back("--" + flag);
  }
  const std::vector<std::string_view> views(flags.begin(), flags.end());
  const std::string word = misspelt.substr(0, misspelt.find('='));
  std::string suggestion = did_you_mean(word, views);
  return suggestion.empty() ? "`faro " + command.get_name() + " --help` lists them" : suggestion;
}

}  // namespace faro::cli
