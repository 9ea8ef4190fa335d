#include "engines/cpu/values/moved_sweep.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <variant>
#include <vector>

#include "engines/cpu.hpp"
#include "engines/cpu/copy_kernel.hpp"
#include "engines/cpu/pass_program.hpp"
#include "engines/cpu/team.hpp"
#include "engines/cpu/tile/kernel.hpp"
#include "engines/cpu/values/value_sweep.hpp"
#include "io/buffer.hpp"

namespace faro::cpu {

class MovedSweep::Way {
 public:
  Way() = default;
  Way(const Way&) = delete;
  Way& operator=(const Way&) = delete;
  virtual ~Way() = default;

  virtual void run(const ValueArrays& arrays) const = 0;
};

namespace {

using detail::ConvertedSide;
using detail::MovedValues;

// What all ways but views have.
class ConvertedWay : public MovedSweep::Way {
 protected:
  explicit ConvertedWay(const MovedValues& plan)
      : plan_(plan), values_(plan.arithmetic, plan.streamed && plan.side == ConvertedSide::written) {}

  const MovedValues& plan() const { return plan_; }
  bool reads() const { return plan_.side == ConvertedSide::read; }
  ValueSide side(const ValueArrays& arrays, std::uint64_t first) const { return {values_, arrays, first}; }
  const std::byte* in(const ValueArrays& arrays, std::uint64_t first) const {
    return arrays.in + first * bytes_of(plan_.arithmetic.from);
  }
  std::byte* out(const ValueArrays& arrays, std::uint64_t first) const {
    return arrays.out + first * bytes_of(plan_.arithmetic.to);
  }

 private:
  MovedValues plan_;
  PlacedValues values_;
};

class ViewsWay final : public MovedSweep::Way {
 public:
  ViewsWay(const detail::ViewsOfValues& views, const Target& one_thread) {
    for (const detail::ValuePlan& part : views.parts) parts_.emplace_back(part, one_thread);
  }
  void run(const ValueArrays& arrays) const override {
    for (const ValueSweep& part : parts_) part.run(arrays.in, arrays.addend, arrays.out);
  }

 private:
  std::vector<ValueSweep> parts_;
};

// A thread's own, at the beginning of a line.
class LineBuffer {
 public:
  explicit LineBuffer(std::uint64_t bytes) : memory_(bytes + kLineBytes) {}
  std::byte* data() {
    const std::uint64_t past = reinterpret_cast<std::uintptr_t>(memory_.data()) % kLineBytes;
    return memory_.data() + (past == 0 ? 0 : kLineBytes - past);
  }

 private:
  std::vector<std::byte> memory_;
};

// Calls work(share, buffer) with a buffer of each thread's own, made by the thread that uses it.
template <typename Work>
void share_out_with_buffers(std::uint64_t count, int threads, std::uint64_t bytes, const Work& work) {
  std::vector<std::optional<LineBuffer>> buffers(static_cast<std::size_t>(std::max(threads, 1)));
  share_out_by_rank(count, threads, [&](const Share& share) {
    std::optional<LineBuffer>& own = buffers[share.rank];
    if (!own) own.emplace(bytes);
    work(share, own->data());
    finish_streams();
  });
}

class PlacesWay final : public ConvertedWay {
 public:
  PlacesWay(const MovedValues& plan, const detail::PlacesOfValues& places)
      : ConvertedWay(plan), back_(places.back) {}

  void run(const ValueArrays& arrays) const override {
    const ValueSide values = side(arrays, 0);
    const std::uint64_t width = bytes_of(plan().arithmetic.from);
    share_out_with_buffers(plan().numbers(), plan().threads, kPiece * width,
                           [&](const Share& share, std::byte* buffer) {
                             for (std::uint64_t first = share.begin; first < share.end; first += kPiece) {
                               const std::uint64_t size = std::min(kPiece, share.end - first);
                               for (std::uint64_t i = 0; i < size; ++i)
                                 std::memcpy(buffer + i * width, in(arrays, source(first + i)), width);
                               values.write(buffer, first, size);
                             }
                           });
  }

