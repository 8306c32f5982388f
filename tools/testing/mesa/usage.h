/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel says that this process uses of the GPU: /proc/self/fdinfo, as the kernel's
 * Documentation/gpu/drm-usage-stats.rst defines it.
 */
#ifndef USAGE_H
#define USAGE_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USAGE_FILES 64

/* The number behind a colon, in bytes or nanoseconds. */
static inline long long usage_number(const char *text)
{
	char *unit;
	long long value = strtoll(text, &unit, 10);

	if (strstr(unit, "KiB"))
		return value << 10;
	return strstr(unit, "MiB") ? value << 20 : value;
}

/* One file of fdinfo: the sum of all keys that begin so; -1 if there is none. */
static inline long long usage_of(const char *path, const char *key, char *client, size_t size)
{
	char line[256], *colon;
	long long sum = -1;
	FILE *file = fopen(path, "r");

	client[0] = 0;
	while (file && fgets(line, sizeof(line), file)) {
		colon = strchr(line, ':');
		if (!colon)
			continue;
		if (!strncmp(line, "drm-client-id:", 14))
			snprintf(client, size, "%s", colon + 1);
		if (!strncmp(line, key, strlen(key)))
			sum = (sum < 0 ? 0 : sum) + usage_number(colon + 1);
	}
	if (file)
		fclose(file);
	return sum;
}

/*
 * Of all that this process has open: the sum of the keys that begin with `key`, each client
 * once. -1 if the driver does not say.
 */
static inline long long usage(const char *key)
{
	char seen[USAGE_FILES][32], client[32], path[300];
	DIR *dir = opendir("/proc/self/fdinfo");
	struct dirent *entry;
	long long sum = -1;
	int i, n = 0;

	while (dir && (entry = readdir(dir))) {
		long long one;

		snprintf(path, sizeof(path), "/proc/self/fdinfo/%s", entry->d_name);
		one = usage_of(path, key, client, sizeof(client));
		for (i = 0; i < n && strcmp(seen[i], client); i++)
			;
		if (one < 0 || i < n || n == USAGE_FILES)
			continue;
		strcpy(seen[n++], client);
		sum = (sum < 0 ? 0 : sum) + one;
	}
	if (dir)
		closedir(dir);
	return sum;
}

#endif
