package io.varve.memory.collection.tree;

/** A leaf format with entries of one size, found by binary search unless a subclass has a better way. Immutable. */
public abstract sealed class FixedFormat extends LeafFormat permits MemberIndexFormat, FieldTimeFormat {
    private final int bytes;

    FixedFormat(int bytes) {
        this.bytes = bytes;
    }

    @Override
    final long bytesOf(Element element) {
        return bytes;
    }

    @Override
    public final int bytesAt(long entry) {
        return bytes;
    }

    @Override
    final boolean isBefore(long entry, Element sought) {
        long order = orderAt(entry);
        return order < sought.order || sought.behindEqual && order == sought.order;
    }

    @Override
    public final int offset(long leaf, int index) {
        return NodeLayout.HEADER_BYTES + index * bytes;
    }

    @Override
    void seek(long leaf, Element sought, TreePath path) {
        long first = leaf + NodeLayout.HEADER_BYTES;
        int low = 0;
        int high = NodeLayout.count(leaf);
        while (low < high) {
            int middle = low + high >>> 1;
            if (isBefore(first + (long) middle * bytes, sought)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        stand(path, low);
    }

    /** Moves the path to an entry of its leaf, or behind the last. */
    final void stand(TreePath path, int index) {
        path.index = index;
        path.offset = NodeLayout.HEADER_BYTES + index * bytes;
    }
}
