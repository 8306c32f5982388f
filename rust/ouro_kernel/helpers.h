/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions that Rust cannot reach through kernel::bindings: static inlines,
 * macros and headers that the kernel crate does not include. Included by
 * helpers.c and helpers_memory.c, and read by bindgen, which uses only the functions.
 */
#ifndef _OURO_KERNEL_HELPERS_H_
#define _OURO_KERNEL_HELPERS_H_

#include <drm/drm_cache.h>
#include <drm/drm_device.h>
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_ioctl.h>
#include <drm/drm_prime.h>
#include <drm/drm_print.h>
#include <drm/drm_syncobj.h>
#include <linux/anon_inodes.h>
#include <linux/dma-buf.h>
#include <linux/dma-fence.h>
#include <linux/dma-fence-array.h>
#include <linux/dma-fence-chain.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/kobject.h>
#include <linux/llist.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/scatterlist.h>
#include <linux/set_memory.h>
#include <linux/shmem_fs.h>
#include <linux/shrinker.h>
#include <linux/swap.h>
#include <linux/sync_file.h>
#include <linux/sysfs.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

/* The CPU's caching of a mapping; the values are those of `Caching` in Rust. */
#define OURO_CACHE_WB	0
#define OURO_CACHE_WC	1
#define OURO_CACHE_UC	2

/* sysfs */
int ouro_sysfs_value(struct kobject *kobj, struct kobj_attribute *attr);

/* dma_fence */
void ouro_drm_dbg(const struct device *dev, const char *format, const void *args);
void ouro_fence_get(struct dma_fence *fence);
void ouro_fence_put(struct dma_fence *fence);
bool ouro_fence_is_signaled(struct dma_fence *fence);
bool ouro_fence_signal(struct dma_fence *fence, int error);
void ouro_fence_set_error(struct dma_fence *fence, int error);
bool ouro_fence_is_container(struct dma_fence *fence);
void ouro_fence_each(struct dma_fence *fence, void (*call)(struct dma_fence *fence, void *data),
		     void *data);
bool ouro_fence_begin_signalling(void);
void ouro_fence_end_signalling(bool cookie);
struct dma_fence_chain *ouro_fence_chain_alloc(void);
void ouro_fence_chain_free(struct dma_fence_chain *chain);

/* dma_resv and its tickets */
void ouro_ww_acquire_init(struct ww_acquire_ctx *ctx);
void ouro_ww_acquire_done(struct ww_acquire_ctx *ctx);
void ouro_ww_acquire_fini(struct ww_acquire_ctx *ctx);
int ouro_resv_lock(struct dma_resv *resv, struct ww_acquire_ctx *ctx, bool intr);
int ouro_resv_lock_slow(struct dma_resv *resv, struct ww_acquire_ctx *ctx, bool intr);
bool ouro_resv_trylock(struct dma_resv *resv);
bool ouro_resv_trylock_ctx(struct dma_resv *resv, struct ww_acquire_ctx *ctx);
void ouro_resv_unlock(struct dma_resv *resv);
int ouro_resv_collect(struct dma_resv *resv, unsigned int usage,
		      unsigned int *n, struct dma_fence ***fences);
void ouro_resv_each_locked(struct dma_resv *resv, unsigned int usage,
			   void (*call)(struct dma_fence *fence, void *data), void *data);
void ouro_resv_each(struct dma_resv *resv, unsigned int usage,
		    void (*call)(struct dma_fence *fence, void *data), void *data);

/* dma_buf, shrinker */
void ouro_dma_buf_get(struct dma_buf *buf);
long ouro_swap_pages(void);
struct shrinker *ouro_shrinker_alloc(const char *name);

/* drm_syncobj, sync_file */
void ouro_syncobj_get(struct drm_syncobj *syncobj);
void ouro_syncobj_put(struct drm_syncobj *syncobj);
struct dma_fence *ouro_syncobj_fence(struct drm_syncobj *syncobj);
struct file *ouro_sync_file_create(struct dma_fence *fence);

/* open files */
void ouro_file_objects(struct drm_file *file, void (*each)(struct drm_gem_object *obj, void *data),
		       void *data);
void ouro_gem_lookup(struct drm_file *file, const u32 *handles, struct drm_gem_object **objects,
		     unsigned int n);
bool ouro_gem_with(struct drm_file *file, u32 handle,
		   void (*each)(struct drm_gem_object *obj, void *data), void *data);

/* mappings of GEM objects */
struct drm_gem_object *ouro_gem_at_offset(struct drm_device *dev, unsigned long start,
					  unsigned long pages);
bool ouro_gem_get_unless_zero(struct drm_gem_object *obj);
void ouro_vma_node_reset(struct drm_vma_offset_node *node, struct drm_gem_object *obj);
void ouro_vma_node_unmap(struct drm_vma_offset_node *node, struct drm_device *dev);
void ouro_vma_node_unmap_pages(struct drm_vma_offset_node *node, struct drm_device *dev,
			       unsigned long first, unsigned long count);
unsigned long ouro_vma_node_base(void);
unsigned long ouro_vm_mmap(struct file *file, unsigned long size, bool write,
			   unsigned long offset);
int ouro_vma_leave_file(struct vm_area_struct *vma, struct drm_device *dev);
int ouro_vma_prepare(struct vm_area_struct *vma, unsigned int caching);
vm_fault_t ouro_insert_pfns(struct vm_area_struct *vma, unsigned long address,
			    const unsigned long *pfns, unsigned int n);
