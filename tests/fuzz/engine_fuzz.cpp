// Random problems on the CPU's engine beside the obvious loop, with guards around arrays of any alignment: no
// element is wrong and no byte beside the output is touched, out of place and in place.
//
//     byte 0        the permutation's family
//     bytes 1..8    its seed and sizes
//     bytes 9..12   width, batch, threads and alignments
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "engines/cpu.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "oracle.hpp"

namespace {

using namespace faro;

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  std::uint64_t below(std::uint64_t bound) {
    std::uint64_t value = 0;
    for (int i = 0; i < 2; ++i) value = value << 8 | (at_ < size_ ? data_[at_++] : 0);
    return value % bound;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

std::string drawn(Bytes& bytes) {
  const auto number = [&](std::uint64_t bound) { return std::to_string(bytes.below(bound)); };
  const std::string bits = std::to_string(bytes.below(15));
  const std::string small = std::to_string(1 + bytes.below(60));
  const std::string other = std::to_string(1 + bytes.below(60));
  const std::string third = std::to_string(1 + bytes.below(12));
  switch (bytes.below(10)) {
    case 0:
      return "random_bmmc(" + bits + ", " + number(1000) + ")";
    case 1:
      return "random_bpc(" + bits + ", " + number(1000) + ")";
    case 2:
      return "bit_reversal(" + bits + ")";
    case 3:
      return "transpose(" + small + ", " + other + ")";
    case 4:
      return "roll(" + std::to_string(1 + bytes.below(5000)) + ", " + number(5000) + ")";
    case 5:
      return "flip(" + std::to_string(1 + bytes.below(5000)) + ")";
    case 6:
      return "random(" + std::to_string(1 + bytes.below(5000)) + ", " + number(1000) + ")";
    case 7: {
      constexpr std::array<const char*, 6> kOrders{"0 1 2", "0 2 1", "1 0 2", "1 2 0", "2 0 1", "2 1 0"};
      return "axes(" + small + " " + other + " " + third + "; " + kOrders[bytes.below(6)] + ")";
    }
    case 8:
      return "aos_to_soa(" + small + ", " + third + ")";
    default:
      return "xor(" + bits + ", 0)";
  }
}

struct Guarded {
  static constexpr std::size_t kGuard = 64;
  Guarded(std::uint64_t bytes, std::uint64_t offset)
      : storage(bytes + offset + 2 * kGuard, std::byte{0x5a}), begin(kGuard + offset), size(bytes) {}
  std::byte* data() { return storage.data() + begin; }
  bool is_intact() const {
    for (std::size_t i = 0; i < storage.size(); ++i) {
      if ((i < begin || i >= begin + size) && storage[i] != std::byte{0x5a}) return false;
    }
    return true;
  }
  std::vector<std::byte> storage;
  std::size_t begin;
  std::uint64_t size;
};

[[noreturn]] void broken(const char* law, const std::string& text) {
  std::fprintf(stderr, "broken law: %s\n%s\n", law, text.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  const std::string text = drawn(bytes);
  constexpr std::array<std::uint64_t, 12> kWidths{1, 2, 4, 8, 16, 32, 3, 5, 6, 12, 24, 64};
  const std::uint64_t width = kWidths[bytes.below(kWidths.size())];
  Problem problem{.permutation = Permutation(), .element_bytes = width, .batch = bytes.below(4)};
  const int threads = 1 + static_cast<int>(bytes.below(3));
  const std::uint64_t in_offset = bytes.below(33);
  const std::uint64_t out_offset = bytes.below(33);
  const bool in_place = bytes.below(3) == 0;
  const std::string told = text + " of " + std::to_string(width) + " bytes, batch " +
                           std::to_string(problem.batch) + (in_place ? ", in place" : "");
  try {
    problem.permutation = parse_permutation(text);
    problem.placement = in_place ? Placement::in_place : Placement::out_of_place;
    const ExecutablePlan plan = faro::plan(problem, {.engine = Engine::cpu, .threads = threads});
    const std::uint64_t total = total_bytes(problem);
    Guarded in(total, in_offset);
    Guarded out(total, out_offset);
    for (std::uint64_t i = 0; i < total; ++i)
      in.data()[i] = static_cast<std::byte>((i * 0x9e3779b97f4a7c15) >> 56);
    if (in_place) {
      std::memcpy(out.data(), in.data(), total);
      plan.run(out.data(), total);
    } else {
      plan.run(in.data(), out.data(), total);
    }
    problem.placement = Placement::out_of_place;
    if (const auto mismatch = find_mismatch(problem, in.data(), out.data(), 1))
      broken(to_text(*mismatch).c_str(), told);
    if (!in.is_intact() || !out.is_intact()) broken("nothing beside the output is written", told);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) broken(error.what(), told);
  }
  return 0;
}
