# SPDX-License-Identifier: GPL-2.0
# What `make intree` puts into rust/Makefile, before its last line: the two crates
# of others that ouro uses, by the commands that build the kernel's own.

# Crates that drivers/gpu/drm/ouro uses.
ifdef CONFIG_DRM_OURO
libbitfield_struct_name := $(call procmacro-name,bitfield_struct)

always-y += $(libbitfield_struct_name) static_assertions.o

$(obj)/$(libbitfield_struct_name): private skip_clippy = 1
$(obj)/$(libbitfield_struct_name): private rustc_target_flags = --cap-lints=allow \
    --extern proc_macro2 --extern quote --extern syn
$(obj)/$(libbitfield_struct_name): $(src)/bitfield-struct/src/lib.rs $(obj)/host/libproc_macro2.rlib \
    $(obj)/host/libquote.rlib $(obj)/host/libsyn.rlib FORCE
	+$(call if_changed_dep,rustc_procmacro)

# Only its macros are used, so nothing links the object. It is one of the kernel
# for the flags of sanitizers.
$(obj)/static_assertions.o: private is-kernel-object := y
$(obj)/static_assertions.o: private skip_clippy = 1
$(obj)/static_assertions.o: private skip_gendwarfksyms = 1
$(obj)/static_assertions.o: private skip_flags = --edition=2021
$(obj)/static_assertions.o: private rustc_target_flags = --edition=2018 --cap-lints=allow
$(obj)/static_assertions.o: $(src)/static_assertions/src/lib.rs $(obj)/compiler_builtins.o FORCE
	+$(call if_changed_rule,rustc_library)
endif
# End of the crates that drivers/gpu/drm/ouro uses.
