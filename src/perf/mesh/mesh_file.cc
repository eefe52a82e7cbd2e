// SPDX-License-Identifier: Apache-2.0
#include "perf/mesh/mesh_file.h"

#include <bit>
#include <concepts>
#include <set>
#include <utility>

#include "base/fnv1a.h"

namespace railbed::perf::mesh {
namespace {

constexpr std::string_view kMagic = "RBMESH\r\n";
constexpr size_t kSectionHead = 16;
constexpr size_t kChecksum = 8;

enum class Kind : uint32_t { kFabric = 1, kRound = 2, kLost = 3, kEnd = 4 };

constexpr uint16_t kNoNic = 0xffff;
constexpr uint16_t kUnknownLeaf = 0xfffe;
static_assert(kMaxLeaves < kUnknownLeaf);

template <std::unsigned_integral Number>
void put(std::string& out, Number number) {
  for (size_t i = 0; i < sizeof(Number); ++i) out.push_back(static_cast<char>(number >> (8 * i)));
}

void put_text(std::string& out, std::string_view text) {
  put(out, static_cast<uint16_t>(text.size()));
  out += text;
}

std::string section(Kind kind, uint32_t number, std::string_view body) {
  std::string out;
  out.reserve(kSectionHead + body.size() + kChecksum);
  put(out, static_cast<uint32_t>(kind));
  put(out, number);
  put(out, uint64_t{body.size()});
  out += body;
  put(out, fnv1a(out));
  return out;
}

// Takes values from the front of a text; the first that is not there ends it.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : left_(bytes) {}

  template <std::unsigned_integral Number>
  Result<Number> number(std::string_view what) {
    if (left_.size() < sizeof(Number)) return fail(Code::kInvalid, "it ends before its {}", what);
    Number result = 0;
    for (size_t i = 0; i < sizeof(Number); ++i)
      result |= static_cast<Number>(static_cast<Number>(static_cast<unsigned char>(left_[i])) << (8 * i));
    left_.remove_prefix(sizeof(Number));
    return result;
  }
  Result<std::string_view> take(size_t count, std::string_view what) {
    if (left_.size() < count) return fail(Code::kInvalid, "it ends before its {}", what);
    const std::string_view result = left_.substr(0, count);
    left_.remove_prefix(count);
    return result;
  }
  Result<std::string> text(std::string_view what) {
    const auto size = TRY(number<uint16_t>(what));
    return std::string(TRY(take(size, what)));
  }
  Result<void> end() const {
    if (!left_.empty()) return fail(Code::kInvalid, "extra bytes at the end: {}", left_.size());
    return {};
  }

