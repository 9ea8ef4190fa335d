// Where the digits of a box lie in shared memory: a step each, with pads against bank conflicts.
//
//     box 4 x 4, 4 banks, no pad       bank  0 1 2 3      a column of it is one bank: 4 turns
//                                            0 1 2 3
//     rows 5 apart                           0 1 2 3
//                                            1 2 3 0      a column is all banks: 1 turn
//
// Digits are laid one outside the other in the order in which the input is read, and between any two there
// may be a pad, of whole vectors so that these stay aligned. The pads are found by descent, joint after
// joint, each trial counted: for a few warps of each side, the turns that their lanes take.
//
// Runs of the input lie as far past a sector of shared memory as in the input, if banks permit: a copy past
// registers asks the second-level cache for a sector of the input once for each sector of shared memory that
// it fills a part of (docs/notes/axes-experiments.md). Twice as many lanes then take neighbouring
// rows of the output, so that rows a sector apart meet in no bank.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "layout/box_search.hpp"

namespace faro::layout::detail {
namespace {

constexpr std::uint32_t kBoxLanes = 32;
constexpr std::uint32_t kBoxBankBytes = 4;
constexpr std::uint32_t kBoxRowBytes = 128;  // of all banks
constexpr std::size_t kMostParts = 40;

// One lane's access: a digit of each part.
struct LaneDigits {
  std::array<std::uint32_t, kMostParts> digit{};
};

// Accesses of one phase of the hardware.
struct BankPhase {
  std::vector<LaneDigits> lanes;
  std::uint32_t bytes = 4;  // of an access
};

class BankSample {
 public:
  explicit BankSample(const StridedBox& box) : box_(box), threads_(box.threads) {
    sample_loads();
    sample_stores();
  }

  /// Turns over all phases; at best one each. Where they cannot be below `limit`, something not below it.
  std::uint32_t turns(const std::vector<BoxPart>& parts,
                      std::uint32_t limit = std::numeric_limits<std::uint32_t>::max()) const {
    std::uint32_t sum = 0;
    auto left = static_cast<std::uint32_t>(phases_.size());
    for (const BankPhase& phase : phases_) {
      if (sum + left >= limit) return sum + left;
      --left;
      sum += turns_of(phase, parts, limit - sum - left);
    }
    return sum;
  }
  std::size_t phases() const { return phases_.size(); }

 private:
  void split(std::uint32_t number, const std::vector<int>& axes, LaneDigits& lane) const {
    for (const int axis : axes) {
      bool moves = false;
      for (const std::size_t i : ordered_) {
        const BoxPart& part = box_.parts[i];
        if (part.axis != axis) continue;
        lane.digit[i] = number % part.extent;
        number /= part.extent;
        moves = true;
      }
      if (!moves) number /= box_.extent[static_cast<std::size_t>(axis)];
    }
  }

  void add(const std::vector<LaneDigits>& lanes, std::uint32_t bytes) {
    const std::uint32_t together = kBoxLanes * kBoxBankBytes / std::max(bytes, kBoxBankBytes);
    for (std::size_t first = 0; first < lanes.size(); first += together) {
      const std::size_t last = std::min(lanes.size(), first + together);
      phases_.push_back({.lanes = {lanes.begin() + static_cast<std::ptrdiff_t>(first),
                                   lanes.begin() + static_cast<std::ptrdiff_t>(last)},
                         .bytes = bytes});
    }
  }

  // Vectors of the input's run, then rows.
  void sample_loads() {
    order_parts();
    const auto vector = static_cast<std::uint32_t>(box_.in.vector);
    const std::uint32_t slots = box_.in.slots();
    const std::uint32_t groups = std::max(1U, threads_ / slots);
    const auto rows = static_cast<std::uint32_t>(box_.units() / box_.in.units);
    std::vector<LaneDigits> lanes;
    for (std::uint32_t thread = 0; thread < kBoxLanes; ++thread) {
      const std::uint32_t group = thread / slots;
      if (group >= std::min(groups, rows)) continue;
      LaneDigits lane;
      split(thread % slots * vector / static_cast<std::uint32_t>(box_.words), box_.in.run, lane);
      split(group, box_.in.rest, lane);
      lanes.push_back(lane);
    }
    add(lanes, vector * static_cast<std::uint32_t>(box_.unit_bytes));
  }

