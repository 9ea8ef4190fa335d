#include "network/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "faro/error.hpp"
#include "faro/network/network.hpp"
#include "faro/network/program.hpp"
#include "network/text.hpp"

namespace faro::network {
namespace {

using ConstBytes = std::span<const std::byte>;
std::string hex(ConstBytes element) {
  std::string text = "0x";
  for (auto byte = element.rbegin(); byte != element.rend(); ++byte) {
    text += fmt::format("{:02x}", std::to_integer<unsigned>(*byte));
  }
  return text;
}

// SplitMix64's mixing, over the words of an element.
std::uint64_t hash(ConstBytes element, std::uint64_t seed) {
  std::uint64_t state = seed;
  for (std::size_t i = 0; i < element.size(); i += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, element.data() + i, 4);
    state = (state ^ word) + 0x9e3779b97f4a7c15;
    state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
    state = (state ^ (state >> 27)) * 0x94d049bb133111eb;
    state ^= state >> 31;
  }
  return state;
}

bool is_sorter(const Program& program) {
  const int n = program.bits();
  return program == sort(n) || program == bitonic_sort(n);
}

void check_sorted(const Problem& problem, ConstBytes in, ConstBytes out) {
  const std::uint64_t width = problem.element.bytes();
  std::uint64_t sums[2] = {0, 0};
  std::vector<std::byte> before(width);
  std::vector<std::byte> after(width);
  for (std::size_t at = 0; at < out.size(); at += width) {
    const ConstBytes element = out.subspan(at, width);
    for (const std::uint64_t seed : {1U, 2U}) {
      sums[seed - 1] += hash(in.subspan(at, width), seed) - hash(element, seed);
    }
    if (at == 0) continue;
    const ConstBytes last = out.subspan(at - width, width);
    std::copy(last.begin(), last.end(), before.begin());
    std::copy(element.begin(), element.end(), after.begin());
    apply(operators::min_max(), problem.element, before.data(), after.data(), 0, 1);
    if (!std::equal(before.begin(), before.end(), last.begin())) {
      fail(ErrorCode::verification, "verify `" + short_text(problem.program) + "`",
           fmt::format("{} at {} after {}", hex(element), at / width, hex(last)),
           "no element smaller than the one before it",
           "this is a bug in faro, please report it with the command");
    }
  }
  if (sums[0] != 0 || sums[1] != 0) {
    fail(ErrorCode::verification, "verify `" + short_text(problem.program) + "`",
         "a sorted array of other elements", "the elements of the input",
         "this is a bug in faro, please report it with the command");
  }
}

// Layer after layer where the array is, then the final map: the meaning of a normal form.
std::vector<std::byte> reference(const NormalForm& form, const ElementType& element, ConstBytes in) {
  const std::uint64_t width = element.bytes();
  const std::uint64_t count = in.size() / width;
  std::vector<std::byte> data(in.begin(), in.end());
  for (const Layer& layer : form.layers) {
    if (is_elementwise(layer.op.kind)) {  // whatever its frame
      for (std::uint64_t x = 0; x < count; ++x) {
        apply(layer.op, element, data.data() + x * width, nullptr, 0, 0);
      }
      continue;
    }
    const Affine place = layer.frame.inverse();
    for (std::uint64_t pair = 0; pair < count / 2; ++pair) {
      const std::uint64_t first = place(2 * pair);
      const std::uint64_t second = first ^ layer.direction();
      apply(layer.op, element, data.data() + first * width, data.data() + second * width,
            pair & f2::low_mask(layer.bits - 1), layer.bits);
    }
  }
  if (form.final_map.is_identity()) return data;
  std::vector<std::byte> moved(data.size());
  for (std::uint64_t x = 0; x < count; ++x) {
    std::copy_n(data.data() + x * width, width, moved.data() + form.final_map(x) * width);
  }
  return moved;
}

void check_bits(const Problem& problem, const NormalForm& form, ConstBytes in, ConstBytes out) {
  const std::uint64_t width = problem.element.bytes();
  const std::vector<std::byte> wanted = reference(form, problem.element, in);
  const auto [got, right] = std::mismatch(out.begin(), out.end(), wanted.begin());
  if (got == out.end()) return;
  const std::size_t at = static_cast<std::size_t>(got - out.begin()) / width * width;
  fail(ErrorCode::verification, "verify `" + short_text(problem.program) + "`",
       fmt::format("{} at {}", hex(out.subspan(at, width)), at / width),
       hex(ConstBytes(wanted).subspan(at, width)),
       "this is a bug in faro, please report it with the command");
}

// The numbers of an array in double precision: one a float, two a complex number.
std::vector<double> doubles(Scalar scalar, ConstBytes bytes) {
  const auto convert = [&](auto zero) {
    std::vector<double> result(bytes.size() / sizeof(zero));
    for (std::size_t i = 0; i < result.size(); ++i) {
      std::memcpy(&zero, bytes.data() + i * sizeof(zero), sizeof(zero));
      result[i] = static_cast<double>(zero);
    }
    return result;
  };
  return scalar == Scalar::f32 || scalar == Scalar::c64 ? convert(float{}) : convert(double{});
}

double check_rounding(const Problem& problem, const NormalForm& form, ConstBytes in, ConstBytes out,
                      double bound) {
  const Scalar scalar = problem.element.scalar;
  const ElementType wide{.scalar = is_complex(scalar) ? Scalar::c128 : Scalar::f64, .with_value = false};
  const std::vector<double> values = doubles(scalar, in);
  const std::vector<std::byte> bytes = reference(form, wide, std::as_bytes(std::span(values)));
  const std::vector<double> wanted = doubles(wide.scalar, bytes);
  const std::vector<double> got = doubles(scalar, out);
  const auto is_none = [](double value) { return !std::isfinite(value); };
  // Floats overflow before the reference does: where they do so layer after layer, too, that is no fault.
  std::vector<double> narrow = wanted;
  if (std::any_of(got.begin(), got.end(), is_none)) {
    narrow = doubles(scalar, reference(form, problem.element, in));
  }
  // Squares of what is divided by the largest neither overflow nor vanish; below the smallest normal number
  // rounding is no longer relative.
  const bool single = scalar == Scalar::f32 || scalar == Scalar::c64;
  const double least =
      single ? double{std::numeric_limits<float>::min()} : std::numeric_limits<double>::min();
  double largest = least;
  for (const double value : wanted) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  double error = 0;
  double size = static_cast<double>(got.size()) * (least / largest) * (least / largest);
  for (std::size_t i = 0; i < got.size(); ++i) {
    // What is no number in the one must be none in the other; what overflows says nothing of rounding.
    if (is_none(narrow[i]) && is_none(got[i])) continue;
    const double difference = got[i] / largest - wanted[i] / largest;
    error += difference * difference;
    size += (wanted[i] / largest) * (wanted[i] / largest);
  }
  const double relative = size > 0 ? std::sqrt(error / size) : std::sqrt(error);
  if (!(relative <= bound)) {
    fail(ErrorCode::verification, "verify `" + short_text(problem.program) + "`",
         fmt::format("a relative error of {:.3g}", relative), fmt::format("at most {:.3g}", bound),
         "this is a bug in faro, please report it with the command");
  }
  return relative;
}

// Whether floats are rounded in another order here than layer by layer, or are worth comparing with sums in
// more digits. Functions of a user's may be for one type alone; those with constants may cancel what is
// large, so that a bound relative to the array says nothing.
bool rounds(const NormalForm& form) {
  const auto some = [&](auto holds) {
    return std::any_of(form.layers.begin(), form.layers.end(),
                       [&](const Layer& layer) { return holds(layer.op.kind); });
  };
  if (some(is_users)) return false;
  if (some(is_elementwise)) return some(is_fourier);
  return some([](OperatorKind kind) { return kind != OperatorKind::compare_exchange; });
}

}  // namespace