 private:
  std::string_view left_;
};

std::string fabric_body(const Fabric& fabric, const ScheduleSpec& spec) {
  std::string body;
  put(body, static_cast<uint8_t>(spec.pattern));
  put(body, static_cast<uint8_t>(spec.rails));
  put(body, spec.partners);
  put(body, spec.seed);
  put(body, static_cast<uint32_t>(spec.shifts.size()));
  for (const uint32_t shift : spec.shifts) put(body, shift);
  for (const auto* names : {&fabric.rails, &fabric.leaves}) {
    put(body, static_cast<uint16_t>(names->size()));
    for (const std::string& name : *names) put_text(body, name);
  }
  put(body, fabric.hosts());
  for (const Endpoint& endpoint : fabric.endpoints) {
    put_text(body, endpoint.host);
    for (const RailPort& port : endpoint.ports) put(body, port.there ? port.leaf.value_or(kUnknownLeaf) : kNoNic);
  }
  return body;
}

Result<ScheduleSpec> read_schedule_spec(Bytes& bytes) {
  ScheduleSpec spec;
  const auto pattern = TRY(bytes.number<uint8_t>("pattern"));
  const auto rails = TRY(bytes.number<uint8_t>("rail pairs"));
  if (pattern > static_cast<uint8_t>(Pattern::kShift)) return fail(Code::kInvalid, "unknown pattern {}", pattern);
  if (rails > static_cast<uint8_t>(RailPairs::kAll)) return fail(Code::kInvalid, "unknown rail pairs {}", rails);
  spec.pattern = static_cast<Pattern>(pattern);
  spec.rails = static_cast<RailPairs>(rails);
  spec.partners = TRY(bytes.number<uint32_t>("number of partners"));
  spec.seed = TRY(bytes.number<uint64_t>("seed"));
  const auto shifts = TRY(bytes.number<uint32_t>("number of shifts"));
  for (uint32_t i = 0; i < shifts; ++i) spec.shifts.push_back(TRY(bytes.number<uint32_t>("shifts")));
  return spec;
}

Result<RailPort> read_port(Bytes& bytes) {
  const auto number = TRY(bytes.number<uint16_t>("leaves of NICs"));
  if (number == kNoNic) return RailPort{.there = false, .leaf = {}};
  if (number == kUnknownLeaf) return RailPort{};
  return RailPort{.leaf = number};
}

Result<MeshResults> read_fabric(std::string_view body) {
  Bytes bytes(body);
  ScheduleSpec spec = TRY(read_schedule_spec(bytes));
  Fabric fabric;
  for (auto* names : {&fabric.rails, &fabric.leaves}) {
    const auto count = TRY(bytes.number<uint16_t>("number of names"));
    for (uint16_t i = 0; i < count; ++i) names->push_back(TRY(bytes.text("names")));
  }
  if (fabric.rails.size() > kMaxRails)  // before each host has a port for each of them
    return fail(Code::kInvalid, "it has {} rails; {} is the limit", fabric.rails.size(), kMaxRails);
  const auto hosts = TRY(bytes.number<uint32_t>("number of hosts"));
  if (hosts > kMaxHosts) return fail(Code::kInvalid, "it has {} hosts; {} is the limit", hosts, kMaxHosts);
  for (uint32_t i = 0; i < hosts; ++i) {
    Endpoint& endpoint = fabric.endpoints.emplace_back();
    endpoint.host = TRY(bytes.text("hosts"));
    for (size_t rail = 0; rail < fabric.rails.size(); ++rail) endpoint.ports.push_back(TRY(read_port(bytes)));
  }
  TRY(bytes.end());
  spec.hosts = hosts;
  spec.rail_count = fabric.rail_count();
  return MeshResults::make(std::move(fabric), TRY(Schedule::make(std::move(spec))));
}

Result<PairResult> read_pair(Bytes& bytes) {
  PairResult result;
  for (LogValue* value : {&result.forward_mbps, &result.reverse_mbps, &result.p50_ns, &result.p99_ns})
    *value = LogValue(TRY(bytes.number<uint16_t>("results")));
  result.state_and_samples = TRY(bytes.number<uint8_t>("results"));
  result.outages = TRY(bytes.number<uint8_t>("results"));
  if (result.state() == PairState::kNotRun) return fail(Code::kInvalid, "a result says that its pair was not run");
  return result;
}

Result<void> read_round(uint32_t number, std::string_view body, MeshResults& results) {
  const size_t pairs = results.schedule().pairs_per_round();
  if (number >= results.schedule().rounds())
    return fail(Code::kInvalid, "the schedule has {} rounds", results.schedule().rounds());
  if (results.rounds().contains(number)) return fail(Code::kInvalid, "duplicate round");
  Bytes bytes(body);
  const std::string_view bitmap = TRY(bytes.take((pairs + 7) / 8 * results.fabric().rail_count(), "list of pairs"));
  std::vector<PairResult> round(pairs * results.fabric().rail_count());
  for (size_t i = 0; i < round.size(); ++i) {
    const size_t bit = i % pairs;
    const auto byte = static_cast<unsigned char>(bitmap[i / pairs * ((pairs + 7) / 8) + bit / 8]);
    if ((byte >> bit % 8 & 1) != 0) round[i] = TRY(read_pair(bytes));
  }
  TRY(bytes.end());
  results.put_round(number, std::move(round));
  return {};
}

Result<void> read_lost(uint32_t host, std::string_view body, MeshResults& results) {
  Bytes bytes(body);
  LostHost lost{.host = host, .round = TRY(bytes.number<uint32_t>("round")), .reason = TRY(bytes.text("reason"))};
  TRY(bytes.end());
  if (host >= results.fabric().hosts()) return fail(Code::kInvalid, "the mesh has {} hosts", results.fabric().hosts());
  if (lost.reason.size() > kMaxReasonBytes)
    return fail(Code::kInvalid, "its reason has {} bytes; {} is the limit", lost.reason.size(), kMaxReasonBytes);
  const size_t before = results.lost().size();
  results.lose(std::move(lost));
  if (results.lost().size() == before) return fail(Code::kInvalid, "this host was already lost");
  return {};
}

std::string name_of(Kind kind, uint32_t number) {
  switch (kind) {
    case Kind::kFabric:
      return "fabric";
    case Kind::kRound:
      return fmt::format("round {}", number);
    case Kind::kLost:
      return fmt::format("lost host {}", number);
    case Kind::kEnd:
      return "end";
  }
  return fmt::format("section of unknown kind {}", static_cast<uint32_t>(kind));
}

struct Section {
  Kind kind = Kind::kEnd;
  uint32_t number = 0;
  std::string_view body;
  size_t begins = 0;
};

// Sections one after the other; knows where it is.
class Sections {
 public:
  Sections(std::string_view all, size_t at) : all_(all), at_(at) {}

