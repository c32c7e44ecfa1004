package io.varve.server.command.key;

import java.util.Locale;

import io.varve.flash.tier.FlashTier;
import io.varve.memory.ItemVisitor;
import io.varve.memory.item.Item;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Errors;
import io.varve.server.command.HeapReservation;
import io.varve.server.command.ServerState;
import io.varve.server.command.blocking.DeferredFlashReplies;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.command.text.GlobPattern;
import io.varve.server.command.value.ScanCursor;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;

import static io.varve.server.command.key.KeyCommands.keys;
import static io.varve.server.command.spec.CommandFlag.READONLY;

/**
 * SCAN, KEYS and RANDOMKEY. Immutable. They run without locks between steps, and visit one bucket of a shard after the
 * other.
 */
public final class ScanCommands {
    /** Number of keys that KEYS requests at a time. */
    private static final int KEYS_SLICE = 1024;
    /**
     * SCAN requests this many keys at a time until COUNT is met. COUNT sets the number of requests in one call, between
     * these two limits. The lower limit is enough to pass the empty buckets of a small database in many shards. A call
     * also ends after this many bytes.
     */
    private static final int SCAN_SLICE = 16;
    private static final int MIN_SLICES = 256;
    private static final int MAX_SLICES = 4096;
    private static final int MAX_SCAN_BYTES = 4 << 20;
    /** Longer than any type name. */
    private static final int LONGEST_TYPE = 32;
    /** Heap bytes of a client that waits for both tiers. */
    private static final long WAITING_BYTES = 1 << 10;

    /** Scans both tiers; null if there is only memory. */
    private final @Nullable TwoTierScan tiers;

    public ScanCommands(ServerState server) {
        FlashTier flash = server.flash();
        tiers = flash == null ? null : new TwoTierScan(server.cache(), flash);
    }

    /** Adds this family's commands. */
    public void register(CommandTable.Builder table) {
        table.add(keys("scan", -2, "2.8.0", "Iterates over the keys of the database")
                .traits(CommandTrait.WAITS_FOR_FLASH)
                .flags(READONLY)
                .tips("nondeterministic_output", "request_policy:special").complexity("O(1) for each call")
                .handler(this::scan));
        table.add(keys("keys", 2, "1.0.0", "Returns all keys that match a pattern")
                .traits(CommandTrait.WAITS_FOR_FLASH)
                .flags(READONLY)
                .categories("@dangerous").tips("request_policy:all_shards", "nondeterministic_output_order")
                .complexity("O(N) where N is the number of keys in the database").handler(this::keysCommand));
        table.add(keys("randomkey", 1, "1.0.0", "Returns a random key")
                .traits(CommandTrait.WAITS_FOR_FLASH)
                .flags(READONLY)
                .tips("request_policy:all_shards", "nondeterministic_output").handler(this::randomkey));
    }

    private void scan(CommandContext context) {
        ScanCursor cursor = ScanCursor.read(context, 1);
        if (cursor == null || !cursor.readOptions(context, 2, true)) {
            return;
        }
        String type = type(context, cursor.typeArgument());
        TwoTierScan both = tiers;
        if (both != null) {
            HeapReservation reservation = new HeapReservation(context.server().argumentMemory());
            TwoTierScan.Filter filter = filter(context, cursor.patternArgument(), type, reservation);
            if (filter != null) {
                scanBoth(context, both, cursor, filter, reservation);
            }
            return;
        }
        ReplyWriter reply = context.reply();
        long mark = reply.beginDeferred();
        long before = reply.pendingBytes();
        Matches matches = new Matches(context, cursor, type);
        long slices = Math.clamp((cursor.count() + SCAN_SLICE - 1L) / SCAN_SLICE, MIN_SLICES, MAX_SLICES);
        long at = cursor.position();
        do {
            at = context.session().scan(context.database(), at,
                    (int) Math.min(SCAN_SLICE, cursor.count() - matches.visited),
                    matches);
            slices--;
        } while (at != 0 && slices > 0 && matches.visited < cursor.count()
                && reply.pendingBytes() - before < MAX_SCAN_BYTES);
        reply.endScan(mark, at == 0 ? 0 : withoutEmptyEnd(context, at, slices), matches.count);
    }

    /**
     * Skips the empty buckets after a page, so that the page with the last keys is the last page.
     *
     * @return the cursor, or a later one without keys in between; 0 if no keys are left
     */
    private static long withoutEmptyEnd(CommandContext context, long cursor, long slices) {
        boolean[] found = {false};
        long at = cursor;
        for (long left = slices; left > 0 && at != 0; left--) {
            long next = context.session().scan(context.database(), at, 1, _ -> found[0] = true);
            if (found[0]) {
                break;
            }
            at = next;
        }
        return at;
    }

