// SPDX-License-Identifier: GPL-2.0
/*
 * Functions for Rust in place of the kernel's static inlines and macros (see
 * helpers.c): memory of the kernel, of the device and of processes.
 */
#include <linux/folio_batch.h>
#include <linux/io.h>
#include <linux/pagemap.h>
#include <linux/pgtable.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/smp.h>
#include <linux/uaccess.h>

#include "helpers.h"

/* Creates a shmem file whose memory is accounted on use, not on creation. */
struct file *ouro_shmem_file(const char *name, loff_t size)
{
	return shmem_file_setup(name, size, mk_vma_flags(VMA_NORESERVE_BIT));
}

void ouro_shmem_discard(struct file *file)
{
	shmem_truncate_range(file_inode(file), 0, (loff_t)-1);
}

/* Discards the pages from first on, up to end. */
void ouro_shmem_discard_pages(struct file *file, unsigned long first, unsigned long end)
{
	if (first < end)
		shmem_truncate_range(file_inode(file), (loff_t)first << PAGE_SHIFT,
				     ((loff_t)end << PAGE_SHIFT) - 1);
}

struct page *ouro_shmem_page(struct file *file, unsigned long index)
{
	return shmem_read_mapping_page(file->f_mapping, index);
}

/* Puts a page of a file that was not pinned: reclaim can find the page again. */
void ouro_shmem_put_page(struct page *page, bool dirty)
{
	if (dirty)
		set_page_dirty(page);
	mark_page_accessed(page);
	put_page(page);
}

void ouro_shmem_limit(struct file *file, bool below_4g)
{
	gfp_t gfp = GFP_HIGHUSER | __GFP_RETRY_MAYFAIL | __GFP_NOWARN;

	if (below_4g)
		gfp = (gfp & ~__GFP_HIGHMEM) | __GFP_DMA32;
	mapping_set_gfp_mask(file->f_mapping, gfp);
}

/* Marks the file's pages as unevictable: reclaim skips them while they are pinned. */
void ouro_shmem_pin(struct file *file)
{
	mapping_set_unevictable(file->f_mapping);
}

/*
 * Ends ouro_shmem_pin() and puts the pages. Reclaim may have moved them to its unevictable list,
 * from which they do not return by themselves.
 */
void ouro_shmem_unpin(struct file *file, struct page **pages, size_t n, bool dirty)
{
	struct folio_batch batch;
	size_t i;

	mapping_clear_unevictable(file->f_mapping);
	folio_batch_init(&batch);
	for (i = 0; i < n; i++) {
		if (dirty)
			set_page_dirty(pages[i]);
		mark_page_accessed(pages[i]);
		if (folio_batch_add(&batch, page_folio(pages[i])) && i + 1 < n)
			continue;
		check_move_unevictable_folios(&batch);
		folio_batch_release(&batch);
	}
}

unsigned long ouro_page_to_pfn(struct page *page)
{
	return page_to_pfn(page);
}

struct page *ouro_alloc_page(bool below_4g)
{
	return alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO | (below_4g ? __GFP_DMA32 : 0));
}

void *ouro_vmap(struct page **pages, unsigned int n, unsigned int caching)
{
	pgprot_t prot = PAGE_KERNEL;

	if (caching == OURO_CACHE_WC)
		prot = pgprot_writecombine(prot);
	else if (caching == OURO_CACHE_UC)
		prot = pgprot_noncached(prot);
	return vmap(pages, n, VM_MAP, prot);
}

void ouro_flush_all_caches(void)
{
#ifdef CONFIG_X86
	wbinvd_on_all_cpus();
#endif
}

void *ouro_kmap(struct page *page)
{
	return kmap_local_page(page);
}

void ouro_kunmap(void *addr)
{
	kunmap_local(addr);
}

/* The range must be inside the page. */
void ouro_copy_to_page(struct page *page, size_t offset, const void *from, size_t n)
{
	memcpy_to_page(page, offset, from, n);
}

