#include "file/index_text.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <utility>

namespace faro::file {
namespace {

constexpr int kDeepestNode = 100;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\v\f";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// What stands between the commas, where parentheses and quotes are closed.
std::optional<std::vector<std::string_view>> arguments_in(std::string_view text) {
  std::vector<std::string_view> found;
  std::size_t begin = 0;
  int depth = 0;
  bool is_quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') is_quoted = !is_quoted;
    if (is_quoted) continue;
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (depth < 0) return std::nullopt;
    if (c != ',' || depth > 0) continue;
    found.push_back(trimmed(text.substr(begin, at - begin)));
    begin = at + 1;
  }
  if (depth != 0 || is_quoted) return std::nullopt;
  found.push_back(trimmed(text.substr(begin)));
  return found;
}

// "@index.npy" or "@\"my index.npy\""; empty for anything else.
std::string path_of(std::string_view text) {
  if (!text.starts_with('@')) return {};
  text = trimmed(text.substr(1));
  if (text.starts_with('"')) {
    text = text.substr(1);
    if (text.find('"') + 1 != text.size()) return {};
    text.remove_suffix(1);
  } else if (text.find_first_of(" \t\r\n\v\f,;)") != std::string_view::npos) {
    return {};
  }
  return text.ends_with(".npy") ? std::string(text) : std::string();
}

bool has_file(const IndexNode& node) {
  return node.kind == IndexNode::Kind::file || std::any_of(node.parts.begin(), node.parts.end(), has_file);
}

// Whether some part may be an index array of its own.
bool has_array(const IndexNode& node) {
  return node.kind == IndexNode::Kind::file || random_arguments(node.text) ||
         std::any_of(node.parts.begin(), node.parts.end(), has_array);
}

std::optional<IndexNode> node_of(std::string_view text, int depth) {
  using Kind = IndexNode::Kind;
  text = trimmed(text);
  if (text.empty() || depth > kDeepestNode) return std::nullopt;
  const IndexNode computed{.kind = Kind::computed, .text = std::string(text)};
  if (std::string path = path_of(text); !path.empty())
    return IndexNode{.kind = Kind::file, .text = std::move(path)};
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos || !text.ends_with(')')) return computed;
  const std::string_view name = trimmed(text.substr(0, open));
  const auto arguments = arguments_in(text.substr(open + 1, text.size() - open - 2));
  if (!arguments) return std::nullopt;
  if ((name == "scatter" || name == "gather") && arguments->size() == 1) {
    std::string path = path_of(arguments->front());
    if (path.empty()) return std::nullopt;
    return IndexNode{.kind = Kind::file,
                     .text = std::move(path),
                     .direction = name == "gather" ? Direction::gather : Direction::scatter};
  }
  IndexNode node;
  if (name == "compose" && arguments->size() == 2) {
    node.kind = Kind::compose;
  } else if (name == "inverse" && arguments->size() == 1) {
    node.kind = Kind::inverse;
  } else if (name == "power" && arguments->size() == 2) {
    node.kind = Kind::power;
    const std::string_view number = arguments->back();
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), node.exponent);
    if (error != std::errc() || end != number.data() + number.size()) return std::nullopt;
  } else {
    return computed;
  }
  const std::size_t maps = node.kind == Kind::compose ? 2 : 1;
  for (std::size_t i = 0; i < maps; ++i) {
    auto part = node_of((*arguments)[i], depth + 1);
    if (!part) return std::nullopt;
    node.parts.push_back(*std::move(part));
  }
  return has_array(node) ? node : computed;
}

void collect(const IndexNode& node, std::vector<std::string>& files) {
  if (node.kind == IndexNode::Kind::file) files.push_back(node.text);
  for (const IndexNode& part : node.parts) collect(part, files);
}

}  // namespace

std::optional<std::string> random_arguments(std::string_view text) {
  constexpr std::string_view kName = "random";
  if (!text.starts_with(kName) || !text.ends_with(')')) return std::nullopt;
  const std::string_view rest = trimmed(text.substr(kName.size()));
  if (!rest.starts_with('(')) return std::nullopt;
  return std::string(rest.substr(1, rest.size() - 2));
}

std::optional<IndexNode> index_node(std::string_view text) {
  auto node = node_of(text, 0);
  if (!node || !has_file(*node)) return std::nullopt;
  return node;
}

std::vector<std::string> files_of(const IndexNode& node) {
  std::vector<std::string> files;
  collect(node, files);
  return files;
}

}  // namespace faro::file
