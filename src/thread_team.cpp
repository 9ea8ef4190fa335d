#include "thread_team.hpp"

#include <pthread.h>
#include <semaphore.h>

#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <new>

#include "faro/threads.hpp"
#include "piece_times.hpp"

namespace faro::detail {
namespace {

constexpr std::uint64_t kMostParts = 64;     // of more threads several begin at the same part
constexpr std::uint64_t kPiecesOfPart = 16;  // a thread that is away holds up one
// Counters of two threads share no line; those of 64-bit ARM have up to 256 bytes.
#if defined(__aarch64__)
constexpr std::uint64_t kPartsLineBytes = 256;
#else
constexpr std::uint64_t kPartsLineBytes = 64;
#endif

// Wakes that are counted, so that none is lost; whoever waits is asleep.
class Wakes {
 public:
  Wakes() { sem_init(&semaphore_, 0, 0); }
  ~Wakes() { sem_destroy(&semaphore_); }
  Wakes(const Wakes&) = delete;
  Wakes& operator=(const Wakes&) = delete;

  void wake() { sem_post(&semaphore_); }
  // Asleep, after some microseconds of looking, in which a helper is mostly done with its last piece.
  void wait_briefly_awake() {
    constexpr int kLooks = 500;
    for (int look = 0; look < kLooks; ++look) {
      if (sem_trywait(&semaphore_) == 0) return;
    }
    wait();
  }
  void wait() {
    while (sem_wait(&semaphore_) != 0) {  // a signal came
    }
  }

 private:
  sem_t semaphore_{};
};

// One call of run_pieces(), on its thread's stack.
class Job {
 public:
  Job(Pieces pieces, std::uint64_t threads, ShareCall work) : work_(work) {
    count_ = pieces.piece > 0 ? 1 : std::min({kMostParts, threads, pieces.count});
    const std::uint64_t length = pieces.count / count_;
    const std::uint64_t longer = pieces.count % count_;
    for (std::uint64_t part = 0, begin = 0; part < count_; ++part) {
      const std::uint64_t end = begin + length + (part < longer ? 1 : 0);
      parts_[part].next.store(begin, std::memory_order_relaxed);
      parts_[part].end = end;
      begin = end;
    }
    piece_ = pieces.piece > 0 ? pieces.piece : std::max<std::uint64_t>(1, length / kPiecesOfPart);
    pieces_ = (pieces.count + piece_ - 1) / piece_;
  }

  std::uint64_t pieces() const { return pieces_; }  // about

  // Does one piece, of the part of that rank or, where it is done, of the next that is not; false when there
  // is none left. `ahead`: how many parts beyond its own are known to be done.
  bool take(std::uint64_t rank, std::uint64_t& ahead) {
    for (; ahead < count_; ++ahead) {
      Part& part = parts_[(rank + ahead) % count_];
      // Looked at before, for a counter must not run over where many threads come late.
      if (part.next.load(std::memory_order_relaxed) >= part.end) continue;
      const std::uint64_t begin = part.next.fetch_add(piece_, std::memory_order_relaxed);
      if (begin >= part.end) continue;
      work_({.begin = begin,
             .end = std::min(part.end, begin + std::min(piece_, part.end - begin)),
             .rank = rank});
      return true;
    }
    return false;
  }

  void take_all(std::uint64_t rank) {
    std::uint64_t ahead = 0;
    while (take(rank, ahead)) {
    }
  }

  Wakes left;  // by each helper that came, when it goes

 private:
  struct alignas(kPartsLineBytes) Part {
    std::atomic<std::uint64_t> next{0};
    std::uint64_t end = 0;
  };

  ShareCall work_;
  std::uint64_t count_ = 1;
  std::uint64_t piece_ = 1;
  std::uint64_t pieces_ = 1;
  std::array<Part, kMostParts> parts_;
};

// A thread that waits for jobs, for as long as the process lives.
struct Helper {
  std::atomic<Job*> job{nullptr};  // handed over and not yet taken; whoever exchanges it has it
  std::uint64_t rank = 1;          // in that job
  std::uint64_t number = 0;        // ascending, as helpers were made
  Helper* next = nullptr;          // in a list: of those without a job, or of a job's
  Wakes called;
};

void* help(void* argument) {
  Helper& helper = *static_cast<Helper*>(argument);
  for (;;) {
    helper.called.wait();
    Job* const job = helper.job.exchange(nullptr, std::memory_order_acquire);
    if (job == nullptr) continue;  // it was done without us
    job->take_all(helper.rank);
    job->left.wake();
  }
}

// Helpers of all jobs of this process.
class Pool {
 public:
  // A list of at most `wanted` helpers, those that were made first at its head. Fewer where the system makes
  // no more.
  Helper* lend(std::uint64_t wanted) {
    const std::lock_guard lock(mutex);
    Helper* first = nullptr;
    Helper** last = &first;
    for (; wanted > 0; --wanted) {
      Helper* const helper = idle_ != nullptr ? idle_ : make();
      if (helper == nullptr) break;
      if (helper == idle_) idle_ = helper->next;
      helper->next = nullptr;
      *last = helper;
      last = &helper->next;
    }
    return first;
  }