/*
 * Copies n bytes of user space to pages, the first of which the offset is in, without page faults.
 * Returns whether all of them were present.
 */
bool ouro_copy_from_user(struct page **pages, size_t offset, unsigned long from, size_t n)
{
	bool present = access_ok((void __user *)from, n);

	pagefault_disable();
	while (n && present) {
		size_t part = min_t(size_t, n, PAGE_SIZE - offset);
		void *to = kmap_local_page(*pages++);

		present = !__copy_from_user_inatomic(to + offset, (void __user *)from, part);
		kunmap_local(to);
		from += part;
		n -= part;
		offset = 0;
	}
	pagefault_enable();
	return present;
}

/* Copies n bytes of pages, the first of which the offset is in, to user space. */
bool ouro_copy_to_user(unsigned long to, struct page **pages, size_t offset, size_t n)
{
	bool present = access_ok((void __user *)to, n);

	while (n && present) {
		size_t part = min_t(size_t, n, PAGE_SIZE - offset);
		void *from = kmap_local_page(*pages++);

		present = !__copy_to_user((void __user *)to, from + offset, part);
		kunmap_local(from);
		to += part;
		n -= part;
		offset = 0;
	}
	return present;
}

#ifdef CONFIG_X86
#define LINE 64

/* The range is of whole lines, one at least. Without the barriers of a flush. */
static void ouro_flush_lines(char *at, char *end)
{
	for (; end - at >= 8 * LINE; at += 8 * LINE) {
		clflushopt(at);
		clflushopt(at + LINE);
		clflushopt(at + 2 * LINE);
		clflushopt(at + 3 * LINE);
		clflushopt(at + 4 * LINE);
		clflushopt(at + 5 * LINE);
		clflushopt(at + 6 * LINE);
		clflushopt(at + 7 * LINE);
	}
	for (; at < end; at += LINE)
		clflushopt(at);
	/* as drm_clflush_virt_range() ends */
	clflushopt(end - 1);
}
#endif

/*
 * Writes the cache lines of n bytes of pages, the first of which the offset is in, back to memory,
 * and drops them.
 */
void ouro_flush_pages(struct page **pages, size_t offset, size_t n)
{
#ifdef CONFIG_X86
	bool lines = boot_cpu_has(X86_FEATURE_CLFLUSH) &&
		     boot_cpu_data.x86_clflush_size == LINE;

	if (lines)
		mb(); /* earlier writes are in the cache before a line is flushed */
#endif
	while (n) {
		size_t part = min_t(size_t, n, PAGE_SIZE - offset);
		char *at = kmap_local_page(*pages++);

#ifdef CONFIG_X86
		if (lines)
			ouro_flush_lines(at + round_down(offset, LINE),
					 at + round_up(offset + part, LINE));
		else
#endif
			drm_clflush_virt_range(at + offset, part);
		kunmap_local(at);
		n -= part;
		offset = 0;
	}
#ifdef CONFIG_X86
	if (lines)
		mb(); /* all lines are in memory before what follows, such as a register's write */
#endif
}

void ouro_copy(void *to, const void *from, size_t n)
{
	memcpy(to, from, n);
}

void ouro_fill(void *to, unsigned char byte, size_t n)
{
	memset(to, byte, n);
}

struct ouro_insert {
	struct vm_area_struct *vma;
	unsigned long start;
	const unsigned long *pfns;
	struct page **pages;
};

static int ouro_insert_pte(pte_t *pte, unsigned long address, void *data)
{
	struct ouro_insert *insert = data;
	unsigned long pfn = insert->pfns[(address - insert->start) >> PAGE_SHIFT];

	/* No page to map, or another fault has mapped it. */
	if (!pfn || !pte_none(ptep_get(pte)))
		return 0;
	set_pte_at(insert->vma->vm_mm, address, pte,
		   pte_mkspecial(pfn_pte(pfn, insert->vma->vm_page_prot)));
	return 0;
}

