package io.varve.server.command.bitmap;

import io.varve.memory.CacheSession;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Invocation;
import io.varve.server.command.value.Encodings;
import io.varve.server.command.value.KeyLookup;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.command.value.Operands;
import io.varve.server.events.KeyEvent;

import static io.varve.server.command.CommandFlag.DENYOOM;
import static io.varve.server.command.CommandFlag.WRITE;
import static io.varve.server.command.bitmap.BitmapCommands.bitmap;

/**
 * BITOP: the bits of several strings, one by one. Immutable: static handlers.
 *
 * <p>The result is made piece by piece in scratch memory, and each piece is written once all strings were read so far:
 * so the target may be one of them.
 */
final class BitOperationCommand {
    private static final int PIECE_BYTES = 4096;

    /** What is done with two bits, or with one. */
    private enum Operation {
        AND, OR, XOR, NOT
    }

    private BitOperationCommand() {}

    static void addTo(CommandTable.Builder table) {
        table.add(bitmap("bitop", -4, "2.6.0", "Stores what an operation makes of the bits of several strings")
                .keys(2, -1, 1).access("OW update", "RO access").flags(WRITE, DENYOOM).allOrNothing()
                .complexity("O(N) in the bytes").handler(Operands.releasing(BitOperationCommand::run)));
    }

    private static void run(Invocation call) {
        Operation operation = operation(call);
        if (operation == null) {
            call.syntaxError();
            return;
        }
        if (operation == Operation.NOT && call.argumentCount() != 4) {
            call.reply().error("ERR BITOP NOT must be called with a single source key.");
            return;
        }
        Operands operands = Operands.of(call);
        operands.clear(call.cache(), call.keyCount());
        Item item = call.item();
        int length = 0;
        for (int i = 1; i < call.keyCount(); i++) {
            Found found = KeyLookup.find(call, call.keyAt(i), item, ItemType.STRING);
            if (found == Found.WRONG_TYPE) {
                return;
            }
            if (found == Found.PRESENT) {
                operands.add(item.valueAddress(), item.valueLength(), 0);
                length = Math.max(length, item.valueLength());
            } else {
                operands.add(0, 0, 0);
            }
        }
        if (length == 0) {
            if (call.session().delete(call.keyAt(0))) {
                call.events().tell(KeyEvent.DEL, call.keyAt(0));
                call.countChanges(1);
            }
        } else {
            store(call, operation, operands, length);
        }
        call.reply().integer(length);
    }

    private static @org.jspecify.annotations.Nullable Operation operation(Invocation call) {
        for (Operation each : Operation.values()) {
            if (call.argumentIs(1, each.name())) {
                return each;
            }
        }
        return null;
    }

    private static void store(Invocation call, Operation operation, Operands operands, int length) {
        CacheSession session = call.session();
        Key target = call.keyAt(0);
        Item item = call.item();
        boolean isOperand = session.findForWriting(target, item) && operands.have(item.valueAddress());
        if (isOperand) {
            long before = item.valueAddress();
            session.resize(target, item, Encodings.STRING_RAW, length, length);
            operands.moved(before, item.valueAddress());
        } else {
            session.put(target, item, ItemType.STRING, Encodings.STRING_RAW, length, length, Item.NEVER);
        }
        long piece = call.scratch(PIECE_BYTES);
        long result = item.valueAddress();
        for (int at = 0; at < length; at += PIECE_BYTES) {
            int bytes = Math.min(PIECE_BYTES, length - at);
            combine(operation, operands, at, bytes, piece);
            Memory.copy(piece, result + at, bytes);
        }
        if (isOperand && item.expires()) {
            session.expire(target, item, Item.NEVER);
        }
        session.changed(target, Change.SET);
        call.events().tell(KeyEvent.SET, target);
        call.countChanges(1);
    }

    private static void combine(Operation operation, Operands operands, int at, int bytes, long piece) {
        int copied = Math.clamp((long) operands.length(0) - at, 0, bytes);
        if (copied > 0) {
            Memory.copy(operands.address(0) + at, piece, copied);
        }
        Memory.fill(piece + copied, (long) bytes - copied, (byte) 0);
        if (operation == Operation.NOT) {
            invert(piece, bytes);
        }
        for (int i = 1; i < operands.count(); i++) {
            int shared = Math.clamp((long) operands.length(i) - at, 0, bytes);
            long operand = operands.address(i) + at;
            switch (operation) {
                case AND -> {
                    and(piece, operand, shared);
                    Memory.fill(piece + shared, (long) bytes - shared, (byte) 0);
                }
                case OR -> or(piece, operand, shared);
                case XOR -> xor(piece, operand, shared);
                case NOT -> throw new IllegalStateException("NOT has one operand");
            }
        }
    }

    private static void invert(long piece, int bytes) {
        // The piece has room for whole words.
        for (int i = 0; i < bytes; i += Long.BYTES) {
            Memory.putLong(piece + i, ~Memory.getLong(piece + i));
        }
    }

    private static void and(long piece, long operand, int bytes) {
        int i = 0;
        for (; i <= bytes - Long.BYTES; i += Long.BYTES) {
            Memory.putLong(piece + i, Memory.getLong(piece + i) & Memory.getLong(operand + i));
        }
        for (; i < bytes; i++) {
            Memory.putByte(piece + i, (byte) (Memory.getByte(piece + i) & Memory.getByte(operand + i)));
        }
    }

    private static void or(long piece, long operand, int bytes) {
        int i = 0;
        for (; i <= bytes - Long.BYTES; i += Long.BYTES) {
            Memory.putLong(piece + i, Memory.getLong(piece + i) | Memory.getLong(operand + i));
        }
        for (; i < bytes; i++) {
            Memory.putByte(piece + i, (byte) (Memory.getByte(piece + i) | Memory.getByte(operand + i)));
        }
    }

    private static void xor(long piece, long operand, int bytes) {
        int i = 0;
        for (; i <= bytes - Long.BYTES; i += Long.BYTES) {
            Memory.putLong(piece + i, Memory.getLong(piece + i) ^ Memory.getLong(operand + i));
        }
        for (; i < bytes; i++) {
            Memory.putByte(piece + i, (byte) (Memory.getByte(piece + i) ^ Memory.getByte(operand + i)));
        }
    }
}
