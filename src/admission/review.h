// SPDX-License-Identifier: Apache-2.0
// What an API server asks of an admission webhook, and what it is answered.
//
// Why: anybody who reaches the port can send a request, so what is read is bounded and a text of any form gives an
// answer. The API server shows warnings to the user who sent the object, and cuts long ones without a word; they are
// cut here, at a word, with the id of the rule first, by which `railbed explain` says the rest. Threading: values; pure
// functions. Failure: read_review() gives the answer to a request that cannot be read; the caller sends it. Spec:
// admission.k8s.io/v1 AdmissionReview; RFC 6902 (JSON Patch), RFC 6901 (JSON Pointer).
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "doc/value.h"

namespace railbed::admission {

// An UPDATE has the object twice, and 3 MiB are a legal size. The caller does not read more.
inline constexpr size_t kMaxReviewBytes = 8u << 20;
// What the API server shows of one warning, and how many we give.
inline constexpr size_t kMaxWarningCharacters = 120;
inline constexpr size_t kMaxWarnings = 10;

enum class Operation : uint8_t { kCreate, kUpdate, kDelete, kConnect };

struct Review {
  std::string uid;
  Operation operation = Operation::kCreate;
  std::string group;  // of the kind; empty: the core group
  std::string kind;
  std::string subresource = {};  // "status"
  std::string ns = {};
  std::string name = {};  // empty where the API server will make one
  std::string user = {};  // userInfo.username
  bool dry_run = false;
  doc::Value object = {};      // null for a DELETE
  doc::Value old_object = {};  // null for a CREATE
  doc::Value options = {};
  friend bool operator==(const Review&, const Review&) = default;
};

// One operation of a JSON Patch.
struct Patch {
  enum class Op : uint8_t { kAdd, kReplace };
  Op op = Op::kAdd;
  std::string path;
  doc::Value value;
  friend bool operator==(const Patch&, const Patch&) = default;
};

struct Answer {
  std::string uid;
  bool allowed = true;
  int code = 0;  // of HTTP, for a refusal
  std::string message = {};
  std::vector<std::string> warnings = {};
  std::vector<Patch> patches = {};
  friend bool operator==(const Answer&, const Answer&) = default;
};

// The answer that refuses, with the status that an API server gives for an object that is forbidden.
Answer refusal(std::string uid, std::string message);

std::expected<Review, Answer> read_review(std::string_view text);
// The AdmissionReview that is sent back, as JSON in one line.
std::string to_json(const Answer& answer);

// The id, the place and the message of a warning, with "…" where it was cut. Characters that no header of HTTP may have
// become blanks.
std::string warning_text(std::string_view id, std::string_view message);

// A key as a part of a JSON Pointer: "openshift.io/rail0" → "openshift.io~1rail0".
std::string pointer_part(std::string_view key);

}  // namespace railbed::admission
