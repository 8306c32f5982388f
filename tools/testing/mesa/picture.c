// SPDX-License-Identifier: GPL-2.0
/*
 * A picture by OpenGL 2.1, drawn twice: by the GPU, and by Mesa's software renderer, both in this
 * process. Then each pixel is compared. A snake that bites its tail stands on a polished floor:
 * textures with all their levels, light at each pixel, a reflection seen through the floor, a
 * shadow by the stencil buffer, and a ball that is blended.
 *   picture GPU WIDTH HEIGHT [FOLDER]
 * GPU is part of Mesa's name for the renderer; FOLDER gets both pictures, as .ppm.
 */
#include <time.h>
#include <unistd.h>
#include "likeness.h"
#include "paints.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* Steps of a channel, of 255. */
#define TOLERANCE 4
/*
 * Edges are as long as the picture's sides: of one width and one height together, so many parts
 * may be pixels with a colour of those around, and with another one. R5xx has corners at twelfths
 * of a pixel, the software renderer at 256ths: an edge may be on the other side of a pixel's
 * centre. At the rim of a thing its last pixel has a colour that no other has.
 */
#define MOVED 1
#define WRONG 16

struct mat {
	/* column by column */
	float m[16];
};

struct scene {
	struct solid snake, mouth, ball, plane, screen;
	GLuint scales, flesh, iris, wood;
	GLuint lit, floor, glass, sky, shade;
};

static const struct vec sun = { -.48f, .76f, .44f }, eye = { 1.15f, 1.75f, 4.1f };

static const char vertex[] = "attribute vec3 place, normal; attribute vec2 at;\n"
			     "uniform mat4 camera, model;\n"
			     "varying vec3 p, n; varying vec2 t;\n"
			     "void main() {\n"
			     "	vec4 w = model * vec4(place, 1.0);\n"
			     "	p = w.xyz;\n"
			     "	n = (model * vec4(normal, 0.0)).xyz;\n"
			     "	t = at;\n"
			     "	gl_Position = camera * w;\n"
			     "}\n";

/* Light of the sun and of the sky, gloss, and a bright rim. */
static const char lit[] = "uniform sampler2D paint; uniform vec3 sun, eye; uniform float gloss;\n"
			  "varying vec3 p, n; varying vec2 t;\n"
			  "void main() {\n"
			  "	vec3 m = normalize(n), v = normalize(eye - p);\n"
			  "	float bright = max(dot(m, sun), 0.0);\n"
			  "	float shine = pow(max(dot(m, normalize(v + sun)), 0.0), 32.0);\n"
			  "	float rim = 1.0 - max(dot(m, v), 0.0);\n"
			  "	vec3 sky = mix(vec3(.30, .20, .16), vec3(.42, .46, .62),\n"
			  "		       m.y * .5 + .5);\n"
			  "	vec3 light = sky + vec3(.95, .88, .74) * bright;\n"
			  "	vec3 c = texture2D(paint, t).rgb * light;\n"
			  "	c += vec3(1.0, .95, .8) * (shine * gloss);\n"
			  "	c += vec3(.35, .30, .45) * (rim * rim * rim * gloss);\n"
			  "	gl_FragColor = vec4(c, 1.0);\n"
			  "}\n";

/* Polished: what is below shows, the less the steeper one looks; and far away it is haze. */
static const char floor_of[] = "uniform sampler2D paint; uniform vec3 eye;\n"
			       "varying vec3 p; varying vec2 t;\n"
			       "void main() {\n"
			       "	vec3 v = eye - p;\n"
			       "	float far = clamp((length(v) - 6.0) / 15.0, 0.0, 1.0);\n"
			       "	float flat_ = 1.0 - normalize(v).y;\n"
			       "	vec3 c = texture2D(paint, t).rgb * vec3(1.05, 1.0, .95);\n"
			       "	float see = .12 + .4 * flat_ * flat_;\n"
			       "	gl_FragColor = vec4(mix(c, vec3(.93, .70, .58), far),\n"
			       "			    1.0 - see * (1.0 - far));\n"
			       "}\n";

