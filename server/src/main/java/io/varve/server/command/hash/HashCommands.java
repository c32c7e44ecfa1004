package io.varve.server.command.hash;

import java.nio.charset.StandardCharsets;

import io.varve.memory.item.Item;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Errors;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.command.text.LongDouble;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.events.KeyEvent;

import static io.varve.server.command.spec.CommandFlag.DENYOOM;
import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.READONLY;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/**
 * Commands on the fields of hashes. Immutable: static handlers.
 *
 * @see HashWalkCommands for commands that reply many fields
 */
public final class HashCommands {
    private HashCommands() {}

    /** Adds this family's commands. */
    public static void addTo(CommandTable.Builder table) {
        table.add(hash("hset", -4, "2.0.0", "Sets fields of a hash").access("RW update").flags(WRITE, DENYOOM, FAST)
                .complexity("O(N) where N is the number of fields").handler(context -> set(context, false)));
        table.add(hash("hmset", -4, "2.0.0", "Sets fields of a hash").access("RW update").flags(WRITE, DENYOOM, FAST)
                .complexity("O(N) where N is the number of fields").handler(context -> set(context, true)));
        table.add(hash("hsetnx", 4, "2.0.0", "Sets a field of a hash if it does not exist")
                .access("RW insert").flags(WRITE, DENYOOM, FAST).handler(HashCommands::setnx));
        table.add(hash("hget", 3, "2.0.0", "Returns the value of a hash field").access("RO access")
                .traits(CommandTrait.READS_OPTIMISTICALLY).flags(READONLY, FAST)
                .handler(HashCommands::get));
        table.add(hash("hmget", -3, "2.0.0", "Returns the values of hash fields")
                .access("RO access").traits(CommandTrait.READS_OPTIMISTICALLY).flags(READONLY, FAST)
                .complexity("O(N) where N is the number of fields")
                .handler(HashCommands::mget));
        table.add(hash("hdel", -3, "2.0.0", "Deletes fields of a hash").access("RW delete").flags(WRITE, FAST)
                .complexity("O(N) where N is the number of fields").handler(HashCommands::del));
        table.add(hash("hlen", 2, "2.0.0", "Counts the fields of a hash").access("RO")
                .traits(CommandTrait.READS_OPTIMISTICALLY).flags(READONLY, FAST)
                .handler(HashCommands::len));
        table.add(
                hash("hexists", 3, "2.0.0", "Determines whether a hash field exists").access("RO")
                        .traits(CommandTrait.READS_OPTIMISTICALLY).flags(READONLY, FAST)
                        .handler(HashCommands::exists));
        table.add(hash("hstrlen", 3, "3.2.0", "Returns the length of the value of a hash field")
                .access("RO").traits(CommandTrait.READS_OPTIMISTICALLY).flags(READONLY, FAST)
                .handler(HashCommands::strlen));
        table.add(hash("hincrby", 4, "2.0.0", "Increments the integer value of a hash field").access("RW access update")
                .flags(WRITE, DENYOOM, FAST)
                .handler(HashCommands::incrby));
        table.add(hash("hincrbyfloat", 4, "2.6.0", "Increments the floating-point value of a hash field")
                .access("RW access update").flags(WRITE, DENYOOM, FAST).handler(HashCommands::incrbyfloat));
        HashWalkCommands.addTo(table);
        HashExpiryCommands.addTo(table);
        TimedFieldCommands.addTo(table);
    }

    static CommandBuilder hash(String name, int arity, String since, String summary) {
        return CommandBuilder.named(name).arity(arity).key(1).categories("@hash").group("hash").since(since)
                .summary(summary);
    }

    // --- write

    private static void set(CommandContext context, boolean answersOk) {
        if (context.argumentCount() % 2 == 1) {
            context.wrongArgumentCount();
            return;
        }
        HashValue hash = HashValue.of(context);
        if (hash.openForFields(true, 2) == Found.WRONG_TYPE) {
            return;
        }
        long created;
        if (context.argumentCount() == 4) {
            created = putArguments(context, hash) ? 1 : 0;
        } else {
            created = hash.putArguments(2);
        }
        context.events().emit(KeyEvent.HSET, context.keyAt(0));
        context.countChanges((context.argumentCount() - 2) / 2);
        if (answersOk) {
            context.reply().ok();
        } else {
            context.reply().integer(created);
        }
    }

    /** Puts the field and value of arguments 2 and 3 into the hash; returns whether the field is new. */
    private static boolean putArguments(CommandContext context, HashValue hash) {
        return hash.put(context.argumentAddress(2), context.argumentLength(2), context.argumentAddress(3),
                context.argumentLength(3));
    }

