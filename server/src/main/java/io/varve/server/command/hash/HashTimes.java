package io.varve.server.command.hash;

import io.varve.memory.collection.HashTree;
import io.varve.memory.collection.TimedHashLayout;
import io.varve.memory.collection.packed.PackedHash;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandScratch;
import io.varve.server.command.value.WorkMemory;

/**
 * Sets and removes expiry times of hash fields. Confined to its event loop; reused from command to command.
 *
 * <p>Each field in the arguments gets its reply in order, unless the caller replies itself. A call that fails with a
 * {@link io.varve.memory.item.CacheFullException} has made no visible change.
 */
final class HashTimes {
    private static final CommandScratch<HashTimes> SCRATCH = CommandScratch.madeBy(HashTimes::new);

    static final int NO_FIELD = -2;
    static final int NO_TIME = -1;
    private static final int NOT_ALLOWED = 0;
    private static final int DONE = 1;
    private static final int DELETED = 2;

    private final CommandContext context;
    private final HashValue hash;
    /** Holds a value while its entry changes size. */
    private final WorkMemory value = new WorkMemory();

    private int from;
    private long time;
    private FieldCondition condition = FieldCondition.ALWAYS;
    private long changed;
    private boolean replies;
    private final Runnable changeInTree = this::changeInTree;
    private final HashValue.Departure departs = this::departs;

    private HashTimes(CommandContext context) {
        this.context = context;
        hash = HashValue.of(context);
    }

    /** The instance of a context. It changes the hash that {@link HashValue#of} has opened. */
    static HashTimes of(CommandContext context) {
        return SCRATCH.of(context);
    }

    /**
     * Sets the expiry time of the fields in the arguments from {@code first} on, and replies to each.
     *
     * @param at milliseconds since the epoch, in the future
     * @return number of fields that got the time
     */
    long setAll(int first, long at, FieldCondition when) {
        return change(first, at, when, true);
    }

    /** As {@link #setAll} without a condition, and without replies. */
    long setAllSilently(int first, long at) {
        return change(first, at, FieldCondition.ALWAYS, false);
    }

    /** Removes the expiry times of the fields in the arguments from {@code first} on; returns how many had one. */
    long removeAll(int first) {
        return change(first, Item.NEVER, FieldCondition.XX, true);
    }

    /** As {@link #removeAll}, without replies. */
    long removeAllSilently(int first) {
        return change(first, Item.NEVER, FieldCondition.XX, false);
    }

    private long change(int first, long newTime, FieldCondition when, boolean repliesEach) {
        from = first;
        replies = repliesEach;
        time = newTime;
        condition = when;
        changed = 0;
        boolean kept = hash.keepsTimes();
        try {
            prepareAndChange();
        } catch (CacheFullException full) {
            if (!kept) {
                hash.forgetTimes();
            }
            throw full;
        } finally {
            value.release();
        }
        return changed;
    }

    private boolean allows(long old) {
        return condition.allows(old, time);
    }

    private void prepareAndChange() {
        int chosen = 0;
        long more = 0;
        long longest = 0;
        int longestValue = 0;
        for (int i = from; i < context.argumentCount(); i++) {
            if (hash.findArgument(i) && allows(hash.time())) {
                chosen++;
                int valueLength = hash.valueLength();
                longestValue = Math.max(longestValue, valueLength);
                longest = Math.max(longest, valueLength + (long) context.argumentLength(i));
                // A repeated field counts twice, so the sum is an upper bound.
                more += PackedHash.entryBytes(context.argumentLength(i), valueLength, time)
                        - PackedHash.entryBytes(context.argumentLength(i), valueLength, hash.time());
            }
        }
        if (chosen == 0) {
            for (int i = from; i < context.argumentCount(); i++) {
                replyUnchanged(hash.findArgument(i));
            }
            return;
        }
        if (hash.isTree()) {
            requireValue(longestValue);
            if (time == Item.NEVER) {
                // Removing times only shrinks entries and cannot run out of memory, so no undo is needed.
                changeInTree.run();
            } else {
                hash.keepTimes(time);
                hash.tree().atomically(chosen, longest, changeInTree);
            }
        } else {
            int word = hash.keepsTimes() ? 0 : TimedHashLayout.WORD_BYTES;
            if (time == Item.NEVER || hash.staysPacked(0, more + word, false)) {
                changeInPacked(Math.max(0, more));
            } else {
                requireValue(longestValue);
                hash.becomeTree(changeInTree, true);
            }
        }
        hash.written(false);
    }

    private void requireValue(int bytes) {
        value.require(context.cache(), Math.max(1, bytes));
    }

    private void changeInPacked(long more) {
        if (time != Item.NEVER) {
            hash.keepTimes(time);
        }
        PackedHashEdit packed = hash.packed();
        packed.reserve(more);
        for (int i = from; i < context.argumentCount(); i++) {
            boolean there = hash.findArgument(i);
            if (there && allows(packed.time())) {
                // A repeated field is written once.
                if (packed.time() != time) {
                    packed.time(time);
                }
                replyChanged();
            } else {
                replyUnchanged(there);
            }
        }
    }

    /** In a tree under construction, expired fields are still visible, so the time is set first. */
    private void changeInTree() {
        HashTree tree = hash.tree();
        tree.asOf(context.expiryMillis());
        for (int i = from; i < context.argumentCount(); i++) {
            long field = context.argumentAddress(i);
            int length = context.argumentLength(i);
            boolean there = tree.find(field, length);
            if (there && allows(tree.time())) {
                if (tree.time() != time) {
                    rewrite(tree, field, length);
                }
                replyChanged();
            } else {
                replyUnchanged(there);
            }
        }
    }

    private void rewrite(HashTree tree, long field, int length) {
        int bytes = tree.valueLength();
        Memory.copy(tree.valueAddress(), value.address(), bytes);
        tree.put(field, length, value.address(), bytes, time);
    }

    private void replyChanged() {
        changed++;
        if (replies) {
            context.reply().integer(DONE);
        }
    }

    private void replyUnchanged(boolean there) {
        if (replies) {
            context.reply().integer(!there ? NO_FIELD : time == Item.NEVER ? NO_TIME : NOT_ALLOWED);
        }
    }

    /**
     * Removes the fields that the condition allows, because the new time is in the past, and replies to each. Returns
     * the number of removed fields.
     */
    long remove(int first, long at, FieldCondition when) {
        time = at;
        condition = when;
        return hash.removeArguments(first, departs);
    }

    private boolean departs(int argument, boolean there) {
        boolean shouldRemove = there && allows(hash.time());
        context.reply().integer(shouldRemove ? DELETED : there ? NOT_ALLOWED : NO_FIELD);
        return shouldRemove;
    }
}
