// SPDX-License-Identifier: GPL-2.0
/*
 * Much of what OpenGL can be asked for, a little of each: what is drawn of, how it is tested and
 * blended, textures, targets, copies. Not all modelled GPUs draw, so that nothing is compared but
 * that all of it comes to an end, without an error. It is for the kernel to see many kinds of
 * streams; whether it refused one is Mesa's to say, on standard error.
 *   scenes GPU    GPU: part of Mesa's name for the renderer
 */
#include <stdint.h>
#include <unistd.h>
#include "scene.h"

static void draw_primitives(void)
{
	int i;

	for (i = 0; i < COUNT(shapes); i++)
		glDrawArrays(shapes[i], i % 2, 4);
	done("every kind of primitive");
	glBindBuffer(GL_ARRAY_BUFFER, 0);
	arrays(few);
	for (i = 0; i < COUNT(shapes); i++)
		glDrawArrays(shapes[i], 0, 6);
	glBegin(GL_TRIANGLES);
	for (i = 0; i < COUNT(few) * 50; i++) {
		glColor4ubv(few[i % COUNT(few)].colour);
		glTexCoord2fv(few[i % COUNT(few)].at);
		glVertex3fv(few[i % COUNT(few)].place);
	}
	glEnd();
	glRectf(0, 0, .5, .5);
	glBindBuffer(GL_ARRAY_BUFFER, vertices);
	arrays(NULL);
	done("from memory, and vertex by vertex");
}

static void draw_indices(void)
{
	static const uint8_t bytes[] = { 0, 1, 2, 2, 1, 3, 5 };
	static const uint16_t words[] = { 0, 1, 2, 2, 1, 3, 5 };
	static const uint32_t longs[] = { 0, 1, 2, 2, 1, 3, 5 };
	static const struct {
		const void *data;
		GLsizei size;
		GLenum type;
	} kinds[] = {
		{ bytes, 1, GL_UNSIGNED_BYTE },
		{ words, 2, GL_UNSIGNED_SHORT },
		{ longs, 4, GL_UNSIGNED_INT },
	};
	GLuint name;
	int i, first;

	for (i = 0; i < COUNT(kinds); i++) {
		const GLsizei size = kinds[i].size;

		glDrawElements(GL_TRIANGLES, 6, kinds[i].type, kinds[i].data);
		glDrawRangeElements(GL_TRIANGLE_STRIP, 0, 5, 5, kinds[i].type, kinds[i].data);
		glGenBuffers(1, &name);
		glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, name);
		glBufferData(GL_ELEMENT_ARRAY_BUFFER, 7 * size, kinds[i].data, GL_STATIC_DRAW);
		/* also from places at which no dword begins */
		for (first = 0; first < 4; first++)
			glDrawElements(GL_LINES, 4 - first % 2, kinds[i].type,
				       (void *)(intptr_t)(first * size));
		glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, 0);
		glDeleteBuffers(1, &name);
	}
	if (has("GL_ARB_draw_elements_base_vertex"))
		glDrawElementsBaseVertex(GL_TRIANGLES, 3, GL_UNSIGNED_SHORT, words, 1);
	done("indices of each size");
}

/* More than a packet can say, and more than 16 bits can count. */
static void draw_many(void)
{
	const GLsizei count = 100000;
	float *places = calloc(count, 3 * sizeof(float));
	uint32_t *order = calloc(count, sizeof(uint32_t));
	GLuint name;
	GLsizei i;

	if (!places || !order)
		tap_bail("memory");
	for (i = 0; i < count; i++)
		order[i] = (uint32_t)(i * 7919u) % count;
	glGenBuffers(1, &name);
	glBindBuffer(GL_ARRAY_BUFFER, name);
	glBufferData(GL_ARRAY_BUFFER, count * 12, places, GL_STATIC_DRAW);
	glDisableClientState(GL_COLOR_ARRAY);
	glDisableClientState(GL_TEXTURE_COORD_ARRAY);
	glVertexPointer(3, GL_FLOAT, 0, NULL);
	glDrawArrays(GL_TRIANGLES, 0, count);
	glDrawArrays(GL_TRIANGLE_STRIP, 3, count - 3);
	glDrawElements(GL_TRIANGLES, count, GL_UNSIGNED_INT, order);
	glBindBuffer(GL_ARRAY_BUFFER, vertices);
	arrays(NULL);
	glDeleteBuffers(1, &name);
	free(order);
	free(places);
	done("a hundred thousand vertices");
}

