// Emitted text before any compiler sees it: its head, its names, and every refusal.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <functional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "emit/text.hpp"
#include "emit_support.hpp"
#include "refusal.hpp"

namespace faro::emit {
namespace emit_text_test {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// What follows "//   LABEL:" on every line that has it.
std::vector<std::string> labelled(const std::string& text, const std::string& label) {
  std::vector<std::string> found;
  const std::string start = "//   " + label + ":";
  for (const std::string& line : lines_of(text)) {
    if (!line.starts_with(start)) continue;
    const std::size_t from = line.find_first_not_of(' ', start.size());
    found.push_back(from == std::string::npos ? "" : line.substr(from));
  }
  return found;
}

// --- the text

TEST(Text, HeadCarriesTheMap) {
  for (const char* const spec : {"bit_reversal(15)", "random_bpc(20, 2)", "gray(12)", "random_bmmc(24, 9)",
                                 "xor(10, 0x2a5)", "identity(0)", "random_bmmc(40, 1)"}) {
    const Affine map = map_of(spec);
    for (const Rung rung : kRungs) {
      Options options;
      options.rung = rung;
      if (!can_do(map, options)) continue;
      const Source source = emit(map, options);
      const auto maps = labelled(source.text, "map");
      ASSERT_EQ(maps.size(), 1U) << command_of(map, options);
      EXPECT_EQ(map_of(maps.front()), map) << command_of(map, options);
      const auto launches = labelled(source.text, "launch");
      ASSERT_EQ(launches.size(), source.kernels.size());
      Affine whole(map.bits());
      for (std::size_t k = 0; k < launches.size(); ++k) {
        const Kernel& kernel = source.kernels[k];
        EXPECT_TRUE(launches[k].starts_with(kernel.name + "<<<" + std::to_string(kernel.blocks) + ", "))
            << launches[k];
        EXPECT_NE(source.text.find("\n" + kernel.name + "(const faro_kernel_element* __restrict__ in"),
                  std::string::npos);
        whole = compose(kernel.map, whole);
      }
      EXPECT_EQ(whole, map);
    }
  }
}

TEST(Text, HeadTellsTheCounts) {
  Options options;
  options.rung = Rung::tile;
  const std::string text = emit(maps::bit_reversal(15), options).text;
  EXPECT_TRUE(std::regex_search(text, std::regex("loads +1024 requests +4096 sectors +1024 lines")));
  EXPECT_TRUE(
      std::regex_search(text, std::regex("shared loads +1024 requests +32768 wavefronts, congestion 32")));
}

TEST(Text, ElementIsNamedOnce) {
  for (const ElementType& type : element_types()) {
    Options options;
    options.element = type.name;
    options.name = "k";
    const std::string text = emit(maps::gray(12), options).text;
    const std::string line = "\nusing k_element = " + options.element + ";\n";
    EXPECT_NE(text.find(line), std::string::npos) << options.element;
    EXPECT_EQ(text.find("#include <" + std::string(type.header) + ">") != std::string::npos,
              !type.header.empty());
    EXPECT_TRUE(type.bytes == 1 || type.bytes == 2 || type.bytes == 4 || type.bytes == 8 || type.bytes == 16);
  }
}

TEST(Text, WideIndicesBeyond32Bits) {
  Options options;
  options.rung = Rung::naive;
  EXPECT_EQ(emit(maps::bit_reversal(32), options).text.find("long long"), std::string::npos);
  EXPECT_NE(emit(maps::bit_reversal(33), options).text.find("const unsigned long long x = "),
            std::string::npos);
}

TEST(Text, IndicesOfTheFunctionAreMadeWhereTheyAreUsed) {
  const auto text_of = [](const std::string& map) {
    Options options;
    options.map = map;
    return emit(maps::bit_reversal(20), options).text;
  };
  EXPECT_EQ(text_of("v.x + v.y").find("origin"), std::string::npos);
  EXPECT_NE(text_of("v + x").find("origin"), std::string::npos);
  EXPECT_NE(text_of("v + x").find("(faro_kernel_element v, unsigned x) { return v + x; }"),
            std::string::npos);
  EXPECT_EQ(text_of("v + 0x1x").find("origin"), std::string::npos);
}

TEST(Text, LauncherHasBothFunctions) {
  Options options;
  options.rung = Rung::two_pass;
  options.launcher = true;
  options.name = "twice";
  const Source source = emit(maps::random_bmmc(20, 1), options);
  EXPECT_EQ(source.workspace_bytes, std::uint64_t{4} << 20);
  EXPECT_NE(source.text.find("extern \"C\" size_t twice_workspace_bytes() { return 4194304ull; }"),
            std::string::npos);
  EXPECT_NE(
      source.text.find("extern \"C\" cudaError_t twice_launch(const void* in, void* out, void* workspace, "
                       "cudaStream_t stream) {"),
      std::string::npos);
  EXPECT_EQ(source.kernels[0].name, "twice_first");
  EXPECT_EQ(source.kernels[1].name, "twice_second");
}

TEST(Text, LinesAreShortButForTheMaps) {
  for (const Rung rung : kRungs) {
    Options options;
    options.rung = rung;
    options.launcher = true;
    const Affine map = rung == Rung::two_pass || rung == Rung::one_pass || rung == Rung::naive
                           ? maps::random_bmmc(40, 1)
                           : maps::random_bpc(38, 4);
    for (const std::string& line : lines_of(emit(map, options).text)) {
      EXPECT_TRUE(line.starts_with("//") || line.size() <= 120) << line;
    }
  }
}

// --- refusals

struct Refused {
  std::string what;
  ErrorCode code;
  std::string mentions;
  std::function<void(Options&)> change = [](Options&) {};
  std::string spec = "bit_reversal(20)";
};

TEST(Refusals, AreNamed) {
  const auto rung = [](Rung r) { return [r](Options& o) { o.rung = r; }; };
  const auto named = [](const std::string& n) { return [n](Options& o) { o.name = n; }; };
  const auto fused = [](const std::string& m) { return [m](Options& o) { o.map = m; }; };
  const auto tiled = [](Rung r, int t) {
    return [r, t](Options& o) {
      o.rung = r;
      o.tile_bits = t;
    };
  };
  const std::vector<Refused> table{
      {"tile of a BMMC", ErrorCode::unsupported, "naive, two-pass and one-pass", rung(Rung::tile),
       "random_bmmc(20, 1)"},
      {"banks of a BMMC", ErrorCode::unsupported, "not tiled", rung(Rung::banks), "random_bmmc(20, 1)"},
      {"iters of a BMMC", ErrorCode::unsupported, "not tiled", rung(Rung::iters), "random_bmmc(20, 1)"},
      {"too many threads", ErrorCode::unsupported, "threads", tiled(Rung::tile, 6)},
      {"too much shared memory", ErrorCode::unsupported, "shared memory", tiled(Rung::one_pass, 9)},
      {"too many tiles a block", ErrorCode::unsupported, "--n-iter",
       [](Options& o) {
         o.rung = Rung::iters;
         o.iteration_bits = 10;
       }},
      {"too many blocks", ErrorCode::unsupported, "2^31", rung(Rung::tile), "identity(40)"},
      {"too long an index", ErrorCode::unsupported, "2^40", rung(Rung::one_pass), "bit_reversal(41)"},
      {"n_tile beyond the index", ErrorCode::value, "n_tile", tiled(Rung::tile, 21)},
      {"n_tile below one", ErrorCode::value, "n_tile", tiled(Rung::tile, -1)},
      {"n_iter", ErrorCode::value, "n_iter",
       [](Options& o) {
         o.rung = Rung::iters;
         o.iteration_bits = 11;
       }},
      {"element", ErrorCode::value, "did you mean `float4`", [](Options& o) { o.element = "flaot4"; }},
      {"element of 12 bytes", ErrorCode::value, "float3", [](Options& o) { o.element = "float3"; }},
      {"empty name", ErrorCode::value, "identifier", named("")},
      {"spaced name", ErrorCode::value, "identifier", named("a b")},
      {"keyword", ErrorCode::value, "`while`", named("while")},
      {"reserved name", ErrorCode::value, "`_Kernel`", named("_Kernel")},
      {"digit first", ErrorCode::value, "`7up`", named("7up")},
      {"blank map", ErrorCode::value, "nothing", fused("  ")},
      {"open bracket", ErrorCode::value, "`(` that does not close", fused("(v")},
      {"closed bracket", ErrorCode::value, "`)` that nothing opened", fused("v)")},
      {"crossed brackets", ErrorCode::value, "`]` that nothing opened", fused("v[(x])")},
      {"statement", ErrorCode::value, "`;`", fused("v; out[0] = v")},
      {"directive", ErrorCode::value, "`#`", fused("v #define x 1")},
      {"comment", ErrorCode::value, "comment", fused("v // and more")},
      {"new line", ErrorCode::value, "new line", fused("v\n+ 1")},
      {"open quote", ErrorCode::value, "does not close", fused("v + 'a")},
      {"line end in quotes", ErrorCode::value, "a new line", fused("v + '\n'")},
      {"escape in quotes", ErrorCode::value, "a `\\`", fused("v + '\\''")},
      {"half for C++", ErrorCode::unsupported, "__half",
       [](Options& o) {
         o.language = Language::cpp;
         o.element = "__half";
       }},
      {"launcher for C++", ErrorCode::value, "launcher",
       [](Options& o) {
         o.language = Language::cpp;
         o.launcher = true;
       }},
  };
  for (const Refused& refused : table) {
    Options options;
    refused.change(options);
    SCOPED_TRACE(refused.what);
    test::expect_refused(refused.code, refused.mentions, [&] { emit(map_of(refused.spec), options); });
  }
}

TEST(Refusals, WordsOfTheCommand) {
  for (const Rung rung : kRungs) EXPECT_EQ(parse_rung(name(rung)), rung);
  EXPECT_THROW(parse_rung("iter"), Error);
  EXPECT_EQ(parse_language("cpp"), Language::cpp);
  EXPECT_THROW(parse_language("c"), Error);
}

TEST(MapExpressions, WhatIsUsed) {
  const auto uses = [](const std::string& text) {
    const MapExpression f = parse_map(text);
    return std::string(f.uses_value ? "v" : "") + (f.uses_source ? "x" : "") + (f.uses_target ? "y" : "");
  };
  EXPECT_EQ(uses("v * 2 + x"), "vx");
  EXPECT_EQ(uses("v.x + v . y"), "v");
  EXPECT_EQ(uses("y < x ? v : -v"), "vxy");
  EXPECT_EQ(uses("vx + xy"), "");
  EXPECT_EQ(uses("[&] { auto z = v; return z; }()"), "v");
  EXPECT_EQ(uses("v + 'x' + \"y\"[0]"), "v");
  EXPECT_EQ(uses("p->x + q::y + 1"), "");
}

}  // namespace emit_text_test
}  // namespace faro::emit
