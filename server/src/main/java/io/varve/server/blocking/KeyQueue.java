package io.varve.server.blocking;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.varve.memory.item.ItemType;
import io.varve.server.keys.HeapKey;
import org.jspecify.annotations.Nullable;

/** The clients that wait for one key, in order of arrival. Guarded by the lock of {@link BlockedKeys}. */
final class KeyQueue {
    private final HeapKey key;
    private final TreeMap<Long, BlockedClient> clients = new TreeMap<>();

    KeyQueue(HeapKey key) {
        this.key = key;
    }

    HeapKey key() {
        return key;
    }

    /** @return whether the client was not in the queue yet */
    boolean add(BlockedClient blocked) {
        return clients.putIfAbsent(blocked.order(), blocked) == null;
    }

    void remove(BlockedClient blocked) {
        clients.remove(blocked.order());
    }

    boolean isEmpty() {
        return clients.isEmpty();
    }

    Collection<BlockedClient> clients() {
        return clients.values();
    }

    /** Whether any client is also served when the key is deleted or gets another type. */
    boolean servesWithoutValue() {
        for (BlockedClient client : clients.values()) {
            if (client.isServedWithoutValue()) {
                return true;
            }
        }
        return false;
    }

    /** The clients that are served although the key does not have their type, in order of arrival. */
    List<BlockedClient> servedWithoutValue(@Nullable ItemType present) {
        return clients.values().stream().filter(client -> client.isServedWithoutValue() && client.type() != present)
                .toList();
    }

    /** The first client behind a place in the order of arrival that waits for this type; null if there is none. */
    @Nullable
    BlockedClient next(ItemType type, long after) {
        Map.Entry<Long, BlockedClient> entry = clients.higherEntry(after);
        while (entry != null && entry.getValue().type() != type) {
            entry = clients.higherEntry(entry.getKey());
        }
        return entry == null ? null : entry.getValue();
    }
}