static const char glass[] = "uniform vec3 sun, eye;\n"
			    "varying vec3 p, n;\n"
			    "void main() {\n"
			    "	vec3 m = normalize(n), v = normalize(eye - p);\n"
			    "	float rim = 1.0 - abs(dot(m, v));\n"
			    "	float shine = pow(max(dot(m, normalize(v + sun)), 0.0), 64.0);\n"
			    "	vec3 c = mix(vec3(.25, .45, .85), vec3(.85, .92, 1.0), rim * rim);\n"
			    "	float a = .16 + .6 * rim * rim + shine;\n"
			    "	gl_FragColor = vec4(c + shine, min(a, 1.0));\n"
			    "}\n";

/* Gouraud's: the colour is a varying, from the normal that the corners have. */
static const char sky_vertex[] = "attribute vec3 place; varying vec3 c;\n"
				 "void main() {\n"
				 "	float up = place.y * .5 + .5;\n"
				 "	c = mix(vec3(.93, .70, .58), vec3(.16, .22, .42),\n"
				 "		max(up * 3.0 - 2.1, 0.0));\n"
				 "	gl_Position = vec4(place.xy, 0.0, 1.0);\n"
				 "}\n";
static const char sky[] = "varying vec3 c; void main() { gl_FragColor = vec4(c, 1.0); }";
static const char shade[] = "void main() { gl_FragColor = vec4(.05, .02, .08, .5); }";

static struct mat mat_by(struct mat a, struct mat b)
{
	struct mat c = { { 0 } };
	int i, k, j;

	for (i = 0; i < 4; i++)
		for (k = 0; k < 4; k++)
			for (j = 0; j < 4; j++)
				c.m[4 * k + i] += a.m[4 * j + i] * b.m[4 * k + j];
	return c;
}

/* Larger by a factor, leaning back by an angle about x, and then somewhere else. */
static struct mat mat_place(float size, float lean, struct vec to)
{
	float c = size * cosf(lean), s = size * sinf(lean);

	return (struct mat){ { size, 0, 0, 0, 0, c, -s, 0, 0, s, c, 0, to.x, to.y, to.z, 1 } };
}

/* From the eye to a point, 42 degrees high. */
static struct mat mat_camera(struct vec at, float aspect)
{
	const float near = 1, far = 60, high = 1 / tanf(.3665f);
	struct vec back = vec_unit(vec_add(eye, at, -1));
	struct vec right = vec_unit(vec_cross((struct vec){ 0, 1, 0 }, back));
	struct vec up = vec_cross(back, right);
	struct mat turn = { { right.x, up.x, back.x, 0, right.y, up.y, back.y, 0, right.z, up.z,
			      back.z, 0, 0, 0, 0, 1 } };
	struct mat move = mat_place(1, 0, (struct vec){ -eye.x, -eye.y, -eye.z });
	struct mat lens = { { high / aspect, 0, 0, 0, 0, high, 0, 0, 0, 0,
			      (near + far) / (near - far), -1, 0, 0, 2 * near * far / (near - far),
			      0 } };

	return mat_by(lens, mat_by(turn, move));
}

static GLuint program_of(const char *first, const char *second)
{
	GLuint program = glCreateProgram();
	GLint good = 0;

	glAttachShader(program, screen_shader(GL_VERTEX_SHADER, first));
	glAttachShader(program, screen_shader(GL_FRAGMENT_SHADER, second));
	glBindAttribLocation(program, 0, "place");
	glBindAttribLocation(program, 1, "normal");
	glBindAttribLocation(program, 2, "at");
	glLinkProgram(program);
	glGetProgramiv(program, GL_LINK_STATUS, &good);
	if (!good)
		tap_bail("a program links");
	return program;
}

static void scene_make(struct scene *scene)
{
	scene->snake = solid_make(skin, 384, 48, 11, 1);
	scene->mouth = solid_make(mouth, 8, 48, 1, 1);
	scene->ball = solid_make(ball, 48, 24, 1, 1);
	scene->plane = solid_make(plane, 2, 2, 56, 56);
	scene->screen = solid_make(screen, 1, 10, 1, 1);
	scene->scales = paint_make(scales, 256);
	scene->flesh = paint_make(flesh, 16);
	scene->iris = paint_make(iris, 64);
	scene->wood = paint_make(wood, 256);
	scene->lit = program_of(vertex, lit);
	scene->floor = program_of(vertex, floor_of);
	scene->glass = program_of(vertex, glass);
	scene->sky = program_of(sky_vertex, sky);
	scene->shade = program_of(vertex, shade);
}

