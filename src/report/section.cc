// SPDX-License-Identifier: Apache-2.0
#include "report/section.h"

namespace railbed::report {

std::vector<MeasuredPath> paths_of(const std::vector<Section>& sections) {
  std::vector<MeasuredPath> paths;
  for (const Section& one : sections) paths.insert(paths.end(), one.paths.begin(), one.paths.end());
  return paths;
}

void keep_earlier(std::string& first, const std::string& started_at) {
  if (!started_at.empty() && (first.empty() || started_at < first)) first = started_at;
}

}  // namespace railbed::report
