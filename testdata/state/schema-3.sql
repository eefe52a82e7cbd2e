-- SPDX-License-Identifier: Apache-2.0
-- The state of a pod with an executed network and a macvlan, as the last railbed with schema 3 wrote it.
BEGIN;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
INSERT INTO meta VALUES('boot_id','boot-1');
CREATE TABLE baseline (pf TEXT PRIMARY KEY, pf_name TEXT NOT NULL, num_vfs INTEGER NOT NULL,
  autoprobe INTEGER NOT NULL, mtu INTEGER NOT NULL, up INTEGER NOT NULL, eswitch_mode TEXT NOT NULL,
  vfs TEXT NOT NULL) STRICT;
CREATE TABLE step (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, pf TEXT NOT NULL,
  policy TEXT NOT NULL, description TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status = 'begun' OR status = 'done' OR status = 'failed'), error TEXT NOT NULL) STRICT;
CREATE TABLE pod (pod TEXT PRIMARY KEY, netns TEXT NOT NULL, netns_name TEXT NOT NULL,
  netns_ours INTEGER NOT NULL) STRICT;
INSERT INTO pod VALUES('default/p@c1','/run/netns/a','',0);
CREATE TABLE attachment (number INTEGER PRIMARY KEY, pod TEXT NOT NULL, interface TEXT NOT NULL,
  netns TEXT NOT NULL, network TEXT NOT NULL, type TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status = 'begun' OR status = 'attached' OR status = 'detaching'), device TEXT NOT NULL,
  resource TEXT NOT NULL, undo TEXT NOT NULL, result TEXT NOT NULL, UNIQUE (pod, interface)) STRICT;
INSERT INTO attachment VALUES(1,'default/p@c1','exec:eth0#0','/run/netns/a','k8s-pod-network','exec:calico','attached','','','{"container":"c1","ifname":"eth0","args":"IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=p;K8S_POD_INFRA_CONTAINER_ID=c1","path":["/opt/cni/bin"],"version":"1.0.0","config":"{\"cniVersion\":\"1.0.0\",\"name\":\"k8s-pod-network\",\"type\":\"calico\"}"}',replace('{\n    "cniVersion": "1.1.0",\n    "interfaces": [\n        {\n            "name": "eth0",\n            "sandbox": "x"\n        }\n    ],\n    "ips": [\n        {\n            "address": "10.244.0.7/32",\n            "interface": 0\n        }\n    ]\n}','\n',char(10)));
INSERT INTO attachment VALUES(2,'default/p@c1','net1','/run/netns/a','mv','macvlan','attached','','',replace('{"way":1,"name":"up0","kind":"macvlan","group":1804987184,"netns":"b817"}\n{"interface":"net1","network":"mv","type":"macvlan","way":1,"hostLink":"up0","addresses":[{"address":"10.9.0.1/24","pool":"whereabouts"}]}','\n',char(10)),'{"interface":"net1","network":"mv","type":"macvlan","mac":"ee:11:a7:11:52:a4","mtu":1500,"addresses":["10.9.0.1/24"],"hostName":"up0"}');
CREATE TABLE lease (pool TEXT NOT NULL, address TEXT NOT NULL, pod TEXT NOT NULL, interface TEXT NOT NULL,
  PRIMARY KEY (pool, address)) STRICT;
INSERT INTO lease VALUES('whereabouts','10.9.0.1','default/p@c1','net1');
CREATE TABLE block (number INTEGER PRIMARY KEY, pool TEXT NOT NULL, first TEXT NOT NULL, last TEXT NOT NULL,
  UNIQUE (pool, first, last)) STRICT;
CREATE TABLE note (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
INSERT INTO note VALUES('meta/default/p@c1','{"network":"meta","ifname":"eth0","netns":"/run/netns/a","uid":"","deviceInfo":[]}');
PRAGMA user_version = 3;
COMMIT;
