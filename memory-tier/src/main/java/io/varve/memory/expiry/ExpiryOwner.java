package io.varve.memory.expiry;

/**
 * Who holds the items whose expiry is kept: reads their expiry time, keeps their back link, and lets go of the expired.
 * Guarded by the lock that guards the {@link Expiry}, which is held at each call.
 *
 * <p>No method may call {@link Expiry#add}, {@link Expiry#remove}, {@link Expiry#move} or a cycle.
 */
public interface ExpiryOwner {
    /** The expiry time written in the item, milliseconds since the epoch. */
    long expireAtMillis(long location);

    /** The item's entry is now {@code entry}: write it into the item's back link. */
    void entryMoved(long location, int entry);

    /** The item is past its time. Its entry has already been removed: do not call {@link Expiry#remove} for it. */
    void expire(long location);
}