    private static void setnx(CommandContext context) {
        HashValue hash = HashValue.of(context);
        if (hash.openForFields(true, 2) == Found.WRONG_TYPE) {
            return;
        }
        boolean there = hash.findArgument(2);
        if (!there) {
            putArguments(context, hash);
            context.events().emit(KeyEvent.HSET, context.keyAt(0));
            context.countChanges(1);
        }
        context.reply().integer(there ? 0 : 1);
    }

    private static void del(CommandContext context) {
        HashValue hash = HashValue.of(context);
        if (hash.openForFields(true, 1) != Found.WRONG_TYPE) {
            long removed = hash.removeArguments(2);
            if (removed > 0) {
                hash.emitRemoval();
                context.countChanges(removed);
            }
            context.reply().integer(removed);
        }
    }

    private static void incrby(CommandContext context) {
        if (!context.requireLong(3)) {
            return;
        }
        long delta = context.longValue();
        HashValue hash = HashValue.of(context);
        if (hash.openForFields(true, 2) == Found.WRONG_TYPE) {
            return;
        }
        long old = 0;
        long time = Item.NEVER;
        if (hash.findArgument(2)) {
            time = hash.time();
            if (!context.parseLong(hash.valueAddress(), hash.valueLength())) {
                context.reply().error("ERR hash value is not an integer");
                return;
            }
            old = context.longValue();
        }
        long sum = old + delta;
        if (((old ^ sum) & (delta ^ sum)) < 0) {
            context.reply().error(Errors.OVERFLOW);
            return;
        }
        long text = context.formatLong(sum);
        hash.put(context.argumentAddress(2), context.argumentLength(2), text, context.formattedLength(), time);
        context.events().emit(KeyEvent.HINCRBY, context.keyAt(0));
        context.countChanges(1);
        context.reply().integer(sum);
    }

    private static void incrbyfloat(CommandContext context) {
        LongDouble delta = LongDouble.parse(context.argumentAddress(3), context.argumentLength(3));
        if (delta.kind() == LongDouble.Kind.INVALID) {
            context.reply().error(Errors.NOT_A_FLOAT);
            return;
        }
        if (delta.kind() == LongDouble.Kind.INFINITE) {
            context.reply().error("ERR value is NaN or Infinity");
            return;
        }
        HashValue hash = HashValue.of(context);
        if (hash.openForFields(true, 2) == Found.WRONG_TYPE) {
            return;
        }
        boolean there = hash.findArgument(2);
        long time = there ? hash.time() : Item.NEVER;
        LongDouble old = there
                ? LongDouble.parse(hash.valueAddress(), hash.valueLength())
                : LongDouble.ZERO;
        if (old.kind() == LongDouble.Kind.INVALID) {
            context.reply().error("ERR hash value is not a float");
            return;
        }
        LongDouble sum = old.plus(delta);
        if (sum.kind() != LongDouble.Kind.FINITE) {
            context.reply().error(Errors.NOT_FINITE);
            return;
        }
        byte[] text = sum.text().getBytes(StandardCharsets.US_ASCII);
        long address = context.scratch(text);
        hash.put(context.argumentAddress(2), context.argumentLength(2), address, text.length, time);
        context.events().emit(KeyEvent.HINCRBYFLOAT, context.keyAt(0));
        context.countChanges(1);
        context.reply().bulk(address, text.length);
    }

    // --- read

    private static void get(CommandContext context) {
        HashValue hash = HashValue.of(context);
        if (hash.openForFields(false, 1) != Found.WRONG_TYPE) {
            replyValue(context, hash, 2);
        }
    }

    private static void exists(CommandContext context) {
        HashValue hash = HashValue.of(context);
        if (hash.openForFields(false, 1) != Found.WRONG_TYPE) {
            context.reply().integer(hash.findArgument(2) ? 1 : 0);
        }
    }

    private static void strlen(CommandContext context) {
        HashValue hash = HashValue.of(context);
        if (hash.openForFields(false, 1) != Found.WRONG_TYPE) {
            context.reply().integer(hash.findArgument(2) ? hash.valueLength() : 0);
        }
    }

    private static void replyValue(CommandContext context, HashValue hash, int argument) {
        hash.replyValueOrNil(context.reply(), hash.findArgument(argument));
    }

    private static void mget(CommandContext context) {
        HashValue hash = HashValue.of(context);
        if (hash.openForFields(false, 1) == Found.WRONG_TYPE) {
            return;
        }
        context.reply().array(context.argumentCount() - 2);
        for (int i = 2; i < context.argumentCount(); i++) {
            replyValue(context, hash, i);
        }
    }

    private static void len(CommandContext context) {
        HashValue hash = HashValue.of(context);
        if (hash.open(context.keyAt(0)) != Found.WRONG_TYPE) {
            context.reply().integer(hash.size());
        }
    }
}
