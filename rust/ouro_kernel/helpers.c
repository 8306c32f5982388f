// SPDX-License-Identifier: GPL-2.0
/*
 * Functions for Rust in place of the kernel's static inlines and macros. A
 * function here does only what Rust code cannot do.
 */
#include <drm/drm_auth.h>
#include <linux/aperture.h>
#include <linux/compat.h>
#include <linux/devcoredump.h>
#include <linux/dma-fence-unwrap.h>
#include <linux/io.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/pagemap.h>
#include <linux/pci.h>
#include <linux/pgtable.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "helpers.h"

MODULE_IMPORT_NS("DMA_BUF");

void ouro_drm_dbg(const struct device *dev, const char *format, const void *args)
{
	drm_dev_dbg(dev, DRM_UT_DRIVER, format, args);
}

void ouro_fence_get(struct dma_fence *fence)
{
	dma_fence_get(fence);
}

void ouro_fence_put(struct dma_fence *fence)
{
	dma_fence_put(fence);
}

bool ouro_fence_is_signaled(struct dma_fence *fence)
{
	return dma_fence_is_signaled(fence);
}

/*
 * Sets the error and signals the fence in one step, and only once. Returns
 * whether this call has signalled it.
 */
bool ouro_fence_signal(struct dma_fence *fence, int error)
{
	unsigned long flags;
	bool first;

	dma_fence_lock_irqsave(fence, flags);
	first = !dma_fence_test_signaled_flag(fence);
	if (first) {
		if (error)
			dma_fence_set_error(fence, error);
		dma_fence_signal_locked(fence);
	}
	dma_fence_unlock_irqrestore(fence, flags);
	return first;
}

void ouro_fence_set_error(struct dma_fence *fence, int error)
{
	if (!dma_fence_test_signaled_flag(fence))
		dma_fence_set_error(fence, error);
}

bool ouro_fence_is_container(struct dma_fence *fence)
{
	return dma_fence_is_container(fence);
}

void ouro_fence_each(struct dma_fence *fence, void (*call)(struct dma_fence *, void *), void *data)
{
	struct dma_fence_unwrap cursor;
	struct dma_fence *part;

	dma_fence_unwrap_for_each(part, &cursor, fence)
		call(part, data);
}

bool ouro_fence_begin_signalling(void)
{
	return dma_fence_begin_signalling();
}

void ouro_fence_end_signalling(bool cookie)
{
	dma_fence_end_signalling(cookie);
}

struct dma_fence_chain *ouro_fence_chain_alloc(void)
{
	return dma_fence_chain_alloc();
}

void ouro_fence_chain_free(struct dma_fence_chain *chain)
{
	dma_fence_chain_free(chain);
}

void ouro_ww_acquire_init(struct ww_acquire_ctx *ctx)
{
	ww_acquire_init(ctx, &reservation_ww_class);
}

void ouro_ww_acquire_done(struct ww_acquire_ctx *ctx)
{
	ww_acquire_done(ctx);
}

void ouro_ww_acquire_fini(struct ww_acquire_ctx *ctx)
{
	ww_acquire_fini(ctx);
}

int ouro_resv_lock(struct dma_resv *resv, struct ww_acquire_ctx *ctx, bool intr)
{
	if (intr)
		return dma_resv_lock_interruptible(resv, ctx);
	return dma_resv_lock(resv, ctx);
}

int ouro_resv_lock_slow(struct dma_resv *resv, struct ww_acquire_ctx *ctx, bool intr)
{
	if (intr)
		return dma_resv_lock_slow_interruptible(resv, ctx);
	dma_resv_lock_slow(resv, ctx);
	return 0;
}

bool ouro_resv_trylock(struct dma_resv *resv)
{
	return dma_resv_trylock(resv);
}

bool ouro_resv_trylock_ctx(struct dma_resv *resv, struct ww_acquire_ctx *ctx)
{
	return ww_mutex_trylock(&resv->lock, ctx);
}

void ouro_resv_unlock(struct dma_resv *resv)
{
	dma_resv_unlock(resv);
}

int ouro_resv_collect(struct dma_resv *resv, unsigned int usage,
		      unsigned int *n, struct dma_fence ***fences)
{
	return dma_resv_get_fences(resv, usage, n, fences);
}

