// SPDX-License-Identifier: Apache-2.0
#include "agent/addresses/address_notes.h"

#include <array>

namespace railbed::agent {
namespace {

// The names of pods, networks, containers and interfaces have no line breaks; a path may, so it comes last.
constexpr char kBetween = '\n';

std::optional<std::array<std::string, 3>> note_parts_of(std::string_view key, std::string_view prefix) {
  if (!key.starts_with(prefix)) return std::nullopt;
  key.remove_prefix(prefix.size());
  size_t first = key.find(kBetween);
  if (first == std::string_view::npos) return std::nullopt;
  size_t second = key.find(kBetween, first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  return std::array{std::string(key.substr(0, first)), std::string(key.substr(first + 1, second - first - 1)),
                    std::string(key.substr(second + 1))};
}

}  // namespace

std::string file_notes_of(const ipam::Owner& owner) {
  return kFileNotes + owner.pod + kBetween + owner.interface + kBetween;
}

std::string key_of(const FileNote& note) {
  return file_notes_of(note.owner) + note.path;
}

std::optional<FileNote> file_note(std::string_view key) {
  auto parts = note_parts_of(key, kFileNotes);
  if (!parts.has_value()) return std::nullopt;
  auto& [pod, interface, path] = *parts;
  return FileNote{{pod, interface}, path};
}

std::string request_notes_of(const std::string& network) {
  return kRequestNotes + network + kBetween;
}

std::string key_of(const RequestNote& note) {
  return request_notes_of(note.network) + note.container_id + kBetween + note.ifname;
}

std::optional<RequestNote> request_note(std::string_view key) {
  auto parts = note_parts_of(key, kRequestNotes);
  if (!parts.has_value()) return std::nullopt;
  auto& [network, container, ifname] = *parts;
  return RequestNote{network, container, ifname};
}

std::string adopted_key(const ipam::Owner& owner) {
  return kAdoptedNotes + owner.pod + kBetween + owner.interface;
}

std::optional<ipam::Owner> adopted_owner(std::string_view key) {
  if (!key.starts_with(kAdoptedNotes)) return std::nullopt;
  key.remove_prefix(std::string_view(kAdoptedNotes).size());
  const size_t between = key.rfind(kBetween);
  if (between == std::string_view::npos) return std::nullopt;
  return ipam::Owner{std::string(key.substr(0, between)), std::string(key.substr(between + 1))};
}

}  // namespace railbed::agent
