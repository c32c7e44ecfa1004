package io.varve.server.command.string;

import java.util.List;

import io.varve.memory.CacheSession;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.item.ValueRun;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.spec.Arguments;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.command.value.Encodings;
import io.varve.server.command.value.ExpiryTimes;
import io.varve.server.command.value.ExpiryTimes.Unit;
import io.varve.server.command.value.KeyLookup;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.events.KeyEvent;
import io.varve.server.persistence.RecordedCommand;

import static io.varve.server.command.spec.CommandFlag.DENYOOM;
import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.READONLY;
import static io.varve.server.command.spec.CommandFlag.WRITE;
import static io.varve.server.command.value.ExpiryTimes.REFUSED;
import static io.varve.server.command.value.ExpiryTimes.Unit.EPOCH_MILLIS;
import static io.varve.server.command.value.ExpiryTimes.Unit.EPOCH_SECONDS;
import static io.varve.server.command.value.ExpiryTimes.Unit.MILLIS_FROM_NOW;
import static io.varve.server.command.value.ExpiryTimes.Unit.SECONDS_FROM_NOW;

/**
 * Commands that read, set and replace whole strings. Immutable: static handlers.
 *
 * @see StringEditCommands for commands that change a string in place
 */
public final class StringCommands {
    private static final int NX = 1;
    private static final int XX = 1 << 1;
    private static final int GET = 1 << 2;
    private static final int KEEPTTL = 1 << 3;
    private static final int PERSIST = 1 << 4;
    private static final int EX = 1 << 5;
    private static final int PX = 1 << 6;
    private static final int EXAT = 1 << 7;
    private static final int PXAT = 1 << 8;
    private static final int TIMES = EX | PX | EXAT | PXAT;
    private static final int INVALID = -1;

    private StringCommands() {}

    /** Adds this family's commands. */
    public static void addTo(CommandTable.Builder table) {
        table.add(string("get", 2, "1.0.0", "Returns the string value of a key").key(1).access("RO access")
                .traits(CommandTrait.SHARES_CLOCK)
                .traits(CommandTrait.READS_OPTIMISTICALLY).flags(READONLY, FAST)
                .handler(StringCommands::get));
        table.add(string("set", -3, "1.0.0", "Sets the string value of a key and overwrites any previous value").key(1)
                .access("RW access update variable_flags").narrowedAccess(StringCommands::useOfSet)
                .traits(CommandTrait.SHARES_CLOCK).flags(WRITE, DENYOOM)
                .handler(StringCommands::set));
        table.add(string("setnx", 3, "1.0.0", "Sets the string value of a key if the key does not exist").key(1)
                .access("OW insert").traits(CommandTrait.SHARES_CLOCK).flags(WRITE, DENYOOM, FAST)
                .handler(StringCommands::setnx));
        table.add(string("setex", 4, "2.0.0", "Sets the string value and the TTL of a key in seconds").key(1)
                .access("OW update").traits(CommandTrait.SHARES_CLOCK).flags(WRITE, DENYOOM)
                .handler(context -> setFor(context, SECONDS_FROM_NOW)));
        table.add(string("psetex", 4, "2.6.0", "Sets the string value and the TTL of a key in milliseconds").key(1)
                .access("OW update").traits(CommandTrait.SHARES_CLOCK).flags(WRITE, DENYOOM)
                .handler(context -> setFor(context, MILLIS_FROM_NOW)));
        table.add(string("getex", -2, "6.2.0", "Returns the string value of a key and sets its expiry time").key(1)
                .access("RW access update").flags(WRITE, FAST).handler(StringCommands::getex));
        table.add(string("getdel", 2, "6.2.0", "Returns the string value of a key and deletes the key").key(1)
                .access("RW access delete").flags(WRITE, FAST).handler(StringCommands::getdel));
        table.add(string("getset", 3, "1.0.0", "Sets the string value of a key and returns the previous value").key(1)
                .access("RW access update").flags(WRITE, DENYOOM, FAST).handler(StringCommands::getset));
        table.add(string("strlen", 2, "2.2.0", "Returns the length of a string value").key(1).access("RO")
                .traits(CommandTrait.SHARES_CLOCK).traits(CommandTrait.READS_OPTIMISTICALLY).flags(READONLY, FAST)
                .handler(StringCommands::strlen));
        table.add(string("mget", -2, "1.0.0", "Returns the string values of several keys").keys(1, -1, 1)
                .traits(CommandTrait.KEYS_ON_DEMAND)
                .access("RO access").flags(READONLY, FAST).tips("request_policy:multi_shard")
                .complexity("O(N) where N is the number of keys")
                .handler(StringCommands::mget));
        table.add(string("mset", -3, "1.0.1", "Sets the string values of several keys atomically").keys(1, -1, 2)
                .traits(CommandTrait.KEYS_ON_DEMAND)
                .access("OW update").flags(WRITE, DENYOOM).traits(CommandTrait.ALL_OR_NOTHING)
                .tips("request_policy:multi_shard", "response_policy:all_succeeded")
                .complexity("O(N) where N is the number of keys").handler(StringCommands::mset));
        table.add(string("msetnx", -3, "1.0.1",
                "Sets the string values of several keys atomically if none of the keys exists")
                .keys(1, -1, 2).traits(CommandTrait.KEYS_ON_DEMAND).access("OW insert").flags(WRITE, DENYOOM)
                .traits(CommandTrait.ALL_OR_NOTHING)
                .complexity("O(N) where N is the number of keys").handler(StringCommands::msetnx));
        StringEditCommands.addTo(table);
    }

