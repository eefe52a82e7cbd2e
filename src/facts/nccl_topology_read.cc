// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <set>

#include <expat.h>

#include "base/format.h"
#include "base/number.h"
#include "doc/text.h"
#include "facts/nccl_topology.h"

namespace railbed::facts {
namespace {

// NCCL itself takes 256 elements below a CPU, and values of 254 bytes.
constexpr size_t kMostBytes = 1 << 20;
constexpr size_t kMostDepth = 64;
constexpr size_t kMostFunctions = 1024;

enum class Element : uint8_t { kSystem, kCpu, kPci, kOther };
enum class DeviceKind : uint8_t { kOther, kGpu, kNic };

struct Open {
  Element element = Element::kOther;
  std::string bus_id;
  DeviceKind kind = DeviceKind::kOther;
  XML_Size line = 0;
};

DeviceKind kind_of_class(std::string_view class_code) {
  if (class_code.starts_with("0x03")) return DeviceKind::kGpu;
  return class_code.starts_with("0x02") ? DeviceKind::kNic : DeviceKind::kOther;
}

class TopologyReader {
 public:
  explicit TopologyReader(std::string_view name) : name_(name), parser_(XML_ParserCreate(nullptr), XML_ParserFree) {
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(
        parser_.get(),
        [](void* self, const XML_Char* element, const XML_Char** attributes) {
          static_cast<TopologyReader*>(self)->begin(element, attributes);
        },
        [](void* self, const XML_Char*) { static_cast<TopologyReader*>(self)->end(); });
    XML_SetStartDoctypeDeclHandler(parser_.get(),
                                   [](void* self, const XML_Char*, const XML_Char*, const XML_Char*, int) {
                                     auto* reader = static_cast<TopologyReader*>(self);
                                     reader->refuse(reader->line(), "a DOCTYPE, which NCCL's files never contain");
                                   });
  }

  Result<NcclTopology> read(std::string_view text) {
    if (text.size() > kMostBytes)
      return fail(Code::kInvalid, "{}: larger than {} bytes, the limit for a topology", name_, kMostBytes);
    const XML_Status status = XML_Parse(parser_.get(), text.data(), static_cast<int>(text.size()), XML_TRUE);
    if (problem_) return std::unexpected(std::move(*problem_));
    if (status != XML_STATUS_OK)
      return fail(Code::kInvalid, "{}:{}: not XML: {}", name_, line(),
                  XML_ErrorString(XML_GetErrorCode(parser_.get())));
    if (topology_.gpus.empty() && topology_.nics.empty())
      return fail(Code::kInvalid, "{}: it has neither GPUs nor NICs", name_);
    return std::move(topology_);
  }

 private:
  XML_Size line() const { return XML_GetCurrentLineNumber(parser_.get()); }

  void refuse(XML_Size at, std::string_view what) {
    if (!problem_) problem_ = fail(Code::kInvalid, "{}:{}: {}", name_, at, what).error();
    XML_StopParser(parser_.get(), XML_FALSE);
  }

  static std::string_view value_of(const XML_Char** attributes, std::string_view key) {
    for (; *attributes != nullptr; attributes += 2)
      if (*attributes == key) return attributes[1];
    return {};
  }

  void begin(std::string_view element, const XML_Char** attributes) {
    if (problem_) return;
    if (open_.size() == kMostDepth)
      return refuse(line(), fmt::format("more than {} elements in each other", kMostDepth));
    if (open_.empty()) return begin_root(element, attributes);
    Open one{.line = line()};
    const Element above = open_.back().element;
    if (element == "cpu" && above == Element::kSystem) {
      one.element = Element::kCpu;
      if (!begin_cpu(value_of(attributes, "numaid"))) return;
    } else if (element == "pci" && (above == Element::kCpu || above == Element::kPci)) {
      one.element = Element::kPci;
      one.bus_id = value_of(attributes, "busid");
      one.kind = kind_of_class(value_of(attributes, "class"));
      if (one.bus_id.empty()) return refuse(line(), "<pci> without a busid");
    } else if (above == Element::kPci && element == "gpu") {
      open_.back().kind = DeviceKind::kGpu;
    } else if (above == Element::kPci && element == "nic") {
      open_.back().kind = DeviceKind::kNic;
    }
    open_.push_back(std::move(one));
  }

  void begin_root(std::string_view element, const XML_Char** attributes) {
    if (element != "system")
      return refuse(line(), fmt::format("<{}>: a topology of NCCL begins with <system>", doc::printable(element)));
    if (const std::string_view version = value_of(attributes, "version"); version != "1")
      return refuse(line(), fmt::format("version \"{}\" of the format; \"1\" is known", doc::printable(version)));
    open_.push_back({.element = Element::kSystem});
  }

  bool begin_cpu(std::string_view text) {
    const std::optional<int> number = whole_number<int>(text);
    if (number.value_or(-2) < -1) {
      refuse(line(), fmt::format("numaid \"{}\" of a <cpu> is not a NUMA node number", doc::printable(text)));
      return false;
    }
    numa_node_ = number == -1 ? std::nullopt : number;
    return true;
  }

  void end() {
    if (problem_) return;
    const Open closed = std::move(open_.back());
    open_.pop_back();
    if (closed.kind == DeviceKind::kOther) return;
    const Result<PciAddress> address = PciAddress::parse(closed.bus_id);
    if (!address)
      return refuse(closed.line, fmt::format("busid \"{}\" is not a PCI address", doc::printable(closed.bus_id)));
    if (!seen_.insert(*address).second) return refuse(closed.line, fmt::format("duplicate {}", *address));
    if (seen_.size() > kMostFunctions)
      return refuse(closed.line, fmt::format("more than {} GPUs and NICs", kMostFunctions));
    NcclFunction found{.address = *address, .switches = {}, .numa_node = numa_node_};
    for (auto above = open_.rbegin(); above != open_.rend() && above->element == Element::kPci; ++above)
      found.switches.push_back(above->bus_id);
    (closed.kind == DeviceKind::kGpu ? topology_.gpus : topology_.nics).push_back(std::move(found));
  }

  std::string name_;
  std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser_;
  std::optional<Error> problem_;
  std::vector<Open> open_;
  std::optional<int> numa_node_;  // of the <cpu> that is open
  std::set<PciAddress> seen_;
  NcclTopology topology_;
};

}  // namespace

Result<NcclTopology> parse_nccl_topology(std::string_view text, std::string_view name) {
  return TopologyReader(name).read(text);
}

}  // namespace railbed::facts
