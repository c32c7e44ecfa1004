package io.varve.proxy.map;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/** The keys of which members have copies. Immutable. */
public final class HotKeyCopies {
    public static final HotKeyCopies NONE = new HotKeyCopies(Map.of());
    /** Longer than a copy may lag behind its owner. */
    public static final long LAG_NANOS = TimeUnit.SECONDS.toNanos(3);

    private final Map<String, Copies> keys;

    /**
     * Immutable.
     *
     * @param usableNanos when writes to the key have been known for long enough; a value of {@link System#nanoTime}
     */
    private record Copies(List<Endpoint> holders, long usableNanos) {}

    private HotKeyCopies(Map<String, Copies> keys) {
        this.keys = Map.copyOf(keys);
    }

    /**
     * Returns the table after the members were asked again. Keys that are new in it become usable later.
     *
     * @param found the holders by key, as ISO 8859-1
     */
    HotKeyCopies next(Map<String, List<Endpoint>> found, long nowNanos) {
        Map<String, Copies> next = new HashMap<>();
        found.forEach((key, holders) -> {
            Copies known = keys.get(key);
            next.put(key, new Copies(List.copyOf(holders), known == null ? nowNanos + LAG_NANOS : known.usableNanos()));
        });
        return next.isEmpty() ? NONE : new HotKeyCopies(next);
    }

    public boolean isEmpty() {
        return keys.isEmpty();
    }

    /** Whether a key has copies, or may have some soon. */
    public boolean has(String key) {
        return keys.containsKey(key);
    }

    /**
     * The member that a client reads a key from: one of the holders or the owner. A client keeps to one, so that what
     * it reads does not go back.
     *
     * @return null: the owner
     */
    public @Nullable Endpoint choose(String key, long clientId, long nowNanos) {
        Copies copies = keys.get(key);
        if (copies == null || nowNanos - copies.usableNanos() < 0) {
            return null;
        }
        int number = (int) Long.remainderUnsigned(clientId, copies.holders().size() + 1);
        return number == 0 ? null : copies.holders().get(number - 1);
    }
}