 private:
  static constexpr std::uint64_t kPiece = 1024;

  std::uint64_t source(std::uint64_t place) const {
    const std::uint64_t within = place % plan().count;
    return place - within + faro::apply(back_, within);
  }

  Permutation back_;
};

class TilesWay final : public ConvertedWay {
 public:
  TilesWay(const MovedValues& plan, const detail::TilesOfValues& tiles)
      : ConvertedWay(plan),
        box_(tiles.box),
        element_bits_(tiles.unit_bits_per_element),
        unit_bytes_(tiles.unit_bytes),
        program_(tiles.pass, tiles.unit_bytes,
                 std::min(widest_vector_bytes(tiles.unit_bytes), tiles.vector_bytes)) {}

  void run(const ValueArrays& arrays) const override {
    share_out_with_buffers(box_.boxes() * plan().batch, plan().threads, unit_bytes_ << box_.box_bits(),
                           [&](const Share& share, std::byte* buffer) {
                             for (std::uint64_t i = share.begin; i < share.end; ++i)
                               run_box(arrays, {.array = i / box_.boxes(), .number = i % box_.boxes()},
                                       buffer);
                           });
  }

 private:
  struct Box {
    std::uint64_t array = 0;
    f2::Word number = 0;
  };

  void run_box(const ValueArrays& arrays, const Box& box, std::byte* buffer) const {
    const std::uint64_t first = box.array * plan().count;
    const ValueSide values = side(arrays, first);
    const TileRange tiles{.begin = box.number << box_.tile_bits,
                          .end = (box.number + 1) << box_.tile_bits,
                          .fetches_ahead = true};
    const std::uint64_t row_bytes = unit_bytes_ << box_.row_bits;
    const std::uint64_t size = f2::unit(box_.row_bits - element_bits_);
    if (!reads()) run_tiles(program_, tiles, StoreKind::cached, in(arrays, first), buffer);
    for (f2::Word row = 0; row < box_.rows(); ++row) {
      std::byte* const at = buffer + row * row_bytes;
      fetch_row(in(arrays, first), {.array = box.array, .number = box.number + 1}, row);
      if (reads()) {
        values.read(box_.source.at(box.number, row) >> element_bits_, size, at);
      } else {
        values.write(at, box_.target.at(box.number, row) >> element_bits_, size);
      }
    }
    if (!reads()) return;
    std::byte* const to = out(arrays, first);
    const bool aligned = reinterpret_cast<std::uintptr_t>(to) % kMaxVectorBytes == 0;
    run_tiles(program_, tiles, plan().streamed && aligned ? StoreKind::streamed : StoreKind::cached, buffer,
              to);
  }

  // What the box after this one begins with, into the second-level cache, while this one is converted.
  void fetch_row(const std::byte* array, const Box& next, f2::Word row) const {
    if (next.number == box_.boxes()) return;
    const std::uint64_t width = bytes_of(plan().arithmetic.from);
    const std::byte* const from = array + (box_.source.at(next.number, row) >> element_bits_) * width;
    const std::uint64_t bytes = width << (box_.row_bits - element_bits_);
    for (std::uint64_t at = 0; at < bytes; at += kLineBytes) __builtin_prefetch(from + at, 0, 2);
  }

  layout::TileBox box_;
  int element_bits_;
  std::uint64_t unit_bytes_;
  TileProgram program_;
};

class PassesWay final : public ConvertedWay {
 public:
  PassesWay(const MovedValues& plan, const detail::PassesOfValues& passes)
      : ConvertedWay(plan), executor_(passes.plan), between_bytes_(passes.between_bytes) {}

  void run(const ValueArrays& arrays) const override {
    std::optional<io::Buffer> between;
    if (between_bytes_ != 0) between.emplace(between_bytes_);
    for (std::uint64_t array = 0; array < plan().batch; ++array) {
      const std::uint64_t first = array * plan().count;
      const ValueSide values = side(arrays, first);
      executor_.run_converted(in(arrays, first), out(arrays, first),
                              {.read = reads() ? &values : nullptr,
                               .written = reads() ? nullptr : &values,
                               .between = between ? between->data() : nullptr});
    }
  }