static void draw_formats(void)
{
	static const struct {
		GLint size;
		GLenum type;
	} kinds[] = {
		{ 2, GL_SHORT }, { 3, GL_SHORT }, { 4, GL_SHORT },  { 2, GL_INT },
		{ 2, GL_FLOAT }, { 4, GL_FLOAT }, { 3, GL_DOUBLE },
	};
	static const char zeros[4096];
	GLuint name;
	int i;

	glGenBuffers(1, &name);
	glBindBuffer(GL_ARRAY_BUFFER, name);
	glBufferData(GL_ARRAY_BUFFER, sizeof(zeros), zeros, GL_STREAM_DRAW);
	for (i = 0; i < COUNT(kinds); i++) {
		glVertexPointer(kinds[i].size, kinds[i].type, i % 2 ? 48 : 0,
				(void *)(intptr_t)(16 * i));
		glDrawArrays(GL_TRIANGLES, 0, 24);
	}
	glDisableClientState(GL_COLOR_ARRAY);
	glDrawArrays(GL_TRIANGLES, 0, 24);
	glBindBuffer(GL_ARRAY_BUFFER, vertices);
	arrays(NULL);
	glDeleteBuffers(1, &name);
	done("vertices of many formats");
}

static void depth_and_stencil(GLenum format, int stencil, const char *name)
{
	static const GLenum tests[] = { GL_LESS, GL_LEQUAL, GL_ALWAYS, GL_NEVER, GL_GEQUAL };
	GLuint buffer;
	int i;

	glGenRenderbuffers(1, &buffer);
	glBindRenderbuffer(GL_RENDERBUFFER, buffer);
	glRenderbufferStorage(GL_RENDERBUFFER, format, SIDE, SIDE);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, buffer);
	if (stencil)
		glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_STENCIL_ATTACHMENT, GL_RENDERBUFFER,
					  buffer);
	glEnable(GL_DEPTH_TEST);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | (stencil ? GL_STENCIL_BUFFER_BIT : 0));
	for (i = 0; i < COUNT(tests); i++) {
		glDepthFunc(tests[i]);
		glDepthMask(i % 2);
		if (stencil) {
			glEnable(GL_STENCIL_TEST);
			glStencilFuncSeparate(GL_FRONT, tests[i], i, 0x7f);
			glStencilOpSeparate(GL_BACK, GL_KEEP, GL_INCR_WRAP, GL_INVERT);
		}
		glEnable(GL_POLYGON_OFFSET_FILL);
		glPolygonOffset(1, i);
		draw();
	}
	glDepthMask(1);
	glClear(GL_DEPTH_BUFFER_BIT);
	draw();
	glDisable(GL_POLYGON_OFFSET_FILL);
	glDisable(GL_STENCIL_TEST);
	glDisable(GL_DEPTH_TEST);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, 0);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_STENCIL_ATTACHMENT, GL_RENDERBUFFER, 0);
	glDeleteRenderbuffers(1, &buffer);
	done(name);
}

static void draw_blending(void)
{
	static const GLenum equations[] = { GL_FUNC_ADD, GL_FUNC_SUBTRACT, GL_MIN, GL_MAX };
	int i;

	glEnable(GL_BLEND);
	for (i = 0; i < COUNT(equations); i++) {
		glBlendEquationSeparate(equations[i], GL_FUNC_ADD);
		glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_DST_COLOR, GL_CONSTANT_COLOR,
				    GL_ZERO);
		glColorMask(1, i % 2, !(i % 2), 1);
		draw();
	}
	glDisable(GL_BLEND);
	glColorMask(1, 1, 1, 1);
	glEnable(GL_COLOR_LOGIC_OP);
	glLogicOp(GL_XOR);
	draw();
	glDisable(GL_COLOR_LOGIC_OP);
	glEnable(GL_ALPHA_TEST);
	glAlphaFunc(GL_GREATER, .5);
	draw();
	glDisable(GL_ALPHA_TEST);
	glColorMask(0, 0, 0, 0);
	draw();
	glColorMask(1, 1, 1, 1);
	done("blending, masks and logic");
}

