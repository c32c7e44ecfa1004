package io.varve.server.migration;

import java.util.function.Predicate;

import io.varve.memory.CacheSession;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.ServerState;
import io.varve.server.events.KeyEvent;
import io.varve.server.persistence.ChangeRecorder;
import io.varve.server.persistence.RecordedCommand;
import io.varve.server.persistence.ReusedText;

/**
 * Deletes keys that do not belong to this member. Log and replicas receive the deletions. Confined to one thread.
 */
final class KeyDeleter implements AutoCloseable {
    private static final int DATABASE = 0;

    private final ServerState server;
    private final CacheSession session;
    private final ChangeRecorder recorder;
    private final ReusedText memory = new ReusedText();
    private final Key key = new Key();
    private final Item item = new Item();

    KeyDeleter(ServerState server) {
        this.server = server;
        session = server.cache().newSession();
        session.touching(false);
        session.notifying(false);
        recorder = new ChangeRecorder(server.changes(), session);
    }

    /**
     * Deletes a key. Call {@link #flush} afterwards.
     *
     * @param mayDelete decides under the lock of the key's shard
     * @return whether there was such a key, which was deleted
     */
    boolean delete(byte[] name, Predicate<Key> mayDelete) {
        long address = memory.take(name.length);
        Memory.copy(name, 0, address, name.length);
        session.now(server.ticker().wallMillis());
        session.bind(key, DATABASE, address, name.length);
        session.lock(key);
        try {
            if (!mayDelete.test(key) || !session.peek(key, item) || !session.delete(key)) {
                return false;
            }
            server.notifications().keyEvents().emit(KeyEvent.DEL, key);
            if (recorder.isOn()) {
                recorder.begin(DATABASE, RecordedCommand.DEL, 2).argument(key).end();
            }
            return true;
        } finally {
            session.unlock(key);
        }
    }

    /** Sends notifications of what was deleted. */
    void flush() {
        server.notifications().flush();
    }

    @Override
    public void close() {
        recorder.close();
        memory.close();
    }
}
