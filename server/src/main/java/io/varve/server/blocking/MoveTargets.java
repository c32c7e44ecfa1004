package io.varve.server.blocking;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.varve.memory.item.Key;
import io.varve.memory.shard.ShardSet;
import io.varve.server.keys.HeapKey;
import io.varve.server.keys.KeyCounters;

/**
 * The keys into which blocked clients move elements, by the key that they wait for. Guarded by the lock of
 * {@link BlockedKeys}, except {@link #isAny} and {@link #mightMoveFrom}.
 *
 * <p>It knows names, not databases: a name has the same shard in all databases, and some commands name a key of one
 * database and change it in another (MOVE, COPY).
 */
final class MoveTargets {
    /** Maximum number of targets that a search visits. If there are more, it answers all shards. */
    private static final int MAX_TARGETS = 8;

    /** A key that receives elements. Immutable. */
    private record Target(String name, int shard) {}

    private final int shardCount;
    private final KeyCounters sources = new KeyCounters();
    /** The targets of each source, each with its number of clients. */
    private final Map<String, Map<Target, Integer>> targets = new HashMap<>();
    private volatile boolean any;

    MoveTargets(int shardCount) {
        this.shardCount = shardCount;
    }

    /** Whether any client moves elements. Exact for keys whose shards the caller has locked. */
    boolean isAny() {
        return any;
    }

    /** Whether a client may move elements from a key with this name; false is certain. Its shard is locked. */
    boolean mightMoveFrom(Key key) {
        return any && sources.mightContain(0, key.address(), key.length());
    }

    void add(HeapKey source, HeapKey target, int shard) {
        sources.add(new HeapKey(0, source.name()));
        targets.computeIfAbsent(source.name(), _ -> new HashMap<>()).merge(new Target(target.name(), shard), 1,
                Integer::sum);
        any = true;
    }

    void remove(HeapKey source, HeapKey target, int shard) {
        sources.remove(new HeapKey(0, source.name()));
        targets.computeIfPresent(source.name(), (_, ofSource) -> {
            ofSource.computeIfPresent(new Target(target.name(), shard), (_, count) -> count == 1 ? null : count - 1);
            return ofSource.isEmpty() ? null : ofSource;
        });
        any = !targets.isEmpty();
    }

    /** Adds the shards of all keys that elements of a key may reach, directly or over further keys. */
    void addReachable(String from, ShardSet shards) {
        Set<String> seen = new HashSet<>(List.of(from));
        ArrayDeque<String> open = new ArrayDeque<>(seen);
        while (!open.isEmpty()) {
            for (Target target : targets.getOrDefault(open.remove(), Map.of()).keySet()) {
                if (seen.add(target.name())) {
                    if (seen.size() > MAX_TARGETS + 1) {
                        addAll(shards);
                        return;
                    }
                    shards.add(target.shard());
                    open.add(target.name());
                }
            }
        }
    }

    private void addAll(ShardSet shards) {
        for (int i = 0; i < shardCount; i++) {
            shards.add(i);
        }
    }
}
