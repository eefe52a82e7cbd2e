// SPDX-License-Identifier: Apache-2.0
#include "kubelet/grpc/device_list.h"

#include <utility>
#include <vector>

namespace railbed::kubelet {

// One call of ListAndWatch. At most one write is under way; what comes meanwhile waits for it and goes as one. Finish()
// is called once, when no write is under way. Its members are guarded by the list's lock.
class DeviceList::Stream : public grpc::ServerWriteReactor<List> {
 public:
  Stream(DeviceList& all, bool refused) : all_(all), refused_(refused) {}

  void keep(const std::shared_ptr<Stream>& self) { self_ = self; }

  // Begins what is to be done now, if anything is.
  void poke() {
    std::shared_ptr<const List> list;
    {
      const std::scoped_lock lock(all_.mutex_);
      if (writing_ != nullptr || finished_) return;
      if (refused_ || ending_ || all_.ending_) {
        finished_ = true;
      } else {
        if (sent_ == all_.version_) return;
        list = writing_ = all_.list_;
        sent_ = all_.version_;
      }
    }
    if (list != nullptr)
      StartWrite(list.get());
    else if (refused_)
      Finish({grpc::StatusCode::RESOURCE_EXHAUSTED, "too many streams watch this resource"});
    else
      Finish(grpc::Status::OK);
  }

  bool has(Version version) const { return delivered_ >= version || ending_ || finished_; }

  void OnWriteDone(bool ok) override {
    {
      const std::scoped_lock lock(all_.mutex_);
      writing_ = nullptr;
      if (ok)
        delivered_ = sent_;
      else
        ending_ = true;
      all_.reported_.notify_all();
    }
    poke();
  }

  void OnCancel() override {
    {
      const std::scoped_lock lock(all_.mutex_);
      ending_ = true;
      all_.reported_.notify_all();
    }
    poke();
  }

  void OnDone() override {
    const std::shared_ptr<Stream> self = std::move(self_);
    all_.gone(self);
  }

 private:
  DeviceList& all_;
  const bool refused_;
  std::shared_ptr<Stream> self_;  // until gRPC is done with it
  std::shared_ptr<const List> writing_;
  Version sent_ = 0;
  Version delivered_ = 0;
  bool ending_ = false;
  bool finished_ = false;
};

DeviceList::Version DeviceList::set(List list) {
  Version version = 0;
  {
    const std::scoped_lock lock(mutex_);
    if (list.SerializeAsString() == list_->SerializeAsString()) return version_;
    list_ = std::make_shared<List>(std::move(list));
    version = ++version_;
  }
  poke_all();
  return version;
}

DeviceList::Version DeviceList::repeat() {
  Version version = 0;
  {
    const std::scoped_lock lock(mutex_);
    version = ++version_;
  }
  poke_all();
  return version;
}

bool DeviceList::delivered(Version version, os::Deadline deadline) {
  std::unique_lock lock(mutex_);
  return reported_.wait_until(lock, deadline, [&] { return kubelet_ == nullptr || kubelet_->has(version); });
}

grpc::ServerWriteReactor<DeviceList::List>* DeviceList::follow() {
  std::shared_ptr<Stream> stream;
  {
    const std::scoped_lock lock(mutex_);
    const size_t others = streams_.size() - (kubelet_ != nullptr ? 1 : 0);
    stream = std::make_shared<Stream>(*this, !awaited_ && others >= kMostOthers);
    stream->keep(stream);
    streams_.insert(stream);
    if (std::exchange(awaited_, false)) kubelet_ = stream;
    changed_();
  }
  stream->poke();
  return stream.get();
}

void DeviceList::await_kubelet() {
  const std::scoped_lock lock(mutex_);
  awaited_ = true;
}

void DeviceList::forget_kubelet() {
  const std::scoped_lock lock(mutex_);
  awaited_ = false;
  kubelet_.reset();
  reported_.notify_all();
}

bool DeviceList::kubelet_follows() const {
  const std::scoped_lock lock(mutex_);
  return kubelet_ != nullptr;
}

void DeviceList::end_streams() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  poke_all();
}

void DeviceList::wait_for_end() {
  std::unique_lock lock(mutex_);
  reported_.wait(lock, [&] { return streams_.empty(); });
}

void DeviceList::reopen() {
  const std::scoped_lock lock(mutex_);
  ending_ = false;
}

void DeviceList::poke_all() {
  std::vector<std::shared_ptr<Stream>> streams;
  {
    const std::scoped_lock lock(mutex_);
    streams.assign(streams_.begin(), streams_.end());
  }
  for (const auto& stream : streams) stream->poke();
}

void DeviceList::gone(const std::shared_ptr<Stream>& stream) {
  const std::scoped_lock lock(mutex_);
  streams_.erase(stream);
  if (kubelet_ == stream) kubelet_.reset();
  reported_.notify_all();
  changed_();
}

}  // namespace railbed::kubelet
