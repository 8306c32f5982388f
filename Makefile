# SPDX-License-Identifier: GPL-2.0
# Each target runs a script of tools/vm. The kernel's build reads Kbuild, beside
# this file.

# said NAME: expands to NAME's value if it was given on make's command line. The
# environment does not count: it may have a GPU or KERNEL for other programs.
said = $(if $(filter command,$(origin $(1))),$($(1)))
gpu := $(if $(filter command,$(origin GPU)),$(GPU),snb)
kernel := $(if $(filter command,$(origin KERNEL)),$(KERNEL),plain)
option = $(if $(call said,$(1)),--$(2) "$($(1))")
vm := $(CURDIR)/tools/vm
kbuild_args := $(foreach name,W CLIPPY V,$(if $($(name)),$(name)=$($(name))))

# One thing at a time: the scripts share the processors among themselves.
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory
unexport MAKEFLAGS

module:
	@$(vm)/module $(if $(KDIR),--kdir "$(KDIR)",--default) $(kbuild_args)

kernel:
	@$(vm)/setup kernel@$(kernel)
	@echo "$$($(vm)/setup --print kernel@$(kernel))/out"

install:
	@KDIR="$(KDIR)" INSTALL_MOD_PATH="$(INSTALL_MOD_PATH)" $(vm)/install

uninstall:
	@KDIR="$(KDIR)" INSTALL_MOD_PATH="$(INSTALL_MOD_PATH)" $(vm)/install --remove

run:
	@$(vm)/run --gpu "$(gpu)" --kernel "$(kernel)" $(call option,PCI,pci) $(call option,SCENE,scene)

shell:
	@$(vm)/run --gpu "$(gpu)" --kernel "$(kernel)" $(call option,PCI,pci) --shell

check:
	@$(vm)/check all $(call option,GPU,gpu)

check-quick:
	@$(vm)/quick --gpu "$(gpu)"

check-host:
	@$(vm)/check host

check-vm:
	@$(vm)/check vm --gpu "$(gpu)" $(call option,KERNEL,kernel)

check-peer:
	@$(vm)/$(if $(call said,SELFTESTS),selftests,check peer) --gpu "$(gpu)"

check-clients:
	@$(vm)/check clients --gpu "$(gpu)"

check-igt:
	@$(vm)/igt --gpu "$(gpu)" --kernel "$(kernel)" $(call option,LIST,list) $(call option,DRIVER,driver) $(call option,LIMIT,limit)

check-mesa:
	@$(vm)/mesa --gpu "$(gpu)" --kernel "$(kernel)" $(call option,DRIVER,driver)

check-gl:
	@$(vm)/piglit --gpu "$(if $(call said,GPU),$(GPU),rv515)" --kernel "$(kernel)" $(call option,LIST,list) $(call option,LIMIT,limit)

check-replay:
	@$(vm)/replay $(call option,GPU,gpu)

check-trace:
	@$(vm)/perfetto --gpu "$(gpu)"

check-setup:
	@$(vm)/check setup

check-intree:
	@$(vm)/check intree

intree:
	@$(vm)/intree "$(KSRC)"

mutants:
	@$(vm)/mutants

truth:
	@$(vm)/truth $(if $(call said,FILE),"$(FILE)")

fuzz:
	@$(vm)/fuzz $(call option,LIMIT,seconds) $(call said,TARGET)

docs:
	@$(vm)/docs

rust-analyzer:
	@$(vm)/editor

compile_commands.json:
	@$(vm)/editor

bench:
	@$(vm)/bench --gpu "$(gpu)" $(if $(call said,RECORD),--record) $(if $(call said,OURS),--ours) $(if $(call said,PLOT),--plot) $(call option,PROFILE,profile)

# The build folder only: root, kernels and Cargo's target outlive it in the cache.
clean:
	rm -rf "$(CURDIR)/build"

help:
	@$(vm)/help

.DEFAULT_GOAL := module
.PHONY: module kernel install uninstall run shell check check-quick check-host check-vm check-peer check-clients check-igt check-mesa check-gl check-replay check-trace check-setup check-intree intree mutants truth fuzz bench docs rust-analyzer compile_commands.json clean help