  bool at_end() const { return at_ == all_.size(); }
  Result<Section> next() {
    Bytes bytes(all_.substr(at_));
    Section section{.begins = at_};
    if (all_.size() - at_ < kSectionHead) return fail_at(at_, "the file ends within the head of a section");
    section.kind = static_cast<Kind>(TRY(bytes.number<uint32_t>("kind")));
    section.number = TRY(bytes.number<uint32_t>("number"));
    const auto size = TRY(bytes.number<uint64_t>("size"));
    const size_t left = all_.size() - at_ - kSectionHead;
    const std::string name = name_of(section.kind, section.number);
    if (left < kChecksum || size > left - kChecksum)
      return fail_at(at_, fmt::format("{}: the file ends before the {} bytes that it should have", name, size));
    section.body = TRY(bytes.take(size, "body"));
    if (fnv1a(all_.substr(at_, kSectionHead + size)) != TRY(bytes.number<uint64_t>("checksum")))
      return fail_at(at_, fmt::format("{}: checksum mismatch", name));
    at_ += kSectionHead + size + kChecksum;
    return section;
  }
  static std::unexpected<Error> fail_at(size_t byte, std::string_view what) {
    return fail(Code::kInvalid, "mesh file, at byte {}: {}", byte, what);
  }

 private:
  std::string_view all_;
  size_t at_;
};

// What stands behind the first section, up to the first damage.
Result<void> read_rest(Sections sections, MeshResults& results) {
  while (!sections.at_end()) {
    const Section section = TRY(sections.next());
    Result<void> taken;
    switch (section.kind) {
      case Kind::kRound:
        taken = read_round(section.number, section.body, results);
        break;
      case Kind::kLost:
        taken = read_lost(section.number, section.body, results);
        break;
      case Kind::kEnd:
        if (section.number != results.rounds().size() || !section.body.empty())
          taken = fail(Code::kInvalid, "expected {} rounds, found {}", section.number, results.rounds().size());
        else if (!sections.at_end())
          taken = fail(Code::kInvalid, "extra data after it");
        else
          return {};
        break;
      default:
        taken = fail(Code::kInvalid, "it is not allowed here");
    }
    if (!taken.has_value())
      return Sections::fail_at(section.begins,
                               fmt::format("{}: {}", name_of(section.kind, section.number), taken.error().to_string()));
  }
  return fail(Code::kInvalid,
              "mesh file: the end is missing (rounds read: {}): the mesh was stopped, or the file was cut",
              results.rounds().size());
}

}  // namespace

std::string mesh_file_head(const MeshResults& results) {
  std::string out(kMagic);
  put(out, kMeshFileVersion);
  return out + section(Kind::kFabric, 0, fabric_body(results.fabric(), results.schedule().spec()));
}

std::string mesh_file_round(const MeshResults& results, uint32_t round) {
  const auto found = results.rounds().find(round);
  const size_t pairs = results.schedule().pairs_per_round();
  const size_t row = (pairs + 7) / 8;
  std::string body(row * results.fabric().rail_count(), '\0');
  if (found == results.rounds().end()) return section(Kind::kRound, round, body);
  for (size_t i = 0; i < found->second.size(); ++i) {
    const PairResult& result = found->second[i];
    if (result.state() == PairState::kNotRun) continue;
    char& byte = body[i / pairs * row + i % pairs / 8];
    byte = static_cast<char>(static_cast<unsigned char>(byte) | 1U << (i % pairs % 8));
    for (const LogValue& value : {result.forward_mbps, result.reverse_mbps, result.p50_ns, result.p99_ns})
      put(body, value.code());
    put(body, result.state_and_samples);
    put(body, result.outages);
  }
  return section(Kind::kRound, round, body);
}

std::string mesh_file_lost(const LostHost& lost) {
  std::string body;
  put(body, lost.round);
  put_text(body, lost.reason);
  return section(Kind::kLost, lost.host, body);
}

std::string mesh_file_end(const MeshResults& results) {
  return section(Kind::kEnd, static_cast<uint32_t>(results.rounds().size()), {});
}

bool is_mesh_file(std::string_view bytes) {
  return bytes.starts_with(kMagic);
}

Result<MeshFile> read_mesh_file(std::string_view bytes) {
  if (!is_mesh_file(bytes)) return Sections::fail_at(0, "not a mesh file: it does not begin with RBMESH");
  Bytes head(bytes.substr(kMagic.size()));
  const auto version = head.number<uint32_t>("version");
  if (!version) return Sections::fail_at(kMagic.size(), "the file ends before its version");
  if (*version != kMeshFileVersion)
    return Sections::fail_at(kMagic.size(), fmt::format("version {} is not supported, only {}; use the railbed that "
                                                        "wrote it, or a newer one",
                                                        *version, kMeshFileVersion));
  Sections sections(bytes, kMagic.size() + sizeof(uint32_t));
  const Section first = TRY(sections.next());
  if (first.kind != Kind::kFabric)
    return Sections::fail_at(first.begins,
                             fmt::format("{}: the fabric must come first", name_of(first.kind, first.number)));
  auto results = read_fabric(first.body);
  if (!results.has_value())
    return Sections::fail_at(first.begins, fmt::format("fabric: {}", results.error().to_string()));
  MeshFile file{std::move(*results), {}};
  if (auto rest = read_rest(sections, file.results); !rest.has_value()) file.damage = rest.error();
  return file;
}

}  // namespace railbed::perf::mesh
