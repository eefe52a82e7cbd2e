// SPDX-License-Identifier: Apache-2.0
// What a report has of the results of one kind: pieces of the page, and what the terminal shows.
//
// Why: the page, the terminal and the reading of files know no kinds of results (result_kinds.h lists them). The page
// has places, from top to bottom; a kind fills those that it has something for.
// Threading: plain values.
// Failure: none.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "findings/finding.h"
#include "perf/measurement.h"
#include "report/html_type.h"

namespace railbed::report {

// A path that was measured, for the drawing.
struct MeasuredPath {
  std::string label;  // as given; "": none
  std::string rail;   // the label, or the two ends
  perf::Endpoint client;
  perf::Endpoint server;
};

// What is said first of results.
struct Assessment {
  enum class Tone : uint8_t { kGood, kCaution, kNone };  // kNone: nothing can be said of how good they are
  Tone tone = Tone::kNone;
  std::string headline;
  std::vector<findings::Finding> found = {};  // what speaks against them, then what limits what can be said
  std::vector<std::string> notes = {};        // the usual figures in words
};

struct Charts {
  Html note;         // above them: what they leave out
  Html html;         // their places, each with a text alternative
  std::string list;  // the name of what html.js draws, among the page's data; "": nothing is drawn
  std::string data;  // that list, as JSON
};

struct Section {
  std::optional<size_t> count = {};  // of measurements, for the head of the page; absent: these are not counted
  std::string started_at = {};       // the first of them, UTC; "": not known

  std::optional<Assessment> assessment = {};  // at the top of the page

  // HTML, by its place on the page.
  Html body = {};         // what speaks for itself, with a heading of its own
  Html figures = {};      // key figures by rail
  Charts charts = {};     // below the drawing and the cluster; those of a body have their places there
  Html environment = {};  // what measured, and what was measured
  Html tables = {};       // all figures, and how they were taken
  Html scripts = {};      // elements with data for html.js beside that of the charts

  std::vector<MeasuredPath> paths = {};
  std::map<std::string, std::string> rail_texts = {};  // for the drawing: what is said of a rail

  // Text.
  std::string terminal = {};  // a table
  std::string summary = {};   // behind the tables of all kinds: the headline
};

std::vector<MeasuredPath> paths_of(const std::vector<Section>& sections);
// `first` becomes the earlier one of both; "" is not known.
void keep_earlier(std::string& first, const std::string& started_at);

}  // namespace railbed::report
