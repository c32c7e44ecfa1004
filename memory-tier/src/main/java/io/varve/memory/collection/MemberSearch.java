package io.varve.memory.collection;

import io.varve.memory.collection.tree.CountedTree;
import io.varve.memory.collection.tree.HashedFormat;
import io.varve.memory.collection.tree.TreePath;

/** Searches for a member of a set, or a field of a hash. Confined to the owner of a tree object. */
final class MemberSearch extends SameHash {
    private final HashedFormat format;
    private long member;
    private int length;

    MemberSearch(CountedTree tree, HashedFormat format, TreePath path) {
        super(tree, path);
        this.format = format;
    }

    boolean find(long hash, long soughtMember, int soughtLength) {
        member = soughtMember;
        length = soughtLength;
        return find(hash);
    }

    @Override
    boolean matches(long entry) {
        return format.isMember(entry, member, length);
    }
}
