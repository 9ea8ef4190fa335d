// The subset of Python literals that numpy writes in a .npy header: strings, integers, True, False, None,
// tuples, lists and dictionaries. No names, no operators, no calls: what does not fit is refused with its
// position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace faro::io {

struct PythonLiteral {
  enum class Kind { string, integer, boolean, none, tuple, list, dictionary };

  Kind kind = Kind::none;
  std::string_view source;           // the literal as it was written; a view of the parsed text
  std::string text;                  // string: its value; numeric and \u escapes are kept as written
  std::uint64_t integer = 0;         // integer, and boolean as 0 or 1
  std::vector<PythonLiteral> items;  // tuple, list; of a dictionary: key, value, key, value, …
};

/// What did not fit, and where: byte `position` of the text.
class PythonLiteralError : public std::runtime_error {
 public:
  PythonLiteralError(const std::string& wanted, std::size_t position)
      : std::runtime_error(wanted), position_(position) {}
  std::size_t position() const { return position_; }

 private:
  std::size_t position_;
};

/// Deepest nesting that is read. numpy's own headers stay below it for any sane dtype.
inline constexpr int kMaxLiteralDepth = 32;

/// Parses all of `text`: one literal, with white space around it. Integers are decimal, not negative, below
/// 2^63, with the `L` that Python 2 wrote. Errors: PythonLiteralError. Cost: linear in the text.
PythonLiteral parse_python_literal(std::string_view text);

// The item size of a parsed dtype, shared by the header's reader and npy_item_bytes.

/// Errors: ErrorCode::file, with `name` the file for the message.
std::uint64_t dtype_item_bytes(const PythonLiteral& descr, const std::string& name);

/// At most 200 bytes of `text`, on one line, for a message.
std::string excerpt(std::string_view text);

}  // namespace faro::io
