package io.varve.server.command.blocking;

import java.util.List;

import io.varve.memory.item.ItemType;
import io.varve.server.acl.User;
import io.varve.server.blocking.BlockedClient;
import io.varve.server.command.session.Client;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.keys.HeapKey;
import org.jspecify.annotations.Nullable;

/**
 * A blocked client with its pop, which any event loop may run ({@link BlockedClientServer}). Guarded by the lock of
 * {@link io.varve.server.blocking.BlockedKeys}, except for the final fields; {@link #user} is written by the client's
 * event loop, under the shard locks of its keys.
 */
final class BlockedCommand extends BlockedClient {
    private final Client client;
    private final CommandSpec spec;
    private final Blocking.Taking pop;
    private User user;

    /** @param pop must not use the arguments of the command, which may be gone when it runs */
    BlockedCommand(Client client, CommandSpec spec, Blocking.Taking pop, ItemType type, List<HeapKey> keys,
            @Nullable HeapKey target, int targetShard, long deadlineNanos, long heapBytes,
            boolean servedWithoutValue) {
        super(type, keys, target, targetShard, deadlineNanos, heapBytes, servedWithoutValue);
        this.client = client;
        this.spec = spec;
        this.pop = pop;
        user = client.user();
    }

    Client client() {
        return client;
    }

    CommandSpec spec() {
        return spec;
    }

    Blocking.Taking pop() {
        return pop;
    }

    /** The user whose rights the command had when it last looked at its keys. */
    User user() {
        return user;
    }

    void user(User value) {
        user = value;
    }
}
