// The text form of a distribution, and its JSON.
//
//     mesh data=2,model=3 at 4; axis 0 over data; axis 1 over model in blocks of 64
//     mesh 3; rank 0 holds 0:4 0:2; rank 2 holds 0:4 2:6
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "faro/distribution.hpp"
#include "faro/error.hpp"
#include "permutation/text.hpp"

namespace faro {
namespace {

using DistributionJson = nlohmann::ordered_json;

constexpr const char* kDistributionForms =
    "`mesh 2x3; axis 0 over 0; axis 1 over 1`, an axis also `over 0 1`, `in blocks of 64` or `in 3 1 2`; or "
    "boxes, `mesh 2; rank 0 holds 0:4 0:8; rank 1 holds 4:8 0:8`";
constexpr const char* kMeshForms =
    "a mesh, `2x3` or with names `data=2,model=3`, and `at 4` for its first rank";

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

// Reads a text, of which it tells where something else was expected.
class DistributionReader {
 public:
  DistributionReader(std::string_view text, std::string operation, const char* forms)
      : text_(text), operation_(std::move(operation)), forms_(forms) {}

  Distribution read() const {
    if (text_.find_first_not_of(" \t\n") != std::string::npos &&
        text_[text_.find_first_not_of(" \t\n")] == '{')
      return from_json();
    const std::vector<std::string> clauses = parts_of(text_, ';');
    std::vector<std::string> words = clauses.empty() ? std::vector<std::string>{} : words_of(clauses.front());
    if (words.empty() || words.front() != "mesh") refuse(text_);
    words.erase(words.begin());
    Distribution made{.mesh = read_mesh(words), .axes = {}, .boxes = {}};
    for (std::size_t i = 1; i < clauses.size(); ++i) read_clause(words_of(clauses[i]), made);
    return made;
  }

  Mesh read_mesh(const std::vector<std::string>& words) const {
    Mesh mesh;
    if (words.size() != 1 && (words.size() != 3 || words[1] != "at"))
      refuse(fmt::format("{}", fmt::join(words, " ")));
    if (words.size() == 3) mesh.first = small(words[2]);
    const bool is_named = words[0].find('=') != std::string::npos;
    for (const std::string& part : parts_of(words[0], is_named ? ',' : 'x')) {
      const std::size_t equals = part.find('=');
      if (is_named != (equals != std::string::npos)) refuse(words[0]);
      MeshAxis axis;
      if (is_named) {
        axis.name = part.substr(0, equals);
        if (!is_name(axis.name) || number_of(mesh, axis.name) >= 0) refuse(words[0]);
      }
      axis.ranks = small(is_named ? part.substr(equals + 1) : part);
      mesh.axes.push_back(axis);
    }
    if (words[0].empty() || words[0].back() == (is_named ? ',' : 'x')) refuse(words[0]);
    return mesh;
  }

 private:
  static constexpr std::size_t kMostDigits = 18;

  [[noreturn]] void refuse(const std::string& got) const {
    fail(ErrorCode::value, operation_, detail::in_quotes(got), forms_);
  }

  static bool is_name(const std::string& word) {
    return !word.empty() && detail::is_word_start(word[0]) &&
           std::all_of(word.begin(), word.end(), detail::is_word);
  }
  static int number_of(const Mesh& mesh, const std::string& name) {
    for (std::size_t m = 0; m < mesh.axes.size(); ++m) {
      if (mesh.axes[m].name == name) return static_cast<int>(m);
    }
    return -1;
  }

  std::uint64_t number(const std::string& word) const {
    if (word.empty() || word.size() > kMostDigits || !std::all_of(word.begin(), word.end(), detail::is_digit))
      refuse(word);
    return std::stoull(word);
  }
  int small(const std::string& word) const {
    constexpr std::uint64_t most = 1U << 30;
    const std::uint64_t value = number(word);
    if (value > most) refuse(word);
    return static_cast<int>(value);
  }

  void read_clause(const std::vector<std::string>& words, Distribution& made) const {
    const std::string clause = fmt::format("{}", fmt::join(words, " "));
    if (words.size() >= 3 && words[0] == "axis" && words[2] == "over") {
      made.axes.push_back(read_axis(words, made.mesh));
    } else if (words.size() >= 3 && words[0] == "rank" && words[2] == "holds") {
      RankBox box{.rank = small(words[1])};
      for (std::size_t i = 3; i < words.size(); ++i) {
        const std::vector<std::string> ends = parts_of(words[i], ':');
        if (ends.size() != 2) refuse(clause);
        box.begin.push_back(number(ends[0]));
        box.end.push_back(number(ends[1]));
      }
      made.boxes.push_back(std::move(box));
    } else {
      refuse(clause);
    }
  }

  CutAxis read_axis(const std::vector<std::string>& words, const Mesh& mesh) const {
    CutAxis axis{.axis = small(words[1])};
    std::size_t at = 3;
    for (; at < words.size() && words[at] != "in"; ++at) {
      const int named = number_of(mesh, words[at]);
      if (named < 0 && !detail::is_digit(words[at][0]))
        fail(ErrorCode::value, operation_, "mesh axis " + detail::in_quotes(words[at]),
             "a number or a name of the mesh " + to_text(mesh));
      axis.over.push_back(named >= 0 ? named : small(words[at]));
    }
    if (at == words.size()) return axis;
    if (at + 3 == words.size() - 1 && words[at + 1] == "blocks" && words[at + 2] == "of") {
      axis.block = number(words[at + 3]);
      if (axis.block == 0) refuse("blocks of 0");
      return axis;
    }
    for (++at; at < words.size(); ++at) axis.extents.push_back(number(words[at]));
    if (axis.extents.empty()) refuse(fmt::format("{}", fmt::join(words, " ")));
    return axis;
  }

