// Any text as the function that is fused into an emitted kernel: refused in one line, or it stands in the
// text once, as an expression that ends where it should.
#include <cstddef>
#include <cstdint>
#include <string>

#include "emit/text.hpp"
#include "faro/emit/emit.hpp"
#include "faro/permutation/affine.hpp"
#include "round_trip.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  faro::fuzzing::refuse_or([&] {
    const faro::emit::MapExpression read = faro::emit::parse_map(text);
    if (read.text.find('\n') != std::string::npos) faro::fuzzing::fail("an expression is one line", text);
    faro::emit::Options options;
    options.map = text;
    const faro::emit::Source source = faro::emit::emit(faro::maps::bit_reversal(12), options);
    if (source.text.find(read.text) == std::string::npos)
      faro::fuzzing::fail("the expression is emitted", text);
  });
  return 0;
}
