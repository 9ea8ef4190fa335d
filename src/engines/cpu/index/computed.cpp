// Maps that are computed: tiles through a buffer, or places one by one.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "engines/cpu/copy_kernel.hpp"
#include "engines/cpu/element_width.hpp"
#include "engines/cpu/pass_program.hpp"
#include "engines/cpu/team.hpp"
#include "permutation/computed_map.hpp"
#include "permutation/computed_sides.hpp"

namespace faro::cpu {
namespace {

using faro::detail::ComputedLeaf;
using faro::detail::ComputedPart;
using faro::detail::ComputedRun;
using faro::detail::ComputedSide;
using faro::detail::ComputedTiles;
using faro::detail::kStageBytes;

class ComputedProgram final : public ElementProgram {
 public:
  ComputedProgram(const CpuPass& pass, const detail::CpuComputed& computed)
      : ElementProgram(pass), map_(computed.map), undone_(map_.inverse()), tiles_(computed.tiles) {}

  void run(const Step& step) const override {
    // What is converted as it is written is so in the order of the output.
    const bool in_order = tiles_ == nullptr || (step.written != nullptr && !gathers());
    if (in_order) return with_width(element_bytes(), [&](auto width) { one_by_one(step, width); });
    with_width(element_bytes(), [&](auto width) { by_tiles(step, width); });
  }

 private:
  template <typename Width>
  void one_by_one(const Step& step, Width width) const {
    share_out(step.arrays * count(), threads(), [&](std::uint64_t begin, std::uint64_t end) {
      for_each_array(begin, end, count(), [&](std::uint64_t array, std::uint64_t first, std::uint64_t stop) {
        const std::byte* const in = step.in + array * array_bytes();
        if (step.written != nullptr) return values_one_by_one(*step.written, width, in, {first, stop, 0});
        std::byte* const out = step.out + array * array_bytes();
        for (std::uint64_t y = first; y < stop; ++y)
          width.move(in + undone_(y) * width.bytes(), out + y * width.bytes());
      });
      if (step.written != nullptr) finish_streams();
    });
  }

  template <typename Width>
  void values_one_by_one(const ValueSide& written, Width width, const std::byte* in,
                         const Share& places) const {
    std::array<std::byte, kStageBytes> stage;
    const std::uint64_t most = kStageBytes / width.bytes();
    for (std::uint64_t first = places.begin; first < places.end; first += most) {
      const std::uint64_t size = std::min(most, places.end - first);
      for (std::uint64_t k = 0; k < size; ++k)
        width.move(in + undone_(first + k) * width.bytes(), stage.data() + k * width.bytes());
      written.write(stage.data(), first, size);
    }
  }

  bool gathers() const { return faro::detail::is_ordered_side(map_, ComputedSide::output); }

  template <typename Width>
  void by_tiles(const Step& step, Width width) const {
    const std::uint64_t tile_bytes = tiles_->sizes().tile * width.bytes();
    const std::uint64_t of_array = count() / tiles_->sizes().tile;
    share_out_by_rank(step.arrays * of_array, threads(), [&](Share share) {
      const ComputedPart mine(*tiles_, element_bytes(), part(step, share.rank));
      const bool converts = step.read != nullptr || step.written != nullptr;
      std::vector<std::byte> converted(converts ? tile_bytes : 0);  // a tile in its order
      for (std::uint64_t number = share.begin; number < share.end; ++number) {
        const std::uint64_t array = number / of_array * array_bytes();
        const std::uint64_t tile = number % of_array;
        const std::uint64_t ordered = array + tile * tile_bytes;
        const std::span<const ComputedRun> runs =
            mine.runs().first(tiles_->tile(tile, mine.runs(), mine.leaves()));
        const std::uint64_t place = tile * tiles_->sizes().tile;
        if (gathers()) {
          read_runs(runs, step.in + array, mine.places());
          if (step.written != nullptr) {
            from_buffer(mine, width, converted.data());
            step.written->write(converted.data(), place, tiles_->sizes().tile);
          } else {
            from_buffer(mine, width, step.out + ordered);
          }
        } else {
          if (step.read != nullptr) step.read->read(place, tiles_->sizes().tile, converted.data());
          to_buffer(mine, width, step.read != nullptr ? converted.data() : step.in + ordered);
          write_runs(runs, mine.places(), step.out + array);
        }
      }
      if (step.written != nullptr) finish_streams();
    });
  }

  void read_runs(std::span<const ComputedRun> runs, const std::byte* array, std::byte* places) const {
    const std::uint64_t width = element_bytes();
    for (const ComputedRun& run : runs)
      std::memcpy(places + run.at * width, array + run.place * width, run.elements * width);
  }
  void write_runs(std::span<const ComputedRun> runs, const std::byte* places, std::byte* array) const {
    const std::uint64_t width = element_bytes();
    for (const ComputedRun& run : runs)
      std::memcpy(array + run.place * width, places + run.at * width, run.elements * width);
  }

  template <typename Width>
  void from_buffer(const ComputedPart& mine, Width width, std::byte* to) const {
    for (const ComputedLeaf& leaf : mine.leaves()) {
      const std::byte* const from = mine.places() + leaf.at * width.bytes();
      const std::uint16_t* const order = tiles_->order(leaf.order);
      for (std::uint64_t k = 0; k < tiles_->sizes().leaf; ++k, to += width.bytes())
        width.move(from + order[k] * width.bytes(), to);
    }
  }
  template <typename Width>
  void to_buffer(const ComputedPart& mine, Width width, const std::byte* from) const {
    for (const ComputedLeaf& leaf : mine.leaves()) {
      std::byte* const to = mine.places() + leaf.at * width.bytes();
      const std::uint16_t* const order = tiles_->order(leaf.order);
      for (std::uint64_t k = 0; k < tiles_->sizes().leaf; ++k, from += width.bytes())
        width.move(from, to + order[k] * width.bytes());
    }
  }

  Computed map_;
  Computed undone_;
  std::shared_ptr<const ComputedTiles> tiles_;
};

}  // namespace

Program computed_program(const CpuPass& pass) {
  return std::make_unique<ComputedProgram>(pass, std::get<detail::CpuComputed>(pass.kernel));
}

}  // namespace faro::cpu
