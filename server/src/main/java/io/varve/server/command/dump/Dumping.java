package io.varve.server.command.dump;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.item.ValueRun;
import io.varve.server.command.Invocation;
import io.varve.server.command.Workspace;
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

/** How DUMP writes the value of a key. Confined to its event loop; reused from command to command, each of which gives the memory back. */
final class Dumping {
    private static final Workspace<Dumping> WORKSPACE = Workspace.madeBy(_ -> new Dumping());

    /** Shorter payloads are copied into the reply. */
    private static final int COPIED_BYTES = 16 << 10;
    /** What is written beside the bytes of a string: its type, its length, the footer; and what the writer asks for ahead. */
    private static final int MOST_ROUND_STRING_BYTES = 512;

    private final WorkMemory memory = new WorkMemory();
    private @Nullable Invocation call;
    private final PayloadWriter writer = new PayloadWriter(this::require);

    /** That of an invocation. */
    static Dumping of(Invocation call) {
        return WORKSPACE.of(call);
    }

    private long require(long bytes) {
        memory.require(java.util.Objects.requireNonNull(call).cache(), bytes);
        return memory.address();
    }

    /** Replies the payload of a found item. */
    void reply(Invocation command, Key key, Item item) {
        call = command;
        try {
            write(command, key, item);
        } catch (CacheFullException full) {
            // Room is made for all that it has needed, for it begins anew.
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

    private void write(Invocation command, Key key, Item item) {
        long expected = item.type() == ItemType.STRING
                ? item.valueLength() + (long) MOST_ROUND_STRING_BYTES
                : (item.isTree() ? command.session().memoryUsage(item) : item.valueLength()) * 5L / 4;
        if (expected > COPIED_BYTES) {
            // At once, so that it is refused at once, and then made room for.
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
            case STREAM -> throw new IllegalStateException("There are no streams");
        }
    }

    void release() {
        memory.release();
        call = null;
    }

    private void writeList(Invocation command, Key key) {
        ListValue list = Lists.of(command).first();
        list.find(key);
        writer.list();
        list.seek(0);
        do {
            writer.element(list.elementAddress(), list.elementLength());
        } while (list.next());
        writer.endElements();
    }

    private void writeSet(Invocation command, Key key) {
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

    private void writeSortedSet(Invocation command, Key key) {
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

    /** In one form whatever its size, which does not ask for an order. */
    private void writeTimedHash(HashValue hash, long earliest) {
        writer.timedHash(hash.size(), earliest);
        for (boolean more = hash.first(); more; more = hash.next()) {
            writer.time(hash.time());
            writer.text(hash.fieldAddress(), hash.fieldLength());
            writer.text(hash.valueAddress(), hash.valueLength());
        }
    }

    private void writeHash(Invocation command, Key key) {
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
