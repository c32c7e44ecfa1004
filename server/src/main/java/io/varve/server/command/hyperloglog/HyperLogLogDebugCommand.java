package io.varve.server.command.hyperloglog;

import io.varve.memory.collection.hyperloglog.HyperLogLog;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Invocation;
import io.varve.server.command.value.KeyLookup;
import io.varve.server.command.value.KeyLookup.Found;

import static io.varve.server.command.CommandFlag.ADMIN;
import static io.varve.server.command.CommandFlag.DENYOOM;
import static io.varve.server.command.CommandFlag.WRITE;

/** PFDEBUG: what a HyperLogLog looks like. Immutable: static handlers. */
final class HyperLogLogDebugCommand {
    private HyperLogLogDebugCommand() {}

    static void addTo(CommandTable.Builder table) {
        table.add(HyperLogLogCommands.hyperLogLog("pfdebug", 3, "2.8.9", "Shows what a HyperLogLog looks like").key(2)
                .access("RW access").flags(WRITE, DENYOOM, ADMIN).complexity("O(1) in the elements")
                .handler(HyperLogLogDebugCommand::run));
    }

    private static void run(Invocation call) {
        Key key = call.keyAt(0);
        Item item = call.item();
        Found found = KeyLookup.findForWriting(call, key, item, ItemType.STRING);
        if (found == Found.MISSING) {
            call.reply().error("ERR The specified key does not exist");
            return;
        }
        if (found == Found.WRONG_TYPE || !HyperLogLogCommands.isOne(call, item)) {
            return;
        }
        HyperLogLogCommands.makeRaw(call, key, item);
        boolean dense = HyperLogLog.isDense(item.valueAddress());
        if (call.argumentIs(1, "GETREG")) {
            if (dense || makeDense(call, key, item)) {
                call.reply().array(HyperLogLog.REGISTERS);
                for (int i = 0; i < HyperLogLog.REGISTERS; i++) {
                    call.reply().integer(HyperLogLog.register(item.valueAddress(), i));
                }
            }
        } else if (call.argumentIs(1, "DECODE")) {
            if (dense) {
                call.reply().error("ERR HLL encoding is not sparse");
            } else {
                call.reply().bulkAscii(HyperLogLog.describe(item.valueAddress(), item.valueLength()));
            }
        } else if (call.argumentIs(1, "ENCODING")) {
            call.reply().simple(dense ? "dense" : "sparse");
        } else if (call.argumentIs(1, "TODENSE")) {
            if (dense || makeDense(call, key, item)) {
                call.reply().integer(dense ? 0 : 1);
            }
        } else {
            call.reply().error("ERR Unknown PFDEBUG subcommand '" + call.argumentString(1) + "'");
        }
    }

    private static boolean makeDense(Invocation call, Key key, Item item) {
        int length = item.valueLength();
        long copy = call.scratch((int) HyperLogLog.workBytes(length, 0));
        Memory.copy(item.valueAddress(), copy, length);
        if (HyperLogLog.makeDense(copy, length) == HyperLogLog.CORRUPT) {
            call.reply().error(HyperLogLogCommands.CORRUPT);
            return false;
        }
        HyperLogLogCommands.store(call, key, item, true, copy, HyperLogLog.DENSE_BYTES);
        // As in Redis nobody is told: it is the same HyperLogLog.
        return true;
    }
}
