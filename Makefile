# SPDX-License-Identifier: GPL-2.0
# The door to everything: each target is a script of tools/vm. Kbuild, beside
# this file, is what the kernel's build reads.

GPU ?= snb
KERNEL ?= plain
vm := $(CURDIR)/tools/vm
kbuild_args := $(foreach name,W CLIPPY V,$(if $($(name)),$(name)=$($(name))))

# One thing at a time: the scripts share the processors among themselves.
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory
unexport MAKEFLAGS

module:
	@$(vm)/module $(if $(KDIR),--kdir "$(KDIR)",--default) $(kbuild_args)

kernel:
	@$(vm)/setup kernel@$(KERNEL)
	@echo "$$($(vm)/setup --print kernel@$(KERNEL))/out"

install:
	@KDIR="$(KDIR)" INSTALL_MOD_PATH="$(INSTALL_MOD_PATH)" $(vm)/module --install

run:
	@$(vm)/run --gpu "$(GPU)" --kernel "$(KERNEL)" $(if $(PCI),--pci "$(PCI)")

shell:
	@$(vm)/run --gpu "$(GPU)" --kernel "$(KERNEL)" $(if $(PCI),--pci "$(PCI)") --shell

check:
	@$(vm)/check all $(if $(filter command,$(origin GPU)),--gpu "$(GPU)")

check-host:
	@$(vm)/check host

check-vm:
	@$(vm)/check vm --gpu "$(GPU)" $(if $(filter command line environment,$(origin KERNEL)),--kernel "$(KERNEL)")

check-peer:
	@$(vm)/check peer --gpu "$(GPU)"

check-clients:
	@$(vm)/check clients --gpu "$(GPU)"

check-igt:
	@$(vm)/igt --gpu "$(GPU)" --kernel "$(KERNEL)" $(if $(LIST),--list "$(LIST)") $(if $(DRIVER),--driver "$(DRIVER)") \
		$(if $(LIMIT),--limit "$(LIMIT)")

check-mesa:
	@$(vm)/mesa --gpu "$(GPU)" --kernel "$(KERNEL)" $(if $(DRIVER),--driver "$(DRIVER)")

check-setup:
	@$(vm)/check setup

mutants:
	@$(vm)/mutants

fuzz:
	@$(vm)/fuzz $(if $(LIMIT),--seconds "$(LIMIT)") $(TARGET)

bench:
	@$(vm)/bench --gpu "$(GPU)"

# The build folder only: root, kernels and Cargo's target outlive it in the cache.
clean:
	rm -rf "$(CURDIR)/build"

help:
	@$(vm)/help

.DEFAULT_GOAL := module
.PHONY: module kernel install run shell check check-host check-vm check-peer check-clients check-igt check-mesa check-setup mutants fuzz bench clean help
