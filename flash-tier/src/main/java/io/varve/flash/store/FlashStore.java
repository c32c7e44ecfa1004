package io.varve.flash.store;

import org.jspecify.annotations.Nullable;

/**
 * A map of byte strings in files. Many threads; changes of one key take effect in the order in which their calls return.
 *
 * <p>Every method may throw {@link StoreException}: the change it made may then have taken effect or not.
 */
public interface FlashStore extends AutoCloseable {
    /** The value, or null if the key is not there. */
    byte @Nullable [] get(byte[] key);

    /**
     * Sets the value.
     *
     * @return whether the key is new
     */
    boolean put(byte[] key, byte[] value, Handover handover);

    /**
     * Takes a key away. Where it was not there, what was changed before is handed over all the same: the change that took it away
     * may have been buffered.
     *
     * @return whether the key was there
     */
    boolean delete(byte[] key, Handover handover);

    /** How many keys there are. Kept, not counted. */
    long count();

    /** A walk over the keys in the store's own order, from its beginning; values are not read. */
    KeyWalk walk();

    /**
     * Everything that was changed so far has got so far when it returns.
     *
     * @throws StoreException if some of it was lost, because the files had to be opened anew meanwhile
     */
    void handOver(Handover handover);

    /** How often the files were opened anew: what was buffered then may be lost. */
    long reopened();

    /** An answer of {@link #bytesWritten}: nobody knows. */
    long UNTOLD = -1;

    /** Bytes written to the files since they were opened last, what the store moves for itself included, or {@link #UNTOLD}. */
    long bytesWritten();

    /** Whether a note of this name was left; it stands beside the map, and is not counted or walked over. */
    boolean noted(String name);

    /** Leaves a note, or takes it away. It is on the device when this returns. */
    void note(String name, boolean left);

    /** Closes the files; what was handed over stays. */
    @Override
    void close();
}
