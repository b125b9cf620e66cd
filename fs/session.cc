#include "fs/session.h"

#include <fcntl.h>
#include <fuse_log.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <thread>

#include "core/bytes/error.h"
#include "fs/background_task.h"
#include "fs/fuse_operations.h"
#include "fs/invalidator.h"
#include "fs/privileges.h"

namespace onnxfs {

namespace {

// A thread waits for the disk with each request, and those that wait for a slow one must leave others to serve from
// elsewhere. They are made when they are needed, and end when they are not.
constexpr unsigned most_threads = 256;
constexpr unsigned most_idle_threads = 32;
constexpr int read_ahead_kib = 512;

sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) sigaddset(&set, signal);
  return set;
}

// Commas and backslashes separate options.
std::string escape(const std::string& value) {
  std::string text;
  for (const char c : value) {
    if (c == ',' || c == '\\') text += '\\';
    text += c;
  }
  return text;
}

// With the default of 128 KiB the kernel asks for a cold file in eighths of what one request can carry; more than what
// is set here gains nothing and costs random reads. Root may change it for this mount; for others it stays as it is.
void raise_read_ahead(const std::string& mount_point) {
  const auto mounted = find_mounted(mount_point);
  if (!mounted) return;
  std::ofstream setting("/sys/class/bdi/" + mounted->device + "/read_ahead_kb");
  setting << read_ahead_kib;
}

void log_words_of_libfuse(fuse_log_level level, const char* format, va_list arguments) {
  char text[512];
  std::vsnprintf(text, sizeof text, format, arguments);
  const std::string_view words(text, std::min(std::strlen(text), std::strcspn(text, "\n")));
  level <= FUSE_LOG_WARNING ? spdlog::warn("libfuse: {}", words) : spdlog::debug("libfuse: {}", words);
}

// Whether the kernel has ended the connection, as it does when the last of a mount is gone.
bool is_disconnected(fuse_session* session) {
  pollfd device{fuse_session_fd(session), POLLIN, 0};
  return ::poll(&device, 1, 0) == 1 && (device.revents & POLLERR) != 0;
}

// Waits for a signal to end, in a thread of its own, so that what it does is not restricted to what a handler may.
class SignalThread {
 public:
  explicit SignalThread(std::string mount_point) : mount_point_(std::move(mount_point)), thread_([this] { run(); }) {}
  ~SignalThread() {
    pthread_kill(thread_.native_handle(), SIGUSR1);
    thread_.join();
  }

 private:
  void run() const {
    const sigset_t set = ending_signals();
    bool ending = false;
    for (int signal = 0; sigwait(&set, &signal) == 0 && signal != SIGUSR1;) {
      if (ending) ::_exit(0);
      ending = true;
      try {
        unmount(mount_point_, true);
      } catch (const Error& error) {
        spdlog::error("{}", error.what());
        ::_exit(1);
      }
    }
  }

  std::string mount_point_;
  std::thread thread_;
};

// What libfuse and fusermount3 say on standard error while this lives: they say it there and nowhere else, and a person
// is to get one line. Changes the descriptor of the whole process, so no other thread may exist.
class CapturedWords {
 public:
  CapturedWords()
      : words_(::memfd_create("words", MFD_CLOEXEC)), terminal_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)) {
    if (words_ && terminal_) ::dup2(words_.get(), STDERR_FILENO);
  }
  ~CapturedWords() { restore(); }

  std::string take() {
    restore();
    std::string text(4096, '\0');
    const ssize_t n = words_ ? ::pread(words_.get(), text.data(), text.size(), 0) : 0;
    text.resize(n > 0 ? static_cast<size_t>(n) : 0);
    while (text.ends_with('\n')) text.pop_back();
    std::ranges::replace(text, '\n', ';');
    return text;
  }

 private:
  void restore() {
    if (terminal_) ::dup2(terminal_.get(), STDERR_FILENO);
    terminal_.reset();
  }

  UniqueFd words_;
  UniqueFd terminal_;
};

}  // namespace