static void draw_raster(void)
{
	static const GLdouble plane[] = { 1, 0, 0, .5 };
	static const GLubyte stipple[128] = { 0xaa, 0x55 };

	glEnable(GL_SCISSOR_TEST);
	glScissor(3, 5, 17, 29);
	draw();
	glClear(GL_COLOR_BUFFER_BIT);
	glScissor(0, 0, 0, 0);
	draw();
	glDisable(GL_SCISSOR_TEST);
	glViewport(-100, -50, 3 * SIDE, SIDE / 3);
	draw();
	glViewport(0, 0, SIDE, SIDE);
	glEnable(GL_CLIP_PLANE0);
	glClipPlane(GL_CLIP_PLANE0, plane);
	draw();
	glDisable(GL_CLIP_PLANE0);
	glEnable(GL_CULL_FACE);
	glFrontFace(GL_CW);
	draw();
	glDisable(GL_CULL_FACE);
	glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
	draw();
	glPolygonMode(GL_FRONT_AND_BACK, GL_FILL);
	glEnable(GL_POLYGON_STIPPLE);
	glPolygonStipple(stipple);
	draw();
	glDisable(GL_POLYGON_STIPPLE);
	glEnable(GL_LINE_STIPPLE);
	glLineStipple(2, 0x5a5a);
	glLineWidth(3);
	glDrawArrays(GL_LINES, 0, 4);
	glDisable(GL_LINE_STIPPLE);
	glEnable(GL_LINE_SMOOTH);
	glDrawArrays(GL_LINES, 0, 4);
	glDisable(GL_LINE_SMOOTH);
	glPointSize(7);
	glEnable(GL_POINT_SPRITE);
	glTexEnvi(GL_POINT_SPRITE, GL_COORD_REPLACE, 1);
	glDrawArrays(GL_POINTS, 0, 4);
	glDisable(GL_POINT_SPRITE);
	glShadeModel(GL_FLAT);
	draw();
	glShadeModel(GL_SMOOTH);
	done("clips, sides, stipples");
}

static void draw_light_and_fog(void)
{
	static const float far[] = { 1, 1, 1, 0 };
	int i;

	glEnable(GL_LIGHTING);
	for (i = 0; i < 4; i++) {
		glEnable(GL_LIGHT0 + i);
		glLightfv(GL_LIGHT0 + i, GL_POSITION, far);
	}
	glEnable(GL_FOG);
	glFogi(GL_FOG_MODE, GL_EXP2);
	glEnable(GL_NORMALIZE);
	draw();
	glLightModeli(GL_LIGHT_MODEL_TWO_SIDE, 1);
	glLightModeli(GL_LIGHT_MODEL_COLOR_CONTROL, GL_SEPARATE_SPECULAR_COLOR);
	draw();
	glDisable(GL_FOG);
	glDisable(GL_LIGHTING);
	done("lights and fog");
}