  void sample_stores() {
    const std::uint32_t near = box_.near;
    const auto vector = static_cast<std::uint32_t>(box_.out.vector);
    const std::uint32_t slots = box_.out.slots();
    const std::uint32_t groups = std::max(1U, threads_ / (slots * near));
    const auto rows =
        static_cast<std::uint32_t>(box_.units() / box_.out.units) / static_cast<std::uint32_t>(box_.words);
    const std::uint32_t warps = threads_ / kBoxLanes;
    for (const std::uint32_t warp : {0U, warps / 2 + 1}) {
      std::vector<LaneDigits> lanes;
      for (std::uint32_t thread = warp * kBoxLanes; thread < (warp + 1) * kBoxLanes; ++thread) {
        const std::uint32_t slot = thread / near % slots;
        const std::uint32_t group = thread / near / slots;
        const std::uint32_t row = group * near + thread % near;
        if (group >= groups || row >= rows || slot * vector >= box_.out.units) continue;
        LaneDigits lane;
        split(slot * vector, box_.out.run, lane);
        split(row, box_.out.rest, lane);
        lanes.push_back(lane);
      }
      if (!lanes.empty()) add(lanes, static_cast<std::uint32_t>(box_.word_bytes()));
    }
  }

  // Parts by their axis's own digits, fastest first.
  void order_parts() {
    ordered_.resize(box_.parts.size());
    for (std::size_t i = 0; i < ordered_.size(); ++i) ordered_[i] = i;
    std::stable_sort(ordered_.begin(), ordered_.end(), [this](std::size_t a, std::size_t b) {
      return box_.parts[a].step < box_.parts[b].step;
    });
  }

  // Those of one phase, or `enough` of them.
  std::uint32_t turns_of(const BankPhase& phase, const std::vector<BoxPart>& parts,
                         std::uint32_t enough) const {
    // Accesses of up to a bank's width meet in banks, wider ones in groups of banks.
    const std::uint32_t wide = std::max(phase.bytes, kBoxBankBytes);  // a power of two, as words are
    const std::uint32_t banks = kBoxRowBytes / wide;
    const int word_bits = std::countr_zero(static_cast<std::uint32_t>(box_.word_bytes()));
    const int wide_bits = std::countr_zero(wide);
    std::array<std::array<std::uint32_t, kBoxLanes>, kBoxLanes> met;
    std::array<std::uint32_t, kBoxLanes> count{};
    std::uint32_t most = 0;
    for (const LaneDigits& lane : phase.lanes) {
      std::uint32_t place = 0;
      for (std::size_t i = 0; i < parts.size(); ++i) place += lane.digit[i] * parts[i].place;
      const std::uint32_t id = place << word_bits >> wide_bits;
      const std::uint32_t bank = id & (banks - 1);
      auto& ids = met[bank];
      if (std::find(ids.begin(), ids.begin() + count[bank], id) != ids.begin() + count[bank]) continue;
      ids[count[bank]++] = id;
      most = std::max(most, count[bank]);
      if (most >= enough) return most;
    }
    return most;
  }

