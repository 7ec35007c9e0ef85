# SPDX-License-Identifier: Apache-2.0
# The front door: each verb is one job, and `make` prints them. CMake and Ninja do the dependency work below it.

BUILD ?= build
export BUILD

.DEFAULT_GOAL := help
.PHONY: help setup build run test test-long lint formal regs testplan clean

help: ## print this list
	@echo "make VERB [BUILD=dir]; verbs:"
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-10s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

build: ## compile everything, run nothing
	@scripts/setup test
	@scripts/build --tests

run: ## install what is missing, build, and run the bind walk-through on the RTL
	@scripts/setup run
	@scripts/build run
	@scripts/run

test: ## install what is missing, build, and run the tests; closes with "N passed, N failed"
	@scripts/setup test
	@scripts/build --tests
	@scripts/test

test-long: ## the soak, kill and farm tests; run before work is called done
	@scripts/setup test
	@scripts/build --tests
	@scripts/test --long

lint: ## Verilator -Wall and Yosys over the RTL, layer rules, stale generated files
	@scripts/setup test
	@scripts/lint

formal: ## every proof, and the planted bug that each one must find
	@scripts/setup test
	@scripts/formal

regs: ## regenerate regs/gen from regs/bindery.rdl (needs PyPI once)
	@scripts/setup dev
	@scripts/gen_regs

testplan: ## rules against the last runs of test and formal; fails on a due rule without a passing test
	@scripts/testplan

clean: ## remove the build folder
	@scripts/clean
