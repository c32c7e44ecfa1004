package io.varve.server.command.hyperloglog;

import io.varve.memory.collection.hyperloglog.HyperLogLog;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.value.KeyLookup;
import io.varve.server.command.value.KeyLookup.Found;

import static io.varve.server.command.spec.CommandFlag.ADMIN;
import static io.varve.server.command.spec.CommandFlag.DENYOOM;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/** PFDEBUG: the internals of a HyperLogLog. Immutable: static handlers. */
final class HyperLogLogDebugCommand {
    private HyperLogLogDebugCommand() {}

    static void addTo(CommandTable.Builder table) {
        table.add(HyperLogLogCommands
                .hyperLogLog("pfdebug", 3, "2.8.9", "Internal command that shows the representation of a HyperLogLog")
                .key(2)
                .access("RW access").flags(WRITE, DENYOOM, ADMIN).complexity("O(1)")
                .handler(HyperLogLogDebugCommand::run));
    }

    private static void run(CommandContext context) {
        Key key = context.keyAt(0);
        Item item = context.item();
        Found found = KeyLookup.findForWriting(context, key, item, ItemType.STRING);
        if (found == Found.MISSING) {
            context.reply().error("ERR The specified key does not exist");
            return;
        }
        if (found == Found.WRONG_TYPE || !HyperLogLogCommands.isOne(context, item)) {
            return;
        }
        HyperLogLogCommands.makeRaw(context, key, item);
        boolean dense = HyperLogLog.isDense(item.valueAddress());
        if (context.argumentIs(1, "GETREG")) {
            if (dense || makeDense(context, key, item)) {
                context.reply().array(HyperLogLog.REGISTERS);
                for (int i = 0; i < HyperLogLog.REGISTERS; i++) {
                    context.reply().integer(HyperLogLog.register(item.valueAddress(), i));
                }
            }
        } else if (context.argumentIs(1, "DECODE")) {
            if (dense) {
                context.reply().error("ERR HLL encoding is not sparse");
            } else {
                context.reply().bulkAscii(HyperLogLog.describe(item.valueAddress(), item.valueLength()));
            }
        } else if (context.argumentIs(1, "ENCODING")) {
            context.reply().simple(dense ? "dense" : "sparse");
        } else if (context.argumentIs(1, "TODENSE")) {
            if (dense || makeDense(context, key, item)) {
                context.reply().integer(dense ? 0 : 1);
            }
        } else {
            context.reply().error("ERR Unknown PFDEBUG subcommand '" + context.argumentString(1) + "'");
        }
    }

    private static boolean makeDense(CommandContext context, Key key, Item item) {
        int length = item.valueLength();
        long copy = context.scratch((int) HyperLogLog.workBytes(length, 0));
        Memory.copy(item.valueAddress(), copy, length);
        if (HyperLogLog.makeDense(copy, length) == HyperLogLog.CORRUPT) {
            context.reply().error(HyperLogLogCommands.CORRUPT);
            return false;
        }
        HyperLogLogCommands.store(context, key, item, true, copy, HyperLogLog.DENSE_BYTES);
        context.changedSilently();
        // As in Redis, no event is published: the HyperLogLog is logically unchanged.
        return true;
    }
}
