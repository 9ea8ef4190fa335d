// Programs as text: what is read prints, and the print reads back as the same program. Users' operators in
// them are read for the CPU and run on a pair.
#include <cstddef>
#include <cstdint>

#include "network/operator_script.hpp"
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

void run_users(const faro::network::Program& program) {
  using faro::network::ProgramKind;
  switch (program.kind()) {
    case ProgramKind::pairs:
    case ProgramKind::each:
      if (is_users(program.op().kind)) {
        for (const auto scalar : {faro::network::Scalar::i32, faro::network::Scalar::f64}) {
          std::uint64_t elements[2] = {0x4045000000000007, 0xc02e000080000000};
          const auto function = host_function(program.op(), {.scalar = scalar});
          (*function)(&elements[0], &elements[1], 3, 5);
        }
      }
      return;
    case ProgramKind::two:
    case ProgramKind::parm:
      return run_users(program.part());
    case ProgramKind::compose:
      for (const auto& part : program.parts()) run_users(part);
      return;
    default:
      return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.find('@') != std::string_view::npos) return 0;  // files are not the grammar's business
  const int n = static_cast<int>(size % 12);
  faro::fuzzing::refuse_or([&] {
    const faro::network::Program program = faro::network::parse_program(text, n);
    require_same_again(program);
    if (program.leaves() <= kMostLeaves) run_users(program);
  });
  return 0;
}
