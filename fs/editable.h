// The files of a mount that can be written, and what writing them does to the tensor that they show.
#pragma once

#include <memory>

#include "core/sidecar/sidecar.h"

namespace onnxfs {

// One such file, without regard to who has it open. Any number of threads may use one.
class Editable {
 public:
  virtual ~Editable() = default;
  Editable(const Editable&) = delete;
  Editable& operator=(const Editable&) = delete;

  // What the file holds, drafts apart.
  virtual Rope content() const = 0;

  // The most bytes that a draft of it may have.
  virtual uint64_t most() const = 0;

  // Whether bytes can be written into it where they are. Else it is replaced as a whole: its first write begins a draft
  // of what it holds.
  virtual bool takes_patches() const = 0;
  virtual void patch(uint64_t offset, std::span<const std::byte> bytes) = 0;

  // Makes a draft the file's content. EINVAL when it cannot be.
  virtual void replace(const Stage& draft) = 0;

 protected:
  Editable() = default;
};

// X.bin: the payload. Strings are replaced as a whole, with as many elements; of others the size stays.
std::unique_ptr<Editable> editable_payload(std::shared_ptr<Sidecar> sidecar, uint32_t tensor);

// X.json: of which shape and doc_string can be changed.
std::unique_ptr<Editable> editable_json(std::shared_ptr<Sidecar> sidecar, uint32_t tensor);

// X.npy: replaced by any that numpy writes of as many elements of the type. What numpy stores as the payload has it
// also takes patches behind the header, as maps write them.
std::unique_ptr<Editable> editable_npy(std::shared_ptr<Sidecar> sidecar, uint32_t tensor);

// Writes all of a content into an empty stage.
void copy(const Rope& content, Stage& stage);

}  // namespace onnxfs
