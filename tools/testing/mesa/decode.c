// SPDX-License-Identifier: GPL-2.0
/*
 * A decoder that submits MPEG-2 pictures to the video engine, through libva and the driver that
 * Debian has for these chips. The pictures are I pictures of empty slices (ISO/IEC 13818-2); the
 * modelled engine skips them, and what is looked at is that each surface becomes ready. Where the
 * driver decodes with programs of the 3D pipeline (media-kernels in OURO_LACKS), the render engine
 * gets the pictures.
 *   decode [NODE]
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <va/va.h>
#include <va/va_drm.h>
#include <va/va_str.h>
#include "checked.h"
#include "tap.h"
#include "usage.h"

#define WIDTH 176
#define HEIGHT 144
#define ROWS (HEIGHT / 16)
#define SURFACES 4
#define PICTURES 60

static VADisplay display;

static VABufferID buffer(VAContextID context, VABufferType type, unsigned int size, void *data)
{
	VABufferID id = VA_INVALID_ID;

	if (vaCreateBuffer(display, context, type, size, 1, data, &id) != VA_STATUS_SUCCESS)
		tap_bail("vaCreateBuffer");
	return id;
}

/* One picture; 1 if every call went well. */
static int picture(VAContextID context, VASurfaceID to)
{
	VAPictureParameterBufferMPEG2 parameters = {
		.horizontal_size = WIDTH,
		.vertical_size = HEIGHT,
		.forward_reference_picture = VA_INVALID_ID,
		.backward_reference_picture = VA_INVALID_ID,
		.picture_coding_type = 1,
		.f_code = 0xffff,
		.picture_coding_extension.bits = {
			.picture_structure = 3,
			.frame_pred_frame_dct = 1,
			.progressive_frame = 1,
			.is_first_field = 1,
		},
	};
	VAIQMatrixBufferMPEG2 matrix = { 0 };
	VABufferID used[2 + 2 * ROWS];
	unsigned char data[16];
	int i, n = 0, good;

	used[n++] = buffer(context, VAPictureParameterBufferType, sizeof(parameters), &parameters);
	used[n++] = buffer(context, VAIQMatrixBufferType, sizeof(matrix), &matrix);
	for (i = 0; i < ROWS; i++) {
		VASliceParameterBufferMPEG2 slice = {
			.slice_data_size = sizeof(data),
			.slice_data_flag = VA_SLICE_DATA_FLAG_ALL,
			.macroblock_offset = 38,
			.slice_vertical_position = i,
			.quantiser_scale_code = 2,
		};

		/* the start code of slice i + 1, and its quantiser */
		memset(data, 0, sizeof(data));
		data[2] = 1;
		data[3] = i + 1;
		data[4] = 0x13;
		used[n++] = buffer(context, VASliceParameterBufferType, sizeof(slice), &slice);
		used[n++] = buffer(context, VASliceDataBufferType, sizeof(data), data);
	}
	good = vaBeginPicture(display, context, to) == VA_STATUS_SUCCESS &&
	       vaRenderPicture(display, context, used, n) == VA_STATUS_SUCCESS;
	good = vaEndPicture(display, context) == VA_STATUS_SUCCESS && good;
	for (i = 0; i < n; i++)
		vaDestroyBuffer(display, used[i]);
	return good;
}

/* The decoded bytes can be mapped. */
static int mapped(VASurfaceID surface)
{
	VAImage image;
	void *bytes = NULL;
	int good;

	if (vaDeriveImage(display, surface, &image) != VA_STATUS_SUCCESS)
		return 0;
	good = image.width == WIDTH && image.height == HEIGHT &&
	       vaMapBuffer(display, image.buf, &bytes) == VA_STATUS_SUCCESS && bytes;
	if (good) {
		/* the last byte of the last row can be touched */
		printf("# the last byte is %u\n", ((unsigned char *)bytes)[image.data_size - 1]);
		good = vaUnmapBuffer(display, image.buf) == VA_STATUS_SUCCESS;
	}
	return vaDestroyImage(display, image.image_id) == VA_STATUS_SUCCESS && good;
}

