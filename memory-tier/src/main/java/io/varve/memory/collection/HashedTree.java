package io.varve.memory.collection;

import io.varve.memory.collection.tree.CountedTree;
import io.varve.memory.collection.tree.Element;
import io.varve.memory.collection.tree.HashedFormat;
import io.varve.memory.item.ItemType;

/**
 * A large set, or a large hash by its fields, ordered by a seeded hash of the members. Confined to one thread, which
 * holds the lock of the item's shard: see {@link CollectionTree}.
 */
public abstract sealed class HashedTree extends CollectionTree permits SetTree, HashTree {
    final HashedFormat format;
    final Element element = new Element();
    private final MemberSearch search;
    private final MembersAhead ahead;

    HashedTree(ItemType type, int maxTrees, HashedFormat format) {
        super(type, maxTrees, new CountedTree(format));
        this.format = format;
        search = new MemberSearch(tree, format, path);
        ahead = new MembersAhead(tree);
    }

    /** Reads ahead of searches for several members. */
    public final MembersAhead ahead() {
        return ahead;
    }

    /** Moves to a member, or a field; false, and at the end, if it is missing. */
    public boolean find(long member, int length) {
        return find(tree.space().hash(member, length), member, length);
    }

    /** Moves to a member with a known hash; if it is missing, the path is where it may be inserted. */
    final boolean find(long hash, long member, int length) {
        return standing(search.find(hash, member, length));
    }

    /** Inserts the element, which must be missing, at the path, and moves to it. */
    final void insert() {
        tree.insert(element, path);
        standing(true);
    }

    /** Replaces the element at the position, and moves to the new one. */
    final void replace() {
        tree.replace(element, path);
        standing(true);
    }

    final boolean standing(boolean there) {
        atElement = there;
        pathKnown = there;
        return there;
    }

    /** Removes a member, or a field, and moves to the next one; false, and at the end, if it was missing. */
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
     * Visits some elements, as SSCAN and HSCAN do: an element that is present throughout a whole scan is visited
     * exactly once.
     *
     * @param cursor initially 0, else the result of the last call
     * @param count visits at least this many, if there are as many, and few more
     * @param visit runs while the position is at each of them; must not change the collection
     * @return the next cursor, 0 at the end
     */
    public final long scan(long cursor, int count, Runnable visit) {
        standing(true);
        long next = HashedScan.scan(tree, element, path, cursor, count, visit);
        toEnd();
        return next;
    }
}
