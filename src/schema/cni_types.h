// SPDX-License-Identifier: Apache-2.0
// The single table of CNI types: which exist, the purpose of each, and the keys of its configuration.
//
// Why a single table: what `check` reports about a key, what attaching refuses, which plugins the agent serves, the
// labels of its metrics, the names under which `railbed cni install` installs the shim, and the lists in the
// documentation are all derived from it, so they cannot contradict each other. The rows are in cni_table.h; a new type
// is one row there, one file src/attach/<identifier>.cc, one folder testdata/types/<name> and one page
// docs/plugins/<name>.md, and a test or the linker names each missing one. Nested objects (the ranges of an ipam block)
// have their schemas in src/schema/data/cni.yaml, to which a key refers by name.
// Threading: constants and pure functions.
// Failure: a problem is a sentence; those of values are found by cni_values.h.
// Source: the configuration structs of containernetworking/plugins, sriov-cni, ib-sriov-cni, rdma-cni, whereabouts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace railbed::schema {

// The IPAM types that railbed does itself.
enum class IpamType : uint8_t { kNone, kHostLocal, kStatic, kWhereabouts, kDhcp };

enum class CniRole : uint8_t {
  kMain,     // makes an interface, and is the first of a list
  kChained,  // changes an interface that a type before it has made
  kIpam,     // gives addresses, and is called by a main type
  kMeta,     // all networks of a pod
};

enum class KeyType : uint8_t {
  kText,
  kFlag,
  kNumber,
  kChoice,
  kTexts,   // a list of texts
  kObject,  // any keys
  kAny,     // of no interest here
  kShape,   // as `shape` says
};

// Numbers within a key's bounds that are refused nevertheless.
struct ReservedNumbers {
  int first = 0;
  int last = -1;
  std::string_view why;  // "one of the kernel's own": "table 254 is one of the kernel's own"
};

// Why a text is none that the key takes: "\"x\" is not a MAC address (one looks like …)"; nothing where it is right.
using TextProblem = std::optional<std::string> (*)(const std::string& text);

struct CniKey {
  std::string_view name;
  KeyType type = KeyType::kText;
  int min = 0;          // of a number
  int max = INT32_MAX;  // INT32_MAX: no bound but that of the number itself
  ReservedNumbers reserved = {};
  std::span<const std::string_view> choices = {};
  TextProblem problem = nullptr;  // of a text, or of each text of a list
  std::string_view shape = {};    // of kShape, in the notation of check's schemas: "$route"
  bool required = false;
  bool of_host = false;  // it names an interface, a device, a file or a socket of the node
};

struct CniType {
  std::string_view name;
  CniRole role = CniRole::kMain;
  bool ours = false;                  // railbed is this plugin; other types exist, and are executed where they are used
  std::string_view does = {};         // "a VF in the pod, with its settings", for the lists in the documentation
  std::span<const CniKey> keys = {};  // besides cni_common_keys() (not for IPAM types); none are known of foreign types
  std::span<const std::string_view> one_of = {};  // keys of which one must be there
  std::string_view also_called = {};              // a second name of its program: "ib-sriov-cni"
  IpamType ipam = IpamType::kNone;                // of ours with the role kIpam
  bool needs_own_files = false;  // DEL of the original leaves a device as it is without files from its ADD

  // Whether attaching does it.
  bool makes_or_changes_interfaces() const { return ours && (role == CniRole::kMain || role == CniRole::kChained); }
};

// Ours first: main types, chained ones, IPAM types, the meta plugin; then those of others.
std::span<const CniType> cni_types();
// By its name, or its second one; null for an unknown type.
const CniType* find_cni_type(std::string_view name);
// What every plugin's configuration may have, and what the runtime or a meta plugin adds.
std::span<const CniKey> cni_common_keys();
// A key of the type, or a common one; null when there is none of that name.
const CniKey* find_cni_key(const CniType& type, std::string_view key);

// Whether published configurations of the type have a key that its plugin does not read.
bool is_often_copied(std::string_view type, std::string_view key);

}  // namespace railbed::schema
