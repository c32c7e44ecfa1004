package io.varve.server.command.key;

import java.util.Locale;

import io.varve.flash.tier.FlashTier;
import io.varve.memory.ItemVisitor;
import io.varve.memory.item.Item;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Errors;
import io.varve.server.command.FlashAnswers;
import io.varve.server.command.HeapLoan;
import io.varve.server.command.Invocation;
import io.varve.server.command.ServerContext;
import io.varve.server.command.text.GlobPattern;
import io.varve.server.command.value.ScanCursor;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;

import static io.varve.server.command.CommandFlag.READONLY;
import static io.varve.server.command.key.KeyCommands.keys;

/**
 * SCAN, KEYS and RANDOMKEY: they run without locks and see one shard's bucket after the other. Immutable.
 */
public final class ScanCommands {
    /** How many keys KEYS asks for at a time. */
    private static final int KEYS_SLICE = 1024;
    /**
     * SCAN asks for so many at a time until COUNT is met. COUNT sets how often it asks in one call, between these two limits: the lower
     * is enough to pass the empty buckets of a small database in many shards. A call also ends after so many bytes.
     */
    private static final int SCAN_SLICE = 16;
    private static final int MIN_SLICES = 256;
    private static final int MAX_SLICES = 4096;
    private static final int MAX_SCAN_BYTES = 4 << 20;
    /** A type's name is shorter. */
    private static final int LONGEST_TYPE = 32;
    /** What a client that waits for both tiers takes of the heap, bytes. */
    private static final long WAITING_BYTES = 1 << 10;

    /** Walks over both tiers; null if there is one. */
    private final @Nullable TwoTierScan tiers;

    public ScanCommands(ServerContext server) {
        FlashTier flash = server.flash();
        tiers = flash == null ? null : new TwoTierScan(server.cache(), flash);
    }

    /** Adds the family. */
    public void register(CommandTable.Builder table) {
        table.add(keys("scan", -2, "2.8.0", "Walks over the keys, some at a time").looksAtAllKeys().waitsForFlash()
                .flags(READONLY)
                .tips("nondeterministic_output", "request_policy:special").complexity("O(1) a call")
                .handler(this::scan));
        table.add(keys("keys", 2, "1.0.0", "Answers all keys that match a pattern").looksAtAllKeys().waitsForFlash()
                .flags(READONLY)
                .categories("@dangerous").tips("request_policy:all_shards", "nondeterministic_output_order")
                .complexity("O(N) in the keys").handler(this::keysCommand));
        table.add(keys("randomkey", 1, "1.0.0", "Answers a key picked at random").looksAtAllKeys().waitsForFlash()
                .flags(READONLY)
                .tips("request_policy:all_shards", "nondeterministic_output").handler(this::randomkey));
    }

    private void scan(Invocation call) {
        ScanCursor cursor = ScanCursor.read(call, 1);
        if (cursor == null || !cursor.readOptions(call, 2, true)) {
            return;
        }
        String type = type(call, cursor.typeArgument());
        TwoTierScan both = tiers;
        if (both != null) {
            HeapLoan loan = new HeapLoan(call.server().argumentMemory());
            TwoTierScan.Filter filter = filter(call, cursor.patternArgument(), type, loan);
            if (filter != null) {
                scanBoth(call, both, cursor, filter, loan);
            }
            return;
        }
        ReplyWriter reply = call.reply();
        long mark = reply.beginDeferred();
        long before = reply.pendingBytes();
        Matches matches = new Matches(call, cursor, type);
        long slices = Math.clamp((cursor.count() + SCAN_SLICE - 1L) / SCAN_SLICE, MIN_SLICES, MAX_SLICES);
        long at = cursor.position();
        do {
            at = call.session().scan(call.database(), at, (int) Math.min(SCAN_SLICE, cursor.count() - matches.visited),
                    matches);
            slices--;
        } while (at != 0 && slices > 0 && matches.visited < cursor.count()
                && reply.pendingBytes() - before < MAX_SCAN_BYTES);
        reply.endScan(mark, at == 0 ? 0 : withoutEmptyEnd(call, at, slices), matches.count);
    }

