package io.varve.server.command.value;

/**
 * A collection from which random elements are picked, with a cursor that can move to any of them. Confined to its event
 * loop.
 */
public interface Pickable {
    /** Number of elements. */
    long size();

    /** Moves the cursor to the element of this rank; false if there are too few. */
    boolean seek(long rank);

    /** Moves the cursor to the next element; false if there is none. */
    boolean next();

    /**
     * Whether {@link #seek} walks over the elements in front. If so, it is faster to save a {@link #position} and
     * return to it by {@link #moveToPosition}.
     */
    boolean isSequential();

    /** The position of the cursor's element. */
    long position();

    /** Moves the cursor to a position for reading; iteration cannot continue from there. */
    void moveToPosition(long place);
}
