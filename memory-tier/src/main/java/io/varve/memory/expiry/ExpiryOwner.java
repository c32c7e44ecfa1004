package io.varve.memory.expiry;

/**
 * Who holds the items whose expiry is kept: reads their expiry time, keeps their back link, and lets go of the expired.
 * Guarded by the lock that guards the {@link Expiry}, which is held at each call.
 *
 * <p>No method may call {@link Expiry#add}, {@link Expiry#remove}, {@link Expiry#move} or a cycle.
 */
public interface ExpiryOwner {
    /** It has no time any more: no entry either. */
    long NEVER = -1;
    /** All of it is to go: {@link #expire} follows. */
    long GOES = -2;
    /** Nothing of it can go now, and its time is past. */
    long STAYS = -3;

    /** The expiry time written in the item, milliseconds since the epoch. */
    long expireAtMillis(long location);

    /** The item's entry is now {@code entry}: write it into the item's back link. */
    void entryMoved(long location, int entry);

    /**
     * The item is past its time. If parts of it only are, those go, as many as can go at once, and it gets another time; it may move
     * then ({@link Expiry#relocate}). Its entry is the caller's to put where it belongs.
     *
     * @return the item's time from now on, past if there is more of it to go; or {@link #NEVER}, {@link #STAYS} or {@link #GOES}
     */
    default long pastItsTime(long location, long nowMillis) {
        return GOES;
    }

    /** The item is past its time. Its entry has already been removed: do not call {@link Expiry#remove} for it. */
    void expire(long location);
}