/* The driver of the chip decodes MPEG-2; all that it names is printed. */
static int profiles(void)
{
	VAProfile all[64];
	int i, n = 0, found = 0;

	if (vaMaxNumProfiles(display) > 64 ||
	    vaQueryConfigProfiles(display, all, &n) != VA_STATUS_SUCCESS)
		return 0;
	for (i = 0; i < n; i++) {
		printf("# %s\n", vaProfileStr(all[i]));
		found += all[i] == VAProfileMPEG2Simple || all[i] == VAProfileMPEG2Main;
	}
	return found == 2;
}

/* What the driver does not have on this chip. */
static int lacks(const char *what)
{
	const char *all = getenv("OURO_LACKS");

	return all && strstr(all, what);
}

/* The engine that decodes has worked for this process. */
static void has_worked(const char *engine)
{
	char key[32], name[64];
	long long ns;

	snprintf(key, sizeof(key), "drm-engine-%s", engine);
	snprintf(name, sizeof(name), "the %s engine has worked for it", engine);
	ns = usage(key);
	printf("# it worked %lld ns\n", ns);
	if (ns < 0)
		skip(name, "the driver does not say");
	else
		ok(ns > 0, name);
}

/*
 * Where the kernel checks batches, each of the decoder's passes: it ran as a copy, and none as it
 * was written, which would be without privilege. Nobody else has the device meanwhile.
 */
static void passed_the_checker(int fd, const struct checked *before)
{
	static const char name[] = "its batches pass the checker, each";
	struct checked now;
	unsigned long copies, originals;

	if (!checked_are(fd)) {
		skip(name, "batches of this chip are not checked");
		return;
	}
	if (lacks("counts")) {
		skip(name, "the driver does not say");
		return;
	}
	if (!checked_counts(fd, &now))
		tap_bail("the driver says what became of batches");
	copies = now.copies - before->copies;
	originals = now.originals - before->originals;
	printf("# %lu copies, %lu originals\n", copies, originals);
	/* each picture is a batch at least */
	ok(copies > PICTURES && !originals, name);
}

int main(int argc, char **argv)
{
	VAConfigAttrib format = { .type = VAConfigAttribRTFormat, .value = VA_RT_FORMAT_YUV420 };
	VASurfaceID surface[SURFACES];
	VAContextID context;
	VAConfigID config;
	VASurfaceStatus status;
	struct checked before;
	int fd, major, minor, i, bad = 0;

	alarm(120);
	setenv("LIBVA_DRIVER_NAME", "i965", 1);
	fd = open(argc > 1 ? argv[1] : "/dev/dri/renderD128", O_RDWR);
	checked_counts(fd, &before);
	display = vaGetDisplayDRM(fd);
	if (!ok(vaInitialize(display, &major, &minor) == VA_STATUS_SUCCESS, "the decoder starts"))
		return tap_end();
	printf("# %s\n", vaQueryVendorString(display));
	ok(profiles(), "it names MPEG-2 among its profiles");
	if (vaCreateConfig(display, VAProfileMPEG2Main, VAEntrypointVLD, &format, 1, &config))
		tap_bail("it decodes MPEG-2");
	if (vaCreateSurfaces(display, VA_RT_FORMAT_YUV420, WIDTH, HEIGHT, surface, SURFACES, NULL,
			     0))
		tap_bail("it makes surfaces");
	if (vaCreateContext(display, config, WIDTH, HEIGHT, VA_PROGRESSIVE, surface, SURFACES,
			    &context))
		tap_bail("it makes a context");

	ok(picture(context, surface[0]), "a picture is submitted");
	ok(vaSyncSurface(display, surface[0]) == VA_STATUS_SUCCESS, "it is waited for");
	ok(vaQuerySurfaceStatus(display, surface[0], &status) == VA_STATUS_SUCCESS &&
	   status == VASurfaceReady, "it is ready");
	ok(mapped(surface[0]), "its bytes can be mapped");
	for (i = 0; i < PICTURES; i++)
		bad += !picture(context, surface[i % SURFACES]);
	for (i = 0; i < SURFACES; i++)
		bad += vaSyncSurface(display, surface[i]) != VA_STATUS_SUCCESS;
	ok(!bad, "60 pictures into four surfaces");
	has_worked(lacks("media-kernels") ? "render" : "video");
	passed_the_checker(fd, &before);

	vaDestroyContext(display, context);
	vaDestroySurfaces(display, surface, SURFACES);
	vaDestroyConfig(display, config);
	ok(vaTerminate(display) == VA_STATUS_SUCCESS, "the decoder ends");
	return tap_end();
}
