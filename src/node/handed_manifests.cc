// SPDX-License-Identifier: Apache-2.0
#include "node/handed_manifests.h"

#include "doc/json.h"
#include "doc/members.h"

namespace railbed::node {

namespace {

constexpr const char* kNote = "manifests";

}  // namespace

Result<void> hand_over(state::Store& store, const std::vector<doc::SourcePtr>& manifests) {
  doc::Value all = doc::Value::array();
  for (const doc::SourcePtr& source : manifests) {
    doc::Value& one = all.push(doc::Value::object());
    one.set("name", source->name);
    one.set("text", source->text);
  }
  const std::string text = all.as_array()->empty() ? "" : doc::to_json(all);
  if (TRY(handed_over_text(store)) == text) return {};
  return text.empty() ? store.forget_note(kNote) : store.put_note(kNote, text);
}

Result<void> forget_handed_over(state::Store& store) {
  if (TRY(handed_over_text(store)).empty()) return {};
  return store.forget_note(kNote);
}

Result<std::string> handed_over_text(state::Store& store) {
  return TRY(store.note(kNote)).value_or("");
}

Result<std::vector<doc::SourcePtr>> read_handed_over(const std::string& text) {
  std::vector<doc::SourcePtr> sources;
  if (text.empty()) return sources;
  doc::Diagnostics unread;
  const auto all = doc::parse_json(std::make_shared<const doc::Source>(doc::Source{"state", text}), unread);
  if (!all || !all->is_array()) return fail(Code::kInvalid, "the manifests that `up` handed over cannot be read");
  for (const doc::Value& one : *all->as_array())
    sources.push_back(
        std::make_shared<const doc::Source>(doc::Source{doc::text_in(one, "name"), doc::text_in(one, "text")}));
  return sources;
}

}  // namespace railbed::node
