package io.varve.flash.store;

import org.jspecify.annotations.Nullable;

/**
 * A map of byte strings in files. Many threads; changes of one key take effect in the order in which their calls
 * return.
 *
 * <p>Every method may throw {@link StoreException}. Its change may then have taken effect or not.
 */
public interface FlashStore extends AutoCloseable {
    /** The value, or null if the key is absent. */
    byte @Nullable [] get(byte[] key);

    /**
     * Sets the value.
     *
     * @return whether the key is new
     */
    boolean put(byte[] key, byte[] value, DurabilityLevel durability);

    /**
     * Deletes a key. If it was absent, earlier changes are handed over regardless: the change that deleted it may have
     * been buffered.
     *
     * @return whether the key was present
     */
    boolean delete(byte[] key, DurabilityLevel durability);

    /** Number of keys, from a maintained counter. */
    long count();

    /** A cursor over the keys in the store's own order, from the start; values are not read. */
    KeyCursor walk();

    /**
     * Makes all earlier changes as durable as this level before it returns.
     *
     * @throws StoreException if some of them were lost because the files were reopened
     */
    void makeDurable(DurabilityLevel durability);

    /** How often the files were reopened: buffered changes may then be lost. */
    long reopened();

    /** The result of {@link #bytesWritten} if it is unknown. */
    long UNKNOWN = -1;

    /**
     * Bytes written to the files since they were opened last, including data that the store moves itself, or {@link
     * #UNKNOWN}.
     */
    long bytesWritten();

    /**
     * Whether a note of this name exists; notes are separate from the map, and neither counted nor visited by cursors.
     */
    boolean hasNote(String name);

    /** Sets or deletes a note. It is on the device when this returns. */
    void setNote(String name, boolean present);

    /** Closes the files; changes that were handed over stay. */
    @Override
    void close();
}
