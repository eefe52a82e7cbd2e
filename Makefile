# SPDX-License-Identifier: Apache-2.0
# The front door. `make demo` and `make test` work on a fresh Debian 12 machine as root; everything below is a step of them.
#
#   make demo     set up, build, boot two virtual machines, run the main job, write build/demo/report.html
#   make demo-cluster   the same with two nodes of a cluster, by `kubectl apply`; build/demo-cluster/report.html
#   make test     set up, build, run all tests; ends with "N passed, N failed, N skipped"
#   make test-all the same without anything recorded, restored or shortened, compiled file by file (CONTRIBUTING.md says when)
#   make fuzz     fuzz targets with random seeds for HOURS (8); new inputs go to testdata/fuzz/ (ONLY=name for one target)
#   make bench    the figures with their bounds (ONLY=name for one); exits 1 when one is short
#   make lab      a shell in a virtual machine with two SR-IOV NICs
#   make build    the programs: build/railbed, railbedd, railbed-cluster, railbed-cni; needs no package of the tests
#   make install  the program, its unit, manual pages and completions below PREFIX (/usr/local), or DESTDIR and PREFIX
#   make package  a .deb, one with its symbols, and a tarball in build/packages/
#   make image    build/railbed-{node,control}-image.tar, container images of what is built, for deploy/
#   make release  builds all of it twice, compares, and collects it with sums, digests, SBOM and provenance (KEY=file signs)
#   make format   clang-format over everything
#   make clean    removes build/; packages and the lab's cache stay

PREFIX ?= /usr/local

.PHONY: demo demo-cluster test test-all fuzz bench lab build install package image release setup setup-test setup-lab setup-cluster format clean
.NOTPARALLEL:

build: setup
	@tools/build program

install: setup
	@DESTDIR='$(DESTDIR)' tools/install '$(PREFIX)'

package:
	@tools/setup build package
	@tools/package

image:
	@tools/image

release:
	@tools/setup build package release
	@tools/release $(if $(KEY),--key '$(KEY)')

setup:
	@tools/setup build

setup-test:
	@tools/setup build test

setup-lab:
	@tools/setup lab

setup-cluster:
	@tools/setup cluster

demo: build setup-lab
	@demo/run

demo-cluster: build setup-lab setup-cluster
	@demo/cluster/run

test: setup-test setup-lab setup-cluster
	@tests/run

test-all: setup-test setup-lab setup-cluster
	@tests/run --all

fuzz: setup-test
	@tools/fuzz $(ONLY)

bench: setup-test setup-lab setup-cluster
	@tools/build dev
	@bench/run $(ONLY)

lab: build setup-lab
	@lab/lab start lab --pf rail0 --pf rail1 --file build/railbed:/usr/bin/railbed --file build/railbedd:/usr/libexec/railbed/railbedd --file demo/manifests:/etc/railbed
	@echo "lab: railbed discover, railbed up /etc/railbed --soft-rdma --node guest-1, …; Ctrl-] leaves"
	@lab/lab shell lab; lab/lab stop lab

format: setup-test
	@git ls-files '*.cc' '*.h' | grep -v third_party/ | xargs clang-format-19 -i

clean:
	rm -rf build build-asan build-tsan
