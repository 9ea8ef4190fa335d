// Two to eight rows that are interleaved, and what is interleaved taken apart: pixels of a few channels.
//
//     interleaved   r g b r g b r g b r g b ...     <--->     planes   r r r r ...
//                                                                      g g g g ...
//                                                                      b b b b ...
//
// A register of 16 bytes of the one side has elements of every register of the other: each is looked up in
// all of them, and what is not there is zero. That is the same for every width and number of channels, and
// takes as many lookups a register as there are channels, fewer than a copy of a line has time for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engines/cpu/element_width.hpp"
#include "plan/cpu/cpu_workspace.hpp"

namespace faro::cpu {

/// What goes from one side to the other.
struct ChannelShape {
  std::uint64_t width = 1;     // bytes of an element: 1, 2, 4 or 8
  std::uint64_t channels = 2;  // to detail::kMostChannels
  bool parts = false;          // the input is interleaved; else the output
};

/// Looks channels up; made once a program.
class Channels {
 public:
  explicit Channels(const ChannelShape& shape);

  struct Move {
    const std::byte* from = nullptr;
    std::byte* to = nullptr;
    const std::int64_t* planes = nullptr;  // bytes from the first plane to each, on their side
    std::uint64_t count = 0;               // of a plane's elements
  };

  /// Through the caches.
  void move(const Move& move) const;

  /// Past them: straight to whole lines of the output where all that is written meets lines together, else by
  /// way of `stage`, which has detail::channel_stage_bytes().
  void stream(const Move& move, std::byte* stage) const;

  /// By way of `stage`, part by part: write(from, to, bytes) of every run that lies together on both sides.
  template <typename Write>
  void by_stage(const Move& all, std::byte* stage, const Write& write) const {
    const std::uint64_t most = detail::kChannelStageBytes / pixel_bytes() / kLineBytes * kLineBytes;
    std::int64_t staged[detail::kMostChannels] = {};
    for (std::uint64_t channel = 0; channel < shape_.channels; ++channel)
      staged[channel] = static_cast<std::int64_t>(channel * detail::stage_pitch(most * shape_.width));
    for (std::uint64_t done = 0; done < all.count; done += most) {
      Move part = rest_of(all, done);
      part.count = std::min(part.count, most);
      std::byte* const to = part.to;
      part.to = stage;
      if (shape_.parts) part.planes = staged;
      move(part);
      if (!shape_.parts) {
        write(stage, to, part.count * pixel_bytes());
        continue;
      }
      for (std::uint64_t channel = 0; channel < shape_.channels; ++channel)
        write(stage + staged[channel], to + all.planes[channel], part.count * shape_.width);
    }
  }

 private:
  std::uint64_t pixel_bytes() const { return shape_.width * shape_.channels; }
  std::uint64_t written_step() const { return shape_.parts ? shape_.width : pixel_bytes(); }
  std::uint64_t read_step() const { return shape_.parts ? pixel_bytes() : shape_.width; }
  Move rest_of(const Move& move, std::uint64_t done) const;
  void move_plainly(const Move& move) const;
  std::uint64_t before_lines(const Move& move) const;

  bool move_lines(const Move& move, bool streamed) const;

  ChannelShape shape_;
  std::vector<std::uint8_t> lookups_;  // of each block that is written in each that is read
};

}  // namespace faro::cpu
