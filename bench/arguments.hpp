// What the benchmarks' command lines have in common, from `main` on.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "size_text.hpp"

namespace faro::bench {

/// What stands behind an option, or a part of it.
struct Argument {
  std::string option;
  std::string_view text;
};

/// Throws ErrorCode::usage.
[[noreturn]] void refuse(const Argument& got, const std::string& wanted);

// Errors of all: ErrorCode::usage, naming the option.

std::uint64_t parse_count(const Argument& argument, std::uint64_t least = 0,
                          std::uint64_t most = std::numeric_limits<std::uint64_t>::max());
int parse_int(const Argument& argument, int least, int most = std::numeric_limits<int>::max());

/// "256MiB", "1GiB", "2^30" or bytes: a power of two, `least` to 2^40.
std::uint64_t parse_bytes(const Argument& argument, std::uint64_t least);

/// "3,12,5".
std::vector<std::uint64_t> parse_counts(const Argument& argument, std::uint64_t least);
std::vector<int> parse_ints(const Argument& argument, int least, int most);

/// "1,4,16": widths of elements that are one unit.
std::vector<std::uint64_t> parse_widths(const Argument& argument);

/// "ttc,ranks".
std::vector<std::string> parse_names(const Argument& argument);

/// The parts between separators.
std::vector<Argument> split(const Argument& argument, char separator = ',');

struct Option {
  std::string_view name;
  std::function<void(const Argument&)> read;
};

class CommandLine {
 public:
  CommandLine(int count, const char* const* words);

  /// The program's, without its folder.
  const std::string& name() const { return name_; }
  /// Behind the name.
  const std::vector<std::string>& words() const { return words_; }
  /// All of it.
  std::string text() const;
  bool has(std::string_view word) const;

  /// Reads the value of every option that is there, in their order, and --targets, which all programs have.
  /// Flags have none: ask `has` for them. Errors: ErrorCode::usage where there is any other word; what `read`
  /// throws.
  void read(const std::vector<Option>& options, const std::vector<std::string_view>& flags = {}) const;

 private:
  std::string name_;
  std::vector<std::string> words_;
};

/// What `main` returns: of `run`, or of its error, which is one line on standard error. For --help prints
/// `usage` instead.
int run_program(int count, const char* const* words, const char* usage,
                const std::function<int(const CommandLine&)>& run);

/// The same of what `Bench(parse(line)).run()` gives: whether all went well, or nothing.
template <typename Bench, typename Parse>
int run_bench(int count, const char* const* words, const char* usage, const Parse& parse) {
  return run_program(count, words, usage, [&](const CommandLine& line) {
    Bench bench(parse(line));
    if constexpr (std::is_void_v<decltype(bench.run())>) {
      bench.run();
      return 0;
    } else {
      return bench.run() ? 0 : 1;
    }
  });
}

}  // namespace faro::bench