    static CommandBuilder string(String name, int arity, String since, String summary) {
        return CommandBuilder.named(name).arity(arity).categories("@string").group("string").since(since)
                .summary(summary);
    }

    // --- SET and its relatives

    /** The key use of a SET: only GET reads the old value. */
    private static List<String> useOfSet(Arguments arguments) {
        for (int i = 3; i < arguments.argumentCount(); i++) {
            if (arguments.argumentIs(i, "GET")) {
                return List.of("RW", "access", "update");
            }
        }
        return List.of("OW", "update");
    }

    private static void set(CommandContext context) {
        int options = context.argumentCount() == 3 ? 0 : options(context, 3, NX | XX | GET | KEEPTTL | TIMES);
        if (options == INVALID) {
            return;
        }
        long expireAt = (options & KEEPTTL) != 0 ? CacheSession.KEEP : Item.NEVER;
        if ((options & TIMES) != 0) {
            expireAt = ExpiryTimes.positive(context, timeArgument(context, 3), unit(options));
            if (expireAt == REFUSED) {
                return;
            }
        }
        Key key = context.keyAt(0);
        if ((options & GET) != 0) {
            Item item = context.item();
            Found found = KeyLookup.find(context, key, item, ItemType.STRING);
            if (found == Found.WRONG_TYPE) {
                return;
            }
            replyOrNil(context, item, found);
            if ((options & (found == Found.PRESENT ? NX : XX)) == 0) {
                store(context, key, 2, expireAt);
            }
            return;
        }
        if ((options & (NX | XX)) != 0) {
            boolean present = context.session().findForWriting(key, context.item());
            if ((options & (present ? NX : XX)) != 0) {
                context.reply().nil();
                return;
            }
        }
        store(context, key, 2, expireAt);
        context.reply().ok();
    }

    /**
     * Reads the options of SET or GETEX.
     *
     * @param allowed the options that the command has
     * @return the given options, or {@link #INVALID} after an error was replied
     */
    private static int options(CommandContext context, int from, int allowed) {
        int given = 0;
        int count = context.argumentCount();
        for (int i = from; i < count; i++) {
            int option = option(context, i);
            if ((option & allowed) == 0 || (given & exclusive(option)) != 0) {
                context.syntaxError();
                return INVALID;
            }
            if ((option & TIMES) != 0 && ++i == count) {
                context.syntaxError();
                return INVALID;
            }
            given |= option;
        }
        return given;
    }

    /** The option at an argument; 0 if it is none. */
    private static int option(CommandContext context, int i) {
        return switch (context.argumentLength(i)) {
            case 2 -> context.argumentIs(i, "EX")
                    ? EX
                    : context.argumentIs(i, "PX")
                            ? PX
                            : context.argumentIs(i, "NX") ? NX : context.argumentIs(i, "XX") ? XX : 0;
            case 3 -> context.argumentIs(i, "GET") ? GET : 0;
            case 4 -> context.argumentIs(i, "EXAT") ? EXAT : context.argumentIs(i, "PXAT") ? PXAT : 0;
            case 7 -> context.argumentIs(i, "KEEPTTL") ? KEEPTTL : context.argumentIs(i, "PERSIST") ? PERSIST : 0;
            default -> 0;
        };
    }

