package io.varve.server.command.dispatch;

import io.varve.memory.CacheSession;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.server.command.CommandContext;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.session.Client;
import io.varve.server.command.session.Transaction;
import io.varve.server.command.spec.CommandSpec;
import org.jspecify.annotations.Nullable;

/**
 * The keys that no thread evicts while memory is freed for a command and until it ends. Confined to its event loop.
 *
 * <p>These are the keys that the command names. Inside MULTI they include the keys that its client has queued and
 * watches, because EXEC will use them.
 */
final class CommandPins {
    /** Maximum number of keys whose item sizes are summed; commands with more keys have small values. */
    private static final int MAX_KEYS = 64;

    private final CacheSession session;
    private final Item item = new Item();
    private final long[] seen = new long[MAX_KEYS];
    private boolean pinned;
    /** The batch of the pinned keys; null if nothing is pinned. */
    private @Nullable Batch batch;
    private int first;
    private int count;

    CommandPins(CacheSession session) {
        this.session = session;
    }

    /** Pins the keys of a command and releases the previous pins. */
    void pin(Batch ofCommand, int command, Client client) {
        Transaction transaction = client.transaction();
        if (transaction != null && !transaction.failed()) {
            CommandSpec spec = ofCommand.spec(command);
            boolean isExec = spec != null && TransactionRunner.executed(spec, client) != null;
            pin(transaction, client, isExec ? 0 : ofCommand.keyCount(command), ofCommand, command);
            return;
        }
        pinned = true;
        batch = ofCommand;
        first = ofCommand.firstKey(command);
        count = ofCommand.keyCount(command);
        if (count == 0) {
            session.unpin();
        } else if (ofCommand.bindsOnDemand(first)) {
            int from = first;
            session.pin(count, i -> ofCommand.key(from + i).hash());
        } else {
            session.pin(ofCommand.keys(), first, count);
        }
    }

    /**
     * Pins the keys of a script, or of the transaction that runs it, and those of the command that it calls.
     *
     * @param nested the command; null if it calls none at present
     */
    void pinInScript(CommandContext script, @Nullable Batch nested) {
        Client client = script.client();
        int own = script.keyCount();
        int all = own + (nested == null ? 0 : nested.keyCount(0));
        Transaction transaction = script.isInTransaction() ? client.transaction() : null;
        pinned = true;
        batch = null;
        if (transaction != null) {
            long[] watched = client.watch().hashes();
            long[] others = java.util.Arrays.copyOf(watched, watched.length + all - own);
            for (int i = own; i < all; i++) {
                others[watched.length + i - own] = key(script, nested, i).hash();
            }
            session.pin(transaction.batch().keys(), 0, transaction.batch().keyTotal(), others);
        } else if (all == 0) {
            session.unpin();
        } else {
            session.pin(all, i -> key(script, nested, i).hash());
        }
    }

    private static Key key(CommandContext script, @Nullable Batch nested, int index) {
        int own = script.keyCount();
        return nested == null || index < own ? script.keyAt(index) : nested.key(index - own);
    }

    /** Pins the keys that a transaction names and its client watches. */
    void pin(Transaction executed, Client client) {
        pin(executed, client, 0, executed.batch(), 0);
    }

    private void pin(Transaction transaction, Client client, int more, Batch ofCommand, int command) {
        pinned = true;
        batch = transaction.batch();
        first = 0;
        count = batch.keyTotal();
        long[] watched = client.watch().hashes();
        long[] others = java.util.Arrays.copyOf(watched, watched.length + more);
        for (int i = 0; i < more; i++) {
            others[watched.length + i] = ofCommand.key(ofCommand.firstKey(command) + i).hash();
        }
        session.pin(transaction.batch().keys(), 0, count, others);
    }

    /** Releases the pins when the command has ended, or is parked and will restart. */
    void unpin() {
        if (pinned) {
            pinned = false;
            batch = null;
            session.unpin();
        }
    }

    /** Size of the pinned items, bytes; 0 if there are more than {@link #MAX_KEYS}. No shard is locked. */
    long bytes() {
        Batch keys = batch;
        if (keys == null || count > MAX_KEYS) {
            return 0;
        }
        long bytes = 0;
        for (int i = 0; i < count; i++) {
            Key key = keys.key(first + i);
            seen[i] = key.hash();
            if (!isRepeated(i)) {
                bytes += bytes(key);
            }
        }
        return bytes;
    }

    private boolean isRepeated(int number) {
        for (int i = 0; i < number; i++) {
            if (seen[i] == seen[number]) {
                return true;
            }
        }
        return false;
    }

    private long bytes(Key key) {
        session.lock(key);
        try {
            return session.peek(key, item) ? session.memoryUsage(item) : 0;
        } finally {
            session.unlock(key);
        }
    }
}
