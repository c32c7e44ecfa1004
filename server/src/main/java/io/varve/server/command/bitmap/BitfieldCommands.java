package io.varve.server.command.bitmap;

import java.util.List;

import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.command.Arguments;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Invocation;
import io.varve.server.command.bitmap.BitfieldOperation.Kind;
import io.varve.server.command.value.KeyLookup;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.events.KeyEvent;

import static io.varve.server.command.CommandFlag.DENYOOM;
import static io.varve.server.command.CommandFlag.FAST;
import static io.varve.server.command.CommandFlag.READONLY;
import static io.varve.server.command.CommandFlag.WRITE;
import static io.varve.server.command.bitmap.BitmapCommands.bitmap;

/** BITFIELD and BITFIELD_RO: integers of any width in a string. Immutable: static handlers. */
final class BitfieldCommands {
    private BitfieldCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(bitmap("bitfield", -2, "3.2.0", "Reads and changes integers of any width in a string").key(1)
                .access("RW access update variable_flags").narrowedAccess(BitfieldCommands::useOf)
                .flags(WRITE, DENYOOM).complexity("O(1) for each operation")
                .handler(call -> run(call, false)));
        table.add(bitmap("bitfield_ro", -2, "6.0.0", "Reads integers of any width in a string").key(1)
                .access("RO access").flags(READONLY, FAST).complexity("O(1) for each operation")
                .handler(call -> run(call, true)));
    }

    /** What is done to the key: it is only read if all operations do. */
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

    private static void run(Invocation call, boolean readOnly) {
        int operations = 0;
        boolean writes = false;
        long lastWritten = 0;
        BitfieldOperation checked = new BitfieldOperation(call);
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
            call.reply().error("ERR BITFIELD_RO only supports the GET subcommand");
            return;
        }
        Key key = call.keyAt(0);
        Item item = call.item();
        Found found = writes
                ? KeyLookup.findForWriting(call, key, item, ItemType.STRING)
                : KeyLookup.find(call, key, item, ItemType.STRING);
        if (found == Found.WRONG_TYPE) {
            return;
        }
        boolean longer = writes && BitmapCommands.extend(call, key, item, found, (int) (lastWritten >>> 3) + 1);
        boolean present = writes || found == Found.PRESENT;
        runAll(call, operations, present ? item.valueAddress() : 0, present ? item.valueLength() : 0, longer);
    }

    private static void runAll(Invocation call, int operations, long string, int length, boolean longer) {
        call.reply().array(operations);
        BitfieldOperation operation = new BitfieldOperation(call);
        long changes = 0;
        while (operation.read()) {
            changes += operation.run(string, length, longer) ? 1 : 0;
        }
        if (changes > 0) {
            call.session().changed(call.keyAt(0), Change.SET);
            call.events().tell(KeyEvent.SETBIT, call.keyAt(0));
            call.countChanges(changes);
        }
    }
}
