// SPDX-License-Identifier: Apache-2.0
// Capabilities that have no effect, and what Pod Security refuses.
#include "check/rules/privileges.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "check/rules/families.h"
#include "check/rules/lookups.h"

namespace railbed::check {

using doc::Value;

const Value* non_root_value(const PodTemplate& pod, const Container& container) {
  for (const Value* around : {container.value, pod.spec})
    if (const Value* user = at(*around, "securityContext.runAsUser"); user != nullptr && !user->is_null())
      return integer_at(*around, "securityContext.runAsUser").value_or(0) > 0 ? user : nullptr;
  for (const Value* around : {container.value, pod.spec})
    if (const auto flag = flag_at(*around, "securityContext.runAsNonRoot"))
      return *flag ? at(*around, "securityContext.runAsNonRoot") : nullptr;
  return nullptr;
}

bool runs_as_non_root(const PodTemplate& pod, const Container& container) {
  return non_root_value(pod, container) != nullptr;
}

namespace {

// Calls `visit` with each capability that a container adds.
template <typename Visit>
void each_added(const Input& in, Visit visit) {
  for (const PodTemplate& pod : in.pods)
    for (const Container& container : pod.containers)
      for (const Word& word : texts_at(*container.value, "securityContext.capabilities.add"))
        visit(pod, container, word);
}

void capability_without_effect(const Input& in, Findings& out) {
  each_added(in, [&](const PodTemplate& pod, const Container& container, const Word& word) {
    if (word.text != "IPC_LOCK" && word.text != "CAP_IPC_LOCK") return;
    if (flag_at(*container.value, "securityContext.privileged").value_or(false)) return;
    const Value* user = non_root_value(pod, container);
    const bool mapped = flag_at(*pod.spec, "hostUsers") == false;
    if (user == nullptr && !mapped) return;
    auto& reported = out.warning(
        word.span,
        mapped
            ? fmt::format("container {} of {} gets IPC_LOCK in a user namespace of its own (hostUsers: false), and the "
                          "kernel asks for it in the machine's: registering RDMA memory fails with ENOMEM",
                          container.name, pod.label())
            : fmt::format("container {} of {} does not run as root, and Kubernetes has no ambient capabilities: "
                          "IPC_LOCK has no effect, and registering RDMA memory fails with ENOMEM",
                          container.name, pod.label()));
    reported.note(mapped ? at(*pod.spec, "hostUsers")->span : user->span, mapped ? "set here" : "its user is set here")
        .with_fix(
            "LimitMEMLOCK=infinity for the container runtime (containerd, CRI-O), a root user, or setcap "
            "cap_ipc_lock+ep on the program in the image");
  });
}

void capability_with_prefix(const Input& in, Findings& out) {
  constexpr std::string_view kPrefix = "CAP_";
  const auto report = [&](const PodTemplate& pod, const Container& container, const Word& word) {
    if (!word.text.starts_with(kPrefix)) return;
    const std::string name = word.text.substr(kPrefix.size());
    auto& reported =
        out.warning(word.span, fmt::format("{} of container {} of {}: Kubernetes names capabilities without "
                                           "CAP_, and containerd makes CAP_{} of this one, which does not exist",
                                           word.text, container.name, pod.label(), word.text))
            .with_fix(name);
    if (word.span.length == static_cast<int>(word.text.size())) reported.with_edit(word.span, name);
  };
  each_added(in, report);
}

// All capabilities of Linux, without CAP_ (capability.h).
constexpr std::string_view kCapabilities[] = {"AUDIT_CONTROL",   "AUDIT_READ",   "AUDIT_WRITE",
                                              "BLOCK_SUSPEND",   "BPF",          "CHECKPOINT_RESTORE",
                                              "CHOWN",           "DAC_OVERRIDE", "DAC_READ_SEARCH",
                                              "FOWNER",          "FSETID",       "IPC_LOCK",
                                              "IPC_OWNER",       "KILL",         "LEASE",
                                              "LINUX_IMMUTABLE", "MAC_ADMIN",    "MAC_OVERRIDE",
                                              "MKNOD",           "NET_ADMIN",    "NET_BIND_SERVICE",
                                              "NET_BROADCAST",   "NET_RAW",      "PERFMON",
                                              "SETFCAP",         "SETGID",       "SETPCAP",
                                              "SETUID",          "SYSLOG",       "SYS_ADMIN",
                                              "SYS_BOOT",        "SYS_CHROOT",   "SYS_MODULE",
                                              "SYS_NICE",        "SYS_PACCT",    "SYS_PTRACE",
                                              "SYS_RAWIO",       "SYS_RESOURCE", "SYS_TIME",
                                              "SYS_TTY_CONFIG",  "WAKE_ALARM"};

void unknown_capability(const Input& in, Findings& out) {
  each_added(in, [&](const PodTemplate& pod, const Container& container, const Word& word) {
    std::string name = word.text;
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    if (name.starts_with("CAP_") || name == "ALL" || std::ranges::find(kCapabilities, name) != std::end(kCapabilities))
      return;
    const std::string near = doc::nearest(name, {std::begin(kCapabilities), std::end(kCapabilities)});
    if (near.empty()) return;
    auto& reported = out.error(word.span, fmt::format("container {} of {} adds the capability {}, which Linux does not "
                                                      "have: it starts without it, or not at all",
                                                      container.name, pod.label(), word.text))
                         .with_fix("did you mean " + near + "?");
    if (word.span.length == static_cast<int>(word.text.size())) reported.with_edit(word.span, near);
  });
}

// What Pod Security's standard "baseline" refuses in a pod: a sentence's part and its place.
struct Refused {
  std::string what;
  doc::Span span;
};

bool is_baseline_capability(std::string_view name) {
  static constexpr std::string_view kNames[] = {"AUDIT_WRITE", "CHOWN",  "DAC_OVERRIDE",     "FOWNER",  "FSETID",
                                                "KILL",        "MKNOD",  "NET_BIND_SERVICE", "SETFCAP", "SETGID",
                                                "SETPCAP",     "SETUID", "SYS_CHROOT"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

std::vector<Refused> refused_by_baseline(const PodTemplate& pod) {
  std::vector<Refused> all;
  for (const std::string_view key : {"hostNetwork", "hostPID", "hostIPC"})
    if (flag_at(*pod.spec, key).value_or(false)) all.push_back({std::string(key), at(*pod.spec, key)->span});
  if (const Value* volumes = pod.spec->find("volumes"); volumes != nullptr && volumes->is_array())
    for (const Value& volume : *volumes->as_array())
      if (const Value* path = volume.find("hostPath")) all.push_back({"a hostPath volume", path->span});
  for (const Container& container : pod.containers) {
    if (flag_at(*container.value, "securityContext.privileged").value_or(false))
      all.push_back({"privileged", at(*container.value, "securityContext.privileged")->span});
    for (const Word& word : texts_at(*container.value, "securityContext.capabilities.add"))
      if (!is_baseline_capability(word.text)) all.push_back({"capability " + word.text, word.span});
  }
  return all;
}

// The Namespace whose Pod Security refuses what RDMA needs, and its level; null where none is known to.
const Value* enforced_level(const Input& in, const PodTemplate& pod) {
  if (at(pod.document->value, "metadata.namespace") == nullptr) return nullptr;
  for (const Document& document : in.bundle.documents) {
    if (document.kind != "Namespace" || document.name != pod.document->ns) continue;
    const Value* labels = at(document.value, "metadata.labels");
    const Value* level = labels == nullptr ? nullptr : labels->find("pod-security.kubernetes.io/enforce");
    if (level == nullptr || level->as_string() == nullptr) continue;
    if (*level->as_string() == "baseline" || *level->as_string() == "restricted") return level;
  }
  return nullptr;
}

void pod_security(const Input& in, Findings& out) {
  for (const PodTemplate& pod : in.pods) {
    const Value* level = enforced_level(in, pod);
    const auto refused = level == nullptr ? std::vector<Refused>() : refused_by_baseline(pod);
    if (refused.empty()) continue;
    std::vector<std::string> words;
    for (const Refused& one : refused) words.push_back(one.what);
    out.error(refused.front().span,
              fmt::format("Pod Security of namespace {} enforces \"{}\", which refuses pods of {}: {}",
                          pod.document->ns, *level->as_string(), pod.label(), fmt::join(words, ", ")))
        .note(level->span, "enforced here")
        .with_fix("pod-security.kubernetes.io/enforce: privileged");
  }
}

constexpr Rule kPrivilegeRules[] = {
    {"RB-PRIV-001", "IPC_LOCK in a container that is not root", Needs::kNothing, capability_without_effect},
    {"RB-PRIV-002", "a capability with the prefix CAP_", Needs::kNothing, capability_with_prefix},
    {"RB-PRIV-004", "a capability that Linux does not have", Needs::kNothing, unknown_capability},
    {"RB-PRIV-003", "a pod that Pod Security refuses", Needs::kNothing, pod_security},
};

}  // namespace

std::span<const Rule> privilege_rules() {
  return kPrivilegeRules;
}

}  // namespace railbed::check