/* Its lock is held. Not for fences that were signalled. */
void ouro_resv_each_locked(struct dma_resv *resv, unsigned int usage,
			   void (*call)(struct dma_fence *fence, void *data), void *data)
{
	struct dma_resv_iter cursor;
	struct dma_fence *fence;

	dma_resv_for_each_fence(&cursor, resv, usage, fence)
		if (!test_bit(DMA_FENCE_FLAG_SIGNALED_BIT, &fence->flags))
			call(fence, data);
}

void ouro_resv_each(struct dma_resv *resv, unsigned int usage,
		    void (*call)(struct dma_fence *fence, void *data), void *data)
{
	struct dma_resv_iter cursor;
	struct dma_fence *fence;

	dma_resv_iter_begin(&cursor, resv, usage);
	dma_resv_for_each_fence_unlocked(&cursor, fence)
		call(fence, data);
	dma_resv_iter_end(&cursor);
}

void ouro_dma_buf_get(struct dma_buf *buf)
{
	get_dma_buf(buf);
}

long ouro_swap_pages(void)
{
	return get_nr_swap_pages();
}

struct shrinker *ouro_shrinker_alloc(const char *name)
{
	return shrinker_alloc(0, "%s", name);
}

void ouro_syncobj_get(struct drm_syncobj *syncobj)
{
	drm_syncobj_get(syncobj);
}

void ouro_syncobj_put(struct drm_syncobj *syncobj)
{
	drm_syncobj_put(syncobj);
}

struct dma_fence *ouro_syncobj_fence(struct drm_syncobj *syncobj)
{
	return drm_syncobj_fence_get(syncobj);
}

/* The file owns the only reference of the sync_file: fput() frees both. */
struct file *ouro_sync_file_create(struct dma_fence *fence)
{
	struct sync_file *sync_file = sync_file_create(fence);

	return sync_file ? sync_file->file : NULL;
}

/* Calls each() for the objects that the file has handles of, under a spinlock. */
void ouro_file_objects(struct drm_file *file, void (*each)(struct drm_gem_object *obj, void *data),
		       void *data)
{
	struct drm_gem_object *obj;
	int id;

	spin_lock(&file->table_lock);
	idr_for_each_entry(&file->object_idr, obj, id)
		each(obj, data);
	spin_unlock(&file->table_lock);
}

/* Looks up n handles: a reference each, NULL for an unknown one. */
void ouro_gem_lookup(struct drm_file *file, const u32 *handles, struct drm_gem_object **objects,
		     unsigned int n)
{
	struct drm_gem_object *obj;

	spin_lock(&file->table_lock);
	while (n--) {
		obj = idr_find(&file->object_idr, *handles++);
		if (obj)
			drm_gem_object_get(obj);
		*objects++ = obj;
	}
	spin_unlock(&file->table_lock);
}

/* Calls each() for the object of a handle, under a spinlock. Returns whether there is one. */
bool ouro_gem_with(struct drm_file *file, u32 handle,
		   void (*each)(struct drm_gem_object *obj, void *data), void *data)
{
	struct drm_gem_object *obj;

	spin_lock(&file->table_lock);
	obj = idr_find(&file->object_idr, handle);
	if (obj)
		each(obj, data);
	spin_unlock(&file->table_lock);
	return obj;
}

/*
 * Returns the object that owns all these offsets, with a reference, or NULL.
 * An object whose count is zero is being freed, which needs this lock, too.
 */
struct drm_gem_object *ouro_gem_at_offset(struct drm_device *dev, unsigned long start,
					  unsigned long pages)
{
	struct drm_vma_offset_manager *mgr = dev->vma_offset_manager;
	struct drm_gem_object *obj = NULL;
	struct drm_vma_offset_node *node;

	drm_vma_offset_lock_lookup(mgr);
	node = drm_vma_offset_lookup_locked(mgr, start, pages);
	if (node) {
		obj = node->driver_private;
		if (!kref_get_unless_zero(&obj->refcount))
			obj = NULL;
	}
	drm_vma_offset_unlock_lookup(mgr);
	return obj;
}

bool ouro_gem_get_unless_zero(struct drm_gem_object *obj)
{
	return kref_get_unless_zero(&obj->refcount);
}

