// A plan's words, JSON and drawing: what they must contain, and that they are well formed for every plan.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "faro/plan/plan.hpp"
#include "plan_support.hpp"
#include "text_search.hpp"

namespace faro {
namespace plan_explain_test {

using Json = nlohmann::ordered_json;
using testing::describe;
using testing::maps_of;

constexpr std::uint64_t kSeed = 11;

Plan plan_of(const std::string& spec, std::uint64_t element_bytes = 4, std::uint64_t batch = 1) {
  return {Problem{.permutation = parse_permutation(spec), .element_bytes = element_bytes, .batch = batch},
          Target{.name = "2 threads, <AVX2> & \"co\""}};
}

// Calls `check` for plans of every kind, small and large, thin and wide, with and without a batch.
template <typename Check>
void for_each_plan(Check check) {
  for (const int n : {0, 1, 2, 3, 4, 5, 8, 13, 20, 40}) {
    for (const std::uint64_t width : {1U, 2U, 4U, 8U, 16U, 64U, 4096U}) {
      for (const std::uint64_t batch : {0U, 1U, 67U}) {
        if (batch != 1 && width > 4) continue;
        for (const Affine& map : maps_of(n, kSeed)) {
          const Plan plan(Problem{.permutation = map, .element_bytes = width, .batch = batch}, Target{});
          SCOPED_TRACE(describe(plan.problem()));
          check(plan);
          if (::testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

using test::occurrences;

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

// --- words

TEST(PlanExplain, IsShortAndCanBePastedBack) {
  for_each_plan([](const Plan& plan) {
    const std::string text = plan.explain();
    const auto lines = std::count(text.begin(), text.end(), '\n');
    EXPECT_GE(lines, 7);
    EXPECT_LE(lines, 36);
    EXPECT_EQ(text.back(), '\n');
    constexpr std::size_t margin = 14;
    const std::string spec = text.substr(margin, text.find('\n') - margin);
    EXPECT_EQ(parse_permutation(spec), plan.problem().permutation);
  });
}

// --- JSON

std::vector<std::string> keys(const Json& json) {
  std::vector<std::string> list;
  for (const auto& item : json.items()) list.push_back(item.key());
  return list;
}

using Keys = std::vector<std::string>;

TEST(PlanJson, KeysAreExactlyThese) {
  for_each_plan([](const Plan& plan) {
    const Json json = Json::parse(plan.explain_json());
    ASSERT_EQ(keys(json), (Keys{"schema", "permutation", "element_bytes", "batch", "placement", "bytes",
                                "workspace_bytes", "target", "index_bits", "class", "involution",
                                "unit_bytes", "units_per_element", "folded_batch_bits", "sweeps",
                                "literature_sweeps", "predicted_ms", "passes"}));
    ASSERT_EQ(keys(json["target"]),
              (Keys{"engine", "name", "threads", "unit_bytes_max", "vector_bytes", "segment_bytes_max",
                    "tile_bytes_max", "page_bytes", "page_entries", "streaming_bytes", "first_level_bytes",
                    "direct_bytes_max", "banks", "bank_bytes"}));
    ASSERT_EQ(json["passes"].size(), plan.passes().size());
    for (const Json& pass : json["passes"]) {
      ASSERT_EQ(keys(pass), (Keys{"kind", "reason", "arrays", "bytes_read", "bytes_written", "map",
                                  "index_bits", "segment_bytes", "segments_read", "segments_written", "tile",
                                  "team", "lines", "counted", "bounded", "predicted_time"}));
      ASSERT_EQ(keys(pass["team"]),
                (Keys{"kernel", "threads", "streamed", "thread_bytes", "arrays_at_once"}));
      const bool tiled = pass["kind"] == "tile" || pass["kind"] == "segments";
      ASSERT_EQ(pass["tile"].is_object(), tiled);
      ASSERT_EQ(pass["tile"].is_null(), !tiled);
      if (!tiled) continue;
      ASSERT_EQ(keys(pass["tile"]),
                (Keys{"segment_bits", "row_bits", "rank_gamma", "bytes", "source_rows", "target_rows",
                      "blocks", "block_sources", "block_targets", "complement", "local", "xor"}));
    }
  });
}

TEST(PlanJson, ValuesAreThePlans) {
  const Plan plan = plan_of("bit_reversal(18)", 32, 3);
  const Json json = Json::parse(plan.explain_json());
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["permutation"], "bit_reversal(18)");
  EXPECT_EQ(json["index_bits"], 18);
  EXPECT_EQ(json["class"], "BP");
  EXPECT_EQ(json["involution"], true);
  EXPECT_EQ(json["units_per_element"], 2);
  EXPECT_EQ(json["placement"], "out_of_place");
  EXPECT_EQ(json["bytes"], 3U << 23);
  EXPECT_EQ(json["sweeps"], 1);
  EXPECT_EQ(json["literature_sweeps"], 1);
  const Json& pass = json["passes"][0];
  EXPECT_EQ(pass["kind"], "tile");
  EXPECT_EQ(pass["index_bits"], 19);
  EXPECT_EQ(pass["arrays"], 3);
  EXPECT_EQ(pass["segment_bytes"], 512);
  EXPECT_EQ(pass["segments_read"], 3U << 14);
  EXPECT_EQ(pass["tile"]["segment_bits"], 5);
  EXPECT_EQ(pass["tile"]["row_bits"], 4);
  EXPECT_EQ(pass["tile"]["source_rows"], Json({"0x8000", "0x10000", "0x20000", "0x40000"}));
  EXPECT_EQ(pass["tile"]["complement"], "0x0");
  EXPECT_EQ(parse_permutation(pass["map"].get<std::string>()), Permutation(plan.passes()[0].map));
}

TEST(PlanJson, AnyTargetNameIsPrintable) {
  const Plan plan(Problem{.permutation = maps::gray(10), .element_bytes = 4},
                  Target{.name = "caf\xe9 \"1\"\n"});
  EXPECT_TRUE(Json::accept(plan.explain_json()));
}

// --- drawing

// Why `xml` is not well formed, or nothing: tags balance, attributes are quoted, entities are the five of
// XML.
std::string fault(const std::string& xml) {
  std::vector<std::string> open;
  std::size_t roots = 0;
  for (std::size_t at = 0; at < xml.size();) {
    if (xml[at] == '&') {
      const std::size_t end = xml.find(';', at);
      const std::string entity = end == xml.npos ? "" : xml.substr(at, end - at + 1);
      constexpr std::array<std::string_view, 5> known{"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
      if (std::find(known.begin(), known.end(), entity) == known.end())
        return "entity at " + std::to_string(at);
    }
    if (xml[at] == '>') return "stray > at " + std::to_string(at);
    if (xml[at] != '<') {
      if (static_cast<unsigned char>(xml[at]) < 0x20 && xml[at] != '\n') return "control character";
      ++at;
      continue;
    }
    std::size_t end = at + 1;
    bool quoted = false;
    for (; end < xml.size() && (quoted || xml[end] != '>'); ++end) {
      if (xml[end] == '"') quoted = !quoted;
      if (xml[end] == '<') return "< inside a tag at " + std::to_string(end);
    }
    if (end >= xml.size()) return "unfinished tag at " + std::to_string(at);
    const std::string tag = xml.substr(at + 1, end - at - 1);
    at = end + 1;
    if (tag.front() == '?') continue;
    if (tag.front() == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return "closes nothing: " + tag;
      open.pop_back();
      continue;
    }
    if (open.empty() && ++roots > 1) return "a second root";
    if (tag.back() != '/') open.push_back(tag.substr(0, tag.find_first_of(" \n")));
  }
  if (!open.empty()) return "never closed: " + open.back();
  return roots == 1 ? "" : "no root";
}

TEST(PlanSvg, TheCheckerFindsFaults) {
  EXPECT_EQ(fault("<a b=\"1 > 0\"><c/>x &amp; y</a>"), "");
  for (const char* bad :
       {"", "<a>", "</a>", "<a></b>", "<a/><b/>", "<a>x & y</a>", "<a b=\"></a>", "<a", "<a>></a>"}) {
    EXPECT_NE(fault(bad), "") << bad;
  }
}

TEST(PlanSvg, IsWellFormedAndFreeOfConflictsAfterTheSwizzle) {
  std::size_t tiles = 0;
  std::size_t cured = 0;
  for_each_plan([&](const Plan& plan) {
    const std::string svg = plan.svg();
    ASSERT_EQ(fault(svg), "");
    ASSERT_FALSE(contains(svg, "nan") || contains(svg, "inf\"") || contains(svg, "=\"-"));
    // Four phases a drawing: written and read, before and after. Only the read before may wait.
    const std::size_t waiting = occurrences(svg, "lanes wait");
    const std::size_t free = occurrences(svg, "no conflict");
    ASSERT_TRUE((waiting == 0 && free == 0) || (waiting + free == 4 && waiting <= 1));
    tiles += free > 0 ? 1 : 0;
    cured += waiting;
  });
  EXPECT_GT(tiles, 100U);
  EXPECT_GT(cured, 50U);
}

TEST(PlanSvg, DrawsLinesForBitsAndAMatrixForSums) {
  const std::string lines = plan_of("bit_reversal(20)").svg();
  EXPECT_EQ(occurrences(lines, "<path"), 20U);
  EXPECT_FALSE(contains(lines, "class=\"outline\""));
  EXPECT_TRUE(contains(lines, "8 turns"));
  const std::string matrix = plan_of("random_bmmc(24, 1)").svg();
  EXPECT_EQ(occurrences(matrix, "<path"), 0U);
  EXPECT_EQ(occurrences(matrix, "class=\"outline\""), 1U);
}

}  // namespace plan_explain_test
}  // namespace faro
