package io.varve.memory.collection;

/** Entries of one size, among which is searched by halves unless a format knows better. Immutable. */
abstract sealed class FixedFormat extends LeafFormat permits MemberIndexFormat, FieldTimeFormat {
    private final int bytes;

    FixedFormat(int bytes) {
        this.bytes = bytes;
    }

    @Override
    final long bytesOf(Element element) {
        return bytes;
    }

    @Override
    final int bytesAt(long entry) {
        return bytes;
    }

    @Override
    final boolean isBefore(long entry, Element sought) {
        long order = orderAt(entry);
        return order < sought.order || sought.behindEqual && order == sought.order;
    }

    @Override
    final int offset(long leaf, int index) {
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

    /** Has the path stand at an entry of its leaf, or behind the last. */
    final void stand(TreePath path, int index) {
        path.index = index;
        path.offset = NodeLayout.HEADER_BYTES + index * bytes;
    }
}