  // Sorted, so that the same helpers come first the next time.
  void take_back(Helper* helpers) {
    const std::lock_guard lock(mutex);
    Helper** at = &idle_;
    while (helpers != nullptr) {
      Helper* const helper = helpers;
      helpers = helper->next;
      while (*at != nullptr && (*at)->number < helper->number) at = &(*at)->next;
      helper->next = *at;
      *at = helper;
      at = &helper->next;
    }
  }

  std::mutex mutex;

 private:
  Helper* make() {
    if (made_ >= static_cast<std::uint64_t>(most_threads())) return nullptr;
    auto* const helper = new (std::nothrow) Helper;
    if (helper == nullptr) return nullptr;
    helper->number = made_;
    // A stack of less than the usual 8 MiB, which count where address space is limited.
    constexpr std::size_t kStackBytes = std::size_t{1} << 20;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, kStackBytes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread{};
    const int error = pthread_create(&thread, &attributes, help, helper);
    pthread_attr_destroy(&attributes);
    if (error != 0) {
      delete helper;
      return nullptr;
    }
    ++made_;
    return helper;
  }

  Helper* idle_ = nullptr;
  std::uint64_t made_ = 0;
};

// Never destroyed, for helpers outlive main(). A child of fork() has none of them, and begins with an empty
// one; no other thread of the parent holds the lock meanwhile.
Pool& pool() {
  alignas(Pool) static std::byte storage[sizeof(Pool)];
  static Pool* const made = [] {
    pthread_atfork([] { pool().mutex.lock(); }, [] { pool().mutex.unlock(); }, [] { new (storage) Pool; });
    return new (storage) Pool;
  }();
  return *made;
}

// The time of a clock that is read without the kernel. (Asking for a thread's processor time makes the kernel
// look whether it has had its turn, and take its processor away the sooner.)
std::int64_t microseconds_now() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Shares a job out among this thread and at most `most` helpers, which come at once or, where the machine is
// crowded, if the job is long.
class Team {
 public:
  Team(Job& job, std::uint64_t most) : job_(job), most_(most) {}

  void run() {
    static Crowding crowding;
    const std::int64_t begin = microseconds_now();
    const bool crowded = crowding.is_crowded(begin);
    std::uint64_t ahead = 0;
    PieceTimes own;
    for (std::int64_t at = begin;;) {
      if (!crowded || lent_ || is_long(own)) wake_some();
      if (!job_.take(0, ahead)) break;
      const std::int64_t now = microseconds_now();
      own.add(now - at);
      at = now;
    }
    // Who has not come is not waited for.
    for (Helper* helper = helpers_; helper != asleep_; helper = helper->next) {
      if (helper->job.exchange(nullptr, std::memory_order_acquire) == nullptr) job_.left.wait_briefly_awake();
    }
    if (lent_) pool().take_back(helpers_);
    if (crowded) return;
    const std::int64_t end = microseconds_now();
    crowding.judge(end, own.all_us(job_.pieces()), end - begin);
  }

 private:
  // Long enough that a turn of others in it does not matter.
  bool is_long(const PieceTimes& own) const {
    constexpr std::int64_t kLongUs = 16'000;
    return own.shortest_us() * static_cast<std::int64_t>(job_.pieces()) > kLongUs;
  }

  // Each takes some microseconds to wake, in which the first ones work already.
  void wake_some() {
    constexpr int kAtOnce = 4;
    if (!lent_) helpers_ = asleep_ = pool().lend(most_);
    lent_ = true;
    for (int i = 0; i < kAtOnce && asleep_ != nullptr; ++i) {
      Helper& helper = *asleep_;
      asleep_ = helper.next;
      helper.rank = rank_++;
      helper.job.store(&job_, std::memory_order_release);
      helper.called.wake();
    }
  }

  Job& job_;
  std::uint64_t most_;
  Helper* helpers_ = nullptr;
  Helper* asleep_ = nullptr;  // the rest of the list
  bool lent_ = false;
  std::uint64_t rank_ = 1;
};

}  // namespace

void run_pieces(Pieces pieces, int threads, ShareCall work) {
  if (pieces.count == 0) return;
  const std::uint64_t most = pieces.piece > 0 ? (pieces.count - 1) / pieces.piece + 1 : pieces.count;
  // What one thread does asks the system nothing: small arrays are done in less than its answer takes.
  if (threads <= 1 || most <= 1) return work({.begin = 0, .end = pieces.count, .rank = 0});
  const std::uint64_t team = std::min(most, static_cast<std::uint64_t>(std::min(threads, most_threads())));
  Job job(pieces, team, work);
  Team(job, team - 1).run();
}

}  // namespace faro::detail
