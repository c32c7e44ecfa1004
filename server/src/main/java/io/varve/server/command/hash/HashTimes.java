package io.varve.server.command.hash;

import io.varve.memory.collection.HashTree;
import io.varve.memory.collection.PackedHash;
import io.varve.memory.collection.TimedHashLayout;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.Invocation;
import io.varve.server.command.Workspace;
import io.varve.server.command.value.WorkMemory;

/**
 * How fields of a hash get times and lose them. Confined to its event loop; reused from command to command.
 *
 * <p>Each field that an argument names is replied to in its turn. What is refused with a
 * {@link io.varve.memory.item.CacheFullException} has changed nothing that can be seen.
 */
final class HashTimes {
    private static final Workspace<HashTimes> WORKSPACE = Workspace.madeBy(HashTimes::new);

    static final int NO_FIELD = -2;
    static final int NO_TIME = -1;
    private static final int NOT_ALLOWED = 0;
    private static final int DONE = 1;
    private static final int DELETED = 2;

    private final Invocation call;
    private final HashValue hash;
    /** Where values are while their entries get another size. */
    private final WorkMemory value = new WorkMemory();

    private int from;
    private long time;
    private FieldCondition condition = FieldCondition.ALWAYS;
    private long changed;
    private final Runnable changeInTree = this::changeInTree;
    private final HashValue.Departure departs = this::departs;

    private HashTimes(Invocation call) {
        this.call = call;
        hash = HashValue.of(call);
    }

    /** That of an invocation: it changes the hash that {@link HashValue#of} looks at. */
    static HashTimes of(Invocation call) {
        return WORKSPACE.of(call);
    }

    /**
     * Gives a time to the fields that the arguments from a number on name, and replies to each.
     *
     * @param at   milliseconds since the epoch, in the future
     * @return how many got it
     */
    long give(int first, long at, FieldCondition when) {
        return change(first, at, when);
    }

    /** Takes the times of these fields away; how many had one. */
    long take(int first) {
        return change(first, Item.NEVER, FieldCondition.XX);
    }

    private long change(int first, long newTime, FieldCondition when) {
        from = first;
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
        for (int i = from; i < call.argumentCount(); i++) {
            if (hash.findArgument(i) && allows(hash.time())) {
                chosen++;
                int valueLength = hash.valueLength();
                longestValue = Math.max(longestValue, valueLength);
                longest = Math.max(longest, valueLength + (long) call.argumentLength(i));
                // One that is named twice is counted twice: the sum is what is needed at most.
                more += PackedHash.entryBytes(call.argumentLength(i), valueLength, time)
                        - PackedHash.entryBytes(call.argumentLength(i), valueLength, hash.time());
            }
        }
        if (chosen == 0) {
            for (int i = from; i < call.argumentCount(); i++) {
                replyUnchanged(hash.findArgument(i));
            }
            return;
        }
        if (hash.isTree()) {
            requireValue(longestValue);
            if (time == Item.NEVER) {
                // What gets shorter is refused no memory, so nothing has to be kept to undo it.
                changeInTree.run();
            } else {
                hash.keepTimes(time);
                hash.tree().together(chosen, longest, changeInTree);
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
        value.require(call.cache(), Math.max(1, bytes));
    }

    private void changeInPacked(long more) {
        if (time != Item.NEVER) {
            hash.keepTimes(time);
        }
        PackedHashEdit packed = hash.packed();
        packed.makeRoom(more);
        for (int i = from; i < call.argumentCount(); i++) {
            boolean there = hash.findArgument(i);
            if (there && allows(packed.time())) {
                // One that is named many times is written once.
                if (packed.time() != time) {
                    packed.time(time);
                }
                replyChanged();
            } else {
                replyUnchanged(there);
            }
        }
    }

    /** One that is being made hides nothing yet. */
    private void changeInTree() {
        HashTree tree = hash.tree();
        tree.asOf(call.now());
        for (int i = from; i < call.argumentCount(); i++) {
            long field = call.argumentAddress(i);
            int length = call.argumentLength(i);
            boolean there = tree.find(field, length);
            if (there && allows(tree.time())) {
                if (tree.time() != time) {
                    writeAnew(tree, field, length);
                }
                replyChanged();
            } else {
                replyUnchanged(there);
            }
        }
    }

    private void writeAnew(HashTree tree, long field, int length) {
        int bytes = tree.valueLength();
        Memory.copy(tree.valueAddress(), value.address(), bytes);
        tree.put(field, length, value.address(), bytes, time);
    }

    private void replyChanged() {
        changed++;
        call.reply().integer(DONE);
    }

    private void replyUnchanged(boolean there) {
        call.reply().integer(!there ? NO_FIELD : time == Item.NEVER ? NO_TIME : NOT_ALLOWED);
    }

    /** Removes the fields that may get this time, which is past, and replies to each; how many went. */
    long remove(int first, long at, FieldCondition when) {
        time = at;
        condition = when;
        return hash.removeArguments(first, departs);
    }

    private boolean departs(int argument, boolean there) {
        boolean goes = there && allows(hash.time());
        call.reply().integer(goes ? DELETED : there ? NOT_ALLOWED : NO_FIELD);
        return goes;
    }
}
