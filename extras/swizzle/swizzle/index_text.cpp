#include <cstddef>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/swizzle/hole.hpp"
#include "swizzle/arithmetic.hpp"

namespace faro::swizzle {
namespace {

// How strongly text holds together, as in C++.
enum class Level : std::uint8_t {
  choice,
  either,
  both,
  exclusive,
  equality,
  order,
  sum,
  product,
  unary,
  atom,
};

constexpr Level above(Level level) { return static_cast<Level>(static_cast<int>(level) + 1); }

struct Piece {
  std::string text;
  Level level = Level::atom;
};

std::string at_least(const Piece& piece, Level level) {
  return piece.level >= level ? piece.text : "(" + piece.text + ")";
}

Piece infix(const Piece& a, const std::string& op, const Piece& b, Level level) {
  return {at_least(a, level) + " " + op + " " + at_least(b, above(level)), level};
}

Piece number_text(std::int64_t value) {
  return {std::to_string(value), value < 0 ? Level::unary : Level::atom};
}

std::string named(const std::vector<std::string>& names, int number, const char* otherwise) {
  const auto k = static_cast<std::size_t>(number);
  return k < names.size() && !names[k].empty() ? names[k] : otherwise + std::to_string(number);
}

// What mathematics and C++ write alike; they differ in division, remainder and conjunctions.
class Printer {
 public:
  explicit Printer(const IndexNames& names) : names_(names) {}
  Printer(const Printer&) = delete;
  Printer& operator=(const Printer&) = delete;
  virtual ~Printer() = default;

  Piece printed(const Index& index) const {
    const std::span<const Index> x = index.operands();
    switch (index.kind()) {
      case IndexKind::constant:
        return number_text(index.value());
      case IndexKind::lane:
        return {names_.lane};
      case IndexKind::warp:
        return {names_.warp};
      case IndexKind::block:
        return {names_.block};
      case IndexKind::loop:
        return {named(names_.loops, index.number(), "i")};
      case IndexKind::argument:
        return {named(names_.arguments, index.number(), "x")};
      case IndexKind::hole:
        return call(index);
      case IndexKind::divide:
        return quotient(x[0], x[1]);
      case IndexKind::remainder:
        return rest(x[0], x[1]);
      case IndexKind::logical_not:
        return negation(x[0]);
      case IndexKind::select:
        return {at_least(printed(x[0]), Level::either) + " ? " + at_least(printed(x[1]), Level::either) +
                    " : " + at_least(printed(x[2]), Level::choice),
                Level::choice};
      default:
        return binary(index.kind(), printed(x[0]), printed(x[1]));
    }
  }

 protected:
  virtual Piece quotient(const Index& a, const Index& d) const = 0;
  virtual Piece rest(const Index& a, const Index& d) const = 0;
  virtual Piece disjunction(const Piece& a, const Piece& b) const = 0;

 private:
  Piece call(const Index& index) const {
    std::string text = named(names_.holes, index.number(), "hole") + "(";
    for (const Index& argument : index.operands()) {
      if (text.back() != '(') text += ", ";
      text += printed(argument).text;
    }
    return {text + ")"};
  }

  Piece negation(const Index& a) const {
    if (a.kind() == IndexKind::equal) {
      return infix(printed(a.operands()[0]), "!=", printed(a.operands()[1]), Level::equality);
    }
    return {"!" + at_least(printed(a), Level::atom), Level::unary};
  }

  Piece binary(IndexKind kind, const Piece& a, const Piece& b) const {
    switch (kind) {
      case IndexKind::add:
        return infix(a, "+", b, Level::sum);
      case IndexKind::subtract:
        return infix(a, "-", b, Level::sum);
      case IndexKind::multiply:
        return infix(a, "*", b, Level::product);
      case IndexKind::exclusive_or: {
        // Sums inside in brackets: compilers ask for them.
        const std::string left = a.level == Level::exclusive ? a.text : at_least(a, Level::product);
        return {left + " ^ " + at_least(b, Level::product), Level::exclusive};
      }
      case IndexKind::less:
        return infix(a, "<", b, Level::order);
      case IndexKind::less_equal:
        return infix(a, "<=", b, Level::order);
      case IndexKind::equal:
        return infix(a, "==", b, Level::equality);
      case IndexKind::logical_and:
        return infix(a, "&&", b, Level::both);
      default:
        return disjunction(a, b);
    }
  }

  const IndexNames& names_;
};

class MathematicsPrinter final : public Printer {
 public:
  using Printer::Printer;

