// SPDX-License-Identifier: Apache-2.0
// The list of a resource's devices as last sent to the kubelet, and the streams that follow it.
//
// Why: a change must reach the kubelet immediately, and a caller that withdraws a VF must know that it has. A stream
// that does not read blocks no other stream: when it reads again, it gets the newest list, not each list in between.
// The socket does not identify its peers, so the kubelet's stream is the first one after a registration. Streams of
// other clients (a monitor, a tool) are served, up to kMostOthers, and have no influence.
// Threading: any thread; gRPC's threads call the streams. No gRPC function is called while the lock is held.
// Failure: none; delivered() returns false at its deadline.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>

#include <deviceplugin/v1beta1/api.grpc.pb.h>
#include <grpcpp/grpcpp.h>

#include "os/ports/clock.h"

namespace railbed::kubelet {

class DeviceList {
 public:
  using List = v1beta1::ListAndWatchResponse;
  using Version = uint64_t;
  static constexpr size_t kMostOthers = 8;

  // `changed` is called when a stream has come or gone, with the lock held: it must only wake somebody.
  explicit DeviceList(std::function<void()> changed) : changed_(std::move(changed)) {}
  DeviceList(const DeviceList&) = delete;
  DeviceList& operator=(const DeviceList&) = delete;

  // Sends the list, unless it is the one that was sent last.
  Version set(List list);
  // Sends it again.
  Version repeat();
  // Whether the kubelet's stream has been handed this version, or a later one, by the deadline; also where it has none.
  bool delivered(Version version, os::Deadline deadline);

  grpc::ServerWriteReactor<List>* follow();
  // The next stream is the kubelet's: it is about to be registered with.
  void await_kubelet();
  // Whatever follows now is not the kubelet, and nothing is awaited.
  void forget_kubelet();
  bool kubelet_follows() const;
  // Ends all streams, and those that come later; until reopen().
  void end_streams();
  // Returns once all have ended, which they do when gRPC's server has shut down.
  void wait_for_end();
  void reopen();

 private:
  class Stream;

  void poke_all();
  void gone(const std::shared_ptr<Stream>& stream);

  std::function<void()> changed_;
  mutable std::mutex mutex_;
  std::condition_variable reported_;
  std::shared_ptr<const List> list_ = std::make_shared<List>();
  Version version_ = 1;
  bool ending_ = false;
  std::set<std::shared_ptr<Stream>> streams_;
  bool awaited_ = false;
  std::shared_ptr<Stream> kubelet_;  // one of them; null: it does not follow
};

}  // namespace railbed::kubelet
