// Mutexes that say what they guard in a way that a compiler checks: `clang++ -Wthread-safety` (scripts/lint) refuses
// code that touches a member marked ONNXFS_GUARDED_BY, or calls a function marked ONNXFS_REQUIRES, without the lock,
// and code that takes a lock twice or forgets to let go of it. The marks are its attributes, which
// https://clang.llvm.org/docs/ThreadSafetyAnalysis.html describes; for other compilers they are nothing, and the types
// are the standard ones.
//
// The check ends where a function does: a lambda that runs under a lock of its caller is marked, or is a loop instead.
// Constructors and destructors are not checked.
#pragma once

#include <condition_variable>
#include <mutex>
#include <shared_mutex>

#ifdef __clang__
#define ONNXFS_ATTRIBUTE(...) __attribute__((__VA_ARGS__))
#else
#define ONNXFS_ATTRIBUTE(...)
#endif

// Of a type: it can be locked, or locks something while it lives.
#define ONNXFS_CAPABILITY(name) ONNXFS_ATTRIBUTE(capability(name))
#define ONNXFS_SCOPED_CAPABILITY ONNXFS_ATTRIBUTE(scoped_lockable)

// Of a member: with which lock it may be touched; of a mutex: which other is not to be held already when it is taken.
#define ONNXFS_GUARDED_BY(mutex) ONNXFS_ATTRIBUTE(guarded_by(mutex))
#define ONNXFS_ACQUIRED_BEFORE(...) ONNXFS_ATTRIBUTE(acquired_before(__VA_ARGS__))

// Of a function: which locks its caller holds, or does not hold; which it takes or lets go of; which one it gives.
#define ONNXFS_REQUIRES(...) ONNXFS_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define ONNXFS_EXCLUDES(...) ONNXFS_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define ONNXFS_ACQUIRE(...) ONNXFS_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define ONNXFS_ACQUIRE_SHARED(...) ONNXFS_ATTRIBUTE(acquire_shared_capability(__VA_ARGS__))
#define ONNXFS_TRY_ACQUIRE(...) ONNXFS_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
#define ONNXFS_RELEASE(...) ONNXFS_ATTRIBUTE(release_capability(__VA_ARGS__))
#define ONNXFS_RETURN_CAPABILITY(mutex) ONNXFS_ATTRIBUTE(lock_returned(mutex))

namespace onnxfs {

// As std::mutex.
class ONNXFS_CAPABILITY("mutex") Mutex {
 public:
  void lock() ONNXFS_ACQUIRE() { mutex_.lock(); }
  void unlock() ONNXFS_RELEASE() { mutex_.unlock(); }
  bool try_lock() ONNXFS_TRY_ACQUIRE(true) { return mutex_.try_lock(); }

 private:
  friend class MutexLock;
  friend class Condition;
  std::mutex mutex_;
};

// Holds a mutex as long as it lives, but for what is between `unlock` and `lock`. Of one thread.
class ONNXFS_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ONNXFS_ACQUIRE(mutex) : lock_(mutex.mutex_) {}
  // Goes on with what `try_lock` got.
  MutexLock(Mutex& mutex, std::adopt_lock_t adopt) ONNXFS_REQUIRES(mutex) : lock_(mutex.mutex_, adopt) {}
  ~MutexLock() ONNXFS_RELEASE() = default;

  void unlock() ONNXFS_RELEASE() { lock_.unlock(); }
  void lock() ONNXFS_ACQUIRE() { lock_.lock(); }

 private:
  std::unique_lock<std::mutex> lock_;
};

// As std::condition_variable. The mutex is held before and after a wait, which may end for no reason: so who waits
// looks, in a loop, whether what it waits for is so.
class Condition {
 public:
  void wait(Mutex& mutex) ONNXFS_REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  // False when it is later than `end`.
  template <typename Time>
  bool wait_until(Mutex& mutex, const Time& end) ONNXFS_REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    const bool in_time = condition_.wait_until(lock, end) == std::cv_status::no_timeout;
    lock.release();
    return in_time;
  }
  void notify_one() noexcept { condition_.notify_one(); }
  void notify_all() noexcept { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

// As std::shared_mutex, with a lock for who reads and one for who changes what it guards.
class ONNXFS_CAPABILITY("mutex") SharedMutex {
  friend class ReaderLock;
  friend class WriterLock;
  std::shared_mutex mutex_;
};

class ONNXFS_SCOPED_CAPABILITY ReaderLock {
 public:
  explicit ReaderLock(SharedMutex& mutex) ONNXFS_ACQUIRE_SHARED(mutex) : lock_(mutex.mutex_) {}
  ~ReaderLock() ONNXFS_RELEASE() = default;

 private:
  std::shared_lock<std::shared_mutex> lock_;
};

class ONNXFS_SCOPED_CAPABILITY WriterLock {
 public:
  explicit WriterLock(SharedMutex& mutex) ONNXFS_ACQUIRE(mutex) : lock_(mutex.mutex_) {}
  ~WriterLock() ONNXFS_RELEASE() = default;

 private:
  std::unique_lock<std::shared_mutex> lock_;
};

}  // namespace onnxfs