    /** The requested type in lower case; null for any. */
    private static @Nullable String type(CommandContext context, int argument) {
        if (argument == 0) {
            return null;
        }
        String name = context.argumentString(argument);
        // No type has so long a name, and a waiting client must not keep it.
        return name.length() > LONGEST_TYPE ? "" : name.toLowerCase(Locale.ROOT);
    }

    // --- both tiers

    /** The requested filter, charged to the reservation; null after an error was replied. */
    private static TwoTierScan.@Nullable Filter filter(CommandContext context, int patternArgument,
            @Nullable String type,
            HeapReservation reservation) {
        byte[] pattern = patternArgument == 0 ? null : context.argumentBytes(patternArgument);
        // The pattern is on the heap and in native memory.
        if (!reservation.tryReserve(WAITING_BYTES + (pattern == null ? 0 : 2L * pattern.length))) {
            context.reply().error(Errors.OUT_OF_ARGUMENT_MEMORY);
            return null;
        }
        return new TwoTierScan.Filter(pattern, type);
    }

    private static void scanBoth(CommandContext context, TwoTierScan both, ScanCursor cursor, TwoTierScan.Filter filter,
            HeapReservation reservation) {
        int database = context.database();
        LongKeys longKeys = new LongKeys(context.session(), database);
        DeferredFlashReplies.answerLater(context, reservation,
                () -> both.scan(database, cursor.position(), cursor.count(), filter, reservation), (page, reply) -> {
                    long mark = reply.beginDeferred();
                    long count = replyAll(page, longKeys, filter, reply);
                    reply.endScan(mark, page.cursor(), count);
                });
    }

    private static void keysOfBoth(CommandContext context, TwoTierScan both, TwoTierScan.Filter filter,
            HeapReservation reservation) {
        int database = context.database();
        LongKeys longKeys = new LongKeys(context.session(), database);
        DeferredFlashReplies.answerLater(context, reservation, () -> both.keys(database, filter, reservation),
                (page, reply) -> {
                    long mark = reply.beginDeferred();
                    reply.endArray(mark, replyAll(page, longKeys, filter, reply));
                });
    }

    /** Replies the keys of both tiers. @return number of replied keys */
    private static long replyAll(TwoTierScan.Page page, LongKeys longKeys, TwoTierScan.Filter filter,
            ReplyWriter reply) {
        page.keys().forEach(reply::bulk);
        long count = page.keys().size();
        for (ScanPart part : page.longOnes()) {
            count += longKeys.reply(part, filter, Integer.MAX_VALUE, reply);
        }
        return count;
    }

    /** Replies the scanned keys that match the options of SCAN. Confined to one command. */
    private static final class Matches implements ItemVisitor {
        private final CommandContext context;
        private final ScanCursor cursor;
        private final @Nullable String type;
        private long visited;
        private long count;

        Matches(CommandContext context, ScanCursor cursor, @Nullable String type) {
            this.context = context;
            this.cursor = cursor;
            this.type = type;
        }

        @Override
        public void visit(Item item) {
            visited++;
            if ((type == null || item.type().redisName().equals(type))
                    && cursor.matches(context, item.keyAddress(), item.keyLength())) {
                context.reply().bulk(item.keyAddress(), item.keyLength());
                count++;
            }
        }
    }

    private void keysCommand(CommandContext context) {
        long pattern = context.argumentAddress(1);
        int patternLength = context.argumentLength(1);
        boolean all = GlobPattern.matchesAll(pattern, patternLength);
        TwoTierScan both = tiers;
        if (both != null) {
            HeapReservation reservation = new HeapReservation(context.server().argumentMemory());
            TwoTierScan.Filter filter = filter(context, all ? 0 : 1, null, reservation);
            if (filter != null) {
                keysOfBoth(context, both, filter, reservation);
            }
            return;
        }
        ReplyWriter reply = context.reply();
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
            cursor = context.session().scan(context.database(), cursor, KEYS_SLICE, visitor);
        } while (cursor != 0);
        reply.endArray(mark, count[0]);
    }

    private void randomkey(CommandContext context) {
        TwoTierScan both = tiers;
        if (both != null) {
            int database = context.database();
            LongKeys longKeys = new LongKeys(context.session(), database);
            DeferredFlashReplies.answerLater(context, new HeapReservation(context.server().argumentMemory()),
                    () -> both.random(database),
                    (page, reply) -> replyRandom(page, longKeys, reply));
            return;
        }
        ReplyWriter reply = context.reply();
        if (!context.session().random(context.database(), item -> reply.bulk(item.keyAddress(), item.keyLength()))) {
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
