// Ranks by NCCL: a group of sends and receives for the arrays, another communicator for the words. Where the
// ranks' devices reach each other's memory kernels store there, and NCCL's messages only say when.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "engines/cuda_nccl.hpp"
#include "engines/cuda_parts.hpp"
#include "faro/communicator.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "shard/methods.hpp"

namespace faro {
namespace {

class NcclCommunicator : public Communicator, public PeerMemory {
 public:
  NcclCommunicator(std::shared_ptr<cuda::NcclLink> link, std::shared_ptr<Communicator> words,
                   std::chrono::milliseconds time_limit)
      : link_(std::move(link)), words_(std::move(words)), limit_(time_limit) {
    lent_->link = link_;
    detail::agree(*words_, "make a communicator of NCCL", [&] {
      const cuda::NcclLink::Ranks ranks = link_->ranks();
      if (ranks.count != words_->ranks() || ranks.mine != words_->rank()) {
        fail(ErrorCode::value, "make a communicator of NCCL",
             fmt::format("rank {} of {}, with rank {} of {} by {}", ranks.mine, ranks.count, words_->rank(),
                         words_->ranks(), words_->name()),
             "the same rank of as many");
      }
      return std::string();
    });
    look_for_peers();
  }

  int ranks() const override { return words_->ranks(); }
  int rank() const override { return words_->rank(); }
  std::string name() const override { return "NCCL"; }
  Engine memory() const override { return Engine::cuda; }
  int device() const override { return link_->device(); }
  Communicator* host() override { return words_->host(); }
  PeerMemory* peer_memory() override { return reaches_all_ ? this : nullptr; }

  // A line for each array.
  std::string told_of(std::span<void* const> mine) override {
    std::string lines;
    for (void* const each : mine) lines += arrays_->address_of(each) + "\n";
    return lines;
  }
  void told(const std::vector<std::string>& all) override { told_ = all; }

  std::vector<std::vector<std::byte*>> open_all(std::span<void* const> mine, Stream stream) override {
    std::vector<std::string> all = std::exchange(told_, {});
    if (all.empty()) all = words_->all_gather(told_of(mine));
    std::vector<std::vector<std::string>> addresses(mine.size());
    for (const std::string& theirs : all) {
      std::istringstream read(theirs);
      for (std::vector<std::string>& each : addresses) std::getline(read, each.emplace_back());
    }
    const auto opened = [&] {
      std::vector<std::vector<std::byte*>> arrays;
      arrays.reserve(addresses.size());
      for (const std::vector<std::string>& each : addresses) arrays.push_back(arrays_->open(each));
      return arrays;
    };
    // Arrays that share a block of the driver's close each other.
    std::vector<std::vector<std::byte*>> arrays = opened();
    if (mine.size() > 1 && opened() != arrays)
      fail(ErrorCode::value, "run shards together", "outputs that share a block of the driver's memory",
           "outputs of 2 MiB or more, or of one allocation", "run them one by one");
    meet(stream);
    return arrays;
  }

  void close(Stream stream) override { meet(stream); }

  void begin_group() override { link_->begin(); }
  void end_group() override { link_->end(); }

  void exchange(const void* from, std::span<const ShardMessage> sends, void* to,
                std::span<const ShardMessage> receives, Stream stream) override {
    // What a rank keeps is copied beside the group: NCCL would take multiprocessors for it.
    const auto is_own = [this](const ShardMessage& each) { return each.peer == rank(); };
    link_->begin();
    for (const ShardMessage& each : sends) {
      if (!is_own(each))
        link_->send(static_cast<const std::byte*>(from) + each.offset_bytes, each.bytes, each.peer, stream);
    }
    for (const ShardMessage& each : receives) {
      if (!is_own(each))
        link_->receive(static_cast<std::byte*>(to) + each.offset_bytes, each.bytes, each.peer, stream);
    }
    link_->end();
    auto source = sends.begin();
    for (const ShardMessage& each : receives) {
      if (!is_own(each)) continue;
      source = std::find_if(source, sends.end(), is_own);
      FARO_CHECK(source != sends.end() && source->bytes == each.bytes);
      link_->keep(static_cast<const std::byte*>(from) + source->offset_bytes,
                  static_cast<std::byte*>(to) + each.offset_bytes, each.bytes, stream);
      ++source;
    }
  }

  // NCCL lets one side of a message be registered only where the other is, too.
  MessageArrays message_arrays(std::uint64_t send_bytes, std::uint64_t receive_bytes) override {
    MessageArrays made;
    try {
      if (send_bytes >= kLeastRegisteredBytes && receive_bytes >= kLeastRegisteredBytes)
        made = {registered(send_bytes), registered(receive_bytes)};
    } catch (const Error&) {
      made = {};
    }
    const std::string yes = "registered";
    const std::vector<std::string> all = words_->all_gather(made.received ? yes : "not registered");
    const bool by_all = std::all_of(all.begin(), all.end(), [&](const auto& each) { return each == yes; });
    return by_all ? made : MessageArrays{};
  }