static void draw_texture_formats(void)
{
	static const struct {
		GLint internal;
		GLenum format, type;
		const char *needs;
	} kinds[] = {
		{ GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, "" },
		{ GL_RGB, GL_RGB, GL_UNSIGNED_SHORT_5_6_5, "" },
		{ GL_RGBA4, GL_RGBA, GL_UNSIGNED_SHORT_4_4_4_4, "" },
		{ GL_RGB5_A1, GL_RGBA, GL_UNSIGNED_SHORT_5_5_5_1, "" },
		{ GL_LUMINANCE8, GL_LUMINANCE, GL_UNSIGNED_BYTE, "" },
		{ GL_ALPHA8, GL_ALPHA, GL_UNSIGNED_BYTE, "" },
		{ GL_LUMINANCE8_ALPHA8, GL_LUMINANCE_ALPHA, GL_UNSIGNED_BYTE, "" },
		{ GL_RGBA16, GL_RGBA, GL_UNSIGNED_SHORT, "" },
		{ GL_RGB10_A2, GL_RGBA, GL_UNSIGNED_INT_2_10_10_10_REV, "" },
		{ GL_DEPTH_COMPONENT24, GL_DEPTH_COMPONENT, GL_UNSIGNED_INT, "" },
		{ GL_DEPTH_COMPONENT16, GL_DEPTH_COMPONENT, GL_UNSIGNED_SHORT, "" },
		{ GL_SRGB8_ALPHA8, GL_RGBA, GL_UNSIGNED_BYTE, "" },
		{ GL_RGBA16F_ARB, GL_RGBA, GL_FLOAT, "GL_ARB_texture_float" },
		{ GL_RGBA32F_ARB, GL_RGBA, GL_FLOAT, "GL_ARB_texture_float" },
		{ GL_COMPRESSED_RGBA_S3TC_DXT1_EXT, GL_RGBA, GL_UNSIGNED_BYTE,
		  "GL_EXT_texture_compression_s3tc" },
		{ GL_COMPRESSED_RGBA_S3TC_DXT5_EXT, GL_RGBA, GL_UNSIGNED_BYTE,
		  "GL_EXT_texture_compression_s3tc" },
		{ GL_COMPRESSED_RED_RGTC1, GL_RED, GL_UNSIGNED_BYTE,
		  "GL_ARB_texture_compression_rgtc" },
	};
	static const char texels[16 * 64 * 64];
	GLuint name;
	int i;

	glEnable(GL_TEXTURE_2D);
	for (i = 0; i < COUNT(kinds); i++) {
		if (!has(kinds[i].needs))
			continue;
		glGenTextures(1, &name);
		glBindTexture(GL_TEXTURE_2D, name);
		glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
		glTexImage2D(GL_TEXTURE_2D, 0, kinds[i].internal, 64, 64, 0, kinds[i].format,
			     kinds[i].type, texels);
		draw();
		glDeleteTextures(1, &name);
	}
	glDisable(GL_TEXTURE_2D);
	done("textures of many formats");
}