void ouro_vma_node_reset(struct drm_vma_offset_node *node, struct drm_gem_object *obj)
{
	drm_vma_node_reset(node);
	node->driver_private = obj;
}

void ouro_vma_node_unmap(struct drm_vma_offset_node *node, struct drm_device *dev)
{
	drm_vma_node_unmap(node, dev->anon_inode->i_mapping);
}

/* A count of 0 unmaps nothing; for unmap_mapping_range() it means all pages from first on. */
void ouro_vma_node_unmap_pages(struct drm_vma_offset_node *node, struct drm_device *dev,
			       unsigned long first, unsigned long count)
{
	loff_t start = (loff_t)(drm_vma_node_start(node) + first) << PAGE_SHIFT;

	if (count)
		unmap_mapping_range(dev->anon_inode->i_mapping, start, (loff_t)count << PAGE_SHIFT,
				    1);
}

/* Returns the first page offset of nodes; dma-buf mappings are below it. */
unsigned long ouro_vma_node_base(void)
{
	return DRM_FILE_PAGE_OFFSET_START;
}

unsigned long ouro_vm_mmap(struct file *file, unsigned long size, bool write,
			   unsigned long offset)
{
	return vm_mmap(file, 0, size, PROT_READ | (write ? PROT_WRITE : 0), MAP_SHARED, offset);
}

/*
 * Prepares a mapping of page frames without struct page, with the given caching. Where memory is
 * encrypted, the protection is that of RAM: see ouro_insert_pfns().
 */
