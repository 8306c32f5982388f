// SPDX-License-Identifier: GPL-2.0
/*
 * Opens a render node and says what device it is: the smallest program that
 * talks to ouro. It works on every chip.
 *
 *	hello [/dev/dri/renderD128]
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include <drm/drm.h>
#include <drm/ouro_drm.h>

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "/dev/dri/renderD128";
	struct drm_ouro_engine engines[64] = {};
	struct drm_ouro_list list = {
		.ptr = (uintptr_t)engines,
		.count = 64,
		.stride = sizeof(engines[0]),
	};
	struct drm_ouro_device device = {};
	char name[16] = "";
	struct drm_version version = { .name = name, .name_len = sizeof(name) - 1 };
	int fd = open(path, O_RDWR | O_CLOEXEC);
	unsigned int i;

	if (fd < 0 || ioctl(fd, DRM_IOCTL_VERSION, &version)) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return 1;
	}
	printf("%s speaks the %s interface\n", path, name);
	/* Other drivers have no such ioctl: this is how to tell ouro from them. */
	if (ioctl(fd, DRM_IOCTL_OURO_DEVICE, &device)) {
		printf("it is not ouro\n");
		return 1;
	}
	printf("%s (%s), PCI %04x:%04x, addresses of %u bits\n", device.chip,
	       device.backend, device.pci_vendor, device.pci_device,
	       device.gpu_address_bits);
	if (ioctl(fd, DRM_IOCTL_OURO_ENGINES, &list)) {
		perror("DRM_IOCTL_OURO_ENGINES");
		return 1;
	}
	for (i = 0; i < list.count; i++)
		printf("%s: %llu of %llu requests completed\n", engines[i].name,
		       (unsigned long long)engines[i].completed,
		       (unsigned long long)engines[i].submitted);
	return 0;
}
