package io.varve.memory.collection;

import io.varve.memory.item.ItemType;

/**
 * A large set, in the order of a seeded hash of its members. Confined to one thread, which holds the lock of the item's shard: see
 * {@link CollectionTree}.
 */
public final class SetTree extends CollectionTree {
    private static final HashedFormat FORMAT = HashedFormat.SET;

    private final MemberSearch search = new MemberSearch(tree, FORMAT, path);
    private final Element element = new Element();

    public SetTree() {
        super(ItemType.SET, 1, new CountedTree(FORMAT));
    }

    /** Goes to a member; false, and at the end, if it is not there. */
    public boolean find(long member, int length) {
        return found(search.find(tree.space().hash(member, length), member, length));
    }

    private boolean found(boolean there) {
        atElement = there;
        pathKnown = there;
        return there;
    }

    /** Puts a member into the set, and stands at it; false if it was there. */
    public boolean add(long member, int length) {
        long hash = tree.space().hash(member, length);
        if (found(search.find(hash, member, length))) {
            return false;
        }
        tree.insert(element.of(hash, member, length), path);
        return found(true);
    }

    /** Removes a member, and stands at what was behind it; false, and at the end, if it was not there. */
    public boolean remove(long member, int length) {
        if (!find(member, length)) {
            return false;
        }
        remove();
        return true;
    }

    /** Where the member at the position is. */
    public long address() {
        requireElement();
        return FORMAT.memberAddress(tree.entry(path));
    }

    /** Bytes of the member at the position. */
    public int length() {
        requireElement();
        return HashedFormat.memberLength(tree.entry(path));
    }

    /**
     * Visits some members, as SSCAN does: one that is there throughout a whole scan is visited exactly once.
     *
     * @param cursor 0 at first, else what the last call answered
     * @param count  visits at least so many, if there are as many, and few more
     * @param visit  done while the position is at each of them; does not change the set
     * @return the next cursor, 0 at the end
     */
    public long scan(long cursor, int count, Runnable visit) {
        pathKnown = true;
        atElement = true;
        long next = HashedScan.scan(tree, element, path, cursor, count, visit);
        toEnd();
        return next;
    }
}
