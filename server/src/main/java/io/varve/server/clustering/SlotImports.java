package io.varve.server.clustering;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

/**
 * Which connection may store keys in each importing slot: that of the source's last attempt. Thread-safe: a concurrent
 * map; commands look under the lock of the slot's shard.
 *
 * <p>A process that was stopped, or a network that was broken, may deliver commands of an earlier attempt late. They
 * would replace newer values.
 */
public final class SlotImports {
    private static final long NOBODY = -1;

    /**
     * The last attempt to move a slot here. Immutable.
     *
     * @param generation of the source's process
     * @param attempt rises with each attempt of that process
     * @param clientId the connection; {@link #NOBODY}: the slot is no longer importing
     */
    private record Attempt(String sourceId, long generation, long attempt, long clientId) {
        boolean isBefore(Attempt other) {
            return !sourceId.equals(other.sourceId) || generation < other.generation
                    || generation == other.generation && attempt < other.attempt;
        }
    }

    private final ConcurrentHashMap<Integer, Attempt> attempts = new ConcurrentHashMap<>();
    /** Importing slots that have no key, before their first attempt. */
    private final Set<Integer> empty = ConcurrentHashMap.newKeySet();

    /** A slot has no key, and is importing from now on. */
    public void knowEmpty(int slot) {
        empty.add(slot);
    }

    /** Whether an importing slot is known to have no key. The attempt that asks is about to send some. */
    public boolean takeEmpty(int slot) {
        return empty.remove(slot);
    }

    /**
     * A source begins to move a slot here, on this connection. Earlier attempts end.
     *
     * @return false if this attempt is not later than the last one
     */
    public boolean begin(int slot, String sourceId, long generation, long attempt, long clientId) {
        Attempt next = new Attempt(sourceId, generation, attempt, clientId);
        return next.equals(attempts.compute(slot, (_, last) -> last == null || last.isBefore(next) ? next : last));
    }

    /** Whether a connection may store keys in an importing slot. */
    public boolean accepts(int slot, @Nullable String sourceId, long clientId) {
        Attempt last = attempts.get(slot);
        return last != null && last.clientId() == clientId && last.sourceId().equals(sourceId);
    }

    /** Ends the attempts for all slots that are not importing now. */
    void retain(Set<Integer> importing) {
        empty.retainAll(importing);
        attempts.replaceAll((slot, last) -> importing.contains(slot)
                ? last
                : new Attempt(last.sourceId(), last.generation(), last.attempt(), NOBODY));
    }
}
