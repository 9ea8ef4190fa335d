// Reading the words of the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/progress.hpp"
#include "faro/faro.hpp"
#include "permutation/text.hpp"

namespace faro::cli {

/// A number: decimal, `0x…` or `2^k`. Errors: ErrorCode::value naming `option` and the range.
std::uint64_t parse_number(const std::string& option, const std::string& text, std::uint64_t least,
                           std::uint64_t most = ~std::uint64_t{0});

/// What is measured rather than counted, seconds or a rate: `0.5`, `2`, `1e-3`, from 0 to `most`. Errors:
/// ErrorCode::value naming `option` and the range.
double parse_measure(const std::string& option, const std::string& text, double most);

/// --axis: a number from 0 to axes - 1, or from -axes to -1, which counts from the last. Requires: axes > 0
/// (unchecked). Errors: ErrorCode::value naming `option`.
std::uint64_t parse_axis(const std::string& text, std::uint64_t axes, const std::string& option = "--axis");

/// A number of bytes: as parse_number, or decimal with B, KiB, MiB, GiB or TiB, of which it may be a fraction
/// that is rounded down to bytes: 1.5GiB. Errors: ErrorCode::value.
std::uint64_t parse_size(const std::string& option, const std::string& text);

/// "1024x1024", "2^20", "4096"; "()" is one scalar. Errors: ErrorCode::value.
std::vector<std::uint64_t> parse_shape(const std::string& text);

/// What stands between the signs of "0,1,5"; nothing for an empty text.
std::vector<std::string> split(const std::string& text, char sign);

/// Refuses a file's name for an array that would not tell what it is. Errors: ErrorCode::value for a name of
/// a new or a regular file that does not end in .npy.
void require_npy_name(const std::string& operation, const std::string& path);

/// Refuses `--option ''`, which would be taken for no option at all, and `--option --other`, whose value was
/// forgotten. For CLI::Option::check.
std::string require_text(const std::string& value);

/// An option that takes a text, which may not be empty. `type`: what stands for it in the help, such as "N".
CLI::Option* add_text(CLI::App& command, const std::string& flag, std::string& value, const std::string& type,
                      const std::string& help);

/// What the command cannot do without: SPEC, IN.npy.
template <typename Value>
void add_argument(CLI::App& command, const std::string& name, Value& value, const std::string& help) {
  command.add_option(name, value, help)->required()->type_name("");
}

/// An option, or two that are alike, and whether it was given.
struct GivenOption {
  const char* name;
  bool is_given;
};
/// The first that was given; empty where none was.
std::string first_given(std::initializer_list<GivenOption> options);

/// What `faro explain` and `faro bench` take for an element's width where no file has one.
inline constexpr std::uint64_t kUsualElementBytes = 4;

/// Options that several verbs share, still as text; the functions below read them.
struct CommonOptions {
  std::string engine = "auto";
  std::string device;
  std::string tile;
  std::string threads;
  std::string element_bytes;
  std::string batch;
  bool measure = false;
  bool json = false;

  void add_engine(CLI::App& command);
  void add_device(CLI::App& command);
  void add_tile(CLI::App& command);
  void add_measure(CLI::App& command);
  void add_threads(CLI::App& command);
  void add_element_bytes(CLI::App& command, const std::string& help);
  void add_batch(CLI::App& command, const std::string& what);
  void add_json(CLI::App& command);
  /// What every verb has that writes a result and takes a while: --threads, --no-sync, --quiet, --json.
  void add_run(CLI::App& command, bool& quiet);

  /// `--tile` is read for elements of this width. Errors: ErrorCode::value.
  PlanOptions plan_options(std::uint64_t width) const;
  std::optional<std::uint64_t> element_bytes_given() const;
  std::uint64_t batch_count() const;  // 1 where not given
};

/// How index arrays are read and carried out, still as text.
struct IndexOptions {
  bool gather = false;
  bool scatter = false;
  std::string method;
  std::string chunk_bits;
  std::string levels;
  std::string repeats;

  void add_direction(CLI::App& command);
  void add_choice(CLI::App& command);
  void add_repeats(CLI::App& command);

  /// What a bare `@index.npy` is. Errors: ErrorCode::value for both flags, or for one without an index array
  /// in `spec`.
  Direction direction(const std::string& spec) const;
  /// --method, --chunk-bits or --levels.
  bool has_choice() const { return !(method.empty() && chunk_bits.empty() && levels.empty()); }
  /// Errors: ErrorCode::value.
  IndexChoice choice() const;
};

/// Reads SPEC. `elements` is the number of elements of one array where that is known: it fixes the n of a
/// bare name.
/// Errors: those of parse_permutation; ErrorCode::value for a bare name over a number that is no power of
/// two.
Permutation parse_spec(const std::string& text, std::optional<std::uint64_t> elements = {},
                       Direction direction = Direction::scatter);

/// Notes, such as on a circuit's measurements, go to standard error.
/// The same of an array whose shape is known, which fixes what need not be typed, and with the axes that SPEC
/// names.
faro::detail::NotedPermutation parse_spec_with_axes(const std::string& text,
                                                    const std::optional<std::vector<std::uint64_t>>& shape,
                                                    Direction direction);
/// The same with all that SPEC says of shapes, of an array that it takes or, where its inverse runs, gives.
faro::detail::NotedPermutation parse_spec_of_array(const std::string& text,
                                                   const std::optional<std::vector<std::uint64_t>>& shape,
                                                   Direction direction, Verbosity verbosity,
                                                   faro::detail::AtHand at_hand);

/// The remedy of a misspelt flag of `command`: "did you mean `--batch`?".
std::string suggest_flag(const CLI::App& command, const std::string& misspelt);

}  // namespace faro::cli