static bool ouro_all_ram(const unsigned long *pfns, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (pfns[i] && !pfn_valid(pfns[i]))
			return false;
	return true;
}

/*
 * Maps n pages from address on, except those whose entry of pfns is 0. Where memory is encrypted,
 * RAM is, and a BAR is not.
 *
 * On x86, vmf_insert_pfn() looks up how each page of RAM is mapped elsewhere, and uses the same
 * caching. So this writes the PTEs of RAM itself in one walk, with the caching of the mapping.
 */
vm_fault_t ouro_insert_pfns(struct vm_area_struct *vma, unsigned long address,
			    const unsigned long *pfns, unsigned int n)
{
	struct ouro_insert insert = { .vma = vma, .start = address, .pfns = pfns };
	vm_fault_t ret = VM_FAULT_NOPAGE;
	unsigned int i;

	if (IS_ENABLED(CONFIG_X86) && ouro_all_ram(pfns, n)) {
		if (apply_to_page_range(vma->vm_mm, address, n * PAGE_SIZE, ouro_insert_pte,
					&insert))
			return VM_FAULT_OOM;
		return VM_FAULT_NOPAGE;
	}
	for (i = 0; i < n && ret == VM_FAULT_NOPAGE; i++) {
		pgprot_t prot = vma->vm_page_prot;

		if (!pfns[i])
			continue;
		if (!pfn_valid(pfns[i]))
			prot = pgprot_decrypted(prot);
		ret = vmf_insert_pfn_prot(vma, address + i * PAGE_SIZE, pfns[i], prot);
	}
	return ret;
}

static int ouro_insert_page(pte_t *pte, unsigned long address, void *data)
{
	struct ouro_insert *insert = data;
	unsigned long pfn = page_to_pfn(*insert->pages++);

	if (pte_none(ptep_get(pte)))
		set_pte_at(insert->vma->vm_mm, address, pte,
			   pte_mkspecial(pfn_pte(pfn, insert->vma->vm_page_prot)));
	return 0;
}

/* Does what ouro_insert_pfns() does, for n pages of RAM: it need not look whether they are RAM. */
vm_fault_t ouro_insert_pages(struct vm_area_struct *vma, unsigned long address,
			     struct page **pages, unsigned int n)
{
	struct ouro_insert insert = { .vma = vma, .pages = pages };
	vm_fault_t ret = VM_FAULT_NOPAGE;
	unsigned int i;

	if (IS_ENABLED(CONFIG_X86)) {
		if (apply_to_page_range(vma->vm_mm, address, n * PAGE_SIZE, ouro_insert_page,
					&insert))
			return VM_FAULT_OOM;
		return VM_FAULT_NOPAGE;
	}
	for (i = 0; i < n && ret == VM_FAULT_NOPAGE; i++)
		ret = vmf_insert_pfn(vma, address + i * PAGE_SIZE, page_to_pfn(pages[i]));
	return ret;
}

bool ouro_dma_mapping_error(struct device *dev, dma_addr_t addr)
{
	return dma_mapping_error(dev, addr);
}

/* CPU and device both write, and nothing syncs: so the map fails if it needs a bounce buffer. */
dma_addr_t ouro_dma_map_page(struct device *dev, struct page *page)
{
	return dma_map_page_attrs(dev, page, 0, PAGE_SIZE, DMA_BIDIRECTIONAL,
				  DMA_ATTR_REQUIRE_COHERENT);
}

void ouro_dma_unmap_page(struct device *dev, dma_addr_t addr)
{
	dma_unmap_page_attrs(dev, addr, PAGE_SIZE, DMA_BIDIRECTIONAL,
			     DMA_ATTR_REQUIRE_COHERENT);
}

int ouro_dma_map_sgtable(struct device *dev, struct sg_table *sgt)
{
	return dma_map_sgtable(dev, sgt, DMA_BIDIRECTIONAL, DMA_ATTR_REQUIRE_COHERENT);
}

