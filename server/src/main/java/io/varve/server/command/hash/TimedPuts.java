package io.varve.server.command.hash;

import io.varve.memory.collection.HashTree;
import io.varve.memory.collection.TimedHashLayout;
import io.varve.memory.collection.packed.PackedHash;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandScratch;
import io.varve.server.command.value.Encodings;
import io.varve.server.command.value.WorkMemory;

/**
 * Sets fields to values together with their expiry times (HSETEX). Confined to its event loop; reused from command to
 * command.
 *
 * <p>A call that fails with a {@link CacheFullException} has made no visible change.
 */
final class TimedPuts {
    private static final CommandScratch<TimedPuts> SCRATCH = CommandScratch.madeBy(TimedPuts::new);

    private final CommandContext context;
    private final HashValue hash;
    /** Holds a new packed hash before it is stored. */
    private final WorkMemory made = new WorkMemory();

    private int from;
    private long time;
    private boolean keepsTimes;
    private final Runnable putInTree = this::putInTree;

    private TimedPuts(CommandContext context) {
        this.context = context;
        hash = HashValue.of(context);
    }

    /** The instance of a context. It changes the hash that {@link HashValue#of} has opened. */
    static TimedPuts of(CommandContext context) {
        return SCRATCH.of(context);
    }

    /**
     * Sets the fields and values in the arguments from {@code first} on.
     *
     * @param at their expiry time, milliseconds since the epoch, in the future; or {@link Item#NEVER}
     * @param keeps whether a field keeps the expiry time that it has, instead
     */
    void putAll(int first, long at, boolean keeps) {
        from = first;
        time = at;
        keepsTimes = keeps;
        boolean kept = hash.keepsTimes();
        try {
            put();
        } catch (CacheFullException full) {
            if (!kept) {
                hash.forgetTimes();
            }
            throw full;
        } finally {
            made.release();
        }
    }

    private void put() {
        boolean isLong = false;
        long longest = 0;
        long more = time == Item.NEVER || hash.keepsTimes() ? 0 : TimedHashLayout.WORD_BYTES;
        int fresh = 0;
        for (int i = from; i < context.argumentCount(); i += 2) {
            int fieldLength = context.argumentLength(i);
            int valueLength = context.argumentLength(i + 1);
            isLong |= hash.isLong(fieldLength, valueLength);
            longest = Math.max(longest, fieldLength + (long) valueLength);
            if (!hash.isTree()) {
                // A repeated field counts twice, so the sums are upper bounds.
                boolean there = hash.findArgument(i);
                fresh += there ? 0 : 1;
                more += Math.max(0, hash.packed().moreBytes(fieldLength, valueLength, timeOf(there)));
            }
        }
        if (hash.isTree()) {
            if (time != Item.NEVER) {
                hash.keepTimes(time);
            }
            hash.tree().atomically((context.argumentCount() - from) / 2, longest, putInTree);
        } else if (more > 0 && !hash.staysPacked(fresh, more, isLong)) {
            hash.becomeTree(putInTree, hash.keepsTimes() || time != Item.NEVER);
        } else if (time != Item.NEVER && hash.size() == 0) {
            putNew(PackedHash.EMPTY_BYTES + more, isLong);
            return;
        } else {
            putInPacked(more);
        }
        hash.written(isLong);
    }

    /** The time of the cursor's field after the write. */
    private long timeOf(boolean there) {
        return !keepsTimes ? time : there ? hash.time() : Item.NEVER;
    }

    private void putInPacked(long more) {
        if (time != Item.NEVER) {
            hash.keepTimes(time);
        }
        PackedHashEdit packed = hash.packed();
        packed.reserve(more);
        for (int i = from; i < context.argumentCount(); i += 2) {
            long newTime = timeOf(hash.findArgument(i));
            packed.write(context.argumentAddress(i), context.argumentLength(i), context.argumentAddress(i + 1),
                    context.argumentLength(i + 1), newTime);
        }
    }

    /** Stores a new packed hash in one step, since its item and its expiry entry may be refused. */
    private void putNew(long bytes, boolean isLong) {
        made.require(context.cache(), bytes);
        long start = made.address() + TimedHashLayout.WORD_BYTES;
        PackedHash.clear(start);
        int length = PackedHash.EMPTY_BYTES;
        for (int i = from; i < context.argumentCount(); i += 2) {
            long field = context.argumentAddress(i);
            int fieldLength = context.argumentLength(i);
            long value = context.argumentAddress(i + 1);
            int valueLength = context.argumentLength(i + 1);
            long entry = PackedHash.find(start, length, field, fieldLength);
            length = entry == PackedHash.NONE
                    ? PackedHash.append(start, length, field, fieldLength, value, valueLength, time)
                    : PackedHash.replace(start, length, entry, value, valueLength, time);
        }
        boolean isListpack = !isLong
                && PackedHash.count(start) <= context.server().config().hashMaxListpackEntries();
        TimedHashLayout.write(made.address(), Item.NEVER,
                isListpack ? Encodings.HASH_LISTPACK : Encodings.HASH_HASHTABLE);
        context.session().set(context.keyAt(0), ItemType.HASH, Item.TIMED, made.address(),
                TimedHashLayout.WORD_BYTES + length, Item.NEVER);
        hash.openAgain(context.keyAt(0));
    }

    /** In a tree under construction, expired fields are still visible, so the time is set first. */
    private void putInTree() {
        HashTree tree = hash.tree();
        tree.asOf(context.expiryMillis());
        for (int i = from; i < context.argumentCount(); i += 2) {
            long field = context.argumentAddress(i);
            int length = context.argumentLength(i);
            long newTime = !keepsTimes ? time : tree.find(field, length) ? tree.time() : Item.NEVER;
            tree.put(field, length, context.argumentAddress(i + 1), context.argumentLength(i + 1), newTime);
        }
    }
}
