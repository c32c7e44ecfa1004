package io.varve.server.command.stream.group;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandScratch;

/** Reusable state of group commands. Confined to its event loop; reused from command to command. */
final class Groups {
    private static final CommandScratch<Groups> SCRATCH = CommandScratch.madeBy(Groups::new);

    private final GroupRecords records;
    private final GroupDelivery delivery;
    private final EntryIds claimed;
    private final EntryIds deleted;
    private ByteBuffer nameBuffer = ByteBuffer.allocateDirect(0);
    private long names;

    private Groups(CommandContext context) {
        records = new GroupRecords(context);
        delivery = new GroupDelivery(context, records);
        claimed = new EntryIds(context);
        deleted = new EntryIds(context);
    }

    /** The instance of a context. */
    static Groups of(CommandContext context) {
        return SCRATCH.of(context);
    }

    /** The records of the command's stream. */
    GroupRecords records() {
        return records;
    }

    /** Delivers entries of one stream. */
    GroupDelivery delivery() {
        return delivery;
    }

    /** Entries that a command claims; the user releases them. */
    EntryIds claimed() {
        return claimed;
    }

    /** Pending entries that a command finds deleted; the user releases them. */
    EntryIds deleted() {
        return deleted;
    }

    /** Copies two names, one behind the other, off the heap; returns their address, valid until the next call. */
    long names(byte[] first, byte[] second) {
        int bytes = Math.max(1, first.length + second.length);
        if (bytes > nameBuffer.capacity()) {
            // The garbage collector frees the old memory.
            nameBuffer = ByteBuffer.allocateDirect(2 * bytes);
            names = MemorySegment.ofBuffer(nameBuffer).address();
        }
        Memory.copy(first, 0, names, first.length);
        Memory.copy(second, 0, names + first.length, second.length);
        return names;
    }
}