    /**
     * Passes the empty buckets behind a page, so that the page with the last keys is the last one.
     *
     * @return the cursor, or a later one that has no keys in between; 0 if no keys are left
     */
    private static long withoutEmptyEnd(Invocation call, long cursor, long slices) {
        boolean[] found = {false};
        long at = cursor;
        for (long left = slices; left > 0 && at != 0; left--) {
            long next = call.session().scan(call.database(), at, 1, _ -> found[0] = true);
            if (found[0]) {
                break;
            }
            at = next;
        }
        return at;
    }

    /** The type that is asked for, in lower case; null for any. */
    private static @Nullable String type(Invocation call, int argument) {
        if (argument == 0) {
            return null;
        }
        String name = call.argumentString(argument);
        // There is none of so long a name, and who waits is not to keep it.
        return name.length() > LONGEST_TYPE ? "" : name.toLowerCase(Locale.ROOT);
    }

    // --- over both tiers

    /** What is asked for, charged to the loan; null after an error was replied. */
    private static TwoTierScan.@Nullable Filter filter(Invocation call, int patternArgument, @Nullable String type,
            HeapLoan loan) {
        byte[] pattern = patternArgument == 0 ? null : call.argumentBytes(patternArgument);
        // The pattern is on the heap and beside it.
        if (!loan.take(WAITING_BYTES + (pattern == null ? 0 : 2L * pattern.length))) {
            call.reply().error(Errors.OUT_OF_ARGUMENT_MEMORY);
            return null;
        }
        return new TwoTierScan.Filter(pattern, type);
    }

    private static void scanBoth(Invocation call, TwoTierScan both, ScanCursor cursor, TwoTierScan.Filter filter,
            HeapLoan loan) {
        int database = call.database();
        LongKeys longKeys = new LongKeys(call.session(), database);
        FlashAnswers.answerLater(call, loan,
                () -> both.scan(database, cursor.position(), cursor.count(), filter, loan), (page, reply) -> {
                    long mark = reply.beginDeferred();
                    long count = replyAll(page, longKeys, filter, reply);
                    reply.endScan(mark, page.cursor(), count);
                });
    }

    private static void keysOfBoth(Invocation call, TwoTierScan both, TwoTierScan.Filter filter, HeapLoan loan) {
        int database = call.database();
        LongKeys longKeys = new LongKeys(call.session(), database);
        FlashAnswers.answerLater(call, loan, () -> both.keys(database, filter, loan), (page, reply) -> {
            long mark = reply.beginDeferred();
            reply.endArray(mark, replyAll(page, longKeys, filter, reply));
        });
    }

    /** Replies the keys of both tiers. @return how many there were */
    private static long replyAll(TwoTierScan.Page page, LongKeys longKeys, TwoTierScan.Filter filter,
            ReplyWriter reply) {
        page.keys().forEach(reply::bulk);
        long count = page.keys().size();
        for (ScanPart part : page.longOnes()) {
            count += longKeys.reply(part, filter, Integer.MAX_VALUE, reply);
        }
        return count;
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

    private void keysCommand(Invocation call) {
        long pattern = call.argumentAddress(1);
        int patternLength = call.argumentLength(1);
        boolean all = GlobPattern.matchesAll(pattern, patternLength);
        TwoTierScan both = tiers;
        if (both != null) {
            HeapLoan loan = new HeapLoan(call.server().argumentMemory());
            TwoTierScan.Filter filter = filter(call, all ? 0 : 1, null, loan);
            if (filter != null) {
                keysOfBoth(call, both, filter, loan);
            }
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

    private void randomkey(Invocation call) {
        TwoTierScan both = tiers;
        if (both != null) {
            int database = call.database();
            LongKeys longKeys = new LongKeys(call.session(), database);
            FlashAnswers.answerLater(call, new HeapLoan(call.server().argumentMemory()), () -> both.random(database),
                    (page, reply) -> replyRandom(page, longKeys, reply));
            return;
        }
        ReplyWriter reply = call.reply();
        if (!call.session().random(call.database(), item -> reply.bulk(item.keyAddress(), item.keyLength()))) {
            reply.nil();
        }
    }

    private static void replyRandom(TwoTierScan.Page page, LongKeys longKeys, ReplyWriter reply) {
        for (ScanPart part : page.longOnes()) {
            if (longKeys.reply(part, TwoTierScan.Filter.NONE, 1, reply) > 0) {
                return;
            }
        }
        if (!page.keys().isEmpty()) {
            reply.bulk(page.keys().getFirst());
        } else if (page.longOnes().isEmpty() || !longKeys.replyAny(reply)) {
            reply.nil();
        }
    }
}
