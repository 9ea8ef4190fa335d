// The operators by name, and which of them suit which elements.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "faro/network/operator.hpp"
#include "faro/suggest.hpp"
#include "network/elementwise.hpp"

namespace faro::network {
namespace {

bool is_identifier(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && letter(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || digit(c); });
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string place_of(const Operator& op) {
  return (is_elementwise(op.kind) ? "each(" : "pairs(") + op.name + ")";
}

Operator built_in(OperatorKind kind, const char* name) {
  Operator op;
  op.kind = kind;
  op.name = name;
  return op;
}

// A user's own, of a kind whose built-in names are `taken`.
Operator users(OperatorKind kind, const std::vector<std::string>& taken, std::string name, std::string text,
               HostFunction host) {
  const std::string defining = "operator `" + name + "`";
  if (!is_identifier(name))
    fail(ErrorCode::value, defining, "`" + name + "` as its name", "letters, digits and _, no digit first");
  if (std::find(taken.begin(), taken.end(), name) != taken.end()) {
    fail(ErrorCode::value, defining, "the name of a built-in operator", "a name of its own",
         "built in are " + joined(taken));
  }
  if (text.empty() && !host) {
    fail(ErrorCode::value, defining, "neither text nor function",
         "CUDA C++ text for the GPU, a host function for the CPU, or both");
  }
  Operator op = built_in(kind, "");
  op.name = std::move(name);
  op.text = std::move(text);
  if (host) op.host = std::make_shared<const HostFunction>(std::move(host));
  return op;
}

}  // namespace

namespace operators {

Operator min_max() { return built_in(OperatorKind::compare_exchange, "min_max"); }
Operator max_min() {
  Operator op = built_in(OperatorKind::compare_exchange, "max_min");
  op.reversed = true;
  return op;
}
Operator hadamard() { return built_in(OperatorKind::hadamard, "hadamard"); }
Operator fourier() { return built_in(OperatorKind::fourier, "fourier"); }
Operator inverse_fourier() { return built_in(OperatorKind::inverse_fourier, "inverse_fourier"); }

Operator user(std::string name, std::string text, HostFunction host) {
  return users(OperatorKind::user, operator_names(), std::move(name), std::move(text), std::move(host));
}

Operator each(std::string name, std::string text, HostFunction host) {
  return users(OperatorKind::user_elementwise, elementwise_names(), std::move(name), std::move(text),
               std::move(host));
}

}  // namespace operators

const std::vector<std::string>& operator_names() {
  static const std::vector<std::string> names = {"min_max", "max_min", "hadamard", "fourier",
                                                 "inverse_fourier"};
  return names;
}

Operator parse_operator(std::string_view name) {
  for (const Operator& op : {operators::min_max(), operators::max_min(), operators::hadamard(),
                             operators::fourier(), operators::inverse_fourier()}) {
    if (op.name == name) return op;
  }
  const std::vector<std::string>& known = operator_names();
  fail(ErrorCode::value, "operator", "`" + std::string(name) + "`", joined(known),
       did_you_mean(name, std::vector<std::string_view>(known.begin(), known.end())));
}

void check_fits(const Operator& op, const ElementType& type) {
  const auto require = [&](bool fits, const char* wanted) {
    if (fits) return;
    fail(ErrorCode::value, place_of(op), "elements of type " + to_text(type), wanted);
  };
  switch (op.kind) {
    case OperatorKind::compare_exchange:
      return require(!is_complex(type.scalar), "i32, u32, i64, u64, f32 or f64, with or without value");
    case OperatorKind::hadamard:
      return require(!type.with_value, "i32, u32, i64, u64, f32, f64, c64 or c128, without value");
    case OperatorKind::fourier:
    case OperatorKind::inverse_fourier:
      return require(is_complex(type.scalar) && !type.with_value, "c64 or c128, without value");
    case OperatorKind::elementwise:
      return check_elementwise(op, type);
    case OperatorKind::user:
    case OperatorKind::user_elementwise:
      if (op.element && !(*op.element == type)) {
        fail(ErrorCode::value, place_of(op), "elements of type " + to_text(type),
             to_text(*op.element) + ", which its function takes");
      }
      return;
  }
}

}  // namespace faro::network
