// Ranks by NCCL: a group of sends and receives for the arrays, another communicator for the words.
#include <fmt/format.h>

#include <utility>

#include "engines/cuda_nccl.hpp"
#include "faro/error.hpp"
#include "faro/nccl.hpp"
#include "shard/methods.hpp"

namespace faro {
namespace {

class NcclCommunicator : public Communicator {
 public:
  NcclCommunicator(std::unique_ptr<cuda::NcclLink> link, std::shared_ptr<Communicator> words)
      : link_(std::move(link)), words_(std::move(words)) {
    const cuda::NcclLink::Ranks ranks = link_->ranks();
    if (ranks.count == words_->ranks() && ranks.mine == words_->rank()) return;
    fail(ErrorCode::value, "make a communicator of NCCL",
         fmt::format("rank {} of {}, with rank {} of {} by {}", ranks.mine, ranks.count, words_->rank(),
                     words_->ranks(), words_->name()),
         "the same rank of as many");
  }

  int ranks() const override { return words_->ranks(); }
  int rank() const override { return words_->rank(); }
  std::string name() const override { return "NCCL"; }
  Engine memory() const override { return Engine::cuda; }
  int device() const override { return link_->device(); }

  void exchange(const void* from, std::span<const ShardMessage> sends, void* to,
                std::span<const ShardMessage> receives, Stream stream) override {
    // What a rank sends to itself is part of the group, too.
    link_->begin();
    for (const ShardMessage& each : sends)
      link_->send(static_cast<const std::byte*>(from) + each.offset_bytes, each.bytes, each.peer, stream);
    for (const ShardMessage& each : receives)
      link_->receive(static_cast<std::byte*>(to) + each.offset_bytes, each.bytes, each.peer, stream);
    link_->end();
  }

  std::vector<std::string> all_gather(const std::string& mine) override { return words_->all_gather(mine); }

  void abort(const std::string& why) noexcept override {
    link_->abort();
    words_->abort(why);
  }

 private:
  std::unique_ptr<cuda::NcclLink> link_;
  std::shared_ptr<Communicator> words_;
};

void require_words(const std::shared_ptr<Communicator>& words) {
  if (words == nullptr)
    fail(ErrorCode::value, "make a communicator of NCCL", "no communicator for words", "one of the host");
}

}  // namespace

std::shared_ptr<Communicator> nccl_communicator(ncclComm* comm, std::shared_ptr<Communicator> words) {
  require_words(words);
  return std::make_shared<NcclCommunicator>(std::make_unique<cuda::NcclLink>(comm), std::move(words));
}

std::shared_ptr<Communicator> nccl_communicator(int device, std::shared_ptr<Communicator> words) {
  require_words(words);
  // Rank 0's word; that NCCL is there is found out on every rank, before any waits for the others in NCCL.
  std::string id;
  detail::agree(*words, "make a communicator of NCCL", [&] {
    id = cuda::nccl_unique_id();
    return std::string();
  });
  id = words->all_gather(id).front();
  const cuda::NcclLink::Ranks ranks{.count = words->ranks(), .mine = words->rank()};
  return std::make_shared<NcclCommunicator>(std::make_unique<cuda::NcclLink>(device, id, ranks),
                                            std::move(words));
}

}  // namespace faro