/* One solid, by a program, with a texture, at its place in the world. */
static void show(GLuint program, GLuint paint, const struct solid *solid, struct mat camera,
		 struct mat model, float gloss)
{
	glUseProgram(program);
	glBindTexture(GL_TEXTURE_2D, paint);
	glUniformMatrix4fv(glGetUniformLocation(program, "camera"), 1, 0, camera.m);
	glUniformMatrix4fv(glGetUniformLocation(program, "model"), 1, 0, model.m);
	glUniform3f(glGetUniformLocation(program, "sun"), sun.x, sun.y, sun.z);
	glUniform3f(glGetUniformLocation(program, "eye"), eye.x, eye.y, eye.z);
	glUniform1f(glGetUniformLocation(program, "gloss"), gloss);
	solid_draw(solid);
}

/* Where the ring stands, leaning back. */
static struct mat ring_at(void)
{
	return mat_place(1, .28f, (struct vec){ 0, 1.17f, 0 });
}

/* The snake, with its mouth and its eyes. */
static void snake(const struct scene *scene, struct mat camera, struct mat world)
{
	struct mat ring = mat_by(world, ring_at());
	int side;

	show(scene->lit, scene->scales, &scene->snake, camera, ring, .5f);
	show(scene->lit, scene->flesh, &scene->mouth, camera, ring, .1f);
	for (side = -1; side <= 1; side += 2) {
		struct mat at = mat_place(.062f, 0, around(LIPS - .36f, .125f, side * .165f));

		show(scene->lit, scene->iris, &scene->ball, camera, mat_by(ring, at), 1);
	}
}

