// A disk that fails, or takes the process with it, at a chosen step.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <vector>

#include "core/bytes/disk.h"
#include "core/bytes/error.h"

namespace onnxfs::testing {

// Counts what changes a disk. At one step, counted from 0, something else happens than what was asked for. Flushes are
// counted and not done: that takes long, and only a power cut would show it.
class FaultyDisk : public Disk {
 public:
  enum class Fault {
    error,       // an Error, and nothing was done
    half_error,  // of a write, the first half was done; else as error
    late_error,  // an Error, though all was done
    death,       // of the process by SIGKILL, and nothing was done
    half_death,  // of a write, the first half was done; else as death
    late_death,  // all was done
  };
  static constexpr uint64_t never = std::numeric_limits<uint64_t>::max();

  FaultyDisk() = default;
  FaultyDisk(uint64_t step, Fault fault, int code = EIO) : at_(step), fault_(fault), code_(code) {}

  uint64_t steps() const {
    const std::lock_guard lock(mutex_);
    return steps_;
  }

  // From then on, or no more, each step is the faulty one.
  void fail_always(bool always) {
    const std::lock_guard lock(mutex_);
    always_ = always;
  }

  // As some file systems do.
  void lack_new_renames() { lacks_new_renames_ = true; }
  void lack_links() { lacks_links_ = true; }

  UniqueFd create(const std::string& path, mode_t mode) override {
    UniqueFd fd;
    step(path, [&] { fd = Disk::create(path, mode); });
    return fd;
  }
  void make_folder(const std::string& path, mode_t mode) override {
    step(path, [&] { Disk::make_folder(path, mode); });
  }
  using Disk::write;
  void write(int fd, std::span<const iovec> pieces, uint64_t offset, const std::string& path) override {
    step(
        path, [&] { Disk::write(fd, pieces, offset, path); }, [&] { write_half(fd, pieces, offset, path); });
  }
  void copy(int from, uint64_t from_offset, int to, uint64_t to_offset, uint64_t length,
            const std::string& path) override {
    step(
        path, [&] { Disk::copy(from, from_offset, to, to_offset, length, path); },
        [&] { Disk::copy(from, from_offset, to, to_offset, length / 2, path); });
  }
  void resize(int fd, uint64_t size, const std::string& path) override {
    step(path, [&] { Disk::resize(fd, size, path); });
  }
  void set_mode(int fd, mode_t mode, uid_t owner, gid_t group, const std::string& path) override {
    step(path, [&] { Disk::set_mode(fd, mode, owner, group, path); });
  }
  void flush(int, const std::string& path) override {
    step(path, [] {});
  }
  void flush_folder(const std::string& path) override {
    step(path, [] {});
  }
  void rename(const std::string& from, const std::string& to) override {
    step(to, [&] { Disk::rename(from, to); });
  }
  void rename_new(const std::string& from, const std::string& to) override {
    if (lacks_new_renames_) fail(EINVAL, "{} cannot be renamed so", from);
    step(to, [&] { Disk::rename_new(from, to); });
  }
  void link(const std::string& from, const std::string& to) override {
    if (lacks_links_) fail(EPERM, "{} can have no other name", from);
    step(to, [&] { Disk::link(from, to); });
  }
  void remove(const std::string& path) override {
    step(path, [&] { Disk::remove(path); });
  }
  void remove_folder(const std::string& path) override {
    step(path, [&] { Disk::remove_folder(path); });
  }

 private:
  template <typename All>
  void step(const std::string& path, All all) {
    step(path, all, [] {});
  }

  template <typename All, typename Half>
  void step(const std::string& path, All all, Half half) {
    {
      const std::lock_guard lock(mutex_);
      const bool faulty = steps_++ == at_ || always_;
      if (!faulty) return all();
    }
    if (fault_ == Fault::half_error || fault_ == Fault::half_death) half();
    if (fault_ == Fault::late_error || fault_ == Fault::late_death) all();
    if (fault_ == Fault::death || fault_ == Fault::half_death || fault_ == Fault::late_death) {
      ::kill(::getpid(), SIGKILL);
    }
    fail(code_, "the disk with {} is on fire", path);
  }

  static void write_half(int fd, std::span<const iovec> pieces, uint64_t offset, const std::string& path) {
    size_t left = 0;
    for (const iovec& piece : pieces) left += piece.iov_len;
    left /= 2;
    std::vector<iovec> half(pieces.begin(), pieces.end());
    for (iovec& piece : half) {
      piece.iov_len = std::min(piece.iov_len, left);
      left -= piece.iov_len;
    }
    Disk::real().write(fd, half, offset, path);
  }

  mutable std::mutex mutex_;
  uint64_t steps_ = 0;
  uint64_t at_ = never;
  Fault fault_ = Fault::error;
  int code_ = EIO;
  bool always_ = false;
  bool lacks_new_renames_ = false;
  bool lacks_links_ = false;
};

// Does work(disk) in a process of its own, which dies at a step of it: false if that is not reached, and all is done.
inline bool dies(uint64_t step, FaultyDisk::Fault death, const std::function<void(FaultyDisk&)>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    FaultyDisk disk(step, death);
    work(disk);
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : status == 0) << status;
  return WIFSIGNALED(status);
}

}  // namespace onnxfs::testing
