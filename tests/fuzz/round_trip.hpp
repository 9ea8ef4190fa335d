// The oracle of the parsers' fuzzers: what is read prints, and the print reads back as the same map (but for
// long index arrays without a name); what is refused is refused as the caller's fault, in one printable line.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "faro/error.hpp"
#include "faro/permutation/permutation.hpp"

namespace faro::fuzzing {

[[noreturn]] inline void fail(const char* law, const std::string& text) {
  std::fprintf(stderr, "broken law: %s\n%s\n", law, text.c_str());
  std::abort();
}

inline void require_round_trip(const Permutation& map) {
  const std::string text = to_text(map);
  if (!(inverse(inverse(map)) == map)) fail("inverse(inverse(p)) == p", text);
  if (text.starts_with("indices(of ")) return;
  const Permutation again = parse_permutation(text);
  if (!(again == map)) fail("parse(to_text(p)) == p", text);
  if (to_text(again) != text) fail("to_text is canonical", text);
}

/// Calls `work`, which may refuse, and holds the refusal to its form.
template <typename Work>
void refuse_or(Work work) {
  try {
    work();
  } catch (const Error& error) {
    const std::string_view line = error.what();
    if (error.code() == ErrorCode::internal) fail("no internal error", error.what());
    if (error.report().wanted.empty()) fail("an error says what was wanted", error.what());
    for (const char c : line) {
      if (static_cast<unsigned char>(c) < 0x20) fail("an error is one line", error.what());
    }
  }
}

/// Calls `parse`, which gives a Permutation, and holds it to the laws.
template <typename Parse>
void run(Parse parse) {
  refuse_or([&] { require_round_trip(parse()); });
}

}  // namespace faro::fuzzing
