// SPDX-License-Identifier: Apache-2.0
#include "perf/mesh/mesh_file.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/fnv1a.h"
#include "perf/mesh/test_mesh.h"
#include "perf/mesh/test_mesh_file.h"

namespace railbed::perf::mesh {
namespace {

constexpr size_t kFirstSection = 12;

MeshResults some_mesh() {
  SimulatedMesh mesh(rail_fabric(5, 2, 2), 1);
  mesh.nic({1, 0}).flaps = 0.5;
  MeshResults results = mesh.run(mesh.full());
  results.lose({.host = 4, .round = 3, .reason = "no heartbeat"});
  return results;
}

void expect_same(const MeshResults& a, const MeshResults& b) {
  EXPECT_EQ(a.fabric(), b.fabric());
  EXPECT_EQ(a.schedule().spec(), b.schedule().spec());
  EXPECT_EQ(a.rounds(), b.rounds());
  EXPECT_EQ(a.lost(), b.lost());
}

std::string damage_of(std::string_view bytes) {
  const auto file = read_mesh_file(bytes);
  if (!file.has_value()) return "refused: " + file.error().to_string();
  return file->damage ? fmt::format("{} read; {}", file->results.rounds().size(), file->damage->to_string()) : "whole";
}

// A section as the format says, by a second hand.
std::string section(uint32_t kind, uint32_t number, const std::string& body) {
  std::string out;
  const auto put = [&](uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
  };
  put(kind, 4);
  put(number, 4);
  put(body.size(), 8);
  out += body;
  put(fnv1a(out), 8);
  return out;
}

TEST(MeshFile, IsReadAsItWasWritten) {
  const MeshResults results = some_mesh();
  const auto file = read_mesh_file(mesh_file(results));
  ASSERT_TRUE(file.has_value()) << file.error().to_string();
  EXPECT_EQ(file->damage, std::nullopt);
  expect_same(results, file->results);
}

TEST(MeshFile, MayBeWrittenRoundByRound) {
  const MeshResults results = some_mesh();
  std::string bytes = mesh_file_head(results) + mesh_file_lost(results.lost()[0]);
  for (const uint32_t round : {3, 0, 1, 4, 2}) bytes += mesh_file_round(results, round);
  const auto file = read_mesh_file(bytes + mesh_file_end(results));
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->damage, std::nullopt);
  expect_same(results, file->results);
}

TEST(MeshFile, IsTenBytesAPair) {
  SimulatedMesh mesh(rail_fabric(64, 8, 0), 1);
  const std::string bytes = mesh_file(mesh.run(mesh.full()));
  EXPECT_LT(bytes.size(), size_t{64 * 63 / 2 * 8 * 11});
}

// Whatever was written stays readable when the writer is killed: the rounds that are whole.
TEST(MeshFile, CutAnywhereHasAllWholeRoundsBefore) {
  const MeshResults results = some_mesh();
  const std::string whole = mesh_file(results);
  std::vector<size_t> ends = {mesh_file_head(results).size()};
  for (uint32_t round = 0; round < results.schedule().rounds(); ++round)
    ends.push_back(ends.back() + mesh_file_round(results, round).size());
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto file = read_mesh_file(whole.substr(0, size));
    ASSERT_EQ(file.has_value(), size >= ends.front()) << size;
    if (!file.has_value()) continue;
    ASSERT_TRUE(file->damage.has_value()) << size;
    const auto rounds = static_cast<size_t>(std::ranges::upper_bound(ends, size) - ends.begin()) - 1;
    ASSERT_EQ(file->results.rounds().size(), rounds) << size;
  }
}

RC_GTEST_PROP(MeshFile, NoChangedByteGoesUnnoticed, ()) {
  static const std::string whole = mesh_file(some_mesh());
  std::string bytes = whole;
  const auto at = *rc::gen::inRange<size_t>(0, bytes.size());
  bytes[at] = static_cast<char>(bytes[at] ^ *rc::gen::inRange(1, 256));
  RC_ASSERT(damage_of(bytes) != "whole");
}

TEST(MeshFile, SaysWhatIsDamagedWhereAndWhy) {
  const MeshResults results = some_mesh();
  const std::string head = mesh_file_head(results);
  const std::string round = mesh_file_round(results, 0);
  const std::string at = std::to_string(head.size());
  std::string other_version = head;
  other_version[8] = 2;
  std::string flipped = round;
  flipped[40] ^= 1;
  std::string flipped_head = head;
  flipped_head[30] ^= 1;
  const std::string row(2, '\0');  // a byte for each rail: two pairs a round
  std::string not_run = std::string("\1", 1) + std::string(11, '\0');
  const std::pair<std::string, std::string> cases[] = {
      {"", "refused: mesh file, at byte 0: not a mesh file: it does not begin with RBMESH"},
      {"RBMESH\r\n\1", "refused: mesh file, at byte 8: the file ends before its version"},
      {other_version,
       "refused: mesh file, at byte 8: version 2 is not supported, only 1; use the railbed that wrote it, or a newer "
       "one"},
      {head.substr(0, kFirstSection + 3), "refused: mesh file, at byte 12: the file ends within the head of a section"},
      {flipped_head, "refused: mesh file, at byte 12: fabric: checksum mismatch"},
      {head.substr(0, kFirstSection) + round, "refused: mesh file, at byte 12: round 0: the fabric must come first"},
      {head, "0 read; mesh file: the end is missing (rounds read: 0): the mesh was stopped, or the file was cut"},
      {head + flipped, "0 read; mesh file, at byte " + at + ": round 0: checksum mismatch"},
      {head + round.substr(0, 20),
       "0 read; mesh file, at byte " + at + ": round 0: the file ends before the 42 bytes that it should have"},
      {head + round + round,
       fmt::format("1 read; mesh file, at byte {}: round 0: duplicate round", head.size() + round.size())},
      {head + section(2, 5, row), "0 read; mesh file, at byte " + at + ": round 5: the schedule has 5 rounds"},
      {head + section(2, 0, "x"), "0 read; mesh file, at byte " + at + ": round 0: it ends before its list of pairs"},
      {head + section(2, 0, row + "x"), "0 read; mesh file, at byte " + at + ": round 0: extra bytes at the end: 1"},
      {head + section(2, 0, "\3\3"), "0 read; mesh file, at byte " + at + ": round 0: it ends before its results"},
      {head + section(2, 0, not_run),
       "0 read; mesh file, at byte " + at + ": round 0: a result says that its pair was not run"},
      {head + mesh_file_lost({.host = 9, .round = 0, .reason = ""}),
       "0 read; mesh file, at byte " + at + ": lost host 9: the mesh has 5 hosts"},
      {head + section(7, 3, ""),
       "0 read; mesh file, at byte " + at + ": section of unknown kind 7: it is not allowed here"},
      {head + section(4, 1, ""), "0 read; mesh file, at byte " + at + ": end: expected 1 rounds, found 0"},
      {head + section(4, 0, "") + "x", "0 read; mesh file, at byte " + at + ": end: extra data after it"},
      {head.substr(0, kFirstSection) + section(1, 0, "\7"),
       "refused: mesh file, at byte 12: fabric: it ends before its rail pairs"},
      {head.substr(0, kFirstSection) + section(1, 0, std::string("\7\0", 2)),
       "refused: mesh file, at byte 12: fabric: unknown pattern 7"},
  };
  for (const auto& [bytes, message] : cases) EXPECT_EQ(damage_of(bytes), message);
}

}  // namespace
}  // namespace railbed::perf::mesh
