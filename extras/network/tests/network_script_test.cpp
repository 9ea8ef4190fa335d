// Users' operators by their text: the same statements here as C++, on every type, and what is refused.
#include <gmock/gmock.h>

#include <cstring>
#include <limits>

#include "network/operator_script.hpp"
#include "refusal.hpp"

namespace faro::network {
namespace network_script_test {

using test::message_of;
using ::testing::HasSubstr;

template <typename T>
std::vector<T> samples() {
  std::vector<T> values;
  for (const int i : {0, 1, 2, 3, 7, 31, 100, 1000}) values.push_back(static_cast<T>(i));
  values.push_back(static_cast<T>(-3));
  values.push_back(std::numeric_limits<T>::max());
  values.push_back(std::numeric_limits<T>::lowest());
  if constexpr (std::is_floating_point_v<T>) {
    values.push_back(T(0.1));
    values.push_back(T(-1e9));
  }
  return values;
}

template <typename T, typename Function>
void expect_same(const char* text, const Function& wanted) {
  const ElementType type = ElementOf<T>::value;
  const auto function = host_function(operators::user("mine", text), type);
  for (const T first : samples<T>()) {
    for (const T second : samples<T>()) {
      for (const std::uint64_t p : {std::uint64_t{0}, std::uint64_t{5}, std::uint64_t{1000}}) {
        T a = first;
        T b = second;
        std::byte memory[2 * sizeof(T) + 1];
        std::memcpy(memory + 1, &a, sizeof a);
        std::memcpy(memory + 1 + sizeof a, &b, sizeof b);
        (*function)(memory + 1, memory + 1 + sizeof a, p, 11);
        wanted(a, b, static_cast<std::uint32_t>(p), 11);
        EXPECT_EQ(std::memcmp(memory + 1, &a, sizeof a), 0)
            << text << " " << to_text(type) << ": a of " << +first << ", " << +second;
        EXPECT_EQ(std::memcmp(memory + 1 + sizeof a, &b, sizeof b), 0)
            << text << " " << to_text(type) << ": b of " << +first << ", " << +second;
      }
    }
  }
}

// The text and the code are one, and the code is to convert, compare and shadow as it likes.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wtautological-compare"
#pragma GCC diagnostic ignored "-Wdangling-else"
#pragma GCC diagnostic ignored "-Wempty-body"
#define FARO_SAME(T, ...)                                                       \
  expect_same<T>(#__VA_ARGS__, []([[maybe_unused]] T& a, [[maybe_unused]] T& b, \
                                  [[maybe_unused]] std::uint32_t p, [[maybe_unused]] int n) { __VA_ARGS__ })

// Statements without overflow of signed numbers, for every type.
template <typename T>
void expect_everywhere() {
  FARO_SAME(T, const auto t = a; a = b; b = t;);
  FARO_SAME(
      T, if (b < a) {
        const auto t = a;
        a = b;
        b = t;
      });
  FARO_SAME(
      T, if (a == b || a != a) a = 1; else if (!(a <= b) && b >= 0) { b = 2; } else {
        a = p;
        b = n;
      });
  FARO_SAME(T, a = a > b ? a : b; b = p < 6u ? 3 : b;);
  FARO_SAME(T, double c = a; float d = static_cast<float>(b); a = c > d; b = d > 0.5f ? 1 : .25;);
  FARO_SAME(
      T, bool less = a < b; {
        auto less = 3;
        b = less;
      } a = less;);
  FARO_SAME(T, a = -p + 3 * n - 7 / 2 % 3; b = (p ^ 0xffu) & ~n | p >> 2 << 1;);
  FARO_SAME(T, a = 1; a += 2; a *= 3; a -= 4; a /= 2; ++a; a++; --a;;;);
  FARO_SAME(T, b = 1e3; a = 1e-2 * p; /* a remark */ a = a + 0x10 + 5ll + 7ul;);
}

template <typename T>
void expect_unsigned() {
  FARO_SAME(T, a = a * b + 2654435761u; b = a ^ b << 3 | b >> 5;);
  FARO_SAME(T, auto m = b == 0 ? a : a % b; a = b; b = m;);
  FARO_SAME(T, a -= b; a ^= 0x5555; a &= ~b; b |= 1; b <<= 2; a >>= 1; b %= 1000; b = -b;);
}

TEST(NetworkScript, DoesWhatCppDoes) {
  expect_everywhere<std::int32_t>();
  expect_everywhere<std::uint32_t>();
  expect_everywhere<std::int64_t>();
  expect_everywhere<std::uint64_t>();
  expect_everywhere<double>();
  expect_everywhere<float>();
  expect_unsigned<std::uint32_t>();
  expect_unsigned<std::uint64_t>();
  FARO_SAME(std::int32_t, a = a / 7 + b % 5 + (a >> 3); b = b & 15 | 64; b = a < -5 ? b : p;);
  FARO_SAME(std::int64_t, a = a / 7 + b % 5 + (a >> 3); unsigned u = 5; b = b < u; int i = -1;
            a = i < u ? 1 : a;);
  FARO_SAME(float, a = a * b + 0.1f; b = b / 3 - a;);  // built without contraction
  FARO_SAME(float, a = a * 0.1 + b; b = b * 2;);
  FARO_SAME(double, a = a * b - 0.1f; b = b / (1 + p););
}

#pragma GCC diagnostic pop
#undef FARO_SAME

TEST(NetworkScript, KnowsMinMaxAndAbs) {
  const auto run = [](const char* text, std::int32_t a, std::int32_t b) {
    (*host_function(operators::user("mine", text), {.scalar = Scalar::i32}))(&a, &b, 0, 1);
    return std::pair(a, b);
  };
  EXPECT_EQ(run("const int t = min(a, b); b = max(a, b); a = t;", 5, -5), std::pair(-5, 5));
  EXPECT_EQ(run("a = abs(a); b = abs(b);", -7, 7), std::pair(7, 7));
  float value = -2.5F;
  (*host_function(operators::each("mine", "a = abs(a) + min(1.5f, 2.0f);", nullptr),
                  {.scalar = Scalar::f32}))(&value, nullptr, 0, 0);
  EXPECT_EQ(value, 4.0F);
}

TEST(NetworkScript, DefinesWhatCppLeavesOpen) {
  const auto run = [](const char* text, std::int32_t a, std::int32_t b) {
    (*host_function(operators::user("mine", text), {.scalar = Scalar::i32}))(&a, &b, 0, 1);
    return a;
  };
  const std::int32_t least = std::numeric_limits<std::int32_t>::lowest();
  const std::int32_t most = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(run("a = a + b;", most, 1), least);
  EXPECT_EQ(run("a = a / b;", least, -1), least);
  EXPECT_EQ(run("a = a % b;", least, -1), 0);
  EXPECT_EQ(run("a = -a;", least, 0), least);
  EXPECT_EQ(run("a = abs(a);", least, 0), least);
  EXPECT_EQ(run("a = 1e10;", 0, 0), most);
  EXPECT_EQ(run("a = -1e10;", 0, 0), least);
  EXPECT_EQ(run("a = static_cast<int>(0.0 / 0.0);", 5, 0), 0);
  for (const char* const text : {"a = a / b;", "a = a % b;", "a = 1 << (b + 32);", "a = 1 << (b - 1);"}) {
    EXPECT_NE(message_of(ErrorCode::value, [&] { run(text, 1, 0); }), "no error") << text;
  }
}

TEST(NetworkScript, RefusesWhatItDoesNotKnow) {
  for (const char* const text : {"for (;;) a = b;",
                                 "while (a) --a;",
                                 "a = f(b);",
                                 "a = b = 1;",
                                 "a",
                                 "a = ",
                                 "a = b",
                                 "c = 1;",
                                 "const auto t = a; t = 1;",
                                 "int a = 1;",
                                 "auto t = a; auto t = b;",
                                 "auto t;",
                                 "a = (b;",
                                 "{ a = b;",
                                 "a = 1 +;",
                                 "a = b $ 1;",
                                 "a = \"text\";",
                                 "asm(\"\");",
                                 "a = 010;",
                                 "a = 0x;",
                                 "a = 5q;",
                                 "a = 18446744073709551616;",
                                 "a = 1.5 % 2;",
                                 "a = 1 << 1.5;",
                                 "a = ~1.5;",
                                 "a == b;",
                                 "if (a) ",
                                 "/* a = b;",
                                 "return;",
                                 "a[0] = 1;",
                                 "*&a = 1;",
                                 "a = b, b = a;",
                                 "{ auto t = a; } b = t;",
                                 "a = static_cast<char>(b);"}) {
    EXPECT_NE(message_of(ErrorCode::unsupported,
                         [&] { host_function(operators::user("mine", text), {.scalar = Scalar::u32}); }),
              "no error")
        << text;
  }
  EXPECT_NE(
      message_of(ErrorCode::unsupported,
                 [&] { host_function(operators::each("mine", "a = b;", nullptr), {.scalar = Scalar::u32}); }),
      "no error");
  std::string deep = "a = ";
  for (int i = 0; i < 100000; ++i) deep += '(';
  std::string signs = "a = ";
  for (int i = 0; i < 100000; ++i) signs += '-';
  std::string blocks;
  for (int i = 0; i < 100000; ++i) blocks += '{';
  std::string chosen = "a = ";
  for (int i = 0; i < 100000; ++i) chosen += "a ? a : ";
  std::string branches;
  for (int i = 0; i < 100000; ++i) branches += "if (a) ";
  std::string many;
  for (int i = 0; i < 100000; ++i) many += "a = b;";
  for (const std::string& text : {deep, signs, blocks, chosen, branches, many}) {
    EXPECT_THAT(message_of(ErrorCode::unsupported,
                           [&] { host_function(operators::user("mine", text), {.scalar = Scalar::u32}); }),
                HasSubstr("wanted"))
        << text.substr(0, 20);
  }
}

}  // namespace network_script_test
}  // namespace faro::network