int ouro_vma_prepare(struct vm_area_struct *vma, unsigned int caching)
{
	pgprot_t prot;

	/* A private writable mapping would need copies of pages, which are not possible here. */
	if ((vma->vm_flags & (VM_SHARED | VM_MAYWRITE)) == VM_MAYWRITE)
		return -EINVAL;

	vm_flags_set(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
	prot = vm_get_page_prot(vma->vm_flags);
	if (caching == OURO_CACHE_WC)
		prot = pgprot_writecombine(prot);
	else if (caching == OURO_CACHE_UC)
		prot = pgprot_noncached(prot);
	vma->vm_page_prot = prot;
	return 0;
}

static int ouro_mapping_release(struct inode *inode, struct file *file)
{
	drm_dev_put(file->private_data);
	return 0;
}

static const struct file_operations ouro_mapping_fops = {
	.owner = THIS_MODULE,
	.release = ouro_mapping_release,
};

/*
 * Gives a new mapping of a device's file a file of its own, so that the mapping does not keep the
 * client's file open. All mappings of the device share one address space, through which the driver
 * unmaps them.
 */
int ouro_vma_leave_file(struct vm_area_struct *vma, struct drm_device *dev)
{
	struct file *file = anon_inode_getfile("[ouro]", &ouro_mapping_fops, dev, O_RDWR);

	if (IS_ERR(file))
		return PTR_ERR(file);
	drm_dev_get(dev);
	file->f_mapping = dev->anon_inode->i_mapping;
	vma_set_file(vma, file);
	fput(file);
	return 0;
}

/* Text parameters. The kernel crate's module! supports only numbers. */
static char ouro_probe[256];
module_param_string(probe, ouro_probe, sizeof(ouro_probe), 0444);
MODULE_PARM_DESC(probe, "Devices to bind: PCI ids as 8086:0126 with commas between, or * for all (none if not given)");

const char *ouro_param_probe(void)
{
	return ouro_probe;
}

static char ouro_stop_after[16];
module_param_string(stop_after, ouro_stop_after, sizeof(ouro_stop_after), 0444);
MODULE_PARM_DESC(stop_after, "The last step of bringing up a device: probe, table, ring or request (all of them if not given)");

const char *ouro_param_stop_after(void)
{
	return ouro_stop_after;
}

/* Returns whether a hypervisor runs this kernel: the kernel does not see the host's IOMMU. */
bool ouro_is_guest(void)
{
#ifdef CONFIG_X86
	return boot_cpu_has(X86_FEATURE_HYPERVISOR);
#else
	return false;
#endif
}

/* Takes ownership of the memory, which vmalloc() has allocated. */
void ouro_coredump(struct device *dev, void *data, size_t size)
{
	dev_coredumpv(dev, data, size, GFP_KERNEL);
}

int ouro_reserve_wc(resource_size_t start, resource_size_t size)
{
	return arch_io_reserve_memtype_wc(start, size);
}

void ouro_unreserve_wc(resource_size_t start, resource_size_t size)
{
	arch_io_free_memtype_wc(start, size);
}

void ouro_wmb(void)
{
	/* Pairs with the barrier of the caller's counterpart, mostly the device. */
	wmb();
}

unsigned long ouro_ms_to_jiffies(unsigned int ms)
{
	return msecs_to_jiffies(ms);
}

unsigned long ouro_jiffies(void)
{
	return jiffies;
}

struct workqueue_struct *ouro_alloc_workqueue(const char *name, unsigned int flags,
					      int max_active)
{
	return alloc_workqueue("%s", flags, max_active, name);
}

void ouro_flush_workqueue(struct workqueue_struct *wq)
{
	flush_workqueue(wq);
}

bool ouro_llist_add(struct llist_node *node, struct llist_head *head)
{
	return llist_add(node, head);
}

struct llist_node *ouro_llist_take(struct llist_head *head)
{
	return llist_del_all(head);
}

void ouro_task_comm(char *buf)
{
	strscpy_pad(buf, current->comm, TASK_COMM_LEN);
}

unsigned int ouro_noreclaim_save(void)
{
	return memalloc_noreclaim_save();
}

void ouro_noreclaim_restore(unsigned int flags)
{
	memalloc_noreclaim_restore(flags);
}

bool ouro_in_compat_syscall(void)
{
	return in_compat_syscall();
}

int ouro_task_pid(void)
{
	return task_tgid_nr(current);
}

bool ouro_task_is_killed(void)
{
	return fatal_signal_pending(current);
}

/* Returns false also where the kernel does not count what forbids it. */
bool ouro_task_may_sleep(void)
{
	return preemptible() && !rcu_preempt_depth();
}

unsigned long ouro_total_pages(void)
{
	return totalram_pages();
}

/* Returns the host bridge with a reference, or NULL. */
struct pci_dev *ouro_host_bridge(struct pci_dev *pdev)
{
	return pci_get_domain_bus_and_slot(pci_domain_nr(pdev->bus), 0, PCI_DEVFN(0, 0));
}

/* Allocates an unused page of the bridge's bus, below 4 GiB. */
int ouro_bus_page(struct pci_dev *bridge, struct resource *page)
{
	return pci_bus_alloc_resource(bridge->bus, page, PAGE_SIZE, PAGE_SIZE, PCIBIOS_MIN_MEM, 0,
				      NULL, NULL);
}

bool ouro_is_current_master(struct drm_file *file)
{
	return drm_is_current_master(file);
}

bool ouro_bar_is_memory(struct pci_dev *pdev, int bar)
{
	return pci_resource_flags(pdev, bar) & IORESOURCE_MEM;
}

int ouro_take_from_firmware(struct pci_dev *pdev, const char *name)
{
	return aperture_remove_conflicting_pci_devices(pdev, name);
}

int ouro_access_ok(unsigned long addr, unsigned long size)
{
	return access_ok((void __user *)addr, size);
}

/* Writes n values of 64 bits, a stride apart on both sides. */
int ouro_put_fields(unsigned long to, unsigned long to_stride, const void *from,
		    unsigned long from_stride, unsigned long n)
{
	u8 __user *place = (u8 __user *)to;
	size_t span;

	if (!n)
		return 0;
	if (check_mul_overflow(n - 1, to_stride, &span) ||
	    check_add_overflow(span, sizeof(u64), &span) ||
	    !user_write_access_begin(place, span))
		return -EFAULT;
	for (; n; n--) {
		unsafe_put_user(*(const u64 *)from, (u64 __user *)place, fault);
		place += to_stride;
		from += from_stride;
	}
	user_write_access_end();
	return 0;
fault:
	user_write_access_end();
	return -EFAULT;
}

void ouro_pagefault_disable(void)
{
	pagefault_disable();
}

void ouro_pagefault_enable(void)
{
	pagefault_enable();
}

int ouro_sysfs_value(struct kobject *kobj, struct kobj_attribute *attr)
{
	sysfs_attr_init(&attr->attr);
	return sysfs_create_file(kobj, &attr->attr);
}
