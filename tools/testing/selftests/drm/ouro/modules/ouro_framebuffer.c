// SPDX-License-Identifier: GPL-2.0
/*
 * A framebuffer as firmware leaves it: a platform device that owns a part of a card's memory, and
 * goes when the card's driver takes it (linux/aperture.h).
 */
#include <linux/aperture.h>
#include <linux/module.h>
#include <linux/platform_device.h>

static ulong start;
module_param(start, ulong, 0400);
MODULE_PARM_DESC(start, "physical address of the framebuffer");

static ulong size;
module_param(size, ulong, 0400);
MODULE_PARM_DESC(size, "its bytes");

static struct platform_device *framebuffer;

static int framebuffer_probe(struct platform_device *pdev)
{
	return devm_aperture_acquire_for_platform_device(pdev, start, size);
}

static struct platform_driver framebuffer_driver = {
	.probe = framebuffer_probe,
	.driver = { .name = "ouro-framebuffer" },
};

static int __init framebuffer_init(void)
{
	int ret = platform_driver_register(&framebuffer_driver);

	if (ret)
		return ret;
	framebuffer = platform_device_register_simple(framebuffer_driver.driver.name,
						      PLATFORM_DEVID_NONE, NULL, 0);
	if (IS_ERR(framebuffer)) {
		platform_driver_unregister(&framebuffer_driver);
		return PTR_ERR(framebuffer);
	}
	/* the driver that takes the card unregisters it, and this module still asks about it */
	get_device(&framebuffer->dev);
	return 0;
}

static void __exit framebuffer_exit(void)
{
	if (device_is_registered(&framebuffer->dev))
		platform_device_unregister(framebuffer);
	put_device(&framebuffer->dev);
	platform_driver_unregister(&framebuffer_driver);
}

module_init(framebuffer_init);
module_exit(framebuffer_exit);
MODULE_DESCRIPTION("A framebuffer as firmware leaves it, for ouro's tests");
MODULE_LICENSE("GPL");
