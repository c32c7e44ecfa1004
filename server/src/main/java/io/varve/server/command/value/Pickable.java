package io.varve.server.command.value;

/** What elements are picked of at random: a cursor over them, which goes to any of them. Confined to its event loop. */
public interface Pickable {
    /** How many elements there are. */
    long size();

    /** Goes to the element that so many stand in front of; false if there are not as many. */
    boolean seek(long rank);

    /** Goes to the next element; false if there is none. */
    boolean next();

    /** Whether {@link #seek} walks over what stands in front; {@link #here} and {@link #show} then remember a place. */
    boolean isWalked();

    /** The place of the cursor's element. */
    long here();

    /** Goes to a place to look at it, but not on from there. */
    void show(long place);
}
