// Reading layouts: what the forms of text share, and the files that give them names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "faro/exchange/layout.hpp"

namespace faro::exchange {

/// Takes a text apart, from the front; every refusal quotes the whole text.
class LayoutScanner {
 public:
  explicit LayoutScanner(std::string_view text) : text_(text), rest_(text) {}

  bool done();
  bool next_is(std::string_view token);
  bool take(std::string_view token);
  void want(std::string_view token);
  std::uint64_t number();
  /// The logarithm of a number that is a power of two.
  int bits(std::string_view what);
  /// "16x8" as logarithms.
  std::vector<int> extents(std::string_view what);
  std::string_view rest();
  [[noreturn]] void refuse(const std::string& got, const std::string& wanted) const;

 private:
  void skip_space();
  std::string_view text_;
  std::string_view rest_;
};

/// Refuses layouts of more elements than anyone has registers for. Errors: ErrorCode::spec.
void require_few_bits(int bits, const LayoutScanner& scanner);

/// Columns out of coordinates: the bits of the axes behind one another, the last axis lowest.
f2::Word element_of(const std::vector<Axis>& axes, const std::vector<f2::Word>& coordinates);

/// `layout` over a tile of 2^bits[i] elements along each axis: further registers continue along the last axis
/// first. Errors: ErrorCode::spec for an axis that would be cut.
Layout over_tile(Layout layout, const std::vector<int>& bits, const LayoutScanner& scanner);

/// The layout of this name among those of the files. Errors: ErrorCode::value.
Layout named_layout(const std::string& name, int element);

/// The one layout of a file. Errors: ErrorCode::file, ErrorCode::spec.
Layout layout_in_file(const std::string& path);

/// The forms with a syntax of their own.
Layout parse_triton(LayoutScanner& scanner);
Layout parse_cute(LayoutScanner& scanner);
/// CuTe's Layout of coordinates, one mode for each axis, to offsets in memory.
Layout parse_cute_memory(LayoutScanner& scanner);

}  // namespace faro::exchange
