package io.varve.server.acl;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

import io.varve.server.log.BoundedLog;

/** The most recent denials, and a counter for each reason. Thread-safe by locks: denials are rare. */
public final class AclLog {
    /** The context of a denial: a command that was not queued, or one that was queued or should have been. */
    public static final String TOP_LEVEL = "toplevel";
    public static final String IN_MULTI = "multi";
    public static final String IN_SCRIPT = "lua";

    /** Equal denials within this time are one entry. */
    private static final long GROUPING_MILLIS = 60_000;
    /** Number of recent entries that are searched for an equal denial. */
    private static final int SEARCHED_ENTRIES = 10;

    /**
     * The denials of one object.
     *
     * @param id grows by one from entry to entry
     * @param count number of denials
     * @param context {@link #TOP_LEVEL}, {@link #IN_MULTI} or {@link #IN_SCRIPT}
     * @param object the command, key or channel, each char a byte
     * @param user the denied user
     * @param client the CLIENT LIST line of the client that was denied last
     * @param createdMillis time of the first denial
     * @param updatedMillis time of the last denial
     */
    public record Entry(long id, long count, Denial reason, String context, String object, String user, String client,
            long createdMillis, long updatedMillis) {
        private boolean isSame(Denial otherReason, String otherContext, String otherObject, String otherUser,
                long nowMillis) {
            return reason == otherReason && context.equals(otherContext) && object.equals(otherObject)
                    && user.equals(otherUser) && Math.abs(nowMillis - updatedMillis) <= GROUPING_MILLIS;
        }
    }

    private final BoundedLog<Entry> entries = new BoundedLog<>();
    private final Map<Denial, LongAdder> counts = new EnumMap<>(Denial.class);

    AclLog() {
        for (Denial reason : Denial.values()) {
            counts.put(reason, new LongAdder());
        }
    }

    /** Records a denial, and drops entries over the limit. The parameters are those of {@link Entry}. */
    public void add(Denial reason, String context, String object, String user, String client, long nowMillis,
            long maxEntries) {
        count(reason).increment();
        entries.updateOrAdd(SEARCHED_ENTRIES,
                known -> known.isSame(reason, context, object, user, nowMillis),
                known -> new Entry(known.id, known.count + 1, reason, context, object, user, client,
                        known.createdMillis, nowMillis),
                id -> new Entry(id, 1, reason, context, object, user, client, nowMillis, nowMillis), maxEntries);
    }

    private LongAdder count(Denial reason) {
        return java.util.Objects.requireNonNull(counts.get(reason));
    }

    void trim(long maxEntries) {
        entries.trim(maxEntries);
    }

    /** The latest entries first; at most {@code count}. */
    public List<Entry> latest(long count) {
        return entries.latest(count);
    }

    public void reset() {
        entries.reset();
    }

    /** Number of denials for this reason. */
    public long denied(Denial reason) {
        return count(reason).sum();
    }

    /** CONFIG RESETSTAT. */
    public void resetCounts() {
        counts.values().forEach(LongAdder::reset);
    }
}
