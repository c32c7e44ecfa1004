package io.varve.server.command.hyperloglog;

import io.varve.memory.CacheSession;
import io.varve.memory.collection.hyperloglog.HyperLogLog;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.command.value.Encodings;
import io.varve.server.command.value.KeyLookup;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.events.KeyEvent;

import static io.varve.server.command.spec.CommandFlag.ADMIN;
import static io.varve.server.command.spec.CommandFlag.DENYOOM;
import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.READONLY;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/**
 * Commands on HyperLogLogs, which are stored as strings. Immutable: static handlers.
 *
 * @see HyperLogLogDebugCommand
 */
public final class HyperLogLogCommands {
    static final String CORRUPT = "INVALIDOBJ Corrupted HLL object detected";
    private static final String INVALID = "WRONGTYPE Key is not a valid HyperLogLog string value.";
    /** Far longer than any sparse HyperLogLog, whatever its opcodes; a longer one is rejected. */
    private static final int MAX_SPARSE_BYTES = 1 << 18;

    private HyperLogLogCommands() {}

    /** Adds this family's commands. */
    public static void addTo(CommandTable.Builder table) {
        table.add(hyperLogLog("pfadd", -2, "2.8.9", "Adds elements to a HyperLogLog").key(1).access("RW insert")
                .flags(WRITE, DENYOOM, FAST).complexity("O(N) where N is the number of elements")
                .handler(HyperLogLogCommands::add));
        table.add(hyperLogLog("pfcount", -2, "2.8.9",
                "Returns the approximate number of distinct elements of HyperLogLogs")
                .keys(1, -1, 1).access("RW access").flags(READONLY).traits(CommandTrait.MAY_REPLICATE)
                .complexity("O(N) where N is the number of keys")
                .handler(HyperLogLogCommands::count));
        table.add(hyperLogLog("pfmerge", -2, "2.8.9", "Merges HyperLogLogs into one key").keys(1, -1, 1)
                .access("RW access insert", "RO access").flags(WRITE, DENYOOM).traits(CommandTrait.ALL_OR_NOTHING)
                .complexity("O(N) where N is the number of keys").handler(HyperLogLogCommands::merge));
        HyperLogLogDebugCommand.addTo(table);
        table.add(hyperLogLog("pfselftest", 1, "2.8.9", "Internal command that tests HyperLogLog values").flags(ADMIN)
                .handler(HyperLogLogSelfTest::run));
    }

    static CommandBuilder hyperLogLog(String name, int arity, String since, String summary) {
        return CommandBuilder.named(name).arity(arity).categories("@hyperloglog").group("hyperloglog").since(since)
                .summary(summary);
    }

    /** Whether an item is a HyperLogLog; else replies the error. */
    static boolean isOne(CommandContext context, Item item) {
        long address = item.valueAddress();
        int length = item.valueLength();
        if (!HyperLogLog.isOne(address, length)) {
            context.reply().error(INVALID);
            return false;
        }
        if (length > MAX_SPARSE_BYTES) {
            context.reply().error(CORRUPT);
            return false;
        }
        return true;
    }

    /** Stores a changed copy as the key's value. */
    static void store(CommandContext context, Key key, Item item, boolean present, long copy, int length) {
        CacheSession session = context.session();
        if (present) {
            // A sparse one grows by a few bytes each time.
            int capacity = Math.max(length, Math.min(length + (length >>> 2), HyperLogLog.DENSE_BYTES));
            session.resize(key, item, Encodings.STRING_RAW, length, capacity);
        } else {
            session.put(key, item, ItemType.STRING, Encodings.STRING_RAW, length, length, Item.NEVER);
        }
        Memory.copy(copy, item.valueAddress(), length);
    }

    /** Marks the string as raw: a HyperLogLog command for writing does so even if nothing changes. */
    static void makeRaw(CommandContext context, Key key, Item item) {
        if (item.encoding() != Encodings.STRING_RAW) {
            context.session().encoding(key, item, Encodings.STRING_RAW);
        }
    }

    // --- PFADD

    private static void add(CommandContext context) {
        Key key = context.keyAt(0);
        Item item = context.item();
        Found found = KeyLookup.findForWriting(context, key, item, ItemType.STRING);
        if (found == Found.WRONG_TYPE || found == Found.PRESENT && !isOne(context, item)) {
            return;
        }
        if (found == Found.PRESENT && HyperLogLog.isDense(item.valueAddress())) {
            addToDense(context, key, item);
        } else {
            addToCopy(context, key, item, found == Found.PRESENT);
        }
    }

    private static void addToDense(CommandContext context, Key key, Item item) {
        int length = item.valueLength();
        context.session().resize(key, item, Encodings.STRING_RAW, length, length);
        long hll = item.valueAddress();
        int changes = 0;
        for (int i = 2; i < context.argumentCount(); i++) {
            int after = HyperLogLog.add(hll, length, context.argumentAddress(i), context.argumentLength(i), 0);
            changes += after >= 0 ? 1 : 0;
        }
        if (changes > 0) {
            HyperLogLog.outdate(hll);
            context.session().changed(key, Change.SET);
            context.events().emit(KeyEvent.PFADD, key);
            context.countChanges(changes);
        }
        context.reply().integer(changes > 0 ? 1 : 0);
    }

