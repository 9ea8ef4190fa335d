#include <algorithm>
#include <string>

#include "faro/error.hpp"
#include "faro/network/program.hpp"
#include "network/text.hpp"

namespace faro::network {
namespace {

using Bytes = std::span<std::byte>;

class Interpreter {
 public:
  explicit Interpreter(const ElementType& element) : element_(element), width_(element.bytes()) {}

  // `scratch` is as long as `data` and of no meaning before or after.
  void run(const Program& program, Bytes data, Bytes scratch) const {
    switch (program.kind()) {
      case ProgramKind::identity:
        return;
      case ProgramKind::bmmc:
        for (std::uint64_t x = 0; x < count(data); ++x) copy(at(data, x), at(scratch, program.map()(x)));
        std::copy(scratch.begin(), scratch.end(), data.begin());
        return;
      case ProgramKind::pairs:
        for (std::uint64_t p = 0; p < count(data) / 2; ++p) {
          apply(program.op(), element_, at(data, 2 * p), at(data, 2 * p + 1), p, program.bits());
        }
        return;
      case ProgramKind::each:
        for (std::uint64_t x = 0; x < count(data); ++x) {
          apply(program.op(), element_, at(data, x), nullptr, 0, 0);
        }
        return;
      case ProgramKind::two:
      case ProgramKind::parm:
        return parts(program, data, scratch);
      case ProgramKind::compose:
        for (auto part = program.parts().rbegin(); part != program.parts().rend(); ++part) {
          run(*part, data, scratch);
        }
    }
  }

 private:
  std::uint64_t count(Bytes data) const { return data.size() / width_; }
  std::byte* at(Bytes data, std::uint64_t x) const { return data.data() + x * width_; }
  void copy(const std::byte* from, std::byte* to) const { std::copy(from, from + width_, to); }

  // Takes apart into scratch, runs there with data as scratch, puts back.
  void parts(const Program& program, Bytes data, Bytes scratch) const {
    const std::size_t half = data.size() / 2;
    const auto each = [&](auto&& visit) {
      std::uint64_t next[2] = {0, 0};
      for (std::uint64_t x = 0; x < count(data); ++x) {
        const int side = f2::parity(x & program.mask()) ? 1 : 0;
        visit(at(data, x), at(scratch.subspan(side * half, half), next[side]++));
      }
    };
    each([&](std::byte* whole, std::byte* part) { copy(whole, part); });
    run(program.part(), scratch.first(half), data.first(half));
    run(program.part(), scratch.last(half), data.first(half));
    each([&](std::byte* whole, std::byte* part) { copy(part, whole); });
  }

  ElementType element_;
  std::uint64_t width_;
};

}  // namespace

void interpret(const Program& program, const ElementType& element, std::span<std::byte> data) {
  check_element(program, element);
  const std::uint64_t width = element.bytes();
  if (program.bits() >= 60 || data.size() != width << program.bits()) {
    fail(ErrorCode::value, "interpret `" + short_text(program) + "`", std::to_string(data.size()) + " bytes",
         "2^" + std::to_string(program.bits()) + " elements of " + std::to_string(width) + " bytes");
  }
  std::vector<std::byte> scratch(data.size());
  Interpreter(element).run(program, data, scratch);
}

}  // namespace faro::network
