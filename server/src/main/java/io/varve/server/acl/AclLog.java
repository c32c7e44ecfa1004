package io.varve.server.acl;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** What was denied last, and how often anything was. Guarded by itself: denials are rare. */
public final class AclLog {
    /** Where a command was denied that was not queued, and one that was, or was to be. */
    public static final String TOP_LEVEL = "toplevel";
    public static final String IN_MULTI = "multi";

    /** Denials of the same thing that come within this time are one entry. */
    private static final long GROUPING_MILLIS = 60_000;
    /** So many entries are looked through for the same thing. */
    private static final int LOOKED_THROUGH = 10;

    /**
     * Denials of one thing.
     *
     * @param id            grows by one from entry to entry
     * @param count         how often it was denied
     * @param context       {@link #TOP_LEVEL} or {@link #IN_MULTI}
     * @param object        the command, key or channel, each char a byte
     * @param user          who was denied it
     * @param client        what CLIENT LIST says of who was denied it last
     * @param createdMillis when it was denied first
     * @param updatedMillis when it was denied last
     */
    public record Entry(long id, long count, Denial reason, String context, String object, String user, String client,
            long createdMillis, long updatedMillis) {
        private boolean isSame(Denial otherReason, String otherContext, String otherObject, String otherUser,
                long nowMillis) {
            return reason == otherReason && context.equals(otherContext) && object.equals(otherObject)
                    && user.equals(otherUser) && Math.abs(nowMillis - updatedMillis) <= GROUPING_MILLIS;
        }
    }

    private final ArrayDeque<Entry> entries = new ArrayDeque<>();
    private final Map<Denial, LongAdder> counts = new EnumMap<>(Denial.class);
    private long nextId;

    AclLog() {
        for (Denial reason : Denial.values()) {
            counts.put(reason, new LongAdder());
        }
    }

    /** Notes a denial, and forgets what is over the limit. The parameters are those of {@link Entry}. */
    public void add(Denial reason, String context, String object, String user, String client, long nowMillis,
            long maxEntries) {
        count(reason).increment();
        addEntry(reason, context, object, user, client, nowMillis, maxEntries);
    }

    private LongAdder count(Denial reason) {
        return java.util.Objects.requireNonNull(counts.get(reason));
    }

    private synchronized void addEntry(Denial reason, String context, String object, String user, String client,
            long nowMillis, long maxEntries) {
        int seen = 0;
        for (Iterator<Entry> i = entries.iterator(); i.hasNext() && seen < LOOKED_THROUGH; seen++) {
            Entry known = i.next();
            if (known.isSame(reason, context, object, user, nowMillis)) {
                i.remove();
                entries.addFirst(new Entry(known.id, known.count + 1, reason, context, object, user, client,
                        known.createdMillis, nowMillis));
                return;
            }
        }
        entries.addFirst(new Entry(nextId++, 1, reason, context, object, user, client, nowMillis, nowMillis));
        trim(maxEntries);
    }

    synchronized void trim(long maxEntries) {
        while (entries.size() > maxEntries) {
            entries.removeLast();
        }
    }

    /** The latest first; at most {@code count}. */
    public synchronized List<Entry> latest(long count) {
        List<Entry> result = new ArrayList<>();
        for (Entry entry : entries) {
            if (result.size() >= count) {
                break;
            }
            result.add(entry);
        }
        return result;
    }

    public synchronized void reset() {
        entries.clear();
    }

    /** How often something was denied for this reason. */
    public long denied(Denial reason) {
        return count(reason).sum();
    }

    /** CONFIG RESETSTAT. */
    public void resetCounts() {
        counts.values().forEach(LongAdder::reset);
    }
}
