#include "file/number_tiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "engines/cpu/values/value_run.hpp"
#include "faro/error.hpp"
#include "faro/threads.hpp"
#include "rounding.hpp"

namespace faro::file {
namespace {

constexpr std::uint64_t kRunNumbers = 16384;    // converted by a thread at a time
constexpr std::uint64_t kFewNumbers = 1 << 16;  // on one thread

Rows scaled(Rows rows, Scale scale) {
  const auto each = [scale](std::uint64_t bytes) { return scale.in_file(bytes); };
  rows.bytes = each(rows.bytes);
  rows.begin = each(rows.begin);
  (rows.digits.empty() ? rows.unit : rows.base) = each(rows.digits.empty() ? rows.unit : rows.base);
  for (Rows::Digit& digit : rows.digits) {
    digit.stride =
        digit.stride / static_cast<std::int64_t>(scale.tile) * static_cast<std::int64_t>(scale.file);
  }
  for (Rows::Range& range : rows.ranges)
    range = {.at = each(range.at), .offset = each(range.offset), .bytes = each(range.bytes)};
  return rows;
}

// Values of a coefficient in the type that is computed in.
class FactorValues {
 public:
  FactorValues(const Coefficient& of, Number computed) : width_(bytes_of(computed)) {
    values_.resize(of.values.size() * width_);
    for (std::size_t i = 0; i < of.values.size(); ++i)
      cpu::store_factor(computed, of.values[i], values_.data() + i * width_);
    varies_ = of.axis.has_value();
  }

  // Those of the places of numbers first .. end - 1 of the rows, which are out_width bytes each; kept in
  // `buffer`.
  template <typename Index>
  cpu::Factors of(const Rows& rows, std::uint64_t out_width, std::uint64_t first, std::uint64_t end,
                  const Index& index, std::vector<std::byte>& buffer) const {
    if (!varies_) return {.data = values_.data(), .varies = false};
    buffer.resize((end - first) * width_);
    std::byte* to = buffer.data();
    for_places(rows, out_width, first, end, [&](std::uint64_t place) {
      std::copy_n(values_.data() + index(place) * width_, width_, to);
      to += width_;
    });
    return {.data = buffer.data(), .varies = true};
  }

 private:
  template <typename Call>
  static void for_places(const Rows& rows, std::uint64_t width, std::uint64_t first, std::uint64_t end,
                         const Call& call) {
    std::uint64_t row = 0;
    if (rows.ranges.empty()) {
      row = first * width / rows.bytes;
    } else {
      const auto after =
          std::upper_bound(rows.ranges.begin(), rows.ranges.end(), first * width,
                           [](std::uint64_t at, const Rows::Range& range) { return at < range.at; });
      row = static_cast<std::uint64_t>(after - rows.ranges.begin()) - 1;
    }
    for (std::uint64_t number = first; number < end; ++row) {
      const Rows::Range range = rows.range(row);
      const std::uint64_t within = number - range.at / width;
      const std::uint64_t count = std::min(range.bytes / width - within, end - number);
      const std::uint64_t place = range.offset / width + within;
      for (std::uint64_t i = 0; i < count; ++i) call(place + i);
      number += count;
    }
  }

  std::uint64_t width_;
  std::vector<std::byte> values_;
  bool varies_ = false;
};

// What is the same for all tiles of a sweep.
struct Conversion {
  std::shared_ptr<const ChangedNumbers> numbers;
  cpu::ValueProgram program;
  FactorValues scale;
  FactorValues offset;
  int threads;

  Conversion(std::shared_ptr<const ChangedNumbers> of, int asked_threads)
      : numbers(std::move(of)),
        program(numbers->arithmetic()),
        scale(numbers->arithmetic().scale, program.computed),
        offset(numbers->arithmetic().offset, program.computed),
        threads(detail::thread_count(asked_threads)) {}

  // A thread's own.
  struct Buffers {
    std::vector<std::byte> scales = {};
    std::vector<std::byte> offsets = {};
    std::vector<std::byte> numbers = {};
  };

  // Numbers first .. end - 1 of the rows, of the output where it is converted after the move: `from`, `added`
  // and `to` are where the first of them lies.
  void convert(const std::byte* from, const std::byte* added, std::byte* to, std::uint64_t first,
               std::uint64_t end, const Rows& rows, Buffers& own) const {
    const std::uint64_t width = numbers->out_width();
    const auto scale_at = [&](std::uint64_t place) { return numbers->scale_at(place); };
    const auto offset_at = [&](std::uint64_t place) { return numbers->offset_at(place); };
    cpu::convert_run(program, {.from = from,
                               .to = to,
                               .addend = added,
                               .count = end - first,
                               .scale = scale.of(rows, width, first, end, scale_at, own.scales),
                               .offset = offset.of(rows, width, first, end, offset_at, own.offsets)});
  }

