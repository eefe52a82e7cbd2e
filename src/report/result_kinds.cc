// SPDX-License-Identifier: Apache-2.0
#include "report/result_kinds.h"

#include <algorithm>
#include <iterator>
#include <thread>

#include "base/well_known.h"
#include "doc/json.h"
#include "perf/collective/collective_report.h"
#include "perf/jitter/jitter_report.h"
#include "perf/mesh/mesh_file.h"
#include "perf/mesh/mesh_report.h"
#include "perf/mesh/outlier_lines.h"
#include "perf/ping/ping_report.h"
#include "report/html_collective.h"
#include "report/html_jitter.h"
#include "report/html_mesh.h"
#include "report/measurements_section.h"

namespace railbed::report {
namespace {

using perf::JitterReport;
using perf::Measurement;
using perf::collective::CollectiveRun;

// What a page with results of several kinds saves.
constexpr perf::ResultName kSavedName{"Results", "railbed.results/v1"};

template <typename T>
class Collected : public ResultsOfKind {
 public:
  using Read = Result<std::vector<T>> (*)(const GivenResult& given);
  using Show = Section (*)(const std::vector<T>& results);
  using Merge = std::string (*)(const std::vector<T>& results);

  Collected(Read read, Show show, Merge merge) : read_(read), show_(show), merge_(merge) {}

  Result<void> add(const GivenResult& given) override {
    std::vector<T> results = TRY(read_(given));
    std::ranges::move(results, std::back_inserter(all_));
    return {};
  }
  bool empty() const override { return all_.empty(); }
  Section section() const override { return show_(all_); }
  bool merges() const override { return merge_ != nullptr; }
  std::string merged() const override { return merges() ? merge_(all_) : ""; }

 private:
  Read read_;
  Show show_;
  Merge merge_;
  std::vector<T> all_;
};

template <typename T>
std::unique_ptr<ResultsOfKind> collected(typename Collected<T>::Read read, typename Collected<T>::Show show,
                                         typename Collected<T>::Merge merge = nullptr) {
  return std::make_unique<Collected<T>>(read, show, merge);
}

// A list with the one result that a document has.
template <typename T>
Result<std::vector<T>> only(Result<T> result) {
  std::vector<T> out;
  out.push_back(TRY(std::move(result)));
  return out;
}

// A mesh as it was saved, analysed again: a second pass is not in the file.
Result<MeshPage> read_mesh(std::string_view bytes) {
  const perf::mesh::MeshFile file = TRY(perf::mesh::read_mesh_file(bytes));
  const perf::mesh::Limits limits;
  const perf::mesh::Analysis analysis =
      perf::mesh::analyse(file.results, limits, std::max(1U, std::thread::hardware_concurrency()));
  const auto outliers = perf::mesh::find_outliers(file.results.fabric(), analysis, limits);
  std::vector<std::string> lines = perf::mesh::outlier_lines(file.results.fabric(), analysis, outliers, limits);
  if (file.damage) lines.insert(lines.begin(), fmt::format("incomplete: {}", file.damage->to_string()));
  const perf::mesh::Coverage coverage = file.results.coverage();
  const bool whole = !file.damage && coverage.measured == coverage.planned;
  return mesh_page(file.results, analysis, std::move(lines), outliers.empty() && whole);
}

std::unique_ptr<ResultsOfKind> collect_meshes() {
  return collected<MeshPage>([](const GivenResult& given) { return only(read_mesh(given.bytes)); }, meshes_section);
}

std::unique_ptr<ResultsOfKind> collect_jitters() {
  return collected<JitterReport>([](const GivenResult& given) { return only(perf::jitter_from(*given.json)); },
                                 jitter_section);
}

std::unique_ptr<ResultsOfKind> collect_measurements() {
  return collected<Measurement>([](const GivenResult& given) { return perf::measurements_from(*given.json); },
                                measurements_section,
                                [](const std::vector<Measurement>& all) { return perf::to_json(all); });
}

std::unique_ptr<ResultsOfKind> collect_collectives() {
  return collected<CollectiveRun>(
      [](const GivenResult& given) { return only(perf::collective::run_from(*given.json)); }, collectives_section);
}

// In the order of sections. Within a place of the page, and within what the terminal shows, it is that of the kinds.
constexpr ResultKind kResultKinds[] = {
    {.name = perf::mesh::kMeshName, .is_file = perf::mesh::is_mesh_file, .collect = collect_meshes},
    {.name = perf::kJitterName, .collect = collect_jitters},
    {.name = perf::kMeasurementsName, .collect = collect_measurements, .refuses_others = true},
    {.name = perf::collective::kCollectiveName, .collect = collect_collectives},
    {.name = perf::kPingName},
};

bool reads_json(const ResultKind& kind) {
  return kind.collect != nullptr && kind.is_file == nullptr;
}

// The place of the kind that reads this result, or says why nothing does.
size_t reader_of(const doc::Value& result) {
  const auto* kind = std::ranges::find_if(
      kResultKinds, [&](const ResultKind& one) { return reads_json(one) && perf::is_result_of(result, one.name); });
  if (kind == std::end(kResultKinds)) kind = std::ranges::find(kResultKinds, true, &ResultKind::refuses_others);
  return static_cast<size_t>(kind - std::begin(kResultKinds));
}

}  // namespace

std::span<const ResultKind> result_kinds() {
  return kResultKinds;
}

Results::Results() {
  for (const ResultKind& kind : result_kinds()) of_kinds_.push_back(kind.collect == nullptr ? nullptr : kind.collect());
}

Result<void> Results::add_result(const doc::Value& result) {
  ResultsOfKind& of_kind = *of_kinds_[reader_of(result)];
  TRY(of_kind.add({.json = &result}));
  if (!of_kind.merges()) unmerged_.push_back(doc::to_json(result));
  return {};
}

Result<void> Results::add(std::string_view file) {
  for (size_t i = 0; i < of_kinds_.size(); ++i)
    if (kResultKinds[i].is_file != nullptr && kResultKinds[i].is_file(file)) return of_kinds_[i]->add({.bytes = file});
  const doc::Value read = TRY(perf::read_result(file));
  const doc::Value* results = read.find("results");
  if (!perf::check_schema(read, kSavedName) || results == nullptr || !results->is_array()) return add_result(read);
  const doc::Value::Array& all = *results->as_array();
  for (size_t i = 0; i < all.size(); ++i) TRY(add_result(all[i]).context("results[{}]", i));
  return {};
}

std::vector<Section> Results::sections() const {
  std::vector<Section> out;
  for (const auto& of_kind : of_kinds_)
    if (of_kind != nullptr && !of_kind->empty()) out.push_back(of_kind->section());
  if (out.empty())
    for (size_t i = 0; i < of_kinds_.size(); ++i)
      if (kResultKinds[i].refuses_others) out.push_back(of_kinds_[i]->section());
  return out;
}

std::string Results::json() const {
  std::vector<std::string> each;
  for (const auto& of_kind : of_kinds_)
    if (of_kind != nullptr && of_kind->merges() && !of_kind->empty()) each.push_back(of_kind->merged());
  if (unmerged_.empty()) return each.empty() ? "" : each.front();
  each.insert(each.end(), unmerged_.begin(), unmerged_.end());
  return fmt::format(R"({{"apiVersion":"{}","kind":"{}","schema":"{}","results":[{}]}})", kOwnApiVersion,
                     kSavedName.kind, kSavedName.schema, fmt::join(each, ","));
}

}  // namespace railbed::report