  Distribution from_json() const {
    const DistributionJson json = DistributionJson::parse(text_, nullptr, false);
    if (json.is_discarded() || !json.is_object()) refuse(text_);
    try {
      Distribution made;
      made.mesh.first = json.at("mesh").value("first", 0);
      for (const DistributionJson& axis : json.at("mesh").at("axes"))
        made.mesh.axes.push_back({.name = axis.value("name", ""), .ranks = axis.at("ranks").get<int>()});
      const auto unnamed = std::count_if(made.mesh.axes.begin(), made.mesh.axes.end(),
                                         [](const MeshAxis& axis) { return axis.name.empty(); });
      if (unnamed != 0 && static_cast<std::size_t>(unnamed) != made.mesh.axes.size())
        refuse("some mesh axes named");
      for (const DistributionJson& axis : json.value("axes", DistributionJson::array())) {
        made.axes.push_back({.axis = axis.at("axis").get<int>(),
                             .over = axis.at("over").get<std::vector<int>>(),
                             .block = axis.value("block", std::uint64_t{0}),
                             .extents = axis.value("extents", std::vector<std::uint64_t>{})});
      }
      for (const DistributionJson& box : json.value("boxes", DistributionJson::array())) {
        made.boxes.push_back({.rank = box.at("rank").get<int>(),
                              .begin = box.at("begin").get<std::vector<std::uint64_t>>(),
                              .end = box.at("end").get<std::vector<std::uint64_t>>()});
      }
      return made;
    } catch (const DistributionJson::exception& error) {
      fail(ErrorCode::value, operation_, error.what(), "an object with `mesh`, and `axes` or `boxes`");
    }
  }

  std::string text_;
  std::string operation_;
  const char* forms_;
};

}  // namespace

Distribution parse_distribution(std::string_view text, const std::string& operation) {
  return DistributionReader(text, operation, kDistributionForms).read();
}

Mesh parse_mesh(std::string_view text, const std::string& operation) {
  return DistributionReader(text, operation, kMeshForms).read_mesh(words_of(text));
}

std::string to_text(const Mesh& mesh) {
  std::string text;
  const bool is_named = std::any_of(mesh.axes.begin(), mesh.axes.end(),
                                    [](const MeshAxis& axis) { return !axis.name.empty(); });
  for (const MeshAxis& axis : mesh.axes) {
    if (!text.empty()) text += is_named ? "," : "x";
    text += is_named ? fmt::format("{}={}", axis.name, axis.ranks) : std::to_string(axis.ranks);
  }
  if (mesh.first != 0) text += fmt::format(" at {}", mesh.first);
  return text;
}

std::string to_text(const Distribution& distribution) {
  std::string text = "mesh " + to_text(distribution.mesh);
  for (const CutAxis& axis : distribution.axes) {
    text += fmt::format("; axis {} over", axis.axis);
    for (const int m : axis.over) {
      const bool is_named = m >= 0 && static_cast<std::size_t>(m) < distribution.mesh.axes.size() &&
                            !distribution.mesh.axes[static_cast<std::size_t>(m)].name.empty();
      text +=
          is_named ? " " + distribution.mesh.axes[static_cast<std::size_t>(m)].name : fmt::format(" {}", m);
    }
    if (axis.block != 0) text += fmt::format(" in blocks of {}", axis.block);
    if (!axis.extents.empty()) text += fmt::format(" in {}", fmt::join(axis.extents, " "));
  }
  for (const RankBox& box : distribution.boxes) {
    text += fmt::format("; rank {} holds", box.rank);
    for (std::size_t a = 0; a < box.begin.size(); ++a)
      text += fmt::format(" {}:{}", box.begin[a], box.end[a]);
  }
  return text;
}

std::string to_json(const Distribution& distribution) {
  DistributionJson json;
  json["mesh"]["axes"] = DistributionJson::array();
  for (const MeshAxis& axis : distribution.mesh.axes) {
    DistributionJson& made = json["mesh"]["axes"].emplace_back();
    if (!axis.name.empty()) made["name"] = axis.name;
    made["ranks"] = axis.ranks;
  }
  json["mesh"]["first"] = distribution.mesh.first;
  if (!distribution.axes.empty() || distribution.boxes.empty()) json["axes"] = DistributionJson::array();
  for (const CutAxis& axis : distribution.axes) {
    DistributionJson& made = json["axes"].emplace_back();
    made["axis"] = axis.axis;
    made["over"] = axis.over;
    if (axis.block != 0) made["block"] = axis.block;
    if (!axis.extents.empty()) made["extents"] = axis.extents;
  }
  for (const RankBox& box : distribution.boxes)
    json["boxes"].push_back({{"rank", box.rank}, {"begin", box.begin}, {"end", box.end}});
  return json.dump();
}

}  // namespace faro
