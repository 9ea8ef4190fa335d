// A network over an array that is spread over ranks: sorting networks and transforms.
//
//     const auto communicator = faro::mpi_communicator(MPI_COMM_WORLD);      // 2^g ranks
//     faro::network::ShardedNetwork sorter({.program = faro::network::sort(34), .element = {Scalar::f32}},
//                                          communicator);
//     sorter.run(part_in, part_out, part_bytes);                            // on every rank
//
// Each rank holds a block of 2^(n-g) elements, before and after. A layer whose pairs lie in one rank is run
// there; where pairs meet across ranks the ranks' index bits first change places with local ones, an exchange
// of bits (faro/shards.hpp), so that they lie in one rank:
//
//     bitonic merge of 2^5 elements on 4 ranks      layers of bits 4 3 2 1 0, bits 4 and 3 the ranks'
//
//         exchange bits 4 3 with 2 1  ->  layers 4 3  ->  exchange back  ->  layers 2 1 0
//
// Layers are taken together as long as their directions leave room for g bits that none of them needs; the
// fewest exchanges that such a greedy choice gives. Each exchange moves what changes its rank, once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "faro/network/network.hpp"
#include "faro/shards.hpp"

namespace faro::network {

class ShardedNetwork {
 public:
  /// Collective. Errors, on all ranks alike: those of compile(); ErrorCode::value for ranks that are no power
  /// of two, more than there are elements, a batch other than 1, and ranks that ask for different things;
  /// ErrorCode::unsupported where pair numbers span ranks for users' operators without a host function, on
  /// engine cuda without a text, and there for numbers of more than 32 bits.
  ShardedNetwork(const Problem& problem, std::shared_ptr<Communicator> communicator,
                 const Options& options = {}, const ShardWays& ways = {});
  ShardedNetwork(ShardedNetwork&&) noexcept;
  ShardedNetwork& operator=(ShardedNetwork&&) noexcept;
  ~ShardedNetwork();

  /// Of this rank's block, on either side.
  std::uint64_t part_bytes() const;
  /// Times that elements cross links.
  std::size_t exchanges() const;
  /// By this rank, in all exchanges.
  std::uint64_t sent_bytes() const;
  /// Over this rank's own part, those of exchanges not counted.
  std::size_t passes() const;

  /// Collective; asynchronous on `stream` with memory cuda. Errors: those of ShardedPlan::run().
  void run(const void* in, void* out, std::uint64_t bytes, Stream stream = {});

  /// Stages and exchanges, a line each.
  std::string explain() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace faro::network
