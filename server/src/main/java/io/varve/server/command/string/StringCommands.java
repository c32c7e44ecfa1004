package io.varve.server.command.string;

import java.util.List;

import io.varve.memory.CacheSession;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.item.ValueRun;
import io.varve.server.command.Arguments;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandSpec;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Invocation;
import io.varve.server.command.value.Encodings;
import io.varve.server.command.value.ExpiryTimes;
import io.varve.server.command.value.ExpiryTimes.Unit;
import io.varve.server.command.value.KeyLookup;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.command.value.Values;
import io.varve.server.events.KeyEvent;

import static io.varve.server.command.CommandFlag.DENYOOM;
import static io.varve.server.command.CommandFlag.FAST;
import static io.varve.server.command.CommandFlag.READONLY;
import static io.varve.server.command.CommandFlag.WRITE;
import static io.varve.server.command.value.ExpiryTimes.REFUSED;
import static io.varve.server.command.value.ExpiryTimes.Unit.EPOCH_MILLIS;
import static io.varve.server.command.value.ExpiryTimes.Unit.EPOCH_SECONDS;
import static io.varve.server.command.value.ExpiryTimes.Unit.MILLIS_FROM_NOW;
import static io.varve.server.command.value.ExpiryTimes.Unit.SECONDS_FROM_NOW;

