package io.varve.server.command.key;

import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Errors;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.command.value.ExpiryTimes;
import io.varve.server.command.value.ExpiryTimes.Unit;
import io.varve.server.command.value.KeyLookup;
import io.varve.server.events.KeyEvent;

import static io.varve.server.command.key.KeyCommands.keys;
import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.READONLY;
import static io.varve.server.command.spec.CommandFlag.WRITE;
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
        table.add(expiry("expire", "1.0.0", "Sets the TTL of a key in seconds")
                .handler(context -> expire(context, SECONDS_FROM_NOW)));
        table.add(expiry("pexpire", "2.6.0", "Sets the TTL of a key in milliseconds")
                .handler(context -> expire(context, MILLIS_FROM_NOW)));
        table.add(expiry("expireat", "1.2.0", "Sets the expiry time of a key as a Unix timestamp in seconds")
                .handler(context -> expire(context, EPOCH_SECONDS)));
        table.add(expiry("pexpireat", "2.6.0", "Sets the expiry time of a key as a Unix timestamp in milliseconds")
                .handler(context -> expire(context, EPOCH_MILLIS)));
        table.add(time("ttl", "1.0.0", "Returns the TTL of a key in seconds").tips("nondeterministic_output")
                .handler(context -> replyTime(context, SECONDS_FROM_NOW)));
        table.add(time("pttl", "2.6.0", "Returns the TTL of a key in milliseconds")
                .tips("nondeterministic_output").handler(context -> replyTime(context, MILLIS_FROM_NOW)));
        table.add(time("expiretime", "7.0.0", "Returns the expiry time of a key as a Unix timestamp in seconds")
                .handler(context -> replyTime(context, EPOCH_SECONDS)));
        table.add(time("pexpiretime", "7.0.0", "Returns the expiry time of a key as a Unix timestamp in milliseconds")
                .handler(context -> replyTime(context, EPOCH_MILLIS)));
        table.add(keys("persist", 2, "2.2.0", "Removes the expiry time of a key").key(1).access("RW update")
                .flags(WRITE, FAST)
                .handler(ExpiryCommands::persist));
    }

    private static CommandBuilder expiry(String name, String since, String summary) {
        return keys(name, -3, since, summary).key(1).access("RW update").traits(CommandTrait.SHARES_CLOCK).flags(WRITE,
                FAST);
    }

    private static CommandBuilder time(String name, String since, String summary) {
        return keys(name, 2, since, summary).key(1).access("RO access")
                .traits(CommandTrait.SHARES_CLOCK, CommandTrait.READS_OPTIMISTICALLY)
                .flags(READONLY, FAST);
    }

    private static void expire(CommandContext context, Unit unit) {
        int conditions = conditions(context);
        if (conditions == INVALID || !ExpiryTimes.inRange(context, 2, unit)) {
            return;
        }
        // Clamped before the comparison, so that GT and LT see the stored value.
        long at = Math.min(ExpiryTimes.at(context, unit), Item.LATEST_EXPIRY_MILLIS);
        Key key = context.keyAt(0);
        Item item = context.item();
        if (!context.session().findForWriting(key, item) || !allowed(conditions, item, at)) {
            context.reply().integer(0);
            return;
        }
        if (at <= context.expiryMillis()) {
            context.session().delete(key);
            context.events().emit(KeyEvent.DEL, key);
            context.countChanges(1);
            context.recordDeletion(key);
        } else {
            context.session().expire(key, item, at);
            context.events().emit(KeyEvent.EXPIRE, key);
            context.countChanges(1);
            context.recordExpiry(key, at);
        }
        context.reply().integer(1);
    }

    /** NX, XX, GT and LT, or {@link #INVALID} after an error was replied. */
    private static int conditions(CommandContext context) {
        int given = 0;
        for (int i = 3; i < context.argumentCount(); i++) {
            int condition = context.argumentIs(i, "NX")
                    ? NX
                    : context.argumentIs(i, "XX")
                            ? XX
                            : context.argumentIs(i, "GT") ? GT : context.argumentIs(i, "LT") ? LT : 0;
            if (condition == 0) {
                context.reply().error(Errors.endingWith("ERR Unsupported option ", context.argumentString(i)));
                return INVALID;
            }
            given |= condition;
        }
        if ((given & NX) != 0 && given != NX) {
            context.reply().error("ERR NX and XX, GT or LT options at the same time are not compatible");
            return INVALID;
        }
        if ((given & (GT | LT)) == (GT | LT)) {
            context.reply().error("ERR GT and LT options at the same time are not compatible");
            return INVALID;
        }
        return given;
    }

    /** Whether the conditions allow the time. A key without an expiry time counts as expiring after all others. */
    private static boolean allowed(int conditions, Item item, long at) {
        boolean expires = item.expires();
        boolean forbidden = (conditions & NX) != 0 && expires || (conditions & XX) != 0 && !expires
                || (conditions & GT) != 0 && (!expires || at <= item.expireAtMillis())
                || (conditions & LT) != 0 && expires && at >= item.expireAtMillis();
        return !forbidden;
    }

    private static void replyTime(CommandContext context, Unit unit) {
        Item item = context.item();
        if (!KeyLookup.findWithoutTouch(context, context.keyAt(0), item)) {
            context.reply().integer(-2);
        } else if (!item.expires()) {
            context.reply().integer(-1);
        } else {
            long at = item.expireAtMillis();
            long left = Math.max(0, at - context.now());
            context.reply().integer(switch (unit) {
                case SECONDS_FROM_NOW -> (left + 500) / 1000;
                case MILLIS_FROM_NOW -> left;
                case EPOCH_SECONDS -> (at + 500) / 1000;
                case EPOCH_MILLIS -> at;
            });
        }
    }

    private static void persist(CommandContext context) {
        Key key = context.keyAt(0);
        Item item = context.item();
        boolean persisted = context.session().findForWriting(key, item) && item.expires();
        if (persisted) {
            context.session().expire(key, item, Item.NEVER);
            context.events().emit(KeyEvent.PERSIST, key);
            context.countChanges(1);
        }
        context.reply().integer(persisted ? 1 : 0);
    }
}
