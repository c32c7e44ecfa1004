package io.varve.server.command.hyperloglog;

import io.varve.memory.CacheSession;
import io.varve.memory.collection.hyperloglog.HyperLogLog;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandSpec;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Invocation;
import io.varve.server.command.value.Encodings;
import io.varve.server.command.value.KeyLookup;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.events.KeyEvent;

import static io.varve.server.command.CommandFlag.ADMIN;
import static io.varve.server.command.CommandFlag.DENYOOM;
import static io.varve.server.command.CommandFlag.FAST;
import static io.varve.server.command.CommandFlag.READONLY;
import static io.varve.server.command.CommandFlag.WRITE;

/**
 * Commands on HyperLogLogs, which are strings. Immutable: static handlers.
 *
 * @see HyperLogLogDebugCommand
 */
public final class HyperLogLogCommands {
    static final String CORRUPT = "INVALIDOBJ Corrupted HLL object detected";
    private static final String INVALID = "WRONGTYPE Key is not a valid HyperLogLog string value.";
    /** No sparse one is nearly as long, whatever its opcodes: a longer one is not worked on. */
    private static final int MAX_SPARSE_BYTES = 1 << 18;

    private HyperLogLogCommands() {}

    /** Adds the family. */
    public static void addTo(CommandTable.Builder table) {
        table.add(hyperLogLog("pfadd", -2, "2.8.9", "Adds elements to a HyperLogLog").key(1).access("RW insert")
                .flags(WRITE, DENYOOM, FAST).complexity("O(N) in the elements").handler(HyperLogLogCommands::add));
        table.add(hyperLogLog("pfcount", -2, "2.8.9", "Estimates how many different elements HyperLogLogs have seen")
                .keys(1, -1, 1).access("RW access").flags(READONLY).complexity("O(N) in the keys")
                .handler(HyperLogLogCommands::count));
        table.add(hyperLogLog("pfmerge", -2, "2.8.9", "Joins HyperLogLogs in one").keys(1, -1, 1)
                .access("RW access insert", "RO access").flags(WRITE, DENYOOM).allOrNothing()
                .complexity("O(N) in the keys").handler(HyperLogLogCommands::merge));
        HyperLogLogDebugCommand.addTo(table);
        table.add(hyperLogLog("pfselftest", 1, "2.8.9", "Tests the HyperLogLogs of this server").flags(ADMIN)
                .handler(HyperLogLogSelfTest::run));
    }

    static CommandBuilder hyperLogLog(String name, int arity, String since, String summary) {
        return CommandSpec.named(name).arity(arity).categories("@hyperloglog").group("hyperloglog").since(since)
                .summary(summary);
    }

    /** Whether an item is a HyperLogLog; else the error is replied. */
    static boolean isOne(Invocation call, Item item) {
        long address = item.valueAddress();
        int length = item.valueLength();
        if (!HyperLogLog.isOne(address, length)) {
            call.reply().error(INVALID);
            return false;
        }
        if (length > MAX_SPARSE_BYTES) {
            call.reply().error(CORRUPT);
            return false;
        }
        return true;
    }

    /** Makes what was changed in a copy the key's value. */
    static void store(Invocation call, Key key, Item item, boolean present, long copy, int length) {
        CacheSession session = call.session();
        if (present) {
            // A sparse one grows by a few bytes each time.
            int capacity = Math.max(length, Math.min(length + (length >>> 2), HyperLogLog.DENSE_BYTES));
            session.resize(key, item, Encodings.STRING_RAW, length, capacity);
        } else {
            session.put(key, item, ItemType.STRING, Encodings.STRING_RAW, length, length, Item.NEVER);
        }
        Memory.copy(copy, item.valueAddress(), length);
    }

    /** A HyperLogLog that a command was about to change is a raw string from then on, even if nothing has changed. */
    static void makeRaw(Invocation call, Key key, Item item) {
        if (item.encoding() != Encodings.STRING_RAW) {
            call.session().encoding(key, item, Encodings.STRING_RAW);
        }
    }

    // --- PFADD

    private static void add(Invocation call) {
        Key key = call.keyAt(0);
        Item item = call.item();
        Found found = KeyLookup.findForWriting(call, key, item, ItemType.STRING);
        if (found == Found.WRONG_TYPE || found == Found.PRESENT && !isOne(call, item)) {
            return;
        }
        if (found == Found.PRESENT && HyperLogLog.isDense(item.valueAddress())) {
            addToDense(call, key, item);
        } else {
            addToCopy(call, key, item, found == Found.PRESENT);
        }
    }

    private static void addToDense(Invocation call, Key key, Item item) {
        int length = item.valueLength();
        call.session().resize(key, item, Encodings.STRING_RAW, length, length);
        long hll = item.valueAddress();
        int changes = 0;
        for (int i = 2; i < call.argumentCount(); i++) {
            int after = HyperLogLog.add(hll, length, call.argumentAddress(i), call.argumentLength(i), 0);
            changes += after >= 0 ? 1 : 0;
        }
        if (changes > 0) {
            HyperLogLog.outdate(hll);
            call.session().changed(key, Change.SET);
            call.events().tell(KeyEvent.PFADD, key);
            call.countChanges(changes);
        }
        call.reply().integer(changes > 0 ? 1 : 0);
    }