    private static void addToCopy(CommandContext context, Key key, Item item, boolean present) {
        int length = present ? item.valueLength() : HyperLogLog.EMPTY_BYTES;
        long copy = context.scratch((int) HyperLogLog.workBytes(length, context.argumentCount()));
        if (present) {
            Memory.copy(item.valueAddress(), copy, length);
        } else {
            HyperLogLog.create(copy);
            HyperLogLog.outdate(copy);
        }
        long max = context.server().config().hllSparseMaxBytes();
        int changes = present ? 0 : 1;
        boolean corrupt = false;
        for (int i = 2; i < context.argumentCount() && !corrupt; i++) {
            int after = HyperLogLog.add(copy, length, context.argumentAddress(i), context.argumentLength(i), max);
            corrupt = after == HyperLogLog.CORRUPT;
            if (after >= 0) {
                length = after;
                HyperLogLog.outdate(copy);
                changes++;
            }
        }
        if (changes > 0) {
            store(context, key, item, present, copy, length);
            context.session().changed(key, Change.SET);
            if (!corrupt) {
                context.events().emit(KeyEvent.PFADD, key);
                context.countChanges(changes);
            }
        } else {
            makeRaw(context, key, item);
        }
        if (corrupt) {
            context.reply().error(CORRUPT);
        } else {
            context.reply().integer(changes > 0 ? 1 : 0);
        }
    }

    // --- PFCOUNT

    private static void count(CommandContext context) {
        if (context.keyCount() > 1) {
            countAll(context);
            return;
        }
        Key key = context.keyAt(0);
        Item item = context.item();
        Found found = KeyLookup.find(context, key, item, ItemType.STRING);
        if (found == Found.MISSING) {
            context.reply().integer(0);
        } else if (found == Found.PRESENT && isOne(context, item)) {
            makeRaw(context, key, item);
            long estimate = HyperLogLog.keptEstimate(item.valueAddress());
            if (estimate < 0) {
                estimate = HyperLogLog.estimate(item.valueAddress(), item.valueLength());
                if (estimate < 0) {
                    context.reply().error(CORRUPT);
                    return;
                }
                if (!context.server().role().isReplica()) {
                    keep(context, key, item, estimate);
                }
            }
            context.reply().integer(estimate);
        }
    }

    /** Stores the estimate in the value. The value is readable, so this is a change. */
    private static void keep(CommandContext context, Key key, Item item, long estimate) {
        int length = item.valueLength();
        context.session().resize(key, item, Encodings.STRING_RAW, length, length);
        HyperLogLog.keepEstimate(item.valueAddress(), estimate);
        context.session().changed(key, Change.SET);
        context.countChanges(1);
    }

    private static void countAll(CommandContext context) {
        long joined = context.scratch(HyperLogLog.REGISTERS);
        HyperLogLog.clearJoined(joined);
        Item item = context.item();
        for (int i = 0; i < context.keyCount(); i++) {
            if (!join(context, context.keyAt(i), item, joined)) {
                return;
            }
        }
        context.reply().integer(HyperLogLog.joinedEstimate(joined));
    }

    /** Joins the HyperLogLog of a key, if it exists; false after an error was replied. */
    private static boolean join(CommandContext context, Key key, Item item, long joined) {
        Found found = KeyLookup.find(context, key, item, ItemType.STRING);
        return found == Found.MISSING || found == Found.PRESENT && joinFound(context, item, joined);
    }

    private static boolean joinFound(CommandContext context, Item item, long joined) {
        if (!isOne(context, item)) {
            return false;
        }
        if (!HyperLogLog.join(item.valueAddress(), item.valueLength(), joined)) {
            context.reply().error(CORRUPT);
            return false;
        }
        return true;
    }

    // --- PFMERGE

    private static void merge(CommandContext context) {
        Key target = context.keyAt(0);
        Item item = context.item();
        Found found = KeyLookup.find(context, target, item, ItemType.STRING);
        if (found == Found.WRONG_TYPE || found == Found.PRESENT && !isOne(context, item)) {
            return;
        }
        boolean present = found == Found.PRESENT;
        int length = present ? item.valueLength() : HyperLogLog.EMPTY_BYTES;
        long copyBytes = HyperLogLog.workBytes(length, HyperLogLog.REGISTERS);
        long joined = context.scratch((int) (HyperLogLog.REGISTERS + copyBytes));
        HyperLogLog.clearJoined(joined);
        if (present && !joinFound(context, item, joined)) {
            return;
        }
        boolean dense = present && HyperLogLog.isDense(item.valueAddress());
        Item source = context.otherItem();
        for (int i = 1; i < context.keyCount(); i++) {
            Found other = KeyLookup.find(context, context.keyAt(i), source, ItemType.STRING);
            if (other == Found.WRONG_TYPE || other == Found.PRESENT && !joinFound(context, source, joined)) {
                return;
            }
            dense |= other == Found.PRESENT && HyperLogLog.isDense(source.valueAddress());
        }
        long copy = joined + HyperLogLog.REGISTERS;
        if (present) {
            Memory.copy(item.valueAddress(), copy, length);
        } else {
            HyperLogLog.create(copy);
        }
        length = raiseAll(copy, length, joined, dense, context.server().config().hllSparseMaxBytes());
        store(context, target, item, present, copy, length);
        context.session().changed(target, Change.SET);
        context.events().emit(KeyEvent.PFADD, target);
        context.countChanges(1);
        context.reply().ok();
    }

    private static int raiseAll(long copy, int oldLength, long joined, boolean dense, long maxSparseBytes) {
        int length = dense && !HyperLogLog.isDense(copy) ? HyperLogLog.makeDense(copy, oldLength) : oldLength;
        for (int i = 0; i < HyperLogLog.REGISTERS; i++) {
            int value = HyperLogLog.joinedRegister(joined, i);
            int after = value == 0
                    ? HyperLogLog.UNCHANGED
                    : HyperLogLog.raise(copy, length, i, value, maxSparseBytes);
            length = after >= 0 ? after : length;
        }
        HyperLogLog.outdate(copy);
        return length;
    }
}