 private:
  Executor executor_;
  std::uint64_t between_bytes_;
};

class BufferWay final : public ConvertedWay {
 public:
  BufferWay(const MovedValues& plan, const detail::BufferOfValues& buffer)
      : ConvertedWay(plan), executor_(buffer.plan), arrays_(buffer.arrays) {
    if (buffer.rest) rest_.emplace(*buffer.rest);
  }

  void run(const ValueArrays& arrays) const override {
    const std::uint64_t groups = (plan().batch + arrays_ - 1) / arrays_;
    const std::uint64_t most = arrays_ * plan().count;
    share_out_with_buffers(groups, plan().threads, most * plan().moved_width(),
                           [&](const Share& share, std::byte* buffer) {
                             for (std::uint64_t group = share.begin; group < share.end; ++group) {
                               const std::uint64_t first = group * most;
                               run_group(arrays, first, std::min(most, plan().numbers() - first), buffer);
                             }
                           });
  }

 private:
  void run_group(const ValueArrays& arrays, std::uint64_t first, std::uint64_t numbers,
                 std::byte* buffer) const {
    const ValueSide values = side(arrays, first);
    const Executor& executor = numbers == arrays_ * plan().count ? executor_ : *rest_;
    if (reads()) {
      values.read(0, numbers, buffer);
      executor.run(buffer, out(arrays, first));
    } else {
      executor.run(in(arrays, first), buffer);
      values.write(buffer, 0, numbers);
    }
  }

  Executor executor_;
  std::optional<Executor> rest_;
  std::uint64_t arrays_;
};

class InPlaceWay final : public ConvertedWay {
 public:
  InPlaceWay(const MovedValues& plan, const detail::ValuesInPlace& way)
      : ConvertedWay(plan), executor_(way.plan) {}

  void run(const ValueArrays& arrays) const override {
    executor_.run_in_place(arrays.out);
    const ValueSide values = side(arrays, 0);
    constexpr std::uint64_t kPiece = 4096;
    const std::uint64_t numbers = plan().numbers();
    share_out((numbers + kPiece - 1) / kPiece, plan().threads, [&](std::uint64_t begin, std::uint64_t end) {
      const std::uint64_t first = begin * kPiece;
      values.write(out(arrays, first), first, std::min(end * kPiece, numbers) - first);
    });
  }

 private:
  Executor executor_;
};

struct MakeWay {
  const MovedValues& plan;
  const Target& one_thread;
  using Way = std::unique_ptr<const MovedSweep::Way>;

  Way operator()(const detail::ViewsOfValues& of) const { return std::make_unique<ViewsWay>(of, one_thread); }
  Way operator()(const detail::PlacesOfValues& of) const { return std::make_unique<PlacesWay>(plan, of); }
  Way operator()(const detail::TilesOfValues& of) const { return std::make_unique<TilesWay>(plan, of); }
  Way operator()(const detail::PassesOfValues& of) const { return std::make_unique<PassesWay>(plan, of); }
  Way operator()(const detail::BufferOfValues& of) const { return std::make_unique<BufferWay>(plan, of); }
  Way operator()(const detail::ValuesInPlace& of) const { return std::make_unique<InPlaceWay>(plan, of); }
};

}  // namespace

MovedSweep::MovedSweep(const MovedValues& plan, const Target& one_thread)
    : way_(std::visit(MakeWay{plan, one_thread}, plan.way)) {}
MovedSweep::MovedSweep(MovedSweep&&) noexcept = default;
MovedSweep& MovedSweep::operator=(MovedSweep&&) noexcept = default;
MovedSweep::~MovedSweep() = default;

void MovedSweep::run(const ValueArrays& arrays) const { way_->run(arrays); }

}  // namespace faro::cpu
