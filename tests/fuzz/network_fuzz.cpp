// Programs as text: what is read prints, and the print reads back as the same program.
#include <cstddef>
#include <cstdint>

#include "network/text.hpp"
#include "round_trip.hpp"

namespace {

constexpr std::uint64_t kMostLeaves = 1000;  // of what is printed and read again

void require_same_again(const faro::network::Program& program) {
  if (program.leaves() > kMostLeaves) return;
  const std::string text = to_text(program);
  if (!(faro::network::parse_program(text, program.bits()) == program)) {
    faro::fuzzing::fail("parse_program(to_text(p), p.bits()) == p", text);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.find('@') != std::string_view::npos) return 0;  // files are not the grammar's business
  const int n = static_cast<int>(size % 12);
  faro::fuzzing::refuse_or([&] { require_same_again(faro::network::parse_program(text, n)); });
  return 0;
}
