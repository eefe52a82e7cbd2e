// SPDX-License-Identifier: Apache-2.0
#include "kube/watch_decoder.h"

#include <algorithm>

#include "doc/members.h"
#include "doc/text.h"
#include "kube/object.h"

namespace railbed::kube {
namespace {

// A buffer that was larger for one event is not kept for the next ones.
constexpr size_t kUsualBytes = 512 << 10;

Result<WatchEvent> read_event(std::string_view line, size_t most_memory_bytes) {
  constexpr std::string_view kTypes[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"};
  doc::Value event = TRY(parse_object(line, most_memory_bytes).context("reading an event of a watch"));
  const std::string type = doc::text_in(event, "type");
  const auto* const known = std::ranges::find(kTypes, type);
  if (known == std::end(kTypes))
    return fail(Code::kInvalid, "a watch has an event of the type \"{}\"", doc::printable(type.substr(0, 40)));
  doc::Value* object = event.find("object");
  if (object == nullptr || !object->is_object())
    return fail(Code::kInvalid, "a watch has an event {} without an object", type);
  return WatchEvent{static_cast<WatchType>(known - std::begin(kTypes)), std::move(*object)};
}

}  // namespace

void WatchDecoder::push(std::string_view bytes) {
  if (begin_ == buffer_.size()) {
    buffer_.clear();
    if (buffer_.capacity() > kUsualBytes) buffer_.shrink_to_fit();
    begin_ = scanned_ = 0;
  } else if (begin_ > buffer_.size() / 2) {
    buffer_.erase(0, begin_);
    scanned_ -= begin_;
    begin_ = 0;
  }
  buffer_.append(bytes);
}

Result<std::optional<WatchEvent>> WatchDecoder::next() {
  while (true) {
    const size_t end = buffer_.find('\n', scanned_);
    scanned_ = end == std::string::npos ? buffer_.size() : end;
    if (scanned_ - begin_ > bounds_.text_bytes)
      return fail(Code::kExhausted, "an event is too large: more than {} bytes; {}", bounds_.text_bytes, kCheckServer);
    if (end == std::string::npos) return std::nullopt;
    const std::string_view line = std::string_view(buffer_).substr(begin_, end - begin_);
    begin_ = scanned_ = end + 1;
    if (line.find_first_not_of(" \r\t") == std::string_view::npos) continue;
    return TRY(read_event(line, bounds_.memory_bytes));
  }
}

}  // namespace railbed::kube
