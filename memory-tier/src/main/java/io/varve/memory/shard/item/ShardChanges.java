package io.varve.memory.shard.item;

import io.varve.memory.index.Index;
import io.varve.memory.item.Change;
import io.varve.memory.item.ChangeListener;
import io.varve.memory.item.Key;
import io.varve.memory.shard.context.ShardContext;
import io.varve.memory.shard.context.ShardLock;

/** Numbers the changes of a shard's keys and notifies the listeners. Guarded by the shard's lock. */
public final class ShardChanges {
    private final int number;
    private final ShardContext context;
    private final ShardLock lock;

    /** @param number the number of the shard */
    public ShardChanges(int number, ShardContext context, ShardLock lock) {
        this.number = number;
        this.context = context;
        this.lock = lock;
    }

    /** Assigns the change its sequence number and notifies the listeners. All changes go through this method. */
    public void changed(Change change, int logicalDatabase, long keyAddress, int keyLength) {
        assert lock.isHeldByMe();
        long sequence = lock.nextChange();
        ChangeListener[] listeners = context.listeners();
        if (listeners.length != 0) {
            notifyListeners(listeners, change, sequence, logicalDatabase, keyAddress, keyLength);
        }
    }

    private void notifyListeners(ChangeListener[] listeners, Change change, long sequence, int logicalDatabase,
            long keyAddress, int keyLength) {
        for (ChangeListener listener : listeners) {
            listener.changed(change, number, sequence, logicalDatabase, keyAddress, keyLength);
        }
    }

    /** Notifies listeners of fields that are about to be removed because they are due. */
    void notifyFieldsExpire(int logicalDatabase, long keyAddress, int keyLength, ChangeListener.Fields fields) {
        for (ChangeListener listener : context.listeners()) {
            listener.fieldsExpire(logicalDatabase, keyAddress, keyLength, fields);
        }
    }

    /** Notifies listeners of a new key, if the index did not find it before. */
    public void notifyIfCreated(Key key, long found) {
        if (found == Index.NONE) {
            for (ChangeListener listener : context.listeners()) {
                listener.created(key.database(), key.address(), key.length());
            }
        }
    }

    /** Notifies listeners that a key was not found. */
    public void notifyMissed(Key key) {
        if (!context.hearsMisses()) {
            return;
        }
        for (ChangeListener listener : context.listeners()) {
            listener.missed(key.database(), key.address(), key.length());
        }
    }
}
