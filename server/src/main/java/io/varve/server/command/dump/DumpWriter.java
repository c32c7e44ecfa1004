package io.varve.server.command.dump;

import java.lang.foreign.MemorySegment;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandScratch;
import io.varve.server.command.HeapReservation;
import io.varve.server.command.value.WorkMemory;
import io.varve.server.rdb.PayloadWriter;
import org.jspecify.annotations.Nullable;

/**
 * Writes the DUMP payload of a value. Confined to its event loop; reused from command to command, each of which
 * releases the memory.
 */
final class DumpWriter {
    private static final CommandScratch<DumpWriter> SCRATCH = CommandScratch.madeBy(_ -> new DumpWriter());

    /** Payloads up to this size are copied into the reply. */
    private static final int COPIED_BYTES = 16 << 10;
    /**
     * Payload bytes beside those of a string: its type, its length, the footer, and the space the writer requests
     * ahead.
     */
    private static final int MAX_ROUND_STRING_BYTES = 512;

    private final WorkMemory memory = new WorkMemory();
    private @Nullable CommandContext context;
    private final PayloadWriter writer = new PayloadWriter(this::require);

    /** The instance of a context. */
    static DumpWriter of(CommandContext context) {
        return SCRATCH.of(context);
    }

    private long require(long bytes) {
        memory.require(java.util.Objects.requireNonNull(context).cache(), bytes);
        return memory.address();
    }

    /** Replies the payload of a found item. */
    void reply(CommandContext command, Key key, Item item) {
        int length = encode(command, key, item);
        ValueRun run = memory.run();
        if (run == null || length <= COPIED_BYTES) {
            command.reply().bulk(memory.address(), length);
        } else {
            command.reply().bigBulk(run, memory.address(), length);
        }
    }

    /** The payload of a found item on the heap; null if the reservation is refused. */
    byte @Nullable [] bytes(CommandContext command, Key key, Item item, HeapReservation reservation) {
        int length = encode(command, key, item);
        return reservation.tryReserve(length) ? Memory.toArray(memory.address(), length) : null;
    }

    /** Whether a found item has this payload. */
    boolean matches(CommandContext command, Key key, Item item, byte[] payload) {
        int length = encode(command, key, item);
        return length == payload.length
                && MemorySegment.ofArray(payload).mismatch(Memory.all().asSlice(memory.address(), length)) < 0;
    }

    /** Writes the payload of a found item into the memory of this writer. @return its length */
    int encode(CommandContext command, Key key, Item item) {
        context = command;
        try {
            write(command, key, item);
        } catch (CacheFullException full) {
            // The retry starts from the beginning, so it needs all memory that this attempt has used.
            throw full.inAll(full.bytes() + memory.heldBytes());
        }
        return writer.end();
    }

    private void write(CommandContext command, Key key, Item item) {
        long expected = item.type() == ItemType.STRING
                ? item.valueLength() + (long) MAX_ROUND_STRING_BYTES
                : (item.isTree() ? command.session().memoryUsage(item) : item.valueLength()) * 5L / 4;
        if (expected > COPIED_BYTES) {
            // Reserved in one step, so that a shortage shows at once and memory is freed for the retry.
            require(expected);
        }
        ValueWriter.write(command, key, item, writer);
    }

    /** Where the payload is. */
    long address() {
        return memory.address();
    }

    void release() {
        memory.release();
        context = null;
    }
}
