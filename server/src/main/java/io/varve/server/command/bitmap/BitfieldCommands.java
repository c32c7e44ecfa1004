package io.varve.server.command.bitmap;

import java.util.List;

import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.bitmap.BitfieldOperation.Kind;
import io.varve.server.command.spec.Arguments;
import io.varve.server.command.value.KeyLookup;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.events.KeyEvent;

import static io.varve.server.command.bitmap.BitmapCommands.bitmap;
import static io.varve.server.command.spec.CommandFlag.DENYOOM;
import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.READONLY;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/** BITFIELD and BITFIELD_RO: integers of any width in a string. Immutable: static handlers. */
final class BitfieldCommands {
    private BitfieldCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(bitmap("bitfield", -2, "3.2.0", "Reads and writes integers of any width in a string").key(1)
                .access("RW access update variable_flags").narrowedAccess(BitfieldCommands::useOf)
                .flags(WRITE, DENYOOM).complexity("O(1) for each operation")
                .handler(context -> run(context, false)));
        table.add(bitmap("bitfield_ro", -2, "6.0.0", "Reads integers of any width in a string").key(1)
                .access("RO access").flags(READONLY, FAST).complexity("O(1) for each operation")
                .handler(context -> run(context, true)));
    }

    /** The use of the key: read-only if all operations only read. */
    private static List<String> useOf(Arguments arguments) {
        int count = arguments.argumentCount();
        for (int i = 2; i < count; i++) {
            if (i + 2 < count && arguments.argumentIs(i, "GET")) {
                i += 2;
            } else if (i + 1 < count && arguments.argumentIs(i, "OVERFLOW")) {
                i++;
            } else {
                return List.of("RW", "access", "update");
            }
        }
        return List.of("RO", "access");
    }

    private static void run(CommandContext context, boolean readOnly) {
        int operations = 0;
        boolean writes = false;
        long lastWritten = 0;
        BitfieldOperation checked = new BitfieldOperation(context);
        while (checked.read()) {
            operations++;
            if (checked.kind() != Kind.GET) {
                writes = true;
                lastWritten = Math.max(lastWritten, checked.lastBit());
            }
        }
        if (checked.hasFailed()) {
            return;
        }
        if (writes && readOnly) {
            context.reply().error("ERR BITFIELD_RO only supports the GET subcommand");
            return;
        }
        Key key = context.keyAt(0);
        Item item = context.item();
        Found found = writes
                ? KeyLookup.findForWriting(context, key, item, ItemType.STRING)
                : KeyLookup.find(context, key, item, ItemType.STRING);
        if (found == Found.WRONG_TYPE) {
            return;
        }
        boolean longer = writes && BitmapCommands.extend(context, key, item, found, (int) (lastWritten >>> 3) + 1);
        boolean present = writes || found == Found.PRESENT;
        runAll(context, operations, present ? item.valueAddress() : 0, present ? item.valueLength() : 0, longer);
    }

    private static void runAll(CommandContext context, int operations, long string, int length, boolean longer) {
        context.reply().array(operations);
        BitfieldOperation operation = new BitfieldOperation(context);
        long changes = 0;
        while (operation.read()) {
            changes += operation.run(string, length, longer) ? 1 : 0;
        }
        if (changes == 0 && longer) {
            // No field was written, and the string has zeros more.
            context.changedSilently();
        }
        if (changes > 0) {
            context.session().changed(context.keyAt(0), Change.SET);
            context.events().emit(KeyEvent.SETBIT, context.keyAt(0));
            context.countChanges(changes);
        }
    }
}
