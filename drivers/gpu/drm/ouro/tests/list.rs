// SPDX-License-Identifier: GPL-2.0

//! Tests of [`ouro_kernel::list`]: items can be removed from any place, but only from their own
//! list.

use kernel::prelude::*;

#[kunit_tests(ouro_kernel_list)]
mod kunit {
    use kernel::{
        list::{impl_list_arc_safe, impl_list_item, ListArc, ListLinks},
        prelude::*,
        sync::Arc,
    };
    use ouro_kernel::{
        impl_member,
        list::{MemberList, Membership},
    };

    #[pin_data]
    struct Item {
        number: u32,
        #[pin]
        links: ListLinks,
        membership: Membership,
    }

    impl_list_arc_safe! {
        impl ListArcSafe<0> for Item { untracked; }
    }
    impl_list_item! {
        impl ListItem<0> for Item { using ListLinks { self.links }; }
    }
    impl_member! {
        impl Member for Item { self.membership }
    }

    /// Creates an item, and a reference to name it while it is in a list.
    fn item(number: u32) -> Result<(ListArc<Item>, Arc<Item>)> {
        let item = ListArc::pin_init(
            try_pin_init!(Item {
                number,
                links <- ListLinks::new(),
                membership: Membership::new(),
            }? Error),
            GFP_KERNEL,
        )?;
        let name = item.clone_arc();
        Ok((item, name))
    }

    fn number(item: Option<ListArc<Item>>) -> Option<u32> {
        item.map(|item| item.number)
    }

    #[test]
    fn first_in_first_out() -> Result {
        let mut list = MemberList::<Item>::new();
        assert!(list.is_empty());
        for n in 1..=3 {
            list.push_back(item(n)?.0);
        }
        assert!(!list.is_empty());
        for n in 1..=3 {
            assert_eq!(number(list.pop_front()), Some(n));
        }
        assert!(list.is_empty());
        assert!(list.pop_front().is_none());
        Ok(())
    }

    #[test]
    fn out_of_the_middle_once() -> Result {
        let mut list = MemberList::<Item>::new();
        let (first, _) = item(1)?;
        let (second, name) = item(2)?;
        let (third, last) = item(3)?;
        for item in [first, second, third] {
            list.push_back(item);
        }
        assert_eq!(number(list.remove(&name)), Some(2));
        assert!(list.remove(&name).is_none());
        assert_eq!(number(list.remove(&last)), Some(3));
        assert_eq!(number(list.pop_front()), Some(1));
        assert!(list.is_empty());
        Ok(())
    }

    #[test]
    fn not_out_of_another_list() -> Result {
        let mut one = MemberList::<Item>::new();
        let mut two = MemberList::<Item>::new();
        let (first, name) = item(1)?;
        // It is in no list yet.
        assert!(one.remove(&name).is_none());
        one.push_back(first);
        assert!(two.remove(&name).is_none());
        // Move it from one list to the other, and back.
        let moved = one.remove(&name).ok_or(EINVAL)?;
        two.push_back(moved);
        assert!(one.remove(&name).is_none());
        let moved = two.pop_front().ok_or(EINVAL)?;
        // A popped item is in no list.
        assert!(two.remove(&name).is_none());
        one.push_back(moved);
        assert_eq!(number(one.remove(&name)), Some(1));
        Ok(())
    }

    #[test]
    fn a_list_that_is_gone_has_nothing() -> Result {
        let (first, name) = item(1)?;
        let mut gone = MemberList::<Item>::new();
        gone.push_back(first);
        drop(gone);
        // Its number is never that of another list.
        let mut list = MemberList::<Item>::new();
        assert!(list.remove(&name).is_none());
        assert!(Arc::into_unique_or_drop(name).is_some());
        Ok(())
    }
}
