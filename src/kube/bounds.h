// SPDX-License-Identifier: Apache-2.0
// Limits on the memory for data from an API server, and whether a paged list continues.
//
// Why: an API server that is broken or hostile, a proxy in front of it, or a user who can create unlimited objects must
// not fill the memory of an agent that runs on every node. Data beyond a limit is rejected as a whole with
// Code::kExhausted, so that a cache keeps its content. The messages name the limit, not the count: a repeated failure
// has the same text, and is logged once. Memory is counted (held_bytes of object.h), not measured, so that it is the
// same in each run.
// Threading: plain values, pure functions.
// Failure: list_page_fits, Exhausted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "doc/value.h"

namespace railbed::kube {

// Of one list, with all its pages, and of the cache that is made of it.
struct CacheBounds {
  size_t objects = 300'000;
  size_t bytes = 512u << 20;  // of memory, after trimming
};

// Of one text: an answer, or the line of a watch's event.
struct TextBounds {
  size_t text_bytes = 0;
  size_t memory_bytes = 0;  // of the values that it has: two bytes of text can be a value of 80
};

// Those of a client that knows a whole cluster: 5,000 nodes with their states.
struct ReadBounds {
  CacheBounds list;
  // Of a list that is gone through a page at a time and not held.
  CacheBounds visit{.objects = 1'000'000, .bytes = SIZE_MAX};
  TextBounds answer{.text_bytes = 64u << 20, .memory_bytes = 512u << 20};
  // etcd takes 1.5 MiB per object; the API server's own writing of it is longer, at most by escapes.
  TextBounds event{.text_bytes = 16u << 20, .memory_bytes = 128u << 20};
  // Of a watch, that came and were not read yet. A watch that is cut there goes on from its last event.
  size_t unread_bytes = 64u << 20;
};

// Those of an agent, which caches the pods and states of its own node, and all network definitions.
inline constexpr ReadBounds kNodeBounds{.list = {.objects = 20'000, .bytes = 16u << 20},
                                        .answer = {.text_bytes = 4u << 20, .memory_bytes = 16u << 20},
                                        .event = {.text_bytes = 4u << 20, .memory_bytes = 8u << 20},
                                        .unread_bytes = 2u << 20};
// Objects per answer of such an agent: a page of pods with everything that an API server writes of them fits.
inline constexpr int kNodePage = 100;

// A page without objects may be right where all of them were filtered out; so many in a row are not.
inline constexpr int kMostEmptyPages = 100;

// What is held of a list or in a cache.
struct Held {
  size_t objects = 0;
  size_t bytes = 0;
};

// "more than 20000 objects" or "its objects need more than 16777216 bytes of memory"; empty where it is within bounds.
std::string beyond(const Held& held, const CacheBounds& bounds);

// A list that was read so far.
struct ListProgress {
  Held held;
  int empty_pages = 0;  // the last ones, in a row
};
// Takes the next page, which was asked for with the continue token `token` and names `next` as the following one.
// `what` is the request, without its query. Exhausted where the list is too large or does not end.
Result<void> list_page_fits(ListProgress& progress, const std::vector<doc::Value>& page, std::string_view token,
                            std::string_view next, const CacheBounds& bounds, std::string_view what);

// What to do about one answer or event that is too large, and about objects that are too many. In the message, not in
// the hint: the status and the log of an agent show the message alone.
inline constexpr std::string_view kCheckServer = "check the API server and any proxy in front of it";
inline constexpr std::string_view kDeleteObjects =
    "delete unneeded objects of this kind, or check the API server and any proxy in front of it";

}  // namespace railbed::kube
