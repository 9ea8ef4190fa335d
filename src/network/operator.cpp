#include "faro/network/operator.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "faro/error.hpp"
#include "suggest.hpp"

namespace faro::network {
namespace {

constexpr std::string_view kScalarNames[] = {"i32", "u32", "i64", "u64", "f32", "f64", "c64", "c128"};
constexpr std::string_view kValueSuffix = "+value";

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

[[noreturn]] void refuse_unknown(const char* operation, std::string_view got,
                                 const std::vector<std::string>& known, std::string wanted) {
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  fail(ErrorCode::value, operation, "`" + std::string(got) + "`", std::move(wanted),
       did_you_mean(got, candidates));
}

}  // namespace

// --- element types

const char* name(Scalar scalar) noexcept { return kScalarNames[static_cast<std::size_t>(scalar)].data(); }

std::uint64_t bytes(Scalar scalar) noexcept {
  switch (scalar) {
    case Scalar::i32:
    case Scalar::u32:
    case Scalar::f32:
      return 4;
    case Scalar::c128:
      return 16;
    default:
      return 8;
  }
}

bool is_complex(Scalar scalar) noexcept { return scalar == Scalar::c64 || scalar == Scalar::c128; }
bool is_float(Scalar scalar) noexcept { return scalar == Scalar::f32 || scalar == Scalar::f64; }

std::uint64_t ElementType::bytes() const noexcept { return network::bytes(scalar) * (with_value ? 2 : 1); }

std::string to_text(const ElementType& type) {
  return name(type.scalar) + std::string(type.with_value ? kValueSuffix : "");
}

ElementType parse_element_type(std::string_view text) {
  std::string_view scalar = text;
  ElementType type;
  if (scalar.ends_with(kValueSuffix)) {
    type.with_value = true;
    scalar.remove_suffix(kValueSuffix.size());
  }
  const auto* const found = std::find(std::begin(kScalarNames), std::end(kScalarNames), scalar);
  if (found == std::end(kScalarNames)) {
    std::vector<std::string> known(std::begin(kScalarNames), std::end(kScalarNames));
    for (std::size_t i = 0; i < std::size(kScalarNames); ++i) known.push_back(known[i] + "+value");
    refuse_unknown("element type", text, known,
                   "i32, u32, i64, u64, f32, f64, c64 or c128, and `+value` behind it where a value is");
  }
  type.scalar = static_cast<Scalar>(found - std::begin(kScalarNames));
  return type;
}

// --- operators

namespace operators {

Operator min_max() {
  return {
      .kind = OperatorKind::compare_exchange, .name = "min_max", .reversed = false, .text = {}, .host = {}};
}
Operator max_min() {
  return {
      .kind = OperatorKind::compare_exchange, .name = "max_min", .reversed = true, .text = {}, .host = {}};
}
Operator hadamard() {
  return {.kind = OperatorKind::hadamard, .name = "hadamard", .reversed = false, .text = {}, .host = {}};
}
Operator fourier() {
  return {.kind = OperatorKind::fourier, .name = "fourier", .reversed = false, .text = {}, .host = {}};
}
Operator inverse_fourier() {
  return {.kind = OperatorKind::inverse_fourier,
          .name = "inverse_fourier",
          .reversed = false,
          .text = {},
          .host = {}};
}

Operator user(std::string name, std::string text, HostFunction host) {
  const auto refuse = [&](std::string got, std::string wanted, std::string remedy) {
    fail(ErrorCode::value, "operator `" + name + "`", std::move(got), std::move(wanted), std::move(remedy));
  };
  const std::vector<std::string>& taken = operator_names();
  if (!is_identifier(name)) refuse("`" + name + "` as its name", "letters, digits and _, no digit first", "");
  if (std::find(taken.begin(), taken.end(), name) != taken.end()) {
    refuse("the name of a built-in operator", "a name of its own", "built in are " + joined(taken));
  }
  if (text.empty() && !host) {
    refuse("neither text nor function", "CUDA C++ text for the GPU, a host function for the CPU, or both",
           "");
  }
  return {.kind = OperatorKind::user,
          .name = std::move(name),
          .reversed = false,
          .text = std::move(text),
          .host = host ? std::make_shared<const HostFunction>(std::move(host)) : nullptr};
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
  refuse_unknown("operator", name, operator_names(), joined(operator_names()));
}

void check_fits(const Operator& op, const ElementType& type) {
  const auto require = [&](bool fits, const char* wanted) {
    if (fits) return;
    fail(ErrorCode::value, "pairs(" + op.name + ")", "elements of type " + to_text(type), wanted);
  };
  switch (op.kind) {
    case OperatorKind::compare_exchange:
      return require(!is_complex(type.scalar), "i32, u32, i64, u64, f32 or f64, with or without value");
    case OperatorKind::hadamard:
      return require(!type.with_value, "i32, u32, i64, u64, f32, f64, c64 or c128, without value");
    case OperatorKind::fourier:
    case OperatorKind::inverse_fourier:
      return require(is_complex(type.scalar) && !type.with_value, "c64 or c128, without value");
    case OperatorKind::user:
      return;
  }
}

}  // namespace faro::network