  void run(const std::byte* from, const std::byte* added, std::byte* to, std::uint64_t count,
           const Rows& rows) const {
    const auto runs = static_cast<std::int64_t>(detail::ceil_div(count, kRunNumbers));
    const int team = count < kFewNumbers ? 1 : threads;
#pragma omp parallel num_threads(team) if (team > 1)
    {
      Buffers own;
#pragma omp for schedule(static)
      for (std::int64_t number = 0; number < runs; ++number) {
        const std::uint64_t first = static_cast<std::uint64_t>(number) * kRunNumbers;
        convert(from + first * numbers->in_width(), added + first * numbers->added_width(),
                to + first * numbers->out_width(), first, std::min(first + kRunNumbers, count), rows, own);
      }
    }
  }

  // In one buffer, by parts that a thread each converts by itself:
  //
  //     narrower    |ab  cd  |ef  gh  |  -->  |abcd    |efgh    |  -->  |abcdefgh        |
  //     wider       |abcdefgh        |  -->  |    abcd|    efgh|  -->  |a b c d |e f g h |
  void run_in_place(std::byte* data, std::uint64_t count, const Rows& rows) const {
    const std::uint64_t in = numbers->in_width();
    const std::uint64_t out = numbers->out_width();
    if (in == out)
      return run(data, data + rows.total_bytes(), data, count, rows);  // what is added lies behind
    const int team = count < kFewNumbers ? 1 : threads;
    const std::uint64_t part =
        detail::ceil_div(std::max<std::uint64_t>(count, 1), static_cast<std::uint64_t>(team));
    const std::uint64_t slot = part * std::max(in, out);
    const auto first_of = [&](int number) {
      return std::min(static_cast<std::uint64_t>(number) * part, count);
    };
    const auto count_of = [&](int number) { return first_of(number + 1) - first_of(number); };
    // Where a part's numbers lie at the end of its slot.
    const auto late = [&](int number) {
      return data + static_cast<std::uint64_t>(number) * slot + count_of(number) * (out - in);
    };
    for (int number = team; out > in && number-- > 0;)
      std::memmove(late(number), data + first_of(number) * in, count_of(number) * in);
#pragma omp parallel for schedule(static) num_threads(team) if (team > 1)
    for (int number = 0; number < team; ++number) {
      Buffers own;
      own.numbers.resize(kRunNumbers * std::max(in, out));
      std::byte* const begin = data + static_cast<std::uint64_t>(number) * slot;
      std::byte* const from = out > in ? late(number) : begin;
      for (std::uint64_t at = 0; at < count_of(number); at += kRunNumbers) {
        const std::uint64_t some = std::min(kRunNumbers, count_of(number) - at);
        const std::uint64_t first = first_of(number) + at;
        if (out > in) {
          std::memcpy(own.numbers.data(), from + at * in, some * in);
          convert(own.numbers.data(), nullptr, begin + at * out, first, first + some, rows, own);
        } else {
          convert(from + at * in, nullptr, own.numbers.data(), first, first + some, rows, own);
          std::memcpy(begin + at * out, own.numbers.data(), some * out);
        }
      }
    }
    for (int number = 1; out < in && number < team; ++number)
      std::memmove(data + first_of(number) * out, data + static_cast<std::uint64_t>(number) * slot,
                   count_of(number) * out);
  }
};

class NumberMove final : public TileMove {
 public:
  // `moved` is null of what rests.
  NumberMove(std::shared_ptr<const Conversion> conversion, SharedMove moved, const TileWork& work)
      : conversion_(std::move(conversion)), moved_(std::move(moved)), work_(work) {}

  void run(std::byte* x, std::byte* y) const override {
    const ChangedNumbers& numbers = *conversion_->numbers;
    const Rows& out = work_.out;
    const std::uint64_t count = out.total_bytes() / numbers.out_width();
    const std::byte* const added = x + work_.in.total_bytes();
    if (x == y) return run_in_place(y, count);
    if (moved_ == nullptr) return conversion_->run(x, added, y, count, out);
    std::byte* const behind = numbers.is_behind_input() ? x + work_.read_bytes() : y + out.total_bytes();
    if (!numbers.is_late()) {
      conversion_->run(x, added, behind, work_.in.total_bytes() / numbers.in_width(), out);
      return moved_->run(behind, y);
    }
    std::byte* const moved = numbers.in_width() == numbers.out_width() ? y : behind;
    moved_->run(x, moved);
    conversion_->run(moved, added, y, count, out);
  }

 private:
  void run_in_place(std::byte* data, std::uint64_t count) const {
    const bool is_late = conversion_->numbers->is_late();
    if (is_late) moved_->run(data, data);
    conversion_->run_in_place(data, count, work_.out);
    if (!is_late) moved_->run(data, data);
  }

  std::shared_ptr<const Conversion> conversion_;
  SharedMove moved_;
  TileWork work_;
};

class NumberTiles final : public Tiles {
 public:
  NumberTiles(std::unique_ptr<Tiles> moved, std::shared_ptr<const ChangedNumbers> numbers, int threads)
      : moved_(std::move(moved)),
        conversion_(std::make_shared<const Conversion>(std::move(numbers), threads)) {
    const ChangedNumbers& of = *conversion_->numbers;
    if (of.may_be_in_place()) placement = moved_->placement;
    tile_bytes = moved_->tile_bytes / of.moved_width() * of.buffer_width(placement);
    read_run_bytes = of.in_scale().in_file(moved_->read_run_bytes);
    write_run_bytes = of.out_scale().in_file(moved_->write_run_bytes);
  }