    private static void addToCopy(Invocation call, Key key, Item item, boolean present) {
        int length = present ? item.valueLength() : HyperLogLog.EMPTY_BYTES;
        long copy = call.scratch((int) HyperLogLog.workBytes(length, call.argumentCount()));
        if (present) {
            Memory.copy(item.valueAddress(), copy, length);
        } else {
            HyperLogLog.create(copy);
            HyperLogLog.outdate(copy);
        }
        long most = call.server().config().hllSparseMaxBytes();
        int changes = present ? 0 : 1;
        boolean corrupt = false;
        for (int i = 2; i < call.argumentCount() && !corrupt; i++) {
            int after = HyperLogLog.add(copy, length, call.argumentAddress(i), call.argumentLength(i), most);
            corrupt = after == HyperLogLog.CORRUPT;
            if (after >= 0) {
                length = after;
                HyperLogLog.outdate(copy);
                changes++;
            }
        }
        if (changes > 0) {
            store(call, key, item, present, copy, length);
            call.session().changed(key, Change.SET);
            if (!corrupt) {
                call.events().tell(KeyEvent.PFADD, key);
                call.countChanges(changes);
            }
        } else {
            makeRaw(call, key, item);
        }
        if (corrupt) {
            call.reply().error(CORRUPT);
        } else {
            call.reply().integer(changes > 0 ? 1 : 0);
        }
    }

    // --- PFCOUNT

    private static void count(Invocation call) {
        if (call.keyCount() > 1) {
            countAll(call);
            return;
        }
        Key key = call.keyAt(0);
        Item item = call.item();
        Found found = KeyLookup.find(call, key, item, ItemType.STRING);
        if (found == Found.MISSING) {
            call.reply().integer(0);
        } else if (found == Found.PRESENT && isOne(call, item)) {
            makeRaw(call, key, item);
            long estimate = HyperLogLog.keptEstimate(item.valueAddress());
            if (estimate < 0) {
                estimate = HyperLogLog.estimate(item.valueAddress(), item.valueLength());
                if (estimate < 0) {
                    call.reply().error(CORRUPT);
                    return;
                }
                keep(call, key, item, estimate);
            }
            call.reply().integer(estimate);
        }
    }

    /** The estimate is part of the value, which everybody can read: so this is a change. */
    private static void keep(Invocation call, Key key, Item item, long estimate) {
        int length = item.valueLength();
        call.session().resize(key, item, Encodings.STRING_RAW, length, length);
        HyperLogLog.keepEstimate(item.valueAddress(), estimate);
        call.session().changed(key, Change.SET);
        call.countChanges(1);
    }

    private static void countAll(Invocation call) {
        long joined = call.scratch(HyperLogLog.REGISTERS);
        HyperLogLog.clearJoined(joined);
        Item item = call.item();
        for (int i = 0; i < call.keyCount(); i++) {
            if (!join(call, call.keyAt(i), item, joined)) {
                return;
            }
        }
        call.reply().integer(HyperLogLog.joinedEstimate(joined));
    }

    /** Joins what is under a key, if there is something; false after an error was replied. */
    private static boolean join(Invocation call, Key key, Item item, long joined) {
        Found found = KeyLookup.find(call, key, item, ItemType.STRING);
        return found == Found.MISSING || found == Found.PRESENT && joinFound(call, item, joined);
    }

    private static boolean joinFound(Invocation call, Item item, long joined) {
        if (!isOne(call, item)) {
            return false;
        }
        if (!HyperLogLog.join(item.valueAddress(), item.valueLength(), joined)) {
            call.reply().error(CORRUPT);
            return false;
        }
        return true;
    }

    // --- PFMERGE

    private static void merge(Invocation call) {
        Key target = call.keyAt(0);
        Item item = call.item();
        Found found = KeyLookup.find(call, target, item, ItemType.STRING);
        if (found == Found.WRONG_TYPE || found == Found.PRESENT && !isOne(call, item)) {
            return;
        }
        boolean present = found == Found.PRESENT;
        int length = present ? item.valueLength() : HyperLogLog.EMPTY_BYTES;
        long copyBytes = HyperLogLog.workBytes(length, HyperLogLog.REGISTERS);
        long joined = call.scratch((int) (HyperLogLog.REGISTERS + copyBytes));
        HyperLogLog.clearJoined(joined);
        if (present && !joinFound(call, item, joined)) {
            return;
        }
        boolean dense = present && HyperLogLog.isDense(item.valueAddress());
        Item source = call.otherItem();
        for (int i = 1; i < call.keyCount(); i++) {
            Found other = KeyLookup.find(call, call.keyAt(i), source, ItemType.STRING);
            if (other == Found.WRONG_TYPE || other == Found.PRESENT && !joinFound(call, source, joined)) {
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
        length = raiseAll(copy, length, joined, dense, call.server().config().hllSparseMaxBytes());
        store(call, target, item, present, copy, length);
        call.session().changed(target, Change.SET);
        call.events().tell(KeyEvent.PFADD, target);
        call.countChanges(1);
        call.reply().ok();
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
