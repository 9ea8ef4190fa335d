#include "faro/emit/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "faro/error.hpp"

namespace faro::emit {
namespace {

constexpr std::array<const char*, 6> kRungs{"naive", "tile", "banks", "iters", "two-pass", "one-pass"};

}  // namespace

const char* name(Rung rung) noexcept { return kRungs[static_cast<std::size_t>(rung)]; }

Rung parse_rung(std::string_view text) {
  const auto* const found = std::find(kRungs.begin(), kRungs.end(), text);
  if (found != kRungs.end()) return static_cast<Rung>(found - kRungs.begin());
  fail(ErrorCode::value, "read --kernel", fmt::format("`{}`", text),
       "naive, tile, banks, iters, two-pass or one-pass");
}

const char* name(Language language) noexcept { return language == Language::cpp ? "cpp" : "cuda"; }

Language parse_language(std::string_view text) {
  if (text == "cuda") return Language::cuda;
  if (text == "cpp") return Language::cpp;
  fail(ErrorCode::value, "read --target", fmt::format("`{}`", text), "cuda or cpp");
}

}  // namespace faro::emit
