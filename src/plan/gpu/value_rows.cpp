#include "plan/gpu/value_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/row_values.hpp"
#include "kernels/row_walk.hpp"
#include "plan/row_direction.hpp"
#include "rounding.hpp"
#include "size_text.hpp"

namespace faro::detail {
namespace {

// Of 32 bytes of the widest type and 16 of the narrowest, one a thread: on an H200 f32 becomes bf16 at 95 to
// 100% of a copy's rate, rows of 64 to 1024 numbers, and by vectors half as long, two a thread, at 82 to 88%.
int numbers_of_vector(const RowValues& of, const ValueAlignment& alignment) {
  constexpr std::uint64_t kPacket = 16;
  const Arithmetic& arithmetic = of.arithmetic;
  const auto fits = [&](std::uint64_t numbers) {
    const auto side = [&](Number number, std::uint64_t bytes) {
      const std::uint64_t vector = numbers * bytes_of(number);
      return vector <= std::uint64_t{kernels::kMostChangedBytes} && bytes % std::min(vector, kPacket) == 0;
    };
    const bool sides = side(arithmetic.from, alignment.in) && side(arithmetic.to, alignment.out);
    const bool all = sides && (!arithmetic.addend || side(arithmetic.addend->number, alignment.addend));
    return all && of.numbers % numbers == 0 &&
           numbers * std::min(bytes_of(arithmetic.from), bytes_of(arithmetic.to)) <= kPacket;
  };
  std::uint64_t numbers = kPacket;
  while (numbers > 1 && !fits(numbers)) numbers /= 2;
  return static_cast<int>(numbers);
}

}  // namespace

int ValueRows::vector_bytes_of(const RowValues& of) const {
  return numbers * static_cast<int>(std::max(bytes_of(of.arithmetic.from), bytes_of(of.arithmetic.to)));
}

std::uint64_t ValueRows::slice_vectors(const RowValues& of) const {
  return pass.slice_bytes / (static_cast<std::uint64_t>(numbers) * bytes_of(of.arithmetic.from));
}

ValueRows make_value_rows(const RowValues& of, const ValueAlignment& alignment) {
  // Rows of one vector go as those of the plain plan do, and so do parts of rows that are taken again.
  ValueRows made{.numbers = numbers_of_vector(of, alignment),
                 .pass = of.row_plan->moving_pass({.staged = false})};
  const auto numbers = static_cast<std::uint64_t>(made.numbers);
  RowPass& pass = made.pass;
  const std::uint64_t vector_bytes = numbers * bytes_of(of.arithmetic.from);
  const bool elements = pass.kernel == RowKernel::move_elements && numbers == of.numbers;
  if (pass.slice_bytes % vector_bytes != 0) pass.slice_bytes = 0;
  if (!elements) {
    const int widest = made.vector_bytes_of(of);
    pass.kernel = RowKernel::move_vectors;
    pass.threads = static_cast<int>(kernels::kRowThreads);
    pass.blocks = kernels::vector_row_blocks(direction_of(of.move), widest, of.outer * of.moved_rows(),
                                             of.numbers / numbers);
    if (widest < kernels::kLeastUnwalkedBytes) pass.slice_bytes = 0;
  }
  pass.vector_bytes = static_cast<int>(vector_bytes);
  const std::uint64_t parts =
      pass.slice_bytes == 0 ? 1 : of.numbers * bytes_of(of.arithmetic.from) / pass.slice_bytes;
  pass.read_bytes = of.read_bytes() + parts * of.outer * of.moved_rows() *
                                          static_cast<std::uint64_t>(row_numbers(of.move).type.bytes);
  pass.written_bytes = of.written_bytes();
  return made;
}

std::string told_value_rows(const RowValues& of) {
  std::string text;
  const auto tell = [&](const RowPass& pass, const std::string& what) {
    text += fmt::format("launch          {} blocks of {} threads: {}; reads {}, writes {}\n", pass.blocks,
                        pass.threads, what, size_text(pass.read_bytes), size_text(pass.written_bytes));
  };
  const std::vector<RowPass> passes = of.row_plan->passes();
  if (passes.empty()) return text;
  if (passes.front().kernel == RowKernel::mark) tell(passes.front(), passes.front().text);
  const ValueRows rows = make_value_rows(of);
  std::string what = fmt::format("a thread changes vectors of {} as they are moved",
                                 count_text(static_cast<std::uint64_t>(rows.numbers), "number"));
  if (rows.pass.slice_bytes > 0)
    what += fmt::format(", of {} of all rows before the next", size_text(rows.pass.slice_bytes));
  tell(rows.pass, what);
  return text;
}

}  // namespace faro::detail
