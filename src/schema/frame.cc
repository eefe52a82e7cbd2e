// SPDX-License-Identifier: Apache-2.0
#include "schema/frame.h"

#include <fmt/format.h>

namespace railbed::schema {

std::string Frame::path() const {
  if (!name.empty() || up == nullptr) return std::string(name);
  std::string text = up->path();
  const bool plain = key.find_first_of("./") == std::string_view::npos;
  if (step == Step::kItem) return text + fmt::format("[{}]", index);
  if (step == Step::kKey || !plain) return text + fmt::format("[{}]", key);
  return text.empty() ? std::string(key) : fmt::format("{}.{}", text, key);
}

std::string_view Frame::field() const {
  const Frame* frame = this;
  while (frame->step == Step::kItem && frame->up != nullptr) frame = frame->up;
  return frame->key;
}

Frame below(const Frame& frame, std::string_view key) {
  return {.around = &frame, .up = &frame, .step = Frame::Step::kField, .key = key};
}

std::string name_of(const Frame& frame) {
  if (std::string path = frame.path(); !path.empty()) return path;
  return frame.schema->name.empty() ? "this object" : frame.schema->name;
}

std::string root_name(const Frame& frame) {
  const Frame* root = &frame;
  while (root->around != nullptr) root = root->around;
  return root->schema != nullptr && !root->schema->name.empty() ? root->schema->name : name_of(frame);
}

std::string child_below(const Frame& around, const Frame& frame) {
  const Frame* child = &frame;
  while (child->around != nullptr && child->around != &around) child = child->around;
  return std::string(child->field());
}

}  // namespace railbed::schema