  std::uint64_t count() const override { return moved_->count(); }

  TileWork tile(std::uint64_t number) override {
    const ChangedNumbers& of = *conversion_->numbers;
    TileWork work = moved_->tile(number);
    work.in = scaled(std::move(work.in), of.in_scale());
    work.out = scaled(std::move(work.out), of.out_scale());
    if (of.added_width() > 0) work.added = of.added_rows(work.out);
    // Where a file is added to others tiles in place are those that rest.
    SharedMove moved = moved_->placement == placement ? std::move(work.move) : nullptr;
    work.move = std::make_shared<NumberMove>(conversion_, std::move(moved), work);
    return work;
  }

  TilePlan plan() const override {
    TilePlan plan = moved_->plan();
    plan.text +=
        fmt::format("numbers         {}; converted {} the tile is moved\n", conversion_->numbers->text(),
                    conversion_->numbers->is_late() ? "when" : "before");
    return plan;
  }

 private:
  std::unique_ptr<Tiles> moved_;
  std::shared_ptr<const Conversion> conversion_;
};

std::uint64_t all(const std::vector<std::uint64_t>& shape, std::size_t from) {
  return std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(from), shape.end(), std::uint64_t{1},
                         std::multiplies<>());
}

}  // namespace

ChangedNumbers::ChangedNumbers(const Numbers& numbers)
    : numbers_(numbers),
      in_width_(bytes_of(numbers.arithmetic.from)),
      out_width_(bytes_of(numbers.arithmetic.to)),
      added_width_(numbers.arithmetic.addend ? bytes_of(numbers.arithmetic.addend->number) : 0) {
  const Arithmetic& of = numbers_.arithmetic;
  check(of, numbers_.shape);
  if (of.addend && !of.addend->strides.empty())
    fail(ErrorCode::value, "plan", "an added file with strides", "one that lies as the output does");
  const bool has_places = of.addend || of.scale.axis || of.offset.axis;
  is_late_ = has_places || in_width_ <= out_width_;
  moved_width_ = is_late_ ? in_width_ : out_width_;
  const std::uint64_t read = in_width_ + added_width_;
  in_place_width_ = std::max(read, out_width_);
  const std::uint64_t behind = in_width_ == out_width_ ? 0 : moved_width_;
  const std::uint64_t behind_output = std::max(read, out_width_ + behind);
  const std::uint64_t behind_input = std::max(read + behind, out_width_);
  is_behind_input_ = is_late_ && behind_input < behind_output;
  buffer_width_ = is_behind_input_ ? behind_input : behind_output;
  scale_ = along(of.scale);
  offset_ = along(of.offset);
}

ChangedNumbers::Along ChangedNumbers::along(const Coefficient& of) const {
  if (!of.axis) return {};
  return {.step = all(numbers_.shape, *of.axis + 1), .extent = numbers_.shape[*of.axis]};
}

void ChangedNumbers::require(std::uint64_t element_bytes, std::uint64_t out_bytes) const {
  const Arithmetic& of = numbers_.arithmetic;
  if (element_bytes % in_width_ != 0) {
    fail(ErrorCode::value, "plan", fmt::format("elements of {} bytes of {}", element_bytes, name(of.from)),
         fmt::format("a multiple of {} bytes", in_width_));
  }
  const bool has_axis = of.scale.axis || of.offset.axis;
  if (has_axis && all(numbers_.shape, 0) * out_width_ != out_bytes) {
    fail(ErrorCode::value, "plan",
         fmt::format("values along an axis of {}", fmt::join(numbers_.shape, " x ")),
         fmt::format("an axis of the result, of {} numbers", out_bytes / out_width_));
  }
}

std::string ChangedNumbers::identity() const {
  const Arithmetic& of = numbers_.arithmetic;
  std::string text = this->text();
  const auto add = [&text](const Coefficient& all) {
    text += fmt::format("; {}:", all.axis ? static_cast<std::int64_t>(*all.axis) : -1);
    for (const std::complex<double>& value : all.values)
      text += fmt::format(" {:a} {:a}", value.real(), value.imag());
  };
  add(of.scale);
  add(of.offset);
  if (of.addend) {
    add({{of.addend->beta}, {}});
    text += of.addend->swapped ? " swapped" : "";
  }
  return text + fmt::format("; of {}", fmt::join(numbers_.shape, " "));
}

Rows ChangedNumbers::added_rows(const Rows& out) const {
  return scaled(out, {.file = added_width_, .tile = out_width_});
}

std::unique_ptr<Tiles> tiles_of_numbers(std::unique_ptr<Tiles> moved,
                                        std::shared_ptr<const ChangedNumbers> numbers, int threads) {
  return std::make_unique<NumberTiles>(std::move(moved), std::move(numbers), threads);
}

}  // namespace faro::file
