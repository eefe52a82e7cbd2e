// SPDX-License-Identifier: Apache-2.0
// Keys of the notes that accompany leases: which file holds an address for host-local, which third-party plugin's
// request got it, what was adopted.
//
// Why notes: a lease records the holder of an address, and these few questions need more.
// Threading: pure.
// Failure: none; an unknown key reads as nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ipam/assign.h"

namespace railbed::agent {

// A host-local file that railbed wrote. The note's text is the file's content.
struct FileNote {
  ipam::Owner owner;
  std::string path;
  friend bool operator==(const FileNote&, const FileNote&) = default;
};
inline constexpr const char* kFileNotes = "host-local file ";
std::string key_of(const FileNote& note);
std::string file_notes_of(const ipam::Owner& owner);  // the prefix of their keys
std::optional<FileNote> file_note(std::string_view key);

// A host-local directory that was used: the key ends with its path, the text is the network.
inline constexpr const char* kDirectoryNotes = "host-local directory ";

// Addresses that a foreign main plugin requested through the shim. The text is the owner's pod.
struct RequestNote {
  std::string network;
  std::string container_id;
  std::string ifname;
  friend bool operator==(const RequestNote&, const RequestNote&) = default;
};
inline constexpr const char* kRequestNotes = "ipam request ";
std::string key_of(const RequestNote& note);
std::string request_notes_of(const std::string& network);
std::optional<RequestNote> request_note(std::string_view key);

// Allocations of whereabouts that railbed took over, by owner. The text says where the pod runs: kHere or kElsewhere.
inline constexpr const char* kAdoptedNotes = "adopted ";
inline constexpr const char* kHere = "here";
inline constexpr const char* kElsewhere = "elsewhere";
std::string adopted_key(const ipam::Owner& owner);
std::optional<ipam::Owner> adopted_owner(std::string_view key);

}  // namespace railbed::agent