    /** The options that exclude this one; an option does not exclude itself. */
    private static int exclusive(int option) {
        return switch (option) {
            case NX -> XX;
            case XX -> NX;
            case GET -> 0;
            default -> (KEEPTTL | PERSIST | TIMES) & ~option;
        };
    }

    /** The argument with the time of the last EX, PX, EXAT or PXAT. */
    private static int timeArgument(CommandContext context, int from) {
        if (context.argumentCount() == from + 2) {
            return from + 1;
        }
        int found = 0;
        for (int i = from; i < context.argumentCount(); i++) {
            if ((option(context, i) & TIMES) != 0) {
                found = ++i;
            }
        }
        return found;
    }

    private static Unit unit(int options) {
        return switch (options & TIMES) {
            case EX -> SECONDS_FROM_NOW;
            case PX -> MILLIS_FROM_NOW;
            case EXAT -> EPOCH_SECONDS;
            default -> EPOCH_MILLIS;
        };
    }

    private static void setnx(CommandContext context) {
        Key key = context.keyAt(0);
        boolean present = context.session().findForWriting(key, context.item());
        if (!present) {
            store(context, key, 2, Item.NEVER);
        }
        context.reply().integer(present ? 0 : 1);
    }

    private static void setFor(CommandContext context, Unit unit) {
        long expireAt = ExpiryTimes.positive(context, 2, unit);
        if (expireAt != REFUSED) {
            store(context, context.keyAt(0), 3, expireAt);
            context.reply().ok();
        }
    }

    private static void getset(CommandContext context) {
        Key key = context.keyAt(0);
        Item item = context.item();
        Found found = KeyLookup.find(context, key, item, ItemType.STRING);
        if (found != Found.WRONG_TYPE) {
            replyOrNil(context, item, found);
            store(context, key, 2, Item.NEVER);
        }
    }

    private static void mset(CommandContext context) {
        if (context.argumentCount() % 2 == 0) {
            context.wrongArgumentCount();
            return;
        }
        storeAll(context);
        context.reply().ok();
    }

    private static void msetnx(CommandContext context) {
        if (context.argumentCount() % 2 == 0) {
            context.wrongArgumentCount();
            return;
        }
        for (int i = 0; i < context.keyCount(); i++) {
            if (context.session().findForWriting(context.keyAt(i), context.item())) {
                context.reply().integer(0);
                return;
            }
        }
        storeAll(context);
        context.reply().integer(1);
    }

    /**
     * Stores all keys or none. If there is no memory for the first key, nothing has changed, and the command runs again
     * with more. If there is none for a later key, because other clients have used it, the rest exceeds maxmemory as in
     * Redis.
     */
    private static void storeAll(CommandContext context) {
        int stored = 0;
        try {
            for (; stored < context.keyCount(); stored++) {
                storeAt(context, stored);
            }
        } catch (CacheFullException full) {
            if (stored == 0) {
                throw full;
            }
            storeBeyondMaxmemory(context, stored);
        }
    }

    private static void storeBeyondMaxmemory(CommandContext context, int first) {
        CacheSession session = context.session();
        session.beginOverdraft();
        try {
            for (int i = first; i < context.keyCount(); i++) {
                storeAt(context, i);
            }
        } finally {
            session.endOverdraft();
        }
    }

    private static void storeAt(CommandContext context, int index) {
        store(context, context.keyAt(index), 2 + 2 * index, Item.NEVER);
    }

