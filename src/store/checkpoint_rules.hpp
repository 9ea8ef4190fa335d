// The rules of a checkpoint's change (faro/checkpoint.hpp), read from JSON or TOML and checked by themselves.
//
//     {"rules": [{"match": …, "name": …, "map": …}, {"join": […], "axis": 0, "name": …}], "metadata": {…}}
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "store/element_type.hpp"
#include "store/name_pattern.hpp"

namespace faro::store {

/// Heads of a projection for rotary embeddings: pairs that are turned together lie side by side, or in the
/// two halves of a head.
///
///     halves         x0 x1 x2 y0 y1 y2      as Transformers' rotate_half takes them
///     interleaved    x0 y0 x1 y1 x2 y2      as the original LLaMA and GGUF do
struct Rotary {
  std::uint64_t heads = 1;
  bool interleaves = false;                  // from halves; else to halves
  std::optional<std::uint64_t> turned = {};  // of a head's rows the first so many; none: all
  friend bool operator==(const Rotary&, const Rotary&) = default;
};

/// Where elements go: of these at most one.
struct Layout {
  std::string map = {};  // a permutation's or view's text; empty: none
  std::optional<Rotary> rotary = {};
};

/// What rules say of a tensor, or of a part of one. What is not said stays as it is.
struct Change {
  std::optional<std::vector<std::int64_t>> reshape = {};  // -1: what is left
  std::optional<Layout> layout = {};
  std::optional<std::vector<std::int64_t>> shape = {};
  std::optional<ElementType> type = {};
  std::optional<std::vector<double>> scale = {};
  std::optional<std::vector<double>> offset = {};
  std::optional<std::int64_t> along = {};  // of scale and offset, an axis of the result
  std::optional<bool> saturates = {};

  /// Takes what `later` says.
  void take(const Change& later);
};

struct SplitPart {
  std::string name;  // with captures
  std::optional<std::uint64_t> extent = {};
  Change change = {};
};

/// A tensor becomes parts along an axis.
struct Split {
  std::int64_t axis = 0;
  std::vector<SplitPart> parts = {};
};

/// Tensors that match patterns with the same captures become one along an axis; Rule::change is theirs.
struct Join {
  std::int64_t axis = 0;
  std::optional<std::vector<std::int64_t>> shape = {};  // of the result
};

struct Rule {
  std::string operation;  // as errors begin: "rule 2 of the checkpoint"
  std::vector<NamePattern> patterns = {};
  std::vector<std::string> types = {};  // of tensors that it is for; empty: all
  Change change = {};
  // Of these at most one: what becomes of the tensor.
  std::optional<std::string> name = {};  // of a join its result's
  bool is_dropped = false;
  std::optional<Split> split = {};
  std::optional<Join> join = {};

  bool is_for(const ElementType& type) const;
  /// The patterns, quoted.
  std::string text() const;
};

struct Rules {
  std::vector<Rule> rules = {};
  std::map<std::string, std::optional<std::string>> metadata = {};  // nothing: taken out
};

/// Of JSON, which begins with a brace, or TOML. Errors: ErrorCode::file for what is neither;
/// ErrorCode::value, naming the rule.
Rules parse_rules(const std::string& text);

}  // namespace faro::store
