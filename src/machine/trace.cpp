#include "faro/machine/trace.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "faro/error.hpp"
#include "faro/machine/congestion.hpp"
#include "permutation/spec_file.hpp"
#include "permutation/text.hpp"

namespace faro::machine {
namespace {

using faro::detail::in_quotes;
using faro::detail::is_digit;
using faro::detail::NumberFault;
using faro::detail::scan_number;

constexpr std::size_t kLargestFileBytes = std::size_t{1} << 30;

bool is_between(char c) { return c == ' ' || c == '\t' || c == '\r' || c == ','; }

class TraceReader {
 public:
  TraceReader(std::string_view text, std::string name) : rest_(text) { trace_.name = std::move(name); }

  Trace read() {
    while (!rest_.empty()) {
      ++line_;
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      read_line(rest_.substr(0, end));
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
    }
    end_round();
    if (trace_.accesses.empty()) fail("no access", "a line of addresses such as `0 1 2 3`");
    return std::move(trace_);
  }

 private:
  void read_line(std::string_view line) {
    const std::size_t comment = line.find('#');
    const bool has_comment = comment != std::string_view::npos;
    if (has_comment) line = line.substr(0, comment);
    std::string_view rest = line;
    std::optional<std::string_view> token = next(rest);
    if (!token) {
      // A line of commas is a slip, a line of blanks the end of a round; a comment is neither.
      if (line.find(',') != std::string_view::npos)
        fail("commas without addresses", "addresses between them");
      if (!has_comment) end_round();
      return;
    }
    TraceAccess access{.first_lane = trace_.lanes.size(), .line = line_};
    token = leading_words(rest, token, access);
    for (; token; token = next(rest)) trace_.lanes.push_back(lane(*token));
    const std::size_t lanes = trace_.lanes.size() - access.first_lane;
    if (lanes == 0) fail("no address", "the lanes' addresses after the words");
    if (lanes > kMaxWidth) {
      fail(std::to_string(lanes) + " lanes", "at most " + std::to_string(kMaxWidth));
    }
    access.lanes = static_cast<std::uint32_t>(lanes);
    trace_.longest_line = std::max<std::uint64_t>(trace_.longest_line, lanes);
    trace_.accesses.push_back(access);
  }

  // The next token of `line`, which it is cut from.
  static std::optional<std::string_view> next(std::string_view& line) {
    const auto begin = std::find_if_not(line.begin(), line.end(), is_between);
    line.remove_prefix(static_cast<std::size_t>(begin - line.begin()));
    if (line.empty()) return std::nullopt;
    const auto end = std::find_if(line.begin(), line.end(), is_between);
    const std::string_view token = line.substr(0, static_cast<std::size_t>(end - line.begin()));
    line.remove_prefix(token.size());
    return token;
  }

  // Reads `global`, `shared`, `load`, `store`; gives the token after them.
  std::optional<std::string_view> leading_words(std::string_view& line, std::optional<std::string_view> token,
                                                TraceAccess& access) {
    bool has_space = false;
    bool has_operation = false;
    for (; token; token = next(line)) {
      const bool is_space = *token == "global" || *token == "shared";
      const bool is_operation = *token == "load" || *token == "store";
      if (!is_space && !is_operation) break;
      if (is_space ? has_space : has_operation) {
        fail(in_quotes(*token) + " after another such word",
             "one of global and shared, one of load and store");
      }
      if (is_space) access.space = *token == "shared" ? TraceSpace::shared : TraceSpace::global;
      if (is_operation) access.operation = *token == "store" ? TraceOperation::store : TraceOperation::load;
      (is_space ? has_space : has_operation) = true;
    }
    return token;
  }

  std::uint64_t lane(std::string_view token) const {
    if (token == "-") return kIdleLane;
    const auto number = scan_number(token);
    const bool is_whole = number.length == token.size();
    if (number.fault == NumberFault::too_large ||
        (number.fault == NumberFault::none && is_whole && number.value > kMaxTraceAddress)) {
      fail(in_quotes(token, 40), "an address of at most 2^63 - 1");
    }
    if (number.fault != NumberFault::none || !is_whole) {
      if (token.size() > 1 && token[0] == '-' && is_digit(token[1])) {
        fail(in_quotes(token, 40), "an address from 0 on, or `-` for a lane that asks for nothing");
      }
      fail(in_quotes(token, 40), "an address, or `-`; at the line's start also global, shared, load, store");
    }
    return number.value;
  }

  void end_round() {
    const std::uint64_t lines = trace_.accesses.size() - round_begin_;
    if (lines == 0) return;
    trace_.rounds.push_back(round_begin_);
    trace_.longest_round = std::max(trace_.longest_round, lines);
    round_begin_ = trace_.accesses.size();
  }

  [[noreturn]] void fail(const std::string& got, std::string wanted) const {
    faro::fail(ErrorCode::file, faro::detail::reading(trace_.name),
               got + " at " + faro::detail::line_of(trace_.name, std::max<std::uint64_t>(line_, 1)),
               std::move(wanted));
  }

  std::string_view rest_;
  std::uint64_t line_ = 0;
  std::size_t round_begin_ = 0;
  Trace trace_;
};

}  // namespace

Trace parse_trace(std::string_view text, std::string name) {
  return TraceReader(text, std::move(name)).read();
}

Trace read_trace(const std::string& path) {
  return parse_trace(faro::detail::read_text_file(path, kLargestFileBytes), path);
}

}  // namespace faro::machine