void ouro_dma_unmap_sgtable(struct device *dev, struct sg_table *sgt)
{
	dma_unmap_sgtable(dev, sgt, DMA_BIDIRECTIONAL, DMA_ATTR_REQUIRE_COHERENT);
}

int ouro_sg_from_pages(struct sg_table *sgt, struct page **pages, unsigned int n,
		       struct device *dev)
{
	size_t limit = min_t(size_t, dma_max_mapping_size(dev), UINT_MAX);

	limit = max_t(size_t, limit & PAGE_MASK, PAGE_SIZE);
	return sg_alloc_table_from_pages_segment(sgt, pages, n, 0, (unsigned long)n << PAGE_SHIFT,
						 limit, GFP_KERNEL);
}

void ouro_dma_set_max_seg_size(struct device *dev, unsigned int size)
{
	dma_set_max_seg_size(dev, size);
}

/* Returns whether the device can only access memory below 4 GiB. */
bool ouro_dma_below_4g(struct device *dev)
{
	return dma_get_required_mask(dev) > dma_get_mask(dev);
}

/* Returns whether an IOMMU is between the device and memory, in any mode. */
bool ouro_dma_has_iommu(struct device *dev)
{
	return device_iommu_mapped(dev);
}

int ouro_notifier_insert(struct mmu_interval_notifier *notifier, unsigned long address,
			 unsigned long size, const struct mmu_interval_notifier_ops *ops)
{
	if (!current->mm)
		return -EFAULT;
	return mmu_interval_notifier_insert(notifier, current->mm, address, size, ops);
}

void ouro_notifier_set(struct mmu_interval_notifier *notifier, unsigned long sequence)
{
	mmu_interval_set_seq(notifier, sequence);
}

bool ouro_notifier_retry(struct mmu_interval_notifier *notifier, unsigned long sequence)
{
	return mmu_interval_read_retry(notifier, sequence);
}

bool ouro_notifier_may_wait(const struct mmu_notifier_range *range)
{
	return mmu_notifier_range_blockable(range);
}

/* Returns 0 if the whole range is mapped to memory with struct pages. Kernel threads have no mm. */
int ouro_user_probe(unsigned long address, unsigned long size)
{
	VMA_ITERATOR(vmi, current->mm, address);
	unsigned long end = address + size;
	struct vm_area_struct *vma;

	if (!current->mm)
		return -EFAULT;
	if (mmap_read_lock_killable(current->mm))
		return -EINTR;
	for_each_vma_range(vmi, vma, end) {
		if (vma->vm_start > address || vma->vm_flags & (VM_IO | VM_PFNMAP | VM_MIXEDMAP))
			break;
		address = vma->vm_end;
	}
	mmap_read_unlock(current->mm);
	return address < end ? -EFAULT : 0;
}

bool ouro_mm_is_current(struct mm_struct *mm)
{
	return mm == current->mm;
}

/*
 * Accounts n pages as pinned by the calling process. Returns its mm with a reference, or NULL if
 * the process has no mm or exceeds its limit.
 */
struct mm_struct *ouro_pin_account(unsigned long n, bool limited)
{
	struct mm_struct *mm = current->mm;
	u64 pinned;

	if (!mm)
		return NULL;
	pinned = atomic64_add_return(n, &mm->pinned_vm);
	if (limited && pinned > rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT && !capable(CAP_IPC_LOCK)) {
		atomic64_sub(n, &mm->pinned_vm);
		return NULL;
	}
	mmgrab(mm);
	return mm;
}

void ouro_pin_uncount(struct mm_struct *mm, unsigned long n)
{
	atomic64_sub(n, &mm->pinned_vm);
}

int ouro_pin_user(unsigned long address, int n, bool write, struct page **pages)
{
	return pin_user_pages_fast(address, n, FOLL_LONGTERM | (write ? FOLL_WRITE : 0), pages);
}

void ouro_unpin_user(struct page **pages, unsigned long n, bool dirty)
{
	unpin_user_pages_dirty_lock(pages, n, dirty);
}
