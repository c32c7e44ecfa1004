package io.varve.server.log;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import java.util.function.LongFunction;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * The newest entries of a log, each with an id. Guarded by {@code this}.
 *
 * @param <E> an entry; immutable
 */
public final class BoundedLog<E> {
    /** The newest first. */
    private final ArrayDeque<E> entries = new ArrayDeque<>();
    private long nextId;

    /**
     * Adds an entry, and drops the oldest entries over the limit.
     *
     * @param create makes the entry with this id; ids grow by one from entry to entry, and are never used again
     */
    public synchronized void add(LongFunction<E> create, long maxEntries) {
        entries.addFirst(create.apply(nextId++));
        trim(maxEntries);
    }

    /**
     * Replaces the newest matching entry, and makes the replacement the newest entry. Adds an entry if none matches.
     *
     * @param searched number of newest entries that are searched
     * @param create as in {@link #add}
     */
    public synchronized void updateOrAdd(int searched, Predicate<E> isMatch, UnaryOperator<E> replacement,
            LongFunction<E> create, long maxEntries) {
        int seen = 0;
        for (Iterator<E> i = entries.iterator(); i.hasNext() && seen < searched; seen++) {
            E entry = i.next();
            if (isMatch.test(entry)) {
                i.remove();
                entries.addFirst(replacement.apply(entry));
                return;
            }
        }
        add(create, maxEntries);
    }

    /** Drops the oldest entries over the limit. */
    public synchronized void trim(long maxEntries) {
        while (entries.size() > maxEntries) {
            entries.removeLast();
        }
    }

    /** The latest entries first; at most {@code count}. */
    public synchronized List<E> latest(long count) {
        return entries.stream().limit(Math.max(0, count)).toList();
    }

    public synchronized int size() {
        return entries.size();
    }

    /** Removes all entries. Ids continue. */
    public synchronized void reset() {
        entries.clear();
    }
}
