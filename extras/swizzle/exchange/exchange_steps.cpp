#include "exchange/exchange_steps.hpp"

#include <algorithm>

#include "faro/error.hpp"

namespace faro::exchange {
namespace {

// Functionals are chosen one by one, each from a list in order of preference, until they tell the bytes of
// every receiver apart, and the words of every sender.
class ColourChoice {
 public:
  ColourChoice(int dimension, const Rows& from, const Rows& to, const Rows& place)
      : dimension_(dimension),
        receiver_(kernel_of(to, dimension)),
        sender_(kernel_of(from, dimension)),
        same_(f2::Subspace::span(dimension, kernel_of(joined({&place, &from}), dimension))) {}

  bool is_done() const { return receiver_.empty() && left_to_tell(sender_) == 0; }

  void take(f2::Word g) {
    receiver_ = where_zero(receiver_, g);
    sender_ = where_zero(sender_, g);
  }

  /// The first that helps of the list, of sums of two of it, of all that there are.
  f2::Word find(const Rows& list) const {
    for (const f2::Word g : list)
      if (helps(g)) return g;
    for (std::size_t i = 0; i < list.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (helps(list[i] ^ list[j])) return list[i] ^ list[j];
    f2::Word g = 1;
    while (g < f2::unit(dimension_) && !helps(g)) ++g;
    FARO_CHECK(g < f2::unit(dimension_));  // two proper subspaces cover no space
    return g;
  }

 private:
  // On every side that still needs it.
  bool helps(f2::Word g) const {
    if (!receiver_.empty() && !is_nonzero_on(receiver_, g)) return false;
    const int left = left_to_tell(sender_);
    return left == 0 || left_to_tell(where_zero(sender_, g)) < left;
  }

  // Dimensions of what a sender would have to send in one word, that is not the same byte.
  int left_to_tell(const Rows& sender) const {
    return f2::sum(f2::Subspace::span(dimension_, sender), same_).dimension() - same_.dimension();
  }

  int dimension_;
  Rows receiver_;
  Rows sender_;
  f2::Subspace same_;  // differences of target bytes that are one source byte
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

// The step's packets: words that a receiver takes from one colour each. Rows of functionals of a byte.
struct Packets {
  Rows byte;    // of its place in the packet, two at most
  Rows source;  // the low bits of the colour, which with the receiver tell the sender
  Rows rest;    // the high bits

  int colour_bits() const { return static_cast<int>(source.size() + rest.size()); }
};

// Who sends: what the senders' lanes say beyond the receivers'. Where a lane is one of its own sources these
// are the differences of both, which are zero for its own words; else each is news to the sender as well.
Rows choose_sources(int dimension, const Rows& from, const Rows& to) {
  const StepRanks ranks = step_ranks(dimension, from, to);
  const bool keeps = ranks.rho == ranks.k;
  Rows differences = from;
  for (std::size_t i = 0; i < to.size(); ++i) differences[i] ^= to[i];
  const Rows candidates = keeps ? differences : joined({&differences, &from});
  const f2::Subspace space = f2::Subspace::span(dimension, candidates);
  f2::Subspace by_receivers = f2::Subspace::span(dimension, to);
  f2::Subspace by_senders = f2::Subspace::span(dimension, from);
  const auto is_new = [&](f2::Word g, bool to_senders) {
    return !by_receivers.contains(g) && (!to_senders || !by_senders.contains(g));
  };
  const auto find = [&](bool to_senders) {
    for (const f2::Word g : candidates)
      if (is_new(g, to_senders)) return g;
    for (f2::Word x = 1; x < f2::unit(space.dimension()); ++x)
      if (const f2::Word g = f2::combine(space.basis().data(), x); is_new(g, to_senders)) return g;
    return f2::Word{0};
  };
  Rows sources;
  while (static_cast<int>(sources.size()) < ranks.k) {
    f2::Word g = find(!keeps);
    if (g == 0) g = find(false);  // of senders whose words many lanes take
    FARO_CHECK(g != 0);
    by_receivers.insert(g);
    by_senders.insert(g);
    sources.push_back(g);
  }
  return sources;
}

Packets choose_packets(const ExchangeState& state, const Rows& to, const ExchangeState& target, int dimension,
                       const Preference& preference, std::mt19937_64& random) {
  Packets packets;
  packets.source = choose_sources(dimension, state.lane, to);
  ColourChoice choice(dimension, state.lane, to, joined({&state.byte, &state.word}));
  for (const f2::Word g : packets.source) choice.take(g);
  const Rows bytes =
      preference.target_bytes ? joined({&target.byte, &state.byte}) : joined({&state.byte, &target.byte});
  Rows words =
      preference.target_words ? joined({&target.word, &state.word}) : joined({&state.word, &target.word});
  if (preference.shuffled) std::shuffle(words.begin(), words.end(), random);
  const Rows order = joined({&bytes, &words});
  while (!choice.is_done()) {
    const f2::Word g = choice.find(order);
    choice.take(g);
    (static_cast<int>(packets.byte.size()) < kBitsOfWord ? packets.byte : packets.rest).push_back(g);
  }
  return packets;
}

// Places of a packet's bytes in the sender: columns of packet byte, colour and lane, as coordinates of each
// row.
WantedWord sent_word(const ExchangeState& state, const Packets& packets, int dimension, f2::Word colour) {
  const Rows given = joined({&packets.byte, &packets.source, &packets.rest, &state.lane});
  const auto bytes = static_cast<int>(packets.byte.size());
  const int colours = packets.colour_bits();
  const auto function = [&](const Rows& rows) {
    PlaceFunction place;
    const std::vector<f2::Word> coordinates = in_terms_of(given, rows, dimension);
    for (std::size_t bit = 0; bit < rows.size(); ++bit) {
      const auto at = [&](int i) {
        return f2::bit(coordinates[bit], i) ? f2::unit(static_cast<int>(bit)) : 0;
      };
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
  const StepRanks ranks = step_ranks(dimension, state.lane, to);
  Step step{.sources = 1 << packets.source.size(), .shuffles = 0, .keeps = ranks.rho == ranks.k};
  std::vector<int> received;
  for (f2::Word colour = 0; colour < f2::unit(packets.colour_bits()); ++colour) {
    const int sent = builder.make(family, sent_word(state, packets, dimension, colour));
    const LaneValue asked = asked_lane(state, to, packets, dimension, colour);
    received.push_back(builder.shuffle(sent, asked));
    if (asked.constant != 0 || !asked.is_exclusive_or(lane_bits)) ++step.shuffles;
  }
  family = std::move(received);
  state = {.byte = packets.byte, .word = joined({&packets.source, &packets.rest}), .lane = to};
  state.byte.resize(kBitsOfWord, 0);
  return step;
}

}  // namespace faro::exchange
