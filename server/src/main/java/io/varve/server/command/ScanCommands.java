package io.varve.server.command;

import java.util.List;
import java.util.Locale;

import io.varve.memory.ItemVisitor;
import io.varve.memory.item.Item;
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
    /** SCAN asks for so many at a time, until COUNT, but no more often and not beyond so many bytes in one call. */
    private static final int SCAN_SLICE = 16;
    private static final int MAX_SLICES = 4096;
    private static final int MAX_SCAN_BYTES = 4 << 20;

    private ScanCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(keys("scan", -2, "2.8.0", "Walks over the keys, some at a time").waitsForFlash().flags(READONLY)
                .tips("nondeterministic_output", "request_policy:special").complexity("O(1) a call")
                .handler(ScanCommands::scan));
        table.add(keys("keys", 2, "1.0.0", "Answers all keys that match a pattern").waitsForFlash().flags(READONLY)
                .categories("@dangerous").tips("request_policy:all_shards", "nondeterministic_output_order")
                .complexity("O(N) in the keys").handler(ScanCommands::keysCommand));
        table.add(keys("randomkey", 1, "1.0.0", "Answers a key picked at random").waitsForFlash().flags(READONLY)
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
        TwoTierScan both = call.server().twoTierScan();
        if (both != null) {
            int database = call.database();
            TwoTierScan.Filter filter = new TwoTierScan.Filter(cursor.pattern(call), type);
            FlashCommands.answerLater(call, () -> {
                TwoTierScan.Page page = both.scan(database, cursor.position(), cursor.count(), filter);
                return reply -> {
                    long mark = reply.beginDeferred();
                    page.keys().forEach(reply::bulk);
                    reply.endScan(mark, page.cursor(), page.keys().size());
                };
            });
            return;
        }
        ReplyWriter reply = call.reply();
        long mark = reply.beginDeferred();
        long before = reply.pendingBytes();
        Matches matches = new Matches(call, cursor, type);
        long slices = Math.min(MAX_SLICES, (cursor.count() + SCAN_SLICE - 1L) / SCAN_SLICE);
        long at = cursor.position();
        do {
            at = call.session().scan(call.database(), at, (int) Math.min(SCAN_SLICE, cursor.count() - matches.visited),
                    matches);
            slices--;
        } while (at != 0 && slices > 0 && matches.visited < cursor.count()
                && reply.pendingBytes() - before < MAX_SCAN_BYTES);
        reply.endScan(mark, at, matches.count);
    }

    /** Replies the keys that SCAN comes by and that its options ask for. Confined to one command. */
    private static final class Matches implements ItemVisitor {
        private final Invocation call;
        private final ScanCursor cursor;
        private final @Nullable String type;
        private long visited;
        private long count;

        Matches(Invocation call, ScanCursor cursor, @Nullable String type) {
            this.call = call;
            this.cursor = cursor;
            this.type = type;
        }

        @Override
        public void visit(Item item) {
            visited++;
            if ((type == null || item.type().redisName().equals(type))
                    && cursor.matches(call, item.keyAddress(), item.keyLength())) {
                call.reply().bulk(item.keyAddress(), item.keyLength());
                count++;
            }
        }
    }

    private static void keysCommand(Invocation call) {
        long pattern = call.argumentAddress(1);
        int patternLength = call.argumentLength(1);
        boolean all = GlobPattern.matchesAll(pattern, patternLength);
        TwoTierScan both = call.server().twoTierScan();
        if (both != null) {
            int database = call.database();
            TwoTierScan.Filter filter = new TwoTierScan.Filter(all ? null : call.argumentBytes(1), null);
            FlashCommands.answerLater(call, () -> {
                List<byte[]> found = both.keys(database, filter);
                return reply -> {
                    if (found == null) {
                        reply.error(Dispatcher.OUT_OF_MEMORY);
                        return;
                    }
                    reply.array(found.size());
                    found.forEach(reply::bulk);
                };
            });
            return;
        }
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
        TwoTierScan both = call.server().twoTierScan();
        if (both != null) {
            int database = call.database();
            FlashCommands.answerLater(call, () -> {
                byte[] found = both.random(database);
                return reply -> {
                    if (found == null) {
                        reply.nil();
                    } else {
                        reply.bulk(found);
                    }
                };
            });
            return;
        }
        ReplyWriter reply = call.reply();
        if (!call.session().random(call.database(), item -> reply.bulk(item.keyAddress(), item.keyLength()))) {
            reply.nil();
        }
    }
}
