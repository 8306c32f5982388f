// SPDX-License-Identifier: GPL-2.0
/*
 * An alarm for suspend to idle, some seconds after a suspend begins: QEMU's clock wakes a machine
 * out of S3 alone, and its interrupt wakes no kernel whose clock is to wake it by ACPI.
 *
 * The timers of the kernel go on in such a sleep as long as no processor has an idle state for it
 * (cpuidle_find_deepest_state), as in a guest.
 */
#include <linux/module.h>
#include <linux/suspend.h>
#include <linux/timer.h>

static uint seconds = 5;
module_param(seconds, uint, 0400);
MODULE_PARM_DESC(seconds, "from the begin of a suspend to the alarm");

static void wake_machine(struct timer_list *timer)
{
	pr_info("ouro_alarm: wakes the machine\n");
	pm_system_wakeup();
}

static DEFINE_TIMER(wake_timer, wake_machine);

static int wake_event(struct notifier_block *block, unsigned long event, void *data)
{
	if (event == PM_SUSPEND_PREPARE)
		mod_timer(&wake_timer, jiffies + secs_to_jiffies(seconds));
	else if (event == PM_POST_SUSPEND)
		timer_delete_sync(&wake_timer);
	return NOTIFY_DONE;
}

static struct notifier_block wake_block = { .notifier_call = wake_event };

static int __init wake_init(void)
{
	return register_pm_notifier(&wake_block);
}

static void __exit wake_exit(void)
{
	unregister_pm_notifier(&wake_block);
	timer_delete_sync(&wake_timer);
}

module_init(wake_init);
module_exit(wake_exit);
MODULE_DESCRIPTION("An alarm for suspend to idle, for ouro's tests");
MODULE_LICENSE("GPL");
