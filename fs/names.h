#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace onnxfs {

// The components of the path that a tensor's (or a node's, or an attribute's) name stands for, by these rules:
//  * the name is split at "/"; empty components vanish, and a name with nothing left is "unnamed"
//  * "." and ".." become "%2E" and "%2E%2E"
//  * control characters (C0, DEL, C1), byte by byte, and bytes that are not UTF-8 become "%XX"
//  * a component that is then over 200 bytes is cut to at most 180, between characters and not inside a "%XX" made
//    here, and gets "~" and the XXH3 (64 bits, 16 hex digits) of its original bytes
//
// "encoder/layer.0/W" is {"encoder", "layer.0", "W"}; "/a\n" is {"a%0A"}. Two names may have one path: Tree tells
// them apart.
std::vector<std::string> path_components(std::string_view name);

}  // namespace onnxfs
