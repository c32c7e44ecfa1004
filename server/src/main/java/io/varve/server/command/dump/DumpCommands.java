package io.varve.server.command.dump;

import io.varve.memory.CacheSession;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.key.KeyCommands;
import io.varve.server.events.KeyEvent;
import io.varve.server.persistence.ChangeRecorder;
import io.varve.server.persistence.RecordedCommand;
import io.varve.server.rdb.CorruptPayloadException;
import io.varve.server.rdb.PayloadReader;

import static io.varve.server.command.spec.CommandFlag.ASKING;
import static io.varve.server.command.spec.CommandFlag.DENYOOM;
import static io.varve.server.command.spec.CommandFlag.READONLY;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/** DUMP, RESTORE and MIGRATE: values as bytes, in Redis's RDB format. Immutable: static handlers. */
public final class DumpCommands {
    private static final int MAX_FREQUENCY = 255;

    private DumpCommands() {}

    /** Adds this family's commands. */
    public static void addTo(CommandTable.Builder table) {
        table.add(KeyCommands.keys("dump", 2, "2.6.0", "Returns a serialized representation of a key's value").key(1)
                .access("RO access").flags(READONLY).tips("nondeterministic_output")
                .complexity("O(N) where N is the size of the value")
                .handler(DumpCommands::dump));
        table.add(KeyCommands
                .keys("restore", -4, "2.6.0", "Creates a key from the serialized representation of a value").key(1)
                .access("OW update").flags(WRITE, DENYOOM).categories("@dangerous")
                .complexity("O(N) where N is the size of the value, O(N*log(N)) for a sorted set")
                .handler(DumpCommands::restore));
        table.add(KeyCommands
                .keys("restore-asking", -4, "3.0.0", "Creates a key in a hash slot that moves to this member").key(1)
                .access("OW update").flags(WRITE, DENYOOM, ASKING).categories("@dangerous")
                .complexity("O(N) where N is the size of the value, O(N*log(N)) for a sorted set")
                .handler(DumpCommands::restore));
        MigrateCommand.addTo(table);
    }

    private static void dump(CommandContext context) {
        Item item = context.item();
        // The view of the item's type does the lookup that counts.
        if (!context.session().peek(context.keyAt(0), item)) {
            context.session().find(context.keyAt(0), item);
            context.reply().nil();
            return;
        }
        DumpWriter dumpWriter = DumpWriter.of(context);
        try {
            dumpWriter.reply(context, context.keyAt(0), item);
        } finally {
            dumpWriter.release();
        }
    }

    /** The options of a RESTORE. Confined to one command. */
    private static final class Options {
        private boolean replace;
        private boolean absolute;
        private long idleSeconds = -1;
        private long frequency = -1;

        /** @return false after an error was replied */
        boolean read(CommandContext context) {
            for (int i = 4; i < context.argumentCount(); i++) {
                boolean more = i + 1 < context.argumentCount();
                if (context.argumentIs(i, "REPLACE")) {
                    replace = true;
                } else if (context.argumentIs(i, "ABSTTL")) {
                    absolute = true;
                } else if (context.argumentIs(i, "IDLETIME") && more && frequency < 0) {
                    idleSeconds = readNumber(context, ++i, Long.MAX_VALUE, "ERR Invalid IDLETIME value, must be >= 0");
                    if (idleSeconds < 0) {
                        return false;
                    }
                } else if (context.argumentIs(i, "FREQ") && more && idleSeconds < 0) {
                    frequency = readNumber(context, ++i, MAX_FREQUENCY,
                            "ERR Invalid FREQ value, must be >= 0 and <= 255");
                    if (frequency < 0) {
                        return false;
                    }
                } else {
                    context.syntaxError();
                    return false;
                }
            }
            return true;
        }

        /** @return -1 after an error was replied */
        private static long readNumber(CommandContext context, int argument, long max, String outOfRange) {
            if (!context.requireLong(argument)) {
                return -1;
            }
            if (context.longValue() < 0 || context.longValue() > max) {
                context.reply().error(outOfRange);
                return -1;
            }
            return context.longValue();
        }
    }

    private static void restore(CommandContext context) {
        Options options = new Options();
        if (!options.read(context)) {
            return;
        }
        if (!options.replace && context.session().findForWriting(context.keyAt(0), context.item())) {
            context.reply().error("BUSYKEY Target key name already exists.");
            return;
        }
        if (!context.requireLong(2)) {
            return;
        }
        long ttlMillis = context.longValue();
        if (ttlMillis < 0) {
            context.reply().error("ERR Invalid TTL value, must be >= 0");
            return;
        }
        long payload = context.argumentAddress(3);
        int length = context.argumentLength(3);
        if (!PayloadReader.isIntact(payload, length)) {
            context.reply().error("ERR DUMP payload version or checksum are wrong");
            return;
        }
        RestoreReader restoreReader = RestoreReader.of(context);
        try {
            restoreReader.read(context, payload, length);
            store(context, restoreReader, options, ttlMillis);
            context.reply().ok();
        } catch (CorruptPayloadException corrupt) {
            context.reply().error("ERR Bad data format");
        } catch (CacheFullException full) {
            throw restoreReader.inAll(full);
        } finally {
            restoreReader.release();
        }
    }

    private static void record(CommandContext context, Key key, Options options, long expireAtMillis) {
        if (context.isRecording()) {
            boolean hasAccess = options.idleSeconds >= 0 || options.frequency >= 0;
            ChangeRecorder recorder = context.record(RecordedCommand.RESTORE, key, hasAccess ? 8 : 6)
                    .argument(expireAtMillis).argument(context.argumentAddress(3), context.argumentLength(3))
                    .argument(RecordedCommand.REPLACE).argument(RecordedCommand.ABSTTL);
            if (hasAccess) {
                recorder.argument(options.idleSeconds >= 0 ? RecordedCommand.IDLETIME : RecordedCommand.FREQ)
                        .argument(Math.max(options.idleSeconds, options.frequency));
            }
            recorder.end();
        }
    }

    private static void store(CommandContext context, RestoreReader restoreReader, Options options, long ttlMillis) {
        CacheSession session = context.session();
        Key key = context.keyAt(0);
        // A sum that overflows is in the past, as in Redis.
        long expireAtMillis = options.absolute ? ttlMillis : context.now() + ttlMillis;
        if (ttlMillis > 0 && expireAtMillis <= context.expiryMillis()) {
            if (session.delete(key)) {
                context.events().emit(KeyEvent.DEL, key);
                context.countChanges(1);
                context.recordDeletion(key);
            }
            return;
        }
        boolean present = session.peek(key, context.item());
        restoreReader.store(key, ttlMillis == 0 ? Item.NEVER : expireAtMillis);
        KeyCommands.emitIfReplaced(context, present, key);
        context.events().emit(KeyEvent.RESTORE, key);
        context.countChanges(1);
        record(context, key, options, ttlMillis == 0 ? 0 : expireAtMillis);
        if (options.idleSeconds >= 0 || options.frequency >= 0) {
            // A hash disappears at once if all its fields have expired.
            if (session.peek(key, context.item())) {
                session.access(context.item(), options.idleSeconds, (int) options.frequency);
            }
        }
    }
}