struct Session::Implementation {
  explicit Implementation(Filesystem& filesystem) : server{filesystem, [] {}} {}

  FuseServer server;
  std::string mount_point;
  fuse_session* session = nullptr;
};

Session::Session(Filesystem& filesystem, const MountPoint& mount_point, const MountOptions& options,
                 const std::string& source)
    : implementation_(std::make_unique<Implementation>(filesystem)) {
  implementation_->mount_point = mount_point.path();
  // Before there is a mount to leave behind, and for all threads to come, so that the one that waits gets them.
  const sigset_t set = ending_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::string list = "subtype=onnxfs,fsname=" + escape(source);
  if (options.read_only) list += ",ro";
  // Whom allow_other lets in may do what the mode bits say. Who mounted is alone otherwise, and is answered by us
  // whoever he is: an ordinary user is told as root is that a tensor cannot be edited, and the log why.
  if (std::ranges::find(options.for_fuse, "allow_other") != options.for_fuse.end()) list += ",default_permissions";
  for (const std::string& option : options.for_fuse) list += "," + option;
  std::string program = "onnxfs", flag = "-o";
  char* arguments[] = {program.data(), flag.data(), list.data(), nullptr};
  fuse_args args = FUSE_ARGS_INIT(3, arguments);
  CapturedWords words;
  implementation_->session =
      fuse_session_new(&args, &fuse_operations(), sizeof(fuse_lowlevel_ops), &implementation_->server);
  fuse_opt_free_args(&args);
  implementation_->server.session = implementation_->session;
  if (implementation_->session == nullptr) fail(EINVAL, "cannot mount with -o {}: {}", list, words.take());
  if (fuse_session_mount(implementation_->session, mount_point.path().c_str()) != 0) {
    fuse_session_destroy(implementation_->session);
    fail(EIO, "cannot mount at {}: {}", mount_point.path(), words.take());
  }
  take_over_privileges(implementation_->session);
  fuse_set_log_func(log_words_of_libfuse);
  raise_read_ahead(mount_point.path());
}

Session::~Session() {
  fuse_session_unmount(implementation_->session);
  fuse_session_destroy(implementation_->session);
}

bool Session::serve(std::function<void()> on_ready) {
  Filesystem& filesystem = implementation_->server.filesystem;
  implementation_->server.on_ready = std::move(on_ready);
  Invalidator invalidator(implementation_->session);
  BackgroundTask tidying([&filesystem] { filesystem.tidy(); });
  filesystem.watch({[&invalidator](uint64_t inode) { invalidator.add(inode); },
                    [session = implementation_->session](uint64_t inode) { forget_attributes(session, inode); },
                    [&tidying] { tidying.ask(); }});
  std::optional<BackgroundTask> letting_go;
  if (const auto interval = filesystem.let_go_interval()) {
    letting_go.emplace([&filesystem] { filesystem.let_go(); }, interval);
  }
  const SignalThread signals(implementation_->mount_point);
  const std::unique_ptr<fuse_loop_config, decltype(&fuse_loop_cfg_destroy)> loop(fuse_loop_cfg_create(),
                                                                                 &fuse_loop_cfg_destroy);
  fuse_loop_cfg_set_max_threads(loop.get(), most_threads);
  fuse_loop_cfg_set_idle_threads(loop.get(), most_idle_threads);
  const int status = fuse_session_loop_mt(implementation_->session, loop.get());
  // A request that is cut off by the end of the connection is no trouble of ours, whatever reading it gave.
  const bool ended_well = status == 0 || is_disconnected(implementation_->session);
  if (!ended_well) spdlog::error("the mount ended: {}", describe_errno(-status));
  implementation_->server.file_handles.clear();
  filesystem.watch({});
  filesystem.flush();
  return ended_well;
}

}  // namespace onnxfs
