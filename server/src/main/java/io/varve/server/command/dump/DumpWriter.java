package io.varve.server.command.dump;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.item.ValueRun;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandScratch;
import io.varve.server.command.hash.HashValue;
import io.varve.server.command.list.ListValue;
import io.varve.server.command.list.Lists;
import io.varve.server.command.set.SetValue;
import io.varve.server.command.set.Sets;
import io.varve.server.command.sortedset.SortedSetValue;
import io.varve.server.command.sortedset.SortedSets;
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
        context = command;
        try {
            write(command, key, item);
        } catch (CacheFullException full) {
            // The retry starts from the beginning, so it needs all memory that this attempt has used.
            throw full.inAll(full.bytes() + memory.heldBytes());
        }
        int length = writer.end();
        ValueRun run = memory.run();
        if (run == null || length <= COPIED_BYTES) {
            command.reply().bulk(memory.address(), length);
        } else {
            command.reply().bigBulk(run, memory.address(), length);
        }
    }

    private void write(CommandContext command, Key key, Item item) {
        long expected = item.type() == ItemType.STRING
                ? item.valueLength() + (long) MAX_ROUND_STRING_BYTES
                : (item.isTree() ? command.session().memoryUsage(item) : item.valueLength()) * 5L / 4;
        if (expected > COPIED_BYTES) {
            // Reserved in one step, so that a shortage shows at once and memory is freed for the retry.
            require(expected);
        }
        switch (item.type()) {
            case STRING -> {
                command.session().find(key, item);
                writer.string();
                writer.text(item.valueAddress(), item.valueLength());
            }
            case LIST -> writeList(command, key);
            case SET -> writeSet(command, key);
            case SORTED_SET -> writeSortedSet(command, key);
            case HASH -> writeHash(command, key);
            case STREAM -> throw new IllegalStateException("Streams are not supported");
        }
    }

    void release() {
        memory.release();
        context = null;
    }

    private void writeList(CommandContext command, Key key) {
        ListValue list = Lists.of(command).first();
        list.find(key);
        writer.list();
        list.seek(0);
        do {
            writer.element(list.elementAddress(), list.elementLength());
        } while (list.next());
        writer.endElements();
    }

    private void writeSet(CommandContext command, Key key) {
        SetValue set = Sets.of(command).first();
        set.open(command, key);
        if (set.hasIntegers()) {
            int count = Math.toIntExact(set.size());
            set.seek(count - 1L);
            long greatest = set.number();
            set.first();
            writer.integers(count, set.number(), greatest);
            for (boolean more = set.first(); more; more = set.next()) {
                writer.integer(set.number());
            }
            return;
        }
        writer.set(set.size());
        for (boolean more = set.first(); more; more = set.next()) {
            writer.text(set.memberAddress(), set.memberLength());
        }
    }

    private void writeSortedSet(CommandContext command, Key key) {
        SortedSetValue set = SortedSets.of(command).set();
        set.open(command, key);
        boolean packed = set.isListpack();
        if (packed) {
            writer.packedSortedSet();
            writer.beginPacked();
        } else {
            writer.sortedSet(set.size());
        }
        for (boolean more = set.seek(0); more; more = set.next()) {
            if (packed) {
                writer.entry(set.memberAddress(), set.memberLength());
                writer.scoreEntry(set.score());
            } else {
                writer.text(set.memberAddress(), set.memberLength());
                writer.score(set.score());
            }
        }
        if (packed) {
            writer.endPacked();
        }
    }

    /** Uses one format for every size, because it requires no order of the fields. */
    private void writeTimedHash(HashValue hash, long earliest) {
        writer.timedHash(hash.size(), earliest);
        for (boolean more = hash.first(); more; more = hash.next()) {
            writer.time(hash.time());
            writer.text(hash.fieldAddress(), hash.fieldLength());
            writer.text(hash.valueAddress(), hash.valueLength());
        }
    }

    private void writeHash(CommandContext command, Key key) {
        HashValue hash = HashValue.of(command);
        hash.open(key);
        long earliest = hash.earliestTime();
        if (earliest != Item.NEVER) {
            writeTimedHash(hash, earliest);
            return;
        }
        boolean packed = hash.isListpack();
        if (packed) {
            writer.packedHash();
            writer.beginPacked();
        } else {
            writer.hash(hash.size());
        }
        for (boolean more = hash.first(); more; more = hash.next()) {
            if (packed) {
                writer.entry(hash.fieldAddress(), hash.fieldLength());
                writer.entry(hash.valueAddress(), hash.valueLength());
            } else {
                writer.text(hash.fieldAddress(), hash.fieldLength());
                writer.text(hash.valueAddress(), hash.valueLength());
            }
        }
        if (packed) {
            writer.endPacked();
        }
    }
}
