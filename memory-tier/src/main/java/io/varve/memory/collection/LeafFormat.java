package io.varve.memory.collection;

/**
 * How the elements of a leaf lie behind what {@link NodeLayout} draws: one behind the other, in their order. Immutable.
 *
 * <p>An entry is named by its address. Searches are linear over a kilobyte at most: lengths before bytes.
 */
abstract sealed class LeafFormat permits ListFormat, HashedFormat, ScoredFormat, FixedFormat {
    /** The most entries of a leaf: what a search steps over. */
    static final int MOST_ENTRIES = 128;

    /** Bytes that an element takes. */
    abstract long bytesOf(Element element);

    /** Writes an element. */
    abstract void write(long entry, Element element);

    /** Bytes that an entry takes. */
    abstract int bytesAt(long entry);

    /** What an entry is ordered by first. */
    abstract long orderAt(long entry);

    /** Whether an entry comes before what is looked for. */
    abstract boolean isBefore(long entry, Element sought);

    /** Where an entry is, from the leaf's start; behind the last is allowed. */
    int offset(long leaf, int index) {
        long at = leaf + NodeLayout.HEADER_BYTES;
        for (int i = 0; i < index; i++) {
            at += bytesAt(at);
        }
        return (int) (at - leaf);
    }

    /** Has the path stand at the first entry of its leaf that does not come before what is looked for. */
    void seek(long leaf, Element sought, TreePath path) {
        int count = NodeLayout.count(leaf);
        int index = 0;
        long at = leaf + NodeLayout.HEADER_BYTES;
        while (index < count && isBefore(at, sought)) {
            at += bytesAt(at);
            index++;
        }
        path.index = index;
        path.offset = (int) (at - leaf);
    }
}