 protected:
  Piece quotient(const Index& a, const Index& d) const override {
    return infix(printed(a), "div", printed(d), Level::product);
  }
  Piece rest(const Index& a, const Index& d) const override {
    return infix(printed(a), "mod", printed(d), Level::product);
  }
  Piece disjunction(const Piece& a, const Piece& b) const override {
    return infix(a, "||", b, Level::either);
  }
};

int log2_of(std::int64_t power) {
  int bits = 0;
  while ((std::int64_t{1} << bits) < power) ++bits;
  return bits;
}

// The least multiple of d that lifts x to 0 or more; 0 where it is there.
std::int64_t lift(const Interval& x, std::int64_t d) {
  return x.least >= 0 ? 0 : -detail::floor_divided(x.least, d) * d;
}

class CodePrinter final : public Printer {
 public:
  CodePrinter(const IndexNames& names, const IndexRanges& ranges) : Printer(names), ranges_(ranges) {}

 protected:
  Piece quotient(const Index& a, const Index& d) const override {
    if (const std::int64_t c = constant_divisor(d); c != 0) {
      if (c < 0) return quotient(Index(0) - a, Index(-c));
      if (c == 1) return printed(a);
      if (detail::is_power_of_two(c)) {
        return {"(" + at_least(printed(a), Level::product) + " >> " + std::to_string(log2_of(c)) + ")"};
      }
      const Interval range = bounds(a, ranges_);
      const std::int64_t up = lift(range, c);
      if (up == 0) return infix(printed(a), "/", number_text(c), Level::product);
      if (fits(up)) {
        const Piece lifted =
            infix(infix(printed(a), "+", number_text(up), Level::sum), "/", number_text(c), Level::product);
        return infix(lifted, "-", number_text(up / c), Level::sum);
      }
    }
    const Interval range = bounds(a, ranges_);
    if (range.least >= 0) return infix(printed(a), "/", printed(d), Level::product);
    const Piece whole = infix(printed(a), "-", safe_rest(a, d), Level::sum);
    return infix(whole, "/", printed(d), Level::product);
  }

  Piece rest(const Index& a, const Index& d) const override {
    if (const std::int64_t c = constant_divisor(d); c != 0) {
      if (c < 0) return infix(Piece{"0"}, "-", rest(Index(0) - a, Index(-c)), Level::sum);
      if (detail::is_power_of_two(c)) {
        return {"(" + at_least(printed(a), Level::product) + " & " + std::to_string(c - 1) + ")"};
      }
      const std::int64_t up = lift(bounds(a, ranges_), c);
      if (up == 0) return infix(printed(a), "%", number_text(c), Level::product);
      if (fits(up)) {
        return infix(infix(printed(a), "+", number_text(up), Level::sum), "%", number_text(c),
                     Level::product);
      }
    }
    if (bounds(a, ranges_).least >= 0) return infix(printed(a), "%", printed(d), Level::product);
    return safe_rest(a, d);
  }

  Piece disjunction(const Piece& a, const Piece& b) const override {
    // && inside || in brackets: compilers ask for them.
    return {at_least(a, Level::equality) + " || " + at_least(b, Level::equality), Level::either};
  }

 private:
  static bool fits(std::int64_t up) { return up < (std::int64_t{1} << 30); }

  // 0 for a divisor that is no constant, but surely positive.
  std::int64_t constant_divisor(const Index& d) const {
    const Interval range = bounds(d, ranges_);
    if (range.least == range.most && range.least != 0) return range.least;
    if (range.least <= 0) {
      fail(ErrorCode::spec, "write an index as C++",
           "a divisor of " + std::to_string(range.least) + " .. " + std::to_string(range.most),
           "a divisor that is always positive, or a constant other than 0",
           "divide by something that can be proven positive");
    }
    return 0;
  }

  Piece safe_rest(const Index& a, const Index& d) const {
    const Piece first = infix(printed(a), "%", printed(d), Level::product);
    return infix(infix(first, "+", printed(d), Level::sum), "%", printed(d), Level::product);
  }

  const IndexRanges& ranges_;
};

}  // namespace

std::string to_text(const Index& index, const IndexNames& names) {
  return MathematicsPrinter(names).printed(index).text;
}

std::string to_cpp(const Index& index, const IndexNames& names, const IndexRanges& ranges) {
  return CodePrinter(names, ranges).printed(index).text;
}

}  // namespace faro::swizzle
