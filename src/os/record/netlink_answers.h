// SPDX-License-Identifier: Apache-2.0
// A machine's answers to NetlinkQuestions, by the bytes of the question: those of a recording, those of the fake
// kernel.
//
// Why: neither has to know what a question means; the answer to the same bytes is the answer.
// Threading: plain values; a port of recorded_questions() as NetlinkQuestions.
// Failure: recorded_questions() answers Unsupported to what is not among the answers, and fails with the error of a
// family that could not be reached.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/eswitch_mode.h"
#include "base/types.h"
#include "os/ports/netlink_questions.h"

namespace railbed::os {

struct NetlinkAnswers {
  using ByQuestion = std::map<std::vector<uint8_t>, std::vector<NetlinkMessage>>;
  std::map<NetlinkFamily, ByQuestion> by_family;
  std::map<NetlinkFamily, Error> unreachable;  // families that the machine has and its reader could not reach

  // Replaces an earlier answer.
  void put(const NetlinkQuestion& question, std::vector<NetlinkMessage> messages);
  // Null for a question without an answer.
  const std::vector<NetlinkMessage>* find(const NetlinkQuestion& question) const;
  // NetlinkQuestions::reach() where these are the answers.
  Result<void> reach(NetlinkFamily family) const;
  friend bool operator==(const NetlinkAnswers&, const NetlinkAnswers&) = default;
};

// `answers` outlives it.
std::unique_ptr<NetlinkQuestions> recorded_questions(const NetlinkAnswers& answers);

// The answers as the kernel writes them: for recordings that have only the values, and for the fake kernel.
void put_eswitch_mode(NetlinkAnswers& answers, PciAddress pf, EswitchMode mode);
void put_firmware_version(NetlinkAnswers& answers, PciAddress pf, const std::string& version);

}  // namespace railbed::os
