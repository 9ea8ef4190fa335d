#include "network/operator_script.hpp"

#include <cstring>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "network/operator_script_tree.hpp"
#include "network/scalar_types.hpp"

namespace faro::network {
namespace {

template <typename T>
constexpr ScriptType script_type() {
  if constexpr (std::is_same_v<T, std::int32_t>) return ScriptType::i32;
  if constexpr (std::is_same_v<T, std::uint32_t>) return ScriptType::u32;
  if constexpr (std::is_same_v<T, std::int64_t>) return ScriptType::i64;
  if constexpr (std::is_same_v<T, std::uint64_t>) return ScriptType::u64;
  if constexpr (std::is_same_v<T, float>) return ScriptType::f32;
  if constexpr (std::is_same_v<T, double>) return ScriptType::f64;
}

template <typename T>
Number number_at(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  if constexpr (std::is_floating_point_v<T>) {
    return real(value);
  } else {
    return whole(static_cast<std::int64_t>(value));
  }
}

template <typename T>
void put_number(void* to, Number number) {
  T value;
  if constexpr (std::is_floating_point_v<T>) {
    value = static_cast<T>(number.real);
  } else {
    value = static_cast<T>(number.whole);
  }
  std::memcpy(to, &value, sizeof value);
}

template <typename T>
HostFunction scripted(const Operator& op, const std::string& place) {
  const bool alone = is_elementwise(op.kind);
  std::vector<ScriptVariable> variables{{"a", script_type<T>()}};
  if (!alone) {
    variables.insert(variables.end(),
                     {{"b", script_type<T>()}, {"p", ScriptType::u32}, {"n", ScriptType::i32}});
  }
  return [script = read_script(op.text, place, variables), alone](void* a, void* b, std::uint64_t p, int k) {
    Slots slots{};
    slots[0] = number_at<T>(a);
    if (!alone) {
      slots[1] = number_at<T>(b);
      slots[2] = wrapped(ScriptType::u32, p);
      slots[3] = whole(k);
    }
    script.run(slots);
    put_number<T>(a, slots[0]);
    if (!alone) put_number<T>(b, slots[1]);
  };
}

}  // namespace

std::shared_ptr<const HostFunction> host_function(const Operator& op, const ElementType& type) {
  FARO_CHECK(is_users(op.kind));
  if (op.host != nullptr) return op.host;
  const std::string place = (is_elementwise(op.kind) ? "each(" : "pairs(") + op.name + ") on engine cpu";
  if (is_complex(type.scalar) || type.with_value) {
    fail(ErrorCode::unsupported, place,
         "an operator with CUDA text only, on elements of type " + to_text(type),
         "real numbers without value, or a host function",
         std::string("give operators::") + (is_elementwise(op.kind) ? "each" : "user") +
             " a function, or take engine cuda");
  }
  return std::make_shared<const HostFunction>(
      with_real(type.scalar, [&](auto number) { return scripted<decltype(number)>(op, place); }));
}

const HostFunction& remembered_host_function(const Operator& op, const ElementType& type) {
  if (op.host != nullptr) return *op.host;
  struct Remembered {
    OperatorKind kind = OperatorKind::user;
    std::string name;
    std::string text;
    ElementType type;
    std::shared_ptr<const HostFunction> function;
  };
  thread_local Remembered last;
  if (last.function == nullptr || last.kind != op.kind || !(last.type == type) || last.text != op.text ||
      last.name != op.name) {
    last = {op.kind, op.name, op.text, type, host_function(op, type)};
  }
  return *last.function;
}

}  // namespace faro::network
