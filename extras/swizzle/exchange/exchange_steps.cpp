#include "exchange/exchange_steps.hpp"

#include <algorithm>

#include "faro/error.hpp"

namespace faro::exchange {
namespace {

// Functionals are chosen one by one, each from a list in order of preference, until they tell the bytes of every
// receiver apart, and the words of every sender.
class ColourChoice {
 public:
  ColourChoice(int dimension, const Rows& from, const Rows& to, const Rows& place)
      : dimension_(dimension), receiver_(kernel_of(to)), sender_(kernel_of(from)) {
    Rows all = place;
    all.insert(all.end(), from.begin(), from.end());
    same_ = f2::Subspace::span(dimension, kernel_of(all));
  }

  bool tells_bytes_apart() const { return receiver_.empty() && sender_deficit(sender_) == 0; }

  /// Whether g helps on every side that still needs it.
  bool helps(f2::Word g) const {
    if (!receiver_.empty() && !is_nonzero(receiver_, g)) return false;
    const int deficit = sender_deficit(sender_);
    return deficit == 0 || sender_deficit(cut(sender_, g)) < deficit;
  }

  void take(f2::Word g) {
    receiver_ = cut(receiver_, g);
    sender_ = cut(sender_, g);
    chosen_.push_back(g);
  }

  /// The first of the list that helps, or of all functionals there are.
  f2::Word choose(const Rows& list) {
    const auto found = std::find_if(list.begin(), list.end(), [&](f2::Word g) { return helps(g); });
    if (found != list.end()) return take(*found), *found;
    for (std::size_t i = 0; i < list.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j)
        if (helps(list[i] ^ list[j])) return take(list[i] ^ list[j]), chosen_.back();
    }
    for (f2::Word g = 1; g <= f2::low_mask(dimension_); ++g)
      if (helps(g)) return take(g), g;
    FARO_CHECK(!"two proper subspaces cover no space");
    return 0;
  }

 private:
  Rows kernel_of(const Rows& rows) const {
    return f2::Matrix::from_columns(dimension_, rows).transposed().kernel();
  }

  static bool is_nonzero(const Rows& basis, f2::Word g) {
    return std::any_of(basis.begin(), basis.end(), [&](f2::Word v) { return f2::parity(v & g); });
  }

  // The part of span(basis) on which g vanishes.
  static Rows cut(const Rows& basis, f2::Word g) {
    Rows result;
    const auto odd = std::find_if(basis.begin(), basis.end(), [&](f2::Word v) { return f2::parity(v & g); });
    for (auto v = basis.begin(); v != basis.end(); ++v)
      if (v != odd) result.push_back(f2::parity(*v & g) ? *v ^ *odd : *v);
    return result;
  }

  // Dimensions of what a sender would have to send in one word, that is not the same byte.
  int sender_deficit(const Rows& sender) const {
    return f2::sum(f2::Subspace::span(dimension_, sender), same_).dimension() - same_.dimension();
  }

  int dimension_;
  Rows receiver_;
  Rows sender_;
  f2::Subspace same_;  // differences of target bytes that are one source byte
  Rows chosen_;
};

// Each of `wanted` as a sum of `given`: its coordinates.
std::vector<f2::Word> in_terms_of(const Rows& given, const Rows& wanted, int dimension) {
  const f2::Matrix basis = f2::Matrix::from_columns(dimension, given);
  std::vector<f2::Word> coordinates;
  coordinates.reserve(wanted.size());
  for (const f2::Word w : wanted) {
    const auto solution = basis.solve(w);
    FARO_CHECK(solution.has_value());
    coordinates.push_back(*solution);
  }
  return coordinates;
}

Rows joined(std::initializer_list<const Rows*> parts) {
  Rows all;
  for (const Rows* part : parts) all.insert(all.end(), part->begin(), part->end());
  return all;
}

// The step's packets: words that a receiver takes from one colour each. Rows of functionals of a byte.
struct Packets {
  Rows byte;    // of its place in the packet, two at most
  Rows source;  // the low bits of the colour, which with the receiver tell the sender
  Rows rest;    // the high bits
  bool keeps = false;