vm_fault_t ouro_insert_pages(struct vm_area_struct *vma, unsigned long address,
			     struct page **pages, unsigned int n);

/* pages */
struct file *ouro_shmem_file(const char *name, loff_t size);
void ouro_shmem_discard(struct file *file);
void ouro_shmem_discard_pages(struct file *file, unsigned long first, unsigned long end);
struct page *ouro_shmem_page(struct file *file, unsigned long index);
void ouro_shmem_limit(struct file *file, bool below_4g);
void ouro_shmem_put_page(struct page *page, bool dirty);
void ouro_shmem_pin(struct file *file);
void ouro_shmem_unpin(struct file *file, struct page **pages, size_t n, bool dirty);
unsigned long ouro_page_to_pfn(struct page *page);
struct page *ouro_alloc_page(bool below_4g);
void *ouro_vmap(struct page **pages, unsigned int n, unsigned int caching);
void ouro_flush_all_caches(void);
void *ouro_kmap(struct page *page);
void ouro_kunmap(void *addr);
bool ouro_copy_from_user(struct page **pages, size_t offset, unsigned long from, size_t n);
bool ouro_copy_to_user(unsigned long to, struct page **pages, size_t offset, size_t n);
void ouro_copy_to_page(struct page *page, size_t offset, const void *from, size_t n);
void ouro_flush_pages(struct page **pages, size_t offset, size_t n);
void ouro_copy(void *to, const void *from, size_t n);
void ouro_fill(void *to, unsigned char byte, size_t n);
bool ouro_dma_mapping_error(struct device *dev, dma_addr_t addr);
dma_addr_t ouro_dma_map_page(struct device *dev, struct page *page);
void ouro_dma_unmap_page(struct device *dev, dma_addr_t addr);
int ouro_dma_map_sgtable(struct device *dev, struct sg_table *sgt);
void ouro_dma_unmap_sgtable(struct device *dev, struct sg_table *sgt);
void ouro_dma_set_max_seg_size(struct device *dev, unsigned int size);
int ouro_sg_from_pages(struct sg_table *sgt, struct page **pages, unsigned int n,
		       struct device *dev);
bool ouro_dma_below_4g(struct device *dev);
bool ouro_dma_has_iommu(struct device *dev);
bool ouro_is_guest(void);
const char *ouro_param_probe(void);
const char *ouro_param_stop_after(void);

/* memory of a process (userptr) */
int ouro_notifier_insert(struct mmu_interval_notifier *notifier, unsigned long address,
			 unsigned long size, const struct mmu_interval_notifier_ops *ops);
void ouro_notifier_set(struct mmu_interval_notifier *notifier, unsigned long sequence);
bool ouro_notifier_retry(struct mmu_interval_notifier *notifier, unsigned long sequence);
bool ouro_notifier_may_wait(const struct mmu_notifier_range *range);
int ouro_user_probe(unsigned long address, unsigned long size);
bool ouro_mm_is_current(struct mm_struct *mm);
struct mm_struct *ouro_pin_account(unsigned long n, bool limited);
void ouro_pin_uncount(struct mm_struct *mm, unsigned long n);
int ouro_pin_user(unsigned long address, int n, bool write, struct page **pages);
void ouro_unpin_user(struct page **pages, unsigned long n, bool dirty);

/* device coredumps */
void ouro_coredump(struct device *dev, void *data, size_t size);

/* the memory type of a range of bus addresses */
int ouro_reserve_wc(resource_size_t start, resource_size_t size);
void ouro_unreserve_wc(resource_size_t start, resource_size_t size);

/* barriers, time, waiting */
void ouro_wmb(void);
unsigned long ouro_ms_to_jiffies(unsigned int ms);
unsigned long ouro_jiffies(void);

/* workqueues, lock-free lists */
struct workqueue_struct *ouro_alloc_workqueue(const char *name, unsigned int flags,
					      int max_active);
void ouro_flush_workqueue(struct workqueue_struct *wq);
bool ouro_llist_add(struct llist_node *node, struct llist_head *head);
struct llist_node *ouro_llist_take(struct llist_head *head);

/* tasks, memory, PCI */
void ouro_task_comm(char *buf);
int ouro_task_pid(void);
bool ouro_in_compat_syscall(void);
unsigned int ouro_noreclaim_save(void);
void ouro_noreclaim_restore(unsigned int flags);
bool ouro_task_is_killed(void);
bool ouro_task_may_sleep(void);
unsigned long ouro_total_pages(void);
struct pci_dev *ouro_host_bridge(struct pci_dev *pdev);
int ouro_bus_page(struct pci_dev *bridge, struct resource *page);
bool ouro_is_current_master(struct drm_file *file);
bool ouro_bar_is_memory(struct pci_dev *pdev, int bar);
int ouro_take_from_firmware(struct pci_dev *pdev, const char *name);
int ouro_access_ok(unsigned long addr, unsigned long size);
int ouro_put_fields(unsigned long to, unsigned long to_stride, const void *from,
		    unsigned long from_stride, unsigned long n);

/* page faults during copies: an error instead of a wait */
void ouro_pagefault_disable(void);
void ouro_pagefault_enable(void);

#endif