static void draw_texture_shapes(void)
{
	static const struct {
		GLenum kind;
		GLsizei width, height;
	} kinds[] = {
		{ GL_TEXTURE_2D, 1, 1 },	{ GL_TEXTURE_2D, 256, 2 },
		{ GL_TEXTURE_2D, 37, 91 },	{ GL_TEXTURE_2D, 2048, 16 },
		{ GL_TEXTURE_RECTANGLE, 33, 17 },
	};
	static const char texels[4 * 2048 * 16];
	GLuint name;
	int i, face;

	for (i = 0; i < COUNT(kinds); i++) {
		glEnable(kinds[i].kind);
		glGenTextures(1, &name);
		glBindTexture(kinds[i].kind, name);
		glTexParameteri(kinds[i].kind, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
		glTexParameteri(kinds[i].kind, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
		glTexImage2D(kinds[i].kind, 0, GL_RGBA8, kinds[i].width, kinds[i].height, 0,
			     GL_RGBA, GL_UNSIGNED_BYTE, texels);
		draw();
		/* with all its levels */
		if (kinds[i].kind == GL_TEXTURE_2D) {
			glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER,
					GL_LINEAR_MIPMAP_LINEAR);
			glGenerateMipmap(GL_TEXTURE_2D);
			draw();
			glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_BASE_LEVEL, 1);
			glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 2);
			draw();
		}
		glDeleteTextures(1, &name);
		glDisable(kinds[i].kind);
	}
	done("textures of many sizes, and their levels");

	glEnable(GL_TEXTURE_CUBE_MAP);
	glGenTextures(1, &name);
	glBindTexture(GL_TEXTURE_CUBE_MAP, name);
	for (face = 0; face < 6; face++)
		glTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, 0, GL_RGBA8, 32, 32, 0, GL_RGBA,
			     GL_UNSIGNED_BYTE, texels);
	glGenerateMipmap(GL_TEXTURE_CUBE_MAP);
	draw();
	glDeleteTextures(1, &name);
	glDisable(GL_TEXTURE_CUBE_MAP);
	glEnable(GL_TEXTURE_3D);
	glGenTextures(1, &name);
	glBindTexture(GL_TEXTURE_3D, name);
	glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
	glTexImage3D(GL_TEXTURE_3D, 0, GL_RGBA8, 16, 8, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
	draw();
	glDeleteTextures(1, &name);
	glDisable(GL_TEXTURE_3D);
	glEnable(GL_TEXTURE_1D);
	glGenTextures(1, &name);
	glBindTexture(GL_TEXTURE_1D, name);
	glTexParameteri(GL_TEXTURE_1D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexImage1D(GL_TEXTURE_1D, 0, GL_RGBA8, 64, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
	draw();
	glDeleteTextures(1, &name);
	glDisable(GL_TEXTURE_1D);
	done("cubes, and textures of one and three dimensions");
}

/* All the units that there are, by a program. */
static void draw_units(void)
{
	static const char vertex[] = "varying vec2 at; uniform vec4 move[64];\n"
				     "void main() { vec4 p = gl_Vertex;\n"
				     "for (int i = 0; i < 64; i++) p += move[i];\n"
				     "gl_Position = p; at = gl_MultiTexCoord0.xy; }\n";
	static const char fragment[] = "varying vec2 at; uniform sampler2D s[8];\n"
				       "void main() { vec4 c = texture2D(s[0], at);\n"
				       "c += texture2D(s[1], at) + texture2D(s[2], at.yx);\n"
				       "c += texture2D(s[3], at) + texture2D(s[4], at * 2.0);\n"
				       "c += texture2D(s[5], at) + texture2D(s[6], at);\n"
				       "c += texture2D(s[7], at + 0.1);\n"
				       "if (c.x > 3.0) discard; gl_FragColor = c * sin(at.x); }\n";
	static const char texels[4 * 16 * 16];
	static const GLint order[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	GLuint program = glCreateProgram(), names[8];
	int i;

	glAttachShader(program, screen_shader(GL_VERTEX_SHADER, vertex));
	glAttachShader(program, screen_shader(GL_FRAGMENT_SHADER, fragment));
	glLinkProgram(program);
	glUseProgram(program);
	glUniform1iv(glGetUniformLocation(program, "s"), 8, order);
	glGenTextures(8, names);
	for (i = 0; i < 8; i++) {
		glActiveTexture(GL_TEXTURE0 + i);
		glBindTexture(GL_TEXTURE_2D, names[i]);
		glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
		glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE,
			     texels);
	}
	draw();
	glDrawElements(GL_TRIANGLES, 3, GL_UNSIGNED_BYTE, "\0\1\2");
	glActiveTexture(GL_TEXTURE0);
	glUseProgram(0);
	glDeleteProgram(program);
	glDeleteTextures(8, names);
	done("eight textures in one program");
}

static void draw_targets(void)
{
	static const GLenum kinds[] = { GL_RGBA8, GL_RGB8, GL_RGB565, GL_RGBA4, GL_RGB5_A1,
					GL_RGBA16F_ARB };
	static const GLenum buffers[] = { GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1,
					  GL_COLOR_ATTACHMENT2, GL_COLOR_ATTACHMENT3 };
	GLuint framebuffer, names[4];
	int i;

	glGenFramebuffers(1, &framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
	for (i = 0; i < COUNT(kinds); i++) {
		glGenTextures(1, names);
		glBindTexture(GL_TEXTURE_2D, names[0]);
		glTexImage2D(GL_TEXTURE_2D, 0, kinds[i], 77, 55, 0, GL_RGBA, GL_FLOAT, NULL);
		glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D,
				       names[0], 0);
		if (glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE) {
			glClear(GL_COLOR_BUFFER_BIT);
			draw();
		}
		glDeleteTextures(1, names);
	}
	done("targets of many formats");
	glGenTextures(4, names);
	for (i = 0; i < 4; i++) {
		glBindTexture(GL_TEXTURE_2D, names[i]);
		glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 64, 64, 0, GL_RGBA, GL_UNSIGNED_BYTE,
			     NULL);
		glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0 + i, GL_TEXTURE_2D,
				       names[i], 0);
	}
	glDrawBuffers(4, buffers);
	glClear(GL_COLOR_BUFFER_BIT);
	draw();
	glDeleteTextures(4, names);
	glBindFramebuffer(GL_FRAMEBUFFER, target);
	glDeleteFramebuffers(1, &framebuffer);
	done("four targets at once");
}

