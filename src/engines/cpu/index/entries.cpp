// Gather and scatter by the index array, with the elements some way ahead on their way: the loop that all
// others are measured against.
#include <algorithm>
#include <numeric>
#include <utility>

#include "engines/cpu/copy_kernel.hpp"
#include "engines/cpu/element_width.hpp"
#include "engines/cpu/pass_program.hpp"
#include "engines/cpu/team.hpp"
#include "faro/error.hpp"

namespace faro::cpu {
namespace {

constexpr std::uint64_t kValueBufferBytes = 8192;

// One thread's part of one array.
struct Part {
  const std::byte* in;
  std::byte* out;
  std::uint64_t first;
  std::uint64_t last;
  std::uint64_t count;
  bool fetches;  // ahead
  bool streamed;
  std::uint64_t origin = 0;  // of the side that is gone along in order, where its array begins
};

template <typename Width, typename Entry>
void gather(Width width, const Entry* entries, const Part& part) {
  const std::uint64_t bytes = width.bytes();
  const std::uint64_t ahead = elements_ahead(bytes);
  const std::uint64_t fetched =
      part.fetches && part.count > ahead ? std::min(part.last, part.count - ahead) : part.first;
  std::uint64_t i = part.first;
  const auto move = [&](std::uint64_t at) {
    const std::byte* const from = part.in + entries[at] * bytes;
    // A streamed store is worth its price where it fills a line.
    if (bytes >= kLineBytes && part.streamed) {
      copy_streamed(from, part.out + (at - part.origin) * bytes, bytes);
    } else {
      width.move(from, part.out + (at - part.origin) * bytes);
    }
  };
  for (; i < fetched; ++i) {
    prefetch_element(part.in + entries[i + ahead] * bytes, bytes);
    move(i);
  }
  for (; i < part.last; ++i) move(i);
}

template <typename Width, typename Entry>
void scatter(Width width, const Entry* entries, const Part& part) {
  const std::uint64_t bytes = width.bytes();
  const std::uint64_t ahead = elements_ahead(bytes);
  const std::uint64_t fetched =
      part.fetches && part.count > ahead ? std::min(part.last, part.count - ahead) : part.first;
  std::uint64_t i = part.first;
  const auto source = [&](std::uint64_t at) { return part.in + (at - part.origin) * bytes; };
  if (bytes >= kLineBytes && part.streamed) {
    for (; i < part.last; ++i) copy_streamed(source(i), part.out + entries[i] * bytes, bytes);
    return;
  }
  for (; i < fetched; ++i) {
    __builtin_prefetch(part.out + entries[i + ahead] * bytes, 1, 3);
    width.move(source(i), part.out + entries[i] * bytes);
  }
  for (; i < part.last; ++i) width.move(source(i), part.out + entries[i] * bytes);
}

class EntriesProgram final : public ElementProgram {
 public:
  EntriesProgram(const CpuPass& pass, Indexed indexed)
      : ElementProgram(pass),
        indexed_(std::move(indexed)),
        entries_(std::get<detail::CpuEntries>(pass.kernel)) {}

  void run(const Step& step) const override {
    if (!indexed_.entries64().empty()) {
      run_by(indexed_.entries64().data(), step);
    } else {
      run_by(indexed_.entries32().data(), step);
    }
  }

 private:
  template <typename Entry>
  void run_by(const Entry* entries, const Step& step) const {
    share_out(step.arrays * count(), threads(), [&](std::uint64_t begin, std::uint64_t end) {
      for_each_array(begin, end, count(), [&](std::uint64_t array, std::uint64_t first, std::uint64_t last) {
        const Part part{.in = step.in + array * array_bytes(),
                        .out = step.out + array * array_bytes(),
                        .first = first,
                        .last = last,
                        .count = count(),
                        .fetches = entries_.fetches_ahead,
                        .streamed = streamed()};
        with_width(element_bytes(), [&](auto width) {
          if (step.read != nullptr || step.written != nullptr) {
            move_values(width, entries, part, step);
          } else if (entries_.way == Way::backwards) {
            gather(width, entries, part);
          } else {
            scatter(width, entries, part);
          }
        });
      });
      finish_streams();
    });
  }

  // By way of a buffer in the first-level cache, on the side that is gone along in order.
  template <typename Width, typename Entry>
  void move_values(Width width, const Entry* entries, const Part& all, const Step& step) const {
    alignas(kLineBytes) std::byte buffer[kValueBufferBytes];
    const std::uint64_t most = kValueBufferBytes / width.bytes();
    for (std::uint64_t first = all.first; first < all.last; first += most) {
      Part part = all;
      part.first = part.origin = first;
      part.last = std::min(all.last, first + most);
      const std::uint64_t size = part.last - first;
      if (entries_.way == Way::backwards) {
        FARO_CHECK(step.written != nullptr);
        part.out = buffer;
        gather(width, entries, part);
        step.written->write(buffer, first, size);
      } else {
        FARO_CHECK(step.read != nullptr);
        step.read->read(first, size, buffer);
        part.in = buffer;
        scatter(width, entries, part);
      }
    }
  }

  Indexed indexed_;
  detail::CpuEntries entries_;
};

// The array whose gather a schedule is: what it does to 0 .. N - 1.
Indexed gather_of(const schedule::IndexSchedule& schedule) {
  const auto run = [&](auto index) {
    std::vector<decltype(index)> from(schedule.count);
    std::vector<decltype(index)> to(schedule.count);
    std::iota(from.begin(), from.end(), decltype(index){0});
    schedule::run_by_definition(schedule, reinterpret_cast<const std::byte*>(from.data()),
                                reinterpret_cast<std::byte*>(to.data()), sizeof(index));
    return Indexed(std::move(to), Direction::gather);
  };
  if (schedule.count <= std::uint64_t{1} << 32) return run(std::uint32_t{0});
  return run(std::uint64_t{0});
}

}  // namespace

Program entries_program(const CpuPass& pass, const SharedSchedule& schedule) {
  if (std::get<detail::CpuEntries>(pass.kernel).from_schedule) {
    return std::make_unique<EntriesProgram>(pass, gather_of(*schedule));
  }
  const Indexed& indexed = std::get<schedule::DirectSchedule>(schedule->what).indexed;
  const bool as_it_is = indexed.direction() == schedule->applied;
  return std::make_unique<EntriesProgram>(pass, as_it_is ? indexed : indexed.inverse());
}

}  // namespace faro::cpu
