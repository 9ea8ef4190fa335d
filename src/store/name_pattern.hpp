// Patterns of names, with captures, and names made of what they captured.
//
//     "model.layers.{layer}.{part*}.weight"      {layer}: all but dots;  {part*}: anything;  at least one letter each
//     model.layers.17.mlp.up_proj.weight         layer = 17, part = mlp.up_proj
//     "blk.{layer}.{part}"                       blk.17.mlp.up_proj
//
// Where a name can be read in several ways, the earlier capture takes as much as it can.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace faro::store {

using Captures = std::map<std::string, std::string>;

class NamePattern {
 public:
  /// Errors: ErrorCode::value, with `operation`, for braces without their other, and for a capture twice.
  NamePattern(std::string text, const std::string& operation);

  const std::string& text() const { return text_; }
  /// Cost: the length of the name for each capture, squared.
  std::optional<Captures> match(std::string_view name) const;
  /// Whether there is such a capture.
  bool has(std::string_view capture) const;
  std::vector<std::string> captures() const;

 private:
  struct Item {
    std::string text;  // itself, or the capture's name
    bool is_capture = false;
    bool takes_dots = false;
  };
  class Search;

  std::string text_;
  std::vector<Item> items_;
};

/// Errors: ErrorCode::value, with `operation`, for a capture that the pattern does not have.
void require_captures(const std::string& made, const NamePattern& pattern, const std::string& operation);
/// Requires: require_captures().
std::string filled(const std::string& made, const Captures& captures);

}  // namespace faro::store