/**
 * Commands that read, set and replace whole strings. Immutable: static handlers.
 *
 * @see StringEditCommands for those that change a string in its place
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

    /** Adds the family. */
    public static void addTo(CommandTable.Builder table) {
        table.add(string("get", 2, "1.0.0", "Answers a key's string").key(1).access("RO access").sharesClock()
                .flags(READONLY, FAST)
                .handler(StringCommands::get));
        table.add(string("set", -3, "1.0.0", "Sets a key to a string, whatever it held").key(1)
                .access("RW access update variable_flags").narrowedAccess(StringCommands::useOfSet)
                .sharesClock().flags(WRITE, DENYOOM)
                .handler(StringCommands::set));
        table.add(string("setnx", 3, "1.0.0", "Sets a key to a string unless it exists").key(1)
                .access("OW insert").sharesClock().flags(WRITE, DENYOOM, FAST).handler(StringCommands::setnx));
        table.add(string("setex", 4, "2.0.0", "Sets a key to a string that expires after some seconds").key(1)
                .access("OW update").sharesClock().flags(WRITE, DENYOOM)
                .handler(call -> setFor(call, SECONDS_FROM_NOW)));
        table.add(string("psetex", 4, "2.6.0", "Sets a key to a string that expires after some milliseconds").key(1)
                .access("OW update").sharesClock().flags(WRITE, DENYOOM)
                .handler(call -> setFor(call, MILLIS_FROM_NOW)));
        table.add(string("getex", -2, "6.2.0", "Answers a key's string and changes its expiry time").key(1)
                .access("RW access update").flags(WRITE, FAST).handler(StringCommands::getex));
        table.add(string("getdel", 2, "6.2.0", "Answers a key's string and deletes the key").key(1)
                .access("RW access delete").flags(WRITE, FAST).handler(StringCommands::getdel));
        table.add(string("getset", 3, "1.0.0", "Sets a key to a string and answers the old one").key(1)
                .access("RW access update").flags(WRITE, DENYOOM, FAST).handler(StringCommands::getset));
        table.add(string("strlen", 2, "2.2.0", "Answers the length of a key's string").key(1).access("RO")
                .sharesClock().flags(READONLY, FAST)
                .handler(StringCommands::strlen));
        table.add(string("mget", -2, "1.0.0", "Answers the strings of several keys").keys(1, -1, 1)
                .keysInTurn()
                .access("RO access").flags(READONLY, FAST).tips("request_policy:multi_shard")
                .complexity("O(N) in the keys")
                .handler(StringCommands::mget));
        table.add(string("mset", -3, "1.0.1", "Sets several keys to strings at once").keys(1, -1, 2)
                .keysInTurn()
                .access("OW update").flags(WRITE, DENYOOM).allOrNothing()
                .tips("request_policy:multi_shard", "response_policy:all_succeeded")
                .complexity("O(N) in the keys").handler(StringCommands::mset));
        table.add(string("msetnx", -3, "1.0.1", "Sets several keys to strings at once unless one of them exists")
                .keys(1, -1, 2).keysInTurn().access("OW insert").flags(WRITE, DENYOOM).allOrNothing()
                .complexity("O(N) in the keys").handler(StringCommands::msetnx));
        StringEditCommands.addTo(table);
    }

    static CommandBuilder string(String name, int arity, String since, String summary) {
        return CommandSpec.named(name).arity(arity).categories("@string").group("string").since(since)
                .summary(summary);
    }

    // --- SET and its relatives

    /** What a SET does to its key: only with GET it looks at what was there. */
    private static List<String> useOfSet(Arguments arguments) {
        for (int i = 3; i < arguments.argumentCount(); i++) {
            if (arguments.argumentIs(i, "GET")) {
                return List.of("RW", "access", "update");
            }
        }
        return List.of("OW", "update");
    }

    private static void set(Invocation call) {
        int options = call.argumentCount() == 3 ? 0 : options(call, 3, NX | XX | GET | KEEPTTL | TIMES);
        if (options == INVALID) {
            return;
        }
        long expireAt = (options & KEEPTTL) != 0 ? CacheSession.KEEP : Item.NEVER;
        if ((options & TIMES) != 0) {
            expireAt = ExpiryTimes.positive(call, timeArgument(call, 3), unit(options));
            if (expireAt == REFUSED) {
                return;
            }
        }
        Key key = call.keyAt(0);
        if ((options & GET) != 0) {
            Item item = call.item();
            Found found = KeyLookup.find(call, key, item, ItemType.STRING);
            if (found == Found.WRONG_TYPE) {
                return;
            }
            replyOrNil(call, item, found);
            if ((options & (found == Found.PRESENT ? NX : XX)) == 0) {
                store(call, key, 2, expireAt);
            }
            return;
        }
        if ((options & (NX | XX)) != 0) {
            boolean present = call.session().findForWriting(key, call.item());
            if ((options & (present ? NX : XX)) != 0) {
                call.reply().nil();
                return;
            }
        }
        store(call, key, 2, expireAt);
        call.reply().ok();
    }

    /**
     * Reads the options of SET or GETEX.
     *
     * @param allowed those that the command has
     * @return which were given, or {@link #INVALID} after an error was replied
     */
    private static int options(Invocation call, int from, int allowed) {
        int given = 0;
        int count = call.argumentCount();
        for (int i = from; i < count; i++) {
            int option = option(call, i);
            if ((option & allowed) == 0 || (given & exclusive(option)) != 0) {
                call.syntaxError();
                return INVALID;
            }
            if ((option & TIMES) != 0 && ++i == count) {
                call.syntaxError();
                return INVALID;
            }
            given |= option;
        }
        return given;
    }

    /** The option at an argument; 0 if it is none. */
    private static int option(Invocation call, int i) {
        return switch (call.argumentLength(i)) {
            case 2 -> call.argumentIs(i, "EX")
                    ? EX
                    : call.argumentIs(i, "PX") ? PX : call.argumentIs(i, "NX") ? NX : call.argumentIs(i, "XX") ? XX : 0;
            case 3 -> call.argumentIs(i, "GET") ? GET : 0;
            case 4 -> call.argumentIs(i, "EXAT") ? EXAT : call.argumentIs(i, "PXAT") ? PXAT : 0;
            case 7 -> call.argumentIs(i, "KEEPTTL") ? KEEPTTL : call.argumentIs(i, "PERSIST") ? PERSIST : 0;
            default -> 0;
        };
    }

    /** What an option cannot stand beside; a repetition of itself is allowed. */
    private static int exclusive(int option) {
        return switch (option) {
            case NX -> XX;
            case XX -> NX;
            case GET -> 0;
            default -> (KEEPTTL | PERSIST | TIMES) & ~option;
        };
    }

    /** Where the time of the last EX, PX, EXAT or PXAT is. */
    private static int timeArgument(Invocation call, int from) {
        if (call.argumentCount() == from + 2) {
            return from + 1;
        }
        int found = 0;
        for (int i = from; i < call.argumentCount(); i++) {
            if ((option(call, i) & TIMES) != 0) {
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

    private static void setnx(Invocation call) {
        Key key = call.keyAt(0);
        boolean present = call.session().findForWriting(key, call.item());
        if (!present) {
            store(call, key, 2, Item.NEVER);
        }
        call.reply().integer(present ? 0 : 1);
    }

    private static void setFor(Invocation call, Unit unit) {
        long expireAt = ExpiryTimes.positive(call, 2, unit);
        if (expireAt != REFUSED) {
            store(call, call.keyAt(0), 3, expireAt);
            call.reply().ok();
        }
    }

    private static void getset(Invocation call) {
        Key key = call.keyAt(0);
        Item item = call.item();
        Found found = KeyLookup.find(call, key, item, ItemType.STRING);
        if (found != Found.WRONG_TYPE) {
            replyOrNil(call, item, found);
            store(call, key, 2, Item.NEVER);
        }
    }

    private static void mset(Invocation call) {
        if (call.argumentCount() % 2 == 0) {
            call.wrongArgumentCount();
            return;
        }
        storeAll(call);
        call.reply().ok();
    }

    private static void msetnx(Invocation call) {
        if (call.argumentCount() % 2 == 0) {
            call.wrongArgumentCount();
            return;
        }
        for (int i = 0; i < call.keyCount(); i++) {
            if (call.session().findForWriting(call.keyAt(i), call.item())) {
                call.reply().integer(0);
                return;
            }
        }
        storeAll(call);
        call.reply().integer(1);
    }

    /**
     * Stores all keys or none. If the first key finds no room, nothing has changed and the command runs again with more.
     * If a later key finds none, because others have used the room, the rest exceeds maxmemory as in Redis.
     */
    private static void storeAll(Invocation call) {
        int stored = 0;
        try {
            for (; stored < call.keyCount(); stored++) {
                storeAt(call, stored);
            }
        } catch (CacheFullException full) {
            if (stored == 0) {
                throw full;
            }
            storeBeyondMaxmemory(call, stored);
        }
    }

    private static void storeBeyondMaxmemory(Invocation call, int first) {
        CacheSession session = call.session();
        session.beginOverdraft();
        try {
            for (int i = first; i < call.keyCount(); i++) {
                storeAt(call, i);
            }
        } finally {
            session.endOverdraft();
        }
    }

    private static void storeAt(Invocation call, int index) {
        store(call, call.keyAt(index), 2 + 2 * index, Item.NEVER);
    }

    /** Puts an argument under the key; a time that has passed deletes the key, which is what anyone could tell of it. */
    private static void store(Invocation call, Key key, int argument, long expireAtMillis) {
        CacheSession session = call.session();
        if (expireAtMillis >= 0 && expireAtMillis <= call.now()) {
            if (!session.delete(key)) {
                // It was there for no time at all, which whoever watches it is told.
                session.changed(key, Change.DELETED);
                call.events().tell(KeyEvent.NEW, key);
            }
            call.events().tell(KeyEvent.SET, key);
            call.countChanges(1);
            call.events().tell(KeyEvent.EXPIRE, key);
            call.events().tell(KeyEvent.EXPIRED, key);
            return;
        }
        ValueRun run = call.takeRun(argument, session.headRoom(key.length()));
        if (run == null) {
            session.set(key, ItemType.STRING, Encodings.STRING_BY_CONTENT,
                    call.argumentAddress(argument), call.argumentLength(argument), expireAtMillis);
        } else {
            putRun(call, key, argument, run, expireAtMillis);
        }
        call.events().tell(KeyEvent.SET, key);
        call.countChanges(1);
        if (expireAtMillis >= 0) {
            call.events().tell(KeyEvent.EXPIRE, key);
        }
    }

    /** The run stays the argument's if the cache refuses it: the command may run again. */
    private static void putRun(Invocation call, Key key, int argument, ValueRun run, long expireAtMillis) {
        run.retain();
        try {
            call.session().putRun(key, call.item(), run, Encodings.STRING_BY_CONTENT, expireAtMillis);
        } catch (CacheFullException full) {
            call.giveRunBack(argument, run);
            throw full;
        }
        run.release();
    }

    // --- GET and its relatives

    private static void get(Invocation call) {
        Item item = call.item();
        Found found = KeyLookup.find(call, call.keyAt(0), item, ItemType.STRING);
        if (found != Found.WRONG_TYPE) {
            replyOrNil(call, item, found);
        }
    }

    private static void replyOrNil(Invocation call, Item item, Found found) {
        if (found == Found.PRESENT) {
            Values.reply(call, item);
        } else {
            call.reply().nil();
        }
    }

    private static void getex(Invocation call) {
        int options = options(call, 2, PERSIST | TIMES);
        if (options == INVALID) {
            return;
        }
        Key key = call.keyAt(0);
        Item item = call.item();
        Found found = KeyLookup.find(call, key, item, ItemType.STRING);
        if (found != Found.PRESENT) {
            if (found == Found.MISSING) {
                call.reply().nil();
            }
            return;
        }
        long expireAt = Item.NEVER;
        if ((options & TIMES) != 0) {
            expireAt = ExpiryTimes.positive(call, timeArgument(call, 2), unit(options));
            if (expireAt == REFUSED) {
                return;
            }
        }
        Values.reply(call, item);
        if ((options & TIMES) != 0) {
            if (expireAt <= call.now()) {
                call.session().delete(key);
                call.events().tell(KeyEvent.DEL, key);
                call.countChanges(1);
            } else {
                call.session().expire(key, item, expireAt);
                call.events().tell(KeyEvent.EXPIRE, key);
                call.countChanges(1);
            }
        } else if ((options & PERSIST) != 0 && item.expires()) {
            call.session().expire(key, item, Item.NEVER);
            call.events().tell(KeyEvent.PERSIST, key);
            call.countChanges(1);
        }
    }

    private static void getdel(Invocation call) {
        Key key = call.keyAt(0);
        Item item = call.item();
        Found found = KeyLookup.find(call, key, item, ItemType.STRING);
        if (found != Found.WRONG_TYPE) {
            replyOrNil(call, item, found);
            if (found == Found.PRESENT) {
                call.session().delete(key);
                call.events().tell(KeyEvent.DEL, key);
                call.countChanges(1);
            }
        }
    }

    private static void mget(Invocation call) {
        call.reply().array(call.keyCount());
        Item item = call.item();
        for (int i = 0; i < call.keyCount(); i++) {
            if (call.session().find(call.keyAt(i), item) && item.type() == ItemType.STRING) {
                Values.reply(call, item);
            } else {
                call.reply().nil();
            }
        }
    }

    private static void strlen(Invocation call) {
        Item item = call.item();
        Found found = KeyLookup.find(call, call.keyAt(0), item, ItemType.STRING);
        if (found != Found.WRONG_TYPE) {
            call.reply().integer(found == Found.PRESENT ? item.valueLength() : 0);
        }
    }
}
