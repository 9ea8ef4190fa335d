// A stand-in for libnccl.so.2: threads of one process as ranks, arrays of the host. A group's messages are
// exchanged when it ends, the k-th send to a rank with the k-th receive there, as NCCL has it; sizes that do
// not fit are an error, and so is a rank that waits for longer than ten seconds.
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int kSuccess = 0;
constexpr int kInvalidUsage = 5;
constexpr int kRemoteError = 6;

struct Sent {
  const void* from;
  std::size_t bytes;
};

// All ranks of one unique id.
struct World {
  std::mutex mutex;
  std::condition_variable changed;
  int ranks = 0;
  int arrived = 0;
  long round = 0;
  std::map<std::pair<int, int>, std::vector<Sent>> sent;  // by sender and receiver

  bool meet() {
    std::unique_lock lock(mutex);
    const long before = round;
    if (++arrived == ranks) {
      arrived = 0;
      ++round;
      changed.notify_all();
      return true;
    }
    return changed.wait_for(lock, std::chrono::seconds(10), [&] { return round != before; });
  }
};

std::mutex worlds_mutex;
std::map<std::string, std::shared_ptr<World>> worlds;

struct UniqueId {
  std::array<char, 128> bytes;
};

}  // namespace

struct ncclComm {
  std::shared_ptr<World> world;
  int rank = 0;
};

namespace {

struct Received {
  void* to;
  std::size_t bytes;
  int peer;
};
// The calling thread's open group.
thread_local bool open = false;
thread_local ncclComm* in_group = nullptr;
thread_local std::vector<Received> receives;
thread_local std::vector<std::pair<int, Sent>> sends;

// Memory that was handed out, and what was registered of it.
std::mutex memory_mutex;
std::set<void*> allocated;
std::set<void*> registered;
int refused_rank = -1;

int exchange() {
  World& world = *in_group->world;
  {
    const std::lock_guard lock(world.mutex);
    for (const auto& [peer, sent] : sends) world.sent[{in_group->rank, peer}].push_back(sent);
  }
  if (!world.meet()) return kRemoteError;
  std::map<int, std::size_t> next;
  int result = kSuccess;
  for (const Received& wanted : receives) {
    const auto found = world.sent.find({wanted.peer, in_group->rank});
    const std::size_t at = next[wanted.peer]++;
    if (found == world.sent.end() || at >= found->second.size() || found->second[at].bytes != wanted.bytes) {
      result = kInvalidUsage;
      continue;
    }
    std::memcpy(wanted.to, found->second[at].from, wanted.bytes);
  }
  if (!world.meet()) return kRemoteError;
  {
    const std::lock_guard lock(world.mutex);
    for (auto& [pair, messages] : world.sent) {
      if (pair.first == in_group->rank) messages.clear();
    }
  }
  return world.meet() ? result : kRemoteError;
}

}  // namespace

extern "C" {

const char* ncclGetErrorString(int result) {
  return result == kInvalidUsage ? "invalid usage" : result == kRemoteError ? "remote error" : "no error";
}
int ncclGetUniqueId(UniqueId* id) {
  static int made = 0;
  const std::lock_guard lock(worlds_mutex);
  id->bytes.fill(0);
  const std::string text = "world " + std::to_string(made++);
  std::memcpy(id->bytes.data(), text.data(), text.size());
  return kSuccess;
}
int ncclCommInitRank(ncclComm** comm, int ranks, UniqueId id, int rank) {
  std::shared_ptr<World> world;
  {
    const std::lock_guard lock(worlds_mutex);
    std::shared_ptr<World>& known = worlds[std::string(id.bytes.begin(), id.bytes.end())];
    if (known == nullptr) known = std::make_shared<World>();
    known->ranks = ranks;
    world = known;
  }
  *comm = new ncclComm{world, rank};
  return world->meet() ? kSuccess : kRemoteError;
}
int ncclCommDestroy(ncclComm* comm) {
  delete comm;
  return kSuccess;
}
int ncclCommAbort(ncclComm* comm) { return ncclCommDestroy(comm); }
int ncclCommCount(ncclComm* comm, int* ranks) {
  *ranks = comm->world->ranks;
  return kSuccess;
}
int ncclCommUserRank(ncclComm* comm, int* rank) {
  *rank = comm->rank;
  return kSuccess;
}
int ncclCommCuDevice(ncclComm* comm, int* device) {
  *device = comm->rank;
  return kSuccess;
}
int ncclCommGetAsyncError(ncclComm* /*comm*/, int* result) {
  *result = kSuccess;
  return kSuccess;
}
int ncclMemAlloc(void** data, std::size_t bytes) {
  const std::lock_guard lock(memory_mutex);
  *data = std::malloc(bytes);
  allocated.insert(*data);
  return kSuccess;
}
int ncclMemFree(void* data) {
  const std::lock_guard lock(memory_mutex);
  if (registered.count(data) != 0 || allocated.erase(data) == 0) return kInvalidUsage;
  std::free(data);
  return kSuccess;
}
int ncclCommRegister(ncclComm* comm, void* data, std::size_t /*bytes*/, void** handle) {
  const std::lock_guard lock(memory_mutex);
  if (comm->rank == refused_rank || allocated.count(data) == 0) return kInvalidUsage;
  registered.insert(data);
  *handle = data;
  return kSuccess;
}
int ncclCommDeregister(ncclComm* /*comm*/, void* handle) {
  const std::lock_guard lock(memory_mutex);
  return registered.erase(handle) == 1 ? kSuccess : kInvalidUsage;
}
// The stand-in alone has these: the rank that may not register, and how many arrays there are.
void standInRefuse(int rank) { refused_rank = rank; }
int standInArrays(int of_registered) {
  const std::lock_guard lock(memory_mutex);
  return static_cast<int>(of_registered != 0 ? registered.size() : allocated.size());
}
int ncclGroupStart() {
  open = true;
  in_group = nullptr;
  sends.clear();
  receives.clear();
  return kSuccess;
}
int ncclSend(const void* from, std::size_t count, int type, int peer, ncclComm* comm, void* /*stream*/) {
  if (!open || type != 1) return kInvalidUsage;
  in_group = comm;
  sends.push_back({peer, {from, count}});
  return kSuccess;
}
int ncclRecv(void* to, std::size_t count, int type, int peer, ncclComm* comm, void* /*stream*/) {
  if (!open || type != 1) return kInvalidUsage;
  in_group = comm;
  receives.push_back({to, count, peer});
  return kSuccess;
}
int ncclGroupEnd() {
  open = false;
  return in_group == nullptr ? kSuccess : exchange();
}

}  // extern "C"
