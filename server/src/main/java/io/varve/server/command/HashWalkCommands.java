package io.varve.server.command;

import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;

import io.varve.memory.collection.PackedHash;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.server.command.KeyLookup.Found;
import io.varve.server.resp.ReplyWriter;

import static io.varve.server.command.CommandFlag.READONLY;
import static io.varve.server.command.HashCommands.hash;

/** Commands that answer many fields of a hash at a time, all, some, or random ones. Immutable: static handlers. */
final class HashWalkCommands {
    private static final int FIELDS = 1;
    private static final int VALUES = 1 << 1;
    /** The addresses of so many entries may be noted on the heap. */
    private static final int MAX_TABLE = 1 << 13;

    private HashWalkCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(hash("hgetall", 2, "2.0.0", "Answers all fields and values of a hash").access("RO access")
                .flags(READONLY)
                .tips("nondeterministic_output_order").complexity("O(N) in the fields")
                .handler(HashWalkCommands::getall));
        table.add(hash("hkeys", 2, "2.0.0", "Answers all fields of a hash").access("RO access").flags(READONLY)
                .tips("nondeterministic_output_order").complexity("O(N) in the fields")
                .handler(call -> list(call, FIELDS)));
        table.add(hash("hvals", 2, "2.0.0", "Answers all values of a hash").access("RO access").flags(READONLY)
                .tips("nondeterministic_output_order").complexity("O(N) in the fields")
                .handler(call -> list(call, VALUES)));
        table.add(hash("hscan", -3, "2.8.0", "Walks over the fields of a hash, some at a time").access("RO access")
                .flags(READONLY)
                .tips("nondeterministic_output").complexity("O(1) a call").handler(HashWalkCommands::scan));
        table.add(hash("hrandfield", -2, "6.2.0", "Answers fields of a hash picked at random").access("RO access")
                .flags(READONLY)
                .tips("nondeterministic_output").complexity("O(N) in the answer")
                .handler(HashWalkCommands::randfield));
    }

    private static void getall(Invocation call) {
        Item item = call.item();
        Found found = KeyLookup.find(call, call.keyAt(0), item, ItemType.HASH);
        if (found != Found.WRONG_TYPE) {
            call.reply().map(found == Found.PRESENT ? PackedHash.count(item.valueAddress()) : 0);
            replyAll(call.reply(), item, found, FIELDS | VALUES);
        }
    }

    private static void list(Invocation call, int what) {
        Item item = call.item();
        Found found = KeyLookup.find(call, call.keyAt(0), item, ItemType.HASH);
        if (found != Found.WRONG_TYPE) {
            call.reply().array(found == Found.PRESENT ? PackedHash.count(item.valueAddress()) : 0);
            replyAll(call.reply(), item, found, what);
        }
    }

    private static void replyAll(ReplyWriter reply, Item item, Found found, int what) {
        if (found != Found.PRESENT) {
            return;
        }
        long hash = item.valueAddress();
        int length = item.valueLength();
        for (long entry = PackedHash.first(hash, length); entry != PackedHash.NONE; entry = PackedHash.next(hash,
                length, entry)) {
            reply(reply, entry, what);
        }
    }

    private static void reply(ReplyWriter reply, long entry, int what) {
        if ((what & FIELDS) != 0) {
            reply.bulk(PackedHash.fieldAddress(entry), PackedHash.fieldLength(entry));
        }
        if ((what & VALUES) != 0) {
            reply.bulk(PackedHash.valueAddress(entry), PackedHash.valueLength(entry));
        }
    }

    /**
     * HSCAN. A hash that Redis would hold as a listpack is answered whole, as Redis does. A larger one is walked from its
     * end to its beginning, and the cursor is how many entries are left in front: a deletion moves what is left only
     * towards the beginning and new fields come at the end, so nothing that stays is passed over.
     */
    private static void scan(Invocation call) {
        ScanCursor cursor = ScanCursor.read(call, 2);
        if (cursor == null) {
            return;
        }
        Item item = call.item();
        Found found = KeyLookup.find(call, call.keyAt(0), item, ItemType.HASH);
        if (found == Found.WRONG_TYPE) {
            return;
        }
        ReplyWriter reply = call.reply();
        if (found == Found.MISSING) {
            reply.array(2);
            reply.bulkAscii("0");
            reply.array(0);
            return;
        }
        if (!cursor.readOptions(call, 3, false)) {
            return;
        }
        long hash = item.valueAddress();
        int length = item.valueLength();
        int fields = PackedHash.count(hash);
        int to = fields;
        int from = 0;
        if (item.encoding() == Encodings.HASH_HASHTABLE) {
            boolean starts = cursor.position() <= 0 || cursor.position() > fields;
            to = starts ? fields : (int) cursor.position();
            from = Math.max(0, to - cursor.count());
        }
        reply.array(2);
        reply.bulkLong(from);
        long mark = reply.beginDeferred();
        int answered = 0;
        int index = 0;
        for (long entry = PackedHash.first(hash, length); entry != PackedHash.NONE && index < to; entry = PackedHash
                .next(hash, length, entry)) {
            if (index++ >= from && cursor.matches(call, PackedHash.fieldAddress(entry),
                    PackedHash.fieldLength(entry))) {
                reply(reply, entry, FIELDS | VALUES);
                answered += 2;
            }
        }
        reply.endArray(mark, answered);
    }

    // --- HRANDFIELD

    private static void randfield(Invocation call) {
        long count = 1;
        boolean withValues = false;
        boolean counted = call.argumentCount() > 2;
        if (counted) {
            if (!call.requireLong(2)) {
                return;
            }
            count = call.longValue();
            if (count == Long.MIN_VALUE) {
                call.reply().error("ERR value is out of range, value must between -9223372036854775807 and "
                        + "9223372036854775807");
                return;
            }
            if (call.argumentCount() > 4 || call.argumentCount() == 4 && !call.argumentIs(3, "WITHVALUES")) {
                call.syntaxError();
                return;
            }
            withValues = call.argumentCount() == 4;
            if (withValues && Math.abs(count) > Long.MAX_VALUE / 2) {
                call.reply().error("ERR value is out of range");
                return;
            }
        }
        Item item = call.item();
        Found found = KeyLookup.find(call, call.keyAt(0), item, ItemType.HASH);
        if (found == Found.WRONG_TYPE) {
            return;
        }
        if (!counted) {
            if (found == Found.MISSING) {
                call.reply().nil();
            } else {
                int picked = ThreadLocalRandom.current().nextInt(PackedHash.count(item.valueAddress()));
                long entry = PackedHash.first(item.valueAddress(), item.valueLength());
                for (int i = 0; i < picked; i++) {
                    entry = PackedHash.next(item.valueAddress(), item.valueLength(), entry);
                }
                reply(call.reply(), entry, FIELDS);
            }
        } else if (found == Found.MISSING || count == 0) {
            call.reply().array(0);
        } else {
            replyRandom(call.reply(), item, count, withValues);
        }
    }

    /** A positive count asks for different fields, as many as there are; a negative one for that many picks. */
    private static void replyRandom(ReplyWriter reply, Item item, long count, boolean withValues) {
        int fields = PackedHash.count(item.valueAddress());
        long answered = count < 0 ? -count : Math.min(count, fields);
        boolean pairs = withValues && reply.resp3();
        reply.array(withValues && !pairs ? 2 * answered : answered);
        int what = withValues ? FIELDS | VALUES : FIELDS;
        if (count > 0) {
            replyDifferent(reply, item, (int) answered, what, pairs);
        } else if (fields <= MAX_TABLE) {
            replyPicks(reply, entries(item), answered, what, pairs);
        } else {
            replyPicksOfMany(reply, item, answered, what, pairs);
        }
    }

    /** Each of the fields with the same chance, in the order of the hash: nothing has to be noted. */
    private static void replyDifferent(ReplyWriter reply, Item item, int wanted, int what, boolean pairs) {
        long hash = item.valueAddress();
        int length = item.valueLength();
        int left = PackedHash.count(hash);
        int missing = wanted;
        ThreadLocalRandom random = ThreadLocalRandom.current();
        for (long entry = PackedHash.first(hash, length); missing > 0; entry = PackedHash.next(hash, length, entry)) {
            if (random.nextInt(left--) < missing) {
                replyPicked(reply, entry, what, pairs);
                missing--;
            }
        }
    }

    private static void replyPicks(ReplyWriter reply, long[] entries, long wanted, int what, boolean pairs) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        for (long i = 0; i < wanted; i++) {
            replyPicked(reply, entries[random.nextInt(entries.length)], what, pairs);
        }
    }

    /** A table of all entries would not fit the heap: some picks at a time are found in one walk, in ascending order. */
    private static void replyPicksOfMany(ReplyWriter reply, Item item, long wanted, int what, boolean pairs) {
        long hash = item.valueAddress();
        int length = item.valueLength();
        int fields = PackedHash.count(hash);
        ThreadLocalRandom random = ThreadLocalRandom.current();
        for (long left = wanted; left > 0; left -= MAX_TABLE) {
            int now = (int) Math.min(left, MAX_TABLE);
            // The number of the entry, and behind it the pick's place in the reply.
            long[] picks = new long[now];
            for (int i = 0; i < now; i++) {
                picks[i] = (long) random.nextInt(fields) << 32 | i;
            }
            Arrays.sort(picks);
            long[] entries = new long[now];
            long entry = PackedHash.first(hash, length);
            int number = 0;
            for (long pick : picks) {
                for (; number < pick >>> 32; number++) {
                    entry = PackedHash.next(hash, length, entry);
                }
                entries[(int) pick] = entry;
            }
            for (long picked : entries) {
                replyPicked(reply, picked, what, pairs);
            }
        }
    }

    private static long[] entries(Item item) {
        long hash = item.valueAddress();
        int length = item.valueLength();
        long[] entries = new long[PackedHash.count(hash)];
        int index = 0;
        for (long entry = PackedHash.first(hash, length); entry != PackedHash.NONE; entry = PackedHash.next(hash,
                length, entry)) {
            entries[index++] = entry;
        }
        return entries;
    }

    private static void replyPicked(ReplyWriter reply, long entry, int what, boolean pair) {
        if (pair) {
            reply.array(2);
        }
        reply(reply, entry, what);
    }
}