  void wait(Stream stream) override {
    const auto begin = std::chrono::steady_clock::now();
    try {
      while (!cuda::is_done(device(), stream)) {
        link_->look();
        if (std::chrono::steady_clock::now() - begin > limit_) {
          fail(ErrorCode::device, "exchange by NCCL",
               fmt::format("nothing from a rank for {} ms", limit_.count()), "all ranks, in every call");
        }
        std::this_thread::yield();
      }
    } catch (const Error& error) {
      abort(error.what());
      throw;
    }
  }

  std::vector<std::string> all_gather(const std::string& mine) override { return words_->all_gather(mine); }

  void abort(const std::string& why) noexcept override {
    link_->abort();
    words_->abort(why);
  }

 private:
  // NCCL's memory comes in pieces of 2 MiB.
  static constexpr std::uint64_t kLeastRegisteredBytes = std::uint64_t{8} << 20;

  // Arrays that are registered stay so, and are lent again: one that took the place of another that was given
  // back received what peers sent to that (NCCL 2.28).
  struct Registered {
    cuda::NcclLink::Memory memory;
    std::uint64_t bytes;
  };
  struct RegisteredArrays {
    std::shared_ptr<cuda::NcclLink> link;
    std::mutex mutex = {};
    std::vector<std::unique_ptr<Registered>> idle = {};
  };

  std::shared_ptr<std::byte> registered(std::uint64_t bytes) const {
    std::unique_ptr<Registered> made;
    {
      const std::lock_guard lock(lent_->mutex);
      for (std::unique_ptr<Registered>& each : lent_->idle) {
        if (each->bytes >= bytes && each->bytes / 2 <= bytes && (!made || each->bytes < made->bytes))
          std::swap(made, each);
      }
      std::erase(lent_->idle, nullptr);
    }
    if (!made) made.reset(new Registered{{*link_, bytes}, bytes});
    Registered* const held = made.release();
    return {held->memory.data(), [lent = lent_, held](std::byte* /*data*/) {
              const std::lock_guard lock(lent->mutex);
              lent->idle.emplace_back(held);
            }};
  }

  // All ranks are asked, for only where each reaches all the others can they store. None is an error.
  void look_for_peers() {
    const auto ranks = static_cast<std::uint64_t>(words_->ranks());
    std::string mine = "none";
    try {
      arrays_.emplace(device());
      signals_.emplace(2 * ranks, device());
      mine = arrays_->address_of(signals_->data());
    } catch (const Error&) {
      mine = "none";
    }
    const std::vector<std::string> addresses = words_->all_gather(mine);
    bool reaches = arrays_ && signals_;
    try {
      if (reaches) {
        static_cast<void>(arrays_->open(addresses));
        arrays_->close();
      }
    } catch (const Error&) {
      reaches = false;
    }
    const std::string yes = "reached";
    const std::vector<std::string> all = words_->all_gather(reaches ? yes : "not reached");
    reaches_all_ = std::all_of(all.begin(), all.end(), [&](const std::string& each) { return each == yes; });
  }

  // What is queued on `stream` from now on comes behind what is queued on all others' so far: a byte from
  // each to each.
  void meet(Stream stream) {
    if (ranks() == 1) return;
    std::byte* const from = signals_->data();
    std::byte* const to = from + ranks();
    link_->begin();
    for (int peer = 0; peer < ranks(); ++peer) {
      if (peer == rank()) continue;
      link_->send(from + peer, 1, peer, stream);
      link_->receive(to + peer, 1, peer, stream);
    }
    link_->end();
  }

  std::shared_ptr<cuda::NcclLink> link_;
  std::shared_ptr<RegisteredArrays> lent_ = std::make_shared<RegisteredArrays>();
  std::shared_ptr<Communicator> words_;
  std::chrono::milliseconds limit_;
  std::optional<cuda::PeerArrays> arrays_;
  std::optional<cuda::DeviceArray> signals_;
  std::vector<std::string> told_;  // of the arrays that are opened next
  bool reaches_all_ = false;
};

void require_words(const std::shared_ptr<Communicator>& words) {
  if (words == nullptr)
    fail(ErrorCode::value, "make a communicator of NCCL", "no communicator for words", "one of the host");
}

}  // namespace

std::shared_ptr<Communicator> nccl_communicator(ncclComm* comm, std::shared_ptr<Communicator> words,
                                                std::chrono::milliseconds time_limit) {
  require_words(words);
  return std::make_shared<NcclCommunicator>(std::make_shared<cuda::NcclLink>(comm), std::move(words),
                                            time_limit);
}

std::shared_ptr<Communicator> nccl_communicator(int device, std::shared_ptr<Communicator> words,
                                                std::chrono::milliseconds time_limit) {
  require_words(words);
  // Rank 0's word; that NCCL is there is found out on every rank, before any waits for the others in NCCL.
  std::string id;
  detail::agree(*words, "make a communicator of NCCL", [&] {
    id = cuda::nccl_unique_id();
    return std::string();
  });
  id = words->all_gather(id).front();
  const cuda::NcclLink::Ranks ranks{.count = words->ranks(), .mine = words->rank()};
  return std::make_shared<NcclCommunicator>(std::make_shared<cuda::NcclLink>(device, id, ranks),
                                            std::move(words), time_limit);
}

}  // namespace faro
