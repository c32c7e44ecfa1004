package io.varve.server.command.dump;

import io.varve.memory.CacheSession;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Invocation;
import io.varve.server.command.key.KeyCommands;
import io.varve.server.events.KeyEvent;
import io.varve.server.rdb.CorruptPayloadException;
import io.varve.server.rdb.PayloadReader;

import static io.varve.server.command.CommandFlag.DENYOOM;
import static io.varve.server.command.CommandFlag.READONLY;
import static io.varve.server.command.CommandFlag.WRITE;

/** DUMP and RESTORE: values as bytes, in Redis's own form. Immutable: static handlers. */
public final class DumpCommands {
    private static final int MOST_FREQUENCY = 255;

    private DumpCommands() {}

    /** Adds the family. */
    public static void addTo(CommandTable.Builder table) {
        table.add(KeyCommands.keys("dump", 2, "2.6.0", "Answers a key's value as bytes, for RESTORE").key(1)
                .access("RO access").flags(READONLY).tips("nondeterministic_output").complexity("O(N) in the value")
                .handler(DumpCommands::dump));
        table.add(KeyCommands.keys("restore", -4, "2.6.0", "Makes a key of what DUMP has answered").key(1)
                .access("OW update").flags(WRITE, DENYOOM).categories("@dangerous")
                .complexity("O(N) in the value, O(N*log(N)) for a sorted set").handler(DumpCommands::restore));
    }

    private static void dump(Invocation call) {
        Item item = call.item();
        // The look that counts is left to the view of its type.
        if (!call.session().peek(call.keyAt(0), item)) {
            call.session().find(call.keyAt(0), item);
            call.reply().nil();
            return;
        }
        Dumping dumping = Dumping.of(call);
        try {
            dumping.reply(call, call.keyAt(0), item);
        } finally {
            dumping.release();
        }
    }

    /** The options of a RESTORE. Confined to one command. */
    private static final class Options {
        private boolean replace;
        private boolean absolute;
        private long idleSeconds = -1;
        private long frequency = -1;

        /** @return false after an error was replied */
        boolean read(Invocation call) {
            for (int i = 4; i < call.argumentCount(); i++) {
                boolean more = i + 1 < call.argumentCount();
                if (call.argumentIs(i, "REPLACE")) {
                    replace = true;
                } else if (call.argumentIs(i, "ABSTTL")) {
                    absolute = true;
                } else if (call.argumentIs(i, "IDLETIME") && more && frequency < 0) {
                    idleSeconds = readNumber(call, ++i, Long.MAX_VALUE, "ERR Invalid IDLETIME value, must be >= 0");
                    if (idleSeconds < 0) {
                        return false;
                    }
                } else if (call.argumentIs(i, "FREQ") && more && idleSeconds < 0) {
                    frequency = readNumber(call, ++i, MOST_FREQUENCY,
                            "ERR Invalid FREQ value, must be >= 0 and <= 255");
                    if (frequency < 0) {
                        return false;
                    }
                } else {
                    call.syntaxError();
                    return false;
                }
            }
            return true;
        }

        /** @return -1 after an error was replied */
        private static long readNumber(Invocation call, int argument, long most, String outOfRange) {
            if (!call.requireLong(argument)) {
                return -1;
            }
            if (call.longValue() < 0 || call.longValue() > most) {
                call.reply().error(outOfRange);
                return -1;
            }
            return call.longValue();
        }
    }

    private static void restore(Invocation call) {
        Options options = new Options();
        if (!options.read(call)) {
            return;
        }
        if (!options.replace && call.session().findForWriting(call.keyAt(0), call.item())) {
            call.reply().error("BUSYKEY Target key name already exists.");
            return;
        }
        if (!call.requireLong(2)) {
            return;
        }
        long ttlMillis = call.longValue();
        if (ttlMillis < 0) {
            call.reply().error("ERR Invalid TTL value, must be >= 0");
            return;
        }
        long payload = call.argumentAddress(3);
        int length = call.argumentLength(3);
        if (!PayloadReader.isIntact(payload, length)) {
            call.reply().error("ERR DUMP payload version or checksum are wrong");
            return;
        }
        Restoring restoring = Restoring.of(call);
        try {
            restoring.read(call, payload, length);
            store(call, restoring, options, ttlMillis);
            call.reply().ok();
        } catch (CorruptPayloadException corrupt) {
            call.reply().error("ERR Bad data format");
        } catch (CacheFullException full) {
            throw restoring.inAll(full);
        } finally {
            restoring.release();
        }
    }

    private static void store(Invocation call, Restoring restoring, Options options, long ttlMillis) {
        CacheSession session = call.session();
        Key key = call.keyAt(0);
        // A sum that is too large is in the past, as in Redis.
        long expireAtMillis = options.absolute ? ttlMillis : call.now() + ttlMillis;
        if (ttlMillis > 0 && expireAtMillis <= call.now()) {
            if (session.delete(key)) {
                call.events().tell(KeyEvent.DEL, key);
                call.countChanges(1);
            }
            return;
        }
        boolean present = session.peek(key, call.item());
        restoring.store(key, ttlMillis == 0 ? Item.NEVER : expireAtMillis);
        KeyCommands.tellIfReplaced(call, present, key);
        call.events().tell(KeyEvent.RESTORE, key);
        call.countChanges(1);
        if (options.idleSeconds >= 0 || options.frequency >= 0) {
            // A hash is gone at once if all its fields are due.
            if (session.peek(key, call.item())) {
                session.access(call.item(), options.idleSeconds, (int) options.frequency);
            }
        }
    }
}
