package io.varve.server.command.bitmap;

import io.varve.memory.CacheSession;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.command.value.Encodings;
import io.varve.server.command.value.KeyLookup;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.command.value.Operands;
import io.varve.server.events.KeyEvent;

import static io.varve.server.command.bitmap.BitmapCommands.bitmap;
import static io.varve.server.command.spec.CommandFlag.DENYOOM;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/**
 * BITOP: bitwise operations on several strings. Immutable: static handlers.
 *
 * <p>The result is computed piece by piece in scratch memory. Each piece is written only after that part of all strings
 * was read, so the target may be one of the operands.
 */
final class BitOperationCommand {
    private static final int PIECE_BYTES = 4096;

    /** The operations on two bits, or on one. */
    private enum Operation {
        AND, OR, XOR, NOT
    }

    private BitOperationCommand() {}

    static void addTo(CommandTable.Builder table) {
        table.add(bitmap("bitop", -4, "2.6.0", "Performs a bitwise operation on strings and stores the result")
                .keys(2, -1, 1).access("OW update", "RO access").flags(WRITE, DENYOOM)
                .traits(CommandTrait.ALL_OR_NOTHING)
                .complexity("O(N) where N is the number of bytes")
                .handler(Operands.releasing(BitOperationCommand::run)));
    }

    private static void run(CommandContext context) {
        Operation operation = operation(context);
        if (operation == null) {
            context.syntaxError();
            return;
        }
        if (operation == Operation.NOT && context.argumentCount() != 4) {
            context.reply().error("ERR BITOP NOT must be called with a single source key.");
            return;
        }
        Operands operands = Operands.of(context);
        operands.clear(context.cache(), context.keyCount());
        Item item = context.item();
        int length = 0;
        for (int i = 1; i < context.keyCount(); i++) {
            Found found = KeyLookup.find(context, context.keyAt(i), item, ItemType.STRING);
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
            if (context.session().delete(context.keyAt(0))) {
                context.events().emit(KeyEvent.DEL, context.keyAt(0));
                context.countChanges(1);
            }
        } else {
            store(context, operation, operands, length);
        }
        context.reply().integer(length);
    }

    private static @org.jspecify.annotations.Nullable Operation operation(CommandContext context) {
        for (Operation each : Operation.values()) {
            if (context.argumentIs(1, each.name())) {
                return each;
            }
        }
        return null;
    }

    private static void store(CommandContext context, Operation operation, Operands operands, int length) {
        CacheSession session = context.session();
        Key target = context.keyAt(0);
        Item item = context.item();
        boolean isOperand = session.findForWriting(target, item) && operands.have(item.valueAddress());
        if (isOperand) {
            long before = item.valueAddress();
            session.resize(target, item, Encodings.STRING_RAW, length, length);
            operands.moved(before, item.valueAddress());
        } else {
            session.put(target, item, ItemType.STRING, Encodings.STRING_RAW, length, length, Item.NEVER);
        }
        long piece = context.scratch(PIECE_BYTES);
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
        context.events().emit(KeyEvent.SET, target);
        context.countChanges(1);
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
                case NOT -> throw new IllegalStateException("NOT takes one operand");
            }
        }
    }

    private static void invert(long piece, int bytes) {
        // The piece has space for whole words.
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
