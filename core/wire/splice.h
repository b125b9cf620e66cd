#pragma once

#include <vector>

#include "core/bytes/patch.h"
#include "core/wire/window.h"

namespace onnxfs::wire {

// A change inside of one message: whole fields of it that make way for others.
struct Splice {
  ByteRange message;  // the payload of the field that is the message; or one field of it, tag and all, that makes way
  Patch patch;        // within that, between borders of fields
};

// Finds all fields around the splices, from the outermost message of the window's source inwards, and corrects their
// lengths: what is returned, in order, are the splices' own patches and those of lengths that change. A length that
// does not change keeps its bytes, however long they are; one that does gets the shortest. Enters no field that has no
// splice in it.
//
// Costs memory by the splices and the fields around them; how deep messages nest costs no stack. Throws Error(EBADMSG)
// for bytes that are no message, or hold no such splice.
std::vector<Patch> splice(Window& window, std::vector<Splice> splices);

}  // namespace onnxfs::wire
