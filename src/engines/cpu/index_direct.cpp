// Gather and scatter by the index array, with the elements some way ahead on their way: the loop that all
// others are measured against.
#include <algorithm>

#include "engines/cpu/cache_line.hpp"
#include "engines/cpu/copy_kernel.hpp"
#include "engines/cpu/element_width.hpp"
#include "engines/cpu/index_program.hpp"
#include "engines/cpu/team.hpp"

namespace faro::cpu {
namespace {

constexpr std::uint64_t kAhead = 32;  // elements
// Smaller arrays are near enough for no fetching ahead.
constexpr std::uint64_t kNearBytes = std::uint64_t{128} << 10;

// One thread's part of one array.
struct Part {
  const std::byte* in;
  std::byte* out;
  std::uint64_t first;
  std::uint64_t last;
  std::uint64_t count;
  bool fetches;  // ahead
  bool streamed;
};

template <typename Width, typename Entry>
void gather(Width width, const Entry* entries, const Part& part) {
  const std::uint64_t bytes = width.bytes();
  const std::uint64_t fetched =
      part.fetches && part.count > kAhead ? std::min(part.last, part.count - kAhead) : part.first;
  std::uint64_t i = part.first;
  const auto move = [&](std::uint64_t at) {
    const std::byte* const from = part.in + entries[at] * bytes;
    // A streamed store is worth its price where it fills a line.
    if (bytes >= kLineBytes && part.streamed) {
      copy_streamed(from, part.out + at * bytes, bytes);
    } else {
      width.move(from, part.out + at * bytes);
    }
  };
  for (; i < fetched; ++i) {
    prefetch_element(part.in + entries[i + kAhead] * bytes, bytes);
    move(i);
  }
  for (; i < part.last; ++i) move(i);
}

template <typename Width, typename Entry>
void scatter(Width width, const Entry* entries, const Part& part) {
  const std::uint64_t bytes = width.bytes();
  const std::uint64_t fetched =
      part.fetches && part.count > kAhead ? std::min(part.last, part.count - kAhead) : part.first;
  std::uint64_t i = part.first;
  if (bytes >= kLineBytes && part.streamed) {
    for (; i < part.last; ++i) copy_streamed(part.in + i * bytes, part.out + entries[i] * bytes, bytes);
    return;
  }
  for (; i < fetched; ++i) {
    __builtin_prefetch(part.out + entries[i + kAhead] * bytes, 1, 2);
    width.move(part.in + i * bytes, part.out + entries[i] * bytes);
  }
  for (; i < part.last; ++i) width.move(part.in + i * bytes, part.out + entries[i] * bytes);
}

class IndexDirectProgram final : public IndexProgram {
 public:
  IndexDirectProgram(const IndexJob& job, Indexed indexed)
      : IndexProgram(job), indexed_(std::move(indexed)) {}

  void run(const std::byte* in, std::byte* out, std::byte* /*workspace*/) const override {
    if (!indexed_.entries64().empty()) {
      run_by(indexed_.entries64().data(), in, out);
    } else {
      run_by(indexed_.entries32().data(), in, out);
    }
  }

 private:
  template <typename Entry>
  void run_by(const Entry* entries, const std::byte* in, std::byte* out) const {
    const int team = useful_threads(job().threads, job().total_bytes());
    share_out(job().batch * job().count, team, [&](std::uint64_t begin, std::uint64_t end) {
      for_each_array(begin, end, job().count,
                     [&](std::uint64_t array, std::uint64_t first, std::uint64_t last) {
                       const Part part{.in = in + array * job().array_bytes(),
                                       .out = out + array * job().array_bytes(),
                                       .first = first,
                                       .last = last,
                                       .count = job().count,
                                       .fetches = job().array_bytes() > kNearBytes,
                                       .streamed = job().streamed()};
                       with_width(job().element_bytes, [&](auto width) {
                         if (indexed_.direction() == Direction::gather) {
                           gather(width, entries, part);
                         } else {
                           scatter(width, entries, part);
                         }
                       });
                     });
      finish_streams();
    });
  }

  Indexed indexed_;
};

}  // namespace

Program direct_program(const IndexJob& job, Indexed indexed) {
  return std::make_unique<IndexDirectProgram>(job, std::move(indexed));
}

}  // namespace faro::cpu
