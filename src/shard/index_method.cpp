// Any permutation between any cuts: who gets which element is looked up for each, and packing and unpacking
// are index arrays. Sender and receiver agree on an order within a message without a word: that of the
// sender's part.
//
// Where several ranks hold the same, what goes to one of them goes to all as it is: a message to each, of one
// run of what is packed. A rank that holds an element already reads it from itself, others from a copy on
// their island. Where there is none, one of all copies sends it to one of the island's ranks, which passes
// the message on to those that hold the same there, from where it arrived.
//
// An index array that lies in parts is known to nobody as a whole. Its owners tell the others, in an exchange
// of 8 bytes an element, where the elements of each message go (scatter), or which ones they want (gather).
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <tuple>

#include "faro/error.hpp"
#include "io/buffer.hpp"
#include "shard/methods.hpp"

namespace faro::detail {
namespace {

using Indices = std::vector<std::uint64_t>;

// Elements in the order of their peers, and in their own within one: a counting sort.
struct Sorted {
  Indices place;                       // of element i
  std::vector<ShardMessage> messages;  // in elements
};

template <typename PeerOf>
Sorted sorted_by_peer(std::uint64_t count, int ranks, const PeerOf& peer_of) {
  Indices next(static_cast<std::size_t>(ranks) + 1, 0);
  for (std::uint64_t i = 0; i < count; ++i) ++next[static_cast<std::size_t>(peer_of(i)) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  Sorted made;
  for (int peer = 0; peer < ranks; ++peer) {
    const std::uint64_t begin = next[static_cast<std::size_t>(peer)];
    const std::uint64_t length = next[static_cast<std::size_t>(peer) + 1] - begin;
    if (length > 0) made.messages.push_back({.peer = peer, .offset_bytes = begin, .bytes = length});
  }
  made.place.resize(count);
  for (std::uint64_t i = 0; i < count; ++i) made.place[i] = next[static_cast<std::size_t>(peer_of(i))]++;
  return made;
}

// An index array as a pass; nothing where it leaves everything where it is.
ShardPass pass_of(Indices indices, Direction direction) {
  for (std::uint64_t i = 0; i < indices.size(); ++i) {
    if (indices[i] != i)
      return {.permutation = Permutation(Indexed(std::move(indices), direction)), .views = {}};
  }
  return {};
}

// The places of sorted_by_peer(): a run for each peer. Caches hold the ends of so many.
ShardPass sorting_pass(Indices places, Direction direction, int ranks) {
  constexpr int most_runs = 64;
  ShardPass pass = pass_of(std::move(places), direction);
  pass.keeps_order = ranks <= most_runs;
  return pass;
}

// Reads entry after entry; of the direction that costs no sweep each.
Permutation quick(const Permutation& permutation) {
  const auto* const indexed = std::get_if<Indexed>(&permutation);
  return indexed == nullptr ? permutation : Permutation(indexed->redirected(Direction::scatter));
}

void require_shard_memory(std::uint64_t elements) {
  require_memory("plan shards", fmt::format("the places of {} elements", elements), elements * 24);
}

constexpr std::uint64_t kWordBytes = sizeof(std::uint64_t);

// Words that go where the messages of `sorted` go, in their order; what came, and from whom.
struct Heard {
  Indices words;
  std::vector<ShardMessage> messages;  // in elements
};
Heard exchange_words(Communicator& communicator, const Sorted& sorted, const Indices& words) {
  std::string counts;
  const auto ranks = static_cast<std::size_t>(communicator.ranks());
  Indices mine(ranks, 0);
  for (const ShardMessage& message : sorted.messages)
    mine[static_cast<std::size_t>(message.peer)] = message.bytes;
  counts.assign(reinterpret_cast<const char*>(mine.data()), ranks * kWordBytes);
  const std::vector<std::string> all = communicator.all_gather(counts);
  Heard heard;
  std::uint64_t at = 0;
  for (std::size_t peer = 0; peer < ranks; ++peer) {
    std::uint64_t length = 0;
    std::copy_n(all[peer].data() + static_cast<std::size_t>(communicator.rank()) * kWordBytes, kWordBytes,
                reinterpret_cast<char*>(&length));
    if (length > 0)
      heard.messages.push_back({.peer = static_cast<int>(peer), .offset_bytes = at, .bytes = length});
    at += length;
  }
  heard.words.resize(at);
  communicator.exchange(words.data(), counted_in_bytes(sorted.messages, kWordBytes), heard.words.data(),
                        counted_in_bytes(heard.messages, kWordBytes), {});
  return heard;
}

}  // namespace

namespace {

// Those of ascending ranks that are on the rank's island.
std::span<const int> near(const RankOfIsland& of, const std::vector<int>& ranks) {
  const int first = of.rank / of.island * of.island;
  return {std::lower_bound(ranks.begin(), ranks.end(), first),
          std::lower_bound(ranks.begin(), ranks.end(), first + of.island)};
}

int by_turns(std::span<const int> ranks, int turn) {
  return ranks[static_cast<std::size_t>(turn) % ranks.size()];
}

// What a rank packs, and whom it sends which run.
void pack_elements(const Permutation& forth, const Spread& in, const Spread& out, const RankOfIsland& self,
                   ShardPassing& made) {
  const int rank = self.rank;
  // By the first of those that hold it afterwards; behind all, what this rank sends nobody.
  std::map<int, std::vector<int>> peers;
  const std::vector<int> own_copies = in.copies(rank);
  const auto peers_of = [&](int first) -> const std::vector<int>& {
    const auto [found, is_new] = peers.try_emplace(first);
    if (is_new) {
      const std::vector<int> targets = out.copies(first);
      for (const int peer : targets) {
        const ElementRoute route = element_route({peer, self.island}, {own_copies, targets});
        if (route.sender == rank && route.receiver == peer) found->second.push_back(peer);
      }
    }
    return found->second;
  };
  const int nobody = in.ranks();
  Sorted sent = sorted_by_peer(in.elements(rank), in.ranks() + 1, [&](std::uint64_t i) {
    const int first = out.place(faro::apply(forth, in.index({.rank = rank, .element = i}))).rank;
    return peers_of(first).empty() ? nobody : first;
  });
  for (const ShardMessage& run : sent.messages) {
    if (run.peer == nobody) continue;
    for (const int peer : peers_of(run.peer))
      made.sends.push_back({.peer = peer, .offset_bytes = run.offset_bytes, .bytes = run.bytes});
  }
  std::sort(made.sends.begin(), made.sends.end(),
            [](const ShardMessage& a, const ShardMessage& b) { return a.peer < b.peer; });
  made.pack = sorting_pass(std::move(sent.place), Direction::scatter, in.ranks());
}

// What arrives, by who sends it and by its place there; what an island's rank passes on behind all others.
void unpack_elements(const Permutation& back, const Spread& in, const Spread& out, const RankOfIsland& self,
                     ShardPassing& made) {
  const int rank = self.rank;
  const std::vector<int> targets = out.copies(rank);
  const std::span<const int> neighbours = near(self, targets);
  struct Arrival {
    bool is_passed_on = false;
    int from = 0;
    int source = 0;  // the first rank that holds it
    std::uint64_t element = 0;
    std::uint64_t to = 0;
  };
  std::vector<Arrival> arrivals(out.elements(rank));
  std::map<int, ElementRoute> routes;  // by the first rank
  for (std::uint64_t j = 0; j < arrivals.size(); ++j) {
    const Spread::Place from = in.place(faro::apply(back, out.index({.rank = rank, .element = j})));
    const auto [found, is_new] = routes.try_emplace(from.rank);
    if (is_new) found->second = element_route(self, {in.copies(from.rank), targets});
    const ElementRoute& route = found->second;
    const bool is_passed_on = route.receiver != rank;
    arrivals[j] = {.is_passed_on = is_passed_on,
                   .from = is_passed_on ? route.receiver : route.sender,
                   .source = from.rank,
                   .element = from.element,
                   .to = j};
  }
  const auto message_of = [](const Arrival& each) {
    return std::tuple(each.is_passed_on, each.from, each.source);
  };
  std::sort(arrivals.begin(), arrivals.end(), [&](const Arrival& a, const Arrival& b) {
    return std::tuple_cat(message_of(a), std::tuple(a.element)) <
           std::tuple_cat(message_of(b), std::tuple(b.element));
  });
  Indices targets_of_arrivals;
  targets_of_arrivals.reserve(arrivals.size());
  for (std::uint64_t begin = 0, end = 0; begin < arrivals.size(); begin = end) {
    const Arrival& first = arrivals[begin];
    for (; end < arrivals.size() && message_of(arrivals[end]) == message_of(first); ++end)
      targets_of_arrivals.push_back(arrivals[end].to);
    const ShardMessage message{.peer = first.from, .offset_bytes = begin, .bytes = end - begin};
    (first.is_passed_on ? made.passed_on.receives : made.receives).push_back(message);
    if (first.is_passed_on) continue;
    const std::vector<int> sources = in.copies(first.source);
    for (const int peer : neighbours) {
      if (peer == rank || element_route({peer, self.island}, {sources, targets}).receiver != rank) continue;
      made.passed_on.sends.push_back({.peer = peer, .offset_bytes = begin, .bytes = end - begin});
    }
  }
  // As their receivers know them: by the elements' first ranks.
  std::stable_sort(made.passed_on.sends.begin(), made.passed_on.sends.end(),
                   [&](const ShardMessage& a, const ShardMessage& b) {
                     return std::tuple(a.peer, arrivals[a.offset_bytes].source) <
                            std::tuple(b.peer, arrivals[b.offset_bytes].source);
                   });
  made.unpack = pass_of(std::move(targets_of_arrivals), Direction::scatter);
}

}  // namespace

ElementRoute element_route(const RankOfIsland& wanting, const RanksOfElement& held) {
  const int rank = wanting.rank;
  if (std::binary_search(held.sources.begin(), held.sources.end(), rank)) return {rank, rank};
  if (const std::span<const int> copies = near(wanting, held.sources); !copies.empty())
    return {by_turns(copies, rank), rank};
  const std::span<const int> wanting_it = near(wanting, held.targets);
  return {by_turns(held.sources, held.targets.front() + rank / wanting.island),
          by_turns(wanting_it, held.sources.front())};
}

ShardPassing index_passing(const Permutation& permutation, const Spread& in, const Spread& out,
                           const RankOfIsland& self) {
  require_shard_memory(in.elements(self.rank) + out.elements(self.rank));
  ShardPassing made;
  pack_elements(quick(permutation), in, out, self, made);
  unpack_elements(quick(inverse(permutation)), in, out, self, made);
  return made;
}

ShardPassing part_passing(const ShardIndexPart& part, const Spread& in, const Spread& out,
                          Communicator& communicator) {
  const bool scatters = part.direction == Direction::scatter;
  const Spread& own = scatters ? in : out;     // cuts the entries
  const Spread& others = scatters ? out : in;  // what they point to
  const int rank = communicator.rank();
  agree(communicator, "plan shards of an index array", [&] {
    if (part.entries.size() != own.elements(rank)) {
      fail(ErrorCode::value, "plan shards of an index array", fmt::format("{} entries", part.entries.size()),
           fmt::format("{}, those of the rank's part of the {}", own.elements(rank),
                       scatters ? "input" : "output"));
    }
    require_shard_memory(own.elements(rank) + others.elements(rank));
    for (std::uint64_t i = 0; i < part.entries.size(); ++i) {
      if (part.entries[i] < others.count()) continue;
      fail(ErrorCode::value, "plan shards of an index array",
           fmt::format("entry {} at place {} of the rank's part", part.entries[i], i),
           fmt::format("entries below {}", others.count()));
    }
    return fmt::format("{} of {}", name(part.direction), own.count());
  });
  Sorted sorted = sorted_by_peer(part.entries.size(), own.ranks(),
                                 [&](std::uint64_t i) { return others.place(part.entries[i]).rank; });
  Indices words(part.entries.size());
  for (std::uint64_t i = 0; i < words.size(); ++i)
    words[sorted.place[i]] = others.place(part.entries[i]).element;
  Heard heard = exchange_words(communicator, sorted, words);
  ShardPassing made;
  agree(communicator, "plan shards of an index array", [&] {
    if (heard.words.size() != others.elements(rank)) {
      fail(ErrorCode::value, "plan shards of an index array",
           fmt::format("{} entries that lead to this rank's part", heard.words.size()),
           fmt::format("{}, one for each of its elements", others.elements(rank)),
           "the entries of all ranks together are a permutation");
    }
    // The owners of the entries sort their own part so; the others find here what was asked of theirs.
    ShardPass own_pass =
        sorting_pass(std::move(sorted.place), scatters ? Direction::scatter : Direction::gather, own.ranks());
    ShardPass other_pass = pass_of(std::move(heard.words), scatters ? Direction::scatter : Direction::gather);
    if (!scatters) std::swap(own_pass, other_pass);
    made.pack = std::move(own_pass);
    made.unpack = std::move(other_pass);
    return std::string();
  });
  made.sends = scatters ? std::move(sorted.messages) : std::move(heard.messages);
  made.receives = scatters ? std::move(heard.messages) : std::move(sorted.messages);
  return made;
}

}  // namespace faro::detail
