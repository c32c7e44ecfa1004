package io.varve.memory.collection;

/**
 * How the elements of a leaf lie behind what {@link NodeLayout} draws: one behind the other, in their order. Immutable.
 *
 * <p>An entry is named by its address. Searches are linear over a kilobyte at most: lengths before bytes.
 */
abstract sealed class LeafFormat permits ListFormat, HashedFormat, ScoredFormat, FixedFormat {
    /** The most entries of a leaf: what a search steps over. */
    static final int MOST_ENTRIES = 128;

    /** Whether orders are 32 bits as good as drawn evenly, so that it can be calculated about where one is. */
    boolean hasEvenOrder() {
        return false;
    }

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
    abstract int offset(long leaf, int index);

    /**
     * Has the path stand at the first entry of its leaf that does not come before what is looked for.
     *
     * <p>Each format has a loop of its own: one for all would look up by type what to do at each of some dozen steps.
     */
    abstract void seek(long leaf, Element sought, TreePath path);
}