static void frame(const struct scene *scene, float aspect)
{
	static const struct mat here = { { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1 } };
	static const struct mat mirror = { { 1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1 } };
	/* along the sun's rays, down to the floor */
	const struct mat cast = { { 1, 0, 0, 0, -sun.x / sun.y, 0, -sun.z / sun.y, 0, 0, 0, 1, 0, 0,
				    0, 0, 1 } };
	struct mat camera = mat_camera((struct vec){ 0, .98f, 0 }, aspect);
	struct mat middle = mat_place(.4f, 0, (struct vec){ 0, 1.2f, 0 });

	glClearColor(1, 0, 1, 1);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
	show(scene->sky, 0, &scene->screen, here, here, 0);

	glEnable(GL_DEPTH_TEST);
	snake(scene, camera, mirror);

	glEnable(GL_BLEND);
	glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
	show(scene->floor, scene->wood, &scene->plane, camera,
	     mat_place(40, 0, (struct vec){ 0, 0, 0 }), 0);

	/* each pixel of the floor is darkened once */
	glDisable(GL_DEPTH_TEST);
	glEnable(GL_STENCIL_TEST);
	glStencilFunc(GL_EQUAL, 0, 0xff);
	glStencilOp(GL_KEEP, GL_KEEP, GL_INCR);
	show(scene->shade, 0, &scene->snake, camera, mat_by(cast, ring_at()), 0);
	glDisable(GL_STENCIL_TEST);
	glEnable(GL_DEPTH_TEST);
	glDisable(GL_BLEND);

	snake(scene, camera, here);

	/* the far half of the ball first */
	glEnable(GL_BLEND);
	glEnable(GL_CULL_FACE);
	glCullFace(GL_FRONT);
	show(scene->glass, 0, &scene->ball, camera, middle, 0);
	glCullFace(GL_BACK);
	show(scene->glass, 0, &scene->ball, camera, middle, 0);
	glDisable(GL_CULL_FACE);
	glDisable(GL_BLEND);
	glDisable(GL_DEPTH_TEST);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static void attach(GLenum format, const GLenum *where, int count, int width, int height)
{
	GLuint buffer;

	glGenRenderbuffers(1, &buffer);
	glBindRenderbuffer(GL_RENDERBUFFER, buffer);
	glRenderbufferStorage(GL_RENDERBUFFER, format, width, height);
	while (count--)
		glFramebufferRenderbuffer(GL_FRAMEBUFFER, where[count], GL_RENDERBUFFER, buffer);
}

/*
 * The picture by the renderer whose context is current. Says how long the first frame took and a
 * second one, which has all its shaders and textures.
 */
static void picture_draw(const char *who, uint8_t *pixels, int width, int height)
{
	static const GLenum colour[] = { GL_COLOR_ATTACHMENT0 };
	static const GLenum depth[] = { GL_DEPTH_ATTACHMENT, GL_STENCIL_ATTACHMENT };
	struct scene scene;
	double begin, first, second;
	GLuint target;
	GLenum error;

	glGenFramebuffers(1, &target);
	glBindFramebuffer(GL_FRAMEBUFFER, target);
	attach(GL_RGBA8, colour, 1, width, height);
	attach(GL_DEPTH24_STENCIL8, depth, 2, width, height);
	glViewport(0, 0, width, height);
	if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
		tap_bail("the framebuffer is complete");
	scene_make(&scene);
	glFinish();
	begin = now();
	frame(&scene, (float)width / height);
	glFinish();
	first = now() - begin;
	begin = now();
	frame(&scene, (float)width / height);
	glFinish();
	second = now() - begin;
	glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	error = glGetError();
	if (error)
		printf("# GL error %x\n", error);
	ok(!error, "the frame is drawn");
	printf("# %s: %.2f s for the first frame, %.2f s for the next\n", who, first, second);
}

/* The display of Mesa's software renderer. */
static EGLDisplay open_software(void)
{
	PFNEGLQUERYDEVICESEXTPROC list = (void *)eglGetProcAddress("eglQueryDevicesEXT");
	PFNEGLQUERYDEVICESTRINGEXTPROC say = (void *)eglGetProcAddress("eglQueryDeviceStringEXT");
	EGLDeviceEXT devices[16];
	EGLDisplay display;
	EGLint i, count = 0;

	if (!list || !say || !list(COUNT(devices), devices, &count))
		tap_bail("Mesa has a list of devices");
	for (i = 0; i < count; i++)
		if (strstr(say(devices[i], EGL_EXTENSIONS), "EGL_MESA_device_software"))
			break;
	if (i == count)
		tap_bail("Mesa has a software renderer");
	display = eglGetPlatformDisplay(EGL_PLATFORM_DEVICE_EXT, devices[i], NULL);
	if (!eglInitialize(display, NULL, NULL))
		tap_bail("eglInitialize of the software renderer");
	return display;
}

static void compare(const uint8_t *gpu, const uint8_t *reference, int width, int height)
{
	struct likeness all = likeness_of(gpu, reference, width, height, TOLERANCE);
	int pixels = width * height, sides = width + height;
	int moved = sides / MOVED, wrong = sides / WRONG;
	const uint8_t *a = gpu + 4 * (all.y * width + all.x);
	const uint8_t *b = reference + 4 * (all.y * width + all.x);

	printf("# %d x %d, tolerance %d of 255: of %d pixels %d differ, %d by more\n", width,
	       height, TOLERANCE, pixels, all.differ, all.moved + all.wrong);
	printf("# of these %d have a colour of the pixels around (at most %d)", all.moved, moved);
	printf(", %d have another (at most %d)\n", all.wrong, wrong);
	printf("# largest difference %d, of pixels without such an edge %d\n", all.largest,
	       all.largest_still);
	printf("# for one, %d, %d from the top: %02x%02x%02x, not %02x%02x%02x\n", all.x,
	       height - 1 - all.y, a[0], a[1], a[2], b[0], b[1], b[2]);
	ok(all.moved <= moved && all.wrong <= wrong,
	   "the picture is that of the software renderer");
}

int main(int argc, char **argv)
{
	int width = argc > 2 ? atoi(argv[2]) : 160, height = argc > 3 ? atoi(argv[3]) : 120;
	uint8_t *gpu = calloc(width * height, 4), *reference = calloc(width * height, 4);
	EGLDisplay display = screen_open();
	EGLContext context = screen_context(display, EGL_NO_CONTEXT);
	const char *name;

	alarm(600);
	if (!gpu || !reference)
		tap_bail("memory");
	screen_current(display, context);
	screen_is(argc > 1 ? argv[1] : "RV515");
	picture_draw("GPU", gpu, width, height);
	eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
	eglTerminate(display);

	display = open_software();
	screen_current(display, screen_context(display, EGL_NO_CONTEXT));
	name = (const char *)glGetString(GL_RENDERER);
	printf("# compared with %s\n", name);
	ok(strstr(name, "llvmpipe") || strstr(name, "softpipe"), "the other is in software");
	picture_draw("software", reference, width, height);
	if (argc > 4) {
		ok(likeness_write(argv[4], "gl", gpu, width, height), "the picture is written");
		ok(likeness_write(argv[4], "software", reference, width, height), "and the other");
	}
	compare(gpu, reference, width, height);
	return tap_end();
}
