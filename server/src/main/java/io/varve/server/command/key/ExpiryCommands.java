package io.varve.server.command.key;

import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Invocation;
import io.varve.server.command.value.ExpiryTimes;
import io.varve.server.command.value.ExpiryTimes.Unit;
import io.varve.server.command.value.KeyLookup;
import io.varve.server.events.KeyEvent;

import static io.varve.server.command.CommandFlag.FAST;
import static io.varve.server.command.CommandFlag.READONLY;
import static io.varve.server.command.CommandFlag.WRITE;
import static io.varve.server.command.key.KeyCommands.keys;
import static io.varve.server.command.value.ExpiryTimes.Unit.EPOCH_MILLIS;
import static io.varve.server.command.value.ExpiryTimes.Unit.EPOCH_SECONDS;
import static io.varve.server.command.value.ExpiryTimes.Unit.MILLIS_FROM_NOW;
import static io.varve.server.command.value.ExpiryTimes.Unit.SECONDS_FROM_NOW;

/** The EXPIRE and TTL families, and PERSIST. Immutable: static handlers. */
final class ExpiryCommands {
    private static final int NX = 1;
    private static final int XX = 1 << 1;
    private static final int GT = 1 << 2;
    private static final int LT = 1 << 3;
    private static final int INVALID = -1;

    private ExpiryCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(expiry("expire", "1.0.0", "Makes a key expire after some seconds")
                .handler(call -> expire(call, SECONDS_FROM_NOW)));
        table.add(expiry("pexpire", "2.6.0", "Makes a key expire after some milliseconds")
                .handler(call -> expire(call, MILLIS_FROM_NOW)));
        table.add(expiry("expireat", "1.2.0", "Makes a key expire at a time in seconds since the epoch")
                .handler(call -> expire(call, EPOCH_SECONDS)));
        table.add(expiry("pexpireat", "2.6.0", "Makes a key expire at a time in milliseconds since the epoch")
                .handler(call -> expire(call, EPOCH_MILLIS)));
        table.add(time("ttl", "1.0.0", "Answers the seconds until a key expires").tips("nondeterministic_output")
                .handler(call -> tell(call, SECONDS_FROM_NOW)));
        table.add(time("pttl", "2.6.0", "Answers the milliseconds until a key expires")
                .tips("nondeterministic_output").handler(call -> tell(call, MILLIS_FROM_NOW)));
        table.add(time("expiretime", "7.0.0", "Answers when a key expires, in seconds since the epoch")
                .handler(call -> tell(call, EPOCH_SECONDS)));
        table.add(time("pexpiretime", "7.0.0", "Answers when a key expires, in milliseconds since the epoch")
                .handler(call -> tell(call, EPOCH_MILLIS)));
        table.add(keys("persist", 2, "2.2.0", "Takes a key's expiry time away").key(1).access("RW update")
                .flags(WRITE, FAST)
                .handler(ExpiryCommands::persist));
    }

    private static CommandBuilder expiry(String name, String since, String summary) {
        return keys(name, -3, since, summary).key(1).access("RW update").sharesClock().flags(WRITE, FAST);
    }

    private static CommandBuilder time(String name, String since, String summary) {
        return keys(name, 2, since, summary).key(1).access("RO access").sharesClock().flags(READONLY, FAST);
    }

    private static void expire(Invocation call, Unit unit) {
        int conditions = conditions(call);
        if (conditions == INVALID || !ExpiryTimes.inRange(call, 2, unit)) {
            return;
        }
        // Cut before it is compared, so that GT and LT see what would be stored.
        long at = Math.min(ExpiryTimes.at(call, unit), Item.LATEST_EXPIRY_MILLIS);
        Key key = call.keyAt(0);
        Item item = call.item();
        if (!call.session().findForWriting(key, item) || !allowed(conditions, item, at)) {
            call.reply().integer(0);
            return;
        }
        if (at <= call.now()) {
            call.session().delete(key);
            call.events().tell(KeyEvent.DEL, key);
            call.countChanges(1);
        } else {
            call.session().expire(key, item, at);
            call.events().tell(KeyEvent.EXPIRE, key);
            call.countChanges(1);
        }
        call.reply().integer(1);
    }

    /** NX, XX, GT and LT, or {@link #INVALID} after an error was replied. */
    private static int conditions(Invocation call) {
        int given = 0;
        for (int i = 3; i < call.argumentCount(); i++) {
            int condition = call.argumentIs(i, "NX")
                    ? NX
                    : call.argumentIs(i, "XX")
                            ? XX
                            : call.argumentIs(i, "GT") ? GT : call.argumentIs(i, "LT") ? LT : 0;
            if (condition == 0) {
                call.reply().error("ERR Unsupported option " + call.argumentString(i));
                return INVALID;
            }
            given |= condition;
        }
        if ((given & NX) != 0 && given != NX) {
            call.reply().error("ERR NX and XX, GT or LT options at the same time are not compatible");
            return INVALID;
        }
        if ((given & (GT | LT)) == (GT | LT)) {
            call.reply().error("ERR GT and LT options at the same time are not compatible");
            return INVALID;
        }
        return given;
    }

    /** A key without an expiry time counts as one that expires after all others. */
    private static boolean allowed(int conditions, Item item, long at) {
        boolean expires = item.expires();
        boolean forbidden = (conditions & NX) != 0 && expires || (conditions & XX) != 0 && !expires
                || (conditions & GT) != 0 && (!expires || at <= item.expireAtMillis())
                || (conditions & LT) != 0 && expires && at >= item.expireAtMillis();
        return !forbidden;
    }

    private static void tell(Invocation call, Unit unit) {
        Item item = call.item();
        if (!KeyLookup.findUntouched(call, call.keyAt(0), item)) {
            call.reply().integer(-2);
        } else if (!item.expires()) {
            call.reply().integer(-1);
        } else {
            long at = item.expireAtMillis();
            long left = Math.max(0, at - call.now());
            call.reply().integer(switch (unit) {
                case SECONDS_FROM_NOW -> (left + 500) / 1000;
                case MILLIS_FROM_NOW -> left;
                case EPOCH_SECONDS -> (at + 500) / 1000;
                case EPOCH_MILLIS -> at;
            });
        }
    }

    private static void persist(Invocation call) {
        Key key = call.keyAt(0);
        Item item = call.item();
        boolean persisted = call.session().findForWriting(key, item) && item.expires();
        if (persisted) {
            call.session().expire(key, item, Item.NEVER);
            call.events().tell(KeyEvent.PERSIST, key);
            call.countChanges(1);
        }
        call.reply().integer(persisted ? 1 : 0);
    }
}
