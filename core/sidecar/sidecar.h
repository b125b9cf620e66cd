// The edits of a model, kept beside it until they are committed or discarded.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/bytes/disk.h"
#include "core/onnx/edit.h"
#include "core/onnx/model.h"
#include "core/onnx/shared_payloads.h"

namespace onnxfs {

// "<model file>.sidecar": where the edits of a model are, unless a user says otherwise.
std::string sidecar_path(const std::string& model_path);

class SidecarLog;
struct StageState;

// How a sidecar is opened.
enum class Opening {
  ordinary,
  resuming,  // by who finishes a commit that was interrupted: its journal, and bytes of the model that are not those
             // that were edited, are no reason to refuse
};

struct SidecarLimits {
  uint64_t blob = 256 << 20;   // how many bytes one file of the sidecar has at most
  uint64_t garbage = 8 << 20;  // how many dead bytes there have to be for a compaction
};

// A content that is being written and is not yet anybody's: what replaces a tensor, or a scratch file. It begins empty.
// Its bytes go to the sidecar as they come, so that what it becomes costs nothing more. Dropped without taking effect,
// it leaves nothing behind but room that a compaction gives back. Any number of threads may use one; each write is seen
// whole or not at all.
class Stage {
 public:
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  Rope content() const;

  // Past the end: what lies between is zeros. EFBIG past 63 bits; ENOSPC, EIO … as the disk says, and then nothing of
  // it was written; EINVAL for more than 64 MiB at once.
  void write(uint64_t offset, std::span<const std::byte> bytes);
  void resize(uint64_t size);  // shorter, or longer by zeros

 private:
  friend class Sidecar;
  friend class Compaction;
  explicit Stage(std::shared_ptr<SidecarLog> log);

  std::shared_ptr<SidecarLog> log_;
  std::shared_ptr<StageState> state_;
};

// The sidecar of one model that is open. Any number of threads may use one.
//
// An edit is in the log before the call that makes it returns, so it survives the death of the process; after `flush`
// it survives a power cut. No edit copies a tensor: its content becomes a rope over the model's bytes and the log's.
// Nothing is made on disk before the first edit.
//
// One process at a time may write: it holds a lock from its first edit on. Others see the edits that there were when
// they opened it.
class Sidecar {
 public:
  // Replays the edits of `model` that are in `folder`, if there are any. `holder` is what the lock says of this process
  // to others: the mount point, or a command. Throws Error, with the way out:
  //  ESTALE      the edits are of another model: its size or structure is not the one they name, or only its time is,
  //              and the bytes that they replaced are no longer there
  //  EBADMSG     something fails its checksum, named with its file and offset
  //  ENOTSUP     another version of onnxfs made it
  //  EINPROGRESS a commit of it was interrupted, and is to be run again
  static std::shared_ptr<Sidecar> open(std::shared_ptr<const Model> model, std::string folder, std::string holder,
                                       Disk& disk = Disk::real(), Opening opening = Opening::ordinary,
                                       const SidecarLimits& limits = {});
  // Makes the edits durable, as far as the disk lets it; who wants to know calls `flush` before.
  ~Sidecar();
  Sidecar(const Sidecar&) = delete;
  Sidecar& operator=(const Sidecar&) = delete;

  const Model& model() const noexcept;
  const std::string& folder() const noexcept;
  const EditTable& edits() const noexcept;

  // The payload of a tensor with its edits; as Model::payload of an unedited one.
  Rope payload(uint32_t tensor) const;

  // What opening found and put right, such as a torn tail that was cut: sentences for the log and for `status`.
  const std::vector<std::string>& remarks() const noexcept;

  // How many bytes the edits take on disk.
  uint64_t size_on_disk() const;

  // Takes the lock, if this process does not have it. EBUSY, with who has it; ESTALE when the edits, or the model's
  // file, are no longer what was opened; EEXIST or ENOTDIR when something else is where the edits are to be kept. Each
  // of the edits below does so first; the first in a data file looks at that too. They want a tensor that is not
  // broken.
  void acquire();

  // Writes into the payload, within its size: EFBIG past it, EINVAL for strings, which are only replaced as a whole,
  // and for more than 64 MiB at once. ENOSPC, EIO … as the disk says. When it throws, nothing was changed.
  void write(uint32_t tensor, uint64_t offset, std::span<const std::byte> bytes);

  // Does some work of the next write ahead, where one is likely: to be called when the last one was answered. Changes
  // nothing.
  void look_ahead() noexcept;

  // A stage, and its content in place of a tensor's payload: it has the payload's size, or is a payload of strings
  // with as many elements (the caller sees to that); else EINVAL. In one step: after a crash it is there or it is not.
  std::shared_ptr<Stage> stage();
  void replace(uint32_t tensor, const Stage& stage);

  // Sets the shape (EINVAL: it has other elements), the documentation, or both; null leaves one as it is now.
  void annotate(uint32_t tensor, const std::vector<int64_t>* dims, const std::string* doc_string);

  // Takes all edits of a tensor away.
  void revert(uint32_t tensor);

  // Makes every edit so far survive a power cut. One flush, however many they are. EIO also when somebody removed or
  // replaced the sidecar's files since they were made, so that the edits are nowhere to be found again.
  void flush();

  // Gives back the space of what was overwritten or dropped, when there is enough of it to be worth the copying of the
  // rest: afterwards that is no more than the rest, or than the limit, but for what others did meanwhile. Loses no edit
  // at whatever moment it ends. Returns whether it did anything.
  bool compact();
  bool may_be_worth_compacting() const noexcept;  // costs nothing

  // To be called when a stage is dropped, and it may be worth compacting: who dropped it may not know. From any thread,
  // which it must not keep waiting.
  void when_untidy(std::function<void()> untidy);

  // Removes all edits and the sidecar's files, after a commit. Nothing can be edited through this one afterwards.
  void remove();

  // Which tensors have one payload, and are edited as one.
  const SharedPayloads& shared_payloads() const noexcept;

 private:
  explicit Sidecar(std::shared_ptr<SidecarLog> log);

  std::shared_ptr<SidecarLog> log_;
};

// Removes a sidecar, whatever is in it, without looking at the model. EBUSY when a process is writing it, ENOENT when
// there is none, ENOTDIR when it is no folder.
void remove_sidecar(const std::string& folder, Disk& disk = Disk::real());

// Who holds the lock of a sidecar: as told to Sidecar::open; "" when nobody does, or there is no sidecar.
std::string sidecar_holder(const std::string& folder);

}  // namespace onnxfs