  const StridedBox& box_;
  std::uint32_t threads_;
  std::vector<std::size_t> ordered_;
  std::vector<BankPhase> phases_;
};

// Places from pads; the words that the box then has.
std::uint32_t place_parts(std::vector<BoxPart>& parts, const std::vector<std::uint32_t>& pads) {
  std::uint32_t next = 1;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    next += pads[i] + parts[i].gap;
    next += (parts[i].residue - next) % parts[i].modulus;
    parts[i].place = next;
    next *= parts[i].extent;
  }
  return next;
}

// The same box with rows as far past sectors of shared memory as of the input; nothing where they are not
// read by vectors, or not written by sectors. Nor for bytes, and for what is read by less than 4 bytes: the
// turns cost more than is saved (docs/notes/axes-experiments.md).
std::optional<StridedBox> at_sectors(const StridedBox& box) {
  const auto unit = static_cast<std::uint64_t>(box.unit_bytes);
  if (box.ragged || box.unit_bytes == 1 || box.word_bytes() < 4 || box.in.run.empty() ||
      box.in.vector * box.unit_bytes != static_cast<int>(kBoxVector) ||
      box.out.units * unit % kBoxSector != 0)
    return std::nullopt;
  StridedBox result = box;
  result.skewed = box.in.alignment * unit % kBoxSector != 0;
  const auto words = static_cast<std::int64_t>(box.words);
  const std::uint32_t sector = kBoxSector / static_cast<std::uint32_t>(box.word_bytes());
  for (BoxPart& part : result.parts) {
    if (!part.pad) continue;
    const std::int64_t stride = box.axes[at(part.axis)].in * static_cast<std::int64_t>(part.step) / words;
    part.modulus = sector;
    part.residue = static_cast<std::uint32_t>(stride) % sector;
  }
  // Rows that follow one another in the output as the words of a sector do in the input.
  const std::uint64_t wanted = kBoxSector / unit;
  std::uint64_t units = 1;
  std::size_t axes = 0;
  while (axes < box.in.run.size() && units % wanted != 0) units *= box.extent[at(box.in.run[axes++])];
  const std::vector<int>& rest = box.out.rest;
  const bool follow =
      units % wanted == 0 && axes <= rest.size() &&
      std::equal(box.in.run.begin(), box.in.run.begin() + static_cast<std::ptrdiff_t>(axes), rest.begin());
  if (follow && box.out.slots() * sector <= box.threads) result.near = sector;
  return result;
}

// Pads of multiples of `grain` words.
bool place_box(StridedBox& box, std::uint32_t most_words, std::uint32_t grain) {
  const BankSample sample(box);
  std::vector<std::uint32_t> pads(box.parts.size(), 0);
  // What vectors of ragged rows reach past the last, and begin after the first.
  const std::uint32_t over = box.ragged ? 3 * grain : 0;
  if (most_words < over) return false;
  most_words -= over;
  const std::uint32_t plain = place_parts(box.parts, pads);
  if (plain > most_words) return false;
  std::uint32_t best = sample.turns(box.parts);
  const auto least = static_cast<std::uint32_t>(sample.phases());
  constexpr std::uint32_t kMostPad = 9;  // grains; every residue of the banks' vectors
  bool moved = true;
  for (int round = 0; round < 2 && moved && best > least; ++round) {
    moved = false;
    for (std::size_t joint = 0; joint < pads.size() && best > least; ++joint) {
      if (!box.parts[joint].pad) continue;
      std::uint32_t kept = pads[joint];
      for (std::uint32_t pad = 0; pad < kMostPad && best > least; ++pad) {
        pads[joint] = pad * grain;
        const std::uint32_t words = place_parts(box.parts, pads);
        if (words > most_words) break;
        const std::uint32_t turns = sample.turns(box.parts, best);
        if (turns >= best) continue;
        best = turns;
        kept = pads[joint];
        moved = true;
      }
      pads[joint] = kept;
    }
  }
  box.shared_words = place_parts(box.parts, pads) + over;
  if (box.ragged) box.shared_words = (box.shared_words + 2 * grain - 1) / (2 * grain) * (2 * grain);
  if (box.shared_words + box.halo_words() > most_words + over) return false;
  box.congestion = static_cast<double>(best) / static_cast<double>(least);
  return true;
}

}  // namespace

bool lay_out(StridedBox& box, std::uint32_t most_words) {
  if (box.parts.size() > kMostParts) return false;
  constexpr double little = 1.2;  // turns, over those without conflict
  auto wide = at_sectors(box);
  if (wide && place_box(*wide, most_words, kBoxSector / static_cast<std::uint32_t>(box.word_bytes())) &&
      wide->congestion <= little) {
    box = *std::move(wide);
    return true;
  }
  return place_box(box, most_words, box.grain());
}

}  // namespace faro::layout::detail