    /** Stores an argument under the key; a time in the past deletes the key, with the same visible effect. */
    private static void store(CommandContext context, Key key, int argument, long expireAtMillis) {
        CacheSession session = context.session();
        if (expireAtMillis >= 0 && expireAtMillis <= context.expiryMillis()) {
            if (!session.delete(key)) {
                // The key existed for no time at all, but watchers have to be notified.
                session.changed(key, Change.DELETED);
                context.events().emit(KeyEvent.NEW, key);
            }
            context.events().emit(KeyEvent.SET, key);
            context.countChanges(1);
            context.events().emit(KeyEvent.EXPIRE, key);
            context.events().emit(KeyEvent.EXPIRED, key);
            context.recordDeletion(key);
            return;
        }
        ValueRun run = context.takeRun(argument, session.headroom(key.length()));
        if (run == null) {
            session.set(key, ItemType.STRING, Encodings.STRING_BY_CONTENT,
                    context.argumentAddress(argument), context.argumentLength(argument), expireAtMillis);
        } else {
            putRun(context, key, argument, run, expireAtMillis);
        }
        context.events().emit(KeyEvent.SET, key);
        context.countChanges(1);
        if (expireAtMillis >= 0) {
            context.events().emit(KeyEvent.EXPIRE, key);
            if (context.isRecording()) {
                context.record(RecordedCommand.SET, key, 5)
                        .argument(context.argumentAddress(argument), context.argumentLength(argument))
                        .argument(RecordedCommand.PXAT).argument(expireAtMillis).end();
            }
        }
    }

    /** The argument keeps the run if the cache refuses it: the command may run again. */
    private static void putRun(CommandContext context, Key key, int argument, ValueRun run, long expireAtMillis) {
        run.retain();
        try {
            context.session().putRun(key, context.item(), run, Encodings.STRING_BY_CONTENT, expireAtMillis);
        } catch (CacheFullException full) {
            context.returnRun(argument, run);
            throw full;
        }
        run.release();
    }

    // --- GET and its relatives

    private static void get(CommandContext context) {
        Item item = context.item();
        Found found = KeyLookup.find(context, context.keyAt(0), item, ItemType.STRING);
        if (found != Found.WRONG_TYPE) {
            replyOrNil(context, item, found);
        }
    }

    private static void replyOrNil(CommandContext context, Item item, Found found) {
        if (found == Found.PRESENT) {
            context.replyValue(item);
        } else {
            context.reply().nil();
        }
    }

    private static void getex(CommandContext context) {
        int options = options(context, 2, PERSIST | TIMES);
        if (options == INVALID) {
            return;
        }
        Key key = context.keyAt(0);
        Item item = context.item();
        Found found = KeyLookup.find(context, key, item, ItemType.STRING);
        if (found != Found.PRESENT) {
            if (found == Found.MISSING) {
                context.reply().nil();
            }
            return;
        }
        long expireAt = Item.NEVER;
        if ((options & TIMES) != 0) {
            expireAt = ExpiryTimes.positive(context, timeArgument(context, 2), unit(options));
            if (expireAt == REFUSED) {
                return;
            }
        }
        context.replyValue(item);
        if ((options & TIMES) != 0) {
            if (expireAt <= context.expiryMillis()) {
                context.session().delete(key);
                context.events().emit(KeyEvent.DEL, key);
                context.countChanges(1);
                context.recordDeletion(key);
            } else {
                context.session().expire(key, item, expireAt);
                context.events().emit(KeyEvent.EXPIRE, key);
                context.countChanges(1);
                context.recordExpiry(key, expireAt);
            }
        } else if ((options & PERSIST) != 0 && item.expires()) {
            context.session().expire(key, item, Item.NEVER);
            context.events().emit(KeyEvent.PERSIST, key);
            context.countChanges(1);
            if (context.isRecording()) {
                context.record(RecordedCommand.PERSIST, key, 2).end();
            }
        }
    }

    private static void getdel(CommandContext context) {
        Key key = context.keyAt(0);
        Item item = context.item();
        Found found = KeyLookup.find(context, key, item, ItemType.STRING);
        if (found != Found.WRONG_TYPE) {
            replyOrNil(context, item, found);
            if (found == Found.PRESENT) {
                context.session().delete(key);
                context.events().emit(KeyEvent.DEL, key);
                context.countChanges(1);
            }
        }
    }

    private static void mget(CommandContext context) {
        context.reply().array(context.keyCount());
        Item item = context.item();
        for (int i = 0; i < context.keyCount(); i++) {
            if (context.session().find(context.keyAt(i), item) && item.type() == ItemType.STRING) {
                context.replyValue(item);
            } else {
                context.reply().nil();
            }
        }
    }

    private static void strlen(CommandContext context) {
        Item item = context.item();
        Found found = KeyLookup.find(context, context.keyAt(0), item, ItemType.STRING);
        if (found != Found.WRONG_TYPE) {
            context.reply().integer(found == Found.PRESENT ? item.valueLength() : 0);
        }
    }
}