  int colour_bits() const { return static_cast<int>(source.size() + rest.size()); }
};

Packets choose_packets(const ExchangeState& state, const Rows& to, const ExchangeState& target, int dimension,
                       const Preference& preference, std::mt19937_64& random) {
  const Rows place = joined({&state.byte, &state.word});
  ColourChoice choice(dimension, state.lane, to, place);
  const StepRanks ranks = step_ranks(dimension, state.lane, to);
  Packets packets;
  packets.keeps = ranks.rho == ranks.k;
  // Who sends: what the sender's lanes say beyond the receiver's.
  Rows candidates;
  for (std::size_t i = 0; i < to.size(); ++i) candidates.push_back(state.lane[i] ^ to[i]);
  if (!packets.keeps) candidates = joined({&candidates, &state.lane});
  f2::Subspace known = f2::Subspace::span(dimension, to);
  const f2::Subspace space = f2::Subspace::span(dimension, candidates);
  const f2::Subspace senders = f2::Subspace::span(dimension, state.lane);
  f2::Subspace beyond_senders = senders;
  const auto take_source = [&](f2::Word g) {
    known.insert(g);
    beyond_senders.insert(g);
    choice.take(g);
    packets.source.push_back(g);
  };
  while (static_cast<int>(packets.source.size()) < ranks.k) {
    const auto is_new = [&](f2::Word g) {
      return g != 0 && !known.contains(g) && (packets.keeps || !beyond_senders.contains(g));
    };
    auto found = std::find_if(candidates.begin(), candidates.end(), is_new);
    if (found == candidates.end()) {
      // A sum of those: the space is larger than the two that are known together.
      for (f2::Word x = 1; x < f2::unit(space.dimension()) && found == candidates.end(); ++x) {
        f2::Word sum = 0;
        for (std::size_t i = 0; i < space.basis().size(); ++i)
          if (f2::bit(x, static_cast<int>(i))) sum ^= space.basis()[i];
        if (is_new(sum)) found = candidates.insert(candidates.end(), sum);
      }
    }
    if (found == candidates.end())  // senders that many lanes hear have not all of the rank
      found = std::find_if(candidates.begin(), candidates.end(), [&](f2::Word g) { return !known.contains(g); });
    FARO_CHECK(found != candidates.end());
    take_source(*found);
  }
  Rows bytes = preference.target_bytes ? joined({&target.byte, &state.byte}) : joined({&state.byte, &target.byte});
  Rows words = preference.target_words ? joined({&target.word, &state.word}) : joined({&state.word, &target.word});
  if (preference.shuffled) std::shuffle(words.begin(), words.end(), random);
  const Rows order = joined({&bytes, &words});
  constexpr std::size_t kBitsOfWord = 2;
  while (!choice.tells_bytes_apart()) {
    const f2::Word g = choice.choose(order);
    (packets.byte.size() < kBitsOfWord ? packets.byte : packets.rest).push_back(g);
  }
  return packets;
}

// Places of a packet's bytes in the sender: columns of packet byte, colour and lane, as coordinates of each row.
WantedWord sent_word(const ExchangeState& state, const Packets& packets, int dimension, f2::Word colour) {
  const Rows given = joined({&packets.byte, &packets.source, &packets.rest, &state.lane});
  const auto bytes = static_cast<int>(packets.byte.size());
  const int colours = packets.colour_bits();
  const auto function = [&](const Rows& rows) {
    PlaceFunction place;
    const std::vector<f2::Word> coordinates = in_terms_of(given, rows, dimension);
    for (std::size_t bit = 0; bit < rows.size(); ++bit) {
      const auto at = [&](int i) { return f2::bit(coordinates[bit], i) ? f2::unit(static_cast<int>(bit)) : 0; };
      for (int i = 0; i < bytes; ++i) place.of_byte[static_cast<std::size_t>(i)] |= at(i);
      for (int i = 0; i < colours; ++i) place.constant ^= f2::bit(colour, i) ? at(bytes + i) : 0;
      for (std::size_t j = 0; j < state.lane.size(); ++j)
        place.of_lane[j] |= at(bytes + colours + static_cast<int>(j));
    }
    return place;
  };
  return {.byte = function(state.byte), .word = function(state.word)};
}

// The lane that a receiver asks for a colour.
LaneValue asked_lane(const ExchangeState& state, const Rows& to, const Packets& packets, int dimension,
                     f2::Word colour) {
  const Rows given = joined({&packets.source, &to});
  const std::vector<f2::Word> coordinates = in_terms_of(given, state.lane, dimension);
  const auto sources = static_cast<int>(packets.source.size());
  LaneValue lane;
  for (std::size_t bit = 0; bit < coordinates.size(); ++bit) {
    for (int i = 0; i < sources; ++i)
      if (f2::bit(colour, i) && f2::bit(coordinates[bit], i)) lane.constant ^= 1U << bit;
    for (std::size_t j = 0; j < to.size(); ++j)
      if (f2::bit(coordinates[bit], sources + static_cast<int>(j))) lane.bits[j] |= 1U << bit;
  }
  return lane;
}

}  // namespace

Step make_step(ProgramBuilder& builder, ExchangeState& state, std::vector<int>& family, const Rows& to,
               const ExchangeState& target, int dimension, int lane_bits, const Preference& preference,
               std::mt19937_64& random) {
  const Packets packets = choose_packets(state, to, target, dimension, preference, random);
  Step step{.sources = 1 << packets.source.size(), .shuffles = 0, .keeps = packets.keeps};
  std::vector<int> received;
  for (f2::Word colour = 0; colour < f2::unit(packets.colour_bits()); ++colour) {
    const int sent = builder.make(family, sent_word(state, packets, dimension, colour));
    const LaneValue asked = asked_lane(state, to, packets, dimension, colour);
    received.push_back(builder.shuffle(sent, asked));
    if (asked.constant != 0 || !asked.is_exclusive_or(lane_bits)) ++step.shuffles;
  }
  family = std::move(received);
  state = {.byte = packets.byte, .word = joined({&packets.source, &packets.rest}), .lane = to};
  state.byte.resize(2, 0);
  return step;
}

}  // namespace faro::exchange
