// SPDX-License-Identifier: Apache-2.0
// The protocol between the shim and the agent over the unix socket.
//
// One request and one answer per connection. A frame is: the bytes "RBC1", a byte for the kind, the payload's length as
// a 32-bit big-endian number, the payload. A request's payload is a list of NUL-terminated strings: the plugin's name,
// CNI_* variables as "KEY=value", an empty string, then stdin up to the end. An answer's payload is the exit status as
// one byte, then the text for stdout.
//
// The first byte of a request carries the descriptor of the pod's network namespace (SCM_RIGHTS), as the runtime's own
// mounts show it at CNI_NETNS: for the agent, or a moment later, the path may refer to something else. Agents that do
// not support it ignore it, since the kernel closes descriptors that are not received.
//
// The shim is static C++ without this library's dependencies: this header needs the standard library only.
// Threading: pure.
// Failure: a description of what is wrong with the frame.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace railbed::cni {

inline constexpr size_t kFrameHeadBytes = 9;
inline constexpr uint32_t kMostPayloadBytes = 4u << 20;

enum class FrameKind : uint8_t { kRequest = 1, kAnswer = 2 };

struct FrameHead {
  FrameKind kind = FrameKind::kRequest;
  uint32_t payload_bytes = 0;
};

struct WireRequest {
  std::string type;
  std::vector<std::string> environment;
  std::string config;
  friend bool operator==(const WireRequest&, const WireRequest&) = default;
};

// An agent that stops returns requests with this status: it has not begun them, and the next agent may be asked at
// once. (EX_TEMPFAIL of sysexits.h.)
inline constexpr uint8_t kAskAgain = 75;

// A request of this type asks the agent how it is, not for a pod; no program can have a name with a slash.
inline constexpr std::string_view kAgentReport = "agent/report";

// In the frame of a DEL that is kept on disk, among the variables: what was at CNI_NETNS when the DEL came, so that it
// is not carried out in what has that path later. The boot, a blank, and "id:" with the namespace's number, which no
// other one of that boot gets, or "file:" with that of its file; hexadecimal.
inline constexpr std::string_view kNetnsProof = "CNI_RAILBED_NETNS";

struct WireAnswer {
  uint8_t status = 0;
  std::string output;
  friend bool operator==(const WireAnswer&, const WireAnswer&) = default;
};

// `head` must be the first kFrameHeadBytes. On failure `why` is the reason.
std::optional<FrameHead> read_frame_head(std::string_view head, std::string& why);
std::optional<WireRequest> read_wire_request(std::string_view payload, std::string& why);
std::optional<WireAnswer> read_wire_answer(std::string_view payload, std::string& why);
// A whole answer, with its head and nothing behind it.
std::optional<WireAnswer> read_answer_frame(std::string_view frame, std::string& why);
std::string to_frame(const WireRequest& request);
std::string to_frame(const WireAnswer& answer);

// The answer to VERSION; here, because the shim gives it when no agent runs. One line with its end.
std::string_view version_answer();

}  // namespace railbed::cni
