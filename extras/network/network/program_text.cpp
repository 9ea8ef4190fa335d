#include <fmt/format.h>

#include <limits>
#include <string_view>

#include "faro/permutation/permutation.hpp"
#include "network/text.hpp"
#include "permutation/text.hpp"

namespace faro::network {
namespace {

// Writes until there is enough; a program that is shared many times over is then not walked to its end.
class Printer {
 public:
  explicit Printer(std::size_t longest) : longest_(longest) {}

  std::string take() {
    if (full()) {
      // Between two words, where there is such a place: half a number would be another one.
      const bool in_a_word = longest_ > 0 && text_.size() > longest_ &&
                             faro::detail::is_word(text_[longest_]) &&
                             faro::detail::is_word(text_[longest_ - 1]);
      const std::size_t end = in_a_word ? text_.find_last_of(" ,;()", longest_ - 1) : longest_;
      text_.resize(end == std::string::npos ? longest_ : end == longest_ ? end : end + 1);
      text_ += "...";
    }
    return std::move(text_);
  }

  void program(const Program& program) {
    if (full()) return;
    switch (program.kind()) {
      case ProgramKind::identity:
        text_ += "id";
        return;
      case ProgramKind::bmmc:
        text_ += "bmmc(" + bmmc_text(program) + ")";
        return;
      case ProgramKind::pairs:
        text_ += "pairs(" + operator_text(program.op()) + ")";
        return;
      case ProgramKind::each:
        text_ += "each(" + operator_text(program.op()) + ")";
        return;
      case ProgramKind::two:
        return around("two(", program.part());
      case ProgramKind::parm:
        return around("parm(" + mask_text(program.mask()) + "; ", program.part());
      case ProgramKind::compose:
        composition(program.parts());
    }
  }

 private:
  bool full() const { return text_.size() > longest_; }

  void around(std::string_view opening, const Program& part) {
    text_ += opening;
    program(part);
    text_ += ')';
  }

  void composition(const std::vector<Program>& parts) {
    std::string_view separator;
    for (const Program& part : parts) {
      if (full()) return;
      text_ += separator;
      program(part);
      separator = " . ";
    }
  }

  std::size_t longest_;
  std::string text_;
};

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

}  // namespace

std::string short_text(const Program& program, std::size_t longest) {
  Printer printer(longest);
  printer.program(program);
  return faro::detail::printable(printer.take(), longest + 3);
}

std::string operator_text(const Operator& op) {
  if (op.kind == OperatorKind::elementwise) return op.text.empty() ? op.name : op.name + " " + op.text;
  if (!is_users(op.kind)) return op.name;
  return op.name + " \"" + escaped(op.text) + "\"";
}

std::string bmmc_text(const Program& program) {
  const std::string& given = program.map_text();
  return given.empty() ? faro::to_text(Permutation(program.map())) : given;
}

std::string mask_text(f2::Word mask) { return fmt::format("{:#x}", mask); }

std::string to_text(const Program& program) {
  Printer printer(std::numeric_limits<std::size_t>::max());
  printer.program(program);
  return printer.take();
}

}  // namespace faro::network
