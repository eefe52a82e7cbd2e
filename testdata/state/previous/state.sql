-- SPDX-License-Identifier: Apache-2.0
-- The state of six pods as the release of tools/previous-release wrote it: macvlan, host-device, and the meta plugin with an executed bridge.
BEGIN;
CREATE TABLE attachment (number INTEGER PRIMARY KEY, pod TEXT NOT NULL, interface TEXT NOT NULL,
  netns TEXT NOT NULL, network TEXT NOT NULL, type TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status = 'begun' OR status = 'attached' OR status = 'detaching'), device TEXT NOT NULL,
  resource TEXT NOT NULL, undo TEXT NOT NULL, result TEXT NOT NULL, UNIQUE (pod, interface)) STRICT;
INSERT INTO "attachment" VALUES(1,'default/up0-direct-goes@up0-direct-goes','net1','/run/netns/up0-direct-goes','up-direct','macvlan','attached','','','{"way":1,"name":"p0","kind":"macvlan","inPod":{"index":2,"parent":3,"parentNetnsId":0},"group":1264457582,"netns":"15303"}
{"interface":"net1","network":"up-direct","type":"macvlan","way":1,"hostLink":"p0","addresses":[{"address":"10.142.0.2/24","gateway":"10.142.0.1","pool":"host-local:up-direct"}]}','{"interface":"net1","network":"up-direct","type":"macvlan","mac":"fa:df:e9:f5:7c:cd","mtu":1500,"addresses":["10.142.0.2/24"],"gateway":"10.142.0.1","hostName":"p0"}');
INSERT INTO "attachment" VALUES(2,'default/up0-direct-stays@up0-direct-stays','net1','/run/netns/up0-direct-stays','up-direct','macvlan','attached','','','{"way":1,"name":"p0","kind":"macvlan","inPod":{"index":2,"parent":3,"parentNetnsId":0},"group":2078190428,"netns":"15304"}
{"interface":"net1","network":"up-direct","type":"macvlan","way":1,"hostLink":"p0","addresses":[{"address":"10.142.0.3/24","gateway":"10.142.0.1","pool":"host-local:up-direct"}]}','{"interface":"net1","network":"up-direct","type":"macvlan","mac":"e6:95:38:97:c0:9b","mtu":1500,"addresses":["10.142.0.3/24"],"gateway":"10.142.0.1","hostName":"p0"}');
INSERT INTO "attachment" VALUES(3,'default/up0-device-goes@up0-device-goes','net1','/run/netns/up0-device-goes','up-device','host-device','attached','d11','','{"name":"d11","index":27,"kind":"veth","hwAddress":"02000000640c","parentIndex":26,"inPod":{"index":27,"parent":26,"parentNetnsId":0},"mtu":1500,"netns":"15305"}
{"interface":"net1","network":"up-device","type":"host-device","hostLink":"d11","addresses":[{"address":"10.143.0.2/24","gateway":"10.143.0.1","pool":"host-local:up-device"}]}','{"interface":"net1","network":"up-device","type":"host-device","mac":"02:00:00:00:64:0c","mtu":1500,"addresses":["10.143.0.2/24"],"gateway":"10.143.0.1","hostName":"d11"}');
INSERT INTO "attachment" VALUES(4,'default/up0-device-stays@up0-device-stays','net1','/run/netns/up0-device-stays','up-device','host-device','attached','d10','','{"name":"d10","index":25,"kind":"veth","hwAddress":"02000000640b","parentIndex":24,"inPod":{"index":25,"parent":24,"parentNetnsId":0},"mtu":1500,"netns":"15306"}
{"interface":"net1","network":"up-device","type":"host-device","hostLink":"d10","addresses":[{"address":"10.143.0.3/24","gateway":"10.143.0.1","pool":"host-local:up-device"}]}','{"interface":"net1","network":"up-device","type":"host-device","mac":"02:00:00:00:64:0b","mtu":1500,"addresses":["10.143.0.3/24"],"gateway":"10.143.0.1","hostName":"d10"}');
INSERT INTO "attachment" VALUES(5,'default/up0-meta-goes@up0-meta-goes','exec:eth0#0','/run/netns/up0-meta-goes','up-bridge','exec:bridge','attached','','','{"container":"up0-meta-goes","ifname":"eth0","args":"IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=up0-meta-goes","path":["/opt/cni/bin"],"version":"1.0.0","config":"{\"cniVersion\":\"1.0.0\",\"name\":\"up-bridge\",\"type\":\"bridge\",\"bridge\":\"up0\",\"isGateway\":true,\"ipam\":{\"type\":\"host-local\",\"ranges\":[[{\"subnet\":\"10.140.0.0/24\"}]]}}"}','{
    "cniVersion": "1.1.0",
    "interfaces": [
        {
            "mac": "c6:25:10:ac:f8:7d",
            "name": "up0"
        },
        {
            "mac": "82:fe:e9:cb:69:39",
            "name": "veth8e66d4b9"
        },
        {
            "mac": "76:0d:c5:eb:40:52",
            "name": "eth0",
            "sandbox": "/run/netns/up0-meta-goes"
        }
    ],
    "ips": [
        {
            "address": "10.140.0.2/24",
            "gateway": "10.140.0.1",
            "interface": 2
        }
    ]
}');
INSERT INTO "attachment" VALUES(6,'default/up0-meta-goes@up0-meta-goes','net1','/run/netns/up0-meta-goes','up-lan','macvlan','attached','','','{"way":1,"name":"p0","kind":"macvlan","inPod":{"index":3,"parent":3,"parentNetnsId":0},"group":1758353523,"netns":"14d12"}
{"interface":"net1","network":"up-lan","type":"macvlan","way":1,"hostLink":"p0","addresses":[{"address":"10.141.0.2/24","gateway":"10.141.0.1","pool":"host-local:up-lan"}]}','{"interface":"net1","network":"up-lan","type":"macvlan","mac":"aa:f9:10:cf:93:f7","mtu":1500,"addresses":["10.141.0.2/24"],"gateway":"10.141.0.1","hostName":"p0"}');
INSERT INTO "attachment" VALUES(7,'default/up0-meta-stays@up0-meta-stays','exec:eth0#0','/run/netns/up0-meta-stays','up-bridge','exec:bridge','attached','','','{"container":"up0-meta-stays","ifname":"eth0","args":"IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=up0-meta-stays","path":["/opt/cni/bin"],"version":"1.0.0","config":"{\"cniVersion\":\"1.0.0\",\"name\":\"up-bridge\",\"type\":\"bridge\",\"bridge\":\"up0\",\"isGateway\":true,\"ipam\":{\"type\":\"host-local\",\"ranges\":[[{\"subnet\":\"10.140.0.0/24\"}]]}}"}','{
    "cniVersion": "1.1.0",
    "interfaces": [
        {
            "mac": "c6:25:10:ac:f8:7d",
            "name": "up0"
        },
        {
            "mac": "3e:66:60:b6:dc:e7",
            "name": "veth0c871bb0"
        },
        {
            "mac": "ce:60:8b:1f:69:ee",
            "name": "eth0",
            "sandbox": "/run/netns/up0-meta-stays"
        }
    ],
    "ips": [
        {
            "address": "10.140.0.3/24",
            "gateway": "10.140.0.1",
            "interface": 2
        }
    ]
}');
INSERT INTO "attachment" VALUES(8,'default/up0-meta-stays@up0-meta-stays','net1','/run/netns/up0-meta-stays','up-lan','macvlan','attached','','','{"way":1,"name":"p0","kind":"macvlan","inPod":{"index":3,"parent":3,"parentNetnsId":0},"group":1376472192,"netns":"14d13"}
{"interface":"net1","network":"up-lan","type":"macvlan","way":1,"hostLink":"p0","addresses":[{"address":"10.141.0.3/24","gateway":"10.141.0.1","pool":"host-local:up-lan"}]}','{"interface":"net1","network":"up-lan","type":"macvlan","mac":"7e:8f:7f:1e:4e:9f","mtu":1500,"addresses":["10.141.0.3/24"],"gateway":"10.141.0.1","hostName":"p0"}');
CREATE TABLE baseline (pf TEXT PRIMARY KEY, pf_name TEXT NOT NULL, num_vfs INTEGER NOT NULL,
  autoprobe INTEGER NOT NULL, mtu INTEGER NOT NULL, up INTEGER NOT NULL, eswitch_mode TEXT NOT NULL,
  vfs TEXT NOT NULL) STRICT;
CREATE TABLE block (number INTEGER PRIMARY KEY, pool TEXT NOT NULL, first TEXT NOT NULL, last TEXT NOT NULL,
  UNIQUE (pool, first, last)) STRICT;
CREATE TABLE lease (pool TEXT NOT NULL, address TEXT NOT NULL, pod TEXT NOT NULL, interface TEXT NOT NULL,
  PRIMARY KEY (pool, address)) STRICT;
INSERT INTO "lease" VALUES('host-local:up-direct','10.142.0.2','default/up0-direct-goes@up0-direct-goes','net1');
INSERT INTO "lease" VALUES('host-local:up-direct','10.142.0.3','default/up0-direct-stays@up0-direct-stays','net1');
INSERT INTO "lease" VALUES('host-local:up-device','10.143.0.2','default/up0-device-goes@up0-device-goes','net1');
INSERT INTO "lease" VALUES('host-local:up-device','10.143.0.3','default/up0-device-stays@up0-device-stays','net1');
INSERT INTO "lease" VALUES('host-local:up-bridge','10.140.0.2','default/up0-meta-goes@up0-meta-goes','eth0');
INSERT INTO "lease" VALUES('host-local:up-lan','10.141.0.2','default/up0-meta-goes@up0-meta-goes','net1');
INSERT INTO "lease" VALUES('host-local:up-bridge','10.140.0.3','default/up0-meta-stays@up0-meta-stays','eth0');
INSERT INTO "lease" VALUES('host-local:up-lan','10.141.0.3','default/up0-meta-stays@up0-meta-stays','net1');
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
INSERT INTO "meta" VALUES('schema','4');
INSERT INTO "meta" VALUES('boot_id','boot-1');
INSERT INTO "meta" VALUES('generation','0');
CREATE TABLE note (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
INSERT INTO "note" VALUES('in use: namespaces','');
INSERT INTO "note" VALUES('in use: looked','1795700319');
INSERT INTO "note" VALUES('host-local directory /var/lib/cni/networks/up-direct','up-direct');
INSERT INTO "note" VALUES('host-local file default/up0-direct-goes@up0-direct-goes
net1
/var/lib/cni/networks/up-direct/10.142.0.2','up0-direct-goes'||char(13)||char(10)||'net1');
INSERT INTO "note" VALUES('host-local file default/up0-direct-stays@up0-direct-stays
net1
/var/lib/cni/networks/up-direct/10.142.0.3','up0-direct-stays'||char(13)||char(10)||'net1');
INSERT INTO "note" VALUES('host-local directory /var/lib/cni/networks/up-device','up-device');
INSERT INTO "note" VALUES('host-local file default/up0-device-goes@up0-device-goes
net1
/var/lib/cni/networks/up-device/10.143.0.2','up0-device-goes'||char(13)||char(10)||'net1');
INSERT INTO "note" VALUES('host-local file default/up0-device-stays@up0-device-stays
net1
/var/lib/cni/networks/up-device/10.143.0.3','up0-device-stays'||char(13)||char(10)||'net1');
INSERT INTO "note" VALUES('meta/default/up0-meta-goes@up0-meta-goes','{"network":"up-meta","ifname":"eth0","netns":"/run/netns/up0-meta-goes","uid":"","deviceInfo":[]}');
INSERT INTO "note" VALUES('ipam request up-bridge
up0-meta-goes
eth0','default/up0-meta-goes@up0-meta-goes');
INSERT INTO "note" VALUES('host-local directory /var/lib/cni/networks/up-bridge','up-bridge');
INSERT INTO "note" VALUES('host-local file default/up0-meta-goes@up0-meta-goes
eth0
/var/lib/cni/networks/up-bridge/10.140.0.2','up0-meta-goes'||char(13)||char(10)||'eth0');
INSERT INTO "note" VALUES('host-local directory /var/lib/cni/networks/up-lan','up-lan');
INSERT INTO "note" VALUES('host-local file default/up0-meta-goes@up0-meta-goes
net1
/var/lib/cni/networks/up-lan/10.141.0.2','up0-meta-goes'||char(13)||char(10)||'net1');
INSERT INTO "note" VALUES('meta/default/up0-meta-stays@up0-meta-stays','{"network":"up-meta","ifname":"eth0","netns":"/run/netns/up0-meta-stays","uid":"","deviceInfo":[]}');
INSERT INTO "note" VALUES('ipam request up-bridge
up0-meta-stays
eth0','default/up0-meta-stays@up0-meta-stays');
INSERT INTO "note" VALUES('host-local file default/up0-meta-stays@up0-meta-stays
eth0
/var/lib/cni/networks/up-bridge/10.140.0.3','up0-meta-stays'||char(13)||char(10)||'eth0');
INSERT INTO "note" VALUES('host-local file default/up0-meta-stays@up0-meta-stays
net1
/var/lib/cni/networks/up-lan/10.141.0.3','up0-meta-stays'||char(13)||char(10)||'net1');
CREATE TABLE pod (pod TEXT PRIMARY KEY, netns TEXT NOT NULL, netns_name TEXT NOT NULL,
  netns_ours INTEGER NOT NULL) STRICT;
INSERT INTO "pod" VALUES('default/up0-direct-goes@up0-direct-goes','/run/netns/up0-direct-goes','',0);
INSERT INTO "pod" VALUES('default/up0-direct-stays@up0-direct-stays','/run/netns/up0-direct-stays','',0);
INSERT INTO "pod" VALUES('default/up0-device-goes@up0-device-goes','/run/netns/up0-device-goes','',0);
INSERT INTO "pod" VALUES('default/up0-device-stays@up0-device-stays','/run/netns/up0-device-stays','',0);
INSERT INTO "pod" VALUES('default/up0-meta-goes@up0-meta-goes','/run/netns/up0-meta-goes','',0);
INSERT INTO "pod" VALUES('default/up0-meta-stays@up0-meta-stays','/run/netns/up0-meta-stays','',0);
CREATE TABLE step (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, pf TEXT NOT NULL,
  policy TEXT NOT NULL, description TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status = 'begun' OR status = 'done' OR status = 'failed'), error TEXT NOT NULL) STRICT;
COMMIT;
PRAGMA user_version = 3;
