// What the command prints: errors on one line, JSON with its schema, sizes and rates for people.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/json_schema.hpp"
#include "faro/permutation/permutation.hpp"
#include "permutation/text.hpp"
#include "size_text.hpp"

namespace faro::cli {

using Json = nlohmann::ordered_json;

/// An object that begins with its schema.
Json new_json();

/// Writes `text` and a newline to standard output. Errors: ErrorCode::file where it cannot be written.
void print(const std::string& text);
void print(const Json& json);

/// A line whose names of files cannot harm who reads it: control characters and bytes that are no text as
/// \x1b, quoted parts of more than 400 bytes without their middle. A new line stays one outside of quotes.
std::string fit_for_a_terminal(std::string_view text);

/// What maps were called on this command line. Messages and pictures keep those names.
faro::detail::TypedNames& typed_names();
void remember_name(const Permutation& permutation, const std::string& typed);

/// The same text with the typed names of maps where it has their matrices.
std::string as_typed(std::string text);

/// Writes a line to standard error. Where that fails nobody listens, and what it tells of is done all the
/// same.
void note(const std::string& line) noexcept;

/// The same of "faro: LINE", behind the command's result, and once: what was left out of files that were
/// read.
void note_afterwards(const std::string& line);
void tell_notes();

/// One line on standard error, "faro: …", and with `as_json` the report on standard output. Returns the
/// exit status.
int report_error(const Error& error, bool as_json) noexcept;

/// Thrown by a verb that has printed its result when the result is a no: a table that does not agree, a
/// search without a solution. `line` goes to standard error; the result has been told on standard output.
struct Verdict {
  int exit_status;
  std::string line;
};

/// Exit statuses that are no error's.
inline constexpr int kNoSolution = 7;   // proven
inline constexpr int kNotFinished = 8;  // of a search: a solution may still exist
inline constexpr int kNotReported = 9;  // done, and standard output did not take the report

/// "30x70"
std::string shape_text(const std::vector<std::uint64_t>& shape);

/// "1 array", "3 arrays".
std::string count_text(std::uint64_t count, const std::string& noun);

/// The processor's name, its SIMD target and the threads that OpenMP would use.
std::string device_name();

/// "NVIDIA H200, compute capability 9.0, CUDA driver 13.0, runtime 13.0".
/// Errors: ErrorCode::device for a device that is not there.
std::string gpu_name(int ordinal);

/// A line of an explanation: a word, and what there is to say of it.
std::string explained(const std::string& word, const std::string& text);

/// "1.5 ms", "12.3 s".
std::string time_text(double milliseconds);

/// What a run tells in one line of 80 columns. Of `heads`, from the longest to the shortest, the first that
/// leaves room for the last words of the first of `more`, else the first that fits, else the last; behind it,
/// after semicolons, the first words that fit of each of `more`, if any do.
std::string fitted_line(const std::vector<std::string>& heads,
                        const std::vector<std::vector<std::string>>& more);

/// Bytes read and written in 1e9 a second, for arrays of `bytes` each; 0 where no time has passed.
double gb_per_s(std::uint64_t bytes, double milliseconds);

}  // namespace faro::cli
