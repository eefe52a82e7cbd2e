// SPDX-License-Identifier: Apache-2.0
#include "perf/collective/collective_message.h"

#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "doc/fields.h"
#include "doc/text.h"
#include "perf/json_writer.h"

namespace railbed::perf::collective {
namespace {

using doc::Fields;

constexpr size_t kMaxName_bytes = 64;
constexpr size_t kMaxPeers = 5;  // two of the ring, three of the tree
constexpr int64_t kMaxNumber = int64_t{1} << 31;
constexpr int64_t kMost_us = 3'600'000'000;  // longer than a coordinator waits
constexpr int64_t kMaxElements = kLargest_bytes / kElement_bytes;

constexpr std::array<std::string_view, 2> kTransports = {"rdma", "tcp"};

// A hundredth of a microsecond is more than a clock gives, and keeps lists short.
double rounded(double us) {
  return std::round(us * 100) / 100;
}

void write_times(JsonWriter& writer, std::string_view key, const std::vector<double>& times_us) {
  writer.begin_array(key, JsonWriter::Array::kOnOneLine);
  for (const double us : times_us) writer.number({}, rounded(us));
  writer.end_array();
}

void write_links(JsonWriter& writer, const std::vector<LinkAddress>& links) {
  writer.begin_array("links");
  for (const LinkAddress& link : links) {
    writer.begin_object().integer("peer", link.peer).text("name", link.name.substr(0, kMaxName_bytes));
    if (link.address) writer.text("address", link.address->to_string());
    if (link.serves_at != 0) writer.integer("serves_at", link.serves_at);
    if (link.rdma) write_rdma(writer, *link.rdma);
    if (link.tcp) write_tcp(writer, *link.tcp);
    writer.end_object();
  }
  writer.end_array();
}

// Of two entries about one thing, which is right is unknown.
template <typename T, typename Number>
void need_distinct(Fields& fields, std::string_view key, const std::vector<T>& entries, std::string_view what,
                   const Number& number) {
  std::set<uint32_t> seen;
  for (const T& entry : entries)
    if (!seen.insert(number(entry)).second) {
      fields.wrong(key, fmt::format("duplicate {} {}", what, number(entry)));
      return;
    }
}

void read_links(Fields& fields, std::vector<LinkAddress>& links) {
  fields.require("links");
  const auto read_link = [](Fields& from, LinkAddress& link) {
    from.need("peer", link.peer, {.min = 0, .max = kMaxRanks - 1});
    from.need("name", link.name, {.bytes = 4 * kMaxName_bytes});
    link.name = mesh::problem_text(link.name).substr(0, kMaxName_bytes);
    from.read("address", link.address, {.bytes = 64});
    from.read("serves_at", link.serves_at, {.min = 1, .max = 65535});
    read_rdma(from, link.rdma);
    if (link.rdma && link.rdma->qps.size() != 1) from.wrong("rdma", "a link has one queue pair");
    read_tcp(from, link.tcp);
  };
  fields.each("links", links, read_link, kMaxPeers);
  need_distinct(fields, "links", links, "peer", [](const LinkAddress& link) { return link.peer; });
}

void read_rail(Fields& fields, uint32_t& rail) {
  fields.need("rail", rail, {.min = 0, .max = mesh::kMaxRails - 1});
}

template <typename T, typename Visit, typename Number>
void need_rails(Fields& fields, std::vector<T>& entries, const Visit& visit, const Number& number) {
  fields.require("rails");
  fields.each("rails", entries, visit, kMaxRails);
  need_distinct(fields, "rails", entries, "rail", number);
}

void read_time(Fields& fields, std::string_view key, double& us) {
  fields.need(key, us, {.min = 0, .max = kMost_us});
}

void read_times(Fields& fields, std::string_view key, std::vector<double>& times_us) {
  fields.need(key, times_us, {.min = 0, .max = kMost_us, .entries = kMaxSteps});
}

void read_wrong(Fields& parent, std::optional<Wrong>& out) {
  parent.inside("wrong", [&](Fields& fields) {
    Wrong& wrong = out.emplace();
    wrong.got = std::numeric_limits<double>::quiet_NaN();  // no number, and so null
    fields.need("offset", wrong.offset, {.min = 0, .max = kMaxElements});
    fields.need("wanted", wrong.wanted);
    fields.read("got", wrong.got);
    fields.need("count", wrong.count, {.min = 1, .max = kMaxElements});
  });
}

void read_rank_times(Fields& fields, RankTimes& times) {
  read_rail(fields, times.rail);
  read_time(fields, "mean_us", times.mean_us);
  read_time(fields, "p50_us", times.p50_us);
  read_time(fields, "p99_us", times.p99_us);
  read_time(fields, "max_us", times.max_us);
  read_time(fields, "waited_p50_us", times.waited_p50_us);
  read_time(fields, "waited_p99_us", times.waited_p99_us);
  read_time(fields, "own_p50_us", times.own_p50_us);
  read_time(fields, "own_max_us", times.own_max_us);
  read_times(fields, "step_waited_us", times.step_waited_us);
  read_times(fields, "step_transfer_us", times.step_transfer_us);
  read_times(fields, "step_reduce_us", times.step_reduce_us);
  read_times(fields, "sent_us", times.sent_us);
  read_wrong(fields, times.wrong);
}

void check_join(Fields& fields, const Join& m) {
  if (m.rank >= m.ranks) fields.wrong("rank", fmt::format("there are {} ranks", m.ranks));
  if (m.algorithms.empty()) fields.wrong("algorithms", "one is needed");
  if (m.rails.empty()) fields.wrong("rails", "one is needed");
  if (m.rails.size() > kMaxRails) fields.wrong("rails", fmt::format("a collective has at most {}", kMaxRails));
  if (m.rails.size() * m.ranks > kMaxNics)
    fields.wrong("ranks",
                 fmt::format("a collective has at most {} NICs, and this one {}", kMaxNics, m.rails.size() * m.ranks));
}

}  // namespace

void write_body(JsonWriter& writer, const Join& m) {
  writer.text("id", m.id.to_string()).text("transport", name_of(m.transport));
  writer.begin_array("algorithms", JsonWriter::Array::kOnOneLine);
  for (const Algorithm algorithm : m.algorithms) writer.text({}, name_of(algorithm));
  writer.end_array().integer("rank", m.rank).integer("ranks", m.ranks);
  writer.integer("largest_bytes", static_cast<int64_t>(m.largest_bytes));
  mesh::write_own_rails(writer, m.rails);
}

void write_body(JsonWriter& writer, const Joined& m) {
  writer.begin_array("rails");
  for (const JoinedRail& rail : m.rails) {
    writer.begin_object();
    mesh::write_found(writer, rail.found);
    write_links(writer, rail.links);
    writer.end_object();
  }
  writer.end_array();
}

void write_body(JsonWriter& writer, const Link& m) {
  writer.begin_array("rails");
  for (const LinkedRail& rail : m.rails) {
    writer.begin_object().integer("rail", rail.rail);
    write_links(writer, rail.links);
    writer.end_object();
  }
  writer.end_array();
}

void write_body(JsonWriter& writer, const Reduce& m) {
  writer.integer("number", m.number)
      .text("algorithm", name_of(m.algorithm))
      .integer("size_bytes", static_cast<int64_t>(m.size_bytes))
      .integer("iterations", m.iterations)
      .integer("warm_up", m.warm_up);
}

void write_body(JsonWriter& writer, const Reduced& m) {
  writer.integer("number", m.number).begin_array("rails");
  for (const RankTimes& times : m.rails) {
    writer.begin_object()
        .integer("rail", times.rail)
        .number("mean_us", rounded(times.mean_us))
        .number("p50_us", rounded(times.p50_us))
        .number("p99_us", rounded(times.p99_us))
        .number("max_us", rounded(times.max_us))
        .number("waited_p50_us", rounded(times.waited_p50_us))
        .number("waited_p99_us", rounded(times.waited_p99_us))
        .number("own_p50_us", rounded(times.own_p50_us))
        .number("own_max_us", rounded(times.own_max_us));
    write_times(writer, "step_waited_us", times.step_waited_us);
    write_times(writer, "step_transfer_us", times.step_transfer_us);
    write_times(writer, "step_reduce_us", times.step_reduce_us);
    write_times(writer, "sent_us", times.sent_us);
    if (times.wrong)
      writer.begin_object("wrong")
          .integer("offset", static_cast<int64_t>(times.wrong->offset))
          .number("wanted", times.wrong->wanted)
          .number("got", times.wrong->got)
          .integer("count", static_cast<int64_t>(times.wrong->count))
          .end_object();
    writer.end_object();
  }
  writer.end_array();
}

void read_body(Fields& fields, Join& m) {
  fields.need("id", m.id, {.bytes = 64});
  fields.require("transport");
  fields.choose("transport", kTransports, m.transport);
  std::vector<std::string> algorithms;
  fields.need("algorithms", algorithms, {.bytes = 8, .entries = kAlgorithmNames.size()});
  for (const std::string& name : algorithms) {
    const auto known = std::ranges::find(kAlgorithmNames, name);
    if (known == kAlgorithmNames.end())
      fields.wrong("algorithms", fmt::format("\"{}\" is neither ring nor tree", doc::printable(name)));
    else
      m.algorithms.push_back(static_cast<Algorithm>(known - kAlgorithmNames.begin()));
  }
  fields.need("rank", m.rank, {.min = 0, .max = kMaxRanks - 1});
  fields.need("ranks", m.ranks, {.min = 2, .max = kMaxRanks});
  fields.need("largest_bytes", m.largest_bytes, {.min = kElement_bytes, .max = kLargest_bytes});
  m.rails = mesh::read_own_rails(fields);
  check_join(fields, m);
}

void read_body(Fields& fields, Joined& m) {
  const auto read = [](Fields& from, JoinedRail& rail) {
    mesh::read_found(from, rail.found);
    read_links(from, rail.links);
  };
  need_rails(fields, m.rails, read, [](const JoinedRail& rail) { return rail.found.rail; });
}

void read_body(Fields& fields, Link& m) {
  const auto read = [](Fields& from, LinkedRail& rail) {
    read_rail(from, rail.rail);
    read_links(from, rail.links);
  };
  need_rails(fields, m.rails, read, [](const LinkedRail& rail) { return rail.rail; });
}

void read_body(Fields& fields, Reduce& m) {
  fields.need("number", m.number, {.min = 0, .max = kMaxNumber});
  fields.require("algorithm");
  fields.choose("algorithm", kAlgorithmNames, m.algorithm);
  fields.need("size_bytes", m.size_bytes, {.min = kElement_bytes, .max = kLargest_bytes});
  if (m.size_bytes % kElement_bytes != 0)
    fields.wrong("size_bytes", fmt::format("{} bytes are not a whole number of float32", m.size_bytes));
  fields.need("iterations", m.iterations, {.min = 1, .max = kMaxIterations});
  fields.need("warm_up", m.warm_up, {.min = 1, .max = kMaxIterations});
}

void read_body(Fields& fields, Reduced& m) {
  fields.need("number", m.number, {.min = 0, .max = kMaxNumber});
  need_rails(fields, m.rails, read_rank_times, [](const RankTimes& times) { return times.rail; });
}

}  // namespace railbed::perf::collective
