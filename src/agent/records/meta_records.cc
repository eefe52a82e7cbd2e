// SPDX-License-Identifier: Apache-2.0
#include "agent/records/meta_records.h"

#include "doc/json.h"
#include "doc/members.h"

namespace railbed::agent {
namespace {

using doc::Value;

SandboxNote note_of(const std::string& key, const std::string& text) {
  SandboxNote note{.key = key};
  doc::Diagnostics unread;
  auto value = doc::parse_json(std::make_shared<doc::Source>(doc::Source{"note", text}), unread);
  if (!value) return note;  // of another version: its interfaces' records are enough for DEL
  note.network = text_in(*value, "network");
  note.ifname = text_in(*value, "ifname");
  note.netns = text_in(*value, "netns");
  note.pod_uid = text_in(*value, "uid");
  if (const Value* files = value->find("deviceInfo"); files != nullptr && files->is_array())
    for (const Value& file : *files->as_array())
      if (file.is_string()) note.device_info.push_back(*file.as_string());
  return note;
}

}  // namespace

Result<void> put_sandbox_note(state::Store& store, const SandboxNote& note) {
  Value value = Value::object();
  value.set("network", note.network);
  value.set("ifname", note.ifname);
  value.set("netns", note.netns);
  value.set("uid", note.pod_uid);
  Value& files = value.set("deviceInfo", Value::array());
  for (const std::string& file : note.device_info) files.push(file);
  return store.put_note(std::string(kSandboxNote) + note.key, doc::to_json(value));
}

Result<std::optional<SandboxNote>> sandbox_note(state::Store& store, const std::string& key) {
  std::optional<std::string> text = TRY(store.note(std::string(kSandboxNote) + key));
  if (!text.has_value()) return std::optional<SandboxNote>{};
  return std::optional(note_of(key, *text));
}

Result<std::vector<SandboxNote>> sandbox_notes(state::Store& store) {
  std::vector<SandboxNote> notes;
  for (const auto& [key, text] : TRY(store.notes(std::string(kSandboxNote))))
    notes.push_back(note_of(key.substr(kSandboxNote.size()), text));
  return notes;
}

Result<void> forget_sandbox_note(state::Store& store, const std::string& key) {
  return store.forget_note(std::string(kSandboxNote) + key);
}

}  // namespace railbed::agent
