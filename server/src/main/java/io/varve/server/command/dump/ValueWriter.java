package io.varve.server.command.dump;

import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.server.command.CommandContext;
import io.varve.server.command.hash.HashValue;
import io.varve.server.command.list.ListValue;
import io.varve.server.command.list.Lists;
import io.varve.server.command.set.SetValue;
import io.varve.server.command.set.Sets;
import io.varve.server.command.sortedset.SortedSetValue;
import io.varve.server.command.sortedset.SortedSets;
import io.varve.server.rdb.PayloadWriter;

/**
 * Writes the value of a found item in Redis's serialization, for DUMP and for snapshots. Immutable: static methods
 * only. The caller holds the lock of the item's shard.
 */
public final class ValueWriter {
    /**
     * Larger lists are written to files in the old form, element by element. The new one, in which DUMP writes all
     * lists, begins with a count that is known at the end: a list of gigabytes would have to be in memory twice.
     */
    private static final long MAX_PACKED_FILE_LIST_BYTES = 256 << 10;

    private ValueWriter() {}

    /** Writes the value under the key. The lookup counts as a hit. */
    public static void write(CommandContext command, Key key, Item item, PayloadWriter writer) {
        switch (item.type()) {
            case STRING -> {
                command.session().find(key, item);
                writer.string();
                writer.text(item.valueAddress(), item.valueLength());
            }
            case LIST -> writeList(command, key, item, writer);
            case SET -> writeSet(command, key, writer);
            case SORTED_SET -> writeSortedSet(command, key, writer);
            case HASH -> writeHash(command, key, writer);
            case STREAM -> StreamWriter.of(command).write(command, key, item, writer);
        }
    }

    private static void writeList(CommandContext command, Key key, Item item, PayloadWriter writer) {
        boolean isLarge = item.isTree() && command.session().memoryUsage(item) > MAX_PACKED_FILE_LIST_BYTES;
        ListValue list = Lists.of(command).first();
        list.find(key);
        if (writer.isFile() && isLarge) {
            writer.plainList(list.length());
            list.seek(0);
            do {
                writer.text(list.elementAddress(), list.elementLength());
            } while (list.next());
            return;
        }
        writer.list();
        list.seek(0);
        do {
            writer.element(list.elementAddress(), list.elementLength());
        } while (list.next());
        writer.endElements();
    }

    private static void writeSet(CommandContext command, Key key, PayloadWriter writer) {
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

    private static void writeSortedSet(CommandContext command, Key key, PayloadWriter writer) {
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
    private static void writeTimedHash(HashValue hash, long earliest, PayloadWriter writer) {
        writer.timedHash(hash.size(), earliest);
        for (boolean more = hash.first(); more; more = hash.next()) {
            writer.time(hash.time());
            writer.text(hash.fieldAddress(), hash.fieldLength());
            writer.text(hash.valueAddress(), hash.valueLength());
        }
    }

    private static void writeHash(CommandContext command, Key key, PayloadWriter writer) {
        HashValue hash = HashValue.of(command);
        hash.open(key);
        long earliest = hash.earliestTime();
        if (earliest != Item.NEVER) {
            writeTimedHash(hash, earliest, writer);
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
