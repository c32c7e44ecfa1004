package io.varve.memory.expiry;

/**
 * The owner of the items whose expiry is tracked: it reads their expiry times, stores their back links and removes the
 * expired ones. Guarded by the lock that guards the {@link Expiry}, which is held at each call.
 *
 * <p>No method may call {@link Expiry#add}, {@link Expiry#remove}, {@link Expiry#move} or a cycle.
 */
public interface ExpiryOwner {
    /** The item has no time, and loses its entry. */
    long NEVER = -1;
    /** The whole item is removed: {@link #expire} follows. */
    long EXPIRED = -2;
    /** Nothing of the item can be removed now, although its time is past. */
    long UNCHANGED = -3;

    /** The expiry time written in the item, milliseconds since the epoch. */
    long expireAtMillis(long location);

    /** Writes the item's new entry id into its back link. */
    void entryMoved(long location, int entry);

    /**
     * Handles an item that is past its time. If only parts of it are due, the owner removes as many as it can at once,
     * and sets another time; the item may move then ({@link Expiry#relocate}). The caller moves its entry.
     *
     * @return the item's new time, past if more of it is due; or {@link #NEVER}, {@link #UNCHANGED} or {@link #EXPIRED}
     */
    default long expireDue(long location, long nowMillis) {
        return EXPIRED;
    }

    /** Removes an expired item. Its entry has already been removed: do not call {@link Expiry#remove} for it. */
    void expire(long location);
}
