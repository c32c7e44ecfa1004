package io.varve.memory.collection.tree;

/**
 * The format of a leaf's elements after the header that {@link NodeLayout} draws: consecutive entries in their order.
 * Immutable.
 *
 * <p>An entry is named by its address. Searches are linear over at most a kilobyte, and compare lengths before bytes.
 */
public abstract sealed class LeafFormat permits ListFormat, HashedFormat, ScoredFormat, FixedFormat,
        KeyedFormat {
    /** The most entries of a leaf, which bounds a search. */
    static final int MAX_ENTRIES = 128;

    /** Whether orders are 32 bits with a nearly uniform distribution, so that their position can be interpolated. */
    boolean hasEvenOrder() {
        return false;
    }

    /**
     * Whether elements mostly come and go in ascending order, at one or at several places of the tree. A full leaf is
     * then split at the new element, not in its middle: this leaves full leaves behind. And a search first tries the
     * children that the former one took.
     */
    boolean isMostlyAscending() {
        return false;
    }

    /** Bytes that an element takes. */
    abstract long bytesOf(Element element);

    /** Writes an element. */
    abstract void write(long entry, Element element);

    /** Bytes that an entry takes. */
    public abstract int bytesAt(long entry);

    /** Bytes that an entry would take with a value of this length; only for a format with values that are resized. */
    long bytesWithValue(long entry, int valueLength) {
        throw new IllegalStateException("The value at " + entry + " cannot get " + valueLength + " bytes");
    }

    /**
     * Sets the length of an entry's value, as {@link #bytesWithValue} has computed it; its bytes up to the shorter of
     * both lengths stay.
     */
    void resizeValue(long entry, int valueLength) {
        throw new IllegalStateException("The value at " + entry + " cannot get " + valueLength + " bytes");
    }

    /** The first sort key of an entry. */
    public abstract long orderAt(long entry);

    /** Whether an entry comes before the sought element. */
    abstract boolean isBefore(long entry, Element sought);

    /** The offset of an entry from the leaf's start; the position behind the last is allowed. */
    abstract int offset(long leaf, int index);

    /**
     * Moves the path to the first entry of its leaf that does not come before the sought element.
     *
     * <p>Each format has a loop of its own: a common one would dispatch by type at each of some dozen steps.
     */
    abstract void seek(long leaf, Element sought, TreePath path);
}
