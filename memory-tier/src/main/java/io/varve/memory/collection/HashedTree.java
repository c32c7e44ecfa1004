package io.varve.memory.collection;

import io.varve.memory.item.ItemType;

/**
 * A large set, or a large hash by its fields, in the order of a seeded hash of the members. Confined to one thread, which holds the lock
 * of the item's shard: see {@link CollectionTree}.
 */
public abstract sealed class HashedTree extends CollectionTree permits SetTree, HashTree {
    final HashedFormat format;
    final Element element = new Element();
    private final MemberSearch search;

    HashedTree(ItemType type, int mostTrees, HashedFormat format) {
        super(type, mostTrees, new CountedTree(format));
        this.format = format;
        search = new MemberSearch(tree, format, path);
    }

    /** Goes to a member, or a field; false, and at the end, if it is not there. */
    public boolean find(long member, int length) {
        return find(tree.space().hash(member, length), member, length);
    }

    /** The same; if it is not there, the path is where it may be put. */
    final boolean find(long hash, long member, int length) {
        return standing(search.find(hash, member, length));
    }

    /** Puts what the element tells of, which is not there, where the path is, and stands at it. */
    final void insert() {
        tree.insert(element, path);
        standing(true);
    }

    /** Puts what the element tells of in the place of what the position is at, and stands at it. */
    final void replace() {
        tree.replace(element, path);
        standing(true);
    }

    final boolean standing(boolean there) {
        atElement = there;
        pathKnown = there;
        return there;
    }

    /** Removes a member, or a field, and stands at what was behind it; false, and at the end, if it was not there. */
    public final boolean remove(long member, int length) {
        if (!find(member, length)) {
            return false;
        }
        remove();
        return true;
    }

    final long entry() {
        requireElement();
        return tree.entry(path);
    }

    /**
     * Visits some elements, as SSCAN and HSCAN do: one that is there throughout a whole scan is visited exactly once.
     *
     * @param cursor 0 at first, else what the last call answered
     * @param count  visits at least so many, if there are as many, and few more
     * @param visit  done while the position is at each of them; does not change the collection
     * @return the next cursor, 0 at the end
     */
    public final long scan(long cursor, int count, Runnable visit) {
        standing(true);
        long next = HashedScan.scan(tree, element, path, cursor, count, visit);
        toEnd();
        return next;
    }
}