/* What moves pixels. */
static void draw_copies(void)
{
	static char pixels[4 * SIDE * SIDE];
	GLuint name, framebuffer;

	glGenTextures(1, &name);
	glBindTexture(GL_TEXTURE_2D, name);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, SIDE, SIDE, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 3, 7, 11, 13, 100, 90);
	glTexSubImage2D(GL_TEXTURE_2D, 0, 5, 5, 40, 30, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	done("textures from targets");
	glGenFramebuffers(1, &framebuffer);
	glBindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffer);
	glFramebufferTexture2D(GL_DRAW_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, name, 0);
	glBlitFramebuffer(0, 0, SIDE, SIDE, 0, 0, SIDE, SIDE, GL_COLOR_BUFFER_BIT, GL_NEAREST);
	glBlitFramebuffer(0, 0, 100, 50, 200, 200, 10, 30, GL_COLOR_BUFFER_BIT, GL_LINEAR);
	glBindFramebuffer(GL_FRAMEBUFFER, target);
	glDeleteFramebuffers(1, &framebuffer);
	glDeleteTextures(1, &name);
	done("targets to targets");
	glReadPixels(1, 2, 33, 44, GL_BGRA, GL_UNSIGNED_INT_8_8_8_8_REV, pixels);
	glRasterPos2f(0, 0);
	glDrawPixels(20, 10, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	glBitmap(8, 8, 0, 0, 8, 0, (GLubyte *)pixels);
	glCopyPixels(0, 0, 20, 20, GL_COLOR);
	done("pixels to and from memory");
}

static void draw_samples(void)
{
	GLuint names[2], result, query;
	GLint most = 0;

	glGenQueries(1, &query);
	glBeginQuery(GL_SAMPLES_PASSED, query);
	draw();
	glEndQuery(GL_SAMPLES_PASSED);
	glGetQueryObjectuiv(query, GL_QUERY_RESULT, &result);
	glDeleteQueries(1, &query);
	done("samples are counted");
	if (has("GL_EXT_framebuffer_multisample"))
		glGetIntegerv(GL_MAX_SAMPLES, &most);
	if (most < 2) {
		skip("several samples for each pixel", "Mesa does not have them here");
		return;
	}
	glGenRenderbuffers(1, names);
	glGenFramebuffers(1, names + 1);
	glBindRenderbuffer(GL_RENDERBUFFER, names[0]);
	glRenderbufferStorageMultisample(GL_RENDERBUFFER, most, GL_RGBA8, SIDE, SIDE);
	glBindFramebuffer(GL_FRAMEBUFFER, names[1]);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, names[0]);
	glClear(GL_COLOR_BUFFER_BIT);
	draw();
	glBindFramebuffer(GL_DRAW_FRAMEBUFFER, target);
	glBlitFramebuffer(0, 0, SIDE, SIDE, 0, 0, SIDE, SIDE, GL_COLOR_BUFFER_BIT, GL_NEAREST);
	glBindFramebuffer(GL_FRAMEBUFFER, target);
	glDeleteFramebuffers(1, names + 1);
	glDeleteRenderbuffers(1, names);
	done("several samples for each pixel");
}

int main(int argc, char **argv)
{
	EGLDisplay display = screen_open();
	EGLContext context = screen_context(display, EGL_NO_CONTEXT);

	alarm(300);
	screen_current(display, context);
	screen_is(argc > 1 ? argv[1] : "SNB");
	target = screen_target(GL_RGBA8);
	glClear(GL_COLOR_BUFFER_BIT);
	glGenBuffers(1, &vertices);
	glBindBuffer(GL_ARRAY_BUFFER, vertices);
	glBufferData(GL_ARRAY_BUFFER, sizeof(few), few, GL_STATIC_DRAW);
	arrays(NULL);
	draw_primitives();
	draw_indices();
	draw_many();
	draw_formats();
	depth_and_stencil(GL_DEPTH24_STENCIL8, 1, "depth and stencil");
	depth_and_stencil(GL_DEPTH_COMPONENT16, 0, "depth of 16 bits");
	draw_blending();
	draw_raster();
	draw_light_and_fog();
	draw_texture_formats();
	draw_texture_shapes();
	draw_units();
	draw_targets();
	draw_copies();
	draw_samples();
	eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
	eglDestroyContext(display, context);
	ok(eglTerminate(display), "the display closes");
	return tap_end();
}