Verification verify(const Problem& problem, std::span<const std::byte> in, std::span<const std::byte> out) {
  check_element(problem.program, problem.element);
  const int n = problem.program.bits();
  const std::uint64_t bytes = problem.batch == 0 ? 0 : in.size() / problem.batch;
  if (in.size() != out.size() || n > kMaxNetworkBits ||
      (problem.batch != 0 && (bytes != problem.element.bytes() << n || in.size() % problem.batch != 0))) {
    fail(ErrorCode::value, "verify `" + short_text(problem.program) + "`",
         fmt::format("{} bytes in, {} bytes out", in.size(), out.size()), "both of the problem's size");
  }
  const NormalForm form = normal_form(problem.program);
  const bool sorter = is_sorter(problem.program);
  const Scalar scalar = problem.element.scalar;
  const bool sums_floats = (is_float(scalar) || is_complex(scalar)) && rounds(form);
  const bool single = scalar == Scalar::f32 || scalar == Scalar::c64;
  Verification result;
  result.method = sorter        ? "sorted, and the same elements"
                  : sums_floats ? "against the layers in double precision"
                                : "every bit, against one layer after another";
  result.bound = sums_floats ? (single ? 0x1p-23 : 0x1p-52) * 4 * std::max(n, 1) : 0;
  for (std::uint64_t array = 0; array < problem.batch; ++array) {
    const ConstBytes source = in.subspan(array * bytes, bytes);
    const ConstBytes target = out.subspan(array * bytes, bytes);
    if (sorter) {
      check_sorted(problem, source, target);
    } else if (sums_floats) {
      result.error = std::max(result.error, check_rounding(problem, form, source, target, result.bound));
    } else {
      check_bits(problem, form, source, target);
    }
  }
  return result;
}

}  // namespace faro::network
