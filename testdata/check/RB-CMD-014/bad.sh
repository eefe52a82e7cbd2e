#!/bin/bash
set -eu
kubectl label node <node-name> rail=1
