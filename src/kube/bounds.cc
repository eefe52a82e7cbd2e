// SPDX-License-Identifier: Apache-2.0
#include "kube/bounds.h"

#include "kube/object.h"

namespace railbed::kube {
namespace {

std::unexpected<Error> refuse_list(std::string_view what, std::string_view why) {
  return fail(Code::kExhausted, "{}: the list {}; {}", what, why, kDeleteObjects);
}

}  // namespace

std::string beyond(const Held& held, const CacheBounds& bounds) {
  if (held.objects > bounds.objects) return fmt::format("more than {} objects", bounds.objects);
  if (held.bytes > bounds.bytes) return fmt::format("its objects need more than {} bytes of memory", bounds.bytes);
  return "";
}

Result<void> list_page_fits(ListProgress& progress, const std::vector<doc::Value>& page, std::string_view token,
                            std::string_view next, const CacheBounds& bounds, std::string_view what) {
  progress.held.objects += page.size();
  for (const doc::Value& object : page) progress.held.bytes += held_bytes(object);
  if (const std::string why = beyond(progress.held, bounds); !why.empty())
    return refuse_list(what, "is too large: " + why);
  progress.empty_pages = page.empty() ? progress.empty_pages + 1 : 0;
  if (next.empty()) return {};
  if (next == token) return refuse_list(what, "does not end: a page names itself as the next one");
  if (progress.empty_pages >= kMostEmptyPages)
    return refuse_list(what, fmt::format("does not end: {} pages in a row have no object", kMostEmptyPages));
  return {};
}

}  // namespace railbed::kube
