package io.varve.server.command;

import java.util.Arrays;
import java.util.Locale;

import io.varve.memory.ItemVisitor;
import io.varve.memory.item.Item;
import io.varve.memory.offheap.Memory;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;

import static io.varve.server.command.CommandFlag.READONLY;
import static io.varve.server.command.KeyCommands.keys;

/**
 * SCAN, KEYS and RANDOMKEY: they run without locks and see one shard's bucket after the other. Immutable: static
 * handlers.
 */
final class ScanCommands {
    /** How many keys KEYS asks for at a time. */
    private static final int KEYS_SLICE = 1024;

    private ScanCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(keys("scan", -2, "2.8.0", "Walks over the keys, some at a time").flags(READONLY)
                .tips("nondeterministic_output", "request_policy:special").complexity("O(1) a call")
                .handler(ScanCommands::scan));
        table.add(keys("keys", 2, "1.0.0", "Answers all keys that match a pattern").flags(READONLY)
                .categories("@dangerous").tips("request_policy:all_shards", "nondeterministic_output_order")
                .complexity("O(N) in the keys").handler(ScanCommands::keysCommand));
        table.add(keys("randomkey", 1, "1.0.0", "Answers a key picked at random").flags(READONLY)
                .tips("request_policy:all_shards", "nondeterministic_output").handler(ScanCommands::randomkey));
    }

    private static void scan(Invocation call) {
        ScanCursor cursor = ScanCursor.read(call, 1);
        if (cursor == null || !cursor.readOptions(call, 2, true)) {
            return;
        }
        String type = cursor.typeArgument() == 0
                ? null
                : call.argumentString(cursor.typeArgument()).toLowerCase(Locale.ROOT);
        CollectedKeys collected = new CollectedKeys(call, cursor, type);
        long next = call.session().scan(call.database(), cursor.position(), cursor.count(), collected);
        ReplyWriter reply = call.reply();
        reply.array(2);
        reply.bulkAscii(Long.toUnsignedString(next));
        collected.reply(reply);
    }

    /** Keys that SCAN has come by, copied: the cursor, which is known only afterwards, stands before them. */
    private static final class CollectedKeys implements ItemVisitor {
        private final Invocation call;
        private final ScanCursor cursor;
        private final @Nullable String type;
        private byte[] bytes = new byte[512];
        private int used;
        private int[] ends = new int[16];
        private int count;

        CollectedKeys(Invocation call, ScanCursor cursor, @Nullable String type) {
            this.call = call;
            this.cursor = cursor;
            this.type = type;
        }

        @Override
        public void visit(Item item) {
            if (type != null && !item.type().redisName().equals(type)
                    || !cursor.matches(call, item.keyAddress(), item.keyLength())) {
                return;
            }
            int end = used + item.keyLength();
            if (end > bytes.length) {
                bytes = Arrays.copyOf(bytes, Math.max(end, bytes.length * 2));
            }
            if (count == ends.length) {
                ends = Arrays.copyOf(ends, count * 2);
            }
            Memory.copy(item.keyAddress(), bytes, used, item.keyLength());
            used = end;
            ends[count++] = end;
        }

        void reply(ReplyWriter reply) {
            reply.array(count);
            for (int i = 0; i < count; i++) {
                reply.bulk(Arrays.copyOfRange(bytes, i == 0 ? 0 : ends[i - 1], ends[i]));
            }
        }
    }

    private static void keysCommand(Invocation call) {
        long pattern = call.argumentAddress(1);
        int patternLength = call.argumentLength(1);
        boolean all = GlobPattern.matchesAll(pattern, patternLength);
        ReplyWriter reply = call.reply();
        long mark = reply.beginDeferred();
        int[] count = {0};
        ItemVisitor visitor = item -> {
            if (all || GlobPattern.matches(pattern, patternLength, item.keyAddress(), item.keyLength())) {
                reply.bulk(item.keyAddress(), item.keyLength());
                count[0]++;
            }
        };
        long cursor = 0;
        do {
            cursor = call.session().scan(call.database(), cursor, KEYS_SLICE, visitor);
        } while (cursor != 0);
        reply.endArray(mark, count[0]);
    }

    private static void randomkey(Invocation call) {
        ReplyWriter reply = call.reply();
        if (!call.session().random(call.database(), item -> reply.bulk(item.keyAddress(), item.keyLength()))) {
            reply.nil();
        }
    }
}
